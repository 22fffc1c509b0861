/*
 * The driver's calls for virtual memory: areas at addresses of 64 bits that a
 * process chooses, in pages of one of the active sizes.  The bytes of an area
 * follow each other in the host's memory, or in the card's.
 *
 * The host's memory for areas lies beyond what processes have at their own
 * addresses: as much again, four times, with four upper parts of its addresses
 * (QSN-F54).  A place there is given away once, so that a write on its way to
 * memory that was given back harms nothing.
 */
#include "nic/elan4/units.h"

#include <errno.h>

/* In each bank; the memory of processes is below it. */
#define BANK_AT	   (UINT64_C(1) << 43)
#define BANK_BYTES (UINT64_C(1) << 42)

#define HIGH (UINT64_C(1) << 63) /* addresses are chosen from here on */

static const struct elan_mmu_how *how_of(const struct nic *nic)
{
	return &((const struct elan *)nic)->mmu;
}

/* The TLB for a page size; ELAN_TLBS: it is not active. */
static uint32_t tlb_for(const struct elan_mmu_how *how, uint64_t page)
{
	uint32_t i = 0;

	while (page && i < ELAN_TLBS && page != UINT64_C(1) << how->shift[i])
		i++;
	return i;
}

/* --- places --- */

/* Host memory of a bank, aligned; 0: none is left. */
static uint64_t take_host(struct nic *nic, site_id s, uint32_t bank,
	uint64_t bytes, uint64_t page)
{
	struct elan_node *n = nic_node(nic, s);
	uint64_t *taken = &n->areas.taken[bank], *used = &n->areas.used[bank];
	uint64_t at = (*taken + page - 1) / page * page;
	struct memory_range r = {
		.at = elan_bank(bank) + BANK_AT,
		.bytes = BANK_BYTES,
		.kind = MEMORY_OF_HOST,
		.rights = MEMORY_MAY_ALL,
	};

	if (bytes > host_memory(nic->host) - *used || at > BANK_BYTES ||
		bytes > BANK_BYTES - at)
		return 0;
	if (!*taken)
		BUG_IF(!memory_add_range(host_at(nic->host, s), &r));
	*taken = at + bytes;
	*used += bytes;
	return r.at + at;
}

static uint64_t take_place(struct nic *nic, site_id s, uint32_t context,
	const struct elan_vm *v, uint64_t bytes, uint64_t page)
{
	if (v->flags & ELAN_VM_CARD)
		return elan_memory_keep(nic, s, context, bytes, page);
	return take_host(nic, s, v->bank, bytes, page);
}

/* An address above all others of the context. */
static uint64_t choose(
	const struct elan_node *n, uint32_t context, uint64_t page)
{
	uint64_t at = HIGH;

	for (uint32_t i = 0; i < n->areas.n; i++) {
		const struct elan_area *x = &n->areas.area[i];

		if (x->context == context && x->last >= at)
			at = x->last + 1;
	}
	return (at + page - 1) / page * page;
}

/* Whether some of [first, last] is in use, or has a meaning of its own. */
static bool is_taken(const struct elan_node *n, uint32_t context,
	uint64_t first, uint64_t last)
{
	for (uint32_t i = 0; i < n->areas.n; i++) {
		const struct elan_area *x = &n->areas.area[i];

		if (x->context == context && x->first <= last &&
			first <= x->last)
			return true;
	}
	for (uint32_t i = 0; i < n->queues.n_maps; i++) {
		const struct elan_queue *q = elan_queue(n, n->queues.maps[i]);

		if (q->context == context && q->mapped <= last &&
			first <= q->mapped + (ELAN_PAGE - 1))
			return true;
	}
	return first < 2 * ELAN_CARD_AT && last >= ELAN_CARD_AT;
}

/* --- calls --- */

/* Adds an area whose place is known. */
static void add(struct nic *nic, struct elan_node *n, struct elan_area *x,
	bool is_demand)
{
	if (is_demand && how_of(nic)->is_on)
		elan_area_empty(&n->areas, x, how_of(nic)->shift[x->tlb]);
	elan_area_add(&n->areas, x);
	elan_fault_forget(n, x->context);
}

static uint8_t flags_of(uint32_t flags)
{
	return (uint8_t)((flags & ELAN_VM_BIG_ENDIAN ? ELAN_BIG_ENDIAN : 0) |
			 (flags & ELAN_VM_READ_ONLY ? ELAN_READ_ONLY : 0));
}

int elan_vm_take(struct nic *nic, site_id s, uint32_t context,
	const struct elan_vm *v, uint64_t *at)
{
	struct elan_node *n = nic_node(nic, s);
	uint32_t tlb = tlb_for(how_of(nic), v->page);
	struct elan_area x = { .context = context,
		.tlb = (uint8_t)tlb,
		.flags = flags_of(v->flags) };
	uint64_t page, bytes;

	if (tlb == ELAN_TLBS || !v->bytes ||
		v->flags & ~(uint32_t)ELAN_VM_ALL || v->bank >= ELAN_BANKS ||
		!elan_context_is(n, context))
		return EINVAL;
	page = UINT64_C(1) << how_of(nic)->shift[tlb];
	x.first = v->at ? v->at : choose(n, context, page);
	bytes = (v->bytes + page - 1) / page * page;
	if (x.first % page || bytes < v->bytes ||
		bytes - 1 > UINT64_MAX - x.first)
		return EINVAL;
	x.last = x.first + (bytes - 1);
	if (is_taken(n, context, x.first, x.last))
		return EBUSY;
	x.to = take_place(nic, s, context, v, bytes, page);
	if (!x.to)
		return ENOMEM;
	add(nic, n, &x, v->flags & ELAN_VM_DEMAND);
	*at = x.first;
	return 0;
}

/* Virtual memory at an address; NULL: there is none. */
static struct elan_area *find(
	const struct elan_node *n, uint32_t context, uint64_t at)
{
	struct elan_area *x = elan_area_at(n, context, at);

	return x && !(x->flags & ELAN_ITS_OWN) ? x : NULL;
}

int elan_vm_give(struct nic *nic, site_id s, uint32_t context, uint64_t at)
{
	struct elan_node *n = nic_node(nic, s);
	struct elan_area *x = find(n, context, at);
	uint64_t to;

	if (!x || x->first != at)
		return EINVAL;
	to = x->to;
	for (uint32_t i = 0; i < ELAN_BANKS; i++)
		if (to - elan_bank(i) - BANK_AT < BANK_BYTES)
			n->areas.used[i] -= x->last - x->first + 1;
	elan_area_drop(n, x, how_of(nic)->shift[x->tlb]);
	if (elan_is_card(to))
		elan_memory_drop(nic, s, to);
	return 0;
}

int elan_vm_lose(struct nic *nic, site_id s, uint32_t context, uint64_t at,
	uint64_t bytes)
{
	struct elan_node *n = nic_node(nic, s);
	struct elan_area *x = elan_area_at(n, context, at);
	uint64_t last = at + (bytes - 1);
	uint32_t shift;

	if (!bytes)
		return EINVAL;
	if (!x || bytes - 1 > x->last - at)
		return EFAULT;
	if (!how_of(nic)->is_on)
		return 0;
	shift = how_of(nic)->shift[x->tlb];
	for (uint64_t i = at >> shift; i <= last >> shift; i++)
		elan_area_set(&n->areas, x, shift, i << shift, true);
	elan_mmu_drop(n, x, shift, at, last);
	return 0;
}

bool elan_vm_find(const struct nic *nic, site_id s, uint32_t context,
	uint64_t at, uint64_t bytes, uint64_t *to)
{
	const struct elan_node *n = nic->nodes[s];
	const struct elan_area *x = n ? find(n, context, at) : NULL;

	if (!x || (bytes && bytes - 1 > x->last - at))
		return false;
	*to = x->to + (at - x->first);
	return true;
}
