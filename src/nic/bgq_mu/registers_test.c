#include "nic/bgq_mu/mu.h"
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

static uint64_t errors(enum mu_interrupt kind)
{
	return sw_load(MU_ERROR_COUNT, kind);
}

static void run_one(void (*run)(void *arg))
{
	const struct sw_program p = { 1, run, NULL };

	sw_run_on("2", 1, &p, 1);
}

/* --- what there is --- */

static void use_all(void *arg)
{
	for (uint32_t i = 0; i < MU_INJ_FIFOS; i++)
		sw_store_system(MU_INJ_START, i, 64 * i);
	for (uint32_t i = 0; i < MU_REC_FIFOS; i++)
		sw_store_system(MU_REC_SIZE, i, 32 * i);
	for (uint32_t i = 0; i < MU_BASES; i++)
		sw_store_system(MU_BASE, i, 3 * i);
	program_charge(20000 * SIM_NS);
	assert_int_equal(errors(MU_ERROR_REGISTER), 0);
	for (uint32_t i = 0; i < 544; i++) {
		assert_int_equal(sw_load(MU_INJ_START, i), 64 * i);
		assert_int_equal(sw_load(MU_BASE, i), 3 * i);
	}
	for (uint32_t i = 0; i < 272; i++)
		assert_int_equal(sw_load(MU_REC_SIZE, i), 32 * i);
	/* one beyond, whoever stores */
	sw_store_system(MU_INJ_START, 544, 64);
	sw_store_system(MU_REC_SIZE, 272, 64);
	sw_store_system(MU_BASE, 544, 64);
	sw_store(MU_BASE, 544, 64);
	sw_store_system(MU_INJ_OWNED, MU_SUBGROUPS, 1);
	program_charge(1000 * SIM_NS);
	assert_int_equal(errors(MU_ERROR_REGISTER), 5);
	assert_int_equal(errors(MU_ERROR_PERMISSION), 0);
	assert_int_equal(sw_load(MU_INJ_START, 544), 0);
	assert_int_equal(sw_load(MU_REC_SIZE, 272), 0);
	assert_int_equal(sw_load(MU_BASE, 544), 0);
	assert_int_equal(sw_load(MU_BASE, 65535), 0);
}

static void bgq_f87_counts_of_fifos_and_bases(void **state)
{
	run_one(use_all);
}

/* --- the slave port --- */

/* A FIFO's, another's, a base address, a barrier's. */
static void store_each_kind(void *arg)
{
	static const uint32_t reg[][2] = { { MU_INJ_THRESHOLD, 9 },
		{ MU_REC_THRESHOLD, 5 }, { MU_BASE, 3 }, { MU_GI_CONTROL, 2 },
		{ MU_INJ_THRESHOLD, 10 } };
	sim_time t = program_now();

	for (uint32_t i = 0; i < 5; i++)
		sw_store(reg[i][0], reg[i][1], i + 1);
	for (uint32_t i = 0; i < 5; i++) {
		program_wait(t + (55 + 5 * (sim_time)i) * SIM_NS - 1);
		assert_int_equal(sw_load(reg[i][0], reg[i][1]), 0);
		program_charge(1);
		assert_int_equal(sw_load(reg[i][0], reg[i][1]), i + 1);
	}
	sw_store(MU_GI_CONTROL, 2, 0);
}

SW_ALONE(bgq_f103_all_registers_share_one_port, "2", store_each_kind)

struct copy {
	uint32_t n_stores;
	sim_time took;
	uint64_t reads, writes;
};

static void copy_while_storing(void *arg)
{
	struct copy *c = arg;
	struct mu_descriptor d = sw_put(0, 20000);
	struct sw_fifo f = sw_open(0, 0);
	uint64_t reads = sw_upc(MU_UPC_SLAVE_READS, 0);
	sim_time t;

	sw_open_bases(20000);
	program_wait(1000 * SIM_NS);
	t = program_now();
	sw_inject(&f, &d);
	for (uint32_t i = 0; i < c->n_stores; i++)
		sw_store(MU_INJ_THRESHOLD, 1, i);
	sw_wait_counter(SW_COUNTER);
	c->took = program_now() - t;
	program_wait(100000 * SIM_NS);
	c->writes = sw_upc(MU_UPC_SLAVE_WRITES, 0);
	c->reads = sw_upc(MU_UPC_SLAVE_READS, 0) - reads;
}

static void traffic_goes_on_meanwhile(void **state)
{
	struct copy with = { .n_stores = 1000 }, without = { 0 };
	const struct sw_program p = { 0, copy_while_storing, &with };
	const struct sw_program q = { 0, copy_while_storing, &without };

	sw_run_on("2", 1, &p, 1);
	sw_run_on("2", 1, &q, 1);
	assert_int_equal(with.took, without.took);
	assert_int_equal(with.writes, without.writes + 1000);
	assert_int_equal(with.reads, 2);
}

/* --- an injection FIFO's registers --- */

static void fill_to(struct sw_fifo *f, uint32_t n)
{
	const struct mu_descriptor d = sw_put(0, 8);

	while (n--)
		sw_write(f, &d);
	sw_advance(f);
	sw_wait_sent(f);
}

static void cross(void *arg)
{
	const uint32_t bit = 1u << MU_INT_INJ_THRESHOLD;
	struct sw_fifo f = sw_open(13, 0);

	sw_open_bases(100);
	sw_store(MU_INJ_THRESHOLD, 13, 10);
	program_charge(1000 * SIM_NS);
	assert_int_equal(errors(MU_INT_INJ_THRESHOLD), 0);
	fill_to(&f, 4); /* 11 are free: never at the threshold */
	assert_int_equal(errors(MU_INT_INJ_THRESHOLD), 0);
	assert_int_equal(sw_load(MU_INJ_CROSSED, 1), 0);
	fill_to(&f, 8); /* 7, then 8, 9, 10, 11, ... */
	assert_int_equal(errors(MU_INT_INJ_THRESHOLD), 1);
	assert_int_equal(sw_load(MU_INJ_CROSSED, 1), 1 << 13 % 8);
	assert_int_equal(sw_load(MU_INT_STATUS, 0), bit);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_NON_CRITICAL), bit);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_CRITICAL), 0);
	sw_store(MU_INJ_CROSSED, 1, 1 << 13 % 8);
	sw_store_system(MU_INT_STATUS, 0, bit);
	sw_store_system(MU_INT_MASK, 0, ~(uint64_t)bit);
	program_charge(1000 * SIM_NS);
	assert_int_equal(sw_load(MU_INJ_CROSSED, 1), 0);
	assert_int_equal(sw_load(MU_INT_STATUS, 0), 0);
	fill_to(&f, 5); /* 10: at the threshold is not above it */
	assert_int_equal(errors(MU_INT_INJ_THRESHOLD), 2);
	assert_int_equal(sw_load(MU_INT_STATUS, 0), bit);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_NON_CRITICAL), 0);
	sw_store(MU_INJ_THRESHOLD, 13, 0); /* off */
	program_charge(1000 * SIM_NS);
	fill_to(&f, 15);
	assert_int_equal(errors(MU_INT_INJ_THRESHOLD), 2);
}

SW_ALONE(bgq_f107_one_interrupt_per_crossing, "2", cross)

/* --- rights --- */

static void store_as_user(void *arg)
{
	static const enum mu_register systems[] = {
		MU_INJ_START,
		MU_INJ_SIZE,
		MU_INJ_ENABLE,
		MU_INJ_ATTRIBUTES,
		MU_REC_START,
		MU_REC_SIZE,
		MU_REC_ENABLE,
		MU_INJ_OWNED,
		MU_REC_OWNED,
		MU_BASE_OWNED,
		MU_RANGE_FIRST,
		MU_RANGE_LAST,
		MU_RANGE_RIGHTS,
		MU_INT_STATUS,
		MU_INT_MASK,
		MU_INT_GROUP,
		MU_FAULT,
		MU_INJ_ENABLE_GROUP,
		MU_SENT_CHANNELS,
		MU_TIMEOUT,
	};
	static const struct {
		enum mu_register kind;
		uint32_t number;
	} of_system[] = {
		{ MU_INJ_THRESHOLD, 512 },
		{ MU_INJ_TAIL, 512 },
		{ MU_REC_THRESHOLD, 256 },
		{ MU_REC_HEAD, 256 },
		{ MU_BASE, 512 },
		{ MU_INJ_CROSSED, 64 },
		{ MU_REC_CROSSED, 64 },
		{ MU_REC_ARRIVED, 64 },
	};
	enum { N = sizeof(systems) / sizeof(systems[0]) };
	enum { M = sizeof(of_system) / sizeof(of_system[0]) };
	uint64_t was[N];

	sw_open_at(0, 0, 0x1000, 256);
	sw_open_at(512, 0, 0x2000, 256);
	sw_open_rec(0, 256);
	sw_open_rec(256, 256);
	sw_store(MU_BASE, 511, 5);
	program_charge(1000 * SIM_NS);
	assert_int_equal(errors(MU_ERROR_PERMISSION), 0);
	for (size_t i = 0; i < N; i++)
		was[i] = sw_load(systems[i], 0);
	for (size_t i = 0; i < N; i++)
		sw_store(systems[i], 0, was[i] ? 0 : 64);
	program_charge(1000 * SIM_NS);
	assert_int_equal(errors(MU_ERROR_PERMISSION), N);
	for (size_t i = 0; i < N; i++) /* but the status, which tells of it */
		if (systems[i] != MU_INT_STATUS)
			assert_int_equal(sw_load(systems[i], 0), was[i]);
	for (size_t i = 0; i < M; i++)
		sw_store(of_system[i].kind, of_system[i].number, 0x2040);
	program_charge(1000 * SIM_NS);
	assert_int_equal(errors(MU_ERROR_PERMISSION), N + M);
	assert_int_equal(sw_load(MU_ERROR_NUMBER, 0), 64);
	assert_int_equal(sw_load(MU_INJ_TAIL, 512), 0x2000);
	assert_int_equal(sw_load(MU_BASE, 512), 0);
	assert_int_equal(sw_load(MU_BASE, 511), 5);
	assert_int_equal(errors(MU_ERROR_REGISTER), 0);
}

static void bgq_f129_users_do_not_reach_what_is_the_systems(void **state)
{
	run_one(store_as_user);
}

/* --- interrupts --- */

static void tell_errors(void *arg)
{
	const uint64_t permission = 1 << MU_ERROR_PERMISSION;
	const uint64_t reg = 1 << MU_ERROR_REGISTER;

	assert_int_equal(sw_load(MU_INT_STATUS, 0), 0);
	assert_int_equal(sw_load(MU_ERROR_ADDRESS, 0), UINT64_MAX);
	sw_store(MU_INT_MASK, 0, 0);
	sw_store_system(MU_INJ_SIZE, 77, 3);
	program_charge(1000 * SIM_NS);
	assert_int_equal(sw_load(MU_INT_STATUS, 0), permission | reg);
	assert_int_equal(
		sw_load(MU_INT_PENDING, MU_CRITICAL), permission | reg);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_MACHINE_CHECK), 0);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_NON_CRITICAL), 0);
	assert_int_equal(sw_load(MU_ERROR_NUMBER, 0), 77);
	assert_int_equal(sw_load(MU_ERROR_ADDRESS, 0), 3);
	/* Each is masked by itself, in the group that it is in, ... */
	sw_store_system(MU_INT_MASK, 0, ~reg);
	program_charge(1000 * SIM_NS);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_CRITICAL), permission);
	sw_store_system(MU_INT_MASK, 0, reg);
	program_charge(1000 * SIM_NS);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_CRITICAL), reg);
	sw_store_system(MU_INT_MASK, 0, 0);
	program_charge(1000 * SIM_NS);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_CRITICAL), 0);
	assert_int_equal(sw_load(MU_INT_STATUS, 0), permission | reg);
	/* ... and put into groups at will. */
	sw_store_system(MU_INT_MASK, 0, ~reg);
	sw_store_system(MU_INT_GROUP, MU_NON_CRITICAL, permission);
	sw_store_system(MU_INT_GROUP, MU_MACHINE_CHECK, reg);
	sw_store_system(MU_INT_GROUP, MU_CRITICAL, 0);
	program_charge(1000 * SIM_NS);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_NON_CRITICAL), permission);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_CRITICAL), 0);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_MACHINE_CHECK), 0);
	sw_store_system(MU_INT_MASK, 0, reg);
	program_charge(1000 * SIM_NS);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_NON_CRITICAL), 0);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_MACHINE_CHECK), reg);
	/* A store clears what it names and nothing else. */
	sw_store_system(MU_INT_STATUS, 0, reg);
	program_charge(1000 * SIM_NS);
	assert_int_equal(sw_load(MU_INT_STATUS, 0), permission);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_MACHINE_CHECK), 0);
	assert_int_equal(errors(MU_ERROR_REGISTER), 1);
	sw_store_system(MU_INT_GROUP, MU_GROUPS, reg);
	sw_store_system(MU_RANGE_LAST, MU_RANGES, 0);
	sw_store_system(MU_INT_PENDING, 0, 0);
	sw_store_system(MU_FAULT, 0, 7);
	program_charge(1000 * SIM_NS);
	assert_int_equal(errors(MU_ERROR_REGISTER), 5);
}

static void bgq_f131_errors_are_told_masked_and_grouped(void **state)
{
	run_one(tell_errors);
}

/* --- what cannot be --- */

static void store_badly(void *arg)
{
	struct sw_fifo f;

	sw_store_system(MU_REGISTERS, 0, 0);
	sw_store_system(MU_INJ_COUNT, 0, 5);
	sw_store_system(MU_INJ_SIZE, 0, 100);
	sw_store_system(MU_INJ_ENABLE, 0, 1); /* without memory */
	sw_store_system(MU_INJ_ENABLE_GROUP, 0, 1); /* the same */
	sw_store_system(MU_INJ_ENABLE_GROUP, 17, 0);
	sw_store_system(MU_INJ_ENABLE_GROUP, 0, UINT64_C(1) << 32);
	sw_store_system(MU_INJ_ATTRIBUTES, 0, 4);
	sw_store_system(MU_REC_ENABLE, 0, 1);
	sw_store_system(MU_REC_START, 0, 8);
	program_charge(1000 * SIM_NS);
	assert_int_equal(errors(MU_ERROR_REGISTER), 10);
	f = sw_open_at(0, 0, 0x1000, 256);
	sw_store_system(MU_INJ_START, 0, 0); /* while it is active */
	sw_store_system(MU_INJ_ATTRIBUTES, 0, 1);
	sw_store(MU_INJ_TAIL, 0, f.at + 256);
	sw_store(MU_INJ_TAIL, 0, f.at - 64);
	sw_store(MU_INJ_TAIL, 0, f.at + 8);
	program_charge(1000 * SIM_NS);
	assert_int_equal(errors(MU_ERROR_REGISTER), 15);
	assert_int_equal(sw_load(MU_INJ_START, 0), f.at);
	assert_int_equal(sw_load(MU_INJ_TAIL, 0), f.at);
	assert_int_equal(sw_load(MU_INJ_ATTRIBUTES, 0), 0);
	sw_open_rec(3, 256);
	sw_store(MU_REC_HEAD, 3, SW_REC + 3 * SW_REC_BYTES + 32);
	program_charge(1000 * SIM_NS);
	assert_int_equal(errors(MU_ERROR_OVERRUN), 1);
}

static void what_cannot_be_is_refused(void **state)
{
	run_one(store_badly);
}

/* A tail may not pass the head: the third of four places is the last. */
static void overrun(void *arg)
{
	struct mu_descriptor d = sw_put(0, 100000);
	struct sw_fifo f = sw_open_at(8, 0, SW_FIFOS, 256);

	sw_open_bases(300000);
	program_charge(1000 * SIM_NS);
	sw_write(&f, &d);
	sw_write(&f, &d);
	sw_inject(&f, &d);
	program_charge(1000 * SIM_NS);
	assert_int_equal(sw_load(MU_INJ_FREE, 8), 0);
	sw_store(MU_INJ_TAIL, 8, f.at);
	sw_store(MU_INJ_TAIL, 8, f.at + 64);
	program_charge(1000 * SIM_NS);
	assert_int_equal(errors(MU_ERROR_OVERRUN), 2);
	assert_int_equal(sw_load(MU_INJ_TAIL, 8), f.at + 192);
	sw_wait_counter(SW_COUNTER);
}

SW_ALONE(a_tail_does_not_pass_the_head, "2", overrun)

TESTS(TEST(bgq_f87_counts_of_fifos_and_bases),
	TEST(bgq_f103_all_registers_share_one_port),
	TEST(traffic_goes_on_meanwhile),
	TEST(bgq_f107_one_interrupt_per_crossing),
	TEST(bgq_f129_users_do_not_reach_what_is_the_systems),
	TEST(bgq_f131_errors_are_told_masked_and_grouped),
	TEST(what_cannot_be_is_refused), TEST(a_tail_does_not_pass_the_head))
