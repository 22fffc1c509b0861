/*
 * The way down: one packet at a time, to all of its route's inputs, each of
 * which is a leg.  The packet's ask has the legs that it has not left by.
 */
#include "coll/legs.h"
#include "coll/tree_node.h"

static packet_id head_of(const struct tree_at *a, uint32_t place)
{
	return place < PLACE_SLOT ? a->node->fifo[place].head
				  : a->node->slot[place - PLACE_SLOT];
}

static struct packet *current(const struct tree_at *a)
{
	return tree_packet(a, a->node->down);
}

/* A reduction to one node is received there alone. */
static uint16_t legs_of(const struct tree_at *a, const struct packet *p)
{
	uint32_t legs = tree_route_of(a, p)->is.inputs;

	if (p->dst != NO_SITE && p->dst != a->s)
		legs &= ~CLASS_LOCAL_BIT;
	return (uint16_t)legs;
}

/* The last leg is taken: the packet's tail leaves at tail. */
static void finish(const struct tree_at *a, sim_time tail)
{
	struct tree_node *n = a->node;
	uint32_t slot = n->down_place - (uint32_t)PLACE_SLOT;

	n->down = NO_PACKET;
	n->down_until = tail;
	if (n->down_place < PLACE_SLOT) {
		tree_leave(a, n->down_place, tail);
		return;
	}
	n->slot[slot] = NO_PACKET;
	sim_post_self(a->w, a->s, tail,
		SIM_KEY(PHASE_GUEST, EVENT_LEFT + n->down_place), 0, 0);
}

/* The packet itself by its last leg, a copy by all others. */
static packet_id take_leg(const struct tree_at *a, uint32_t leg)
{
	packet_id id = a->node->down;
	packet_id leaves = legs_take(a->net, a->w, id, leg);

	if (leaves == id)
		finish(a, tree_tail(a, current(a)));
	return leaves;
}

/* --- into the node --- */

static bool may_receive(
	const struct tree_at *a, uint32_t fifo, const struct packet *p)
{
	struct tree_reception *f = &a->node->reception[fifo];

	if (!net_client(a->net, a->s)->ops.is_sink && f->chunks < p->chunks)
		return false;
	if (f->free_at <= a->t)
		return tree_reads(a,
			fault_buffer_of(
				FAULT_RECEPTION, a->tree->fifo + fifo, 0),
			p);
	if (!f->is_timed) {
		f->is_timed = true;
		sim_post_self(a->w, a->s, f->free_at,
			SIM_KEY(PHASE_GUEST, EVENT_RECEPTION + fifo), 0, 0);
	}
	return false;
}

static void receive(const struct tree_at *a)
{
	struct packet *p = current(a);
	uint32_t fifo = tree_is_system(p) ? TREE_SYSTEM : TREE_USER;
	struct tree_reception *f = &a->node->reception[fifo];
	struct net *n = a->net;
	struct net_client *c = net_client(n, a->s);
	sim_time tail;
	packet_id id;

	if (!may_receive(a, fifo, p))
		return;
	f->free_at = tail = tree_tail(a, p);
	if (!c->ops.is_sink)
		f->chunks -= p->chunks;
	id = take_leg(a, CLASS_LOCAL);
	p = tree_packet(a, id);
	n->tally[a->w->id].delivered++;
	if (n->book)
		tree_book_receive(a, id, tail);
	p->dst = a->s;
	c->ops.on_packet(c, a->w, a->s, a->tree->fifo + fifo, id, a->t, tail);
}

/* --- which packet --- */

static bool is_better(const struct tree_at *a, uint32_t place, uint32_t best)
{
	const struct packet *p = tree_packet(a, head_of(a, place)), *q;

	if (best == TREE_PLACES)
		return true;
	q = tree_packet(a, head_of(a, best));
	if (tree_is_system(p) != tree_is_system(q))
		return tree_is_system(p);
	if (tree_route_of(a, p) == tree_route_of(a, q))
		return p->head < q->head;
	return tree_route_of(a, p)->fallen < tree_route_of(a, q)->fallen;
}

/* Nobody is there for it. */
static void absorb(const struct tree_at *a)
{
	packet_id id = a->node->down;

	finish(a, tree_tail(a, current(a)));
	legs_absorb(a->net, a->w, id);
}

static void begin(const struct tree_at *a)
{
	struct tree_node *n = a->node;
	uint32_t best = TREE_PLACES;
	struct packet *p;

	for (uint64_t m = n->falling; m; m &= m - 1) {
		uint32_t place = (uint32_t)__builtin_ctzll(m);

		if (is_better(a, place, best))
			best = place;
	}
	n->down = head_of(a, best);
	n->down_place = (uint8_t)best;
	n->falling &= ~PLACE_BIT(best);
	p = current(a);
	tree_route_of(a, p)->fallen = ++n->n_fallen;
	p->ask = legs_of(a, p);
	if (!p->ask)
		absorb(a);
}

void tree_down_settle(const struct tree_at *a)
{
	struct tree_node *n = a->node;

	if (!n->down && n->falling && n->down_until <= a->t)
		begin(a);
	if (n->down && current(a)->ask & CLASS_LOCAL_BIT)
		receive(a);
	if (!n->down && n->falling && !n->down_timed) {
		n->down_timed = true;
		sim_post_self(a->w, a->s, n->down_until,
			SIM_KEY(PHASE_GUEST, EVENT_DOWN), 0, 0);
	}
}

uint32_t tree_down_wants(const struct tree_at *a)
{
	const struct packet *p = current(a);
	uint32_t legs = p->ask & ~CLASS_LOCAL_BIT, ports = 0;
	const int16_t *tokens;

	for (; legs; legs &= legs - 1) {
		tokens = a->node->tokens[__builtin_ctz(legs)];
		if (tokens[tree_buffer(p)] >= p->chunks)
			ports |= legs & -legs;
	}
	return ports;
}

bool tree_down_may(const struct tree_at *a, port_id port)
{
	const struct packet *p = current(a);

	return p->ask >> port & 1 &&
	       a->node->tokens[port][tree_buffer(p)] >= p->chunks;
}

packet_id tree_down_send(const struct tree_at *a, port_id p)
{
	packet_id id = take_leg(a, p);

	tree_take_tokens(a, p, tree_packet(a, id));
	return id;
}
