/* QsNetII as a whole: its two chips make machines of any size, and recover from
 * errors by themselves. */
#include <stdio.h>

#include "api/elan/elan.h"
#include "host/bytes_testing.h"
#include "host/program.h"
#include "host/side_bus.h"
#include "nic/elan4/elan.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"

enum { TARGET = 0x2000000, SLOT = 512 };

/* --- QSN-F1 --- */

/* Every node puts a word into every other one's memory. */
static void all_program(void *arg)
{
	const uint32_t *n = arg;
	uint32_t me = program_node();
	struct elan_cq q;
	uint64_t word = 1000 + me;

	assert_int_equal(elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL), 0);
	program_wait(20 * US);
	for (uint32_t i = 1; i < *n; i++)
		elan_put(&q, (me + i) % *n, TARGET + 8 * (uint64_t)me, &word, 8,
			0, 0);
}

static void check_words(const struct kit *k, uint32_t n)
{
	uint64_t word;

	for (site_id s = 0; s < n; s++)
		for (site_id from = 0; from < n; from++) {
			host_read(k->host, s, TARGET + 8 * (uint64_t)from,
				&word, 8);
			assert_int_equal(word, from == s ? 0 : 1000 + from);
		}
}

static uint32_t wires_of(const struct topo *t, router_id r)
{
	uint32_t n = 0;

	for (port_id p = 0; p < t->n_ports; p++)
		n += t->ops->peer(t, r, p).router != NO_ROUTER;
	return n;
}

/* Nodes have one link, which leads to a switch; switches have up to eight, and
 * all of one kind join all nodes. */
static void check_chips(const struct topo *t)
{
	for (router_id r = 0; r < t->n_routers; r++) {
		if (r >= t->n_nodes) {
			assert_in_range(wires_of(t, r), 1, 8);
			continue;
		}
		assert_int_equal(wires_of(t, r), 1);
		assert_true(t->ops->peer(t, r, 0).router >= t->n_nodes);
	}
	assert_int_equal(t->n_ports, 8);
	assert_int_equal(t->node_ports, 1);
}

static void qsn_f1_elan4s_and_elite4s_make_machines_of_any_size(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 3, 5, 16, 17, 70 };
	char shape[16];
	struct kit k;

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t n = sizes[i];

		snprintf(shape, sizeof(shape), "%u", n);
		kit_open(&k, &(struct kit_how){ .machine = "qsnet2",
				     .shape = shape,
				     .needs.n_programs = n });
		check_chips(k.machine->topo);
		for (site_id s = 0; s < n; s++)
			program_start(k.host, s, 0, 0, all_program, &n);
		kit_run(&k, false);
		check_words(&k, n);
		/* a card in every node, and each has sent by itself */
		assert_ptr_equal(k.nic->ops, &elan4_ops);
		for (site_id s = 0; s < n; s++)
			assert_int_equal(elan_counts(k.nic, s).packets, n - 1);
		kit_close(&k);
	}
}

/* --- QSN-F6 --- */

enum { NODES = 64, PUTS = 300, FAR = 63 };

struct run {
	sim_time done; /* with its own part */
	uint64_t stored; /* bytes, by the core */
	struct elan_counts from, to;
};

static void put_program(void *arg)
{
	struct run *r = arg;
	uint8_t data[SLOT];
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, 0, ELAN_512K, ELAN_MAY_ALL), 0);
	program_wait(10 * US);
	for (uint32_t k = 0; k < PUTS; k++) {
		for (uint32_t i = 0; i < SLOT; i++)
			data[i] = bytes_at(k, i);
		elan_put(
			&q, FAR, TARGET + SLOT * (uint64_t)k, data, SLOT, 0, 0);
	}
	r->done = program_now();
}

static void join_program(void *arg)
{
	struct elan_cq q;

	elan_cq_open(&q, 0, ELAN_1K, ELAN_MAY_ALL);
}

/* Puts from one end of the machine to the other; every byte must be there. */
static struct run run(const char *faults)
{
	const char *const sets[] = { faults, NULL };
	struct run r = { 0 };
	struct kit k;
	uint8_t data[SLOT];

	kit_open(&k, &(struct kit_how){ .machine = "qsnet2",
			     .shape = "64",
			     .sets = sets,
			     .needs.n_programs = 2 });
	program_start(k.host, 0, 0, 0, put_program, &r);
	program_start(k.host, FAR, 0, 0, join_program, NULL);
	kit_run(&k, true);
	for (uint32_t n = 0; n < PUTS; n++) {
		host_read(k.host, FAR, TARGET + SLOT * (uint64_t)n, data, SLOT);
		for (uint32_t i = 0; i < SLOT; i++)
			assert_int_equal(data[i], bytes_at(n, i));
	}
	r.stored = side_bus_at(((struct elan *)k.nic)->side, 0)->bytes[BUS_OUT];
	r.from = elan_counts(k.nic, 0);
	r.to = elan_counts(k.nic, FAR);
	kit_close(&k);
	return r;
}

/* The program neither notices nor does anything: its core stores as many bytes
 * in the same time. */
static void same_for_the_program(const struct run *a, const struct run *b)
{
	assert_int_equal(a->stored, b->stored);
	assert_int_equal(a->done, b->done);
}

static void qsn_f6_corrupted_packets_are_detected(void **state)
{
	struct run sound = run("faults.bit-errors=0");
	struct run r = run("faults.bit-errors=1e-6");

	assert_int_equal(sound.to.torn + sound.to.unreadable, 0);
	assert_true(r.to.torn > 0);
	assert_int_equal(r.to.escapes, 0);
}

static void qsn_f6_the_card_sends_them_again(void **state)
{
	struct run sound = run("faults.bit-errors=0");
	struct run r = run("faults.bit-errors=1e-6");

	assert_int_equal(sound.from.resent, 0);
	assert_true(r.from.resent >= r.to.torn);
	assert_int_equal(r.from.packets, PUTS + r.from.resent);
	same_for_the_program(&sound, &r);
}

/* One of four switches of level 2 that routes from the first four nodes pass,
 * then another; and one that none passes at the time. */
static void qsn_f6_packets_go_around_dead_switches(void **state)
{
	struct run sound = run("faults.events=none");
	uint32_t hit = 0;

	for (uint32_t i = 0; i < 4; i++) {
		char faults[64];
		struct run r;

		snprintf(faults, sizeof(faults),
			"faults.events=50 us switch 2.%u dies", i);
		r = run(faults);
		same_for_the_program(&sound, &r);
		hit += r.from.resent > 0;
	}
	/* by default a pair of nodes has one route, until it fails */
	assert_int_equal(hit, 1);
}

TESTS(TEST(qsn_f1_elan4s_and_elite4s_make_machines_of_any_size),
	TEST(qsn_f6_corrupted_packets_are_detected),
	TEST(qsn_f6_the_card_sends_them_again),
	TEST(qsn_f6_packets_go_around_dead_switches))
