/*
 * Packets that cannot go where they wanted: links that die, source routes that
 * nothing leads on, and packets without a way.
 *
 * When a link dies, what stands in a row buffer for it is lost; what is still
 * in an input buffer chooses again at that instant.
 */
#include "router/array/choose.h"

/* --- ends --- */

/* A packet has left its input for good. */
static void count_out(
	struct array_port *i, uint32_t came, const struct packet *p, sim_time t)
{
	i->packets[came]++;
	i->waited[came] += t - p->head;
}

static void free_input(struct array *a, struct sim_worker *w,
	struct array_port *i, uint32_t came, const struct packet *p, sim_time t)
{
	sim_time tail = tail_of(a, p);

	count_out(i, came, p, t);
	give_back(a, w, i, came, p->chunks, tail > t ? tail : t);
}

static void strand(struct array *a, struct sim_worker *w,
	struct array_switch *s, packet_id id)
{
	s->stranded++;
	a->tally[w->id].stranded++;
	net_drop(a->router.net, w, id);
}

/* A packet for the switch itself. */
static void receive(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, uint32_t came, packet_id id,
	sim_time t)
{
	struct net_client *c = net_client(a->router.net, s->id);
	const struct packet *p = &a->packets[id];
	sim_time tail = tail_of(a, p);

	if (a->book)
		net_book_receive(a->router.net, w, id, t, tail);
	a->tally[w->id].delivered++;
	c->ops.on_packet(c, w, s->id, came * a->n_ports + in, id, t, tail);
}

void array_end_here(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, uint32_t came, packet_id id,
	sim_time t)
{
	const struct packet *p = &a->packets[id];

	free_input(a, w, &s->port[in], came, p, t);
	if (p->dst == s->id && !(p->flags & PACKET_MANY))
		receive(a, w, s, in, came, id, t);
	else
		strand(a, w, s, id);
}

/* --- packets that leave their lists --- */

typedef bool (*unfit)(
	const struct array *a, const struct packet *p, uint64_t arg);

/* A packet of a row buffer is lost: its input has been free for long. */
static void lose_row(struct array *a, struct sim_worker *w,
	struct array_port *i, uint32_t came, packet_id id, sim_time t)
{
	count_out(i, came, &a->packets[id], t);
	net_drop(a->router.net, w, id);
}

/*
 * Takes out of a list what is unfit: drops what is in the row buffer, and
 * returns the rest.
 */
static struct packet_list sift_list(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, uint32_t list, unfit is_out,
	uint64_t arg, sim_time t)
{
	struct array_port *i = &s->port[in];
	struct packet_list was = i->list[list], out = { 0 };
	uint32_t row = i->in_row[list], came = list / ARRAY_COLUMNS;

	i->list[list] = (struct packet_list){ 0 };
	for (uint32_t k = 0; was.first; k++) {
		packet_id id = packet_pop(a->packets, &was);
		struct packet *p = &a->packets[id];

		if (!is_out(a, p, arg)) {
			packet_push(a->packets, &i->list[list], id);
			continue;
		}
		s->port[p->escape].backlog -= p->chunks;
		s->changed |= BIT(p->escape);
		if (!k && row) {
			array_unask(&s->port[p->escape], in, came);
			s->port[p->escape].lacking = 0; /* others ask anew */
			s->dirty |= BIT(p->escape);
		}
		if (k >= row) {
			packet_push(a->packets, &out, id);
			continue;
		}
		i->in_row[list]--;
		lose_row(a, w, i, came, id, t);
	}
	return out;
}

/* The marks of a list whose packets have changed. */
static void mark_list(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, uint32_t list, sim_time t)
{
	struct array_port *i = &s->port[in];
	packet_id next = first_waiting(a, i, list);

	i->waits &= ~BIT(list);
	i->storing &= ~BIT(list);
	if (in_row(a, i, list) < a->row)
		i->full &= ~(sharers(a, list) | ARRAY_MANY);
	if (i->in_row[list])
		ask(a, s, i, in, list, t);
	if (!next)
		return;
	i->waits |= BIT(list);
	if (a->stores)
		array_store(a, w, s, in, list, next, t);
}

/* --- dead links --- */

static bool leaves_by(
	const struct array *a, const struct packet *p, uint64_t out)
{
	(void)a;
	return p->escape == out;
}

/* A packet of an input buffer has lost its output. */
static void choose_again(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, uint32_t came, packet_id id,
	sim_time t)
{
	struct packet *p = &a->packets[id];
	port_id out = p->kind == PACKET_VECTOR ? TOPO_NO_PORT
					       : choose(a, s, p, in, came, t);

	if (out != TOPO_NO_PORT) {
		join(a, w, s, &s->port[in], &s->port[out], in, came, id, out,
			t);
		return;
	}
	free_input(a, w, &s->port[in], came, p, t);
	strand(a, w, s, id);
}

/* The ports that a multicast has still to leave by. */
static void spread_less(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, uint32_t came, sim_time t)
{
	struct array_port *i = &s->port[in];
	struct packet_list *q = &i->list[ARRAY_LISTS + came], was = *q;

	*q = (struct packet_list){ 0 };
	while (was.first) {
		packet_id id = packet_pop(a->packets, &was);
		struct packet *p = &a->packets[id];

		p->way &= ~s->dead;
		if (p->way) {
			packet_push(a->packets, q, id);
			continue;
		}
		free_input(a, w, i, came, p, t);
		strand(a, w, s, id);
	}
	i->full &= ~ARRAY_MANY;
	if (!q->first)
		i->waits &= ~BIT(ARRAY_LISTS + came);
}

static void leave_link(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, port_id out, sim_time t)
{
	for (uint32_t came = 0; came < ARRAY_CHANNELS; came++) {
		uint32_t list = array_list(came, a->column_of[out]);
		struct packet_list again =
			sift_list(a, w, s, in, list, leaves_by, out, t);

		mark_list(a, w, s, in, list, t);
		while (again.first) {
			packet_id id = packet_pop(a->packets, &again);

			choose_again(a, w, s, in, came, id, t);
		}
		spread_less(a, w, s, in, came, t);
	}
	use_bus(a, w, s, in, t);
}

/* Links that train keep their packets. */
void array_on_link(struct router *r, struct sim_worker *w, site_id id,
	port_id p, bool is_up, sim_time t)
{
	struct array *a = array_of(r);
	struct array_switch *s;

	if (array_is_node(r))
		return;
	s = array_switch(a, id);
	if (is_up) {
		s->dead &= ~BIT(p);
	} else if (!net_pauses(r->net, id, p, t)) {
		s->dead |= BIT(p);
		for (port_id in = 0; in < a->n_ports; in++)
			leave_link(a, w, s, in, p, t);
		array_own_again(a, w, s, t);
	}
}

/* --- source routes --- */

/* They may go any way, so no proof holds for them: none waits for long. */
void array_wait(struct array *a, struct sim_worker *w, struct array_switch *s,
	sim_time t)
{
	if (s->is_waiting)
		return;
	s->is_waiting = true;
	sim_post_self(w, s->id, t + a->how.patience,
		SIM_KEY(PHASE_ENGINE, ARRAY_PATIENCE), 0, 0);
}

static bool has_waited(
	const struct array *a, const struct packet *p, uint64_t t)
{
	return p->kind == PACKET_VECTOR &&
	       p->head + a->how.patience <= (sim_time)t;
}

/* When the oldest one in a list came, if not before. */
static sim_time oldest_in(
	const struct array *a, const struct packet_list *q, sim_time oldest)
{
	for (packet_id id = q->first; id; id = a->packets[id].next) {
		const struct packet *p = &a->packets[id];

		if (p->kind == PACKET_VECTOR && p->head < oldest)
			oldest = p->head;
	}
	return oldest;
}

static sim_time drop_old(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, uint32_t list, sim_time t)
{
	struct array_port *i = &s->port[in];
	uint64_t before = a->tally[w->id].dropped;
	struct packet_list old =
		sift_list(a, w, s, in, list, has_waited, (uint64_t)t, t);

	while (old.first) {
		packet_id id = packet_pop(a->packets, &old);

		free_input(a, w, i, list / ARRAY_COLUMNS, &a->packets[id], t);
		net_drop(a->router.net, w, id);
	}
	s->impatient += a->tally[w->id].dropped - before;
	if (a->tally[w->id].dropped != before)
		mark_list(a, w, s, in, list, t);
	return oldest_in(a, &i->list[list], SIM_NEVER);
}

void array_lose_patience(struct array *a, struct sim_worker *w,
	struct array_switch *s, sim_time t)
{
	sim_time oldest = array_own_drop_old(a, w, s, t);

	s->is_waiting = false;
	for (port_id in = 0; in < a->n_ports; in++) {
		for (uint32_t list = 0; list < ARRAY_LISTS; list++) {
			sim_time came;

			if (!s->port[in].list[list].first)
				continue;
			came = drop_old(a, w, s, in, list, t);
			oldest = came < oldest ? came : oldest;
		}
		use_bus(a, w, s, in, t);
	}
	if (oldest != SIM_NEVER)
		array_wait(a, w, s, oldest);
}
