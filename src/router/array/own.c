/* Packets that a switch itself sends: answers of its management. */
#include "router/array/choose.h"

/* The output of a packet; TOPO_NO_PORT: it has no way.  What goes by tables
 * goes as if it came from below. */
static port_id own_output(
	struct array *a, struct array_switch *s, struct packet *p, sim_time t)
{
	port_id in = p->kind == PACKET_VECTOR ? TOPO_NO_PORT : 0;

	return choose(a, s, p, in, ARRAY_CHANNELS - 1, t);
}

static void drop(struct array *a, struct sim_worker *w, struct array_switch *s,
	packet_id id)
{
	s->stranded++;
	a->tally[w->id].stranded++;
	net_drop(a->router.net, w, id);
}

/* The first packet, if it has just become that, asks for its output. */
static void show(struct array *a, struct array_switch *s, sim_time t)
{
	packet_id id = s->own_out.first;

	if (!id)
		return;
	s->dirty |= BIT(a->packets[id].escape);
	book_wait(a->book, id, CAUSE_LINK, t);
}

void array_own_inject(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, packet_id id, sim_time t)
{
	struct array *a = array_switches(n);
	struct array_switch *s = array_switch(a, site);
	struct packet *p = &a->packets[id];
	port_id out;

	(void)fifo;
	if (a->book) {
		net_book_inject(n, site, id);
		book_at_part(a->book, id, site, "management");
		book_wait(a->book, id, CAUSE_QUEUE, t);
	}
	link_measure(a->link, p);
	a->tally[w->id].injected++;
	route_begin(a->route, p);
	p->head = t;
	out = own_output(a, s, p, t);
	if (out == TOPO_NO_PORT) {
		drop(a, w, s, id);
		return;
	}
	p->escape = (uint8_t)out;
	packet_push(a->packets, &s->own_out, id);
	if (p->kind == PACKET_VECTOR)
		array_wait(a, w, s, t);
	if (s->own_out.first == id)
		show(a, s, t);
}

/* As many as its client makes, which is one at a time. */
bool array_own_has_room(const struct net *n, site_id site, uint32_t fifo)
{
	(void)n;
	(void)site;
	(void)fifo;
	return true;
}

/* Nothing is held: what a switch receives is out of its buffers. */
void array_own_release(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, uint32_t chunks, sim_time t)
{
	(void)n;
	(void)w;
	(void)site;
	(void)fifo;
	(void)chunks;
	(void)t;
}

bool array_own_leave(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id out, sim_time t)
{
	struct link_sender *l = &s->port[out].sender;
	packet_id id = s->own_out.first;
	struct packet *p = &a->packets[id];
	sim_time start = l->free_at > t ? l->free_at : t;

	if (!id || p->escape != out)
		return false;
	link_collect(l, &s->port[out].returns, t);
	if (link_room(l, p->channel, a->pool) < p->chunks) {
		book_wait(a->book, id, CAUSE_TOKENS, t);
		return false;
	}
	packet_pop(a->packets, &s->own_out);
	s->port[out].sent[p->channel]++;
	s->changed |= BIT(out);
	p->head = start; /* it is here as a whole */
	if (a->book) {
		book_turn(a->book, id, l->free_at, start);
		net_book_depart(a->router.net, s->id, out, l->wire, p->channel,
			id, start);
	}
	net_leave(a->router.net, w, l,
		&(struct net_leaving){ .id = id,
			.site = s->id,
			.port = out,
			.channel = p->channel,
			.tokens = p->chunks,
			.t = start,
			.has_rates = a->has_rates,
			.is_faulty = a->is_faulty,
			.acks = s->port[out].acks,
			.marks = a->stores });
	show(a, s, t);
	return true;
}

void array_own_again(struct array *a, struct sim_worker *w,
	struct array_switch *s, sim_time t)
{
	struct packet_list was = s->own_out;

	s->own_out = (struct packet_list){ 0 };
	while (was.first) {
		packet_id id = packet_pop(a->packets, &was);
		struct packet *p = &a->packets[id];
		port_id out = p->escape;

		if (s->dead >> out & 1)
			out = p->kind == PACKET_VECTOR ? TOPO_NO_PORT
						       : own_output(a, s, p, t);
		if (out == TOPO_NO_PORT) {
			drop(a, w, s, id);
			continue;
		}
		p->escape = (uint8_t)out;
		packet_push(a->packets, &s->own_out, id);
	}
	show(a, s, t);
}

sim_time array_own_drop_old(struct array *a, struct sim_worker *w,
	struct array_switch *s, sim_time t)
{
	struct packet_list was = s->own_out;
	sim_time oldest = SIM_NEVER;

	s->own_out = (struct packet_list){ 0 };
	while (was.first) {
		packet_id id = packet_pop(a->packets, &was);
		const struct packet *p = &a->packets[id];
		bool is_source = p->kind == PACKET_VECTOR;

		if (is_source && p->head + a->how.patience <= t) {
			s->impatient++;
			net_drop(a->router.net, w, id);
			continue;
		}
		if (is_source && p->head < oldest)
			oldest = p->head;
		packet_push(a->packets, &s->own_out, id);
	}
	show(a, s, t);
	return oldest;
}
