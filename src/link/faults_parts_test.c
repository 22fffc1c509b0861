/* What plans name: the parts that a topology, links and a machine have. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "link/faults.h"
#include "testing/testing.h"
#include "topo/fattree_testing.h"
#include "topo/torus_testing.h"

static struct fattree tree;
static struct torus torus;

static int set_up(void **state)
{
	tree_make(&tree, &(struct tree_how){ .nodes = "16", .radix = "4" });
	torus_make(&torus, "4x3x2", "mesh");
	return 0;
}

/* Lines separated by '|', which a plan refers to until the next one. */
static int try(struct fault_plan *p, const struct topo *t, const char *events,
	struct err *e)
{
	static struct fault_params text;
	char copy[512], *save = NULL;

	param_lines_free(&text.events);
	snprintf(copy, sizeof(copy), "%s", events);
	for (char *s = strtok_r(copy, "|", &save); s;
		s = strtok_r(NULL, "|", &save))
		param_lines_add(&text.events, s, "");
	return fault_plan_read(p, &text, t, e);
}

static void refuse(const struct topo *t, const struct fault_plan *how,
	const char *event, const char *what)
{
	const char *last = strrchr(event, '|');
	struct fault_plan p = *how;
	struct err e = { .text = "" };
	char want[256];

	assert_int_equal(try(&p, t, event, &e), -1);
	snprintf(want, sizeof(want), "faults: \"%s\": %s",
		last ? last + 1 : event, what);
	assert_string_equal(e.text, want);
	fault_plan_free(&p);
}

static const struct fault_plan plain = { 0 };

static void a_word_that_is_no_part_is_refused_with_those_that_are(void **state)
{
	const struct fault_plan lanes = { .lanes = 3 };

	refuse(&tree.topo, &plain, "1 us swich 1.0 dies",
		"unknown part \"swich\"; did you mean switch? (this "
		"machine has: link, switch, node, uplinks)");
	refuse(&torus.topo, &plain, "1 us switch 1.0 dies",
		"unknown part \"switch\" (this machine has: link, "
		"node)");
	refuse(&torus.topo, &lanes, "1 us gpu 1 dies",
		"unknown part \"gpu\" (this machine has: lane, link, "
		"node)");
}

static void a_port_without_a_wire_is_called_so(void **state)
{
	refuse(&torus.topo, &plain, "1 us link 0 A- dies",
		"nothing is connected to port A- of node 0 (0,0,0)");
	refuse(&torus.topo, &plain, "1 us link 3 A+ dies",
		"nothing is connected to port A+ of node 3 (3,0,0)");
	refuse(&torus.topo, &plain, "1 us link 0 AA+ dies",
		"unknown port \"AA+\"; did you mean A+?");
	refuse(&tree.topo, &plain, "1 us link 2.1 A+ dies",
		"unknown port \"A+\" (switch 2.1 has, for example, down 0 "
		"and down 3)");
	refuse(&tree.topo, &plain, "1 us link 0 sideways dies",
		"unknown port \"sideways\" (node 0 has only link)");
	refuse(&tree.topo, &plain, "1 us link 2.1 up 0 dies",
		"nothing is connected to port up 0 of switch 2.1");
}

/* A node of a torus has a number and coordinates. */
static void a_router_may_be_named_in_several_ways(void **state)
{
	struct fault_plan p = { 0 };
	struct err e = { .text = "" };

	assert_int_equal(
		try(&p, &torus.topo,
			"1 us link 5 B+ dies|2 us link 1,1,0 B+ returns|3 us "
			"link (1,1,0) B+ dies|4 us link 1,2,0 B- returns",
			&e),
		0);
	assert_int_equal(p.n_events, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(p.event[i].site, 5);
		assert_int_equal(p.event[i].port, 2);
		assert_ptr_equal(p.event[i].kind, &part_link);
	}
	fault_plan_free(&p);
}

static void a_buffer_has_a_port_and_a_channel_or_a_number(void **state)
{
	const struct fault_plan how = { .has_buffers = true };
	struct fault_plan p = how;
	struct err e = { .text = "" };

	assert_int_equal(try(&p, &torus.topo,
				 "9 us buffer 5 B- system flips 2|"
				 "1 us buffer 5 A+ resend flips 1|"
				 "1 us buffer 1,1,0 injection 10 flips 1",
				 &e),
		0);
	assert_int_equal(p.n_flips, 3);
	assert_int_equal(p.n_events, 0);
	assert_int_equal(
		p.flip[0].buffer, fault_buffer_of(FAULT_RECEIVER, 3, 3));
	assert_int_equal(p.flip[0].bits, 2);
	assert_int_equal(p.flip[1].buffer, fault_buffer_of(FAULT_SENDER, 0, 0));
	assert_int_equal(
		p.flip[2].buffer, fault_buffer_of(FAULT_INJECTION, 10, 0));
	assert_int_equal(p.flip[2].site, 5);
	assert_false(fault_plan_is_empty(&p));
	fault_plan_free(&p);
	refuse(&torus.topo, &how, "1 us buffer 5 B- sytem flips 2",
		"want a port's dynamic, deterministic, high, system, world, "
		"sub or resend buffer; did you mean system?");
	refuse(&torus.topo, &how, "1 us buffer 5 injection 7 flips 2",
		"nodes have injection FIFOs 0 to 5 and 10 to 15");
	refuse(&torus.topo, &how, "1 us buffer 5 B- system flips 3",
		"want flips 1 or flips 2");
	refuse(&torus.topo, &how, "1 us buffer 5 B- system dies",
		"a buffer does not die or return (want flips 1 or flips 2)");
	refuse(&torus.topo, &how, "1 us node 5 flips 2",
		"flips is only for buffers (want dies)");
	refuse(&torus.topo, &how, "1 us buffer 5 flips 2",
		"the name of the buffer is missing (want, for example, buffer "
		"5 B- system or buffer 5 injection 3)");
	refuse(&torus.topo, &plain, "1 us buffer 5 B- system dies",
		"unknown part \"buffer\" (this machine has: link, node)");
}

/* --- a machine's own parts: cards of two links each, and hosts --- */

static int read_own(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	p->port = PART_SITE;
	p->unit = 7;
	return part_find_site(
		names, k->word, word[0], 0, names->topo->n_nodes, &p->site, e);
}

static bool card_wire(const struct topo *t, const struct part *p, uint32_t i,
	struct topo_end *end)
{
	*end = (struct topo_end){ p->site, 2 * i };
	return i < 2;
}

static const struct part_kind card = {
	.word = "card", .read = read_own, .wire = card_wire
};
static const struct part_kind host = { .word = "host", .read = read_own };
static const struct part_kind *const own[] = { &card, &host, NULL };

static void a_machine_has_parts_of_its_own(void **state)
{
	struct fault_plan p = { .parts = own };
	struct err e = { .text = "" };
	struct faults *f;
	sim_time t = 1500 * SIM_NS;

	refuse(&torus.topo, &p, "1 us hots 1 dies",
		"unknown part \"hots\"; did you mean host? (this "
		"machine has: link, node, card, host)");
	assert_int_equal(try(&p, &torus.topo,
				 "1 us card 0 dies|2 us card 0 returns|"
				 "1 us host 0 dies",
				 &e),
		0);
	f = faults_new(&p, &torus.topo, 1, 1);
	/* a card's links, both ways; a host is its owner's affair */
	assert_int_equal(f->n_outages, 4);
	assert_true(faults_cut(f, 0, t, t + 1));
	assert_true(faults_cut(f, 2, t, t + 1));
	assert_false(faults_cut(f, 4, t, t + 1));
	assert_int_equal(f->n_deaths, 0);
	assert_ptr_equal(p.event[2].kind, &host);
	assert_int_equal(p.event[2].unit, 7);
	faults_free(f);
	fault_plan_free(&p);
}

/* --- buffers --- */

enum { LOAD = 64 };

static size_t load_bytes(const struct packet *p)
{
	return LOAD;
}

/* One word in ten has a bad bit, which lies in the packet's own bytes until it
 * has been read through the code. */
static void bgq_f79_what_the_code_mends_is_as_it_was(void **state)
{
	struct fault_plan p = { .memories = { UINT64_C(100000000000000000), 0 },
		.has_buffers = true };
	struct faults *f = faults_new(&p, &torus.topo, 1, 1);
	uint8_t load[LOAD], was[LOAD];
	struct packet x = { .load = (uint64_t)(uintptr_t)load };

	for (uint32_t i = 0; i < LOAD; i++)
		load[i] = was[i] = (uint8_t)(37 * i + 5);
	f->load_bytes = load_bytes;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_true(faults_read_buffer(f, 0, 0,
			fault_buffer_of(FAULT_RECEIVER, 1, 0), &x, LOAD, i));
		assert_memory_equal(load, was, LOAD);
	}
	assert_in_range(faults_mended(f), 600, 1000);
	faults_free(f);
}

/* --- lanes --- */

/* SUN-F91 */
static void lanes_die_one_after_the_other(void **state)
{
	struct fault_plan p = { .lanes = 3, .least_lanes = 2 };
	struct err e = { .text = "" };
	struct faults *f;

	refuse(&torus.topo, &p, "1 us lane 0 A+ 3 dies",
		"links have lanes 0 to 2");
	refuse(&torus.topo, &p, "1 us lane 0 A+ dies",
		"\"A+\" is not a lane number");
	refuse(&torus.topo, &p, "1 us lane 0 A+ 1 dies|2 us lane 1 A- 1 dies",
		"the part is dead already at this time");
	assert_int_equal(try(&p, &torus.topo,
				 "10 us lane 0 A+ 1 dies|20 us lane 1 A- 0 "
				 "dies|30 us lane 0 A+ 1 returns|40 us lane 0 "
				 "A+ 0 returns",
				 &e),
		0);
	f = faults_new(&p, &torus.topo, 1, 1);
	assert_int_equal(f->n_narrow, 2);
	for (sim_time us = 0; us < 60; us++) {
		sim_time t = us * 1000 * SIM_NS;
		bool narrow = us >= 10 && us < 40;
		bool dead = us >= 20 && us < 30; /* one of three is left */

		assert_int_equal(faults_cut(f, 0, t, t + 1), dead);
		assert_int_equal(faults_cut(f, 7, t, t + 1), dead);
		assert_int_equal(faults_dead_lanes(f, 0, t), narrow && !dead);
		assert_int_equal(faults_dead_lanes(f, 7, t), narrow && !dead);
		assert_int_equal(faults_dead_lanes(f, 1, t), 0);
	}
	faults_free(f);
	fault_plan_free(&p);
}

/* As many as their rate says, each of its length, and nothing between them;
 * whatever pieces the line is looked at in. */
static void bursts_have_their_rate_and_their_length(void **state)
{
	struct fault_plan p = { 0 };
	struct fault_params text = { 0 };
	struct err e = { .text = "" };
	uint32_t bit[512], n, bursts = 0, all = 0;
	struct faults *f;

	param_lines_add(&text.bursts, "1e-4 20", "");
	assert_int_equal(fault_plan_read(&p, &text, &torus.topo, &e), 0);
	assert_false(fault_plan_is_empty(&p));
	f = faults_new(&p, &torus.topo, 1, 1);
	for (uint32_t piece = 0; piece < 10000; piece++) {
		n = faults_add_bursts(f, 0, 0, 1000, bit, 0, 512);
		all += n;
		bursts += n && (bit[n - 1] - bit[0] == 19 || bit[n - 1] == 999);
		assert_true(!n || bit[n - 1] - bit[0] <= 999);
	}
	/* 1,000 of them; one in a hundred is cut, some share a piece */
	assert_in_range(bursts, 850, 1050);
	assert_in_range(all, 10 * 1000, 12 * 1000);
	faults_free(f);
	fault_plan_free(&p);
	param_lines_free(&text.bursts);
}

/* SUN-F91 */
static void a_link_is_dead_while_it_is_trained_anew(void **state)
{
	struct fault_plan p = { .lanes = 3, .retrain = 1000 * SIM_NS };
	struct err e = { .text = "" };
	struct faults *f;

	assert_int_equal(try(&p, &torus.topo, "10 us lane 0 A+ 1 dies", &e), 0);
	f = faults_new(&p, &torus.topo, 1, 1);
	assert_false(faults_cut(f, 0, 9999 * SIM_NS, 10000 * SIM_NS));
	assert_true(faults_cut(f, 0, 10000 * SIM_NS, 10001 * SIM_NS));
	assert_true(faults_cut(f, 0, 10999 * SIM_NS, 11000 * SIM_NS));
	assert_false(faults_cut(f, 0, 11000 * SIM_NS, 99000 * SIM_NS));
	faults_free(f);
	fault_plan_free(&p);
}

/* --- many --- */

static void long_plans_are_read_quickly(void **state)
{
	enum { LINES = 32587 };
	struct fattree big = { 0 };
	struct fault_plan p = { 0 };
	struct fault_params text = { 0 };
	struct err e = { .text = "" };
	clock_t start = clock();
	uint32_t switches;

	tree_make(&big, &(struct tree_how){ .nodes = "4096", .radix = "4" });
	switches = big.topo.n_routers - big.topo.n_nodes;
	for (uint32_t i = 0; i < LINES; i++) {
		char name[32], line[64];

		big.topo.ops->name_router(&big.topo,
			big.topo.n_nodes + i % switches, name, sizeof(name));
		snprintf(line, sizeof(line), "%u us switch %s %s", i, name,
			i / switches % 2 ? "returns" : "dies");
		param_lines_add(&text.events, line, "");
	}
	assert_int_equal(fault_plan_read(&p, &text, &big.topo, &e), 0);
	assert_int_equal(p.n_events, LINES);
	/* 26 s where each name is looked for */
	assert_true(clock() - start < 3 * CLOCKS_PER_SEC);
	param_lines_free(&text.events);
	fault_plan_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_word_that_is_no_part_is_refused_with_those_that_are),
		cmocka_unit_test(a_port_without_a_wire_is_called_so),
		cmocka_unit_test(a_router_may_be_named_in_several_ways),
		cmocka_unit_test(a_machine_has_parts_of_its_own),
		cmocka_unit_test(a_buffer_has_a_port_and_a_channel_or_a_number),
		cmocka_unit_test(bgq_f79_what_the_code_mends_is_as_it_was),
		cmocka_unit_test(lanes_die_one_after_the_other),
		cmocka_unit_test(a_link_is_dead_while_it_is_trained_anew),
		cmocka_unit_test(bursts_have_their_rate_and_their_length),
		cmocka_unit_test(long_plans_are_read_quickly),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
