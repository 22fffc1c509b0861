/*
 * The way up: reductions wait for all inputs of their route, everything else
 * for the logic and the link alone.  At the root they go into a slot in place
 * of a link, and turn.
 */
#include "coll/legs.h"
#include "coll/tree_node.h"

uint32_t tree_place(uint32_t channel, uint32_t input)
{
	if (input != CLASS_LOCAL)
		return input * TREE_BUFFERS + class_buffer(channel);
	return PLACE_INJECT +
	       (channel == CLASS_SYSTEM ? TREE_SYSTEM : TREE_USER);
}

static uint32_t place_of(const struct tree_route *r, uint32_t input)
{
	return tree_place(r->is.channel, input);
}

uint32_t tree_nth(uint32_t inputs, uint32_t i)
{
	for (uint32_t p = 0; p < TREE_PORTS; p++)
		if (inputs >> (p ^ 1) & 1 && !i--)
			return p ^ 1;
	return inputs & CLASS_LOCAL_BIT && !i ? (uint32_t)CLASS_LOCAL
					      : (uint32_t)TOPO_MAX_PORTS;
}

/* Every other port: of a pair in one dimension the second comes first. */
#define EVEN 0x5555u

/* A route's packets, in that order. */
static uint32_t list_inputs(const struct tree_at *a, const struct tree_route *r,
	packet_id id[CLASS_LOCAL + 1])
{
	uint32_t m = r->is.inputs & ~CLASS_LOCAL_BIT, n = 0;

	for (m = (m & EVEN) << 1 | (m >> 1 & EVEN); m; m &= m - 1)
		id[n++] = a->node->fifo[place_of(r,
						(uint32_t)__builtin_ctz(m) ^ 1)]
				  .head;
	if (r->is.inputs & CLASS_LOCAL_BIT)
		id[n++] = a->node->fifo[place_of(r, CLASS_LOCAL)].head;
	return n;
}

/* All inputs have come: what they are together is known from now on. */
static void meet(const struct tree_at *a, struct tree_route *r)
{
	packet_id id[CLASS_LOCAL + 1];
	uint32_t n = list_inputs(a, r, id), i;
	struct net_client *c = net_client(a->net, a->s);

	for (i = 0; i < n; i++)
		book_wait(a->net->book, id[i], CAUSE_ARBITRATION, a->t);
	if (c->ops.combine->combine(c, a->w, a->s, id, n, a->t)) {
		a->node->whole |= 1u << (r - a->node->route);
		return;
	}
	r->stop = TREE_DIFFERENT;
	r->is_told = true;
}

static bool is_member(
	const struct tree_route *r, uint32_t place, const struct packet *p)
{
	return r->is_set && r->is.inputs & tree_input(place) &&
	       r->is.channel == tree_channel(p) && !r->stop;
}

void tree_up_show(const struct tree_at *a, uint32_t place, packet_id id)
{
	const struct packet *p = tree_packet(a, id);
	struct tree_route *r = tree_route_of(a, p);
	uint32_t port = place < PLACE_INJECT ? place / TREE_BUFFERS
					     : (uint32_t)CLASS_LOCAL;

	tree_book_at(a, id, "up, route", port);
	if (!is_member(r, place, p)) {
		tree_stop(a, r);
	} else if (!(p->hints & TREE_REDUCES)) {
		book_wait(a->net->book, id, CAUSE_ARBITRATION, a->t);
		a->node->rising |= PLACE_BIT(place);
	} else {
		book_wait(a->net->book, id, CAUSE_PEERS, a->t);
		r->have |= (uint16_t)tree_input(place);
		if (r->have == r->is.inputs)
			meet(a, r);
	}
}

/* --- who is next --- */

/* What the logic could do: a route's reduction, or a head that passes. */
struct choice {
	struct tree_route *route; /* NULL: nothing */
	uint32_t place; /* TREE_PLACES: all inputs of the route */
};

static bool is_better(const struct tree_route *a, const struct tree_route *b)
{
	bool a_system = a->is.channel == CLASS_SYSTEM;
	bool b_system = !b || b->is.channel == CLASS_SYSTEM;

	if (!b || a_system != b_system)
		return !b || a_system;
	return a->risen < b->risen;
}

/* A free slot of a route's buffer, as a place, or TREE_PLACES. */
static uint32_t free_slot(const struct tree_at *a, const struct tree_route *r)
{
	uint32_t first = class_buffer(r->is.channel) * TREE_SLOTS, i;

	for (i = 0; i < (uint32_t)a->tree->params.slots; i++)
		if (!(a->node->slots_busy >> (first + i) & 1))
			return PLACE_SLOT + first + i;
	return TREE_PLACES;
}

/* Whether what is behind a route's output could take a packet. */
static bool has_way(const struct tree_at *a, const struct tree_route *r)
{
	uint32_t port;

	if (!r->is.output)
		return free_slot(a, r) != TREE_PLACES;
	port = (uint32_t)__builtin_ctz(r->is.output);
	return a->node->tokens[port][class_buffer(r->is.channel)] >=
	       a->net->full;
}

/* Of those that leave by an output, 0 at the root, the one that is next. */
static struct choice choose(const struct tree_at *a, uint32_t output)
{
	struct tree_node *n = a->node;
	struct choice best = { .place = TREE_PLACES };
	struct tree_route *r;

	for (uint32_t routes = n->whole; routes; routes &= routes - 1) {
		r = &n->route[__builtin_ctz(routes)];
		if (r->is.output == output && is_better(r, best.route) &&
			has_way(a, r))
			best.route = r;
	}
	for (uint64_t m = n->rising; m; m &= m - 1) {
		uint32_t place = (uint32_t)__builtin_ctzll(m);

		r = tree_route_of(a, tree_packet(a, n->fifo[place].head));
		if (r->is.output == output && is_better(r, best.route) &&
			has_way(a, r))
			best = (struct choice){ r, place };
	}
	return best;
}

/* --- what goes --- */

/* All inputs leave; what is left of them is the first. */
static packet_id reduce(const struct tree_at *a, struct tree_route *r)
{
	packet_id id[CLASS_LOCAL + 1];
	uint32_t n = list_inputs(a, r, id), m, i;
	sim_time tail = tree_tail(a, tree_packet(a, id[0]));

	if (a->net->book)
		tree_book_reduce(a, id, n,
			r->is.inputs & CLASS_LOCAL_BIT ? id[n - 1] : NO_PACKET);
	a->node->whole &= ~(1u << (r - a->node->route));
	r->have = 0;
	for (m = r->is.inputs; m; m &= m - 1)
		tree_leave(a, place_of(r, (uint32_t)__builtin_ctz(m)), tail);
	for (i = 1; i < n; i++)
		legs_absorb(a->net, a->w, id[i]);
	a->node->up_until = tail + a->tree->params.turn;
	return id[0];
}

static packet_id pass(const struct tree_at *a, uint32_t place)
{
	packet_id id = a->node->fifo[place].head;
	sim_time tail = tree_tail(a, tree_packet(a, id));

	a->node->rising &= ~PLACE_BIT(place);
	tree_leave(a, place, tail);
	a->node->up_until = tail;
	return id;
}

static packet_id serve(const struct tree_at *a, const struct choice *c)
{
	c->route->risen = ++a->node->n_risen;
	if (c->place == TREE_PLACES)
		return reduce(a, c->route);
	return pass(a, c->place);
}

static void turn(const struct tree_at *a, const struct choice *c)
{
	uint32_t place = free_slot(a, c->route);
	packet_id id = serve(a, c);

	tree_packet(a, id)->hints |= TREE_DOWN;
	tree_packet(a, id)->head = a->t;
	tree_packet(a, id)->next = NO_PACKET;
	if (c->place != TREE_PLACES)
		tree_book_at(a, id, "root, route", BOOK_NO_PORT);
	a->node->slot[place - PLACE_SLOT] = id;
	a->node->slots_busy |= PLACE_BIT(place - PLACE_SLOT);
	a->node->falling |= PLACE_BIT(place);
}

static uint32_t output_of(const struct tree_at *a, const struct tree_route *r)
{
	if (!has_way(a, r))
		return 0;
	return r->is.output ? r->is.output : TREE_NO_OUTPUT;
}

uint32_t tree_up_wants(const struct tree_at *a)
{
	const struct tree_node *n = a->node;
	uint32_t ports = 0;

	for (uint32_t routes = n->whole; routes; routes &= routes - 1)
		ports |= output_of(a, &n->route[__builtin_ctz(routes)]);
	for (uint64_t m = n->rising; m; m &= m - 1) {
		packet_id id = n->fifo[__builtin_ctzll(m)].head;

		ports |= output_of(a, tree_route_of(a, tree_packet(a, id)));
	}
	return ports;
}

uint32_t tree_up_settle(const struct tree_at *a)
{
	struct tree_node *n = a->node;
	uint32_t ports;
	struct choice c;

	if (n->up_until <= a->t) {
		ports = tree_up_wants(a);
		if (!(ports & TREE_NO_OUTPUT))
			return ports;
		c = choose(a, 0);
		turn(a, &c);
	}
	if ((n->whole || n->rising) && !n->up_timed) {
		n->up_timed = true;
		sim_post_self(a->w, a->s, n->up_until,
			SIM_KEY(PHASE_GUEST, EVENT_UP), 0, 0);
	}
	return 0;
}

packet_id tree_up_send(const struct tree_at *a, port_id p)
{
	struct choice c = choose(a, 1u << p);
	packet_id id = serve(a, &c);

	tree_take_tokens(a, p, tree_packet(a, id));
	return id;
}
