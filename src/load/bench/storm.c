/*
 * Puts and gets of random sizes between random nodes, also for machines with
 * faults.
 *
 * Each node has some programs, each with a queue and, at each of its partners,
 * a place of its own between guards.  A program writes there, by any of the
 * driver's means, waits for the acknowledgement, and reads all of it back: the
 * bytes must be right, and the guards and the bytes after the message must be
 * unchanged.  So lost, duplicated and misplaced bytes are found.  Without
 * acknowledgements it reads until the bytes are there.  If the interface can,
 * it also changes a word of that place, and sends blocks that partners take.
 * What the interface leaves to software, such as routes, can be chosen at
 * random. The bytes that arrive at a node are also counted, and must be those
 * sent.
 *
 * If a message fails because a node is gone, its program continues with the
 * next one.  If a failure does not say what was done, the program reads the
 * place: each word must be the old or the new one.  Rogues are programs that
 * keep breaking the rules of their own queues.
 */
#include <string.h>

#include "base/mem.h"
#include "load/bench/bench.h"
#include "load/bench/storm.h"
#include "load/keys.h"
#include "load/registry.h"
#include "sim/random.h"

#define AT(field) offsetof(struct storm, field)

/* Addresses, the same on all nodes. */
#define SOURCE_AT   BENCH_FREE
#define BACK_AT	    UINT64_C(0x2000000)
#define CONSTANT_AT UINT64_C(0x3000000)
#define OVER_AT	    UINT64_C(0x30f0000)
#define PLACES_AT   UINT64_C(0x3100000)
#define TARGET_AT   UINT64_C(0x4000000)

/* The longest wait at the end without progress of other programs. */
static const sim_time IDLE = 100000000 * (sim_time)SIM_NS;

static const struct param params[] = {
	KEY_VIA(AT(bench.via)),
	KEY_MEMORIES(AT(bench.source), AT(bench.target)),
	KEY_COUNT("count", AT(count), "10000", 1, INT64_C(1000000000),
		"total number of messages"),
	KEY_BYTES("bytes", AT(bench.bytes), "2 KiB", 8, MOST_BYTES,
		"length of the longest message; all messages are whole words"),
	KEY_WORD("kinds", AT(kinds), "usual", "usual|all",
		"kinds of messages; usual: puts and gets, and atomics and "
		"blocks if the interface acknowledges them; all: on Blue "
		"Gene/Q also atomics, messages into reception FIFOs, and all "
		"routes"),
	KEY_PORT(AT(bench.port)),
	KEY_COUNT("lanes", AT(lanes), "2", 1, MOST_LANES,
		"number of programs of each node, each with its own queue; "
		"reduced to one if a node cannot have more, as with via=msg"),
	KEY_COUNT("rogues", AT(rogues), "0", 0, TOPO_MAX_ROUTERS,
		"number of nodes, counted from the last, with an additional "
		"rogue program that breaks the rules of its queue; only on "
		"Elan4, Gemini, APEnet+ and SWHNI"),
	KEY_COUNT("deeds", AT(deeds), "20", 1, 1000000,
		"number of times that each rogue program breaks a rule"),
	KEY_FLAG("match", AT(match), "no",
		"whether programs also send tagged messages, which receivers "
		"match by random bits of their tags; only on Elan4"),
	KEY_FLAG("demand", AT(demand), "no",
		"whether no page of memory is in the cards' tables at first; "
		"only on Elan4"),
	KEY_COUNT("drop", AT(drop), "0", 0, 100,
		"share of transfers, in per cent, during which the host takes "
		"a random page of its node away from the card; only on Elan4"),
};

static struct storm *of(struct load *l)
{
	return (struct storm *)l;
}

/* --- messages --- */

static void choose_partners(struct lane *l)
{
	const struct storm *m = l->storm;

	for (uint32_t i = 0; i < PARTNERS; i++) {
		struct place *p = &l->place[i];
		uint64_t x = random_draw(m->bench.programs.load.seed, l->stream,
			RANDOM_PATTERN, i)
				     .a;

		p->node = (site_id)((l->node + 1 +
					    random_below(x, m->n_nodes - 1)) %
				    m->n_nodes);
		while (l->place[p->first].node != p->node)
			p->first++;
		p->bytes = mem_alloc(m->area, 1);
	}
	l->before = mem_alloc(m->area, 1);
}

static uint64_t most_send(const struct storm *m)
{
	uint64_t most = m->has_sends ? m->bench.driver->channel->most_bytes : 0;
	uint64_t bytes = (uint64_t)m->bench.bytes;

	return most && most < bytes ? most : bytes;
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

/* Puts twice as often as others. */
static uint32_t op_of(const struct storm *m, uint64_t bits)
{
	if (m->has_changes)
		return (uint32_t)(bits % 10 / 2);
	if (m->has_sends)
		return bits % 7 / 2 < 3 ? (uint32_t)(bits % 7 / 2) : OP_SEND;
	return (uint32_t)(bits % 5 / 2);
}

struct message storm_message(const struct lane *l, uint64_t k)
{
	const struct storm *m = l->storm;
	struct random_bits r = random_draw(
		m->bench.programs.load.seed, l->stream, RANDOM_TARGET, k);
	struct message x = {
		.number = (uint64_t)l->stream << 32 | k,
		.op = op_of(m, r.a),
		.partner = (uint32_t)(r.a >> 8) % PARTNERS,
	};
	uint64_t most = (uint64_t)m->bench.bytes;

	if (x.op == OP_GET && most > MOST_GET)
		most = MOST_GET;
	if (x.op == OP_SEND)
		most = most_send(m);
	x.partner = l->place[x.partner].first;
	x.dst = l->place[x.partner].node;
	x.bytes = size(r.b, most);
	x.at = (r.b >> 20) % ((CONSTANT - MOST_GET) / 8) * 8;
	if (m->kinds == KINDS_ALL)
		x.chance = random_draw(m->bench.programs.load.seed, l->stream,
				   RANDOM_DATA, k)
				   .a |
			   1;
	return x;
}

/* How many a lane has. */
static uint64_t share(const struct storm *m, uint32_t lane)
{
	uint64_t n = (uint64_t)m->count, all = m->n_lanes;

	return n / all + (lane < n % all);
}

/* --- the programs' parts --- */

static uint64_t area_at(const struct lane *l, uint64_t base)
{
	return base + l->number * l->storm->area;
}

/* The address of a lane's place at a partner. */
static uint64_t place_at(const struct lane *l)
{
	return TARGET_AT + (l->node * (uint64_t)l->storm->lanes + l->number) *
				   l->storm->area;
}

/* A place that is in use, or any. */
static uint64_t random_place(const struct lane *l, uint64_t bits)
{
	static const uint64_t used[] = { 0, SOURCE_AT, BACK_AT, CONSTANT_AT };
	const struct storm *m = l->storm;

	if (bits % 8 < 4)
		return used[bits % 8] + l->number * m->area;
	if (bits % 8 < 6)
		return TARGET_AT + random_below(bits, m->n_lanes * m->area);
	return random_below(bits, m->memory);
}

/* The host takes a page of the node away, while a transfer is under way. */
static void drop_page(struct bench_end *x)
{
	struct lane *l = x->data;
	struct random_bits r;

	if (!l->storm->drop)
		return;
	r = random_draw(x->load->seed, l->stream, RANDOM_DATA, l->transfers++);
	if (r.a % 100 < (uint64_t)l->storm->drop)
		x->driver->drop(x, random_place(l, r.b), 1);
}

static bool fetch_by(struct bench_end *x, site_id from, uint64_t at,
	uint64_t bytes, uint64_t chance)
{
	struct bench_transfer g = bench_transfer(x, from, bytes);

	g.from = at;
	g.to = area_at(x->data, BACK_AT);
	g.is_tracked = true;
	g.chance = chance;
	bench_track_gets(x, 1, bytes);
	x->driver->get(x, &g);
	drop_page(x);
	return x->driver->flush(x);
}

static bool fetch(
	struct bench_end *x, site_id from, uint64_t at, uint64_t bytes)
{
	return fetch_by(x, from, at, bytes, 0);
}

/* Whether the bytes that were fetched are the right ones. */
static bool is_same(const struct bench_end *x, const uint8_t *want,
	uint64_t from, uint64_t bytes)
{
	uint8_t got[1024];
	uint64_t n;

	for (uint64_t at = 0; at < bytes; at += n) {
		n = bytes - at < sizeof(got) ? bytes - at : sizeof(got);
		bench_read(x, area_at(x->data, BACK_AT) + from + at, got, n);
		if (memcmp(want + at, got, n) != 0)
			return false;
	}
	return true;
}

static bool complain(struct lane *l, const char *what, uint64_t number)
{
	return programs_complain(&l->storm->bench.programs,
		"message %llu: wrong %s", (unsigned long long)number, what);
}

/* Reads a place back, with its guards, and checks it. */
static bool look(struct bench_end *x, const struct message *m)
{
	struct lane *l = x->data;
	const struct place *p = &l->place[m->partner];
	uint64_t all = l->storm->area, from = p->is_unknown ? GUARD : 0;
	uint64_t bytes = p->is_unknown ? m->bytes : all;
	uint32_t looks = x->driver->is & BENCH_HAS_ACKS ? 1 : MOST_LOOKS;

	while (looks--) {
		if (!fetch(x, m->dst, place_at(l), all))
			return false;
		if (!is_same(x, p->bytes + from, from, bytes))
			continue;
		l->checked += bytes;
		return true;
	}
	return complain(l, "bytes or guards", m->number);
}

/* Checks a fetched word, and takes it over. */
static bool is_old_or_new(
	const struct bench_end *x, struct place *p, uint64_t at)
{
	const struct lane *l = x->data;
	uint64_t got = 0;

	bench_read(x, area_at(l, BACK_AT) + at, &got, 8);
	if (memcmp(&got, p->bytes + at, 8) != 0 &&
		memcmp(&got, l->before + at, 8) != 0)
		return false;
	memcpy(p->bytes + at, &got, 8);
	return true;
}

/* After a failure: finds out what became of the message. */
static bool settle(struct bench_end *x, const struct message *m)
{
	struct lane *l = x->data;
	struct place *p = &l->place[m->partner];
	uint64_t all = l->storm->area, at = 0;
	uint32_t tries = x->driver->is & BENCH_OPEN_ENDED ? MOST_TRIES : 0;

	if (p->is_unknown)
		return false;
	while (tries && !fetch(x, m->dst, place_at(l), all))
		tries--;
	p->is_unknown = !tries;
	while (tries && at < all && is_old_or_new(x, p, at))
		at += 8;
	if (tries && at < all)
		complain(l, "bytes after a failure", m->number);
	return false;
}

/* By one of the driver's means but its own choice, if it has any. */
static uint32_t means_of(const struct bench *b, const struct message *m)
{
	uint32_t n = 1;

	while (b->driver->means[n].name)
		n++;
	return n == 1 ? BENCH_AUTO : 1 + m->op % (n - 1);
}

static bool put(struct bench_end *x, const struct message *m)
{
	struct lane *l = x->data;
	struct place *p = &l->place[m->partner];
	struct bench_transfer b = bench_transfer(x, m->dst, m->bytes);

	b.from = area_at(l, SOURCE_AT);
	b.to = place_at(l) + GUARD;
	b.means = means_of(x->bench, m);
	b.is_tracked = true;
	b.chance = m->chance;
	memcpy(l->before, p->bytes, l->storm->area);
	memory_fill_by(x->load->seed, m->number, 0, p->bytes + GUARD, m->bytes);
	bench_write(x, b.from, p->bytes + GUARD, m->bytes);
	bench_track_puts(x, b.means, 1, b.bytes);
	x->driver->put(x, &b);
	drop_page(x);
	return x->driver->flush(x) ? look(x, m) : settle(x, m);
}

static uint64_t changed(enum bench_atomic kind, uint64_t word, uint64_t operand)
{
	switch (kind) {
	case BENCH_STORE:
		return operand;
	case BENCH_MAX:
		return word > operand ? word : operand;
	case BENCH_XOR:
		return word ^ operand;
	case BENCH_OR:
		return word | operand;
	default:
		return word + operand;
	}
}

/* The last word of a place. */
static bool change(struct bench_end *x, const struct message *m)
{
	enum bench_atomic kind =
		(enum bench_atomic)(m->at / 8 % x->driver->atomics->n);
	struct lane *l = x->data;
	struct place *p = &l->place[m->partner];
	uint64_t operand = x->driver->atomics->adds_one ? 1 : m->number;
	uint64_t at = l->storm->area - WORD, word;

	memcpy(l->before, p->bytes, l->storm->area);
	memcpy(&word, p->bytes + at, WORD);
	word = changed(kind, word, operand);
	memcpy(p->bytes + at, &word, WORD);
	x->driver->atomics->change(
		x, m->dst, place_at(l) + at, kind, operand, 1);
	if (!x->driver->flush(x))
		return settle(x, m);
	return p->is_unknown || look(x, m);
}

static bool send(struct bench_end *x, const struct message *m)
{
	struct lane *l = x->data;

	drop_page(x);
	return sends_send(x, &l->sends, m->dst, l->number, m->number,
		area_at(l, SOURCE_AT), m->bytes);
}

/* The number that determines a node's bytes for gets. */
static uint64_t constants(site_id node)
{
	return ~(uint64_t)node;
}

static bool get(struct bench_end *x, const struct message *m)
{
	struct lane *l = x->data;
	uint8_t want[MOST_GET];

	if (!fetch_by(x, m->dst, CONSTANT_AT + m->at, m->bytes, m->chance))
		return false;
	memory_fill_by(x->load->seed, constants(m->dst), m->at, want, m->bytes);
	if (is_same(x, want, 0, m->bytes))
		l->checked += m->bytes;
	else
		complain(l, "bytes of a get", m->number);
	return true;
}

static bool go(struct bench_end *x, const struct message *m)
{
	switch (m->op) {
	case OP_GET:
		return get(x, m);
	case OP_CHANGE:
		return change(x, m);
	case OP_SEND:
		return send(x, m);
	default:
		return put(x, m);
	}
}

static void note_failure(struct lane *l, uint64_t k)
{
	l->failed = mem_more(l->failed, l->n_failed, sizeof(*l->failed));
	l->failed[l->n_failed++] = k;
}

/* The counter; the bytes that others read here are there. */
static void prepare(struct bench_end *x)
{
	const struct lane *l = x->data;

	if (l->storm->demand)
		x->driver->drop(x, 0, l->storm->memory);
	x->driver->expect(x, 0, STORM_ARMED);
}

/* Of the flag of a program that is over. */
static uint64_t flag_bytes(const struct storm *m)
{
	const struct bench_driver *d = m->bench.driver;

	return d ? d->most.grain : 1;
}

/* At the first node, without atomics. */
static uint64_t over_at(const struct lane *l)
{
	return TARGET_AT + l->storm->n_lanes * l->storm->area +
	       l->stream * flag_bytes(l->storm);
}

static void tell_over(struct bench_end *x)
{
	struct lane *l = x->data;
	struct bench_transfer b = bench_transfer(x, 0, flag_bytes(l->storm));

	if (x->driver->atomics) {
		x->driver->atomics->change(x, 0, OVER_AT, BENCH_ADD, 1, 1);
	} else {
		b.from = area_at(l, SOURCE_AT);
		b.to = over_at(l);
		b.counter = BENCH_NONE;
		b.is_tracked = true;
		bench_write(x, b.from, "\1", 1);
		bench_track_puts(x, b.means, 1, b.bytes);
		x->driver->put(x, &b);
	}
	x->driver->flush(x);
}

static uint64_t count_over(struct bench_end *x)
{
	const struct lane *l = x->data;
	uint64_t n = 0, each = flag_bytes(l->storm);
	uint64_t all = l->storm->n_lanes * each;
	uint64_t most = l->storm->area / each * each;
	uint8_t is_over;

	if (x->driver->atomics) {
		if (fetch(x, 0, OVER_AT, WORD))
			bench_read(x, area_at(l, BACK_AT), &n, WORD);
		return n;
	}
	for (uint64_t i = 0; i < all; i += each) {
		if (i % most == 0)
			fetch(x, 0, over_at(l) - l->stream * each + i,
				all - i < most ? all - i : most);
		bench_read(x, area_at(l, BACK_AT) + i % most, &is_over, 1);
		n += is_over;
	}
	return n;
}

/* Takes blocks until all programs are over, according to the first node; but
 * not forever, since some may have died. */
static void outlast(struct bench_end *x)
{
	const struct bench_channel *channel = x->driver->channel;
	struct lane *l = x->data;
	sim_time own = channel ? channel->pause : 0;
	sim_time pause = own ? own : 10000 * SIM_NS;
	uint32_t most =
		pause < IDLE / MOST_IDLE ? MOST_IDLE : (uint32_t)(IDLE / pause);
	uint64_t n = 0, last = 0;

	/* not all at once */
	program_charge(own * (sim_time)l->stream / l->storm->n_lanes);
	if (l->storm->has_sends)
		sends_finish(x, &l->sends);
	tell_over(x);
	for (uint32_t idle = 0; idle < most && n < l->storm->n_lanes; idle++) {
		if (l->storm->has_sends)
			sends_take(x, &l->sends);
		program_charge(pause);
		n = count_over(x); /* 0 where it cannot be read */
		idle = n > last ? 0 : idle;
		last = n > last ? n : last;
	}
	if (l->storm->has_sends)
		sends_close(x, &l->sends);
}

static void run_lane(struct bench_end *x)
{
	struct lane *l = x->data;
	uint64_t k, n = share(l->storm, l->stream);
	sim_time last, gap;

	/* also if the node dies while it opens its interface */
	if (!l->number)
		bench_make(x, constants(l->node), CONSTANT_AT, CONSTANT);
	if (!bench_open(x))
		return;
	if (!l->number)
		prepare(x);
	if (l->storm->has_sends &&
		!x->driver->channel->open(x, l->sends.at, l->sends.most))
		return;
	bench_ready(x);
	for (k = 0; k < n; k++) {
		struct message m = storm_message(l, k);

		l->sent++;
		last = program_now();
		if (!go(x, &m))
			note_failure(l, k);
		gap = program_now() - last;
		l->gap = gap > l->gap ? gap : l->gap;
		if (l->storm->has_sends)
			sends_take(x, &l->sends);
	}
	if (l->storm->has_sends || (bench_has_gpus(x->bench) &&
					   x->driver->is & BENCH_NEEDS_TARGET))
		outlast(x);
	l->is_over = true;
}

/* --- the course of a run --- */

static int check_keys(
	const struct storm *m, const struct bench_driver *d, struct err *e)
{
	if (m->match && !(d && d->tagged && d->channel))
		return err_set(e, "match: available only on Elan4 (want no)");
	if (m->demand && !(d && d->drop))
		return err_set(e, "demand: available only on Elan4 (want no)");
	if (m->drop && !(d && d->drop))
		return err_set(e, "drop: available only on Elan4 (want 0)");
	return 0;
}

/* Memory of a node's programs for blocks that they take, where that depends. */
static void add_channel(struct storm *m)
{
	const struct bench_channel *c = m->bench.driver->channel;

	if (!m->has_sends || !c->memory)
		return;
	m->sends_at = (m->memory + GUARD - 1) / GUARD * GUARD;
	m->memory = m->sends_at +
		    (uint64_t)m->lanes * c->memory(&m->bench.programs.load,
						 (uint32_t)most_send(m));
}

static int storm_init(struct load *l, struct err *e)
{
	const struct topo *t = l->topo;
	struct storm *m = of(l);
	struct bench_needs n = {
		.data = sizeof(struct lane),
		.is_msg = m->bench.via,
		.has_gets = true,
		.has_port = true,
		.is_for_all = true,
		.has_chances = m->kinds == KINDS_ALL,
	};
	const struct bench_driver *d =
		m->bench.via ? &bench_msg : bench_find_driver(l->nic_ops);

	if (m->bench.bytes % 8)
		return err_set(e, "bytes: want a multiple of 8");
	if (d && m->lanes > d->most.lanes)
		m->lanes = d->most.lanes;
	if (check_keys(m, d, e))
		return -1;
	m->has_changes = d && d->atomics && d->channel &&
			 m->lanes <= d->channel->most_lanes &&
			 (m->kinds == KINDS_ALL || d->atomics->has_acks);
	m->has_sends = m->has_changes || m->match;
	/* a node alone sends to itself, by every kind of message */
	if (t->n_nodes < 2 && !(d && d->is & BENCH_HAS_SELF && m->has_sends))
		return err_set(e, "storm: needs at least two nodes");
	if (m->rogues > t->n_nodes)
		return err_set(e,
			"rogues: out of range, since the machine has %u nodes",
			t->n_nodes);
	if (m->rogues && !(d && d->rogue))
		return err_set(e,
			"rogues: available only on Elan4, Gemini, APEnet+ and "
			"SWHNI (want 0)");
	m->n_nodes = t->n_nodes;
	m->n_lanes = t->n_nodes * (uint32_t)m->lanes;
	m->area = (uint64_t)m->bench.bytes + 2 * GUARD +
		  (m->has_changes ? WORD : 0);
	m->bench.source_from = SOURCE_AT;
	m->bench.target_from = TARGET_AT;
	m->bench.driver = d; /* as it will be */
	m->memory = TARGET_AT + m->n_lanes * (m->area + flag_bytes(m));
	if (d)
		add_channel(m);
	n.memory = m->memory;
	n.n_programs = m->n_lanes + (uint32_t)m->rogues;
	n.touched = (2 * PARTNERS + 2) * m->area;
	l->needs.all_live = m->bench.via || m->match;
	return bench_init(&m->bench, &n, e);
}

static void start_rogues(struct storm *m)
{
	m->rogue = mem_alloc((size_t)m->rogues, sizeof(*m->rogue));
	for (uint32_t i = 0; i < (uint32_t)m->rogues; i++) {
		struct bench_rogue *r = &m->rogue[i];

		*r = (struct bench_rogue){
			.programs = &m->bench.programs,
			.stream = m->n_lanes + i,
			.deeds = (uint64_t)m->deeds,
		};
		program_start(m->bench.programs.load.host, m->n_nodes - 1 - i,
			(uint32_t)m->lanes, 0, m->bench.driver->rogue, r);
	}
}

static uint64_t places_of(const struct lane *l)
{
	const struct storm *m = l->storm;
	const struct bench_channel *c = m->bench.driver->channel;
	uint64_t each = SENDS_PLACES * l->sends.most;

	if (!m->has_sends || !c->memory)
		return PLACES_AT + l->number * each;
	each = c->memory(&m->bench.programs.load, l->sends.most);
	return m->sends_at + l->number * each;
}

static void storm_start(struct load *l)
{
	static const struct bench_program program = { .run = run_lane };
	struct storm *m = of(l);

	bench_open_ends(&m->bench);
	m->bench.programs.may_err = m->rogues || m->has_sends;
	for (uint32_t i = 0; i < m->n_lanes; i++) {
		struct bench_end *e = &m->bench.ends[i];
		struct lane *x = e->data;

		*x = (struct lane){
			.storm = m,
			.node = i / (uint32_t)m->lanes,
			.number = i % (uint32_t)m->lanes,
			.stream = i,
		};
		e->lane = x->number;
		bench_run(&m->bench, i, x->node, x->number, &program);
		if (!sim_has(l->net->sim, x->node))
			continue;
		x->sends.most = (uint32_t)most_send(m);
		x->sends.block = mem_alloc(x->sends.most, 1);
		x->sends.at = places_of(x);
		choose_partners(x);
	}
	start_rogues(m);
}

static void storm_fini(struct load *l)
{
	struct storm *m = of(l);

	for (uint32_t i = 0; m->bench.ends && i < m->n_lanes; i++) {
		struct lane *x = m->bench.ends[i].data;

		for (uint32_t k = 0; k < PARTNERS; k++)
			mem_free(x->place[k].bytes);
		mem_free(x->before);
		mem_free(x->sends.block);
		mem_free(x->failed);
	}
	mem_free(m->rogue);
	bench_fini(l);
}

const struct load_ops load_storm = {
	.name = "storm",
	.help = "random puts and gets between all nodes, with every byte "
		"checked",
	.size = sizeof(struct storm),
	PARAMS(params),
	.init = storm_init,
	.start = storm_start,
	.next = programs_next,
	.report = storm_report,
	.check = storm_check,
	.fini = storm_fini,
	.estimate = bench_estimate,
	.on_delivered = programs_delivered,
};
