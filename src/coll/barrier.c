#include "coll/barrier.h"

#include "net/send.h"

/* Of an event: aux is the port and the class; data are the bits and, of what
 * goes down, the way that it has come from the root. */
enum { AUX_CLASS = 0xf, AUX_PORT = 4 };
enum { MOST_DEPTH = 63, MOST_WIRES = (1 << 23) - 1 };

static uint32_t pack(uint32_t bits, uint32_t depth, uint32_t wires)
{
	return bits | depth << BARRIER_BITS | wires << 9;
}

static uint32_t depth_of(uint32_t data)
{
	return data >> BARRIER_BITS & MOST_DEPTH;
}

static uint32_t wires_of(uint32_t data)
{
	return data >> 9;
}

uint32_t barrier_class_of(const struct sim_event *e)
{
	return sim_aux(e) & AUX_CLASS;
}

static uint32_t bits_at(const struct barrier_class *c, uint32_t port)
{
	return c->in >> port * BARRIER_BITS & BARRIER_ALL;
}

static void put_bits(struct barrier_class *c, uint32_t port, uint32_t bits)
{
	c->in &= ~((uint64_t)BARRIER_ALL << port * BARRIER_BITS);
	c->in |= (uint64_t)bits << port * BARRIER_BITS;
}

static uint32_t or_of(const struct barrier_class *c)
{
	uint32_t m = c->route.inputs, bits = 0;

	for (; m; m &= m - 1)
		bits |= bits_at(c, (uint32_t)__builtin_ctz(m));
	return bits;
}

/* --- packets --- */

static void send(const struct barriers *b, struct barrier_node *n,
	struct sim_worker *w, site_id s, sim_time t, uint32_t class,
	port_id port, uint32_t bits)
{
	const struct net *net = b->net;
	struct topo_end far = net->topo->ops->peer(net->topo, s, port);
	bool is_up = n->class[class].route.output >> port & 1;
	sim_time wire, leaves;
	uint32_t depth, wires;

	if (far.router == NO_ROUTER)
		return;
	wire = net->link.latency[net->topo->ops->wire(net->topo, s, port)];
	n->packets++;
	t = t > n->sent[port] ? t : n->sent[port];
	leaves = net_send_short(b->net, w, s, port, b->bytes, t);
	if (leaves == SIM_NEVER)
		return;
	n->sent[port] = leaves + b->ser;
	depth = is_up ? 0 : n->depth[class] + 1;
	wires = is_up ? 0 : n->wires[class] + (uint32_t)wire;
	sim_post(w, far.router, leaves + wire + (is_up ? b->up : b->down),
		b->key, (uint16_t)(far.port << AUX_PORT | class),
		pack(bits, depth < MOST_DEPTH ? depth : MOST_DEPTH,
			wires < MOST_WIRES ? wires : MOST_WIRES));
}

static void send_to(const struct barriers *b, struct barrier_node *n,
	struct sim_worker *w, site_id s, sim_time t, uint32_t class,
	uint32_t ports, uint32_t bits)
{
	for (ports &= (1u << BARRIER_PORTS) - 1; ports; ports &= ports - 1)
		send(b, n, w, s, t, class, (port_id)__builtin_ctz(ports), bits);
}

/* What has changed goes on, up and down. */
static bool go_on(const struct barriers *b, struct barrier_node *n,
	struct sim_worker *w, site_id s, sim_time t, uint32_t class)
{
	struct barrier_class *c = &n->class[class];
	uint32_t bits = or_of(c);

	if (c->route.output) {
		if (bits != c->up)
			send_to(b, n, w, s, t, class, c->route.output, bits);
		c->up = (uint8_t)bits;
		bits = bits_at(c, (uint32_t)__builtin_ctz(c->route.output));
	}
	if (bits == c->status)
		return false;
	c->status = (uint8_t)bits;
	send_to(b, n, w, s, t, class, c->route.inputs, bits);
	return true;
}

/* --- what comes --- */

bool barrier_set_route(const struct barriers *b, struct barrier_node *n,
	struct sim_worker *w, site_id s, sim_time t, uint32_t class,
	struct barrier_route r)
{
	struct barrier_class *c = &n->class[class];
	uint32_t gone = c->route.inputs & ~r.inputs;

	/* Those that it has nothing more to do with forget it. */
	if (c->route.output & ~r.output && c->up)
		send_to(b, n, w, s, t, class, c->route.output, 0);
	if (c->route.output & ~r.output)
		c->up = 0;
	if (c->status)
		send_to(b, n, w, s, t, class, gone, 0);
	gone = r.inputs & ~c->route.inputs;
	c->route = r;
	if (c->status)
		send_to(b, n, w, s, t, class, gone, c->status);
	return go_on(b, n, w, s, t, class);
}

bool barrier_set_local(const struct barriers *b, struct barrier_node *n,
	struct sim_worker *w, site_id s, sim_time t, uint32_t class,
	uint32_t bits)
{
	put_bits(&n->class[class], BARRIER_LOCAL, bits);
	return go_on(b, n, w, s, t, class);
}

bool barrier_arrive(const struct barriers *b, struct barrier_node *n,
	struct sim_worker *w, site_id s, sim_time t, const struct sim_event *e)
{
	uint32_t class = barrier_class_of(e), port = sim_aux(e) >> AUX_PORT;
	struct barrier_class *c = &n->class[class];

	put_bits(c, port, e->data & BARRIER_ALL);
	if (c->route.output >> port & 1) {
		n->depth[class] = depth_of(e->data);
		n->wires[class] = wires_of(e->data);
	}
	return go_on(b, n, w, s, t, class);
}

void barrier_node_init(
	const struct barriers *b, struct barrier_node *n, site_id s)
{
	struct topo_box all = topo_box_all(b->grid);
	struct class_route r = class_route_build(
		b->grid, &all, class_root(b->grid, &all), s, CLASS_WORLD);
	struct barrier_class *c = &n->class[0];

	c->route = (struct barrier_route){ r.inputs, r.output };
	for (uint32_t i = 0; i <= BARRIER_LOCAL; i++)
		put_bits(c, i, BARRIER_FIRST);
	c->control = c->up = c->status = BARRIER_FIRST;
}
