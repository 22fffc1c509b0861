/* The plain card through bit errors, dead links and late answers. */
#include <string.h>

#include "nic/plain/card.h"
#include "nic/plain/plain_testing.h"
#include "testing/testing.h"

enum { ROUNDS = 30, BYTES = 3000, WORD = PT_BYTES - 8 };

static struct plain_entry entry(uint16_t op, uint64_t bytes)
{
	return (struct plain_entry){ .op = op,
		.node = (program_node() + 1) % PT_NODES,
		.bytes = bytes };
}

static uint64_t byte_at(uint32_t node, uint64_t round, uint64_t at)
{
	return node * 1000003 + round * 1009 + at;
}

/*
 * Every node puts into the next one's memory, which counts, gets it back, and
 * adds to a word: what is executed twice, or not at all, would be seen.
 */
static void everybody(void *arg)
{
	struct pt_queue q = pt_open(0);
	uint32_t me = program_node();
	struct plain_entry e;

	for (uint64_t round = 0; round < ROUNDS; round++) {
		for (uint64_t i = 0; i < BYTES; i += 8)
			pt_store(PT_SOURCE + i, byte_at(me, round, i));
		e = entry(PLAIN_PUT, BYTES);
		e.operand = 1 + WORD;
		pt_post(&q, e);
		assert_int_equal(pt_wait(&q).status, PLAIN_OK);
		e = entry(PLAIN_GET, BYTES);
		e.own_offset = 0x10000;
		pt_post(&q, e);
		assert_int_equal(pt_wait(&q).status, PLAIN_OK);
		for (uint64_t i = 0; i < BYTES; i += 8)
			assert_int_equal(pt_load(PT_SOURCE + 0x10000 + i),
				byte_at(me, round, i));
		e = entry(PLAIN_WORD + ATOMIC_STORE_ADD, 8);
		e.offset = WORD - 8;
		e.operand = 5;
		pt_post(&q, e);
		assert_int_equal(pt_wait(&q).value, 5 * round);
	}
}

static void check(const struct pt *m)
{
	for (site_id s = 0; s < PT_NODES; s++) {
		assert_int_equal(pt_word_at(m, s, PT_TARGET + WORD),
			-(uint64_t)ROUNDS * BYTES);
		assert_int_equal(
			pt_word_at(m, s, PT_TARGET + WORD - 8), 5 * ROUNDS);
	}
}

/* --- bit errors --- */

static uint64_t run_hurt(struct pt *m, uint32_t n_workers)
{
	static struct fault_plan plan;

	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
		plan.rate[i] = UINT64_C(5000000000000); /* 5e-6 of all bits */
	pt_init(m);
	m->t.faults = &plan;
	m->params->retry.timeout = 5000 * SIM_NS;
	m->params->retry.per_node = 0;
	m->params->retry.limit = 100;
	pt_run(m, n_workers, PT_NODES, everybody);
	check(m);
	assert_int_equal(nic_sum(m->t.nic, "escapes"), 0);
	return nic_testing_digest(&m->t);
}

static void bit_errors_are_found_and_all_is_executed_once(void **state)
{
	struct pt m;
	uint64_t digest;

	digest = run_hurt(&m, 1);
	assert_true(nic_sum(m.t.nic, "torn") > 20);
	assert_true(nic_sum(m.t.nic, "resent") > 20);
	pt_fini(&m);
	assert_int_equal(run_hurt(&m, 3), digest);
	pt_fini(&m);
}

/* --- synthetic bytes --- */

enum { NAMED = 5000, NAMED_AT = 0x40000, ELSEWHERE = 0x60000 };

static uint64_t name_byte(void *arg, uint64_t offset, struct memory_name *name)
{
	(void)arg;
	*name = (struct memory_name){ .seed = 7, .owner = 1, .offset = offset };
	return NAMED - offset;
}

/* Everybody puts them where they are to be and where they are not, and gets
 * them from there: by name, made where they are written, and as bytes. */
static void send_named(void *arg)
{
	struct memory *m = host_at(program_host(), program_node());
	struct pt_queue q = pt_open(0);
	struct plain_entry e;
	uint8_t is[NAMED], want[NAMED];
	int from = memory_add_synthetic(
		m, PT_SOURCE + NAMED_AT, NAMED, name_byte, NULL);
	int to = memory_add_synthetic(
		m, PT_TARGET + NAMED_AT, NAMED, name_byte, NULL);

	(void)arg;
	program_wait(1000 * SIM_NS);
	for (uint32_t i = 0; i < 2; i++) {
		e = entry(PLAIN_PUT, NAMED);
		e.own_offset = NAMED_AT;
		e.offset = i ? ELSEWHERE : NAMED_AT;
		pt_post(&q, e);
		assert_int_equal(pt_wait(&q).status, PLAIN_OK);
		e.op = PLAIN_GET;
		e.own_offset = i ? NAMED_AT : ELSEWHERE;
		pt_post(&q, e);
		assert_int_equal(pt_wait(&q).status, PLAIN_OK);
	}
	/* what the node before has put, and what was got */
	memory_fill_by(7, 1, 0, want, NAMED);
	program_wait(1000000 * SIM_NS);
	assert_true(program_read(PT_TARGET + ELSEWHERE, is, NAMED));
	assert_memory_equal(is, want, NAMED);
	assert_true(program_read(PT_SOURCE + ELSEWHERE, is, NAMED));
	assert_memory_equal(is, want, NAMED);
	assert_true(memory_region_is_whole(memory_region(m, from), 1));
	assert_true(memory_region_is_whole(memory_region(m, to), 1));
}

static void synthetic_bytes_are_right_by_name_and_where_they_are_hurt(
	void **state)
{
	static struct fault_plan plan;
	struct pt m;

	for (uint32_t is_hurt = 0; is_hurt < 2; is_hurt++) {
		for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
			plan.rate[i] = is_hurt * UINT64_C(5000000000000);
		pt_init(&m);
		m.t.faults = is_hurt ? &plan : NULL;
		m.params->retry.timeout = 5000 * SIM_NS;
		m.params->retry.per_node = 0;
		m.params->retry.limit = 100;
		pt_run(&m, 1, PT_NODES, send_named);
		assert_true(!nic_sum(m.t.nic, "torn") == !is_hurt);
		pt_fini(&m);
	}
}

/* --- resent though it has come --- */

static void what_comes_twice_is_executed_once(void **state)
{
	struct pt m;

	pt_init(&m);
	/* shorter than any round trip, and longer pauses each time */
	m.params->retry = (struct resend_params){
		.timeout = 200 * SIM_NS, .limit = 100, .back_off = 100 * SIM_NS
	};
	pt_run(&m, 1, PT_NODES, everybody);
	check(&m);
	assert_true(nic_sum(m.t.nic, "resent") > 100);
	pt_fini(&m);
}

/* --- what no CRC sees --- */

/* The worst that a fuzzer has found (fuzz/fuzz_frames.c): a request's or an
 * answer's header, of an operation, with a field that is another. */
static const struct worst {
	bool is_answer;
	uint32_t op;
	size_t field, bytes;
	uint64_t value;
} * worst;

#define WORST(field_)                                                          \
	offsetof(struct ask_header, field_),                                   \
		sizeof(((struct ask_header *)0)->field_)

static const struct worst worsts[] = {
	{ false, PLAIN_GET, WORST(word[WORD_KEY]),
		UINT64_C(0xf0000) << 32 | PT_KEY },
	{ false, PLAIN_GET, WORST(word[WORD_KEY]), UINT64_MAX },
	{ false, PLAIN_PUT, WORST(word[WORD_KEY]), PT_KEY },
	{ false, PLAIN_PUT, WORST(op), PLAIN_GET },
	{ false, PLAIN_GET, WORST(op), PLAIN_PUT },
	{ false, PLAIN_PUT, WORST(op), UINT8_MAX },
	{ false, PLAIN_PUT, WORST(is_answer), true },
	{ false, PLAIN_PUT, WORST(id), UINT32_MAX },
	{ false, PLAIN_PUT, WORST(number), UINT32_MAX },
	{ false, PLAIN_PUT, WORST(channel), UINT32_MAX },
	{ true, PLAIN_PUT, WORST(status), UINT8_MAX },
	{ true, PLAIN_PUT, WORST(op), PLAIN_GET },
	{ true, PLAIN_GET, WORST(op), PLAIN_WORD },
	{ true, PLAIN_GET, WORST(is_answer), false },
	{ true, PLAIN_GET, WORST(id), 0 },
	{ true, PLAIN_GET, WORST(id), UINT32_MAX },
	{ true, PLAIN_WORD + ATOMIC_STORE_ADD, WORST(op), PLAIN_PUT },
};

static const struct net_client_ops *worst_client;
static uint32_t n_spoilt;

/* It happens to the first of its kind. */
static void spoil(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *net = me->net;
	struct ask *x = payload_of_load(net->packets[id].load);

	if (!n_spoilt && x->h.is_answer == worst->is_answer &&
		x->h.op == worst->op) {
		memcpy((char *)&x->h + worst->field, &worst->value,
			worst->bytes);
		n_spoilt++;
	}
	worst_client->on_packet(me, w, s, fifo, id, t, tail);
}

/* Each entry ends, well or not. */
static void ends(void *arg)
{
	struct pt *m = arg;
	struct pt_queue q = pt_open(0);
	struct net_client_ops *ops = (struct net_client_ops *)(uintptr_t)m->arg;

	if (program_node() == 0) {
		worst_client = m->t.mail.to;
		*ops = *worst_client;
		ops->on_packet = spoil;
		m->t.mail.to = ops;
	}
	for (uint32_t i = 0; i < 3; i++) {
		pt_post(&q, entry(PLAIN_PUT, 1000));
		pt_wait(&q);
		pt_post(&q, entry(PLAIN_GET, 1000));
		pt_wait(&q);
		pt_post(&q, entry(PLAIN_WORD + ATOMIC_STORE_ADD, 8));
		pt_wait(&q);
	}
}

static void what_no_crc_sees_harms_no_card(void **state)
{
	struct net_client_ops ops;
	struct pt m;

	for (size_t i = 0; i < sizeof(worsts) / sizeof(worsts[0]); i++) {
		worst = &worsts[i];
		n_spoilt = 0;
		pt_init(&m);
		m.arg = &ops;
		pt_run(&m, 1, 2, ends);
		assert_int_equal(n_spoilt, 1);
		pt_fini(&m);
	}
}

/* --- a dead link --- */

static void dead_program(void *arg)
{
	struct pt_queue q = pt_open(0), other = pt_open(1);
	struct plain_entry e = entry(PLAIN_PUT, 8);

	program_wait(1000 * SIM_NS);
	pt_post(&q, e);
	e.node = 3;
	pt_post(&other, e);
	assert_int_equal(pt_wait(&other).status, PLAIN_OK);
	assert_int_equal(pt_wait(&q).status, PLAIN_GAVE_UP);
	pt_post(&other, e);
	assert_int_equal(pt_wait(&other).status, PLAIN_OK);
}

static void a_dead_link_makes_the_card_give_up(void **state)
{
	struct fault_event e = { .at = 1, .site = 0, .port = 0, .place = "" };
	struct fault_plan plan = { .event = &e, .n_events = 1 };
	struct pt m;

	pt_init(&m);
	m.t.faults = &plan;
	m.t.hint.tell = -1; /* or packets would go round it */
	pt_run(&m, 1, 1, dead_program);
	assert_int_equal(nic_count(m.t.nic, 0, "too many retries"), 1);
	assert_int_equal(
		nic_count(m.t.nic, 0, "resent"), m.params->retry.limit);
	assert_int_equal(pt_word_at(&m, 1, PT_TARGET), 0);
	pt_fini(&m);
}

/* --- workers --- */

static uint64_t run_calm(uint32_t n_workers, uint64_t *memory)
{
	struct pt m;
	uint64_t digest;

	pt_init(&m);
	pt_run(&m, n_workers, PT_NODES, everybody);
	check(&m);
	assert_int_equal(nic_sum(m.t.nic, "resent"), 0);
	digest = nic_testing_digest(&m.t);
	*memory = nic_memory(m.t.nic);
	pt_fini(&m);
	return digest;
}

static void one_and_three_workers_do_the_same(void **state)
{
	uint64_t memory;

	assert_int_equal(run_calm(1, &memory), run_calm(3, &memory));
	assert_in_range(memory, 1000, 10 << 20);
}

TESTS(TEST(bit_errors_are_found_and_all_is_executed_once),
	TEST(synthetic_bytes_are_right_by_name_and_where_they_are_hurt),
	TEST(what_comes_twice_is_executed_once),
	TEST(what_no_crc_sees_harms_no_card),
	TEST(a_dead_link_makes_the_card_give_up),
	TEST(one_and_three_workers_do_the_same))
