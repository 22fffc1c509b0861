#include "router/net.h"

#include <string.h>

#include "base/mem.h"

#define AT(field) offsetof(struct net_params, field)

enum { MOST_PACKETS = 1 << 27 };

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
		.max = 16,
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
		.max = 65535,
		.help = "grants to packets in transit for each grant to an "
			"injection FIFO that waits for the same link; 0: "
			"transit always goes first",
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

static uint32_t round_up(uint32_t n)
{
	return (n + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static uint32_t place(uint32_t *at, uint32_t n, size_t size)
{
	uint32_t here = *at;

	*at = round_up(here + n * (uint32_t)size);
	return here;
}

static struct net_layout lay_out(uint32_t ports, uint32_t bits)
{
	struct net_layout l = { 0 };
	uint32_t at = sizeof(struct net_site);

	l.senders = place(&at, ports, sizeof(struct link_sender));
	l.requests = place(&at, ports, sizeof(struct net_requests));
	l.counts = place(&at, N_CHANNELS * bits, sizeof(uint16_t));
	l.asks = place(&at, 2 * bits + N_FIFOS, sizeof(uint16_t));
	l.queues = place(&at, N_CHANNELS * bits, sizeof(struct net_queue));
	l.inject = place(&at, N_FIFOS, sizeof(struct net_inject));
	l.reception = place(&at, N_FIFOS, sizeof(struct net_reception));
	l.receivers = place(&at, ports, sizeof(struct net_receiver));
	l.held = place(&at, N_CHANNELS, sizeof(uint64_t));
	l.size = at;
	return l;
}

static uint32_t bits_of(const struct net_setup *s)
{
	return s->topo->n_ports * (uint32_t)s->router->queues;
}

uint64_t net_estimate(const struct net_setup *s)
{
	uint32_t ports = s->topo->n_ports;
	/* Saturated: one channel of each receiver half full, the injection
	 * FIFOs full, and the mail of a few windows. */
	uint64_t packets = ports * (uint64_t)(s->router->packets / 2) +
		ports * (uint64_t)s->router->injection;

	return s->topo->n_routers *
		((uint64_t)lay_out(ports, bits_of(s)).size +
			packets * sizeof(struct packet) +
			32 * sizeof(struct sim_event));
}

static int check(const struct net_setup *s, struct err *e)
{
	if (bits_of(s) > 64)
		return err_set(e,
			"router.queues: %lld queues for each of %u ports: at "
			"most 64 in all are possible",
			(long long)s->router->queues, s->topo->n_ports);
	if (s->topo->n_ports > TOPO_MAX_PORTS)
		return err_set(e, "%u ports, at most %d are possible",
			s->topo->n_ports, TOPO_MAX_PORTS);
	if (s->route->bubble && s->router->packets < 2)
		return err_set(e,
			"router.packets: the bubble rule needs room for two "
			"packets in a channel");
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
	struct net_site *s = net_site(n, id);
	uint32_t p, c;

	s->lfsr = ((id * 0x9e37u) & 0xffffu) | 1u;
	for (p = 0; p < n->n_ports; p++) {
		struct topo_end far = n->topo->ops->peer(n->topo, id, p);
		struct link_sender *l = net_sender(n, s, p);

		l->peer = far.router;
		if (far.router == NO_ROUTER)
			continue;
		l->peer_port = (uint8_t)far.port;
		l->wire = (uint8_t)n->topo->ops->wire(n->topo, id, p);
		for (c = 0; c < N_CHANNELS; c++)
			l->tokens[c] = (int16_t)n->capacity;
		s->roomy |= 1u << p;
	}
	for (p = 0; p < N_FIFOS; p++) {
		net_injection(n, s, p)->chunks =
			(uint16_t)((uint32_t)n->params.injection * n->full);
		net_reception(n, s, p)->chunks =
			(int32_t)((uint32_t)n->params.reception * n->full);
	}
}

static void set_rules(struct net *n, const struct net_setup *s)
{
	uint32_t p, c;

	n->route = s->route;
	n->arrive = s->route->ops->arrive;
	n->topo = s->topo;
	n->params = *s->router;
	n->client = s->client;
	n->client_state = s->client_state;
	n->seed = s->seed;
	n->n_sites = s->topo->n_routers;
	n->n_ports = s->topo->n_ports;
	n->n_queues = (uint32_t)s->router->queues;
	n->n_bits = bits_of(s);
	n->full = n->link.max_chunks;
	n->entry = n->full * (s->route->bubble ? 2 : 1);
	n->capacity = n->full * (uint32_t)s->router->packets;
	n->at = lay_out(n->n_ports, n->n_bits);
	for (c = 0; c < N_CHANNELS; c++)
		n->count_group[c] = (uint8_t)c;
	n->count_channels = (1u << N_CHANNELS) - 1;
	for (p = 0; p < n->n_ports; p++)
		n->line[p] = ((UINT64_C(1) << n->n_queues) - 1)
			<< ((p ^ 1) * n->n_queues);
}

static struct sim *make_sim(
	const struct net_setup *s, struct net *n, struct err *e)
{
	static const struct sim_ops ops = {
		.visit = net_visit,
		.prefetch = net_prefetch,
	};
	struct sim_params p = {
		.n_sites = n->n_sites,
		.n_workers = s->n_workers,
		.ops = &ops,
		.model = n,
		.stop = s->stop,
	};
	sim_time least, most;

	wire_range(n, &least, &most);
	p.window = least;
	p.reach = most + n->link.ser[n->full];
	return sim_new(&p, e);
}

struct net *net_new(const struct net_setup *s, struct err *e)
{
	struct net *n;
	site_id i;

	if (check(s, e))
		return NULL;
	n = mem_alloc(1, sizeof(*n));
	if (link_rules_init(&n->link, s->link, e))
		goto fail;
	set_rules(n, s);
	if (n->capacity > INT16_MAX) {
		err_set(e, "router.packets: %u chunks per channel, at most %d",
			n->capacity, INT16_MAX);
		goto fail;
	}
	n->sim = make_sim(s, n, e);
	if (!n->sim)
		goto fail;
	n->sites = map_alloc((size_t)n->n_sites * n->at.size);
	n->n_workers = sim_n_workers(n->sim);
	n->tally = map_alloc(n->n_workers * sizeof(*n->tally));
	n->pool = packet_pool_new(n->n_workers, MOST_PACKETS);
	n->packets = packet_base(n->pool);
	for (i = 0; i < n->n_sites; i++)
		site_init(n, i);
	return n;
fail:
	mem_free(n);
	return NULL;
}

void net_free(struct net *n)
{
	if (!n)
		return;
	map_free(n->tally, n->n_workers * sizeof(*n->tally));
	map_free(n->sites, (size_t)n->n_sites * n->at.size);
	packet_pool_free(n->pool);
	sim_free(n->sim);
	mem_free(n);
}

struct net_tally net_total(const struct net *n)
{
	struct net_tally t = { 0 };
	uint32_t i;

	for (i = 0; i < n->n_workers; i++) {
		t.injected += n->tally[i].injected;
		t.delivered += n->tally[i].delivered;
		t.copies += n->tally[i].copies;
		t.hops += n->tally[i].hops;
	}
	return t;
}

uint64_t net_memory(const struct net *n)
{
	return (uint64_t)n->n_sites * n->at.size +
		packet_pool_memory(n->pool) + sim_memory(n->sim);
}
