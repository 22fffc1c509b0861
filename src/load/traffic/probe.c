/*
 * Diagnostics: packets that carry the ports of their route, so that they depend
 * on no routing table.
 *
 * Without a route the first node of every router tries all of the router's
 * links, one after another: a packet leaves by a link and returns by the same
 * one.  With a route one node sends, and the packet ends at the first node of
 * the router that the last port leads to.
 *
 * Only the interval between packets separates those of a node, and no proof of
 * freedom from deadlock covers their turns: probes are not meant as load.
 */
#include <string.h>

#include "base/mem.h"
#include "load/keys.h"
#include "load/registry.h"

#define AT(field) offsetof(struct probe, field)

/* A packet that is sent once a round. */
struct attempt {
	const uint8_t *vector; /* its ports, the last of which is a node's */
	uint8_t own[3]; /* there and back */
	port_id by; /* port of its node */
	site_id to;
	uint32_t sent, came;
};

/* A node that sends. */
struct prober {
	site_id node;
	uint32_t n_tries;
	uint64_t next;
	struct attempt *try;
};

struct probe {
	struct load load;
	/* keys */
	int64_t from, bytes, rounds, every;
	char route[PARAM_TEXT_MAX];

	const struct topo *topo;
	struct attempt only; /* by a route, which has so many ports: */
	uint32_t n_ports;
	uint8_t ports[PARAM_TEXT_MAX / 2];
	struct prober *prober;
	uint32_t n_probers;
	uint32_t *of; /* [node] 1 + its prober, or 0 */
	struct hist *latency; /* [worker] */
};

static const struct param params[] = {
	KEY_TEXT("route", AT(route), "links",
		"ports that a packet takes, one at each router, such as "
		"x+0,x+3,z-1; links: each link of the machine in turn, there "
		"and back"),
	KEY_NODE("from", AT(from), "0", "node that sends, if ports are given"),
	KEY_BYTES("bytes", AT(bytes), "64", 1, 65535,
		"payload of a packet, which contains its ports, one byte each"),
	KEY_COUNT("rounds", AT(rounds), "1", 1, 1000000,
		"number of packets for each link or route"),
	KEY(PARAM_TIME, "every", AT(every), "5 us", 1000000, PS_PER_S, NULL,
		"interval between packets of a node"),
};

static struct probe *of(struct load *l)
{
	return (struct probe *)l;
}

/* --- routes --- */

static int add_port(struct probe *g, port_id port, struct err *e)
{
	if (g->n_ports == (uint32_t)g->bytes || g->n_ports == sizeof(g->ports))
		return err_set(e,
			"route: %u ports do not fit into a payload of %lld "
			"bytes (want one byte for each router)",
			g->n_ports + 1, (long long)g->bytes);
	g->ports[g->n_ports++] = (uint8_t)port;
	return 0;
}

/* The port of a router that a word names, or TOPO_NO_PORT. */
static port_id find_port(
	const struct topo *t, router_id r, const char *word, size_t n)
{
	char name[32];

	for (port_id p = 0; p < t->n_ports; p++) {
		struct topo_end far = t->ops->peer(t, r, p);

		if (far.router == NO_ROUTER || far.router < t->n_nodes)
			continue;
		t->ops->name_port(t, r, p, name, sizeof(name));
		if (strlen(name) == n && !strncmp(word, name, n))
			return p;
	}
	return TOPO_NO_PORT;
}

/* The port of a router at which its first node is. */
static port_id find_node(const struct topo *t, router_id r)
{
	port_id p = 0;

	while (t->ops->peer(t, r, p).router >= t->n_nodes)
		p++;
	return p;
}

static int read_route(struct probe *g, const struct topo *t, struct err *e)
{
	router_id at = t->ops->peer(t, (site_id)g->from, 0).router;
	const char *c = g->route + strspn(g->route, " ,");
	char name[64];
	port_id p;

	while (*c) {
		size_t n = strcspn(c, ",");

		/* a name may have two words, and blanks may separate names */
		p = find_port(t, at, c, n);
		if (p == TOPO_NO_PORT) {
			n = strcspn(c, " ,");
			p = find_port(t, at, c, n);
		}
		t->ops->name_router(t, at, name, sizeof(name));
		if (p == TOPO_NO_PORT)
			return err_set(e, "route: router %s has no link %.*s",
				name, (int)n, c);
		if (add_port(g, p, e))
			return -1;
		at = t->ops->peer(t, at, p).router;
		c += n;
		c += strspn(c, " ,");
	}
	p = find_node(t, at);
	g->only.vector = g->ports;
	g->only.to = t->ops->peer(t, at, p).router;
	return add_port(g, p, e);
}

static int probe_init(struct load *l, struct err *e)
{
	const struct topo *t = l->topo;
	struct probe *g = of(l);

	if (!l->route->has_vectors)
		return err_set(e,
			"probe: packets cannot carry their route on this "
			"machine; they can on gemini (routing.kind: order "
			"with planes, and routers with nodes of their own)");
	if (g->bytes > l->link->payload)
		return err_set(e,
			"bytes: %lld is more than a packet carries (want at "
			"most %lld)",
			(long long)g->bytes, (long long)l->link->payload);
	if (load_check_node(l, "from", g->from, e))
		return -1;
	if (strcmp(g->route, "links") != 0)
		return read_route(g, t, e);
	if (g->bytes < 3)
		return err_set(e,
			"bytes: %lld do not hold the three ports of a route "
			"over a link and back (want at least 3)",
			(long long)g->bytes);
	return 0;
}

/* --- packets --- */

static uint64_t n_packets(const struct probe *g, const struct prober *x)
{
	return x->n_tries * (uint64_t)g->rounds;
}

/* Where each FIFO has its port, that of the port. */
static uint32_t find_fifo(
	const struct net *n, site_id s, packet_id id, port_id by)
{
	struct net_fifos f = net_fifos(n, NET_USER);

	if (!f.is_bound)
		return load_find_fifo(n, s, id, 0);
	return net_has_room(n, s, f.first + by) ? f.first + by : NET_NO_FIFO;
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct net *n = me->net;
	struct probe *g = me->state;
	struct prober *x = &g->prober[g->of[s] - 1];
	uint32_t number = (uint32_t)(x->next % x->n_tries);
	struct attempt *y = &x->try[number];
	packet_id id = packet_take(n->pool, w->id);
	uint32_t fifo;

	(void)e;
	n->packets[id] = (struct packet){
		.src = s,
		.dst = y->to,
		.number = number,
		.born = t,
		.kind = PACKET_VECTOR,
		.bytes = (uint16_t)g->bytes,
		.load = (uint64_t)(uintptr_t)y->vector,
	};
	fifo = find_fifo(n, s, id, y->by);
	if (fifo == NET_NO_FIFO) { /* management has stopped the node */
		packet_give(n->pool, w->id, id);
	} else {
		net_inject(n, w, s, fifo, id, t);
		y->sent++;
		x->next++;
	}
	if (x->next < n_packets(g, x))
		sim_post_self(w, s, t + g->every, LOAD_EVENT, 0, 0);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *n = me->net;
	struct probe *g = me->state;
	const struct packet *p = &n->packets[id];
	struct attempt *y = &g->prober[g->of[p->src] - 1].try[p->number];

	/* A corrupted one shows a bad link as a lost one does. */
	(void)fifo;
	(void)t;
	load_delivered(&g->load, s, p, tail);
	if (!(p->flags & PACKET_HURT)) {
		y->came++;
		hist_add(&g->latency[w->id], tail - p->born);
		load_count_latency(&g->load, w->id, tail - p->born);
	}
	packet_give(n->pool, w->id, id);
}

static void on_lost(struct net_client *me, struct sim_worker *w, packet_id id)
{
	struct net *n = me->net;

	packet_give(n->pool, w->id, id);
}

/* Every process knows the ports of all attempts. */
static void pack(struct net_client *me, struct sim_worker *w, packet_id id,
	struct cluster_bytes *to)
{
	(void)me;
	(void)w;
	(void)id;
	(void)to;
}

static void unpack(struct net_client *me, struct sim_worker *w, packet_id id,
	const void *from, size_t n)
{
	const struct probe *g = me->state;
	struct packet *p = &me->net->packets[id];

	(void)w;
	(void)from;
	(void)n;
	p->load = (uint64_t)(uintptr_t)g->prober[g->of[p->src] - 1]
			  .try[p->number]
			  .vector;
}

static const struct net_client_carry carry = {
	.pack = pack,
	.unpack = unpack,
};

static const struct net_client_ops client = {
	.carry = &carry,
	.on_room = load_ignore_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.on_lost = on_lost,
	.is_sink = true,
};

/* --- a run --- */

/* The links of a router, each there and back. */
static void list_links(struct probe *g, struct prober *x, port_id by)
{
	const struct topo *t = g->topo;
	struct topo_end home = t->ops->peer(t, x->node, by);

	for (port_id p = 0; p < t->n_ports; p++) {
		struct topo_end far = t->ops->peer(t, home.router, p);

		if (far.router == NO_ROUTER || far.router < t->n_nodes)
			continue;
		x->try[x->n_tries++] = (struct attempt){
			.own = { (uint8_t)p, (uint8_t)far.port,
				(uint8_t)home.port },
			.by = by,
			.to = x->node,
		};
	}
}

/* Those of all routers that a node has a port to. */
static void list_all(struct probe *g, struct prober *x)
{
	const struct topo *t = g->topo;

	x->try = mem_alloc((size_t)t->n_ports * t->node_ports, sizeof(*x->try));
	for (port_id by = 0; by < t->node_ports; by++)
		list_links(g, x, by);
	for (uint32_t i = 0; i < x->n_tries; i++)
		x->try[i].vector = x->try[i].own;
}

static void add_prober(struct probe *g, site_id s)
{
	struct prober *x = &g->prober[g->n_probers++];

	x->node = s;
	g->of[s] = g->n_probers;
	if (g->n_ports) {
		x->n_tries = 1;
		x->try = &g->only;
	} else {
		list_all(g, x);
	}
	if (x->n_tries)
		load_wake(&g->load, s, 0, 0);
}

static void probe_start(struct load *l)
{
	struct probe *g = of(l);
	const struct topo *t = g->topo = l->net->topo;

	g->latency = mem_alloc(l->net->n_workers, sizeof(*g->latency));
	g->of = mem_alloc(t->n_nodes, sizeof(*g->of));
	g->prober = mem_alloc(t->n_nodes, sizeof(*g->prober));
	if (g->n_ports) {
		add_prober(g, (site_id)g->from);
		return;
	}
	for (site_id s = 0; s < t->n_nodes; s++) {
		router_id r = t->ops->peer(t, s, 0).router;

		if (t->ops->peer(t, r, find_node(t, r)).router == s)
			add_prober(g, s);
	}
}

static bool is_sent(const struct probe *g)
{
	const struct sim *sim = g->load.net->sim;
	uint64_t left = 0;

	for (uint32_t i = 0; i < g->n_probers; i++)
		if (sim_has(sim, g->prober[i].node))
			left += n_packets(g, &g->prober[i]) - g->prober[i].next;
	sim_sum(sim, &left, 1);
	return !left;
}

static sim_time probe_next(struct load *l)
{
	struct probe *g = of(l);

	if (is_sent(g) && !net_n_packets(l->net))
		return SIM_NEVER;
	return sim_now(l->net->sim) + 1000000 * (sim_time)SIM_NS;
}

/* Of several processes: what each knows of an attempt. */
static void share_attempts(const struct probe *g, const struct prober *x)
{
	uint64_t *sum = mem_alloc(2 * (size_t)x->n_tries, sizeof(*sum));

	for (uint32_t k = 0; k < x->n_tries; k++) {
		sum[2 * k] = x->try[k].sent;
		sum[2 * k + 1] = x->try[k].came;
	}
	sim_sum(g->load.net->sim, sum, 2 * (size_t)x->n_tries);
	for (uint32_t k = 0; k < x->n_tries; k++) {
		x->try[k].sent = (uint32_t)sum[2 * k];
		x->try[k].came = (uint32_t)sum[2 * k + 1];
	}
	mem_free(sum);
}

static void probe_report(struct load *l, struct load_result *r)
{
	struct probe *g = of(l);
	uint64_t sent = 0, came = 0, bad = 0;
	const struct attempt *first = NULL;
	site_id from = 0;

	for (uint32_t i = 0; sim_is_shared(l->net->sim) && i < g->n_probers;
		i++)
		share_attempts(g, &g->prober[i]);
	for (uint32_t i = 0; i < g->n_probers; i++) {
		for (uint32_t k = 0; k < g->prober[i].n_tries; k++) {
			const struct attempt *y = &g->prober[i].try[k];

			sent += y->sent;
			came += y->came;
			if (y->came == y->sent)
				continue;
			bad++;
			from = first ? from : g->prober[i].node;
			first = first ? first : y;
		}
	}
	for (uint32_t i = 0; i < l->net->n_workers; i++)
		hist_merge(&r->latency, &g->latency[i]);
	load_share_hist(l, &r->latency);
	load_figure(r, "probes", (double)sent);
	load_figure(r, "lost", (double)(sent - came));
	load_figure(r, g->n_ports ? "routes_lost" : "links_lost", (double)bad);
	if (g->n_ports)
		load_figure(r, "to", g->only.to);
	if (!first)
		return;
	load_figure(r, "first_lost_router",
		g->topo->ops->peer(g->topo, from, first->by).router -
			g->topo->n_nodes);
	load_figure(r, "first_lost_port", first->vector[0]);
}

static void probe_fini(struct load *l)
{
	struct probe *g = of(l);

	for (uint32_t i = 0; i < g->n_probers && !g->n_ports; i++)
		mem_free(g->prober[i].try);
	mem_free(g->prober);
	mem_free(g->of);
	mem_free(g->latency);
}

const struct load_ops load_probe = {
	.name = "probe",
	.help = "packets that carry their route, to find links that fail",
	.size = sizeof(struct probe),
	PARAMS(params),
	.client = &client,
	.init = probe_init,
	.start = probe_start,
	.next = probe_next,
	.report = probe_report,
	.fini = probe_fini,
};
