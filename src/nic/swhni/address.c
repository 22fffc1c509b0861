/*
 * Memory is named by keys.  A paged handle needs a translation of each page:
 * the TLB has some; others are read over PCIe, one word each, and while the
 * pages of a handle are used in order the next one is read ahead.
 *
 * A page is named by its key and its number in the handle, so that the pages of
 * a handle that is gone are nobody's.
 */
#include "nic/swhni/card.h"

#include <errno.h>

static struct sw_handle *find(const struct sw_node *n, uint32_t key)
{
	uint32_t id = index_find(&n->by_key, key);

	return id ? slots_at(&n->handles, id) : NULL;
}

const struct swhni_handle *swhni_handle(
	struct nic *nic, site_id s, uint32_t key)
{
	const struct sw_handle *x = find(nic_node(nic, s), key);

	return x ? &x->h : NULL;
}

/* --- registration --- */

static int check_paged(const struct nic_at *a, const struct swhni_handle *h)
{
	uint64_t size, n;

	if (h->page < SWHNI_LEAST_PAGE || h->page > SWHNI_MOST_PAGE)
		return EINVAL;
	size = UINT64_C(1) << h->page;
	n = (h->at % size + h->bytes + size - 1) / size;
	if (!h->table)
		return 0;
	if (h->table % 8 || h->at % size)
		return EINVAL;
	return memory_ask(host_at(a->nic->host, a->s),
		       MEMORY_MAY_READ(MEMORY_NIC), h->table, n * 8)
		       ? EFAULT
		       : 0;
}

static int check_handle(const struct nic_at *a, const struct swhni_handle *h)
{
	const uint32_t both =
		MEMORY_MAY_READ(MEMORY_NIC) | MEMORY_MAY_WRITE(MEMORY_NIC);

	if (h->key >= SWHNI_KEYS || !SWHNI_IS_JOB(h->job) || !h->bytes ||
		h->space > SWHNI_PAGED ||
		h->rights & ~(SWHNI_MAY_READ | SWHNI_MAY_WRITE) ||
		h->at + h->bytes < h->at)
		return EINVAL;
	if (!(h->space == SWHNI_PAGED && h->table) &&
		memory_ask(host_at(a->nic->host, a->s), both, h->at, h->bytes))
		return EFAULT;
	return h->space == SWHNI_PAGED ? check_paged(a, h) : 0;
}

int swhni_register(const struct nic_at *a, const struct swhni_handle *h)
{
	struct sw_node *n = a->node;
	int error = check_handle(a, h);
	uint32_t id;

	if (error)
		return error;
	if (find(n, h->key))
		return EBUSY;
	id = slots_take(&n->handles);
	((struct sw_handle *)slots_at(&n->handles, id))->h = *h;
	n->handles_life++;
	index_add(&n->by_key, h->key, id);
	return 0;
}

static bool is_used(const struct sw_node *n, uint32_t key)
{
	for (uint32_t e = 0; e < SWHNI_ENGINES; e++) {
		const struct slots *items = &n->engine[e].messages.items;

		for (uint32_t i = 1; i <= items->room; i++) {
			const struct sw_message *m = slots_find(items, i);

			if (m && !m->is_over && m->role == SW_OWN &&
				m->d.own_key == key)
				return true;
		}
	}
	return false;
}

/* Its pages are not anybody's who gets its key. */
static void drop_pages(struct sw_node *n, const struct swhni_handle *h)
{
	uint64_t pages =
		((h->at + h->bytes - 1) >> h->page) - (h->at >> h->page);

	for (uint32_t e = 0; h->space == SWHNI_PAGED && e < SWHNI_ENGINES; e++)
		tlb_drop(&n->engine[e].tlb, h->key, 0, pages + 1);
}

/* What has come in part is nobody's. */
static void forget_entries(struct sw_engine *e, uint32_t key)
{
	for (uint32_t i = 1; e->entries.used && i <= e->entries.room; i++) {
		const struct sw_entry *x = slots_find(&e->entries, i);

		if (x && x->head.key == key)
			sw_receive_forget(e, i);
	}
}

static void drop(struct sw_node *n, uint32_t id)
{
	struct sw_handle *x = slots_at(&n->handles, id);

	drop_pages(n, &x->h);
	for (uint32_t e = 0; e < SWHNI_ENGINES; e++)
		forget_entries(&n->engine[e], x->h.key);
	index_remove(&n->by_key, x->h.key);
	slots_give(&n->handles, id);
	n->handles_life++;
}

int swhni_deregister(const struct nic_at *a, uint32_t job, uint32_t key)
{
	struct sw_node *n = a->node;
	uint32_t id = index_find(&n->by_key, key);
	const struct sw_handle *x = id ? slots_at(&n->handles, id) : NULL;

	if (!x)
		return EINVAL;
	if (x->h.job != job)
		return EACCES;
	if (is_used(n, key))
		return EBUSY;
	drop(n, id);
	return 0;
}

void sw_address_end(struct sw_node *n, uint32_t process)
{
	for (uint32_t i = 1; i <= n->handles.room; i++) {
		const struct sw_handle *x = slots_find(&n->handles, i);

		if (x && x->h.process == process)
			drop(n, i);
	}
}

void sw_address_leave(struct sw_node *n, uint32_t job)
{
	for (uint32_t i = 1; i <= n->handles.room; i++) {
		const struct sw_handle *x = slots_find(&n->handles, i);

		if (x && x->h.job == job)
			drop(n, i);
	}
}

/* --- look-up --- */

enum swhni_error sw_look_up(const struct nic_at *a, uint32_t engine,
	uint32_t job, uint32_t key, uint64_t offset, uint64_t bytes,
	uint32_t rights, const struct swhni_handle **handle)
{
	const struct sw_handle *x = find(a->node, key);
	const struct swhni_handle *h = x ? &x->h : NULL;
	uint64_t first;

	if (!h || !sw_engine_reaches(a, engine, h->process))
		return SWHNI_BAD_KEY;
	if (h->job != job)
		return SWHNI_WRONG_JOB;
	if ((h->rights & rights) != rights)
		return SWHNI_NO_RIGHT;
	first = h->space == SWHNI_PHYSICAL ? h->at : 0;
	if (offset < first || offset - first > h->bytes ||
		bytes > h->bytes - (offset - first))
		return SWHNI_OUT_OF_BOUNDS;
	*handle = h;
	return SWHNI_OK;
}

static uint64_t in_page(const struct swhni_handle *h, uint64_t offset)
{
	return (h->at + offset) & ((UINT64_C(1) << h->page) - 1);
}

/* A page's number in its handle. */
static uint64_t page_of(const struct swhni_handle *h, uint64_t offset)
{
	return ((h->at + offset) >> h->page) - (h->at >> h->page);
}

static uint64_t frame_of(
	const struct nic_at *a, const struct swhni_handle *h, uint64_t page)
{
	uint64_t word = 0;

	if (!h->table)
		return ((h->at >> h->page) + page) << h->page;
	host_read(a->nic->host, a->s, h->table + page * 8, &word, 8);
	return word;
}

uint64_t sw_paged_address(
	const struct nic_at *a, const struct swhni_handle *h, uint64_t offset)
{
	return frame_of(a, h, page_of(h, offset)) + in_page(h, offset);
}

uint32_t sw_piece(const struct swhni_handle *h, uint64_t offset, uint32_t n)
{
	uint64_t left;

	if (sw_is_flat(h))
		return n;
	left = (UINT64_C(1) << h->page) - in_page(h, offset);
	return left < n ? (uint32_t)left : n;
}

bool sw_load_bytes(const struct nic_at *a, const struct swhni_handle *h,
	uint64_t offset, void *to, uint32_t bytes)
{
	uint32_t n;

	if (sw_is_flat(h))
		return host_read(a->nic->host, a->s, sw_address(a, h, offset),
			to, bytes);
	for (; bytes; bytes -= n, offset += n, to = (char *)to + n) {
		n = sw_piece(h, offset, bytes);
		if (!host_read(a->nic->host, a->s, sw_address(a, h, offset), to,
			    n))
			return false;
	}
	return true;
}

bool sw_store_bytes(const struct nic_at *a, const struct swhni_handle *h,
	uint64_t offset, const void *from, uint32_t bytes)
{
	uint32_t n;

	if (sw_is_flat(h))
		return host_write(a->nic->host, a->w, a->s, a->t,
			sw_address(a, h, offset), from, bytes);
	for (; bytes; bytes -= n, offset += n, from = (const char *)from + n) {
		n = sw_piece(h, offset, bytes);
		if (!host_write(a->nic->host, a->w, a->s, a->t,
			    sw_address(a, h, offset), from, n))
			return false;
	}
	return true;
}

bool sw_store_load(
	const struct nic_at *a, const struct swhni_handle *h, struct sw_load *l)
{
	uint32_t n = l->h.bytes;

	if (l->is_named && sw_piece(h, l->h.offset, n) == n)
		return host_write_named(a->nic->host, a->w, a->s, a->t,
			sw_address(a, h, l->h.offset), &l->name, n);
	if (l->is_named)
		memory_fill(&l->name, l->data, n);
	return sw_store_bytes(a, h, l->h.offset, l->data, n);
}

/* --- the TLB --- */

static uint64_t entry_at(const struct swhni_handle *h, uint64_t page)
{
	return h->table ? h->table + page * 8 : h->at & ~UINT64_C(7);
}

static bool is_walking(const struct sw_engine *e, uint32_t key, uint64_t page)
{
	for (uint32_t i = 1; e->walks.used && i <= e->walks.room; i++) {
		const struct sw_walk *x = slots_find(&e->walks, i);

		if (x && x->key == key && page - x->page < x->n)
			return true;
	}
	return false;
}

static void on_walked(const struct nic_at *a, const struct side_read *r)
{
	struct sw_engine *e = r->owner;
	struct sw_walk x = *(struct sw_walk *)slots_at(&e->walks, r->id);

	slots_give(&e->walks, r->id);
	/* unless the handle is gone */
	for (uint32_t i = 0; find(a->node, x.key) && i < x.n; i++)
		tlb_put(&e->tlb, x.key, x.page + i, x.page + i);
	if (x.done)
		x.done(a, (uint32_t)(e - sw_here(a)->engine), x.id);
}

static void walk(
	const struct nic_at *a, uint32_t engine, uint64_t at, struct sw_walk w)
{
	struct sw_engine *e = sw_engine(a, engine);
	uint32_t id = slots_take(&e->walks);
	struct sw_walk *x = slots_at(&e->walks, id);

	w.slot = x->slot;
	*x = w;
	sw_here(a)->memory_reads++;
	side_reads_begin(a, &e->reads, at, w.n * 8, on_walked, e, id);
}

/*
 * Pages that follow are read ahead, all in one read, when less than half of
 * what may be read ahead is there: they are used soon, if at all.
 */
static void read_ahead(const struct nic_at *a, uint32_t engine,
	const struct swhni_handle *h, uint64_t last)
{
	struct sw_engine *e = sw_engine(a, engine);
	uint64_t ahead = (uint64_t)sw_params(a)->tlb_prefetch;
	uint64_t end = last + ahead, most = page_of(h, h->bytes - 1);
	struct sw_walk w = { .key = h->key, .page = last + 1 };

	end = end < most ? end : most;
	while (w.page <= end && (tlb_has(&e->tlb, h->key, w.page) ||
					is_walking(e, h->key, w.page)))
		w.page++;
	if (w.page > end || w.page > last + (ahead + 1) / 2)
		return;
	w.n = (uint32_t)(end - w.page + 1);
	sw_here(a)->prefetched += w.n;
	walk(a, engine, entry_at(h, w.page), w);
}

bool sw_translate(const struct nic_at *a, uint32_t engine,
	const struct swhni_handle *h, uint64_t offset, uint64_t bytes,
	sw_translated *done, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_walk w = { .key = h->key, .done = done, .id = id };
	uint64_t last, frame;

	if (h->space != SWHNI_PAGED || !bytes)
		return true;
	last = page_of(h, offset + bytes - 1);
	for (uint64_t i = last + 1; i-- > page_of(h, offset);)
		if (!tlb_look(&e->tlb, h->key, i, &frame)) {
			w.page = i;
			w.n++;
		}
	sw_here(a)->hits += !w.n;
	sw_here(a)->misses += w.n;
	if (w.n)
		walk(a, engine, entry_at(h, w.page), w);
	read_ahead(a, engine, h, last);
	return !w.n;
}
