#include "coll/tree_node.h"

#include <stdio.h>

#include "base/mem.h"
#include "net/send.h"

#define AT(field) offsetof(struct tree_params, field)
#define MOST_TIME INT64_C(1000000000)

const struct param tree_params_table[TREE_PARAMS] = {
	PARAM_ROW(PARAM_TIME, "up", AT(up), "18 ns", 0, MOST_TIME,
		"additional time of a hop towards the root, compared with "
		"other packets; the paper gives it for doubles, and the model "
		"uses it for integers, too",
		"BGQ-N41"),
	PARAM_ROW(PARAM_TIME, "down", AT(down), "6 ns", 0, MOST_TIME,
		"additional time of a hop away from the root, compared with "
		"other packets, for every reduction",
		"BGQ-N41"),
	PARAM_ROW(PARAM_TIME, "turn", AT(turn), "24 ns", 0, MOST_TIME,
		"time from the tail of a reduced packet until the logic "
		"accepts the next packet",
		"calibrated: BGQ-N135 (12 cycles)"),
	PARAM_ROW(PARAM_COUNT, "packets", AT(packets), "4", 1, 120,
		"capacity of a receiver per collective channel, in full "
		"packets",
		"BGQ-G1"),
	PARAM_ROW(PARAM_COUNT, "slots", AT(slots), "2", 1, TREE_SLOTS,
		"number of packets per channel that a root can turn at a time",
		"assumed: one turns while the next is reduced"),
	PARAM_ROW(PARAM_COUNT, "routes", AT(routes), "16", 1, CLASS_ROUTES,
		"number of class routes per node", "BGQ-N37"),
	{ .name = "root",
		.type = PARAM_WORD,
		.offset = AT(root),
		.def = "partition",
		.words = "partition|box",
		.help = "root of class routes; partition: the node of a box "
			"nearest to the middle of the partition; box: the "
			"middle of the box, which can deadlock",
		.source = "assumed: as the machine's public route builder" },
};

/* --- a node's part --- */

static struct tree *of(const struct net_guest *g)
{
	return (struct tree *)(uintptr_t)g;
}

struct tree *tree_of(const struct net *n)
{
	return of(n->guest);
}

static void wire(const struct tree *t, struct tree_node *n, site_id s)
{
	const struct topo *topo = t->guest.net->topo;
	struct topo_end far;

	for (port_id p = 0; p < TREE_PORTS; p++) {
		n->peer[p] = NO_SITE;
		if (p >= topo->n_ports)
			continue;
		far = topo->ops->peer(topo, s, p);
		n->peer[p] = far.router;
		if (far.router == NO_SITE)
			continue;
		n->far[p] = (uint8_t)far.port;
		n->wire[p] = (uint8_t)topo->ops->wire(topo, s, p);
		n->tokens[p][0] = n->tokens[p][1] = (int16_t)t->capacity;
	}
}

/* Number 0 is all nodes. */
static struct tree_node *node_new(struct tree *t, site_id s)
{
	const struct net *net = t->guest.net;
	struct tree_node *n = mem_alloc(1, sizeof(*n));

	t->nodes[s] = n;
	wire(t, n, s);
	for (uint32_t i = 0; i < TREE_FIFOS; i++) {
		n->room[i] = (uint16_t)(net->params.injection * net->full);
		n->reception[i].chunks =
			(int32_t)net->params.reception * net->full;
	}
	n->route[0].is =
		class_route_build(&t->grid, &t->world, t->root, s, CLASS_WORLD);
	n->route[0].is_set = true;
	return n;
}

struct tree_node *tree_node_of(struct tree *t, site_id s)
{
	return t->nodes[s] ? t->nodes[s] : node_new(t, s);
}

static struct tree_at at(
	struct tree *t, struct sim_worker *w, site_id s, sim_time now)
{
	return (struct tree_at){ t, t->guest.net, tree_node_of(t, s), w, s,
		now };
}

/* --- FIFOs --- */

void tree_stop(const struct tree_at *a, struct tree_route *r)
{
	struct net_client *c = net_client(a->net, a->s);

	if (!r->stop)
		r->stop = TREE_STRAY;
	if (!r->is_told && c->ops.combine->on_stopped)
		c->ops.combine->on_stopped(
			c, a->w, a->s, (uint32_t)(r - a->node->route), a->t);
	r->is_told = true;
}

static __attribute__((noinline)) bool reads(
	const struct tree_at *a, uint32_t place, const struct packet *p)
{
	return tree_reads(a,
		place < PLACE_INJECT
			? fault_buffer_of(FAULT_RECEIVER, place / TREE_BUFFERS,
				  FAULT_GUEST + place % TREE_BUFFERS)
			: fault_buffer_of(FAULT_INJECTION,
				  a->tree->fifo + place - PLACE_INJECT, 0),
		p);
}

/* The head of a FIFO may go from now on. */
static inline void show(const struct tree_at *a, uint32_t place)
{
	packet_id id = a->node->fifo[place].head;
	struct packet *p = tree_packet(a, id);

	if (a->net->faults && !reads(a, place, p))
		return;
	p->head = a->t;
	if (p->hints & TREE_DOWN &&
		!(tree_route_of(a, p)->is.output & tree_input(place))) {
		tree_stop(a, tree_route_of(a, p));
	} else if (p->hints & TREE_DOWN) {
		book_wait(a->net->book, id, CAUSE_ARBITRATION, a->t);
		tree_book_at(a, id, "down, route", place / TREE_BUFFERS);
		a->node->falling |= PLACE_BIT(place);
	} else {
		tree_up_show(a, place, id);
	}
}

static void post_left(
	const struct tree_at *a, uint32_t place, uint32_t chunks, sim_time t)
{
	sim_post_self(a->w, a->s, t, SIM_KEY(PHASE_GUEST, EVENT_LEFT + place),
		(uint16_t)chunks, 0);
}

static inline void join(const struct tree_at *a, uint32_t place, packet_id id)
{
	struct tree_fifo *f = &a->node->fifo[place];

	tree_packet(a, id)->next = NO_PACKET;
	book_at_part(a->net->book, id, a->s, "collective FIFO");
	book_wait(a->net->book, id, CAUSE_QUEUE, a->t);
	if (f->n++) {
		tree_packet(a, f->tail)->next = id;
		f->tail = id;
		return;
	}
	f->head = f->tail = id;
	if (f->busy_until <= a->t)
		show(a, place);
	else if (place < PLACE_INJECT)
		post_left(a, place, 0, f->busy_until);
}

/* It has room again when the tail has left it: an event if anybody waits. */
static void leave_injection(
	const struct tree_at *a, uint32_t place, uint32_t chunks, sim_time tail)
{
	struct tree_node *n = a->node;
	uint32_t fifo = place - PLACE_INJECT;

	if (n->fifo[place].n || n->room[fifo] < a->net->full)
		post_left(a, place, chunks, tail);
	else
		n->leaving[fifo] = (uint16_t)chunks;
}

/* Somebody may from now on. */
static void await_room(const struct tree_at *a, uint32_t fifo)
{
	struct tree_node *n = a->node;
	sim_time tail = n->fifo[PLACE_INJECT + fifo].busy_until;

	if (tail <= a->t)
		n->room[fifo] = (uint16_t)(n->room[fifo] + n->leaving[fifo]);
	else
		post_left(a, PLACE_INJECT + fifo, n->leaving[fifo], tail);
	n->leaving[fifo] = 0;
}

/* Tokens go back to a receiver's neighbour. */
void tree_leave(const struct tree_at *a, uint32_t place, sim_time tail)
{
	struct tree_fifo *f = &a->node->fifo[place];
	const struct packet *p = tree_packet(a, f->head);
	port_id port = place / TREE_BUFFERS;
	sim_time back = tail;

	f->head = p->next;
	f->n--;
	f->busy_until = tail;
	if (place >= PLACE_INJECT) {
		leave_injection(a, place, p->chunks, tail);
		return;
	}
	a->node->packets[port]++;
	if (net_loses_tokens(a->net))
		back = net_send_tokens(a->net, a->w, a->s, port, tail);
	sim_post(a->w, a->node->peer[port],
		back + a->net->link.latency[a->node->wire[port]],
		SIM_KEY(PHASE_GUEST, EVENT_TOKEN + a->node->far[port]),
		place % TREE_BUFFERS, p->chunks);
	if (f->n)
		post_left(a, place, 0, tail);
}

/* --- events --- */

static inline bool rises(const struct tree_node *n)
{
	return n->rising | n->whole;
}

/* All that can happen without a link does; what it waits for then. */
static uint32_t settle(const struct tree_at *a)
{
	const struct tree_node *n = a->node;
	uint32_t ports = 0;

	if (rises(n))
		ports = tree_up_settle(a);
	if (n->falling | n->down)
		tree_down_settle(a);
	if (n->down)
		ports |= tree_down_wants(a);
	return ports;
}

/* The same, and links are asked for. */
static void settle_all(const struct tree_at *a)
{
	struct router *r = a->net->router[NET_NODES];
	uint32_t ports = settle(a);

	if (ports == a->node->lent)
		return;
	a->node->lent = (uint16_t)ports;
	r->ops->guests->lend(r, a->w, a->s, ports, a->t);
}

static __attribute__((noinline)) void settle_at(
	struct tree *t, struct sim_worker *w, site_id s, sim_time now)
{
	struct tree_at a = at(t, w, s, now);

	settle_all(&a);
}

/* Something waits that what has just happened may have been for. */
static inline bool is_busy(const struct tree_node *n)
{
	return n->rising | n->falling | n->whole | n->down | n->lent;
}

/* A packet's tail has left its place. */
static void on_left(const struct tree_at *a, uint32_t place, uint32_t chunks)
{
	uint32_t fifo = place - PLACE_INJECT;
	struct net_client *c = net_client(a->net, a->s);

	if (place >= PLACE_SLOT) {
		a->node->slots_busy &= ~PLACE_BIT(place - PLACE_SLOT);
		return;
	}
	if (a->node->fifo[place].n)
		show(a, place);
	if (place < PLACE_INJECT)
		return;
	a->node->room[fifo] = (uint16_t)(a->node->room[fifo] + chunks);
	if (a->node->room[fifo] >= a->net->full)
		c->ops.on_room(c, a->w, a->s, a->tree->fifo + fifo, a->t);
}

static __attribute__((noinline)) void on_own(struct tree *tree,
	struct sim_worker *w, site_id s, sim_time t, const struct sim_event *e)
{
	struct tree_at a = at(tree, w, s, t);
	uint32_t number = sim_number(e), aux = sim_aux(e);

	if (number < EVENT_TOKEN) {
		join(&a, number * TREE_BUFFERS + aux, e->data);
	} else if (number < EVENT_UP) {
		on_left(&a, number - EVENT_LEFT, aux);
	} else if (number == EVENT_UP) {
		a.node->up_timed = false;
	} else if (number == EVENT_DOWN) {
		a.node->down_timed = false;
	} else {
		a.node->reception[number - EVENT_RECEPTION].is_timed = false;
	}
	if (is_busy(a.node))
		settle_all(&a);
}

static void on_event(struct net_guest *g, struct sim_worker *w, site_id s,
	sim_time t, const struct sim_event *e)
{
	uint32_t number = sim_number(e);
	struct tree_node *n;
	int16_t *x;

	if (number - EVENT_TOKEN >= NET_GUEST_PORTS) {
		on_own(of(g), w, s, t, e);
		return;
	}
	n = of(g)->nodes[s]; /* whose they were */
	x = &n->tokens[number - EVENT_TOKEN][sim_aux(e)];
	*x = (int16_t)(*x + (int16_t)e->data);
	if (is_busy(n))
		settle_at(of(g), w, s, t);
}

/* Down before up (BGQ-F68). */
static struct net_guest_packet send(struct net_guest *g, struct sim_worker *w,
	site_id s, port_id p, sim_time free, sim_time t)
{
	struct tree_at a = at(of(g), w, s, t);
	struct tree_node *n = a.node;
	bool is_down = n->down && tree_down_may(&a, p);
	struct net_guest_packet x = {
		.id = is_down ? tree_down_send(&a, p) : tree_up_send(&a, p),
		.logic = is_down ? a.tree->params.down : a.tree->params.up,
	};

	book_turn(a.net->book, x.id, free, t);
	x.aux = (uint16_t)tree_buffer(tree_packet(&a, x.id));
	/* the other legs of what falls wait as before, if nothing else does */
	if (is_down && !rises(n) && (n->down || !n->falling))
		n->lent &= (uint16_t) ~(1u << p);
	else
		n->lent = (uint16_t)settle(&a);
	x.ports = n->lent;
	return x;
}

static void release(struct net_guest *g, struct sim_worker *w, site_id s,
	uint32_t fifo, uint32_t chunks, sim_time t)
{
	struct tree_node *n = of(g)->nodes[s];

	n->reception[fifo - of(g)->fifo].chunks += (int32_t)chunks;
	if (n->down)
		settle_at(of(g), w, s, t);
}

/* --- the client --- */

void tree_inject(struct tree *t, struct sim_worker *w, site_id s,
	enum tree_fifos fifo, packet_id id, sim_time now)
{
	struct tree_at a = at(t, w, s, now);
	struct packet *p = tree_packet(&a, id);

	link_measure(&a.net->link, p);
	if (a.node->leaving[fifo])
		await_room(&a, fifo);
	BUG_IF(a.node->room[fifo] < p->chunks);
	a.net->tally[w->id].injected++;
	a.node->room[fifo] = (uint16_t)(a.node->room[fifo] - p->chunks);
	join(&a, PLACE_INJECT + fifo, id);
	settle_all(&a);
}

bool tree_has_room(const struct tree *t, site_id s, enum tree_fifos fifo)
{
	const struct tree_node *n = t->nodes[s];

	return !n || n->room[fifo] >= t->guest.net->full;
}

/* --- from outside --- */

static struct net_buffer buffer(
	const struct net_guest *g, site_id s, uint32_t i)
{
	const struct tree_node *n = of(g)->nodes[s];
	struct net_buffer b = { .site = s, .port = NET_GUEST_PORTS };

	if (n && i < PLACE_SLOT) {
		b.head = n->fifo[i].head;
		b.count = n->fifo[i].n;
	} else if (n) {
		b.head = n->slot[i - PLACE_SLOT];
		b.count = b.head != NO_PACKET;
	}
	if (i < PLACE_INJECT) {
		b.port = i / TREE_BUFFERS;
		b.channel = i % TREE_BUFFERS;
	}
	return b;
}

static int32_t tokens(
	const struct net_guest *g, site_id s, port_id p, uint32_t channel)
{
	const struct tree_node *n = of(g)->nodes[s];

	return n && p < TREE_PORTS ? n->tokens[p][channel] : of(g)->capacity;
}

static int32_t capacity(const struct net_guest *g)
{
	return of(g)->capacity;
}

static void name(
	const struct net_guest *g, packet_id id, char *text, size_t size)
{
	const struct packet *p = &g->net->packets[id];

	snprintf(text, size, "a packet of class route %u from node %u",
		p->hints & TREE_ROUTE, p->src);
}

static uint64_t memory(const struct net_guest *g)
{
	uint64_t sum = 0;

	for (site_id s = 0; s < g->net->n_nodes; s++)
		sum += of(g)->nodes[s] ? sizeof(struct tree_node) : 0;
	return sum;
}

static struct net_counters counters(
	const struct net_guest *g, site_id s, port_id p)
{
	const struct tree_node *n =
		s < g->net->n_nodes && p < TREE_PORTS ? of(g)->nodes[s] : NULL;
	struct net_counters c = { 0 };

	if (!n)
		return c;
	c.sent_bytes = n->sent[p];
	c.packets = n->packets[p];
	for (uint32_t b = 0; b < TREE_BUFFERS; b++)
		c.packets += n->fifo[p * TREE_BUFFERS + b].n;
	return c;
}

/* --- life --- */

static void tree_free(struct net_guest *g)
{
	struct tree *t = of(g);
	site_id n = g->net->n_nodes;

	for (site_id s = 0; s < n; s++) {
		if (t->nodes[s])
			tree_book_free(t->nodes[s]);
		mem_free(t->nodes[s]);
	}
	map_free(t->nodes, n * sizeof(*t->nodes));
	mem_free(t);
}

static const struct net_guest_ops guest_ops = {
	.free = tree_free,
	.on_event = on_event,
	.send = send,
	.release = release,
	.n_buffers = TREE_PLACES,
	.n_channels = TREE_BUFFERS,
	.buffer = buffer,
	.tokens = tokens,
	.capacity = capacity,
	.knot = tree_knot,
	.memory = memory,
	.name = name,
	.counters = counters,
};

struct tree *tree_new(struct net *n, const struct tree_params *p, uint32_t fifo)
{
	struct tree *t = mem_alloc(1, sizeof(*t));

	t->guest = (struct net_guest){ &guest_ops, n };
	t->params = *p;
	BUG_IF(!topo_grid_of(n->topo, &t->grid));
	t->world = topo_box_all(&t->grid);
	t->root = class_root(&t->grid, &t->world);
	t->nodes = map_alloc(n->n_nodes * sizeof(*t->nodes));
	t->fifo = fifo;
	t->capacity = (int32_t)p->packets * n->full;
	n->guest = &t->guest;
	return t;
}
