/*
 * Fast short messages.  The program stores the descriptor and the bytes into
 * its window of the chip, so nothing is read over PCIe; and they pass the
 * engine by a path of their own, without its turns and the issue of messages.
 */
#include "nic/swhni/card.h"

#include <errno.h>
#include <string.h>

static bool is_known(const struct nic_at *a, const struct swhni_descriptor *d)
{
	return d->type >= SWHNI_POSTED && d->type < SWHNI_TYPES &&
	       sw_engine_knows(a, d) &&
	       (d->type == SWHNI_FSM_WRITE || d->bytes);
}

static enum swhni_error check(
	const struct nic_at *a, uint32_t engine, struct sw_message *m)
{
	const struct swhni_descriptor *d = &m->d;

	if (!is_known(a, d))
		return SWHNI_BAD_ENTRY;
	if (d->type == SWHNI_FSM_WRITE)
		return SWHNI_OK;
	return sw_broker_look_up(a, engine, m);
}

static void account(
	const struct nic_at *a, struct sw_message *m, const struct sw_short *x)
{
	bool is_read = x->d.type == SWHNI_FSM_READ;

	if (!a->nic->net->book)
		return;
	m->account.birth = x->birth;
	m->account.message = book_message(a->nic->net->book, a->s,
		is_read ? BOOK_GET : BOOK_PUT, 1, x->birth.at);
}

static void cut(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_message *m = sw_message(sw_engine(a, engine), id);

	sw_send_begin(m, 1);
	m->asked = m->here = 1;
	sw_send_cut(a, engine, id, sw_send_port(a, m));
}

/* It has a place in the engine. */
static void begin(
	const struct nic_at *a, uint32_t engine, uint32_t message, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	const struct sw_short *x = slots_at(&e->shorts, id);
	struct sw_message *m = sw_message(e, message);
	struct sw_interface *i = sw_interface(a->node, x->interface);
	enum swhni_error error;

	m->d = x->d;
	m->window = id;
	m->is_short = m->is_issued = true;
	m->interface = x->interface;
	m->job = x->job;
	m->item.dst = m->d.node;
	m->n_packets = 1;
	/* a job that left has forgotten it */
	m->is_dead = !i || i->life != x->life;
	error = m->is_dead ? SWHNI_CANCELLED : check(a, engine, m);
	if (error) {
		sw_engine_end(a, engine, message, error);
		return;
	}
	account(a, m, x);
	sw_here(a)->shorts++;
	cut(a, engine, message);
}

void sw_fsm_again(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	cut(a, engine, id);
}

void sw_fsm_next(const struct nic_at *a, uint32_t engine)
{
	struct sw_engine *e = sw_engine(a, engine);

	while (e->waiting.n) {
		uint32_t message = sw_engine_place(a, engine, SW_OWN_SHORT);

		if (!message)
			return;
		begin(a, engine, message, *(uint32_t *)ring_pop(&e->waiting));
	}
}

void sw_fsm_on_short(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_short *x = slots_at(&e->shorts, id);

	x->birth.heard = x->birth.asked = x->birth.came = a->t;
	*(uint32_t *)ring_push(&e->waiting) = id;
	sw_fsm_next(a, engine);
}

int swhni_fsm(const struct nic_at *a, uint32_t interface, uint32_t process,
	const struct swhni_descriptor *d, const void *data, sim_time birth,
	sim_time copied)
{
	struct sw_interface *i = sw_mapped(a, interface, process);
	struct side *side = sw_of(a)->side;
	bool is_write = d->type == SWHNI_FSM_WRITE;
	struct sw_engine *e;
	struct sw_short *x;
	uint32_t id;
	sim_time t;

	if (!i)
		return EACCES;
	if (d->bytes > SWHNI_SHORT)
		return EMSGSIZE;
	if (i->n_short >= (uint32_t)sw_params(a)->window)
		return EAGAIN;
	i->n_short++;
	e = sw_engine(a, i->setup.engine);
	id = slots_take_any(&e->shorts);
	x = slots_at(&e->shorts, id);
	x->d = *d;
	x->interface = interface;
	x->job = i->setup.job;
	x->life = i->life;
	x->birth = (struct workq_birth){
		.at = birth, .copied = copied, .handed = a->t
	};
	if (is_write && d->bytes)
		memcpy(x->data, data, d->bytes);
	t = side->ops->store(side, sw_place(a, i->setup.engine), a->t,
		(uint32_t)sizeof(*d) + (is_write ? d->bytes : 0));
	t += i->setup.vm ? sw_params(a)->vm : 0;
	sw_post(a, t, i->setup.engine, SW_SHORT, id);
	return 0;
}
