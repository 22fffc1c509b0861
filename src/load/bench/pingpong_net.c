/* Ping-pong by the network alone: one packet goes back and forth. */
#include "load/bench/pingpong.h"

#include "load/keys.h"

#define AT(field) offsetof(struct pingpong, field)

static const struct param params[] = {
	KEY_PAIR(pingpong),
	KEY_BYTES("bytes", AT(bench.bytes), "8", 0, 64 << 20,
		"payload of a message, or of the packet of via=net"),
	KEY_COUNT("rounds", AT(bench.rounds), "1000", 1, 1000000000,
		"number of round trips"),
	KEY_WORD("via", AT(bench.via), "net", "net|nic|msg",
		"layer; net: a packet, timed from its injection to the arrival "
		"of its tail; nic: a transfer by the network interface, timed "
		"from program to program; msg: sends and receives of "
		"weft/msg.h, on any machine"),
	KEY_BY(AT(bench.by)),
	KEY_MEMORIES(AT(bench.source), AT(bench.target)),
	KEY_ROUTING(AT(routing), "deterministic"),
	KEY_CPU(AT(bench.cpu)),
};

static struct pingpong *of(struct load *l)
{
	return (struct pingpong *)l;
}

/* The node's turn: it sends a packet to the other one. */
static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct net *n = me->net;
	struct pingpong *g = me->state;
	packet_id id = packet_take(n->pool, w->id);

	(void)e;
	n->packets[id] = (struct packet){
		.src = s,
		.dst = (site_id)(s == (site_id)g->bench.from ? g->bench.to
							     : g->bench.from),
		.number = (uint32_t)g->flights,
		.born = t,
		.kind = g->kind,
		.bytes = (uint16_t)g->bench.bytes,
	};
	net_inject(n, w, s, load_find_fifo(n, s, id, 0), id, t);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *n = me->net;
	struct pingpong *g = me->state;
	const struct packet *p = &n->packets[id];

	(void)fifo;
	(void)t;
	load_delivered(&g->bench.programs.load, s, p, tail);
	hist_add(&g->latency, tail - p->born);
	g->last = tail;
	packet_give(n->pool, w->id, id);
	if (++g->flights < 2 * g->bench.rounds)
		sim_post_self(
			w, s, tail, SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT), 0, 0);
}

static const struct net_client_ops client = {
	.on_room = load_ignore_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.is_sink = true,
};

static int pingpong_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct pingpong *g = of(l);

	if (load_check_pair(l, t, g->bench.from, g->bench.to, e))
		return -1;
	if (g->bench.via) {
		l->ops = &load_pingpong_programs;
		return l->ops->init(l, t, r, link, e);
	}
	if (g->bench.bytes > link->payload)
		return err_set(e,
			"bytes: %lld is more than a packet carries (want at "
			"most %lld, or via=msg)",
			(long long)g->bench.bytes, (long long)link->payload);
	g->kind = load_kind(0, g->routing);
	return 0;
}

static void pingpong_start(struct load *l)
{
	site_id s = (site_id)of(l)->bench.from;

	sim_post(sim_owner(l->net->sim, s), s, 0,
		SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT), 0, 0);
}

static sim_time pingpong_next(struct load *l)
{
	struct pingpong *g = of(l);

	if (g->flights == 2 * g->bench.rounds)
		return SIM_NEVER;
	return sim_now(l->net->sim) + 1000000 * (sim_time)SIM_NS;
}

static void pingpong_report(struct load *l, struct load_result *r)
{
	struct pingpong *g = of(l);

	r->end = g->last;
	hist_merge(&r->latency, &g->latency);
	if (!g->flights)
		return;
	load_figure(
		r, "one_way_ns", (double)g->last / (double)g->flights / SIM_NS);
}

const struct load_ops load_pingpong = {
	.name = "pingpong",
	.help = "a packet or message goes back and forth between two nodes",
	.size = sizeof(struct pingpong),
	PARAMS(params),
	.client = &client,
	.init = pingpong_init,
	.start = pingpong_start,
	.next = pingpong_next,
	.report = pingpong_report,
};
