#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "machine/facts.h"
#include "testing/testing.h"

static struct machine_run *run(const char *machine, const char *shape,
	const char *workload, const char *const *keys, const char *set)
{
	static const struct book_how how;
	struct machine_run_setup s = {
		.machine.name = machine,
		.machine.shape = shape,
		.workload = workload,
		.keys = keys,
		.machine.sets = &set,
		.machine.n_sets = set ? 1 : 0,
		.seed = 1,
		.threads = 1,
		.book = &how,
	};
	struct machine_run *r = mem_alloc(1, sizeof(*r));
	struct err e = { 0 };

	while (keys[s.n_keys])
		s.n_keys++;
	assert_int_equal(machine_run_open(r, &s, &e), 0);
	assert_int_equal(machine_run_perform(r, &e), 0);
	return r;
}

static void drop(struct machine_run *r)
{
	machine_run_close(r);
	mem_free(r);
}

static double number(const struct fact *group, const char *path)
{
	double value = -1;

	assert_non_null(facts_find(group, path));
	assert_true(fact_number(facts_find(group, path), &value));
	return value;
}

static const char *const traffic[] = { "load=0.5", "warmup=2us", "measure=3us",
	NULL };
static const char *const some[] = { "count=40", NULL };

static void causes_of_a_budget_sum_to_the_whole(void **state)
{
	struct machine_run *r = run("torus", "4x4", "random", traffic, NULL);
	const struct book_how how = { .follows = false };
	const struct fact *x;
	struct facts f;
	double ps = 0, pct = 0;

	facts_init(&f);
	facts_of_budget(&f, r->system->net, true, &how);
	x = facts_find(&f.root, "budget.causes")->first;
	for (; x && x->type == FACT_GROUP; x = x->next) {
		ps += number(x, "ps");
		pct += number(x, "pct");
	}
	assert_true(ps > 0 && ps == number(&f.root, "budget.ps"));
	assert_true(fabs(pct - 100) < 1e-6);
	assert_true(number(&f.root, "budget.messages") <= (double)r->packets);
	assert_null(facts_find(&f.root, "follow"));
	facts_fini(&f);
	drop(r);
}

static void hottest_links_come_first_and_none_is_above_its_group(void **state)
{
	struct machine_run *r = run("torus", "4x4", "hotspot", traffic, NULL);
	const struct fact *hot;
	struct facts f;
	double most = 0, part, last = 2;
	char name[RUN_WARNING];

	facts_init(&f);
	facts_of_links(&f, r);
	for (const struct fact *x = facts_find(&f.root, "links")->first; x;
		x = x->next) {
		assert_true(number(x, "mean_use") <= number(x, "max_use"));
		most = fmax(most, number(x, "max_use"));
	}
	hot = facts_find(&f.root, "hottest_links");
	assert_int_equal(fact_length(hot), 5);
	assert_true(number(hot->first, "use") == most);
	for (const struct fact *x = hot->first; x; x = x->next) {
		assert_true(number(x, "use") <= last);
		last = number(x, "use");
	}
	assert_true(facts_busiest(r, name, &part));
	assert_string_equal(name, fact_text(hot->first, "name"));
	assert_true(part == most);
	facts_fini(&f);
	drop(r);
}

static void faults_are_there_only_if_there_is_a_plan(void **state)
{
	struct machine_run *r = run("qsnet2", "16", "storm", some, NULL);
	struct facts f;

	facts_init(&f);
	facts_of_faults(&f, r);
	assert_int_equal(fact_length(&f.root), 0);
	facts_fini(&f);
	drop(r);
	r = run("qsnet2", "16", "storm", some, "faults.bit-errors=2e-5");
	facts_init(&f);
	facts_of_faults(&f, r);
	assert_true(number(&f.root, "faults.bit_errors") >=
		    number(&f.root, "faults.hurt_packets"));
	assert_true(number(&f.root, "faults.hurt_packets") > 0);
	assert_int_equal(fact_length(facts_find(&f.root, "faults.links")),
		r->machine->topo->n_wires);
	facts_fini(&f);
	drop(r);
}

static void add(void *arg, const char *name, double value)
{
	struct facts *f = arg;

	facts_real(f, name, value);
}

static void figures_of_sweeps_are_those_of_results(void **state)
{
	struct machine_run *r = run("torus", "4x4", "random", traffic, NULL);
	struct facts f, flat;

	facts_init(&f);
	facts_of_results(&f, r, true);
	facts_init(&flat);
	machine_run_each(r, add, &flat);
	assert_true(number(&f.root, "throughput_GBps_per_node") ==
		    number(&flat.root, "throughput_GBps_per_node"));
	assert_true(number(&f.root, "latency_ns.p99") ==
		    number(&flat.root, "latency_p99_ns"));
	assert_string_equal(flat.root.last->key, "sim_time_ns");
	for (const struct fact *x =
			facts_find(&f.root, "latency_histogram")->first;
		x; x = x->next)
		assert_true(number(x, "from_ns") <= number(x, "to_ns"));
	facts_fini(&f);
	facts_fini(&flat);
	drop(r);
}

TESTS(TEST(causes_of_a_budget_sum_to_the_whole),
	TEST(hottest_links_come_first_and_none_is_above_its_group),
	TEST(faults_are_there_only_if_there_is_a_plan),
	TEST(figures_of_sweeps_are_those_of_results))
