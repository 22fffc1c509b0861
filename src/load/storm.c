/*
 * Puts, DMAs and gets of random sizes between random nodes of QsNetII, for
 * machines on which things go wrong.
 *
 * Each node has some programs, each with a command queue and, at each of its
 * partners, a place of its own, between guards.  A program writes there, waits
 * until that is acknowledged, and reads all of it back: the bytes must be
 * those, and the guards and what lies behind the bytes must be as before.  So
 * what is lost, doubled late, or elsewhere is seen.  What has come to a node
 * is counted by an event besides, byte by byte, and must be what was sent.
 *
 * A queue that the card has stopped, because a node is gone, is restarted, and
 * its program goes on with the next message.  Rogues are programs that break
 * the rules of their own queues all the time.
 */
#include "load/storm.h"

#include <string.h>

#include "api/elan.h"
#include "base/mem.h"
#include "load/programs.h"
#include "load/rogue.h"
#include "sim/random.h"

#define AT(field) offsetof(struct storm, field)

enum {
	PARTNERS = 16,
	GUARD = 64,
	MOST_BYTES = 64 << 10,
	CONSTANT = 16 << 10, /* bytes for gets */
	EVENT_TARGET = 1,
	EVENT_LANE = 2, /* and the following */
	MOST_LANES = 16,
};

/* Addresses, the same on all nodes. */
#define WORDS_AT    UINT64_C(0x1000)
#define CONSTANT_AT UINT64_C(0x10000)
#define SOURCE_AT   UINT64_C(0x1000000)
#define BACK_AT	    UINT64_C(0x2000000)
#define TARGET_AT   UINT64_C(0x4000000)

#define ARMED INT64_C(0x4000000000000)

enum { OP_PUT, OP_DMA, OP_GET };

struct storm;

/* One partner's place, as it should be. */
struct place {
	site_id node;
	uint32_t first; /* the first one at that node */
	uint8_t *bytes; /* of an area */
	bool is_unknown; /* a message to it has failed */
};

struct lane {
	struct storm *storm;
	site_id node;
	uint32_t number; /* on the node */
	uint32_t stream; /* of random numbers */
	struct place place[PARTNERS];
	uint64_t sent, checked; /* messages, bytes */
	uint64_t value; /* of its event, the last one */
	bool is_over; /* it has sent all */
	uint64_t *failed; /* numbers of messages */
	uint32_t n_failed;
};

struct storm {
	struct programs programs;
	/* keys */
	int64_t count, bytes, lanes, rogues, deeds;

	struct lane *lane;
	struct rogue *rogue;
	uint32_t n_lanes;
	site_id n_nodes;
	uint64_t area;
};

static const struct param params[] = {
	{ .name = "count",
		.type = PARAM_COUNT,
		.offset = AT(count),
		.def = "10000",
		.min = 1,
		.max = INT64_C(1000000000),
		.help = "messages, of all nodes" },
	{ .name = "bytes",
		.type = PARAM_BYTES,
		.offset = AT(bytes),
		.def = "2 KiB",
		.min = 8,
		.max = MOST_BYTES,
		.help = "of a message, at most; whole words" },
	{ .name = "lanes",
		.type = PARAM_COUNT,
		.offset = AT(lanes),
		.def = "2",
		.min = 1,
		.max = MOST_LANES,
		.help = "programs of a node, with a queue each" },
	{ .name = "rogues",
		.type = PARAM_COUNT,
		.offset = AT(rogues),
		.def = "0",
		.min = 0,
		.max = TOPO_MAX_ROUTERS,
		.help = "nodes, the last ones, that have a program more, which "
			"breaks its queue's rules" },
	{ .name = "deeds",
		.type = PARAM_COUNT,
		.offset = AT(deeds),
		.def = "20",
		.min = 1,
		.max = 1000000,
		.help = "how often each of them does" },
};

static struct storm *of(struct load *l)
{
	return (struct storm *)l;
}

/* --- messages --- */

struct message {
	uint64_t number;
	uint32_t op, partner;
	site_id dst;
	uint64_t bytes, at; /* at: of a get, in the constants */
};

/* Any node but its own; those that are the same share a place. */
static void choose_partners(struct lane *l)
{
	const struct storm *m = l->storm;
	uint32_t i;

	for (i = 0; i < PARTNERS; i++) {
		struct place *p = &l->place[i];
		uint64_t x = random_draw(
			m->programs.load.seed, l->stream, RANDOM_PATTERN, i)
				     .a;

		p->node = (site_id)((l->node + 1 +
					    random_below(x, m->n_nodes - 1)) %
				    m->n_nodes);
		while (l->place[p->first].node != p->node)
			p->first++;
		p->bytes = mem_alloc(m->area, 1);
	}
}

/* Sizes are spread over the powers of two. */
static uint64_t size(uint64_t bits, uint64_t most)
{
	uint32_t steps = 64 - (uint32_t)__builtin_clzll(most / 8);
	uint64_t top = UINT64_C(8) << bits % steps;
	uint64_t n = top / 2 + random_below(bits << 8, top / 2 + 1);

	n = (n + 7) / 8 * 8;
	return n < most ? n : most;
}

static struct message message(const struct lane *l, uint64_t k)
{
	const struct storm *m = l->storm;
	struct random_bits r =
		random_draw(m->programs.load.seed, l->stream, RANDOM_TARGET, k);
	struct message x = {
		.number = (uint64_t)l->stream << 32 | k,
		.op = (uint32_t)(r.a % 5 / 2),
		.partner = (uint32_t)(r.a >> 8) % PARTNERS,
	};
	uint64_t most = (uint64_t)m->bytes;

	if (x.op == OP_GET && most > ELAN_PACKET)
		most = ELAN_PACKET;
	x.partner = l->place[x.partner].first;
	x.dst = l->place[x.partner].node;
	x.bytes = size(r.b, most);
	x.at = (r.b >> 20) % ((CONSTANT - ELAN_PACKET) / 8) * 8;
	return x;
}

/* How many a lane has. */
static uint64_t share(const struct storm *m, uint32_t lane)
{
	uint64_t n = (uint64_t)m->count, all = m->n_lanes;

	return n / all + (lane < n % all);
}

/* --- the programs' parts --- */

static uint64_t word_at(const struct lane *l)
{
	return WORDS_AT + 64 * l->number;
}

static uint64_t area_at(const struct lane *l, uint64_t base)
{
	return base + l->number * l->storm->area;
}

/* Where a lane writes at a partner. */
static uint64_t place_at(const struct lane *l)
{
	return TARGET_AT + (l->node * (uint64_t)l->storm->lanes + l->number) *
				   l->storm->area;
}

static uint32_t arm(struct lane *l, struct elan_cq *q, uint64_t count)
{
	elan_arm(q, EVENT_LANE + l->number, count, word_at(l), ++l->value);
	return EVENT_LANE + l->number;
}

/* The event has fired; false where the message has failed. */
static bool is_done(struct lane *l, struct elan_cq *q)
{
	if (elan_wait_event(q, word_at(l), l->value))
		return true;
	rogue_restart(&l->storm->programs, q);
	return false;
}

static bool fetch(struct lane *l, struct elan_cq *q, site_id from, uint64_t at,
	uint64_t bytes)
{
	uint64_t to = area_at(l, BACK_AT), done = 0;
	uint32_t event = arm(l, q, bytes);

	while (done < bytes) {
		uint32_t n = bytes - done < ELAN_PACKET
				     ? (uint32_t)(bytes - done)
				     : ELAN_PACKET;

		elan_get(q, from, at + done, to + done, n, event);
		done += n;
	}
	return is_done(l, q);
}

static bool is_same(struct lane *l, const uint8_t *want, uint64_t from,
	uint64_t bytes, const char *what, uint64_t number)
{
	uint8_t got[1024];
	uint64_t at, n;

	for (at = 0; at < bytes; at += n) {
		n = bytes - at < sizeof(got) ? bytes - at : sizeof(got);
		program_read(area_at(l, BACK_AT) + from + at, got, n);
		if (!memcmp(want + at, got, n))
			continue;
		return programs_complain(&l->storm->programs,
			"message %llu: wrong %s within %llu bytes",
			(unsigned long long)number, what,
			(unsigned long long)n);
	}
	l->checked += bytes;
	return true;
}

/* Reads a place back, with its guards, and looks at it. */
static bool look(struct lane *l, struct elan_cq *q, const struct message *x)
{
	const struct place *p = &l->place[x->partner];
	uint64_t all = l->storm->area;

	if (!fetch(l, q, x->dst, place_at(l), all))
		return false;
	if (p->is_unknown)
		return is_same(l, p->bytes + GUARD, GUARD, x->bytes, "bytes",
			x->number);
	return is_same(l, p->bytes, 0, all, "bytes or guards", x->number);
}

static bool put(struct lane *l, struct elan_cq *q, const struct message *x)
{
	struct place *p = &l->place[x->partner];
	uint64_t from = area_at(l, SOURCE_AT), to = place_at(l) + GUARD;
	uint64_t parts = x->op == OP_DMA ? 1 : elan_put_packets(x->bytes);
	struct elan_dma d = {
		.bytes = x->bytes,
		.destination = x->dst,
		.from = from,
		.to = to,
		.target_event = EVENT_TARGET,
	};

	memory_fill_by(l->storm->programs.load.seed, x->number, 0,
		p->bytes + GUARD, x->bytes);
	program_write(from, p->bytes + GUARD, x->bytes);
	d.source_event = arm(l, q, parts);
	if (x->op == OP_DMA)
		elan_dma(q, &d);
	else
		elan_put_from(q, x->dst, to, from, x->bytes, EVENT_TARGET,
			(uint32_t)d.source_event);
	if (is_done(l, q))
		return look(l, q, x);
	p->is_unknown = true;
	return false;
}

static void constants(
	const struct storm *m, site_id node, uint64_t at, void *to, size_t n)
{
	memory_fill_by(m->programs.load.seed, ~(uint64_t)node, at, to, n);
}

static bool get(struct lane *l, struct elan_cq *q, const struct message *x)
{
	uint8_t want[ELAN_PACKET];

	if (!fetch(l, q, x->dst, CONSTANT_AT + x->at, x->bytes))
		return false;
	constants(l->storm, x->dst, x->at, want, x->bytes);
	is_same(l, want, 0, x->bytes, "bytes of a get", x->number);
	return true;
}

static void note_failure(struct lane *l, uint64_t k)
{
	if (!(l->n_failed & (l->n_failed - 1)))
		l->failed = mem_grow(l->failed,
			l->n_failed ? 2 * l->n_failed : 1, sizeof(*l->failed));
	l->failed[l->n_failed++] = k;
}

/* What the others read and write here. */
static void prepare(const struct lane *l, struct elan_cq *q)
{
	uint8_t block[1024];
	uint64_t at;

	for (at = 0; at < CONSTANT; at += sizeof(block)) {
		constants(l->storm, l->node, at, block, sizeof(block));
		program_write(CONSTANT_AT + at, block, sizeof(block));
	}
	elan_arm(q, EVENT_TARGET, ARMED, WORDS_AT - 64, 1);
}

static void run_lane(void *arg)
{
	struct lane *l = arg;
	uint64_t k, n = share(l->storm, (uint32_t)(l - l->storm->lane));
	struct elan_cq q;

	if (!programs_did(&l->storm->programs, "elan_cq_open",
		    elan_cq_open(&q, l->number, ELAN_64K, ELAN_MAY_ALL)))
		return;
	if (!l->number)
		prepare(l, &q);
	program_wait(PROGRAMS_START);
	for (k = 0; k < n; k++) {
		struct message x = message(l, k);

		l->sent++;
		if (!(x.op == OP_GET ? get(l, &q, &x) : put(l, &q, &x)))
			note_failure(l, k);
	}
	l->is_over = true;
}

/* --- the course of a run --- */

static int storm_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct storm *m = of(l);
	uint64_t memory;

	(void)r;
	(void)link;
	if (m->bytes % 8)
		return err_set(e, "bytes: want whole words of 8");
	if (t->n_nodes < 2)
		return err_set(e, "storm: needs two nodes");
	if (m->rogues > t->n_nodes)
		return err_set(
			e, "rogues: the machine has %u nodes", t->n_nodes);
	m->n_nodes = t->n_nodes;
	m->n_lanes = t->n_nodes * (uint32_t)m->lanes;
	m->area = (uint64_t)m->bytes + 2 * GUARD;
	memory = TARGET_AT + m->n_lanes * m->area;
	l->needs.n_programs = m->n_lanes + (uint32_t)m->rogues;
	return programs_need_elan(&m->programs, memory, e);
}

static void start_rogues(struct storm *m)
{
	uint32_t i;

	m->rogue = mem_alloc((size_t)m->rogues, sizeof(*m->rogue));
	for (i = 0; i < (uint32_t)m->rogues; i++) {
		struct rogue *r = &m->rogue[i];

		*r = (struct rogue){
			.programs = &m->programs,
			.stream = m->n_lanes + i,
			.deeds = (uint64_t)m->deeds,
		};
		program_start(m->programs.load.host, m->n_nodes - 1 - i,
			(uint32_t)m->lanes, 0, rogue_run, r);
	}
}

static void storm_start(struct load *l)
{
	struct storm *m = of(l);
	uint32_t i;

	programs_open(&m->programs);
	m->programs.may_err = m->rogues;
	m->lane = mem_alloc(m->n_lanes, sizeof(*m->lane));
	for (i = 0; i < m->n_lanes; i++) {
		struct lane *x = &m->lane[i];

		*x = (struct lane){
			.storm = m,
			.node = i / (uint32_t)m->lanes,
			.number = i % (uint32_t)m->lanes,
			.stream = i,
		};
		choose_partners(x);
		program_start(m->programs.load.host, x->node, x->number, 0,
			run_lane, x);
	}
	start_rogues(m);
}

static void storm_report(struct load *l, struct load_result *r)
{
	struct storm *m = of(l);
	uint64_t sent = 0, checked = 0, failed = 0, deeds = 0;
	uint32_t i;

	programs_report(&m->programs, r);
	for (i = 0; m->lane && i < m->n_lanes; i++) {
		sent += m->lane[i].sent;
		checked += m->lane[i].checked;
		failed += m->lane[i].n_failed;
	}
	for (i = 0; m->rogue && i < (uint32_t)m->rogues; i++)
		deeds += m->rogue[i].done;
	load_figure(r, "messages", (double)sent);
	load_figure(r, "failed_messages", (double)failed);
	load_figure(r, "checked_bytes", (double)checked);
	load_figure(r, "misdeeds", (double)deeds);
	load_figure(r, "waiting_programs", (double)host_n_running(l->host));
}

/* What was to come to each node, and what may have. */
static void expect(const struct lane *l, uint64_t *sure, uint64_t *perhaps)
{
	uint32_t f = 0;
	uint64_t k;

	for (k = 0; k < l->sent; k++) {
		struct message x = message(l, k);
		bool failed = f < l->n_failed && l->failed[f] == k;
		/* of the last one of a program that died nothing is known */
		bool hangs = k + 1 == l->sent && !l->is_over;

		f += failed;
		if (x.op == OP_GET)
			continue;
		if (!failed && !hangs)
			sure[x.dst] += x.bytes;
		perhaps[x.dst] += x.bytes;
	}
}

static int storm_check(struct load *l, struct err *e)
{
	struct storm *m = of(l);
	uint64_t *sure, *perhaps;
	int failed = 0;
	uint32_t i;

	if (programs_check(l, e))
		return -1;
	sure = mem_alloc(m->n_nodes, sizeof(*sure));
	perhaps = mem_alloc(m->n_nodes, sizeof(*perhaps));
	for (i = 0; i < m->n_lanes; i++)
		expect(&m->lane[i], sure, perhaps);
	for (i = 0; i < m->n_nodes && !failed; i++) {
		uint64_t came = (uint64_t)(ARMED - elan_event_count(l->nic, i,
							   EVENT_TARGET));

		if (came < sure[i] || came > perhaps[i])
			failed = err_set_code(e, EXIT_INTERNAL,
				"node %u: its event has counted %llu bytes, "
				"and %llu to %llu were sent",
				i, (unsigned long long)came,
				(unsigned long long)sure[i],
				(unsigned long long)perhaps[i]);
	}
	mem_free(sure);
	mem_free(perhaps);
	return failed;
}

static void storm_fini(struct load *l)
{
	struct storm *m = of(l);
	uint32_t i, k;

	for (i = 0; m->lane && i < m->n_lanes; i++) {
		for (k = 0; k < PARTNERS; k++)
			mem_free(m->lane[i].place[k].bytes);
		mem_free(m->lane[i].failed);
	}
	mem_free(m->lane);
	mem_free(m->rogue);
	programs_fini(l);
}

const struct load_ops load_storm = {
	.name = "storm",
	.help = "random puts, DMAs and gets over QsNetII, all bytes checked",
	.size = sizeof(struct storm),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.init = storm_init,
	.start = storm_start,
	.next = programs_next,
	.report = storm_report,
	.check = storm_check,
	.fini = storm_fini,
	.on_delivered = programs_delivered,
};
