/*
 * Virtual interfaces: who may use them, and their queues.  A number of an
 * interface and a queue of its engine are different things: an interface that
 * is closed in mid-work is free at once, while its old queue still ends.
 */
#include "nic/swhni/card.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

uint32_t swhni_engine(const struct nic *nic, uint32_t process)
{
	(void)nic;
	return process % SWHNI_ENGINES;
}

uint32_t swhni_n_ports(const struct nic *nic)
{
	return ((const struct swhni *)nic)->n_ports;
}

const struct swhni_setup *swhni_interface(
	struct nic *nic, site_id s, uint32_t interface)
{
	const struct sw_interface *x =
		sw_interface(nic_node(nic, s), interface);

	return x ? &x->setup : NULL;
}

void sw_interface_fini(struct sw_node *n)
{
	for (uint32_t i = 0; i < n->n_interfaces; i++)
		mem_free(n->interface[i].chip);
	mem_free(n->interface);
}

/* --- open and close --- */

static struct sw_interface *make(struct sw_node *n, uint32_t interface)
{
	struct sw_interface *x;

	n->interface = mem_more(n->interface, n->n_interfaces, sizeof(*x));
	x = &n->interface[n->n_interfaces++];
	*x = (struct sw_interface){ 0 };
	n->interface_at[interface] = (uint8_t)n->n_interfaces;
	return x;
}

int swhni_open(const struct nic_at *a, const struct swhni_setup *s,
	uint32_t *interface)
{
	struct sw_node *n = a->node;
	struct sw_interface *x;
	uint32_t i = 0;
	int error = sw_broker_ask(a, s);

	if (error)
		return error;
	if (!SWHNI_IS_JOB(s->job) || s->engine >= SWHNI_ENGINES ||
		!sw_engine_reaches(a, s->engine, s->process))
		return EINVAL;
	while (i < SWHNI_INTERFACES && sw_interface(n, i))
		i++;
	if (s->wanted)
		i = s->wanted - 1;
	if (i >= SWHNI_INTERFACES) {
		n->broker.vm[s->vm].refused++;
		return EAGAIN;
	}
	if (sw_interface(n, i))
		return EBUSY;
	x = sw_any_interface(n, i);
	if (!x)
		x = make(n, i);
	mem_free(x->chip);
	*x = (struct sw_interface){
		.setup = *s,
		.queue = SW_NO_QUEUE,
		.is_open = true,
	};
	sw_broker_grant(a, x);
	*interface = i;
	return 0;
}

int swhni_close(const struct nic_at *a, uint32_t interface)
{
	struct sw_interface *x = sw_interface(a->node, interface);
	int error;

	if (!x)
		return EINVAL;
	if (x->n_short)
		return EBUSY;
	error = x->queue == SW_NO_QUEUE ? 0 : swhni_close_queues(a, interface);
	if (!error)
		sw_broker_return(a, x);
	return error;
}

int swhni_open_queues(
	const struct nic_at *a, uint32_t interface, const struct workq_rings *r)
{
	struct sw_interface *x = sw_interface(a->node, interface);
	struct sw_engine *e;
	uint32_t queue = 0;
	int error = EBUSY;

	if (!x)
		return EINVAL;
	if (x->queue != SW_NO_QUEUE)
		return EBUSY;
	e = sw_engine(a, x->setup.engine);
	for (; error == EBUSY && queue < WORKQS; queue++)
		error = workqs_open(a, &e->queues, queue, r);
	if (error)
		return error == EBUSY ? EAGAIN : error;
	x->queue = queue - 1;
	x->rings = *r;
	sw_queue(e, x->queue)->interface = interface;
	return 0;
}

int swhni_close_queues(const struct nic_at *a, uint32_t interface)
{
	struct sw_interface *x = sw_interface(a->node, interface);
	int error;

	if (!x || x->queue == SW_NO_QUEUE)
		return EINVAL;
	error = workqs_close(&sw_engine(a, x->setup.engine)->queues, x->queue);
	if (!error)
		x->queue = SW_NO_QUEUE;
	return error;
}

int swhni_open_receive(
	const struct nic_at *a, uint32_t interface, uint64_t at, uint32_t slots)
{
	struct sw_interface *x = sw_interface(a->node, interface);

	if (!x || !slots || slots > WORKQ_MOST || slots & (slots - 1) ||
		at % sizeof(struct swhni_slot))
		return EINVAL;
	if (x->receive.slots)
		return EBUSY;
	if (memory_ask(host_at(a->nic->host, a->s),
		    MEMORY_MAY_WRITE(MEMORY_NIC), at,
		    (uint64_t)slots * SWHNI_SLOT))
		return EFAULT;
	x->receive = (struct sw_receive){
		.at = at,
		.slots = slots,
		.life = ++sw_here(a)->broker.lives,
	};
	return 0;
}

int swhni_close_receive(const struct nic_at *a, uint32_t interface)
{
	struct sw_interface *x = sw_interface(a->node, interface);

	if (!x || !x->receive.slots)
		return EINVAL;
	x->receive.slots = 0;
	return 0;
}

uint32_t swhni_n_posted(struct nic *nic, site_id s, uint32_t interface)
{
	struct sw_node *n = nic_node(nic, s);
	const struct sw_interface *x = sw_interface(n, interface);
	const struct workq *q;

	if (!x || x->queue == SW_NO_QUEUE)
		return 0;
	q = n->engine[x->setup.engine].queues.queue[x->queue];
	return q->written - q->fetched + q->entries.n + q->n_out;
}

/* --- anew --- */

int swhni_reset_queues(const struct nic_at *a, uint32_t interface)
{
	struct sw_interface *x = sw_interface(a->node, interface);
	struct workq_rings rings;

	if (!x || x->queue == SW_NO_QUEUE)
		return EINVAL;
	rings = x->rings;
	sw_end_interface(a, interface, x);
	x->n_short = 0;
	return swhni_open_queues(a, interface, &rings);
}

/* --- stores of programs --- */

struct sw_interface *sw_mapped(
	const struct nic_at *a, uint32_t interface, uint32_t process)
{
	struct sw_interface *x = sw_interface(a->node, interface);

	return x && (x->setup.is_shared || x->setup.process == process) ? x
									: NULL;
}

int swhni_ring(const struct nic_at *a, uint32_t interface, uint32_t process,
	uint32_t written, uint32_t taken, sim_time birth, sim_time copied)
{
	struct sw_interface *x = sw_mapped(a, interface, process);

	if (!x)
		return EACCES;
	if (x->queue == SW_NO_QUEUE)
		return EINVAL;
	workqs_ring(a, &sw_engine(a, x->setup.engine)->queues, x->queue,
		written, taken, birth, copied);
	return 0;
}

int swhni_took(const struct nic_at *a, uint32_t interface, uint32_t process,
	uint32_t taken)
{
	struct sw_interface *x = sw_mapped(a, interface, process);
	struct side *side = sw_of(a)->side;

	if (!x)
		return EACCES;
	side->ops->store(side, sw_place(a, x->setup.engine), a->t, 8);
	/* more than came are none */
	if (taken - x->receive.taken <= x->receive.number - x->receive.taken)
		x->receive.taken = taken;
	return 0;
}

static int wish(const struct nic_at *a, uint32_t interface, uint32_t process,
	uint64_t id, bool goes_on)
{
	struct sw_interface *x = sw_mapped(a, interface, process);
	struct side *side = sw_of(a)->side;
	struct sw_cancel *c;
	sim_time t;

	if (!x)
		return EACCES;
	if (x->queue == SW_NO_QUEUE)
		return EINVAL;
	c = ring_push(&sw_engine(a, x->setup.engine)->cancels);
	*c = (struct sw_cancel){
		.queue = x->queue, .id = id, .goes_on = goes_on
	};
	t = side->ops->store(side, sw_place(a, x->setup.engine), a->t, 16);
	sw_post(a, t, x->setup.engine, SW_CANCEL, 0);
	return 0;
}

int swhni_cancel(const struct nic_at *a, uint32_t interface, uint32_t process,
	uint64_t id)
{
	return wish(a, interface, process, id, false);
}

int swhni_again(const struct nic_at *a, uint32_t interface, uint32_t process,
	uint64_t id)
{
	return wish(a, interface, process, id, true);
}

/* --- the chip's memory --- */

static uint8_t *page_of(struct sw_interface *x)
{
	if (!x->chip)
		x->chip = mem_alloc(1, SWHNI_CHIP);
	return x->chip;
}

uint8_t *sw_chip(struct sw_interface *x, uint64_t offset, uint32_t bytes)
{
	if (bytes > SWHNI_CHIP || offset > SWHNI_CHIP - bytes)
		return NULL;
	return page_of(x) + offset;
}

int swhni_chip_load(const struct nic_at *a, uint32_t interface,
	uint32_t process, uint32_t offset, void *to, uint32_t bytes,
	sim_time *t)
{
	struct sw_interface *x = sw_mapped(a, interface, process);
	struct side *side = sw_of(a)->side;
	const uint8_t *from = x ? sw_chip(x, offset, bytes) : NULL;
	sim_time there;

	if (!x)
		return EACCES;
	if (!from)
		return EINVAL;
	/* a request to the chip, and its data back */
	there = side->ops->store(side, sw_place(a, x->setup.engine), a->t, 8);
	*t = there + (there - a->t);
	memcpy(to, from, bytes);
	return 0;
}

int swhni_chip_store(const struct nic_at *a, uint32_t interface,
	uint32_t process, uint32_t offset, const void *from, uint32_t bytes)
{
	struct sw_interface *x = sw_mapped(a, interface, process);
	struct side *side = sw_of(a)->side;
	uint8_t *to = x ? sw_chip(x, offset, bytes) : NULL;

	if (!x)
		return EACCES;
	if (!to)
		return EINVAL;
	side->ops->store(side, sw_place(a, x->setup.engine), a->t, bytes);
	memcpy(to, from, bytes);
	host_poke(a->nic->host, a->w, a->s, a->t);
	return 0;
}
