/*
 * Packets leave.  Each port has a line of packets for each class, in front of a
 * FIFO of the network, into which packets go one at a time, so that the chip
 * knows what has left.  Fast short messages pass the others.
 *
 * A packet that may take any port takes one that is up, and of these the one
 * with the least to do: packets in line, and chunks without room, by its
 * width.  Packets for the same node do not reach a port: an engine takes back
 * what is for itself, and the crossbar brings the other engine the rest.
 */
#include "nic/swhni/card.h"

#include "base/mem.h"
#include "net/send.h"

static struct sw_line *line_at(const struct nic_at *a, uint32_t i)
{
	return &sw_here(a)->line[i / SW_PORTS][i % SW_PORTS];
}

static uint32_t fifo_of(const struct nic_at *a, uint32_t i)
{
	const struct net_fifos *f = &sw_of(a)->fifos[i / SW_PORTS];

	return f->first + i % SW_PORTS;
}

/* --- choice --- */

/* Lanes that a port lacks now. */
static uint32_t dead_lanes(const struct nic_at *a, uint32_t port)
{
	const struct net *n = a->nic->net;

	return n->faults ? faults_dead_lanes(n->faults,
				   net_link_at(n, a->s, (port_id)port), a->t)
			 : 0;
}

/* Chunks of packets in line, of full length. */
static uint64_t lined(const struct nic_at *a, uint32_t class, uint32_t port)
{
	const struct sw_line *l = &sw_here(a)->line[class][port];

	return (uint64_t)(l->n + l->is_busy) * (uint32_t)a->nic->net->full;
}

/* What a port has to do, in chunks, weighted by its width; some of them are in
 * line. */
static uint64_t load_of(const struct nic_at *a, uint32_t port, uint64_t chunks)
{
	const struct net *n = a->nic->net;
	struct router *r = n->router[NET_NODES];
	uint32_t lanes = n->link.lanes, dead = dead_lanes(a, port);

	if (r->ops->room)
		chunks += (uint64_t)(r->ops->capacity(r, (port_id)port, 0) -
				     r->ops->room(
					     r, a->s, (port_id)port, 0, a->t));
	if (!dead || dead >= lanes)
		return chunks * lanes;
	return (chunks + (uint32_t)n->full) * lanes * lanes / (lanes - dead);
}

static bool has_place(const struct nic_at *a, uint32_t class, uint32_t port)
{
	const struct sw_line *l = &sw_here(a)->line[class][port];

	return class != SW_DATA || l->n + l->is_busy < SW_LINED;
}

/* Of ports that are not to be avoided. */
static uint32_t least(const struct nic_at *a, uint32_t class, uint32_t avoid)
{
	struct sw_node *n = a->node;
	uint32_t n_ports = sw_of(a)->n_ports, best = SW_NO_PORT;
	uint32_t lanes = a->nic->net->link.lanes, port = n->turn;
	uint64_t load = UINT64_MAX, x;

	for (uint32_t i = 0; i < n_ports && load; i++, port++) {
		port = port < n_ports ? port : 0;
		if (avoid >> port & 1 || !has_place(a, class, port))
			continue;
		x = lined(a, class, port);
		/* no load is less than what is in line */
		if (x * lanes >= load)
			continue;
		x = load_of(a, port, x);
		if (x < load) {
			load = x;
			best = port;
		}
	}
	return best;
}

static uint32_t down_ports(const struct nic_at *a)
{
	return sw_here(a)->down;
}

uint32_t sw_port_choose(const struct nic_at *a, enum sw_line_class class,
	uint32_t wanted, bool is_bound, uint32_t avoid)
{
	uint32_t all = (1u << sw_of(a)->n_ports) - 1, port = wanted - 1, down;

	if (all == 1)
		return has_place(a, class, 0) ? 0 : SW_NO_PORT;
	down = down_ports(a);
	if (wanted && (is_bound || !(down >> port & 1)))
		return has_place(a, class, port) ? port : SW_NO_PORT;
	if ((avoid | down) != all)
		return least(a, class, avoid | down);
	return least(a, class, down == all ? 0 : down);
}

/* --- nodes that a port does not reach --- */

uint32_t sw_port_avoided(const struct nic_at *a, site_id dst)
{
	const struct sw_avoid *x = sw_here(a)->avoids;

	if (__builtin_expect(!x, 1))
		return 0;
	x += dst % SW_AVOIDS;
	return x->dst == dst && x->until > a->t ? x->ports : 0;
}

/* For as long as it takes to notice such a port some times over. */
void sw_port_avoid(const struct nic_at *a, site_id dst, uint32_t ports)
{
	struct sw_node *n = a->node;

	if (!n->avoids)
		n->avoids = mem_alloc(SW_AVOIDS, sizeof(*n->avoids));
	n->avoids[dst % SW_AVOIDS] = (struct sw_avoid){
		.dst = dst,
		.ports = ports,
		.until = a->t + 32 * sw_params(a)->retry.timeout,
	};
}

/* --- leaving --- */

/* Into the network's FIFO; the line keeps what it counts for. */
static void inject(
	const struct nic_at *a, uint32_t i, packet_id id, struct sw_line *l)
{
	const struct sw_load *x = sw_load(a, id);

	l->n--;
	l->is_busy = true;
	l->engine = x->h.own_engine;
	l->message = x->own;
	l->is_fast = x->is_fast;
	sw_here(a)->inside--;
	sw_here(a)->packets++;
	sw_here(a)->port[i % SW_PORTS].packets++;
	nic_charge(a, id, CAUSE_PACKET, x->ready);
	nic_charge(a, id, CAUSE_CARD, a->t);
	net_inject(a->nic->net, a->w, a->s, fifo_of(a, i), id, a->t);
}

/* Its first packet is ready later. */
static inline void wait(
	const struct nic_at *a, uint32_t i, struct sw_line *l, sim_time ready)
{
	if (l->out_at == ready)
		return;
	l->out_at = ready;
	ticks_post(a, &sw_here(a)->ticks, ready, SW_OUT, i);
}

static void go_on_with(const struct nic_at *a, uint32_t i, struct sw_line *l)
{
	struct net *net = a->nic->net;
	struct packet_list *list = l->fast.first ? &l->fast : &l->list;
	sim_time ready = sw_load(a, list->first)->ready;

	if (ready > a->t)
		wait(a, i, l, ready);
	else if (net_has_room(net, a->s, fifo_of(a, i)))
		inject(a, i, packet_pop(net->packets, list), l);
}

/* The next packet leaves, now if it is ready, or when it is. */
static inline void go_on(const struct nic_at *a, uint32_t i)
{
	struct sw_line *l = line_at(a, i);

	if (!l->is_busy && l->n)
		go_on_with(a, i, l);
}

void sw_port_on_out(const struct nic_at *a, uint32_t i)
{
	struct sw_line *l = line_at(a, i);

	if (l->out_at == a->t)
		l->out_at = 0;
	go_on(a, i);
}

/* A packet of a message has left its port, or the engine. */
static void left(
	const struct nic_at *a, uint32_t engine, uint32_t message, bool is_fast)
{
	struct sw_engine *e = sw_engine(a, engine);

	if (!is_fast) {
		e->n_cut--;
		e->left_at = a->t;
	}
	sw_send_left(a, engine, message);
	/* both may wait for a place in line; who had it comes last */
	sw_engine_turn(a, 1 - engine);
	sw_engine_turn(a, engine);
}

/* A line's FIFO has room: somebody waits for that. */
static __attribute__((noinline)) void go_on_after(
	const struct nic_at *a, uint32_t i, struct sw_line *l)
{
	uint32_t message = l->is_busy ? l->message : 0, engine = l->engine;
	bool is_fast = l->is_fast;

	l->is_busy = false;
	if (l->n)
		go_on_with(a, i, l);
	if (sw_here(a)->manage && i / SW_PORTS == SW_SYSTEM)
		sw_manage_go_on(a, i % SW_PORTS);
	if (message)
		left(a, engine, message, is_fast);
}

void sw_port_on_room(const struct nic_at *a, uint32_t fifo)
{
	uint32_t i = fifo < SW_FIFOS ? sw_of(a)->line_of[fifo] : 0;
	struct sw_line *l;

	if (!i--)
		return;
	l = line_at(a, i);
	if (l->n || l->message || sw_here(a)->manage)
		go_on_after(a, i, l);
	else
		l->is_busy = false;
}

/* A packet that stays in the chip. */
static void loop(const struct nic_at *a, packet_id id, sim_time ready)
{
	struct sw_load *l = sw_load(a, id);
	bool is_other = l->h.engine != l->h.own_engine;
	uint32_t engine = l->h.own_engine, own = l->own;

	l->is_local = true;
	sw_here(a)->looped += !is_other;
	sw_here(a)->crossed += is_other;
	nic_charge(a, id, CAUSE_PACKET, ready);
	sw_post(a, ready + (is_other ? sw_params(a)->in : 0), l->h.engine,
		SW_IN, id);
	if (own)
		sw_send_left(a, engine, own);
}

void sw_port_send(const struct nic_at *a, enum sw_line_class of, uint32_t port,
	packet_id id)
{
	struct sw_node *n = a->node;
	struct sw_load *x = sw_load(a, id);
	/* where ports have no FIFO of their own for a class, they share one */
	uint32_t class = sw_of(a)->fifos[of].count ? of : SW_DATA;
	uint32_t line = port % sw_of(a)->fifos[class].count;
	struct sw_line *l = &n->line[class][line];

	n->inside++;
	x->ready = a->t + sw_params(a)->out;
	x->h.port = (uint8_t)port;
	if (a->nic->net->packets[id].dst == a->s) {
		loop(a, id, x->ready);
		return;
	}
	if (x->own && !x->is_fast)
		sw_engine(a, x->h.own_engine)->n_cut++;
	n->turn = (port + 1) % sw_of(a)->n_ports;
	packet_push(a->nic->net->packets, x->is_fast ? &l->fast : &l->list, id);
	/* mostly it is alone */
	if (!l->n++ && !l->is_busy && x->ready > a->t)
		wait(a, class * SW_PORTS + line, l, x->ready);
	else
		go_on(a, class * SW_PORTS + line);
}

/* --- links that die and return --- */

/* Those that may leave by another port do. */
static void move(const struct nic_at *a, uint32_t class, uint32_t port,
	struct packet_list from)
{
	struct packet *packets = a->nic->net->packets;
	struct sw_node *n = a->node;

	while (from.first) {
		packet_id id = packet_pop(packets, &from);
		struct sw_load *x = sw_load(a, id);
		uint32_t to = x->is_bound ? port
					  : least(a, SW_ANSWERS, down_ports(a));
		struct sw_line *l;

		to = to == SW_NO_PORT ? port : to;
		l = &n->line[class][to];
		x->h.port = (uint8_t)to;
		packet_push(packets, x->is_fast ? &l->fast : &l->list, id);
		l->n++;
		n->line[class][port].n--;
		go_on(a, class * SW_PORTS + to);
	}
}

void sw_port_on_link(const struct nic_at *a, uint32_t port, bool is_up)
{
	struct sw_node *n = a->node;

	if (port >= sw_of(a)->n_ports)
		return;
	n->down &= ~(1u << port);
	n->down |= (uint32_t)!is_up << port;
	for (uint32_t c = 0; c < SW_LINES && !is_up; c++) {
		struct sw_line *l = &n->line[c][port];
		struct packet_list fast = l->fast, list = l->list;

		if (sw_of(a)->fifos[c].count < sw_of(a)->n_ports)
			continue; /* it is nobody's in particular */
		l->fast.first = l->list.first = NO_PACKET;
		move(a, c, port, fast);
		move(a, c, port, list);
	}
	for (uint32_t e = 0; e < SWHNI_ENGINES; e++)
		sw_engine_turn(a, e);
}

struct swhni_port swhni_port(struct nic *nic, site_id s, uint32_t port)
{
	const struct sw_node *n = nic_node(nic, s);
	struct nic_at a = { .nic = nic, .s = s, .t = program_now() };

	if (port >= ((struct swhni *)nic)->n_ports)
		return (struct swhni_port){ 0 };
	return (struct swhni_port){
		.is_up = !(n->down >> port & 1),
		.lanes = nic->net->link.lanes - dead_lanes(&a, port),
		.packets = n->port[port].packets,
	};
}
