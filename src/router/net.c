#include "router/net.h"

#include <string.h>

#include "base/mem.h"
#include "router/casts.h"

#define AT(field) offsetof(struct net_params, field)

enum {
	MOST_PACKETS = 1 << 27,
	MOST_BOOKED = 1 << 25, /* fewer, since addresses are short, too */
	PREFETCH_SITES = 1024, /* more do not fit a second-level cache */
};

const struct param net_params_table[] = {
	{ .name = "kind",
		.type = PARAM_WORD,
		.offset = AT(kind),
		.def = "direct",
		.words = "direct",
		.help = "which router" },
	{ .name = "packets",
		.type = PARAM_COUNT,
		.offset = AT(packets),
		.def = "8",
		.min = 1,
		.max = 120,
		.help = "full packets that a receiver holds per channel",
		.source = "calibrated: BGQ-N34 (BGQ-G1)" },
	{ .name = "queues",
		.type = PARAM_COUNT,
		.offset = AT(queues),
		.def = "4",
		.min = 1,
		.max = NET_QUEUES,
		.help = "queues per channel; each has a path out of its own",
		.source = "calibrated: BGQ-N34 (BGQ-G2)" },
	{ .name = "injection",
		.type = PARAM_COUNT,
		.offset = AT(injection),
		.def = "2",
		.min = 1,
		.max = 120,
		.help = "full packets that an injection FIFO holds",
		.source = "BGQ-G15" },
	{ .name = "reception",
		.type = PARAM_COUNT,
		.offset = AT(reception),
		.def = "2",
		.min = 1,
		.max = 120,
		.help = "full packets that a reception FIFO holds",
		.source = "BGQ-G15" },
	{ .name = "transit",
		.type = PARAM_COUNT,
		.offset = AT(transit),
		.def = "0",
		.min = 0,
		.max = 255,
		.help = "grants to packets in transit for each grant to an "
			"injection FIFO of the same class that waits for the "
			"same link; 0: transit always goes first",
		.source = "BGQ-F69, BGQ-G36" },
	{ .name = "stall",
		.type = PARAM_TIME,
		.offset = AT(stall),
		.def = "100 us",
		.min = 1000000,
		.max = INT64_C(1000000000000),
		.help = "a packet that waits so long at the head of a queue is "
			"looked at for deadlock",
		.source = NULL },
};

const size_t net_params_n =
	sizeof(net_params_table) / sizeof(net_params_table[0]);

uint64_t net_estimate(const struct net_setup *s)
{
	uint32_t ports = s->topo->n_ports;
	/* Saturated: one channel of each receiver half full, the injection
	 * FIFOs full, and the mail of a few windows. */
	uint64_t packets = ports * (uint64_t)(s->router->packets / 2) +
			   ports * (uint64_t)s->router->injection;
	uint64_t packet_bytes =
		sizeof(struct packet) + (s->book ? book_packet_bytes : 0);

	return s->topo->n_routers *
	       (sizeof(struct net_site) + packets * packet_bytes +
		       32 * sizeof(struct sim_event));
}

static int check(const struct net_setup *s, struct err *e)
{
	if (s->topo->n_ports > NET_PORTS)
		return err_set(e, "%u ports, at most %d are possible",
			s->topo->n_ports, NET_PORTS);
	if (s->route->bubble && s->router->packets < 2)
		return err_set(e,
			"router.packets: the bubble rule needs room for two "
			"packets in a channel");
	if (s->link->route && !s->route->is_carried)
		return err_set(e,
			"link.route: packets carry no route (routing.kind is "
			"%s)",
			s->route->ops->name);
	return 0;
}

/* The least and the longest latency of the wires that exist. */
static void wire_range(const struct net *n, sim_time *least, sim_time *most)
{
	const struct topo *t = n->topo;
	router_id r;
	port_id p;

	*least = SIM_NEVER;
	*most = 0;
	for (r = 0; r < t->n_routers; r++) {
		for (p = 0; p < t->n_ports; p++) {
			sim_time l;

			if (t->ops->peer(t, r, p).router == NO_ROUTER)
				continue;
			l = n->link.latency[t->ops->wire(t, r, p)];
			*least = l < *least ? l : *least;
			*most = l > *most ? l : *most;
		}
	}
	if (!*most) /* a single router */
		*least = *most = n->link.latency[WIRE_BOARD];
}

static void site_init(struct net *n, site_id id)
{
	struct net_site *s = &n->sites[id];
	uint32_t p, c;

	s->id = id;
	s->lfsr = ((id * 0x9e37u) & 0xffffu) | 1u;
	for (p = 0; p < n->n_ports; p++) {
		struct topo_end far = n->topo->ops->peer(n->topo, id, p);
		struct link_sender *l = &s->port[p].sender;

		l->peer = far.router;
		if (far.router == NO_ROUTER)
			continue;
		l->peer_port = (uint8_t)far.port;
		l->is_far = !sim_is_own(sim_owner(n->sim, id), far.router);
		l->wire = (uint8_t)n->topo->ops->wire(n->topo, id, p);
		for (c = 0; c < N_CHANNELS; c++)
			l->tokens[c] = (int16_t)n->capacity;
		s->roomy |= 1u << p;
		s->port[p].requests.n_rare = n->params.transit != 0;
	}
	for (p = 0; p < N_FIFOS; p++) {
		s->inject[p].chunks =
			(uint16_t)((int32_t)n->params.injection * n->full);
		s->reception[p].chunks = (int32_t)n->params.reception * n->full;
	}
}

static void set_rules(struct net *n, const struct net_setup *s)
{
	n->route = s->route;
	n->topo = s->topo;
	n->params = *s->router;
	n->client = s->client;
	n->client_state = s->client_state;
	n->seed = s->seed;
	n->n_sites = s->topo->n_routers;
	n->n_nodes = s->topo->n_nodes;
	n->n_ports = s->topo->n_ports;
	n->n_queues = (uint32_t)s->router->queues;
	n->n_bits = n->n_ports * NET_QUEUES;
	n->n_fifos = s->topo->node_ports;
	n->full = (int32_t)n->link.max_chunks;
	n->entry = n->full * (s->route->bubble ? 2 : 1);
	n->capacity = n->link.max_chunks * (uint32_t)s->router->packets;
}

/* Replay is looked at where it can make a difference. */
static bool has_retry(const struct link_rules *r, const struct net_setup *s)
{
	return r->retry.kind == RETRY_REPLAY &&
	       (s->faults || link_retry_binds(r));
}

/* The copy of visit.c that does what is asked for, and no more. */
static const struct net_visits *pick_visits(
	const struct link_rules *r, const struct net_setup *s)
{
	if (s->faults || has_retry(r, s))
		return s->book ? &net_booked_faulty_visits : &net_faulty_visits;
	if (s->book)
		return &net_booked_visits;
	return s->route->ops->spread ? &net_tree_visits : NULL;
}

/* Which worker simulates which site: each gets equal shares of the nodes, by
 * number, and of the switches among them. */
static uint8_t *share_out(const struct topo *t, uint32_t n_workers)
{
	uint8_t *owner = mem_alloc(t->n_routers, sizeof(*owner));
	router_id r;

	for (r = 0; r < t->n_routers; r++) {
		uint64_t home = t->ops->home ? t->ops->home(t, r) : r;

		owner[r] = (uint8_t)(home * n_workers / t->n_nodes);
	}
	return owner;
}

static struct sim *make_sim(
	const struct net_setup *s, struct net *n, struct err *e)
{
	struct sim_params p = {
		.n_sites = n->n_sites,
		.n_workers =
			s->n_workers < n->n_nodes ? s->n_workers : n->n_nodes,
		.ops = &n->sim_ops,
		.model = n,
		.stop = s->stop,
		.prefetches = n->n_sites >= PREFETCH_SITES,
	};
	uint8_t *owner;
	sim_time least, most;
	struct sim *sim;

	wire_range(n, &least, &most);
	/* or a tail would leave a switch before it has come */
	if (n->link.route_ser[1] > least) {
		err_set(e,
			"link.route: %u bytes take longer than the way over "
			"the shortest wire",
			n->link.route);
		return NULL;
	}
	p.window = least;
	p.reach = most + n->link.longest + n->link.route_ser[LINK_MAX_ROUTE];
	owner = share_out(n->topo, p.n_workers);
	p.owner = owner;
	sim = sim_new(&p, e);
	mem_free(owner);
	return sim;
}

static size_t rises_bytes(const struct net *n)
{
	return (size_t)n->n_sites * n->n_ports * n->n_levels *
	       sizeof(*n->rises);
}

static void keep_book(struct net *n, const struct book_how *how)
{
	n->book = book_new(how, n->n_workers, n->n_sites, MOST_BOOKED);
	n->n_levels = (uint32_t)n->full + 2 * (N_CHANNELS - 1);
	n->rises = map_alloc(rises_bytes(n));
}

struct net *net_new(const struct net_setup *s, struct err *e)
{
	struct net *n;
	site_id i;

	if (check(s, e))
		return NULL;
	n = mem_alloc(1, sizeof(*n));
	if (link_rules_init(&n->link, s->link, s->topo, e))
		goto fail;
	set_rules(n, s);
	if (n->capacity > INT16_MAX) {
		err_set(e, "router.packets: %u chunks per channel, at most %d",
			n->capacity, INT16_MAX);
		goto fail;
	}
	if (s->router->injection * n->full > UINT16_MAX) {
		err_set(e,
			"router.injection: %lld packets of %d chunks, at most "
			"%d chunks fit a FIFO",
			(long long)s->router->injection, n->full, UINT16_MAX);
		goto fail;
	}
	n->visits = pick_visits(&n->link, s);
	n->sim_ops.visit = n->visits ? n->visits->visit : net_visit;
	n->sim_ops.prefetch = net_prefetch;
	n->sim = make_sim(s, n, e);
	if (!n->sim)
		goto fail;
	n->sites = map_alloc_dense((size_t)n->n_sites * sizeof(*n->sites));
	n->n_workers = sim_n_workers(n->sim);
	n->tally = map_alloc(n->n_workers * sizeof(*n->tally));
	n->pool = packet_pool_new(
		n->n_workers, s->book ? MOST_BOOKED : MOST_PACKETS);
	n->packets = n->pool->base;
	if (s->book)
		keep_book(n, s->book);
	if (s->faults)
		n->faults =
			faults_new(s->faults, s->topo, s->seed, n->n_workers);
	if (has_retry(&n->link, s))
		n->retry = map_alloc(
			(size_t)n->n_sites * n->n_ports * sizeof(*n->retry));
	if (s->route->ops->spread)
		n->casts = map_alloc(n->n_sites * sizeof(*n->casts));
	for (i = 0; i < n->n_sites; i++)
		site_init(n, i);
	return n;
fail:
	link_rules_fini(&n->link);
	mem_free(n);
	return NULL;
}

static void free_retry(struct net *n)
{
	size_t i, links = (size_t)n->n_sites * n->n_ports;

	for (i = 0; n->retry && i < links; i++)
		retry_fini(&n->retry[i]);
	map_free(n->retry, n->retry ? links * sizeof(*n->retry) : 0);
}

void net_free(struct net *n)
{
	if (!n)
		return;
	free_retry(n);
	map_free(n->tally, n->n_workers * sizeof(*n->tally));
	map_free(n->sites, (size_t)n->n_sites * sizeof(*n->sites));
	packet_pool_free(n->pool);
	casts_free(n);
	map_free(n->rises, rises_bytes(n));
	book_free(n->book);
	faults_free(n->faults);
	sim_free(n->sim);
	link_rules_fini(&n->link);
	mem_free(n);
}

/* Packets that came over a site's wires: those that left it, and those that
 * are still there. */
static uint64_t arrived(const struct net *n, site_id id)
{
	const struct net_site *s = &n->sites[id];
	uint64_t sum = 0;
	uint32_t p, c, q;

	for (c = 0; c < N_CHANNELS; c++) {
		for (p = 0; p < n->n_ports; p++)
			sum += s->port[p].receiver.packets[c];
		for (q = 0; q < NET_BITS; q++)
			sum += s->queue[c][q].count;
	}
	return sum;
}

struct net_tally net_total(const struct net *n)
{
	struct net_tally t = { 0 };
	uint32_t i;
	site_id s;

	for (i = 0; i < n->n_workers; i++) {
		t.injected += n->tally[i].injected;
		t.delivered += n->tally[i].delivered;
		t.copies += n->tally[i].copies;
		t.lost += n->tally[i].lost;
		t.absorbed += n->tally[i].absorbed;
	}
	for (s = 0; s < n->n_sites; s++)
		t.hops += arrived(n, s);
	return t;
}

uint64_t net_memory(const struct net *n)
{
	return (uint64_t)n->n_sites * sizeof(*n->sites) +
	       packet_pool_memory(n->pool) + sim_memory(n->sim) +
	       casts_memory(n) +
	       (n->book ? rises_bytes(n) + book_memory(n->book) : 0);
}
