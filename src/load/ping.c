/*
 * Pings over QsNetII, between programs on two nodes.
 *
 *	latency   a message goes back and forth, each side seeing it by the
 *	          last word that is written; a get fetches, and waits
 *	stream    one side sends many, the other waits for all of them
 *	both      both sides send many at once
 *
 * The bytes of every message are others, and are looked at.
 */
#include "load/ping.h"

#include "api/elan.h"
#include "load/filled.h"
#include "load/keys.h"

#define AT(field) offsetof(struct ping, field)
#define MIB	  (UINT64_C(1) << 20)

/* Addresses, the same on both nodes. */
#define EVENT_AT  UINT64_C(0x1000)
#define LOCAL_AT  UINT64_C(0x2000)
#define SOURCE_AT (64 * MIB)
#define TARGET_AT (1024 * MIB)
#define MEMORY	  (2048 * MIB)

enum { OP_PUT, OP_DMA, OP_GET };
enum { MODE_LATENCY, MODE_STREAM, MODE_BOTH };
enum { EVENT_TARGET = 1, EVENT_SOURCE, BATCH = 64 };

struct ping;

struct side {
	struct ping *ping;
	uint32_t peer;
	bool begins;
	sim_time from, until;
	/* what the core stored into its queue for the messages, and when the
	 * bus had taken it */
	uint64_t stored;
	sim_time stored_at;
};

struct ping {
	struct programs programs;
	/* keys */
	int64_t op, mode, from, to, bytes, rounds, batch, cpu;

	struct side side[2];
};

static const struct param params[] = {
	{ .name = "op",
		.type = PARAM_WORD,
		.offset = AT(op),
		.def = "put",
		.words = "put|dma|get",
		.help = "short packets by the core, the DMA engine, or a read "
			"of the other node's memory" },
	{ .name = "mode",
		.type = PARAM_WORD,
		.offset = AT(mode),
		.def = "latency",
		.words = "latency|stream|both",
		.help = "back and forth, many in one direction, or many in "
			"both" },
	KEY_NODE("from", AT(from), "0", "the node that begins"),
	KEY_NODE("to", AT(to), "1", "the other one"),
	{ .name = "bytes",
		.type = PARAM_BYTES,
		.offset = AT(bytes),
		.def = "8",
		.min = 8,
		.max = 64 * MIB,
		.help = "of a message, whole words" },
	{ .name = "rounds",
		.type = PARAM_COUNT,
		.offset = AT(rounds),
		.def = "200",
		.min = 1,
		.max = 1000000,
		.help = "how many" },
	{ .name = "batch",
		.type = PARAM_COUNT,
		.offset = AT(batch),
		.def = "1",
		.min = 1,
		.max = BATCH,
		.help = "gets that are asked for at a time" },
	{ .name = "cpu",
		.type = PARAM_COUNT,
		.offset = AT(cpu),
		.def = "0",
		.min = 0,
		.max = HOST_THREADS - 1,
		.help = "of both nodes, that their programs run on" },
};

static struct ping *of(struct load *l)
{
	return (struct ping *)l;
}

/* --- sending --- */

static void send(struct side *s, struct elan_cq *q, uint32_t target_event,
	uint32_t source_event)
{
	const struct ping *g = s->ping;
	uint64_t bytes = (uint64_t)g->bytes;
	struct elan_dma d = {
		.bytes = bytes,
		.destination = s->peer,
		.from = SOURCE_AT,
		.to = TARGET_AT,
		.source_event = source_event,
		.target_event = target_event,
	};

	if (g->op == OP_DMA) {
		elan_dma(q, &d);
		return;
	}
	elan_put_from(q, s->peer, TARGET_AT, SOURCE_AT, bytes, target_event,
		source_event);
}

/* Acknowledgements that a message sets its source event by. */
static uint64_t parts(const struct ping *g)
{
	return g->op == OP_DMA ? 1 : elan_put_packets((uint64_t)g->bytes);
}

/* --- the programs --- */

static void fill(const struct ping *g, uint64_t number)
{
	filled_make(&g->programs, number, SOURCE_AT, (uint64_t)g->bytes);
}

static void wait_for(struct ping *g, uint64_t number)
{
	filled_await(&g->programs, number, TARGET_AT, (uint64_t)g->bytes);
}

static void go_back_and_forth(struct side *s, struct elan_cq *q)
{
	struct ping *g = s->ping;
	uint64_t k, rounds = (uint64_t)g->rounds;

	s->from = program_now();
	for (k = 1; k <= rounds; k++) {
		uint64_t mine = 2 * k + !s->begins, other = 2 * k + s->begins;

		if (!s->begins)
			wait_for(g, other);
		fill(g, mine);
		send(s, q, 0, 0);
		if (s->begins)
			wait_for(g, other);
	}
	s->until = program_now();
}

static void stream(struct side *s, struct elan_cq *q)
{
	struct ping *g = s->ping;
	uint64_t k, rounds = (uint64_t)g->rounds;
	bool sends = s->begins || g->mode == MODE_BOTH;
	bool gets = !s->begins || g->mode == MODE_BOTH;

	fill(g, 1);
	if (gets)
		elan_arm(q, EVENT_TARGET, rounds * (uint64_t)g->bytes, EVENT_AT,
			1);
	if (sends)
		elan_arm(q, EVENT_SOURCE, rounds * parts(g), LOCAL_AT, 1);
	program_wait(PROGRAMS_START);
	s->from = program_now();
	s->stored = q->stored;
	for (k = 0; sends && k < rounds; k++)
		send(s, q, EVENT_TARGET, EVENT_SOURCE);
	s->stored = q->stored - s->stored;
	s->stored_at = q->free_at;
	if (gets) {
		elan_wait_word(EVENT_AT, 1);
		filled_check(&g->programs, 1, TARGET_AT, (uint64_t)g->bytes);
	}
	s->until = program_now();
	if (sends)
		elan_wait_word(LOCAL_AT, 1);
}

/* Each get has a place of its own, whose last word tells that it has come. */
static uint64_t place(const struct ping *g, uint64_t i)
{
	return TARGET_AT + i * (uint64_t)g->bytes;
}

static void get(struct side *s, struct elan_cq *q)
{
	struct ping *g = s->ping;
	uint64_t k, i, n, rounds = (uint64_t)g->rounds, none = 0;
	uint64_t last = (uint64_t)g->bytes - 8;

	if (!s->begins) {
		fill(g, 1);
		return;
	}
	program_wait(PROGRAMS_START);
	s->from = program_now();
	for (k = 0; k < rounds; k += n) {
		n = rounds - k < (uint64_t)g->batch ? rounds - k
						    : (uint64_t)g->batch;
		for (i = 0; i < n; i++)
			program_write(place(g, i) + last, &none, 8);
		for (i = 0; i < n; i++)
			elan_get(q, s->peer, SOURCE_AT, place(g, i),
				(uint32_t)g->bytes, 0);
		for (i = 0; i < n; i++)
			elan_wait_word(place(g, i) + last, 1);
	}
	s->until = program_now();
	filled_check(&g->programs, 1, TARGET_AT, (uint64_t)g->bytes);
}

static void run(void *arg)
{
	struct side *s = arg;
	struct elan_cq q;

	if (!programs_did(&s->ping->programs, "elan_cq_open",
		    elan_cq_open(&q, 0, ELAN_64K, ELAN_MAY_ALL)))
		return;
	program_wait(PROGRAMS_START / 2);
	if (s->ping->op == OP_GET)
		get(s, &q);
	else if (s->ping->mode == MODE_LATENCY)
		go_back_and_forth(s, &q);
	else
		stream(s, &q);
}

/* --- the course of a run --- */

static int ping_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	const struct elan_params *p = l->nic_params;
	struct ping *g = of(l);

	(void)r;
	(void)link;
	l->needs.n_programs = 2;
	if (programs_need_elan(&g->programs, MEMORY, e) ||
		load_check_pair(t, g->from, g->to, e))
		return -1;
	if (g->bytes % 8)
		return err_set(e, "bytes: want whole words of 8");
	if (g->op == OP_GET && g->bytes > ELAN_PACKET)
		return err_set(
			e, "bytes: a get brings at most %d", ELAN_PACKET);
	if (g->op == OP_GET && g->mode != MODE_LATENCY)
		return err_set(e, "mode: gets have none; batch says how many "
				  "are under way");
	if (g->op != OP_GET && g->batch > 1)
		return err_set(e, "batch: only gets have one");
	if (g->cpu >= p->cpus)
		return err_set(
			e, "cpu: a node has nic.cpus=%lld", (long long)p->cpus);
	return 0;
}

static void ping_start(struct load *l)
{
	struct ping *g = of(l);
	uint32_t i;

	programs_open(&g->programs);
	for (i = 0; i < 2; i++) {
		g->side[i] = (struct side){
			.ping = g,
			.peer = (uint32_t)(i ? g->from : g->to),
			.begins = !i,
		};
		program_start(g->programs.load.host,
			(site_id)(i ? g->to : g->from), (uint32_t)g->cpu, 0,
			run, &g->side[i]);
	}
}

/* From the card that sends to the bus behind the one that receives. */
static void report_network(const struct ping *g, struct load_result *r)
{
	struct elan_counts x =
		elan_counts(g->programs.load.nic, (site_id)g->to);
	struct elan_counts y =
		elan_counts(g->programs.load.nic, (site_id)g->from);
	uint64_t n = x.networked + y.networked;

	if (n)
		load_figure(r, "network_ns",
			(double)(x.network_ps + y.network_ps) / SIM_NS /
				(double)n);
}

/* What reads and writes of memory carried on the bus, in the mean. */
static void report_bursts(const struct ping *g, struct load_result *r)
{
	struct elan_counts x =
		elan_counts(g->programs.load.nic, (site_id)g->from);
	struct elan_counts y =
		elan_counts(g->programs.load.nic, (site_id)g->to);
	double bytes = (double)g->rounds * (double)g->bytes;

	if (g->op == OP_DMA && x.reads)
		load_figure(r, "read_B", bytes / (double)x.reads);
	if (y.writes)
		load_figure(r, "write_B", bytes / (double)y.writes);
}

static void report_rates(const struct ping *g, struct load_result *r)
{
	const struct side *a = &g->side[0], *b = &g->side[1];
	double bytes = (double)g->rounds * (double)g->bytes * 1e6;
	sim_time until = a->until > b->until ? a->until : b->until;

	if (g->mode == MODE_BOTH) {
		load_figure(
			r, "out_MBps", bytes / (double)(b->until - b->from));
		load_figure(
			r, "back_MBps", bytes / (double)(a->until - a->from));
		bytes *= 2;
	}
	load_figure(r, "total_MBps", bytes / (double)(until - a->from));
	if (g->op == OP_PUT)
		load_figure(r, "stored_MBps",
			(double)a->stored * 1e6 /
				(double)(a->stored_at - a->from));
	report_bursts(g, r);
}

static void ping_report(struct load *l, struct load_result *r)
{
	struct ping *g = of(l);
	double took = (double)(g->side[0].until - g->side[0].from) / SIM_NS /
		      (double)g->rounds;

	programs_report(&g->programs, r);
	if (r->ending != LOAD_FINISHED || !g->side[0].until)
		return;
	report_network(g, r);
	if (g->op == OP_GET)
		load_figure(r, "get_ns", took);
	else if (g->mode == MODE_LATENCY)
		load_figure(r, "one_way_ns", took / 2);
	else
		report_rates(g, r);
}

const struct load_ops load_ping = {
	.name = "ping",
	.help = "puts, DMAs or gets between two nodes of QsNetII",
	.size = sizeof(struct ping),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.init = ping_init,
	.start = ping_start,
	.next = programs_next,
	.report = ping_report,
	.check = programs_check,
	.fini = programs_fini,
	.on_delivered = programs_delivered,
};
