/*
 * Pages that the tables lack (QSN-F57).  The card interrupts the host, where
 * the driver finds the page and adds it; then the operation is restarted.  Only
 * the operation waits:
 *
 *	a queue's command, an event's word or copy, a thread   until then
 *	a DMA      outside of its engine, which the next one has meanwhile
 *	a packet   at its sender, which comes again
 *
 * An address that the context does not have is noted in the tables, too, so
 * that the operation ends when it looks again.
 */
#include "nic/elan4/units.h"

static struct elan_faults *faults_of(const struct nic_at *a)
{
	return &elan_here(a)->faults;
}

static struct elan_fault *fault_of(const struct elan_faults *x, uint32_t id)
{
	return slots_at(&x->items, id);
}

/* --- the driver --- */

/* Adds a page, or the note that there is none. */
static void resolve(const struct nic_at *a, uint32_t context, uint64_t at)
{
	const struct elan_mmu_how *how = &elan_of(a)->mmu;
	const struct elan_page none = { at >> how->shift[0] << how->shift[0],
		context, 0, how->shift[0], true };
	struct elan_node *n = a->node;
	struct elan_area *x = elan_area_at(n, context, at), made;

	if (x) {
		elan_area_set(&n->areas, x, how->shift[x->tlb], at, false);
	} else if (!elan_area_find(n, context, at, 1, &made) &&
		   elan_context_is(n, context)) {
		elan_table_add(n, &none, 0);
		n->faults.n_nowhere++;
	}
}

static void on_done(const struct nic_at *a, uint32_t id)
{
	struct elan_faults *x = faults_of(a);
	struct elan_fault f = *fault_of(x, id);

	slots_give(&x->items, id);
	resolve(a, f.context, f.at);
	while (f.waiters.first) {
		uint32_t w = slots_pop(&x->waiters, &f.waiters);
		const struct elan_waiter go =
			*(struct elan_waiter *)slots_at(&x->waiters, w);

		slots_give(&x->waiters, w);
		go.then(a, go.id);
	}
}

static void on_interrupt(const struct nic_at *a, uint32_t id)
{
	elan_driver_work(a, elan_params(a)->mmu.fault, on_done, id);
}

/* --- for units --- */

/* The fault of a page that is not there yet, or a new one. */
static uint32_t find(
	const struct nic_at *a, uint32_t context, uint64_t at, sim_time t)
{
	struct elan_faults *x = faults_of(a);
	struct elan_fault *f;
	uint32_t id;

	for (id = 1; id <= x->items.room; id++) {
		f = slots_find(&x->items, id);
		if (f && f->at == at && f->context == context)
			return id;
	}
	id = slots_take(&x->items);
	f = fault_of(x, id);
	f->at = at;
	f->context = context;
	elan_count(a)->faults++;
	elan_card_then(a, t, on_interrupt, id);
	return id;
}

void elan_fault(const struct nic_at *a, uint32_t context, uint64_t at,
	sim_time t, elan_then *then, uint32_t id)
{
	struct elan_faults *x = faults_of(a);
	uint32_t fault = find(a, context, at, t), w;
	struct elan_waiter *waiter;

	if (!then)
		return;
	w = slots_take(&x->waiters);
	waiter = slots_at(&x->waiters, w);
	waiter->then = then;
	waiter->id = id;
	slots_push(&x->waiters, &fault_of(x, fault)->waiters, w);
}

void elan_fault_forget(struct elan_node *n, uint32_t context)
{
	elan_mmu_forget(&n->mmu);
	if (n->faults.n_nowhere)
		elan_table_clean(n, context);
}
