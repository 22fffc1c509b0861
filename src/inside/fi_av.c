#include "inside/fi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Addresses of others.  A map's handles are the addresses themselves, a table's
 * are places in it.
 */

_Static_assert(sizeof(struct fi_address) == sizeof(fi_addr_t), "handles");

static struct addresses *av_of(struct fid *fid)
{
	return (struct addresses *)fid;
}

static fi_addr_t handle_of(struct fi_address a)
{
	return a.rank | (fi_addr_t)a.endpoint << 32;
}

static struct fi_address address_of(fi_addr_t handle)
{
	return (struct fi_address){
		.rank = (uint32_t)handle,
		.endpoint = (uint16_t)(handle >> 32),
	};
}

static bool is_same(struct fi_address a, struct fi_address b)
{
	return a.rank == b.rank && a.endpoint == b.endpoint;
}

bool av_find(const struct addresses *av, fi_addr_t a, struct fi_address *to)
{
	const struct channel *c = weft_link_open();

	if (!av || a == FI_ADDR_UNSPEC || (av->is_table && a >= av->n))
		return false;
	*to = av->is_table ? av->table[a] : address_of(a);
	return c && to->rank < c->n_ranks;
}

fi_addr_t av_reverse(const struct addresses *av, struct fi_address a)
{
	if (!av)
		return FI_ADDR_NOTAVAIL;
	if (!av->is_table)
		return handle_of(a);
	/* Most programs insert ranks in their order. */
	if (a.rank < av->n && is_same(av->table[a.rank], a))
		return a.rank;
	for (size_t i = 0; i < av->n; i++)
		if (is_same(av->table[i], a))
			return i;
	return FI_ADDR_NOTAVAIL;
}

static bool grow(struct addresses *av, size_t n)
{
	struct fi_address *table =
		realloc(av->table, (av->n + n) * sizeof(*table));

	if (table)
		av->table = table;
	return table;
}

static int insert(struct fid_av *fid, const void *from, size_t n, fi_addr_t *to,
	uint64_t flags, void *context)
{
	struct addresses *av = av_of(&fid->fid);
	struct fi_address a;

	if (av->is_table && n > 0 && !grow(av, n))
		return -FI_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		memcpy(&a, (const char *)from + i * sizeof(a), sizeof(a));
		if (to)
			to[i] = av->is_table ? av->n : handle_of(a);
		if (av->is_table)
			av->table[av->n++] = a;
	}
	return (int)n;
}

static int remove_some(
	struct fid_av *fid, fi_addr_t *handles, size_t n, uint64_t flags)
{
	struct addresses *av = av_of(&fid->fid);

	for (size_t i = 0; i < n && av->is_table; i++)
		if (handles[i] < av->n)
			av->table[handles[i]].rank = CHANNEL_NONE;
	return 0;
}

static int lookup(struct fid_av *fid, fi_addr_t handle, void *to, size_t *bytes)
{
	struct addresses *av = av_of(&fid->fid);
	struct fi_address a;

	if (av->is_table && handle >= av->n)
		return -FI_EINVAL;
	a = av->is_table ? av->table[handle] : address_of(handle);
	memcpy(to, &a, *bytes < sizeof(a) ? *bytes : sizeof(a));
	*bytes = sizeof(a);
	return 0;
}

static const char *as_text(
	struct fid_av *fid, const void *address, char *text, size_t *bytes)
{
	struct fi_address a;
	int n;

	memcpy(&a, address, sizeof(a));
	n = snprintf(text, *bytes, "fi_addr_weft://%u:%u", a.rank, a.endpoint);
	*bytes = (size_t)n + 1;
	return text;
}

static int close_av(struct fid *fid)
{
	free(av_of(fid)->table);
	free(av_of(fid));
	return 0;
}

/* Insertion is done at once, so an event queue has nothing to tell. */
static int bind_av(struct fid *fid, struct fid *other, uint64_t flags)
{
	return other->fclass == FI_CLASS_EQ ? 0 : -FI_EINVAL;
}

static struct fi_ops fid_ops = FI_TABLE(close_av, bind_av, none_control);

static struct fi_ops_av ops = {
	.size = sizeof(struct fi_ops_av),
	.insert = insert,
	.insertsvc = none_insert_service,
	.insertsym = none_insert_symmetric,
	.remove = remove_some,
	.lookup = lookup,
	.straddr = as_text,
	.av_set = none_av_set,
};

int av_open(struct fid_domain *domain, struct fi_av_attr *attr,
	struct fid_av **to, void *context)
{
	struct addresses *av;

	if (attr && (attr->name || attr->rx_ctx_bits))
		return -FI_ENOSYS;
	av = calloc(1, sizeof(*av));
	if (!av)
		return -FI_ENOMEM;
	av->fid.fid.fclass = FI_CLASS_AV;
	av->fid.fid.context = context;
	av->fid.fid.ops = &fid_ops;
	av->fid.ops = &ops;
	av->is_table = attr && attr->type == FI_AV_TABLE;
	if (attr && attr->type == FI_AV_UNSPEC)
		attr->type = FI_AV_MAP;
	*to = &av->fid;
	return 0;
}
