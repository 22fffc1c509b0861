/* LO|FA|MO on a torus of 4x4x1: who notices what, how soon, and what is never
 * said. */
#include <string.h>

#include "base/mem.h"
#include "testing/testing.h"
#include "topo/topo_testing.h"
#include "topo/torus.h"
#include "parts/lofamo/inside.h"

enum { NODES = 16, GPUS = 2, PERIOD_MS = 500 };

#define PERIOD	(PERIOD_MS * MS)
#define LATENCY INT64_C(500000)
#define SLOT	INT64_C(57143) /* ten words of 16 B at 2.8 GB/s */

struct world {
	struct torus t;
	struct lofamo_params p;
	struct lofamo *l;
	double sum; /* of reports of something bad, ms */
	uint32_t n;
};

static void count(void *arg, sim_time t, enum lofamo_kind kind, router_id site,
	uint32_t unit, enum health state, router_id by)
{
	struct world *x = arg;

	if (state == HEALTH_NORMAL)
		return;
	x->sum += (double)t / (double)MS;
	x->n++;
}

static void make(struct world *x, uint64_t seed)
{
	struct param_block b = { "topology", torus_ops.params,
		torus_ops.n_params, &x->t, NULL, NULL };
	struct param_block w = { "lofamo", lofamo_params_table, LOFAMO_PARAMS,
		&x->p, NULL, NULL };
	struct lofamo_setup s = { .params = &x->p,
		.topo = &x->t.topo,
		.latency = LATENCY,
		.slot = SLOT,
		.n_gpus = GPUS,
		.seed = seed,
		.on_report = count,
		.arg = x };
	struct err e = { 0 };

	memset(x, 0, sizeof(*x));
	x->t.topo.ops = &torus_ops;
	topo_defaults(&x->t.topo);
	assert_int_equal(
		param_read(&b, param_find(&b, "shape"), "4x4x1", &e), 0);
	assert_int_equal(torus_ops.init(&x->t.topo, &e), 0);
	param_defaults(&w);
	assert_int_equal(lofamo_check(&x->p, &x->t.topo, &e), 0);
	x->l = lofamo_new(&s);
}

static void happen(struct world *x, sim_time at, enum lofamo_kind kind,
	router_id site, uint32_t unit, enum health state)
{
	lofamo_add(x->l, &(struct lofamo_fault){ at, kind, site, unit, state });
}

static void check_part(const struct world *x, enum lofamo_kind kind,
	router_id s, uint32_t unit, bool is_late)
{
	enum health h = lofamo_state(x->l, kind, s, unit);
	bool is_well = lofamo_is_well(x->l, kind, s, unit);

	if (is_well && h == HEALTH_DEAD)
		fail_msg("kind %u of %u is called dead", kind, s);
	if (!is_well && h == HEALTH_NORMAL && is_late)
		fail_msg("kind %u of %u is called normal", kind, s);
}

/* No healthy part is called dead, and in the end no ill one normal. */
static void check_picture(const struct world *x, bool is_late)
{
	for (router_id s = 0; s < NODES; s++) {
		check_part(x, LOFAMO_HOST, s, 0, is_late);
		check_part(x, LOFAMO_CARD, s, 0, is_late);
		check_part(x, LOFAMO_SERVICE, s, 0, is_late);
		for (uint32_t k = 0; k < GPUS; k++)
			check_part(x, LOFAMO_GPU, s, k, is_late);
		for (uint32_t k = 0; k < 4; k++)
			if (torus_ops.peer(&x->t.topo, s, k).router > s)
				check_part(x, LOFAMO_LINK, s, k, is_late);
	}
}

/* Looks often, and asks for a whole picture from some time on. */
static void run(struct world *x, sim_time from, sim_time late, sim_time end)
{
	for (sim_time t = from; t <= end; t += PERIOD / 7) {
		lofamo_run(x->l, t);
		check_picture(x, t >= late);
	}
}

#define LATE(at) ((at) + 3 * PERIOD + 2 * MS + PERIOD / 10)

/* APE-F29, APE-F30: the card notices that its host is dead, and its
 * neighbours' registers say so, and no others'. */
static void ape_f27_registers_of_neighbours_and_no_others(void **state)
{
	struct world x;
	uint32_t n = 0;

	make(&x, 1);
	happen(&x, 2000 * MS, LOFAMO_HOST, 5, 0, HEALTH_DEAD);
	lofamo_run(x.l, 2000 * MS + 1);
	assert_int_equal(x.l->node[5].host_state, HEALTH_NORMAL);
	lofamo_run(x.l, 2000 * MS + 2 * PERIOD + PERIOD / 10);
	assert_int_equal(x.l->node[5].host_state, HEALTH_DEAD);
	for (router_id s = 0; s < NODES; s++) {
		for (uint32_t p = 0; p < 4; p++) {
			bool is_near =
				torus_ops.peer(&x.t.topo, s, p).router == 5;

			n += is_near;
			assert_int_equal(x.l->node[s].neighbour[p],
				is_near ? HEALTH_DEAD : HEALTH_NORMAL);
		}
		assert_true(s == 5 || x.l->node[s].host_state == HEALTH_NORMAL);
	}
	assert_int_equal(n, 4);
	lofamo_free(x.l);
}

/* APE-F35: a card that dies is found by its host, and the other way round. */
static void ape_f26_host_and_card_watch_each_other(void **state)
{
	struct world x;

	make(&x, 2);
	happen(&x, 2100 * MS, LOFAMO_CARD, 6, 0, HEALTH_DEAD);
	happen(&x, 2100 * MS, LOFAMO_HOST, 9, 0, HEALTH_DEAD);
	lofamo_run(x.l, 2000 * MS);
	assert_int_equal(x.l->node[6].told.card, HEALTH_NORMAL);
	lofamo_run(x.l, LATE(2100 * MS));
	assert_int_equal(x.l->node[6].told.card, HEALTH_DEAD);
	assert_int_equal(lofamo_state(x.l, LOFAMO_CARD, 6, 0), HEALTH_DEAD);
	assert_int_equal(lofamo_state(x.l, LOFAMO_HOST, 6, 0), HEALTH_NORMAL);
	assert_int_equal(lofamo_state(x.l, LOFAMO_HOST, 9, 0), HEALTH_DEAD);
	assert_int_equal(lofamo_state(x.l, LOFAMO_CARD, 9, 0), HEALTH_NORMAL);
	lofamo_free(x.l);
}

/* Of all parts of a node and of its neighbours: its registers and its daemon
 * say so, whoever else may. */
static void ape_f25_nodes_know_of_their_own_and_their_neighbours(void **state)
{
	const sim_time at = 2100 * MS;
	struct lofamo_part p;
	struct world x;
	uint32_t n = 0;

	make(&x, 4);
	happen(&x, at, LOFAMO_GPU, 5, 1, HEALTH_DEAD);
	happen(&x, at, LOFAMO_HOST, 5, 0, HEALTH_SICK);
	happen(&x, at, LOFAMO_LINK, 5, 0, HEALTH_DEAD); /* to 6 */
	happen(&x, at, LOFAMO_HOST, 9, 0, HEALTH_DEAD); /* at Y+ */
	happen(&x, at, LOFAMO_CARD, 1, 0, HEALTH_DEAD); /* at Y- */
	lofamo_run(x.l, LATE(at));
	assert_int_equal(x.l->node[5].host_state, HEALTH_SICK);
	assert_true(x.l->node[5].silent >> 0 & 1);
	assert_true(x.l->node[6].silent >> 1 & 1);
	assert_false(x.l->node[5].silent >> 1 & 1);
	assert_int_equal(x.l->node[5].neighbour[2], HEALTH_DEAD);
	assert_true(x.l->node[5].silent >> 3 & 1);
	assert_int_equal(x.l->node[1].told.card, HEALTH_DEAD);
	for (uint32_t i = 0; lofamo_part(x.l, i, &p); i++) {
		bool is_own = p.kind == LOFAMO_GPU && p.site == 5;

		n += is_own;
		assert_true(!is_own || (p.by == 5 && p.unit == 1 &&
					       p.state == HEALTH_DEAD));
	}
	assert_int_equal(n, 1);
	lofamo_free(x.l);
}

/*
 * The daemon sees its card's register and nothing beside it: a bit that was
 * refreshed before the card died is still there at the next look, so that the
 * one after that finds it clear.  The report is at the Master a latency of the
 * service network later.  APE-F28.
 */
static void ape_f35_a_card_is_dead_when_its_bit_is_not_refreshed(void **state)
{
	const sim_time at = 2100 * MS;
	uint32_t late = 0;

	for (uint32_t k = 0; k < 40; k++) {
		struct lofamo_part p;
		struct world x;
		sim_time t;

		make(&x, k);
		happen(&x, at, LOFAMO_CARD, 6, 0, HEALTH_DEAD);
		for (t = at; x.l->node[6].told.card != HEALTH_DEAD;)
			lofamo_run(x.l, t += MS);
		assert_true(t - at < 2 * PERIOD + PERIOD / 5);
		late += t - at > PERIOD + PERIOD / 10;
		lofamo_run(x.l, t + 2 * MS);
		for (uint32_t i = 0; lofamo_part(x.l, i, &p) && p.by != 6;)
			i++;
		assert_true(p.kind == LOFAMO_CARD && p.site == 6 &&
			    p.state == HEALTH_DEAD);
		assert_int_equal(p.known - p.since, x.p.service);
		lofamo_free(x.l);
	}
	assert_true(late > 5);
}

/* As long as its daemon writes a host is well, and no longer. */
static void ape_f28_a_daemon_refreshes_its_hosts_register(void **state)
{
	struct lofamo_part p;
	struct world x;

	make(&x, 5);
	for (router_id s = 0; s < NODES; s++) /* nobody sleeps */
		happen(&x, 0, LOFAMO_HOST, s, 0, HEALTH_NORMAL);
	happen(&x, 9000 * MS, LOFAMO_HOST, 3, 0, HEALTH_DEAD);
	for (uint32_t k = 1; k < 90; k++) {
		lofamo_run(x.l, k * 100 * MS);
		for (router_id s = 0; s < NODES; s++) {
			assert_int_equal(
				x.l->node[s].host_state, HEALTH_NORMAL);
			assert_int_equal(x.l->node[s].told.card, HEALTH_NORMAL);
		}
	}
	assert_false(lofamo_part(x.l, 0, &p));
	lofamo_run(x.l, 9000 * MS + 2 * PERIOD + PERIOD / 10);
	for (router_id s = 0; s < NODES; s++)
		assert_int_equal(x.l->node[s].host_state,
			s == 3 ? HEALTH_DEAD : HEALTH_NORMAL);
	lofamo_free(x.l);
}

/* What a card has to say goes over its links: not over one that is dead. */
static void ape_f24_diagnostics_travel_over_links(void **state)
{
	struct world x;

	make(&x, 6);
	happen(&x, 1900 * MS, LOFAMO_LINK, 5, 0, HEALTH_DEAD);
	happen(&x, 2000 * MS, LOFAMO_HOST, 5, 0, HEALTH_DEAD);
	lofamo_run(x.l, LATE(2000 * MS));
	assert_int_equal(x.l->node[6].neighbour[1], HEALTH_NORMAL);
	assert_true(x.l->node[6].silent >> 1 & 1);
	assert_int_equal(x.l->node[4].neighbour[0], HEALTH_DEAD);
	assert_int_equal(x.l->node[9].neighbour[3], HEALTH_DEAD);
	assert_int_equal(x.l->node[1].neighbour[2], HEALTH_DEAD);
	lofamo_free(x.l);
}

enum { REPORTED_BY = 4, PORT = 0 }; /* its link to node 5 */

/* Node 5's host dies; whether its card has noticed by t, or node 4's knows. */
static bool is_noticed(sim_time t, bool is_near)
{
	struct world x;
	bool is_known;
	uint32_t words;

	make(&x, 7);
	happen(&x, 2000 * MS, LOFAMO_HOST, 5, 0, HEALTH_DEAD);
	lofamo_run(x.l, t);
	is_known =
		HEALTH_DEAD == (is_near ? x.l->node[REPORTED_BY].neighbour[PORT]
					: x.l->node[5].host_state);
	words = x.l->node[5].host_state == HEALTH_DEAD ? 2 : 0;
	for (uint32_t p = 0; p < 4; p++)
		assert_int_equal(x.l->node[5].words[p], words);
	lofamo_free(x.l);
	return is_known;
}

static sim_time noticed_at(bool is_near)
{
	sim_time low = 2000 * MS, high = LATE(low);

	while (high - low > 1) {
		sim_time middle = low + (high - low) / 2;

		if (is_noticed(middle, is_near))
			high = middle;
		else
			low = middle;
	}
	return high;
}

/*
 * A card that finds its host dead says two things to each neighbour: whether
 * that has a service port, and its health.  The first goes in the link's next
 * control word, the second in the one behind that, and data makes room for
 * neither.
 */
static void ape_f24_each_message_waits_for_a_control_word(void **state)
{
	sim_time at = noticed_at(false);
	sim_time word = (at + SLOT - 1) / SLOT * SLOT;

	assert_int_equal(noticed_at(true), word + SLOT + LATENCY);
}

/* Every kind of fault, at many times, and its end. */
static void ape_f34_no_single_fault_stays_hidden(void **state)
{
	uint32_t unit;
	struct world x;

	for (uint32_t kind = 0; kind < LOFAMO_KINDS; kind++) {
		for (uint32_t k = 0; k < 24; k++) {
			sim_time at = (2000 + 173 * (sim_time)k) * MS;
			bool is_sick = kind == LOFAMO_HOST && k % 4 == 3;

			unit = kind == LOFAMO_LINK  ? 2 * (k % 2)
			       : kind == LOFAMO_GPU ? k % GPUS
						    : 0;
			make(&x, k);
			happen(&x, at, kind, k % 3 * 5, unit,
				is_sick ? HEALTH_SICK : HEALTH_DEAD);
			happen(&x, at + 12 * PERIOD, kind, k % 3 * 5, unit,
				HEALTH_NORMAL);
			run(&x, at, LATE(at), at + 11 * PERIOD);
			lofamo_run(x.l, at + 22 * PERIOD);
			assert_int_equal(
				lofamo_state(x.l, kind, k % 3 * 5, unit),
				HEALTH_NORMAL);
			check_picture(&x, true);
			lofamo_free(x.l);
		}
	}
}

/* What dies with all who could report it is unknown, not normal. */
static void a_node_that_dies_is_unknown_after_a_roll_call(void **state)
{
	struct world x;

	make(&x, 3);
	happen(&x, 2300 * MS, LOFAMO_HOST, 10, 0, HEALTH_DEAD);
	happen(&x, 2300 * MS, LOFAMO_CARD, 10, 0, HEALTH_DEAD);
	run(&x, 2300 * MS, LATE(2300 * MS), 2300 * MS + 12 * PERIOD);
	assert_int_equal(lofamo_state(x.l, LOFAMO_HOST, 10, 0), HEALTH_UNKNOWN);
	assert_int_equal(lofamo_state(x.l, LOFAMO_CARD, 10, 0), HEALTH_UNKNOWN);
	assert_int_equal(lofamo_state(x.l, LOFAMO_GPU, 10, 1), HEALTH_UNKNOWN);
	lofamo_free(x.l);
}

/* APE-F32: mean awareness of a host's death: 1.8 periods and the service
 * network. */
static void a_report_takes_1_8_periods_on_average(void **state)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t k = 0; k < 100; k++) {
		sim_time at = (2000 + 37 * (sim_time)k) * MS;
		struct world x;

		make(&x, 100 + k);
		happen(&x, at, LOFAMO_HOST, k % NODES, 0, HEALTH_DEAD);
		lofamo_run(x.l, at + 6 * PERIOD);
		assert_int_equal(x.n, 4);
		sum += x.sum - 4 * (double)at / (double)MS;
		n += x.n;
		lofamo_free(x.l);
	}
	print_message("%.1f ms\n", sum / n);
	assert_true(sum / n > 1.7 * PERIOD_MS && sum / n < 1.9 * PERIOD_MS);
}

static void bad_periods_are_refused(void **state)
{
	struct world x;
	struct err e = { 0 };

	make(&x, 1);
	x.p.write = x.p.read - x.p.jitter;
	assert_int_equal(lofamo_check(&x.p, &x.t.topo, &e), -1);
	assert_non_null(strstr(e.text, "lofamo.write"));
	lofamo_free(x.l);
}

TESTS(TEST(ape_f27_registers_of_neighbours_and_no_others),
	TEST(ape_f26_host_and_card_watch_each_other),
	TEST(ape_f25_nodes_know_of_their_own_and_their_neighbours),
	TEST(ape_f35_a_card_is_dead_when_its_bit_is_not_refreshed),
	TEST(ape_f28_a_daemon_refreshes_its_hosts_register),
	TEST(ape_f24_diagnostics_travel_over_links),
	TEST(ape_f24_each_message_waits_for_a_control_word),
	TEST(ape_f34_no_single_fault_stays_hidden),
	TEST(a_node_that_dies_is_unknown_after_a_roll_call),
	TEST(a_report_takes_1_8_periods_on_average),
	TEST(bad_periods_are_refused))
