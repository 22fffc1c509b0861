/*
 * Who reaches the nodes of a switch, by how many switches, and how fast.
 *
 * First every other node sends one packet to each of the switch's nodes, by the
 * port that leads there, at such a pace that one link would do for all.  The
 * switches that a packet has passed are compared with those of the way that the
 * routing names while all is well.  Then all send at once, as fast as they can,
 * and what arrives is measured.
 */
#include <string.h>

#include "base/mem.h"
#include "load/keys.h"
#include "load/registry.h"
#include "topo/parts.h"

#define AT(field) offsetof(struct reach, field)

/* The two parts, as numbers of packets and of events; and the time between
 * them, in which packets of the first arrive. */
enum { FIRST, SECOND };

#define REST (INT64_C(100000) * SIM_NS)

/* A node: its number among those that send, and the targets that it has served
 * in the first part. */
struct sender {
	uint32_t rank, served;
	port_mask dead; /* ports without a working link */
};

/* What has arrived. */
struct account {
	uint64_t reached, switches, more;
	uint64_t bytes; /* of the second part */
	uint32_t most_switches, most_more;
};

/* Per worker. */
struct meter {
	_Alignas(64) struct account account;
	struct hist latency;
};

struct reach {
	struct load load;
	/* keys */
	char leaf[PARAM_TEXT_MAX];
	int64_t bytes, sources, warmup, measure;

	router_id at; /* the switch */
	uint32_t n_links; /* to other switches, of the kind that it has most */
	uint32_t n_targets, n_sources;
	struct topo_end target[TOPO_MAX_PORTS]; /* its nodes, by which port */
	site_id *source;
	struct sender *sender; /* [node] */
	sim_time pace; /* of all packets of the first part */
	sim_time from, until; /* measured */
	struct meter *meter; /* [worker] */
};

static const struct param params[] = {
	KEY_TEXT("leaf", AT(leaf), "first",
		"switch whose nodes receive, such as 1.5 or, with rails, "
		"0:1.5; first: that of node 0"),
	KEY_BYTES("bytes", AT(bytes), "2 KiB", 1, 65535, "payload of a packet"),
	KEY_COUNT("sources", AT(sources), "0", 0, TOPO_MAX_ROUTERS,
		"number of nodes that send, spread over the machine; 0: all "
		"others"),
	KEY(PARAM_TIME, "warmup", AT(warmup), "100 us", 0, PS_PER_S, NULL,
		"time that all have sent at once before what arrives is "
		"measured"),
	KEY(PARAM_TIME, "measure", AT(measure), "20 us", 1000000, PS_PER_S,
		NULL, "time of the measurement"),
};

static struct reach *of(struct load *l)
{
	return (struct reach *)l;
}

/* --- set-up --- */

static int find_leaf(struct reach *g, const struct topo *t, struct err *e)
{
	struct part_names names = { .topo = t };
	int failed = 0;

	g->at = t->ops->peer(t, 0, 0).router;
	if (strcmp(g->leaf, "first") != 0)
		failed = part_find_site(&names, "leaf", g->leaf, t->n_nodes,
			t->n_routers, &g->at, e);
	part_names_fini(&names);
	return failed;
}

/* Its nodes, and its links. */
static int find_targets(struct reach *g, const struct topo *t, struct err *e)
{
	uint32_t links[TOPO_MAX_WIRES] = { 0 };

	for (port_id p = 0; p < t->n_ports; p++) {
		struct topo_end far = t->ops->peer(t, g->at, p);
		uint32_t *n;

		if (far.router == NO_ROUTER)
			continue;
		if (far.router < t->n_nodes) {
			g->target[g->n_targets++] = far;
			continue;
		}
		n = &links[t->ops->wire(t, g->at, p)];
		if (++*n > g->n_links)
			g->n_links = *n;
	}
	if (!g->n_targets)
		return err_set(e, "leaf: switch %s has no nodes", g->leaf);
	return 0;
}

static int reach_init(struct load *l, struct err *e)
{
	struct reach *g = of(l);
	const struct topo *t = l->topo;

	if (topo_is_direct(t))
		return err_set(e,
			"leaf: this machine has no switches (topology.kind %s)",
			t->ops->name);
	if (g->bytes > l->link->payload)
		return err_set(e,
			"bytes: %lld is more than a packet carries (want at "
			"most %lld)",
			(long long)g->bytes, (long long)l->link->payload);
	return find_leaf(g, t, e) || find_targets(g, t, e) ? -1 : 0;
}

static bool is_target(const struct reach *g, site_id s)
{
	for (uint32_t i = 0; i < g->n_targets; i++)
		if (g->target[i].router == s)
			return true;
	return false;
}

static void list_sources(struct reach *g, uint32_t n_nodes)
{
	uint32_t n = 0, want = (uint32_t)g->sources;

	g->source = mem_alloc(n_nodes, sizeof(*g->source));
	for (site_id s = 0; s < n_nodes; s++)
		if (!is_target(g, s))
			g->source[n++] = s;
	g->n_sources = want && want < n ? want : n;
	for (uint32_t i = 0; i < g->n_sources; i++)
		g->source[i] = g->source[(uint64_t)i * n / g->n_sources];
}

/* --- packets --- */

static uint64_t n_pairs(const struct reach *g)
{
	return (uint64_t)g->n_sources * g->n_targets;
}

static uint32_t fifo_of(const struct reach *g, const struct topo_end *target)
{
	struct net_fifos f = net_fifos(g->load.net, NET_USER);

	return f.first + (f.is_bound ? target->port : 0);
}

/* What could not leave the node is not sent. */
static bool can_send(const struct reach *g, site_id s, uint32_t to)
{
	const struct topo_end *target = &g->target[to];

	return !(g->sender[s].dead >> target->port & 1) &&
	       net_has_room(g->load.net, s, fifo_of(g, target));
}

static void send(struct reach *g, struct sim_worker *w, site_id s, uint32_t to,
	uint32_t number, sim_time t)
{
	struct net *n = g->load.net;
	packet_id id = packet_take(n->pool, w->id);

	n->packets[id] = (struct packet){
		.src = s,
		.dst = g->target[to].router,
		.number = number,
		.born = t,
		.bytes = (uint16_t)g->bytes,
	};
	net_inject(n, w, s, fifo_of(g, &g->target[to]), id, t);
}

/* All that fits, to one of the targets. */
static void fill(struct reach *g, struct sim_worker *w, site_id s, sim_time t)
{
	uint32_t to = g->sender[s].rank % g->n_targets;

	while (can_send(g, s, to))
		send(g, w, s, to, SECOND, t);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct reach *g = me->state;
	struct sender *x = &g->sender[s];
	uint32_t to = (x->served + x->rank) % g->n_targets;

	if (sim_aux(&e) == SECOND) {
		fill(g, w, s, t);
		return;
	}
	if (can_send(g, s, to))
		send(g, w, s, to, FIRST, t);
	if (++x->served < g->n_targets)
		sim_post(
			w, s, t + g->pace * g->n_sources, LOAD_EVENT, FIRST, 0);
}

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct reach *g = me->state;

	if (t >= g->from - g->warmup && fifo == fifo_of(g, &g->target[0]))
		fill(g, w, s, t);
}

/* Switches of a way that the routing names. */
static uint32_t n_usual(const struct reach *g, const struct packet *came)
{
	const struct topo *t = g->load.topo;
	const struct route *r = g->load.net->route;
	struct packet p = { .src = came->src, .dst = came->dst };
	struct topo_end at;
	uint32_t n = 0;

	r->ops->start(r, &p);
	r->ops->next(r, &p, p.src, TOPO_NO_PORT);
	at = t->ops->peer(t, p.src, g->target[0].port);
	for (; at.router >= t->n_nodes && n < t->n_routers; n++) {
		struct route_step step =
			r->ops->next(r, &p, at.router, at.port);

		if (!step.ports)
			break;
		at = t->ops->peer(
			t, at.router, (port_id)__builtin_ctzll(step.ports));
	}
	return n;
}

static void account_for(
	struct reach *g, struct account *a, const struct packet *p)
{
	uint32_t usual = n_usual(g, p), n = usual, more;

	if (g->load.net->router[NET_SWITCHES]->ops->counts_switches)
		n = p->passed;
	more = n > usual ? n - usual : 0;
	a->reached++;
	a->switches += n;
	a->more += more;
	if (n > a->most_switches)
		a->most_switches = n;
	if (more > a->most_more)
		a->most_more = more;
}

/* The bytes of a packet that came within the time of the measurement: a link
 * must not seem to carry more than it can. */
static uint64_t measured(
	const struct reach *g, uint64_t bytes, sim_time head, sim_time tail)
{
	sim_time from = head > g->from ? head : g->from;
	sim_time until = tail < g->until ? tail : g->until;

	if (from >= until)
		return 0;
	return bytes * (uint64_t)(until - from) / (uint64_t)(tail - head);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *n = me->net;
	struct reach *g = me->state;
	const struct packet *p = &n->packets[id];
	struct meter *m = &g->meter[w->id];

	(void)fifo;
	load_delivered(&g->load, s, p, tail);
	if (p->number == FIRST) {
		account_for(g, &m->account, p);
		hist_add(&m->latency, tail - p->born);
		load_count_latency(&g->load, w->id, tail - p->born);
	} else {
		m->account.bytes += measured(g, p->bytes, t, tail);
	}
	packet_give(n->pool, w->id, id);
}

static void on_lost(struct net_client *me, struct sim_worker *w, packet_id id)
{
	packet_give(me->net->pool, w->id, id);
}

static void on_link(struct net_client *me, struct sim_worker *w, site_id s,
	port_id p, bool is_up, sim_time t)
{
	struct reach *g = me->state;
	port_mask bit = (port_mask)1 << p;

	(void)w;
	(void)t;
	if (s >= me->net->n_nodes)
		return;
	if (is_up)
		g->sender[s].dead &= ~bit;
	else
		g->sender[s].dead |= bit;
}

static const struct net_client_faults faults = { .on_link = on_link };

static const struct net_client_ops client = {
	.faults = &faults,
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.on_lost = on_lost,
	.is_sink = true,
};

/* --- a run --- */

static void reach_start(struct load *l)
{
	struct reach *g = of(l);
	uint32_t n = l->net->n_nodes;

	list_sources(g, n);
	g->meter = mem_alloc(l->net->n_workers, sizeof(*g->meter));
	g->sender = mem_alloc(n, sizeof(*g->sender));
	g->pace = 2 * load_packet_time(l->link, (uint32_t)g->bytes);
	g->from = l->begin + (sim_time)n_pairs(g) * g->pace + REST + g->warmup;
	g->until = g->from + g->measure;
	for (uint32_t i = 0; i < g->n_sources; i++) {
		g->sender[g->source[i]].rank = i;
		load_wake(l, g->source[i], l->begin + i * g->pace, FIRST);
		load_wake(l, g->source[i], g->from - g->warmup, SECOND);
	}
}

static sim_time reach_next(struct load *l)
{
	struct reach *g = of(l);

	if (l->is_idle || sim_now(l->net->sim) >= g->until)
		return SIM_NEVER;
	return g->until;
}

/* Of several processes. */
static void share_account(const struct sim *sim, struct account *a)
{
	uint64_t sum[] = { a->reached, a->switches, a->more, a->bytes };
	uint64_t most[] = { a->most_switches, a->most_more };

	sim_sum(sim, sum, sizeof(sum) / sizeof(*sum));
	sim_max(sim, most, sizeof(most) / sizeof(*most));
	*a = (struct account){
		.reached = sum[0],
		.switches = sum[1],
		.more = sum[2],
		.bytes = sum[3],
		.most_switches = (uint32_t)most[0],
		.most_more = (uint32_t)most[1],
	};
}

static struct account sum_up(const struct reach *g)
{
	struct account sum = { 0 };

	for (uint32_t i = 0; i < g->load.net->n_workers; i++) {
		const struct account *a = &g->meter[i].account;

		sum.reached += a->reached;
		sum.switches += a->switches;
		sum.more += a->more;
		sum.bytes += a->bytes;
		if (a->most_switches > sum.most_switches)
			sum.most_switches = a->most_switches;
		if (a->most_more > sum.most_more)
			sum.most_more = a->most_more;
	}
	share_account(g->load.net->sim, &sum);
	return sum;
}

static void reach_report(struct load *l, struct load_result *r)
{
	struct reach *g = of(l);
	struct account a = sum_up(g);
	double pairs = (double)n_pairs(g), n = (double)(a.reached | !a.reached);
	double link = (double)load_link_rate(l->link, (uint32_t)g->bytes);
	double rate = (double)a.bytes * (double)PS_PER_S / (double)g->measure;

	for (uint32_t i = 0; i < l->net->n_workers; i++)
		hist_merge(&r->latency, &g->meter[i].latency);
	load_share_hist(l, &r->latency);
	load_figure(r, "pairs", pairs);
	load_figure(r, "reached_pct",
		pairs > 0 ? 100 * (double)a.reached / pairs : 0);
	load_figure(r, "mean_switches", (double)a.switches / n);
	load_figure(r, "most_switches", a.most_switches);
	load_figure(r, "mean_more_switches", (double)a.more / n);
	load_figure(r, "most_more_switches", a.most_more);
	load_figure(r, "into_leaf_GBps", rate / 1e9);
	load_figure(r, "full_links", rate / link);
	if (g->n_links)
		load_figure(
			r, "of_all_links_pct", 100 * rate / link / g->n_links);
}

static void reach_fini(struct load *l)
{
	struct reach *g = of(l);

	mem_free(g->sender);
	mem_free(g->meter);
	mem_free(g->source);
}

const struct load_ops load_reach = {
	.name = "reach",
	.help = "hops and bandwidth from all nodes to the nodes of one switch",
	.size = sizeof(struct reach),
	PARAMS(params),
	.client = &client,
	.init = reach_init,
	.start = reach_start,
	.next = reach_next,
	.report = reach_report,
	.fini = reach_fini,
};
