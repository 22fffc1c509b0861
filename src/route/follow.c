/*
 * What follows from next() alone: the first step and those after it, and the
 * graph of what may wait for what.
 *
 * To find the graph, packets are sent from every node to every other one in
 * thought, by each way that a sender can name.  Where a router may choose,
 * all choices are followed; a router that a packet comes to again with the
 * same way left, by the same port and channel, is followed once.
 */
#include "route/route.h"

#include "base/mem.h"

enum { MOST_STATES = 1 << 20, LOOK_PAIRS = 4096, LOOK_WAYS = 16 };

/* A packet that has come to a router. */
struct state {
	router_id at;
	port_id in;
	uint32_t behind; /* the channel that it holds */
	uint64_t way;
	uint32_t slot; /* of the table */
};

#define NOTHING UINT32_MAX

struct follow {
	const struct route *r;
	const struct route_graph *g;
	struct route_walks *found;
	struct packet p; /* what all states have in common */
	uint32_t src;
	uint8_t card, to_card; /* if nodes have several */
	struct state *state; /* those that were seen, in order */
	uint32_t n, room;
	uint32_t *table; /* 1 + a state, by hash */
	uint32_t table_size;
};

void route_begin(const struct route *r, struct packet *p)
{
	if (p->flags & PACKET_BEGUN)
		return;
	r->ops->start(r, p);
	if (r->tables)
		route_look_up(r->tables, p);
	else if (r->rings)
		route_turns(r->rings, p, p->src);
	else if (!(p->flags & (PACKET_RANGE | PACKET_ANSWER)))
		route_arrive(r, p, p->src, TOPO_NO_PORT);
}

struct route_step route_arrive(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	struct route_step s = r->ops->next(r, p, at, in);

	if (!r->tables)
		route_keep(p, s);
	if (r->n_channels > 1)
		p->channel = s.channel;
	return s;
}

bool route_merges(const struct route *r, const struct topo *t)
{
	uint32_t dst = t->n_nodes > 1;
	struct packet request = { .dst = dst, .kind = PACKET_DYNAMIC };
	struct packet ordered = { .dst = dst, .kind = PACKET_DETERMINISTIC };
	struct packet answer = { .dst = dst, .kind = PACKET_HIGH };

	if (r->n_channels > 1)
		return true;
	r->ops->start(r, &request);
	r->ops->start(r, &ordered);
	r->ops->start(r, &answer);
	return answer.kind == request.kind || answer.kind == ordered.kind;
}

void route_free(struct route *r)
{
	if (!r)
		return;
	if (r->ops->fini)
		r->ops->fini(r);
	mem_free(r);
}

void route_graph_init(
	struct route_graph *g, const struct topo *t, uint32_t n_channels)
{
	g->topo = t;
	g->n_channels = n_channels;
	g->written = NULL;
	g->after = mem_alloc((size_t)t->n_routers * t->n_ports * n_channels,
		n_channels * sizeof(*g->after));
}

void route_graph_fini(struct route_graph *g)
{
	mem_free(g->after);
}

/* --- states --- */

static uint32_t *slot_of(const struct follow *f, const struct state *s)
{
	uint64_t x = s->way ^ (uint64_t)s->at << 32 ^ s->in ^ s->behind * 77u;
	uint32_t i;

	x *= UINT64_C(0x9e3779b97f4a7c15);
	for (i = (uint32_t)(x >> 32) & (f->table_size - 1); f->table[i];
		i = (i + 1) & (f->table_size - 1)) {
		const struct state *o = &f->state[f->table[i] - 1];

		if (o->at == s->at && o->in == s->in &&
			o->behind == s->behind && o->way == s->way)
			break;
	}
	return &f->table[i];
}

static void keep(struct follow *f, uint32_t *slot, uint32_t state)
{
	*slot = state + 1;
	f->state[state].slot = (uint32_t)(slot - f->table);
}

static void grow(struct follow *f)
{
	f->room = 2 * f->room + 32;
	f->state = mem_grow(f->state, f->room, sizeof(*f->state));
	f->table_size = 64;
	while (f->table_size < 2 * f->room)
		f->table_size *= 2;
	mem_free(f->table);
	f->table = mem_alloc(f->table_size, sizeof(*f->table));
	for (uint32_t i = 0; i < f->n; i++)
		keep(f, slot_of(f, &f->state[i]), i);
}

/* Adds a state, unless it was seen. */
static void add(struct follow *f, struct state s)
{
	uint32_t *slot;

	if (f->n == f->room)
		grow(f);
	slot = slot_of(f, &s);
	if (*slot)
		return;
	f->state[f->n] = s;
	keep(f, slot, f->n++);
}

static void forget(struct follow *f)
{
	while (f->n)
		f->table[f->state[--f->n].slot] = 0;
}

/* --- following --- */

static void say_broken(struct follow *f, const char *how)
{
	if (f->found->is_broken)
		return;
	f->found->is_broken = true;
	f->found->src = f->p.src;
	f->found->dst = f->p.dst;
	f->found->number = f->p.hints ? f->p.hints - 1u : 0;
	f->found->how = how;
}

/* On a plane a packet that goes straight on waits for its next link there,
 * whatever else it could take. */
static port_mask waited_for(const struct follow *f, struct state s,
	const struct route_step *step, port_mask m)
{
	const struct topo *t = f->g->topo;

	if (f->r->has_planes == ROUTE_PLANES &&
		step->escape != PACKET_NO_PORT && m &&
		t->ops->straight(t, s.at, s.in) == step->escape)
		return (port_mask)1 << step->escape;
	return m;
}

/* Takes away what no router could do; ports is what is left. */
static void check_step(
	struct follow *f, struct route_step *step, port_mask *ports)
{
	uint32_t n = f->g->topo->n_ports;

	if (n < TOPO_MAX_PORTS && *ports >> n) {
		say_broken(f, "uses a port that does not exist");
		*ports &= ((port_mask)1 << n) - 1;
	}
	if (step->channel >= f->g->n_channels && f->r->n_channels > 1) {
		say_broken(f, "uses a channel that does not exist");
		step->channel = 0;
	} else if (step->channel >= f->g->n_channels) {
		step->channel = 0; /* nobody looks at it */
	}
	if (step->escape != PACKET_NO_PORT && step->escape >= n) {
		say_broken(f, "escapes by a port that does not exist");
		step->escape = PACKET_NO_PORT;
	}
}

/* All that a packet may do where it has come to. */
static void go_on(struct follow *f, struct state s)
{
	const struct topo *t = f->g->topo;
	struct packet p = f->p;
	struct route_step step;
	port_mask m;

	p.way = s.way;
	step = f->r->ops->next(f->r, &p, s.at, s.in);
	m = step.ports;
	check_step(f, &step, &m);
	if (f->r->has_escape && step.escape != PACKET_NO_PORT)
		m |= (port_mask)1 << step.escape;
	if (!m && s.at != p.dst)
		say_broken(f, "ends at another node");
	if (s.behind != NOTHING && f->g->after)
		route_add(f->g, s.behind, waited_for(f, s, &step, m),
			step.channel);
	for (; m; m &= m - 1) {
		port_id port = (port_id)__builtin_ctzll(m);
		struct topo_end to = t->ops->peer(t, s.at, port);

		if (to.router == NO_ROUTER) {
			say_broken(f, "uses a port that has no wire");
			continue;
		}
		add(f, (struct state){ to.router, to.port,
			       route_vertex(f->g, s.at, port, step.channel),
			       p.way, 0 });
	}
}

static void follow_way(
	struct follow *f, uint32_t src, uint32_t dst, uint32_t hints)
{
	uint32_t i;

	f->p = (struct packet){
		.src = src,
		.dst = dst,
		.hints = (uint16_t)hints,
		.card = f->card,
		.to_card = f->to_card,
	};
	f->found->n_routes++;
	f->r->ops->start(f->r, &f->p);
	forget(f);
	add(f, (struct state){ src, TOPO_NO_PORT, NOTHING, f->p.way, 0 });
	for (i = 0; i < f->n && i < MOST_STATES; i++)
		go_on(f, f->state[i]);
	if (i == MOST_STATES)
		say_broken(f, "never ends");
}

/* From the source that is being followed. */
static void follow_to(void *arg, uint32_t dst)
{
	struct follow *f = arg;
	const struct route_ops *ops = f->r->ops;
	uint32_t n_ways;

	if (f->src == dst)
		return;
	n_ways = ops->n_ways ? ops->n_ways(f->r, f->src, dst) : 0;
	for (uint32_t i = n_ways ? 1 : 0; i <= n_ways; i++)
		follow_way(f, f->src, dst, i);
}

/* From each card of a node to each of another that it may name. */
static void follow_cards(void *arg, uint32_t dst)
{
	struct follow *f = arg;
	const struct topo *t = f->g->topo;
	uint32_t n = t->cards ? t->cards : 1;

	for (uint32_t i = 0; i < n * n; i++) {
		f->card = (uint8_t)(i / n);
		f->to_card = (uint8_t)(i % n);
		if (!t->is_apart || f->card == f->to_card)
			follow_to(f, dst);
	}
}

void route_follow(
	const struct route *r, struct route_graph *g, struct route_walks *w)
{
	struct follow f = { .r = r, .g = g, .found = w };
	const struct route_partners to = { follow_cards, &f };
	uint32_t n = g->topo->n_nodes;

	for (f.src = 0; f.src < n; f.src++) {
		if (r->ops->partners)
			r->ops->partners(r, f.src, &to);
		for (uint32_t dst = 0; dst < n && !r->ops->partners; dst++)
			follow_cards(&f, dst);
	}
	w->has_each |= !r->ops->partners;
	mem_free(f.state);
	mem_free(f.table);
}

void route_follow_some(const struct route *r, struct route_graph *g,
	struct route_walks *w, void (*list)(void *arg, struct follow *f),
	void *arg)
{
	struct follow f = { .r = r, .g = g, .found = w };

	list(arg, &f);
	mem_free(f.state);
	mem_free(f.table);
}

void route_follow_one(struct follow *f, const struct route_trip *t)
{
	f->card = t->card;
	f->to_card = t->to_card;
	follow_way(f, t->src, t->dst, t->hints);
}

/* Pairs that are spread evenly over all. */
static void follow_some(struct follow *f)
{
	uint64_t n = f->g->topo->n_nodes, all = n * n;
	uint64_t step = all / LOOK_PAIRS + 1;

	/* a step that shares no factor with n meets all destinations */
	step += n > 1 && step > 1 && n % step == 0;
	for (uint64_t i = 1; i < all && !f->found->is_broken; i += step) {
		uint32_t dst = (uint32_t)(i % n), n_ways, way;

		f->src = (uint32_t)(i / n);
		if (f->src == dst)
			continue;
		n_ways = f->r->ops->n_ways
				 ? f->r->ops->n_ways(f->r, f->src, dst)
				 : 0;
		n_ways = n_ways > LOOK_WAYS ? LOOK_WAYS : n_ways;
		for (way = n_ways ? 1 : 0; way <= n_ways; way++)
			follow_way(f, f->src, dst, way);
	}
}

int route_look(const struct route *r, uint32_t most_channels, struct err *e)
{
	struct route_walks w = { 0 };
	struct route_graph g = { .topo = r->topo,
		.n_channels = r->n_channels > 1 ? r->n_channels : 1 };
	struct follow f = { .r = r, .g = &g, .found = &w };

	if (!r->topo)
		return err_set(e,
			"routing.kind %s: init() must set the topology of "
			"struct route",
			r->ops->name);
	if (g.n_channels > r->ops->n_channels || g.n_channels > most_channels)
		return err_set(e,
			"routing.kind %s: init() has set n_channels %u; want "
			"at most %u, which it has names for, and %u, which "
			"routers have",
			r->ops->name, g.n_channels, r->ops->n_channels,
			most_channels);
	follow_some(&f);
	mem_free(f.state);
	mem_free(f.table);
	if (w.is_broken)
		return err_set(e,
			"routing.kind %s: path %u from node %u to node %u %s "
			"(see next() in weft/plugin/route.h)",
			r->ops->name, w.number, w.src, w.dst, w.how);
	return 0;
}
