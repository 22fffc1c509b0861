/*
 * Contexts, as the driver knows them: the addresses that the queues and packets
 * of a job may use at a node, and where these lie; and the end of a context.
 *
 *	its own memory   [first, last], at its own addresses, in large pages
 *	card memory      what it has taken, in the same way
 *	command queues   that it has mapped, in small pages
 *	virtual memory   of vm.c, in pages of either size
 *
 * An access lies in one area.  An area knows which of its pages the card does
 * not: those are missing until the driver adds them (fault.c).
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "nic/elan4/units.h"

static void elan_areas_fini(struct elan_areas *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		mem_free(x->area[i].out);
	mem_free(x->area);
}

static uint64_t elan_areas_memory(const struct elan_areas *x)
{
	return x->n * sizeof(*x->area) + x->bits * sizeof(*x->area->out);
}

NIC_MEMBER_OPS(elan_areas, NULL);

/* --- areas --- */

static bool is_before(const struct elan_area *x, uint32_t context, uint64_t at)
{
	return x->context < context ||
	       (x->context == context && x->first <= at);
}

/* The number of areas that begin before an address, or there. */
static uint32_t count_before(
	const struct elan_areas *x, uint32_t context, uint64_t at)
{
	uint32_t low = 0, high = x->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (is_before(&x->area[middle], context, at))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void elan_area_add(struct elan_areas *x, const struct elan_area *area)
{
	uint32_t i = count_before(x, area->context, area->first);

	x->area = mem_grow(x->area, x->n + 1, sizeof(*x->area));
	memmove(x->area + i + 1, x->area + i, (x->n - i) * sizeof(*x->area));
	x->area[i] = *area;
	x->n++;
}

void elan_area_drop(struct elan_node *n, struct elan_area *x, uint32_t shift)
{
	struct elan_areas *all = &n->areas;

	elan_mmu_drop(n, x, shift, x->first, x->last);
	all->bits -= (x->n_pages + 63) / 64;
	mem_free(x->out);
	all->n--;
	memmove(x, x + 1, (size_t)(all->area + all->n - x) * sizeof(*x));
}

struct elan_area *elan_area_at(
	const struct elan_node *n, uint32_t context, uint64_t at)
{
	uint32_t i = count_before(&n->areas, context, at);
	struct elan_area *x = i ? &n->areas.area[i - 1] : NULL;

	return x && x->context == context && at <= x->last ? x : NULL;
}

uint64_t elan_area_end(const struct elan_node *n, uint32_t context, uint64_t at)
{
	const struct elan_area *x = elan_area_at(n, context, at);

	return x ? x->last + 1 : at;
}

/* --- pages that the card does not know --- */

/* Its number; addresses before the first are on the first one's page. */
static uint64_t page_of(const struct elan_area *x, uint32_t shift, uint64_t at)
{
	return (at >> shift) - (x->first >> shift);
}

bool elan_area_lacks(const struct elan_area *x, uint32_t shift, uint64_t at)
{
	uint64_t page = page_of(x, shift, at);

	return x->out && x->out[page / 64] >> page % 64 & 1;
}

static void make_bits(
	struct elan_areas *all, struct elan_area *x, uint32_t shift)
{
	x->n_pages = page_of(x, shift, x->last) + 1;
	x->out = mem_alloc((x->n_pages + 63) / 64, sizeof(*x->out));
	all->bits += (x->n_pages + 63) / 64;
}

void elan_area_set(struct elan_areas *all, struct elan_area *x, uint32_t shift,
	uint64_t at, bool is_out)
{
	uint64_t page = page_of(x, shift, at), bit = UINT64_C(1) << page % 64;

	if (!x->out)
		make_bits(all, x, shift);
	if (is_out)
		x->out[page / 64] |= bit;
	else
		x->out[page / 64] &= ~bit;
}

void elan_area_empty(
	struct elan_areas *all, struct elan_area *x, uint32_t shift)
{
	make_bits(all, x, shift);
	memset(x->out, 0xff, (x->n_pages + 63) / 64 * sizeof(*x->out));
}

static struct elan_area *find_own(const struct elan_areas *x, uint32_t context)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->area[i].context == context &&
			x->area[i].flags & ELAN_ITS_OWN)
			return &x->area[i];
	return NULL;
}

bool elan_context_is(const struct elan_node *n, uint32_t context)
{
	uint32_t i = count_before(&n->areas, context, UINT64_MAX);

	return i && n->areas.area[i - 1].context == context;
}

/* Card memory that the context has taken. */
static const struct elan_area *find_grant(const struct elan_node *n,
	uint64_t at, uint64_t bytes, struct elan_area *made)
{
	const struct elan_grant *g =
		elan_sdram_find(&n->sdram, made->context, at, bytes);

	if (!g)
		return NULL;
	made->tlb = ELAN_TLBS - 1;
	made->first = made->to = g->at;
	made->last = g->at + g->bytes - 1;
	return made;
}

const struct elan_area *elan_area_find(const struct elan_node *n,
	uint32_t context, uint64_t at, uint64_t bytes, struct elan_area *made)
{
	const struct elan_area *x = elan_area_at(n, context, at);

	if (x)
		return !bytes || bytes - 1 <= x->last - at ? x : NULL;
	if (!elan_context_is(n, context))
		return NULL;
	*made = (struct elan_area){ .context = context };
	if (!bytes) /* may be anywhere */
		return made;
	if (elan_is_card(at))
		return find_grant(n, at, bytes, made);
	made->first = made->to = at - at % ELAN_PAGE;
	made->last = made->first + ELAN_PAGE - 1;
	made->flags = ELAN_TO_QUEUE;
	return n->queues.n_maps && elan_queue_mapped(n, context, at, bytes)
		       ? made
		       : NULL;
}

uint64_t elan_where(const struct elan_node *n, uint32_t context, uint64_t at,
	uint64_t bytes)
{
	struct elan_area made;
	const struct elan_area *x =
		elan_area_find(n, context, at, bytes, &made);

	return x ? x->to + (at - x->first) : at;
}

bool elan_may(const struct elan_node *n, uint32_t context, uint64_t at,
	uint64_t bytes)
{
	struct elan_area made;
	const struct elan_area *x;

	/* most often an event in card memory, where no area is */
	if (bytes && elan_is_card(at))
		return elan_sdram_find(&n->sdram, context, at, bytes) &&
		       elan_context_is(n, context);
	x = elan_area_find(n, context, at, bytes, &made);
	return x && !(x->flags & ELAN_TO_QUEUE);
}

static void drop_all(
	struct elan_node *n, uint32_t context, const struct elan_mmu_how *how)
{
	for (uint32_t i = 0; i < n->areas.n;) {
		struct elan_area *x = &n->areas.area[i];

		if (x->context == context)
			elan_area_drop(n, x, how->shift[x->tlb]);
		else
			i++;
	}
}

/* --- the driver's calls --- */

int elan_context_set(struct nic *nic, site_id s, uint32_t context,
	uint64_t first, uint64_t last)
{
	const struct elan_mmu_how *how = &((struct elan *)nic)->mmu;
	struct elan_area own = { first, last, first, context, ELAN_TLBS - 1,
		ELAN_ITS_OWN, NULL, 0 };
	uint32_t shift = how->shift[own.tlb];
	struct elan_node *n = nic_node(nic, s);
	struct elan_area *old;

	if (context >= ELAN_CONTEXTS || first > last ||
		last >= host_memory(nic->host))
		return EINVAL;
	if (how->is_on && !elan_table_open(n))
		return ENOMEM;
	old = find_own(&n->areas, context);
	if (old && old->first == first && old->last == last)
		return 0;
	if (old)
		elan_area_drop(n, old, shift);
	if (how->is_demand)
		elan_area_empty(&n->areas, &own, shift);
	elan_area_add(&n->areas, &own);
	elan_fault_forget(n, context);
	return 0;
}

int elan_context_order(
	struct nic *nic, site_id s, uint32_t context, bool is_big)
{
	struct elan_node *n = nic_node(nic, s);
	struct elan_area *own = find_own(&n->areas, context);

	if (!own)
		return EINVAL;
	own->flags = ELAN_ITS_OWN | (is_big ? ELAN_BIG_ENDIAN : 0);
	elan_mmu_forget(&n->mmu);
	return 0;
}

void elan_context_stop(const struct nic_at *a, uint32_t context)
{
	struct elan_node *n = a->node;

	drop_all(n, context, &elan_of(a)->mmu);
	for (uint32_t i = 0; i < ELAN_QUEUES; i++) {
		struct elan_queue *q = elan_queue(n, i);

		if (q && q->context == context)
			elan_queue_stop(a, q, ELAN_ERROR_MEMORY);
	}
}
