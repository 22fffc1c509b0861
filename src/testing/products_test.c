/*
 * Every topology with every routing, network interface and workload: each
 * product works, or is refused as a user's mistake.  The machines are from
 * scratch, as small as they can be; what is registered is tested by itself.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "load/registry.h"
#include "machine/run.h"
#include "testing/testing.h"

enum { MOST_SETS = 12, TEXT = 64 };

/* Smallest machines; what is not named has the size of its defaults. */
static const struct {
	const char *topo, *sets;
} small[] = {
	{ "torus", "topology.shape=2x2" },
	{ "torus", "topology.shape=2x2 topology.nodes=1" },
	{ "fattree", "topology.nodes=4 topology.radix=2" },
	{ "dragonfly", "topology.per-router=1 topology.routers=2 "
		       "topology.global=1 topology.nodes=4" },
	{ "hyperx", "topology.shape=2x3 topology.per-router=1" },
	{ "slimfly", "topology.q=3 topology.per-router=1" },
	{ "graph", "topology.random=4x2x1 topology.per-router=1" },
};

/* Links and sides that interfaces may ask for. */
static const char *const links[] = {
	"",
	"link.header=32 link.chunk=32 link.payload=512 side.kind=pcie",
	"link.header=32 link.chunk=32 link.payload=512",
};

/* Keys that make a workload short, where it has them. */
static const char *const brief[] = { "rounds=1", "count=3", "warmup=1us",
	"measure=1us", "max=64", "deeds=1" };

struct product {
	char set[MOST_SETS][TEXT];
	const char *sets[MOST_SETS];
	size_t n_sets;
	const char *keys[sizeof(brief) / sizeof(brief[0])];
	size_t n_keys;
	uint32_t n_seen;
	struct machine_run run;
	struct machine_run_setup setup;
	struct err e;
};

static char path[] = "/tmp/weft-products-XXXXXX.yaml";

static void add_set(struct product *p, const char *text, size_t n)
{
	assert_true(p->n_sets < MOST_SETS && n < TEXT);
	memcpy(p->set[p->n_sets], text, n);
	p->set[p->n_sets][n] = 0;
	p->sets[p->n_sets] = p->set[p->n_sets];
	p->n_sets++;
}

static void add_sets(struct product *p, const char *text)
{
	for (; *text; text += strspn(text, " ")) {
		add_set(p, text, strcspn(text, " "));
		text += strcspn(text, " ");
	}
}

static void add_kind(struct product *p, const char *section, const char *kind)
{
	char text[TEXT];

	snprintf(text, sizeof(text), "%s.kind=%s", section, kind);
	add_sets(p, text);
}

static void add_keys(struct product *p, const struct load_ops *l)
{
	p->n_keys = 0;
	for (size_t i = 0; i < sizeof(brief) / sizeof(brief[0]); i++)
		for (size_t k = 0; k < l->n_params; k++)
			if (!strncmp(brief[i], l->params[k].name,
				    strcspn(brief[i], "=")) &&
				!l->params[k].name[strcspn(brief[i], "=")])
				p->keys[p->n_keys++] = brief[i];
}

static void run(void *arg)
{
	struct product *p = arg;

	if (!machine_run_open(&p->run, &p->setup, &p->e))
		machine_run_perform(&p->run, &p->e);
}

/* True where it worked. */
static bool try_load(struct product *p, const struct load_ops *l)
{
	struct err bug = { 0 };
	bool works;

	p->e = (struct err){ 0 };
	add_keys(p, l);
	p->setup = (struct machine_run_setup){
		.machine.name = path,
		.machine.sets = p->sets,
		.machine.n_sets = p->n_sets,
		.workload = l->name,
		.keys = p->keys,
		.n_keys = p->n_keys,
		.seed = 1,
		.threads = 1,
	};
	if (err_guard(run, p, &bug))
		p->e = bug;
	works = !p->e.code;
	if ((p->e.code && p->e.code != EXIT_BAD_INPUT) ||
		(works && p->run.result.ending != LOAD_FINISHED &&
			p->run.result.ending != LOAD_SATURATED)) {
		for (size_t i = 0; i < p->n_sets; i++)
			print_error("--set %s ", p->sets[i]);
		fail_msg("%s: %d, ending %d: %s", l->name, p->e.code,
			p->run.result.ending, p->e.text);
	}
	machine_run_close(&p->run);
	return works;
}

/* Whether there is such a machine; where not no workload runs on it. */
static bool has_machine(struct product *p)
{
	struct err e = { 0 };
	struct machine *m = machine_load(path, p->sets, p->n_sets, NULL, &e);

	assert_true(m || e.code == EXIT_BAD_INPUT);
	machine_free(m);
	return m;
}

/* Where time is short every third of all products will do. */
static bool is_due(struct product *p)
{
	return p->n_seen++ % 3 == 0 || !getenv("WEFT_SLOW");
}

/* How many workloads worked. */
static uint32_t try_all(struct product *p, const char *size, const char *topo,
	const char *route, const char *nic, const char *link)
{
	uint32_t n = 0;

	p->n_sets = 0;
	add_kind(p, "topology", topo);
	add_kind(p, "routing", route);
	add_kind(p, "nic", nic);
	add_sets(p, size);
	add_sets(p, link);
	if (!has_machine(p))
		return 0;
	for (uint32_t i = 0; load_registry[i]; i++)
		if (is_due(p))
			n += try_load(p, load_registry[i]);
	return n;
}

/* With all interfaces, and none; how many products worked.  Where none did the
 * routing does not fit. */
static uint32_t try_nics(struct product *p, const char *size, const char *topo,
	const char *route)
{
	uint32_t works = 0;

	for (uint32_t k = 0; k < sizeof(links) / sizeof(links[0]); k++) {
		works += try_all(p, size, topo, route, "none", links[k]);
		for (uint32_t i = 0; nic_registry[i]; i++)
			works += try_all(p, size, topo, route,
				nic_registry[i]->name, links[k]);
		if (!works)
			return 0;
	}
	return works;
}

static void all_products_work_or_are_refused(void **state)
{
	struct product *p = mem_alloc(1, sizeof(*p));
	uint32_t i, k, n_small = sizeof(small) / sizeof(small[0]);

	for (i = 0; i < n_small; i++) {
		uint32_t works = 0;

		for (k = 0; route_registry[k]; k++)
			works += try_nics(p, small[i].sets, small[i].topo,
				route_registry[k]->name);
		assert_true(works > (getenv("WEFT_SLOW") ? 17 : 50));
	}
	mem_free(p);
}

static void every_topology_is_among_them(void **state)
{
	for (size_t i = 0; topo_registry[i]; i++) {
		for (size_t k = 0;
			strcmp(small[k].topo, topo_registry[i]->name); k++)
			assert_true(k + 1 < sizeof(small) / sizeof(small[0]));
	}
}

static int write_machine(void **state)
{
	int fd = mkstemps(path, 5);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	return !f || fputs("schema: 1\nmachine: product\n", f) < 0 || fclose(f);
}

static int remove_machine(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_topology_is_among_them),
		cmocka_unit_test(all_products_work_or_are_refused),
	};

	return cmocka_run_group_tests(tests, write_machine, remove_machine);
}
