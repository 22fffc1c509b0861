/*
 * Interrupts by command (QSN-F31), and by threads.  When the driver has taken
 * one, the handler runs that the queue's process has set, if there is one.  A
 * thread's interrupt has no handler: the thread can wait for that end.
 */
#include "nic/elan4/units.h"

#include <errno.h>

#include "base/mem.h"
#include "weft/elan.h"

static struct elan_interrupts *interrupts_of(const struct nic_at *a)
{
	return &elan_here(a)->interrupts;
}

/* --- handlers --- */

static void elan_interrupts_fini(struct elan_interrupts *x)
{
	mem_free(x->handler);
}

static uint64_t elan_interrupts_memory(const struct elan_interrupts *x)
{
	return x->n * sizeof(*x->handler);
}

NIC_MEMBER_OPS(elan_interrupts, NULL);

static struct elan_handling *find(
	const struct elan_interrupts *x, uint32_t context)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->handler[i].context == context)
			return &x->handler[i];
	return NULL;
}

int elan_handler_set(struct nic *nic, site_id s, uint32_t context,
	elan_handler *run, void *arg)
{
	struct elan_node *n = nic_node(nic, s);
	struct elan_interrupts *x = &n->interrupts;
	struct elan_handling *h = find(x, context);

	if (context >= ELAN_CONTEXTS)
		return EINVAL;
	if (!h) {
		x->handler =
			mem_grow(x->handler, x->n + 1, sizeof(*x->handler));
		h = &x->handler[x->n++];
	}
	*h = (struct elan_handling){ context, run, arg };
	return 0;
}

bool elan_handler_write(
	const struct elan_interrupt *i, uint64_t at, uint64_t word)
{
	const struct nic_at *a = i->inside;

	return at % 8 == 0 && host_write_by(a->nic->host, a->w, a->s, a->t,
				      MEMORY_CORE, at, &word, sizeof(word));
}

/* --- interrupts --- */

static void on_done(const struct nic_at *a, uint32_t id)
{
	struct elan_interrupts *x = interrupts_of(a);
	const struct elan_pending p =
		*(struct elan_pending *)slots_at(&x->items, id);
	const struct elan_handling *h = find(x, p.context);
	struct elan_interrupt i = {
		.node = a->s, .value = p.value, .at = a->t, .inside = a
	};

	slots_give(&x->items, id);
	x->handled++;
	elan_thread_on_interrupt(a);
	if (!p.is_quiet && h && h->run &&
		a->t < host_dies_at(a->nic->host, a->s))
		h->run(h->arg, &i);
	host_poke(a->nic->host, a->w, a->s, a->t);
}

static void add(const struct nic_at *a, const struct elan_pending *what)
{
	struct elan_interrupts *x = interrupts_of(a);
	uint32_t id = slots_take(&x->items);
	struct elan_pending *p = slots_at(&x->items, id);

	p->context = what->context;
	p->value = what->value;
	p->is_quiet = what->is_quiet;
	x->asked++;
	elan_count(a)->interrupts++;
	elan_driver_work(a, elan_params(a)->interrupt, on_done, id);
}

void elan_interrupt(const struct nic_at *a, uint32_t context, uint64_t value)
{
	add(a, &(struct elan_pending){ .context = context, .value = value });
}

uint32_t elan_interrupt_quietly(const struct nic_at *a)
{
	add(a, &(struct elan_pending){ .is_quiet = true });
	return interrupts_of(a)->asked;
}

bool elan_interrupt_is_over(const struct elan_node *n, uint32_t ticket)
{
	return (int32_t)(n->interrupts.handled - ticket) >= 0;
}
