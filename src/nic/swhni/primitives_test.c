/* Each primitive moves its bytes, and nothing around them. */
#include <string.h>

#include "nic/swhni/swhni_testing.h"
#include "testing/testing.h"

enum { GUARD = 64, PLACE = 4096 };

static const uint32_t lengths[] = { 0, 1, 8, 63, 2047, 2048, 2049, 4096, 10000,
	65536, 100001 };
enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

/* Bytes of a number at a place, and guards of another one around it. */
static void guard(uint64_t at, uint32_t bytes)
{
	st_fill(at - GUARD, bytes + 2 * GUARD, 99);
}

static void check(uint64_t at, uint32_t bytes, uint64_t number)
{
	uint8_t all[GUARD], front[GUARD];

	assert_true(st_is(at, bytes, number));
	memory_fill_by(1, 99, 0, front, GUARD);
	assert_true(program_read(at - GUARD, all, GUARD));
	assert_memory_equal(all, front, GUARD);
	memory_fill_by(1, 99, GUARD + bytes, front, GUARD);
	assert_true(program_read(at + bytes, all, GUARD));
	assert_memory_equal(all, front, GUARD);
}

static uint64_t offset_of(uint32_t i)
{
	return PLACE + (uint64_t)i * 0x40000 + i;
}

/* --- writes with each kind of end --- */

static void prepare(struct st *m)
{
	for (uint32_t i = 0; i < N_LENGTHS; i++)
		guard(ST_TARGET + offset_of(i), lengths[i]);
	(void)m;
}

static void send_all(struct st_queue *q, site_id to, uint32_t flags)
{
	for (uint32_t i = 0; i < N_LENGTHS; i++) {
		struct swhni_descriptor d =
			st_write(to, offset_of(i), lengths[i]);

		st_fill(ST_SOURCE + d.own_offset, d.bytes, i + 1);
		d.flags = (uint8_t)(SWHNI_TELL | flags);
		d.id = 100 + i;
		d.interface = 0;
		d.word[0] = 1000 + i;
		d.word[1] = 2000 + i;
		if (flags & SWHNI_REPLY) {
			d.reply.key = ST_KEY;
			d.reply.offset = 8 * i;
		}
		st_post(q, &d);
	}
	for (uint32_t i = 0; i < N_LENGTHS; i++) {
		struct workq_completion c = st_wait(q);

		assert_int_equal(SWHNI_ERROR_OF(c.status), SWHNI_OK);
		assert_int_equal(SWHNI_EVENT_OF(c.status), SWHNI_DONE);
		assert_in_range(c.id, 100, 100 + N_LENGTHS - 1);
		assert_int_equal(c.value, lengths[c.id - 100]);
	}
}

static void reply_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();

	if (node == 31) {
		prepare(m);
		for (uint32_t i = 0; i < N_LENGTHS; i++) {
			st_await(ST_TARGET + 8 * i, 1);
			check(ST_TARGET + offset_of(i), lengths[i], i + 1);
		}
	}
	program_wait(1000 * SIM_NS);
	if (!node)
		send_all(&q, 31, SWHNI_REPLY);
}

/* SUN-F60: SUN-F63, SUN-F76 */
static void a_reply_word_counts_a_write_when_its_bytes_are_there(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 0, reply_program);
	for (uint32_t i = 0; i < N_LENGTHS; i++)
		assert_int_equal(st_word_at(&m, 31, ST_TARGET + 8 * i), 1);
	st_fini(&m);
}

static void event_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();

	if (node == 31) {
		prepare(m);
		for (uint32_t i = 0; i < N_LENGTHS; i++) {
			struct workq_completion c = st_wait(&q);
			uint32_t k = (uint32_t)c.id - 1000;

			assert_int_equal(
				SWHNI_EVENT_OF(c.status), SWHNI_ARRIVED);
			assert_int_equal(SWHNI_NODE_OF(c.status), 0);
			assert_in_range(k, 0, N_LENGTHS - 1);
			assert_int_equal(c.value, offset_of(k));
			assert_int_equal(c.more, lengths[k]);
			check(ST_TARGET + offset_of(k), lengths[k], k + 1);
		}
	}
	program_wait(1000 * SIM_NS);
	if (!node)
		send_all(&q, 31, SWHNI_EVENT);
}

/* SUN-F62 */
static void an_event_tells_of_a_write_when_its_bytes_are_there(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 0, event_program);
	st_fini(&m);
}

static void notice_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();

	if (node == 31) {
		prepare(m);
		for (uint32_t i = 0; i < N_LENGTHS; i++) {
			struct swhni_slot s = st_receive(&q, NULL);
			uint32_t k = (uint32_t)s.word[0] - 1000;

			assert_true(s.is_notice);
			assert_in_range(k, 0, N_LENGTHS - 1);
			assert_int_equal(s.word[1], 2000 + k);
			assert_int_equal(s.bytes, lengths[k]);
			assert_int_equal(s.offset, offset_of(k));
			assert_int_equal(s.key, ST_KEY);
			assert_int_equal(s.node, 0);
			check(ST_TARGET + offset_of(k), lengths[k], k + 1);
		}
	}
	program_wait(1000 * SIM_NS);
	if (!node)
		send_all(&q, 31, SWHNI_NOTICE);
}

/* SUN-F75 */
static void a_notice_comes_behind_the_bytes_of_its_write(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 0, notice_program);
	st_fini(&m);
}

/* --- reads --- */

static void read_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();

	for (uint32_t i = 1; node == 31 && i < N_LENGTHS; i++)
		st_fill(ST_TARGET + offset_of(i), lengths[i], i + 1);
	program_wait(1000 * SIM_NS);
	for (uint32_t i = 1; !node && i < N_LENGTHS; i++) {
		struct swhni_descriptor d =
			st_write(31, offset_of(i), lengths[i]);

		d.type = SWHNI_READ;
		d.flags = SWHNI_TELL | SWHNI_REPLY;
		d.reply.key = ST_OWN;
		guard(ST_SOURCE + offset_of(i), lengths[i]);
		st_post(&q, &d);
	}
	for (uint32_t i = 1; !node && i < N_LENGTHS; i++)
		assert_int_equal(st_error(&q), SWHNI_OK);
	for (uint32_t i = 1; !node && i < N_LENGTHS; i++)
		check(ST_SOURCE + offset_of(i), lengths[i], i + 1);
	m->seen += !node ? st_load(ST_SOURCE) : 0;
}

/* SUN-F61 */
static void reads_bring_their_bytes(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 0, read_program);
	assert_int_equal(m.seen, N_LENGTHS - 1);
	st_fini(&m);
}

/* --- queue messages --- */

static void message_program(struct st *m, site_id node)
{
	static const uint32_t sizes[] = { 0, 1, 100, 2048 };
	struct st_queue q = st_open();
	uint32_t type = *(const uint32_t *)m->arg;
	uint8_t data[SWHNI_MESSAGE];

	for (uint32_t i = 0; node == 31 && i < 4; i++) {
		struct swhni_slot s = st_receive(&q, data);
		uint32_t k = (uint32_t)s.word[0];

		assert_false(s.is_notice);
		assert_int_equal(s.node, 0);
		assert_int_equal(s.bytes, sizes[k]);
		assert_true(memory_is_by(1, k, 0, data, s.bytes));
	}
	for (uint32_t i = 0; !node && i < 4; i++) {
		struct swhni_descriptor d = st_write(31, 8192 * i, sizes[i]);

		d.type = (uint8_t)type;
		d.word[0] = i;
		st_fill(ST_SOURCE + d.own_offset, d.bytes, i);
		st_post(&q, &d);
	}
	for (uint32_t i = 0; !node && i < 4; i++)
		assert_int_equal(st_error(&q), SWHNI_OK);
}

/* SUN-F78: SUN-F64: the sender names a queue and no address. */
static void messages_go_into_the_next_slots_of_a_queue(void **state)
{
	static const uint32_t types[] = { SWHNI_SEND, SWHNI_DATAGRAM };

	for (uint32_t i = 0; i < 2; i++) {
		struct st m;

		st_init(&m);
		m.arg = &types[i];
		st_run(&m, 0, message_program);
		assert_int_equal(
			nic_sum(m.kit.nic, "acknowledgements"), i ? 0 : 4);
		st_fini(&m);
	}
}

static void full_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	uint32_t type = *(const uint32_t *)m->arg;

	if (!node) {
		struct swhni_descriptor d = st_write(31, 0, 8);

		d.type = (uint8_t)type;
		for (uint32_t i = 0; i < ST_SLOTS + 4; i++) {
			d.word[0] = i;
			st_put(&q, &d);
		}
		st_ring(&q);
		for (uint32_t i = 0; i < ST_SLOTS + 4; i++)
			assert_int_equal(st_error(&q), SWHNI_OK);
	} else if (node == 31) {
		program_wait(100000 * (sim_time)SIM_NS);
		for (uint32_t i = 0; i < ST_SLOTS; i++)
			m->seen |= 1u << st_receive(&q, NULL).word[0];
		program_wait(2000000 * (sim_time)SIM_NS);
		for (; st_has_message(&q);)
			m->seen |= 1u << st_receive(&q, NULL).word[0];
	}
}

/* SUN-F64: SUN-G24 */
static void a_full_queue_puts_messages_off_and_loses_datagrams(void **state)
{
	static const uint32_t types[] = { SWHNI_SEND, SWHNI_DATAGRAM };

	for (uint32_t i = 0; i < 2; i++) {
		struct st m;

		st_init(&m);
		m.arg = &types[i];
		st_run(&m, 0, full_program);
		assert_int_equal(m.seen, i ? 0xffff : 0xfffff);
		assert_int_equal(
			nic_count(m.kit.nic, 31, "datagrams_lost"), i ? 4 : 0);
		if (!i)
			assert_true(nic_count(m.kit.nic, 31, "refused") >= 4);
		st_fini(&m);
	}
}

/* --- fast short messages --- */

static void short_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	uint8_t bytes[SWHNI_SHORT];
	struct nic_at a;

	for (uint32_t n = 0; !node && n <= SWHNI_SHORT; n++) {
		struct swhni_descriptor d = { .type = SWHNI_FSM_WRITE,
			.flags = SWHNI_TELL,
			.node = 31,
			.bytes = n,
			.key = ST_KEY,
			.offset = 1024 * n + 64 };

		memory_fill_by(1, n, 0, bytes, n);
		a = st_now(&q);
		assert_int_equal(
			swhni_fsm(&a, q.interface, 0, &d, bytes, a.t, a.t), 0);
		assert_int_equal(st_error(&q), SWHNI_OK);
		st_ring(&q); /* completions are taken */
	}
	(void)m;
	if (node != 31)
		return;
	for (uint32_t n = 0; n <= SWHNI_SHORT; n++)
		guard(ST_TARGET + 1024 * n + 64, n);
	program_wait(1000000 * (sim_time)SIM_NS);
	for (uint32_t n = 0; n <= SWHNI_SHORT; n++)
		check(ST_TARGET + 1024 * n + 64, n, n);
}

/* SUN-F60 */
static void short_messages_of_all_lengths_arrive(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 0, short_program);
	st_fini(&m);
}

static void chip_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct nic_at a = st_now(&q);
	uint64_t word = 0x1234;
	struct swhni_descriptor d = { .type = SWHNI_FSM_WRITE,
		.flags = SWHNI_TELL | SWHNI_ON_CHIP,
		.node = 31,
		.bytes = 8,
		.offset = 504,
		.own_key = ST_OWN };
	sim_time t;

	if (node == 31) {
		program_wait(5000 * SIM_NS);
		a = st_now(&q);
		assert_int_equal(swhni_chip_load(&a, q.interface, 0, 504,
					 &m->seen, 8, &t),
			0);
		assert_true(t > a.t);
		word = 0x5678;
		assert_int_equal(
			swhni_chip_store(&a, q.interface, 0, 0, &word, 8), 0);
	}
	if (node)
		return;
	assert_int_equal(swhni_fsm(&a, q.interface, 0, &d, &word, a.t, a.t), 0);
	assert_int_equal(st_error(&q), SWHNI_OK);
	program_wait(6000 * SIM_NS);
	d.type = SWHNI_FSM_READ;
	d.offset = 0;
	a = st_now(&q);
	assert_int_equal(swhni_fsm(&a, q.interface, 0, &d, NULL, a.t, a.t), 0);
	assert_int_equal(st_error(&q), SWHNI_OK);
	assert_int_equal(st_load(ST_SOURCE), 0x5678);
	/* and of memory */
	d.flags = SWHNI_TELL;
	d.key = ST_KEY;
	a = st_now(&q);
	assert_int_equal(swhni_fsm(&a, q.interface, 0, &d, NULL, a.t, a.t), 0);
	assert_int_equal(st_error(&q), SWHNI_OK);
	assert_int_equal(st_load(ST_SOURCE), 0);
}

/* SUN-F70 */
static void short_messages_reach_memory_and_the_chips_own(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 0, chip_program);
	assert_int_equal(m.seen, 0x1234);
	st_fini(&m);
}

TESTS(TEST(a_reply_word_counts_a_write_when_its_bytes_are_there),
	TEST(an_event_tells_of_a_write_when_its_bytes_are_there),
	TEST(a_notice_comes_behind_the_bytes_of_its_write),
	TEST(reads_bring_their_bytes),
	TEST(messages_go_into_the_next_slots_of_a_queue),
	TEST(a_full_queue_puts_messages_off_and_loses_datagrams),
	TEST(short_messages_of_all_lengths_arrive),
	TEST(short_messages_reach_memory_and_the_chips_own))
