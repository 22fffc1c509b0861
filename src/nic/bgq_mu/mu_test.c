#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "nic/bgq_mu/bgq_mu.h"
#include "nic/bgq_mu/descriptor.h"
#include "nic/nic_testing.h"

enum {
	FIFO_AT = 0x10000,
	FIFO_BYTES = 1024,
	COUNTER_AT = 0x2000,
	SOURCE_AT = 0x100000,
	TARGET_AT = 0x200000,
	BASE_PAYLOAD = 3,
	BASE_COUNTER = 543,
};

/* --- what software does, without an interface that helps it --- */

static void store(uint32_t kind, uint32_t number, uint64_t value)
{
	struct nic *nic = host_nic(program_host());

	nic->ops->store(nic, program_worker(), program_node(), program_now(),
		MU_REGISTER(kind, number), value);
}

static uint64_t load(uint32_t kind, uint32_t number)
{
	struct nic *nic = host_nic(program_host());

	return nic->ops->load(nic, program_node(), MU_REGISTER(kind, number));
}

static void open_fifo(uint32_t id, uint64_t at)
{
	store(MU_INJ_START, id, at);
	store(MU_INJ_SIZE, id, FIFO_BYTES);
	store(MU_INJ_ENABLE, id, 1);
}

static void open_bases(void)
{
	store(MU_BASE, BASE_PAYLOAD, TARGET_AT);
	store(MU_BASE, BASE_COUNTER,
		COUNTER_AT | MU_ATOMIC | MU_ATOMIC_STORE_ADD);
}

/* A put to the node whose first coordinate is x, and whose others are 0. */
static struct mu_descriptor make_put(uint32_t x, uint64_t length)
{
	struct mu_descriptor d;

	memset(&d, 0, sizeof(d));
	mu_set_payload(&d, SOURCE_AT, length);
	mu_set_fifo_map(&d, MU_MAP_TORUS);
	d.header.byte[0] = MU_PT2PT;
	d.header.byte[2] = 0x04;
	mu_set(d.header.byte + 4, 4, x << 24);
	mu_set_packet(&d.header, MU_PUT, 16);
	mu_set_put(&d.header, BASE_PAYLOAD, 0);
	mu_set_counter(&d.header, BASE_COUNTER, 0);
	return d;
}

/* Writes it as the i-th of a FIFO that did not wrap. */
static void inject(
	uint32_t id, uint64_t fifo, uint32_t i, const struct mu_descriptor *d)
{
	assert_true(program_write(fifo + i * sizeof(*d), d, sizeof(*d)));
	store(MU_INJ_TAIL, id, fifo + (i + 1) * sizeof(*d));
}

static void wait_for_counter(void)
{
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	assert_true(program_poll(COUNTER_AT, WORD_IS, 0, loop, &word));
}

/* --- time --- */

struct timed {
	uint64_t length;
	sim_time sent, seen;
};

static void send_timed(void *arg)
{
	struct timed *t = arg;
	struct mu_descriptor d = make_put(1, t->length);

	open_fifo(17, FIFO_AT);
	program_wait(1000 * SIM_NS);
	t->sent = program_now();
	inject(17, FIFO_AT, 0, &d);
}

static void receive_timed(void *arg)
{
	struct timed *t = arg;

	assert_true(program_write(COUNTER_AT, &t->length, 8));
	open_bases();
	wait_for_counter();
	t->seen = program_now();
}

/*
 * One packet on an idle machine, neighbours on a board: the sum of the
 * split, to the picosecond.  285 ns to inject and 180 to receive are of a
 * payload of one chunk; a full one needs three more reads of 128 bytes.
 */
static void a_packet_takes_the_sum_of_its_stages(void **state)
{
	static const struct {
		uint64_t length;
		sim_time inside, wire;
	} cases[] = {
		{ 8, 465 * SIM_NS, 41400 + 36 * SIM_NS },
		{ 32, 465 * SIM_NS, 41400 + 36 * SIM_NS },
		{ 33, 465 * SIM_NS, 41400 + 52 * SIM_NS },
		{ 128, 465 * SIM_NS, 41400 + 84 * SIM_NS },
		{ 512, 480 * SIM_NS, 41400 + 276 * SIM_NS },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct timed a = { .length = cases[i].length };
		struct timed b = a;
		struct nic_testing m;

		nic_testing_init(&m, &bgq_mu_ops, "2x2x2");
		nic_testing_start(&m, 1, 2);
		program_start(m.host, 0, 0, 0, send_timed, &a);
		program_start(m.host, 1, 0, 0, receive_timed, &b);
		nic_testing_run(&m);
		assert_int_equal(
			b.seen - a.sent, cases[i].inside + cases[i].wire);
		nic_testing_fini(&m);
	}
}

/* --- order --- */

/* Many descriptors, in a FIFO that wraps round. */
static void send_many(void *arg)
{
	const uint32_t places = FIFO_BYTES / MU_DESCRIPTOR_BYTES;
	uint32_t n = *(uint32_t *)arg, i;

	for (i = 0; i < 256; i++)
		assert_true(program_write(
			SOURCE_AT + i, &(uint8_t){ (uint8_t)i }, 1));
	open_fifo(5, FIFO_AT);
	program_wait(1000 * SIM_NS);
	for (i = 0; i < n; i++) {
		struct mu_descriptor d = make_put(1, 1);
		uint64_t next = (i + 1) % places;

		mu_set_payload(&d, SOURCE_AT + i % 256, 1);
		mu_set_put(&d.header, BASE_PAYLOAD, i);
		while (!load(MU_INJ_FREE, 5))
			program_charge(100 * SIM_NS);
		assert_true(program_write(
			FIFO_AT + i % places * sizeof(d), &d, sizeof(d)));
		store(MU_INJ_TAIL, 5, FIFO_AT + next * sizeof(d));
		program_charge(60 * SIM_NS);
	}
	while (load(MU_INJ_COUNT, 5) < n)
		program_charge(100 * SIM_NS);
	assert_int_equal(load(MU_INJ_HEAD, 5), load(MU_INJ_TAIL, 5));
	assert_int_equal(load(MU_INJ_FREE, 5), places - 1);
}

static void receive_many(void *arg)
{
	uint64_t n = *(uint32_t *)arg, i;
	uint8_t byte;

	assert_true(program_write(COUNTER_AT, &n, 8));
	open_bases();
	wait_for_counter();
	for (i = 0; i < n; i++) {
		assert_true(program_read(TARGET_AT + i, &byte, 1));
		assert_int_equal(byte, i % 256);
	}
}

/* BGQ-F108 */
static void descriptors_are_taken_in_order_round_the_fifo(void **state)
{
	struct nic_testing m;
	uint32_t n = 1000;

	(void)state;
	nic_testing_init(&m, &bgq_mu_ops, "4");
	nic_testing_start(&m, 2, 2);
	program_start(m.host, 0, 0, 0, send_many, &n);
	program_start(m.host, 1, 0, 0, receive_many, &n);
	nic_testing_run(&m);
	nic_testing_fini(&m);
}

/* --- what the unit refuses --- */

struct bad {
	void (*spoil)(struct mu_descriptor *d);
	uint64_t refused, sent; /* seen by the sender */
};

static void zero_type(struct mu_descriptor *d)
{
	d->header.byte[0] = 0;
}

static void no_map(struct mu_descriptor *d)
{
	mu_set_fifo_map(d, 0);
}

static void collective_channel(struct mu_descriptor *d)
{
	d->header.byte[3] = 5 << 5;
}

static void dynamic_on_deterministic(struct mu_descriptor *d)
{
	d->header.byte[3] = MU_DETERMINISTIC << 5;
}

static void no_such_node(struct mu_descriptor *d)
{
	mu_set(d->header.byte + 4, 4, 2u << 24);
}

static void no_such_dimension(struct mu_descriptor *d)
{
	mu_set(d->header.byte + 4, 4, 1);
}

static void payload_outside(struct mu_descriptor *d)
{
	mu_set_payload(d, NIC_TESTING_MEMORY - 7, 8);
}

static void endless(struct mu_descriptor *d)
{
	mu_set_payload(d, 8, UINT64_MAX);
}

static void wrong_kind(struct mu_descriptor *d)
{
	mu_set_packet(&d->header, MU_PACED_GET, 16);
}

/* A FIFO gets the bad one, another a good one later. */
static void send_bad(void *arg)
{
	struct bad *b = arg;
	struct mu_descriptor good = make_put(1, 100), d = good;

	b->spoil(&d);
	open_fifo(0, FIFO_AT);
	open_fifo(300, 2 * FIFO_AT);
	program_wait(1000 * SIM_NS);
	inject(0, FIFO_AT, 0, &d);
	inject(0, FIFO_AT, 1, &good);
	inject(300, 2 * FIFO_AT, 0, &good);
	program_charge(3000 * SIM_NS);
	b->refused = load(MU_REFUSED, 0);
	b->sent = load(MU_INJ_COUNT, 0);
	assert_int_equal(load(MU_INJ_COUNT, 300), 1);
}

static void receive_good(void *arg)
{
	uint64_t n = 100;

	(void)arg;
	assert_true(program_write(COUNTER_AT, &n, 8));
	open_bases();
	wait_for_counter();
}

static void a_bad_descriptor_stops_its_fifo_alone(void **state)
{
	static void (*const spoils[])(struct mu_descriptor * d) = {
		zero_type,
		no_map,
		collective_channel,
		dynamic_on_deterministic,
		no_such_node,
		no_such_dimension,
		payload_outside,
		endless,
		wrong_kind,
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
		struct bad b = { .spoil = spoils[i] };
		struct nic_testing m;

		nic_testing_init(&m, &bgq_mu_ops, "2x2");
		nic_testing_start(&m, 1, 2);
		program_start(m.host, 0, 0, 0, send_bad, &b);
		program_start(m.host, 1, 0, 0, receive_good, NULL);
		nic_testing_run(&m);
		assert_int_equal(b.refused, 1);
		assert_int_equal(b.sent, 0);
		nic_testing_fini(&m);
	}
}

/* Bases and offsets that lead nowhere: the bytes go nowhere. */
static void send_astray(void *arg)
{
	struct mu_descriptor d = make_put(1, 64);
	uint8_t bytes[64];

	(void)arg;
	memset(bytes, 0xee, sizeof(bytes));
	assert_true(program_write(SOURCE_AT, bytes, sizeof(bytes)));
	open_fifo(1, FIFO_AT);
	program_wait(1000 * SIM_NS);
	mu_set_put(&d.header, BASE_PAYLOAD, NIC_TESTING_MEMORY - TARGET_AT - 8);
	inject(1, FIFO_AT, 0, &d); /* over the memory's end */
	mu_set_put(&d.header, BASE_PAYLOAD + 1, 0);
	inject(1, FIFO_AT, 1, &d); /* by an entry that was never set */
	mu_set_put(&d.header, 1000, 0);
	inject(1, FIFO_AT, 2, &d); /* by one that there is not */
	mu_set_put(&d.header, BASE_PAYLOAD, 0);
	mu_set_counter(&d.header, BASE_PAYLOAD, 0);
	inject(1, FIFO_AT, 3, &d); /* a counter that is no atomic */
	mu_set_counter(&d.header, BASE_COUNTER, 3);
	inject(1, FIFO_AT, 4, &d); /* another operation */
	mu_set_counter(&d.header, BASE_COUNTER, 0);
	inject(1, FIFO_AT, 5, &d); /* all well */
}

static void receive_astray(void *arg)
{
	uint64_t n = 64;
	uint8_t end[8];

	assert_true(program_write(COUNTER_AT, &n, 8));
	open_bases();
	wait_for_counter();
	*(uint64_t *)arg = load(MU_REFUSED, 0);
	assert_true(program_read(NIC_TESTING_MEMORY - 8, end, 8));
	assert_memory_equal(end, "\0\0\0\0\0\0\0", 8);
}

static void bytes_that_lead_nowhere_go_nowhere(void **state)
{
	struct nic_testing m;
	uint64_t refused = 0;

	(void)state;
	nic_testing_init(&m, &bgq_mu_ops, "2");
	nic_testing_start(&m, 1, 2);
	program_start(m.host, 0, 0, 0, send_astray, NULL);
	program_start(m.host, 1, 0, 0, receive_astray, &refused);
	nic_testing_run(&m);
	assert_int_equal(refused, 5);
	nic_testing_fini(&m);
}

/* Registers that are not there, or not to be written so. */
static void write_badly(void *arg)
{
	uint64_t *refused = arg;

	store(MU_INJ_START, MU_INJ_FIFOS, 0);
	store(MU_BASE, MU_BASES, 0);
	store(MU_REGISTERS, 0, 0);
	store(MU_INJ_COUNT, 0, 5);
	store(MU_INJ_SIZE, 0, 100);
	store(MU_INJ_ENABLE, 0, 1); /* without memory */
	open_fifo(0, FIFO_AT);
	store(MU_INJ_START, 0, 0); /* while it is active */
	store(MU_INJ_TAIL, 0, FIFO_AT + FIFO_BYTES);
	store(MU_INJ_TAIL, 0, FIFO_AT + 8);
	program_charge(100 * SIM_NS);
	*refused = load(MU_REFUSED, 0);
	assert_int_equal(load(MU_INJ_START, 0), FIFO_AT);
	assert_int_equal(load(MU_INJ_TAIL, 0), FIFO_AT);
	assert_int_equal(load(MU_INJ_START, MU_INJ_FIFOS), 0);
	assert_int_equal(load(MU_BASE, 65535), 0);
}

static void bad_stores_are_refused(void **state)
{
	struct nic_testing m;
	uint64_t refused = 0;

	(void)state;
	nic_testing_init(&m, &bgq_mu_ops, "2");
	nic_testing_start(&m, 1, 1);
	program_start(m.host, 1, 0, 0, write_badly, &refused);
	nic_testing_run(&m);
	assert_int_equal(refused, 9);
	nic_testing_fini(&m);
}

/* --- back-pressure --- */

static void send_to_one(void *arg)
{
	struct mu_descriptor d = make_put(0, 20000);
	uint32_t i;

	(void)arg;
	mu_set_put(&d.header, BASE_PAYLOAD, program_node() * 20000);
	open_fifo(9, FIFO_AT);
	program_wait(2000 * SIM_NS);
	for (i = 0; i < 20000; i += 8)
		assert_true(program_write(SOURCE_AT + i,
			&(uint64_t){ program_node() * 20000 + i }, 8));
	inject(9, FIFO_AT, 0, &d);
}

static void receive_from_all(void *arg)
{
	uint64_t n = *(uint32_t *)arg * UINT64_C(20000), i, word;

	assert_true(program_write(COUNTER_AT, &n, 8));
	open_bases();
	wait_for_counter();
	for (i = 20000; i < n + 20000; i += 8) {
		assert_true(program_read(TARGET_AT + i, &word, 8));
		assert_int_equal(word, i);
	}
}

/* An engine that drains far more slowly than packets come loses none. */
static uint64_t run_hotspot(uint32_t n_workers)
{
	struct nic_testing m;
	struct mu_params *p;
	uint32_t n, i;
	uint64_t digest;

	nic_testing_init(&m, &bgq_mu_ops, "4x3x2");
	p = m.params;
	p->drain_rate = 100000000;
	nic_testing_start(&m, n_workers, 24);
	n = m.net->n_sites - 1;
	program_start(m.host, 0, 0, 0, receive_from_all, &n);
	for (i = 1; i <= n; i++)
		program_start(m.host, i, 0, 0, send_to_one, NULL);
	nic_testing_run(&m);
	digest = nic_testing_digest(&m);
	nic_testing_fini(&m);
	return digest;
}

static void nothing_is_lost_where_reception_is_slow(void **state)
{
	uint64_t digest = run_hotspot(1);

	(void)state;
	assert_int_equal(run_hotspot(2), digest);
	assert_int_equal(run_hotspot(3), digest);
	assert_int_equal(run_hotspot(7), digest);
}

/* --- what it may be built on --- */

static void a_torus_that_headers_cannot_name_is_refused(void **state)
{
	struct nic_testing m;
	struct nic_setup s = { .ops = &bgq_mu_ops };
	struct err e = { 0 };

	(void)state;
	nic_testing_init(&m, &bgq_mu_ops, "64");
	nic_testing_start(&m, 1, 1);
	s.params = m.params;
	s.net = m.net;
	s.host = m.host;
	m.torus.dim[0] = 65;
	assert_null(nic_new(&s, &e));
	assert_non_null(strstr(e.text, "at most 64"));
	m.torus.dim[0] = 64;
	m.torus.n_dims = 6;
	e.code = 0;
	assert_null(nic_new(&s, &e));
	assert_non_null(strstr(e.text, "at most 5"));
	m.torus.n_dims = 1;
	nic_testing_fini(&m);
}

static void an_unused_node_costs_a_pointer(void **state)
{
	struct nic_testing m;

	(void)state;
	nic_testing_init(&m, &bgq_mu_ops, "8x8");
	nic_testing_start(&m, 1, 1);
	assert_int_equal(m.ops->memory(m.nic), 64 * sizeof(void *));
	nic_testing_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_takes_the_sum_of_its_stages),
		cmocka_unit_test(descriptors_are_taken_in_order_round_the_fifo),
		cmocka_unit_test(a_bad_descriptor_stops_its_fifo_alone),
		cmocka_unit_test(bytes_that_lead_nowhere_go_nowhere),
		cmocka_unit_test(bad_stores_are_refused),
		cmocka_unit_test(nothing_is_lost_where_reception_is_slow),
		cmocka_unit_test(a_torus_that_headers_cannot_name_is_refused),
		cmocka_unit_test(an_unused_node_costs_a_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
