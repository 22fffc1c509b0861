/*
 * All-to-all: every node sends the same number of bytes to every other node,
 * once.  A message longer than a packet goes in rounds, one packet to every
 * other node per round, each round and node in a random order of its own.
 */
#include "load/bench/alltoall.h"

#include "base/mem.h"
#include "load/keys.h"
#include "load/order.h"
#include "sim/random.h"

#define AT(field) offsetof(struct alltoall, field)

enum { SLICES = 200 };

/* Per worker. */
struct arrivals {
	_Alignas(64) uint64_t n;
	sim_time last; /* tail */
	struct hist latency;
};

struct sender {
	uint32_t round, step; /* the next packet */
	packet_id pending; /* made, but its FIFO was full */
};

static const struct param params[] = {
	KEY_BYTES("bytes", AT(bench.bytes), "512", 1, 1 << 24,
		"length of each message"),
	KEY_WORD("via", AT(bench.via), "net", "net|nic|msg",
		"layer; net: packets that enter the injection FIFOs directly "
		"and are received at once; nic: programs that use the network "
		"interface; msg: programs that use weft/msg.h, on any machine"),
	KEY_PROCS(AT(bench.procs)),
	KEY_BY(AT(bench.by)),
	KEY_MEMORIES(AT(bench.source), AT(bench.target)),
	KEY_ROUTING(AT(routing), "dynamic"),
	KEY_ZONES(AT(zones)),
	KEY_WORD("driver", AT(driver), "rounds", "rounds|messages",
		"order of the programs' puts; rounds: a put per packet, to one "
		"destination after another, as with via=net; messages: a put "
		"per message, to one destination after another"),
	KEY_COUNT("fifos", AT(fifos), "16", 1, 128,
		"number of injection FIFOs or command queues of each node that "
		"via=nic spreads its puts over"),
	KEY_WORD("data", AT(data), "auto", "auto|real|synthetic",
		"data of programs; real: bytes in memory; synthetic: bytes "
		"that are generated when read and checked when written; auto: "
		"real up to 1 GiB in all"),
};

static struct alltoall *of(struct load *l)
{
	return (struct alltoall *)l;
}

static packet_id make_packet(
	struct alltoall *a, struct sim_worker *w, site_id s)
{
	struct sender *from = &a->sender[s];
	uint32_t n = a->bench.programs.load.net->n_nodes, off;
	uint64_t key;
	packet_id id;

	if (from->round == a->rounds)
		return NO_PACKET;
	key = random_draw(
		a->bench.programs.load.seed, s, RANDOM_TARGET, from->round)
		      .a;
	off = 1 + order_at(key, n - 1, from->step);
	id = packet_take(a->bench.programs.load.net->pool, w->id);
	a->bench.programs.load.net->packets[id] = (struct packet){
		.src = s,
		.dst = (s + off) % n,
		.number = from->round * (n - 1) + from->step,
		.kind = a->kind,
		.bytes = (uint16_t)(from->round + 1 == a->rounds
					    ? a->last_bytes
					    : a->full_bytes),
	};
	if (++from->step == n - 1) {
		from->step = 0;
		from->round++;
	}
	return id;
}

static void pump(struct alltoall *a, struct sim_worker *w, site_id s,
	uint32_t first, sim_time t)
{
	struct sender *from = &a->sender[s];

	for (;;) {
		packet_id id = from->pending;
		uint32_t fifo;

		if (!id && !(id = make_packet(a, w, s)))
			return;
		from->pending = id;
		fifo = load_find_fifo(a->bench.programs.load.net, s, id, first);
		if (fifo == NET_NO_FIFO)
			return;
		from->pending = NO_PACKET;
		a->bench.programs.load.net->packets[id].born = t;
		net_inject(a->bench.programs.load.net, w, s, fifo, id, t);
	}
}

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	pump(me->state, w, s, fifo, t);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	(void)e;
	pump(me->state, w, s, 0, t);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *n = me->net;
	struct alltoall *a = me->state;
	struct arrivals *r = &a->arrivals[w->id];
	const struct packet *p = &n->packets[id];

	(void)fifo;
	(void)t;
	load_delivered(&a->bench.programs.load, s, p, tail);
	r->n++;
	if (tail > r->last)
		r->last = tail;
	hist_add(&r->latency, tail - p->born);
	packet_give(n->pool, w->id, id);
}

static const struct net_client_ops client = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.is_sink = true,
};

static int alltoall_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct alltoall *a = of(l);
	uint64_t n = t->n_nodes;

	if (n < 2)
		return err_set(e, "alltoall needs at least two nodes");
	if (load_set_zones(r, a->zones, e))
		return -1;
	a->full_bytes = (uint32_t)link->payload;
	if (!a->full_bytes)
		return err_set(e, "link.payload: alltoall needs packets with a "
				  "payload, not 0 B");
	a->rounds = (uint32_t)((a->bench.bytes + link->payload - 1) /
			       link->payload);
	a->last_bytes = (uint32_t)(a->bench.bytes -
				   (int64_t)(a->rounds - 1) * link->payload);
	a->kind = load_kind(0, a->routing);
	a->peak = load_peak(t, link,
		a->bench.bytes < link->payload ? (uint32_t)a->bench.bytes
					       : a->full_bytes);
	if (!a->bench.via && a->bench.procs > 1)
		return err_set(e, "procs: there are no processes with via=net "
				  "(want via=nic or via=msg)");
	if (!a->bench.via && bench_has_gpus(&a->bench))
		return err_set(e, "source and target: there are no memories "
				  "with via=net (want via=nic or via=msg)");
	n *= (uint64_t)a->bench.procs;
	a->expected = n * (n - 1) * a->rounds;
	if (a->bench.via) {
		l->ops = &load_alltoall_programs;
		return l->ops->init(l, t, r, link, e);
	}
	/* for the progress line: by the peak, or a guess where there is none */
	a->slice =
		(sim_time)((double)(n * (uint64_t)a->bench.bytes) * 1e12 /
			   (double)(a->peak ? a->peak : link->rate) / SLICES) +
		1000 * SIM_NS;
	return 0;
}

static void alltoall_start(struct load *l)
{
	struct alltoall *a = of(l);
	struct net *n = l->net;
	site_id s;

	a->sender = mem_alloc(n->n_sites, sizeof(*a->sender));
	a->arrivals = map_alloc(n->n_workers * sizeof(*a->arrivals));
	for (s = 0; s < n->n_nodes; s++)
		sim_post(sim_owner(n->sim, s), s, 0,
			SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT), 0, 0);
}

static uint64_t arrived(const struct alltoall *a, sim_time *last)
{
	uint64_t n = 0;
	uint32_t i;

	*last = 0;
	for (i = 0; i < a->bench.programs.load.net->n_workers; i++) {
		n += a->arrivals[i].n;
		if (a->arrivals[i].last > *last)
			*last = a->arrivals[i].last;
	}
	return n;
}

static sim_time alltoall_next(struct load *l)
{
	struct alltoall *a = of(l);
	struct load_progress p = { .now = sim_now(l->net->sim) };
	sim_time last;
	uint64_t n = arrived(a, &last);

	if (n == a->expected)
		return SIM_NEVER;
	if (l->on_progress) {
		p.hops = net_total(l->net).hops;
		p.per_mille = (uint32_t)(n * 1000 / a->expected);
		l->on_progress(l->progress_arg, &p);
	}
	return p.now + a->slice;
}

static void alltoall_report(struct load *l, struct load_result *r)
{
	struct alltoall *a = of(l);
	uint64_t n = l->net->n_nodes;
	sim_time last;
	uint32_t i;

	r->has_peak = a->peak > 0;
	r->peak_bps = a->peak;
	for (i = 0; i < l->net->n_workers; i++)
		hist_merge(&r->latency, &a->arrivals[i].latency);
	if (arrived(a, &last) != a->expected)
		return;
	r->end = last;
	r->has_throughput = true;
	r->measured = last;
	r->bytes = n * (n - 1) * (uint64_t)a->bench.bytes;
	load_figure(r, "time_ns", (double)last / SIM_NS);
}

static void alltoall_fini(struct load *l)
{
	struct alltoall *a = of(l);

	mem_free(a->sender);
	if (l->net)
		map_free(a->arrivals, l->net->n_workers * sizeof(*a->arrivals));
}

const struct load_ops load_alltoall = {
	.name = "alltoall",
	.help = "every node sends a message to every other node",
	.size = sizeof(struct alltoall),
	PARAMS(params),
	.client = &client,
	.init = alltoall_init,
	.start = alltoall_start,
	.next = alltoall_next,
	.report = alltoall_report,
	.fini = alltoall_fini,
};
