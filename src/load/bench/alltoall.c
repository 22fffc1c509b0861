/*
 * All-to-all: every node sends the same number of bytes to every other node,
 * once.
 *
 * By packets of the network: a message longer than a packet goes in rounds, one
 * packet to every other node per round, each round and node in a random order
 * of its own.
 *
 * By programs: every process puts a message into every other one's memory, with
 * different bytes for each pair, and waits until a counter reports that all
 * have arrived.  A process is known by its rank, which is its node where a node
 * has one process.  One driver puts whole messages.  The other one cuts
 * messages into packets, so that one goes to every other node before a second
 * one does, in a different order in each round, as Blue Gene/L's library did.
 */
#include "base/mem.h"
#include "load/bench/bench.h"
#include "load/keys.h"
#include "load/order.h"
#include "load/registry.h"
#include "sim/random.h"

#define AT(field) offsetof(struct alltoall, field)
#define MOST_REAL (UINT64_C(1) << 30) /* of all nodes, where nobody says */

enum { LINE = 128, QUEUE_BYTES = 4 << 10, SLICES = 200 };

struct sender {
	uint32_t round, step; /* the next packet */
	packet_id pending; /* made, but its FIFO was full */
};

struct alltoall {
	struct bench bench;
	/* keys */
	int64_t routing, driver, data, fifos;
	char zones[PARAM_TEXT_MAX];

	uint32_t rounds, last_bytes, full_bytes; /* packets of a message */
	int64_t peak;
	uint64_t expected; /* packets in all */

	/* via=net */
	uint8_t kind;
	sim_time slice;
	struct sender *sender;

	/* by programs */
	bool is_synthetic;
	uint64_t n_ranks;
};

static const struct param params[] = {
	KEY_BYTES("bytes", AT(bench.bytes), "512", 1, 1 << 24,
		"length of each message"),
	KEY_WORD("via", AT(bench.via), "net", "net|nic|msg|endpoint",
		"layer; net: packets that enter the injection FIFOs directly; "
		"nic: programs that use the network interface; msg: programs "
		"that use weft/msg.h, on any machine; endpoint: messages as "
		"ranks of MPI programs send them"),
	KEY_PROCS(AT(bench.procs)),
	KEY_BY(AT(bench.by)),
	KEY_MEMORIES(AT(bench.source), AT(bench.target)),
	KEY_ROUTING(AT(routing), "dynamic"),
	KEY_ZONES(AT(zones)),
	KEY_WORD("driver", AT(driver), "rounds", "rounds|messages",
		"order of the programs' puts, to one destination after "
		"another; rounds: a put for each packet, as with via=net; "
		"messages: a put for each message"),
	KEY_COUNT("fifos", AT(fifos), "16", 1, 128,
		"number of injection FIFOs or command queues over which a node "
		"spreads its puts, with via=nic"),
	KEY_WORD("data", AT(data), "auto", "auto|real|synthetic",
		"data of programs; real: bytes in memory; synthetic: bytes "
		"that are generated when read and checked when written; auto: "
		"real up to 1 GiB in all"),
};

static struct alltoall *of(const struct bench_end *x)
{
	return (struct alltoall *)x->bench;
}

/* --- packets --- */

static packet_id make_packet(
	struct alltoall *a, struct net *net, struct sim_worker *w, site_id s)
{
	struct sender *from = &a->sender[s];
	uint32_t n = net->n_nodes, off;
	uint64_t key;
	packet_id id;

	if (from->round == a->rounds)
		return NO_PACKET;
	key = random_draw(
		a->bench.programs.load.seed, s, RANDOM_TARGET, from->round)
		      .a;
	off = 1 + order_at(key, n - 1, from->step);
	id = packet_take(net->pool, w->id);
	net->packets[id] = (struct packet){
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

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t first, sim_time t)
{
	struct alltoall *a = me->state;
	struct sender *from = &a->sender[s];
	struct net *n = me->net;

	for (;;) {
		packet_id id = from->pending;
		uint32_t fifo;

		if (!id && !(id = make_packet(a, n, w, s)))
			return;
		from->pending = id;
		fifo = load_find_fifo(n, s, id, first);
		if (fifo == NET_NO_FIFO)
			return;
		from->pending = NO_PACKET;
		n->packets[id].born = t;
		net_inject(n, w, s, fifo, id, t);
	}
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	(void)e;
	on_room(me, w, s, 0, t);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *n = me->net;

	(void)fifo;
	(void)t;
	programs_delivered(me->state, s, &n->packets[id], tail);
	packet_give(n->pool, w->id, id);
}

static const struct net_client_ops client = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.is_sink = true,
};

static void packets_start(struct load *l)
{
	struct alltoall *a = (struct alltoall *)l;

	programs_open(&a->bench.programs);
	a->sender = mem_alloc(l->net->n_sites, sizeof(*a->sender));
	for (site_id s = 0; s < l->net->n_nodes; s++)
		load_wake(l, s, 0, 0);
}

static sim_time packets_next(struct load *l)
{
	struct alltoall *a = (struct alltoall *)l;
	sim_time last;
	uint64_t n = programs_arrived(&a->bench.programs, &last);

	if (n == a->expected)
		return SIM_NEVER;
	load_tell(l, (uint32_t)(n * 1000 / a->expected));
	return sim_now(l->net->sim) + a->slice;
}

static void packets_report(struct load *l, struct load_result *r)
{
	struct alltoall *a = (struct alltoall *)l;
	uint64_t n = l->net->n_nodes;
	sim_time last;

	r->has_peak = a->peak > 0;
	r->peak_bps = a->peak;
	programs_latency(&a->bench.programs, r);
	if (programs_arrived(&a->bench.programs, &last) != a->expected)
		return;
	r->end = last;
	r->has_throughput = true;
	r->measured = last;
	r->bytes = n * (n - 1) * (uint64_t)a->bench.bytes;
	load_figure(r, "time_ns", (double)last / SIM_NS);
}

static void packets_fini(struct load *l)
{
	mem_free(((struct alltoall *)l)->sender);
	programs_fini(l);
}

/* --- bytes --- */

/* Of other nodes there are n - 1, of which this is the i-th for a node. */
static uint64_t index_of(site_id node, site_id other)
{
	return other < node ? other : other - 1;
}

static site_id other_of(site_id node, uint64_t index)
{
	return (site_id)(index < node ? index : index + 1);
}

/* Bytes that a node receives: those of all others, one after the other. */
static uint64_t bytes_of(const struct alltoall *a)
{
	return (a->n_ranks - 1) * (uint64_t)a->bench.bytes;
}

static uint64_t target_at(const struct alltoall *a)
{
	return BENCH_SOURCE + (bytes_of(a) + LINE - 1) / LINE * LINE;
}

/* Where in a node's source or target another one's bytes are. */
static uint64_t offset_of(const struct alltoall *a, site_id node, site_id other)
{
	return index_of(node, other) * (uint64_t)a->bench.bytes;
}

static uint64_t owner_of(site_id from, site_id to)
{
	return (uint64_t)from << 32 | to;
}

static uint64_t owner(const struct bench_end *x, uint64_t i, bool is_source)
{
	site_id other = other_of(x->rank, i);

	return is_source ? owner_of(x->rank, other) : owner_of(other, x->rank);
}

static bool make_synthetic(struct bench_end *x)
{
	uint64_t bytes = bytes_of(of(x));

	return bench_add_source(x, BENCH_SOURCE, bytes) &&
	       bench_add_target(x, 0, target_at(of(x)), bytes);
}

/* Goes through the bytes of a region where they are stored. */
struct cursor {
	uint64_t at;
	uint8_t *bytes;
};

/* The next ones that lie side by side, *n at most; *n is how many. */
static uint8_t *next_bytes(struct cursor *c, size_t *n)
{
	size_t left = MEMORY_PAGE - c->at % MEMORY_PAGE;
	uint8_t *bytes;

	if (left == MEMORY_PAGE || !c->bytes)
		c->bytes = program_place(c->at, 1);
	*n = *n < left ? *n : left;
	bytes = c->bytes;
	c->bytes += *n;
	c->at += *n;
	return bytes;
}

/* Makes, or looks at, the next message; false where it is wrong. */
static bool go_on(
	struct bench_end *x, uint64_t owner, struct cursor *c, bool is_source)
{
	size_t at = 0, end = (size_t)x->bench->bytes, n;
	uint64_t seed = x->load->seed;

	for (; at < end; at += n) {
		uint8_t *bytes;

		n = end - at;
		bytes = next_bytes(c, &n);
		if (is_source)
			memory_fill_by(seed, owner, at, bytes, n);
		else if (!memory_is_by(seed, owner, at, bytes, n))
			return false;
	}
	return true;
}

/* Of a GPU's memory nothing can be looked at in place. */
static bool make_message(struct bench_end *x, uint64_t i, struct cursor *c)
{
	if (!x->bench->source)
		return go_on(x, owner(x, i, true), c, true);
	bench_make(x, owner(x, i, true),
		BENCH_SOURCE + i * (uint64_t)x->bench->bytes,
		(uint64_t)x->bench->bytes);
	return true;
}

static bool is_message(struct bench_end *x, uint64_t i, struct cursor *c)
{
	if (!x->bench->target)
		return go_on(x, owner(x, i, false), c, false);
	return bench_check(x, owner(x, i, false),
		target_at(of(x)) + i * (uint64_t)x->bench->bytes,
		(uint64_t)x->bench->bytes);
}

static bool make_real(struct bench_end *x)
{
	struct cursor c = { .at = program_base() + BENCH_SOURCE };

	/* what it sends and what comes */
	program_reserve(2 * bytes_of(of(x)));
	for (uint64_t i = 0; i < of(x)->n_ranks - 1; i++)
		make_message(x, i, &c);
	return true;
}

static bool check_real(struct bench_end *x)
{
	struct cursor c = { .at = program_base() + target_at(of(x)) };

	for (uint64_t i = 0; i < of(x)->n_ranks - 1; i++)
		if (!is_message(x, i, &c))
			return programs_complain(x->programs,
				"wrong bytes from rank %u",
				other_of(x->rank, i));
	return true;
}

/* --- the program --- */

/* Each piece of each message, in the driver's order. */
static void send_all(struct bench_end *x)
{
	const struct alltoall *a = of(x);
	uint32_t n = (uint32_t)a->n_ranks, i;
	bool is_cut = !a->driver && !bench_tagged(x);
	uint32_t rounds = is_cut ? a->rounds : 1;
	uint64_t left = (uint64_t)a->bench.bytes, at = 0;
	struct bench_transfer p = bench_transfer(x, 0, 0);
	struct order order;

	for (uint32_t round = 0; round < rounds; round++) {
		order_init(&order,
			random_draw(a->bench.programs.load.seed, x->rank,
				RANDOM_TARGET, round)
				.a,
			n - 1);
		p.bytes = is_cut && left > a->full_bytes ? a->full_bytes : left;
		for (i = 0; i < n - 1; i++) {
			p.node = (x->rank + 1 + order_look(&order, i)) % n;
			p.to = target_at(a) + offset_of(a, p.node, x->rank) +
			       at;
			p.from = BENCH_SOURCE + offset_of(a, x->rank, p.node) +
				 at;
			if (bench_tagged(x))
				bench_tagged(x)->send(
					x, p.node, p.from, p.bytes);
			else
				x->driver->put(x, &p);
		}
		at += p.bytes;
		left -= p.bytes;
	}
}

/* Receives for the messages of all others. */
static bool post_all(struct bench_end *x)
{
	const struct alltoall *a = of(x);

	for (uint64_t i = 0; i < a->n_ranks - 1; i++)
		if (!bench_tagged(x)->post(x, other_of(x->rank, i),
			    target_at(a) + i * (uint64_t)a->bench.bytes,
			    (uint64_t)a->bench.bytes))
			return false;
	return true;
}

static bool receive_all(struct bench_end *x)
{
	for (uint64_t i = 0; i < of(x)->n_ranks - 1; i++)
		if (!bench_tagged(x)->await(x))
			return false;
	return bench_tagged(x)->finish(x);
}

static bool prepare(struct bench_end *x)
{
	if (!(of(x)->is_synthetic ? make_synthetic(x) : make_real(x)))
		return false;
	if (bench_tagged(x))
		return post_all(x);
	x->driver->expect(x, 0, bytes_of(of(x)));
	return true;
}

static bool transfer(struct bench_end *x)
{
	send_all(x);
	return bench_tagged(x) ? receive_all(x) : x->driver->await(x, 0);
}

static void check(struct bench_end *x)
{
	if (of(x)->is_synthetic)
		bench_check_target(x, 0, bytes_of(of(x)), 1);
	else
		check_real(x);
}

static const struct bench_program program = {
	.prepare = prepare,
	.transfer = transfer,
	.check = check,
};

static int ranks_init(struct load *l, struct err *e)
{
	struct alltoall *a = (struct alltoall *)l;
	uint64_t packets = a->rounds * (load_n_nodes(l) - UINT64_C(1)), bytes;
	struct bench_needs n = {
		.n_programs = load_n_nodes(l),
		.n_puts = a->driver ? 0 : packets,
		.queues = (uint32_t)a->fifos,
		.queue_bytes = QUEUE_BYTES,
		.routing = a->routing,
		.is_msg = a->bench.via >= 2,
		.is_endpoint = a->bench.via == 3,
		.is_for_all = true,
		.is_for_rate = a->bench.via == 3,
		.has_receives = a->bench.via == 3,
	};

	a->n_ranks = load_n_nodes(l) * (uint64_t)a->bench.procs;
	bytes = bytes_of(a);
	a->is_synthetic =
		a->data ? a->data == 2 : 2 * bytes > MOST_REAL / a->n_ranks;
	a->bench.piece = (uint64_t)a->bench.bytes;
	a->bench.owner = owner;
	a->bench.target_from = target_at(a);
	a->bench.programs.expected = a->expected;
	n.memory = target_at(a) + bytes;
	n.touched = bench_synthetic(&a->bench, 2 * bytes) +
		    (a->is_synthetic ? 0 : 2 * bytes);
	return bench_init(&a->bench, &n, e);
}

static void ranks_start(struct load *l)
{
	bench_start_all((struct bench *)l, &program);
}

static void ranks_report(struct load *l, struct load_result *r)
{
	struct alltoall *a = (struct alltoall *)l;

	/* not all of it crosses the network where a node has several */
	r->has_peak = a->peak > 0 && a->bench.procs == 1;
	r->peak_bps = a->peak;
	if (!bench_report(&a->bench, r))
		return;
	r->has_throughput = true;
	r->measured = bench_time(&a->bench);
	r->bytes = a->n_ranks * bytes_of(a);
	load_figure(r, "time_ns", (double)r->measured / SIM_NS);
}

/* What init() changes to where programs send. */
static const struct load_ops programs_ops = {
	.name = "alltoall",
	.can_share = true,
	.cuts = true,
	BENCH_OPS,
	.init = ranks_init,
	.start = ranks_start,
	.report = ranks_report,
};

/* --- the course of a run --- */

static int alltoall_init(struct load *l, struct err *e)
{
	const struct topo *t = l->topo;
	struct alltoall *a = (struct alltoall *)l;
	uint64_t n = t->n_nodes;
	int64_t full = link_longest(l->link);

	if (n < 2)
		return err_set(e, "alltoall needs at least two nodes");
	bench_set_processes(&a->bench, a->bench.via >= 2);
	if (load_set_zones(l->route, a->zones, e))
		return -1;
	a->full_bytes = (uint32_t)full;
	if (!a->full_bytes)
		return err_set(e, "link.payload: alltoall needs packets with a "
				  "payload, not 0 B");
	a->rounds = (uint32_t)((a->bench.bytes + full - 1) / full);
	a->last_bytes =
		(uint32_t)(a->bench.bytes - (int64_t)(a->rounds - 1) * full);
	a->kind = load_kind(0, a->routing);
	a->peak = load_peak(t, l->link,
		a->bench.bytes < l->link->payload ? (uint32_t)a->bench.bytes
						  : (uint32_t)l->link->payload);
	if (!a->bench.via && a->bench.procs > 1)
		return err_set(e, "procs: via=net has no processes (want "
				  "via=nic or via=msg)");
	if (!a->bench.via && bench_has_gpus(&a->bench))
		return err_set(e, "source and target: via=net has no memories "
				  "(want via=nic or via=msg)");
	n *= (uint64_t)a->bench.procs;
	a->expected = n * (n - 1) * a->rounds;
	if (a->bench.via) {
		l->ops = &programs_ops;
		return l->ops->init(l, e);
	}
	/* for the progress line: by the peak, or a guess where there is none */
	a->slice = (sim_time)((double)(n * (uint64_t)a->bench.bytes) * 1e12 /
			      (double)(a->peak ? a->peak : l->link->rate) /
			      SLICES) +
		   1000 * SIM_NS;
	return 0;
}

const struct load_ops load_alltoall = {
	.name = "alltoall",
	.help = "every node sends a message to every other node",
	.size = sizeof(struct alltoall),
	PARAMS(params),
	.client = &client,
	.init = alltoall_init,
	.start = packets_start,
	.next = packets_next,
	.report = packets_report,
	.fini = packets_fini,
};
