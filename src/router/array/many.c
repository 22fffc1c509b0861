/*
 * Multicasts.  The packet stays in its input buffer, in a list of its channel,
 * with the ports that it still has to leave by in its way.  It crosses the bus
 * for all row buffers that have room at once, and again for those that had
 * none: one row buffer takes one copy at a time.  For the last port the packet
 * itself crosses, and its place in the input buffer is free when its tail has.
 */
#include "coll/coll.h"
#include "coll/legs.h"
#include "router/array/inside.h"

static uint32_t list_for(const struct array *a, uint32_t came, port_id out)
{
	return array_list(came, a->column_of[out]);
}

/* The first port whose row buffer has room, or TOPO_NO_PORT. */
static port_id open_port(const struct array *a, const struct array_port *i,
	uint32_t came, port_mask m)
{
	for (; m; m &= m - 1) {
		port_id out = (port_id)__builtin_ctzll(m);

		if (!(i->full >> list_for(a, came, out) & 1))
			return out;
	}
	return TOPO_NO_PORT;
}

/* Puts a packet into a list behind those in the row buffer. */
static void insert(
	struct array *a, struct array_port *i, uint32_t list, packet_id id)
{
	struct packet_list *q = &i->list[list];
	packet_id *link = &q->first;

	for (uint32_t k = i->in_row[list]; k; k--)
		link = &a->packets[*link].next;
	a->packets[id].next = *link;
	if (!*link)
		q->last = id;
	*link = id;
}

/* A copy for a port is in its row buffer; for the last one the packet itself
 * is. */
static void give_copy(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, uint32_t list, port_id out,
	sim_time t)
{
	struct array_port *i = &s->port[in];
	uint32_t came = list - ARRAY_LISTS;
	packet_id id = i->list[list].first, copy = id;
	struct packet *p = &a->packets[id];

	p->way &= ~BIT(out);
	if (p->way) {
		copy = legs_copy(a->router.net, w, id);
	} else {
		packet_pop(a->packets, &i->list[list]);
		if (!i->list[list].first)
			i->waits &= ~BIT(list);
		give_back(a, w, i, came, p->chunks, i->bus_free);
	}
	p = &a->packets[copy];
	p->escape = (uint8_t)out;
	p->way = 0;
	s->port[out].backlog += p->chunks;
	s->changed |= BIT(out);
	insert(a, i, list_for(a, came, out), copy);
	enter_row(a, s, i, in, list_for(a, came, out), t);
}

void array_copy(struct array *a, struct sim_worker *w, struct array_switch *s,
	port_id in, uint32_t list, sim_time t)
{
	struct array_port *i = &s->port[in];
	uint32_t came = list - ARRAY_LISTS;
	const struct packet *p = &a->packets[i->list[list].first];
	port_id out = open_port(a, i, came, p->way);
	port_mask left = p->way;

	if (out == TOPO_NO_PORT) {
		i->full |= BIT(list);
		return;
	}
	take_bus(a, i, p, t);
	i->bus_turn = (uint8_t)(list + 1);
	for (; out != TOPO_NO_PORT; out = open_port(a, i, came, left)) {
		left &= ~BIT(out);
		give_copy(a, w, s, in, list, out, t);
	}
}

void array_spread(struct array *a, struct sim_worker *w, struct array_switch *s,
	port_id in, uint32_t came, packet_id id, sim_time t)
{
	struct array_port *i = &s->port[in];
	struct packet *p = &a->packets[id];
	struct coll *c = a->router.net->coll;
	struct coll_step step = { 0 };

	if (c)
		step = c->ops->arrive(c, s->id, p, in, t);
	p->way = step.ports & ~s->dead;
	p->escape = PACKET_NO_PORT;
	p->channel = (uint8_t)came;
	if (!p->way) {
		array_end_here(a, w, s, in, came, id, t);
		return;
	}
	book_wait(a->book, id, CAUSE_QUEUE, t);
	packet_push(a->packets, &i->list[ARRAY_LISTS + came], id);
	i->waits |= BIT(ARRAY_LISTS + came);
	use_bus(a, w, s, in, t);
}
