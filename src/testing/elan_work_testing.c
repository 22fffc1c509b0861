#include "testing/elan_work_testing.h"

#include <string.h>

#include "base/mem.h"
#include "sim/random.h"
#include "testing/testing.h"

enum {
	BATCH = 4, /* under way at a time */
	MORE = 6, /* times that tagged messages are more frequent */
	SLOTS = 8, /* of each sender, at each node */
	SLOT = 4096,
	CAST = 1024, /* the same for broadcasts */
	LETTER = 800,
	CONSTANT = 4096, /* for gets */
	HANDLES = WORK_POSTED + WORK_OPS,
};

/* Numbers of queues and events. */
enum { QUEUE, CHAINED, SYNC, GROUP = SYNC + 2, PORT_QUEUE = GROUP + 2 };
enum {
	COME = 1,
	DONE,
	NO = DONE + BATCH,
	CHAIN = NO + BATCH,
	COLLECT = CHAIN + BATCH
};
enum { INPUT = 9, COLL_INPUT, CODE = 5, COLL_CODE, PORT = 1 };

#define AREA  ((uint64_t)WORK_NODES * SLOTS * (SLOT + CAST))
#define ARMED (UINT64_C(1) << 40)

/* Addresses, the same on all nodes. */
#define SYNC_AT	  UINT64_C(0x1000)
#define ASKED_AT  UINT64_C(0x2000)
#define CAME_AT	  UINT64_C(0x2040)
#define GROUP_AT  UINT64_C(0x2080)
#define COLL_AT	  UINT64_C(0x2100)
#define WORDS_AT  UINT64_C(0x3000)
#define CONST_AT  UINT64_C(0x200000)
#define SOURCE_AT UINT64_C(0x400000)
#define BACK_AT	  UINT64_C(0x600000)
#define TARGET_AT UINT64_C(0x800000)
#define TAGGED_AT UINT64_C(0x2000000)
#define PORT_AT	  UINT64_C(0x4000000)
#define CHAIN_AT  (UINT64_C(1) << 41) /* a queue's page */
#define START	  (100000 * (sim_time)SIM_NS)

const char *const work_names[WORK_KINDS] = { [WORK_PUT] = "puts",
	[WORK_DMA] = "DMAs",
	[WORK_GET] = "gets",
	[WORK_IF] = "conditional puts",
	[WORK_QUERY] = "queries",
	[WORK_CAST] = "broadcasts",
	[WORK_LETTER] = "messages for input queues",
	[WORK_LETTERS] = "broadcasts for input queues",
	[WORK_CHAIN] = "puts by events",
	[WORK_TAG] = "tagged messages",
	[WORK_MIXED] = "mixed packets",
	[WORK_INTERRUPT] = "interrupts" };

struct op {
	enum work_kind kind;
	uint32_t to, first, last; /* a node; a range of nodes */
	uint32_t bytes;
	bool is_yes; /* of a question */
	uint64_t number; /* of no other */
};

/* --- what happens --- */

/* In a round, all tagged messages of a node go to one other: it is their order
 * that counts. */
static struct op op_of(
	const struct work *w, uint32_t node, uint32_t round, uint32_t k)
{
	static const uint32_t most[WORK_KINDS] = { [WORK_PUT] = CAST,
		[WORK_DMA] = SLOT,
		[WORK_GET] = ELAN_PACKET,
		[WORK_IF] = ELAN_PACKET,
		[WORK_CAST] = CAST,
		[WORK_LETTER] = LETTER,
		[WORK_LETTERS] = LETTER,
		[WORK_CHAIN] = 256,
		[WORK_TAG] = WORK_TAGGED,
		[WORK_MIXED] = 2 * ELAN_BLOCK };
	uint64_t number = ((uint64_t)round * WORK_NODES + node) * WORK_OPS + k;
	struct random_bits r =
		random_draw(w->seed, node, RANDOM_TARGET, number);
	uint32_t kind = (uint32_t)(r.a % (WORK_KINDS + MORE));
	bool is_tag = kind >= WORK_KINDS || kind == WORK_TAG;
	uint32_t ahead = is_tag ? round : (uint32_t)(r.a >> 8);
	struct op x = {
		.kind = is_tag ? WORK_TAG : (enum work_kind)kind,
		.to = (node + 1 + ahead % (WORK_NODES - 1)) % WORK_NODES,
		.first = (uint32_t)(r.a >> 24) % WORK_NODES,
		.is_yes = r.a >> 40 & 1,
		.number = number,
	};
	uint32_t n = most[x.kind] / 8;

	x.last = x.first + (uint32_t)(r.a >> 48) % (WORK_NODES - x.first);
	/* half of them are short */
	if (n > 8 && r.b % 2)
		n = 8;
	if (n)
		x.bytes = 8 + 8 * (uint32_t)((r.b >> 8) % n);
	return x;
}

static bool is_at(const struct op *x, uint32_t node)
{
	if (x->kind == WORK_CAST || x->kind == WORK_LETTERS)
		return node >= x->first && node <= x->last;
	return node == x->to;
}

static void fill(const struct work *w, const struct op *x, void *to)
{
	memory_fill_by(w->seed, x->number, 0, to, x->bytes);
}

/* Where a sender's operation writes, in the area of its target. */
static uint64_t place(const struct op *x, uint32_t node, uint32_t k)
{
	uint64_t i = node * SLOTS + k % SLOTS;

	if (x->kind == WORK_CAST)
		return (uint64_t)WORK_NODES * SLOTS * SLOT + i * CAST;
	return i * SLOT;
}

static bool is_write(const struct op *x)
{
	return x->kind == WORK_PUT || x->kind == WORK_DMA ||
	       x->kind == WORK_CAST || x->kind == WORK_CHAIN ||
	       x->kind == WORK_MIXED || (x->kind == WORK_IF && x->is_yes);
}

/* --- letters, by a thread of the card --- */

static void take_letter(struct work *w, const struct elan_message *m)
{
	struct work_end *e = &w->end[weft_node()];
	uint32_t k = (uint32_t)(m->tag % WORK_OPS), node = m->source;
	struct op x = op_of(w, node, e->round, k);
	uint8_t got[LETTER], want[LETTER];

	assert_true(x.kind == WORK_LETTER || x.kind == WORK_LETTERS);
	assert_true(is_at(&x, weft_node()));
	assert_int_equal(m->tag, x.number);
	assert_int_equal(m->bytes, x.bytes);
	assert_int_equal(e->came[node * WORK_OPS + k]++, 0);
	assert_int_equal(elan_thread_read_block(m->at, got, x.bytes, 1), 0);
	fill(w, &x, want);
	assert_memory_equal(got, want, x.bytes);
	assert_int_equal(elan_thread_free(m->queue, m->slot), 0);
	assert_int_equal(elan_thread_write(CAME_AT, ++e->letters), 0);
}

static void take_letters(const uint64_t reg[ELAN_REGISTERS])
{
	struct elan_message m;

	while (!elan_thread_wait_queue(INPUT, 1, &m))
		take_letter((struct work *)(uintptr_t)reg[0], &m);
}

/* --- operations --- */

/* An operation, and what its node has for it. */
struct step {
	struct work *work;
	struct work_end *end;
	struct elan_cq *queue;
	struct op op;
	uint32_t k, done, no; /* events */
	uint64_t to, from, back;
	uint8_t data[WORK_TAGGED];
};

static struct step step_of(struct work *w, uint32_t round, uint32_t k)
{
	uint32_t node = program_node(), i = k % BATCH;
	struct step s = {
		.work = w,
		.end = &w->end[node],
		.queue = &w->end[node].queue,
		.op = op_of(w, node, round, k),
		.k = k,
		.done = DONE + i,
		.no = NO + i,
		.from = SOURCE_AT + k * (uint64_t)(2 * SLOT),
		.back = BACK_AT + i * SLOT,
	};

	s.to = TARGET_AT + place(&s.op, node, k);
	fill(w, &s.op, s.data);
	return s;
}

/* Events write the number of their operation. */
static uint64_t value_of(const struct step *s)
{
	return s->op.number + 1;
}

static uint64_t word_at(uint32_t event)
{
	return WORDS_AT + 64 * (uint64_t)event;
}

static void arm(const struct step *s, uint32_t event, uint64_t count)
{
	assert_int_equal(
		elan_arm(s->queue, event, count, word_at(event), value_of(s)),
		0);
}

static int put(struct step *s)
{
	arm(s, s->done, elan_put_packets(s->op.bytes));
	return elan_put(
		s->queue, s->op.to, s->to, s->data, s->op.bytes, COME, s->done);
}

static int cast(struct step *s)
{
	arm(s, s->done, elan_put_packets(s->op.bytes));
	return elan_broadcast(s->queue, s->op.first, s->op.last, s->to, s->data,
		s->op.bytes, COME, s->done);
}

static int dma(struct step *s)
{
	const struct elan_dma d = { s->op.bytes, 0, s->op.to, s->from, s->to,
		s->done, COME };

	program_write(s->from, s->data, s->op.bytes);
	arm(s, s->done, 1);
	return elan_dma(s->queue, &d);
}

/* A word that every node has for questions. */
static uint64_t asked(uint32_t node)
{
	return 100 + node;
}

static int put_if(struct step *s)
{
	const struct elan_question ask = { ASKED_AT, asked(s->op.to),
		s->op.is_yes ? ELAN_EQUAL : ELAN_NOT_EQUAL, s->done, s->no };

	arm(s, s->done, 1);
	arm(s, s->no, 1);
	return elan_put_if(
		s->queue, s->op.to, &ask, s->to, s->data, s->op.bytes, COME);
}

/* Of a range of nodes; the first one decides. */
static int query(struct step *s)
{
	const struct elan_question ask = { ASKED_AT,
		asked(s->op.first) + !s->op.is_yes, ELAN_AT_LEAST, s->done,
		s->no };

	arm(s, s->done, 1);
	arm(s, s->no, 1);
	return elan_query(s->queue, s->op.first, s->op.last, &ask);
}

static uint64_t constant_of(const struct op *x)
{
	return x->number % ((CONSTANT - ELAN_PACKET) / 8) * 8;
}

static int get(struct step *s)
{
	arm(s, s->done, s->op.bytes);
	return elan_get(s->queue, s->op.to, CONST_AT + constant_of(&s->op),
		s->back, s->op.bytes, s->done);
}

/* The end of a get has the card send a put. */
static int chain(struct step *s)
{
	uint32_t event = CHAIN + s->k % BATCH;
	uint64_t words[ELAN_PUT_WORDS];
	uint32_t n = elan_put_words(
		words, s->op.to, s->to, s->data, s->op.bytes, COME, s->done);

	arm(s, s->done, 1);
	assert_int_equal(
		elan_arm_copy(s->queue, event, 8, CHAIN_AT, words, 8 * n), 0);
	return elan_get(s->queue, s->op.to, CONST_AT, s->back, 8, event);
}

static int letter(struct step *s)
{
	const struct elan_letter l = { .queue = INPUT,
		.tag = s->op.number,
		.data = s->data,
		.bytes = s->op.bytes,
		.number = (uint16_t)s->op.number,
		.source_event = s->done };

	arm(s, s->done, elan_put_packets(s->op.bytes));
	if (s->op.kind == WORK_LETTER)
		return elan_enqueue(s->queue, s->op.to, &l);
	return elan_enqueue_all(s->queue, s->op.first, s->op.last, &l);
}

/* The upper byte is the sender's. */
static uint64_t tag_of(const struct op *x, uint32_t sender)
{
	return (uint64_t)sender << 56 | x->number;
}

static int tagged(struct step *s)
{
	program_write(s->from, s->data, s->op.bytes);
	return elan_tport_tx_start(&s->end->port, s->op.to,
		tag_of(&s->op, program_node()), s->from, s->op.bytes,
		&s->end->sent[s->k]);
}

/* A test that holds, a write and its event, and a get; the get's end is waited
 * for, too. */
static int mixed(struct step *s)
{
	uint32_t n = s->op.bytes / 8;
	uint64_t word[ELAN_CQ_WORDS] = {
		elan_word(ELAN_OPEN, s->op.to, 0),
		elan_word(ELAN_TEST, ELAN_EQUAL, 0),
		ASKED_AT,
		asked(s->op.to),
		elan_word(ELAN_GET, ELAN_BLOCK, s->no),
		CONST_AT + constant_of(&s->op),
		s->back,
		elan_word(ELAN_WRITE, s->op.bytes, 0),
		s->to,
	};

	memcpy(word + 9, s->data, s->op.bytes);
	word[9 + n] = elan_word(ELAN_SET, COME, s->op.bytes);
	word[10 + n] = elan_word(ELAN_CLOSE, s->done, 0);
	arm(s, s->done, 1);
	arm(s, s->no, ELAN_BLOCK);
	return elan_issue(s->queue, word, 11 + n);
}

/* Writes the word that an event would. */
static void on_interrupt(void *arg, const struct elan_interrupt *i)
{
	struct work *w = arg;
	uint32_t k = (uint32_t)((i->value - 1) % WORK_OPS);

	w->end[i->node].interrupts++;
	assert_true(elan_handler_write(i, word_at(DONE + k % BATCH), i->value));
}

static int interrupt(struct step *s)
{
	const uint64_t word = ELAN_INTERRUPT | value_of(s) << 16;

	return elan_issue(s->queue, &word, 1);
}

static int (*const begin[WORK_KINDS])(struct step *s) = { [WORK_PUT] = put,
	[WORK_DMA] = dma,
	[WORK_GET] = get,
	[WORK_IF] = put_if,
	[WORK_QUERY] = query,
	[WORK_CAST] = cast,
	[WORK_LETTER] = letter,
	[WORK_LETTERS] = letter,
	[WORK_CHAIN] = chain,
	[WORK_TAG] = tagged,
	[WORK_MIXED] = mixed,
	[WORK_INTERRUPT] = interrupt };

/* A node's constants have a number that no operation has. */
static uint64_t constants(uint32_t node)
{
	return ~(uint64_t)node;
}

static void expect_constants(const struct step *s, uint32_t bytes)
{
	uint8_t got[ELAN_PACKET], want[ELAN_PACKET];

	program_read(s->back, got, bytes);
	memory_fill_by(s->work->seed, constants(s->op.to), constant_of(&s->op),
		want, bytes);
	assert_memory_equal(got, want, bytes);
}

static void await(const struct step *s, uint32_t event)
{
	if (!elan_wait_event(s->queue, word_at(event), value_of(s)))
		fail_msg("%s from %u to %u: %s", work_names[s->op.kind],
			program_node(), s->op.to,
			elan_error_name(elan_cq_error(s->queue)));
}

static void finish(struct step *s)
{
	bool has_answer = s->op.kind == WORK_IF || s->op.kind == WORK_QUERY;
	uint32_t event = has_answer && !s->op.is_yes ? s->no : s->done;
	uint64_t other = 0;

	if (s->op.kind == WORK_TAG)
		return;
	await(s, event);
	if (s->op.kind == WORK_GET)
		expect_constants(s, s->op.bytes);
	if (s->op.kind == WORK_MIXED) {
		await(s, s->no);
		expect_constants(s, ELAN_BLOCK);
	}
	if (!has_answer)
		return;
	program_read(word_at(s->done + s->no - event), &other, 8);
	assert_int_not_equal(other, value_of(s));
}

/* The host takes a page from the card, of any that are in use. */
static void drop(struct step *s)
{
	static const uint64_t at[] = { SYNC_AT, CONST_AT, SOURCE_AT, BACK_AT,
		TARGET_AT, TAGGED_AT, PORT_AT };
	uint64_t x = random_draw(
		s->work->seed, program_node(), RANDOM_DATA, s->op.number)
			     .a;

	if (x % 8)
		return;
	assert_int_equal(elan_vm_drop(at[(x >> 8) % 7], 8), 0);
	s->end->drops++;
}

static void operate(struct work *w, uint32_t round)
{
	struct step s;

	for (uint32_t first = 0; first < WORK_OPS; first += BATCH) {
		for (uint32_t k = first; k < first + BATCH; k++) {
			s = step_of(w, round, k);
			s.end->count[s.op.kind]++;
			assert_int_equal(begin[s.op.kind](&s), 0);
			drop(&s);
		}
		for (uint32_t k = first; k < first + BATCH; k++) {
			s = step_of(w, round, k);
			finish(&s);
		}
	}
}

/* --- tagged messages --- */

/* Receives name the sender, or its byte of the tag: all of them match each of
 * its messages, so that they must get these in order. */
static void post_from(struct work *w, uint32_t round, uint32_t sender)
{
	struct work_end *e = &w->end[program_node()];

	for (uint32_t k = 0; k < WORK_OPS; k++) {
		struct op x = op_of(w, sender, round, k);
		uint32_t i = sender * WORK_OPS + k;
		bool is_any = x.number % 2;

		if (x.kind != WORK_TAG || x.to != program_node())
			continue;
		assert_int_equal(elan_tport_rx_start(&e->port,
					 is_any ? ELAN_TPORT_ANY : sender,
					 tag_of(&x, sender),
					 is_any ? UINT64_MAX << 56 : 0,
					 TAGGED_AT + i * (uint64_t)(2 * SLOT),
					 WORK_TAGGED, &e->posted[i]),
			0);
	}
}

/* Some before the messages, and some perhaps after. */
static void post(struct work *w, uint32_t round, bool is_late)
{
	for (uint32_t i = 0; i < WORK_NODES; i++)
		if (((round + i) % 3 == 0) == is_late)
			post_from(w, round, i);
}

static void receive(struct work *w, const struct op *x, uint32_t i)
{
	struct work_end *e = &w->end[program_node()];
	uint8_t got[WORK_TAGGED], want[WORK_TAGGED];
	struct elan_tport_status s;

	assert_int_equal(elan_tport_wait(&e->port, e->posted[i], &s), 0);
	assert_int_equal(s.source, i / WORK_OPS);
	assert_int_equal(s.tag, tag_of(x, s.source));
	assert_int_equal(s.bytes, x->bytes);
	program_read(TAGGED_AT + i * (uint64_t)(2 * SLOT), got, x->bytes);
	fill(w, x, want);
	assert_memory_equal(got, want, x->bytes);
}

static void receive_all(struct work *w, uint32_t round)
{
	struct work_end *e = &w->end[program_node()];

	for (uint32_t i = 0; i < WORK_NODES * WORK_OPS; i++) {
		struct op x = op_of(w, i / WORK_OPS, round, i % WORK_OPS);

		if (x.kind == WORK_TAG && x.to == program_node())
			receive(w, &x, i);
	}
	for (uint32_t k = 0; k < WORK_OPS; k++) {
		if (op_of(w, program_node(), round, k).kind != WORK_TAG)
			continue;
		assert_int_equal(
			elan_tport_wait(&e->port, e->sent[k], NULL), 0);
	}
}

/* --- collectives --- */

static uint64_t word_of(const struct work *w, uint32_t node, uint32_t round)
{
	return random_draw(w->seed, node, RANDOM_DATA, ~(uint64_t)round).a;
}

static uint64_t sum_of(const struct work *w, uint32_t round)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < WORK_NODES; i++)
		sum += word_of(w, i, round);
	return sum;
}

/* A sum of all nodes' words, and a broadcast of it by another root. */
static void collect(struct work *w, uint32_t round)
{
	struct work_end *e = &w->end[program_node()];
	uint64_t got, sum = sum_of(w, round);
	uint64_t word = word_of(w, program_node(), round);
	uint32_t root = round % WORK_NODES;

	program_write(COLL_AT, &word, 8);
	assert_int_equal(elan_hreduce(&e->group, ELAN_ALL, ELAN_SUM, COLL_AT,
				 COLL_AT + 64, 1),
		0);
	program_read(COLL_AT + 64, &got, 8);
	assert_int_equal(got, sum);
	word = program_node() == root ? ~sum : 0;
	program_write(COLL_AT, &word, 8);
	assert_int_equal(elan_hbcast(&e->group, root, COLL_AT, 8), 0);
	program_read(COLL_AT, &got, 8);
	assert_int_equal(got, ~sum);
}

/* --- what others have done here --- */

static void expect_op(struct work *w, uint32_t node, uint32_t round, uint32_t k)
{
	struct work_end *e = &w->end[program_node()];
	struct op x = op_of(w, node, round, k);

	if (!is_at(&x, program_node()))
		return;
	if (is_write(&x)) {
		e->come += x.bytes;
		fill(w, &x, e->area + place(&x, node, k));
	}
	if (x.kind == WORK_LETTER || x.kind == WORK_LETTERS)
		e->expected++;
}

static void check_round(struct work *w, uint32_t round)
{
	struct work_end *e = &w->end[program_node()];
	uint8_t got[SLOT];

	for (uint32_t i = 0; i < WORK_NODES * WORK_OPS; i++)
		expect_op(w, i / WORK_OPS, round, i % WORK_OPS);
	assert_true(elan_wait_word(CAME_AT, e->expected));
	for (uint64_t at = 0; at < AREA; at += SLOT) {
		program_read(TARGET_AT + at, got, SLOT);
		assert_memory_equal(got, e->area + at, SLOT);
	}
	memset(e->came, 0, sizeof(e->came));
	e->round++;
}

/* --- programs --- */

static void open_all(struct work *w)
{
	const struct elan_iq_options o = {
		.id = INPUT, .slots = 16, .bytes = LETTER
	};
	const struct elan_hgroup_options g = { .queue = GROUP,
		.input = COLL_INPUT,
		.code = COLL_CODE,
		.event = COLLECT,
		.at = GROUP_AT };
	const struct elan_tport_options p = { .port = PORT,
		.queue = PORT_QUEUE,
		.handles = HANDLES,
		.at = PORT_AT };
	const uint64_t reg[ELAN_REGISTERS] = { (uint64_t)(uintptr_t)w };
	struct work_end *e = &w->end[program_node()];

	assert_int_equal(
		elan_cq_open(&e->queue, QUEUE, ELAN_64K, ELAN_MAY_ALL), 0);
	assert_int_equal(
		elan_cq_open(&e->chained, CHAINED, ELAN_64K, ELAN_MAY_ALL), 0);
	assert_int_equal(elan_cq_map(&e->chained, CHAIN_AT), 0);
	assert_int_equal(elan_hgsync_open(&e->sync, SYNC, SYNC_AT), 0);
	assert_int_equal(elan_hgroup_open(&e->group, &g), 0);
	assert_int_equal(elan_tport_open(&e->port, &p), 0);
	assert_int_equal(elan_iq_open(&o), 0);
	assert_int_equal(elan_thread_load(CODE, take_letters), 0);
	assert_int_equal(elan_thread_start(&e->queue, CODE, reg), 0);
	assert_int_equal(elan_handle(on_interrupt, w), 0);
}

static void prepare(struct work *w)
{
	uint8_t data[CONSTANT];
	uint64_t word = asked(program_node());

	memory_fill_by(w->seed, constants(program_node()), 0, data, CONSTANT);
	program_write(CONST_AT, data, CONSTANT);
	program_write(ASKED_AT, &word, 8);
	assert_int_equal(elan_arm(&w->end[program_node()].queue, COME, ARMED,
				 word_at(COME), 1),
		0);
}

static void program(void *arg)
{
	struct work *w = arg;
	struct work_end *e = &w->end[program_node()];

	open_all(w);
	prepare(w);
	program_wait(START);
	for (uint32_t i = 0; i < w->rounds; i++) {
		post(w, i, false);
		operate(w, i);
		post(w, i, true);
		receive_all(w, i);
		collect(w, i);
		assert_int_equal(elan_hgsync(&e->sync), 0);
		check_round(w, i);
		assert_int_equal(elan_hgsync(&e->sync), 0);
	}
}

/* --- the whole --- */

void work_start(struct work *w, struct host *h)
{
	for (site_id i = 0; i < WORK_NODES; i++) {
		w->end[i] = (struct work_end){ .area = mem_alloc(AREA, 1) };
		program_start(h, i, 0, 0, program, w);
	}
}

void work_finish(struct work *w, const struct nic *nic)
{
	for (site_id i = 0; i < WORK_NODES; i++) {
		const struct work_end *e = &w->end[i];

		assert_int_equal(elan_event_count(nic, i, COME),
			(int64_t)(ARMED - e->come));
		assert_int_equal(e->interrupts, e->count[WORK_INTERRUPT]);
		mem_free(e->area);
	}
}
