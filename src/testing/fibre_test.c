/* QsNetII with one stage of fibre: its code and its errors are its own. */
#include <stdio.h>

#include "api/elan/elan.h"
#include "host/bytes_testing.h"
#include "host/program.h"
#include "nic/elan4/elan.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"
#include "topo/fattree.h"

enum { NODES = 64, FAR = 63, PACKETS = 200, TARGET = 0x2000000 };

static void put_program(void *arg)
{
	uint8_t data[ELAN_PACKET];
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, 0, ELAN_64K, ELAN_MAY_ALL), 0);
	program_wait(10 * US);
	for (uint32_t k = 0; k < PACKETS; k++) {
		for (uint32_t i = 0; i < ELAN_PACKET; i++)
			data[i] = bytes_at(k, i);
		elan_put(&q, FAR, TARGET + ELAN_PACKET * k, data, ELAN_PACKET,
			0, 0);
	}
}

static void join_program(void *arg)
{
	struct elan_cq q;

	elan_cq_open(&q, 0, ELAN_1K, ELAN_MAY_ALL);
}

static uint64_t violations(const struct kit *k)
{
	return elan_counts(k->nic, 0).violations +
	       elan_counts(k->nic, FAR).violations;
}

static void check_bytes(const struct kit *k)
{
	uint8_t data[ELAN_PACKET];

	for (uint32_t n = 0; n < PACKETS; n++) {
		host_read(k->host, FAR, TARGET + ELAN_PACKET * n, data,
			sizeof(data));
		for (uint32_t i = 0; i < sizeof(data); i++)
			assert_int_equal(data[i], bytes_at(n, i));
	}
}

/* Puts across a tree whose cables between levels 1 and 2 are of 20 m. */
static void run(struct kit *k, const char *errors, uint32_t n_workers)
{
	const char *const sets[] = { "topology.cable.length=5,20,13", errors,
		NULL };

	kit_open(k, &(struct kit_how){ .machine = "qsnet2",
			    .shape = "64",
			    .sets = sets,
			    .n_workers = n_workers,
			    .needs.n_programs = 2 });
	program_start(k->host, 0, 0, 0, put_program, NULL);
	program_start(k->host, FAR, 0, 0, join_program, NULL);
	kit_run(k, true);
	check_bytes(k);
}

/* Errors of the fibres alone: they are all there, and some are no symbols. */
static void qsn_f75_errors_of_fibres_are_those_of_4b5b(void **state)
{
	struct kit k;

	run(&k, "faults.bit-errors=fibre 1e-5", 1);
	for (uint32_t i = 0; i < k.machine->topo->n_wires; i++) {
		uint64_t n = faults_total(k.net->faults, i).bit_errors;

		assert_int_equal(n > 0, i / 2 == 1);
	}
	assert_true(violations(&k) > 0);
	kit_close(&k);
}

/* All other cables are of copper, which has no code that could see them. */
static void qsn_f75_errors_of_copper_are_not(void **state)
{
	static const char *const copper[] = { "node up", "node down",
		"stage 2 up", "stage 2 down" };
	char errors[64];
	struct kit k;

	for (uint32_t i = 0; i < 4; i++) {
		snprintf(errors, sizeof(errors), "faults.bit-errors=%s 2e-5",
			copper[i]);
		run(&k, errors, 1);
		assert_true(elan_counts(k.nic, 0).resent > 0);
		assert_int_equal(violations(&k), 0);
		kit_close(&k);
	}
}

static void qsn_f75_errors_do_not_depend_on_threads(void **state)
{
	uint64_t torn[3];
	struct kit k;

	for (uint32_t i = 0; i < 3; i++) {
		run(&k, "faults.bit-errors=1e-5", 1 + i);
		torn[i] = 1000 * elan_counts(k.nic, FAR).torn + violations(&k);
		kit_close(&k);
	}
	assert_int_equal(torn[1], torn[0]);
	assert_int_equal(torn[2], torn[0]);
}

TESTS(TEST(qsn_f75_errors_of_fibres_are_those_of_4b5b),
	TEST(qsn_f75_errors_of_copper_are_not),
	TEST(qsn_f75_errors_do_not_depend_on_threads))
