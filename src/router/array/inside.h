/*
 * From the input buffer of a switch to a row buffer: lists, the row bus, and
 * packets that are stored as a whole.  Private to the router.
 */
#ifndef ROUTER_ARRAY_INSIDE_H
#define ROUTER_ARRAY_INSIDE_H

#include "net/leave.h"
#include "router/array/array.h"

#define BIT(n) (UINT64_C(1) << (n))

/* Returns credits of a channel to the sender at the other end of a port. */
static inline void give_back(struct array *a, struct sim_worker *w,
	struct array_port *i, uint32_t channel, uint32_t chunks, sim_time tail)
{
	sim_time t = tail + a->link->latency[i->sender.wire];

	net_give_back(w, &i->sender, i->far, t, channel, chunks);
	if (i->far_due)
		array_due(i->far_due, i->sender.peer_port, t);
}

/* When a packet's tail has arrived at its input. */
static inline sim_time tail_of(const struct array *a, const struct packet *p)
{
	return p->head + a->link->ser[p->size];
}

/* --- row buffers --- */

/* The lists that share a row buffer with one. */
static inline uint64_t sharers(const struct array *a, uint32_t list)
{
	return array_is_paired(a) ? BIT(list) | BIT(list ^ ARRAY_COLUMNS)
				  : BIT(list);
}

/* Packets in the row buffer of a list. */
static inline uint32_t in_row(
	const struct array *a, const struct array_port *i, uint32_t list)
{
	return i->in_row[list] +
	       (array_is_paired(a) ? i->in_row[list ^ ARRAY_COLUMNS] : 0u);
}

/* The head of a row buffer asks for its output. */
static inline void ask(struct array *a, struct array_switch *s,
	const struct array_port *i, port_id in, uint32_t list, sim_time t)
{
	packet_id id = i->list[list].first;
	const struct packet *p = &a->packets[id];
	uint32_t came = list / ARRAY_COLUMNS;
	struct array_port *o = array_port(s, p->escape);

	o->want[came] |= BIT(in);
	o->wanted |= 1u << came;
	if (p->channel != came)
		o->odd[came] |= BIT(in);
	/* if its channel lacks credits, they will come as an event, as when
	 * the link is free */
	if (!o->is_timed &&
		(!o->returns.is_starving || !(o->lacking >> p->channel & 1)))
		s->dirty |= BIT(p->escape);
	book_wait(array_book(a), id, CAUSE_LINK, t);
}

/* The head does not ask any more. */
static inline void array_unask(struct array_port *o, port_id in, uint32_t came)
{
	o->odd[came] &= ~BIT(in);
	if (!(o->want[came] &= ~BIT(in)))
		o->wanted &= ~(1u << came);
}

/* One more packet of a list is in the row buffer. */
static inline void enter_row(struct array *a, struct array_switch *s,
	struct array_port *i, port_id in, uint32_t list, sim_time t)
{
	i->in_row[list]++;
	if (in_row(a, i, list) == a->row)
		i->full |= sharers(a, list);
	if (i->in_row[list] == 1)
		ask(a, s, i, in, list, t);
}

/* The first packet of a list that is still in the input buffer. */
static inline packet_id first_waiting(
	const struct array *a, const struct array_port *i, uint32_t list)
{
	packet_id id = i->list[list].first;

	for (uint32_t k = i->in_row[list]; k; k--)
		id = a->packets[id].next;
	return id;
}

/* --- the bus --- */

static inline void wake_bus(struct sim_worker *w, struct array_switch *s,
	struct array_port *i, port_id in)
{
	if (i->is_bus_timed)
		return;
	i->is_bus_timed = true;
	sim_post_self(w, s->id, i->bus_free,
		SIM_KEY(PHASE_ENGINE, ARRAY_BUS + in), 0, 0);
}

/* The bus carries a packet, from t on until its tail has come and crossed. */
static inline void take_bus(const struct array *a, struct array_port *i,
	const struct packet *p, sim_time t)
{
	sim_time over = t + a->link->ser[p->size], came = tail_of(a, p);

	i->bus_free = over > came ? over : came;
}

/* The first waiting packet of a list crosses; its place in the input buffer is
 * free when its tail has. */
static inline void cross(struct array *a, struct sim_worker *w,
	struct array_switch *s, struct array_port *i, port_id in, uint32_t list,
	sim_time t)
{
	packet_id id = first_waiting(a, i, list);
	const struct packet *p = &a->packets[id];

	take_bus(a, i, p, t);
	give_back(a, w, i, list / ARRAY_COLUMNS, p->chunks, i->bus_free);
	i->bus_turn = (uint8_t)(list + 1);
	if (!p->next)
		i->waits &= ~BIT(list);
	else if (array_stores(a))
		array_store(a, w, s, in, list, p->next, t);
	enter_row(a, s, i, in, list, t);
}

/* The first packets of some lists wait for the bus alone. */
static inline void note_bus(const struct array *a, const struct array_port *i,
	uint64_t m, sim_time t)
{
	for (; m; m &= m - 1) {
		uint32_t list = (uint32_t)__builtin_ctzll(m);
		packet_id id = list < ARRAY_LISTS ? first_waiting(a, i, list)
						  : i->list[list].first;

		book_wait(array_book(a), id, CAUSE_ARBITRATION, t);
	}
}

/* If the bus is free, the next packet crosses, in turn among the lists. */
static inline void use_bus(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, sim_time t)
{
	struct array_port *i = array_port(s, in);
	uint64_t m;

	while ((m = i->waits & ~(i->full | i->storing)) && i->bus_free <= t) {
		uint32_t list = net_first(m, i->bus_turn);

		if (list < ARRAY_LISTS)
			cross(a, w, s, i, in, list, t);
		else
			array_copy(a, w, s, in, list, t);
	}
	if (!m)
		return;
	wake_bus(w, s, i, in);
	if (array_book(a))
		note_bus(a, i, m, t);
}

/* The same where something may have changed: while an event is pending for when
 * the bus is free, it is not. */
static inline void try_bus(struct array *a, struct sim_worker *w,
	struct array_switch *s, struct array_port *i, port_id in, sim_time t)
{
	if (!i->is_bus_timed && (i->bus_free <= t || array_book(a)))
		use_bus(a, w, s, in, t);
	else if (!i->is_bus_timed && i->waits & ~(i->full | i->storing))
		wake_bus(w, s, i, in);
	else if (array_book(a))
		note_bus(a, i, i->waits & ~(i->full | i->storing), t);
}

/* --- arrivals --- */

/* Whether nothing keeps a packet from its row buffer. */
static inline bool is_open(const struct array *a, const struct array_port *i,
	uint32_t list, sim_time t)
{
	return !((i->waits | i->full) >> list & 1) && i->bus_free <= t &&
	       !i->is_bus_timed && !array_stores(a);
}

/* A packet waits at its input for an output. */
static inline void join(struct array *a, struct sim_worker *w,
	struct array_switch *s, struct array_port *i, struct array_port *o,
	port_id in, uint32_t came, packet_id id, port_id out, sim_time t)
{
	uint32_t list = array_list(came, a->column_of[out]);
	struct packet *p = &a->packets[id];

	p->escape = (uint8_t)out;
	o->backlog += p->chunks;
	s->changed |= BIT(out);
	book_wait(array_book(a), id, CAUSE_QUEUE, t);
	packet_push(a->packets, &i->list[list], id);
	if (is_open(a, i, list, t)) {
		take_bus(a, i, p, t);
		give_back(a, w, i, came, p->chunks, i->bus_free);
		i->bus_turn = (uint8_t)(list + 1);
		enter_row(a, s, i, in, list, t);
		return;
	}
	if (!(i->waits >> list & 1)) {
		i->waits |= BIT(list);
		if (array_stores(a))
			array_store(a, w, s, in, list, id, t);
	}
	if (!(i->full >> list & 1))
		try_bus(a, w, s, i, in, t);
}

#endif
