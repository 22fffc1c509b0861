/*
 * Feeds the reader of job files with anything: it makes workloads that can be
 * run, or says why not in one line.
 *
 *	fuzz_jobs [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_jobs"

#include "base/mem.h"
#include "coll/tree_proof.h"
#include "load/jobs.h"
#include "machine/partitions.h"
#include "machine/run.h"
#include "parts/trees/trees.h"

#include "check.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No node is in two jobs, and each knows its place. */
static void check_jobs(const struct jobs *j, uint32_t n_nodes)
{
	uint32_t i, k, n = 0;

	for (i = 0; i < j->n; i++) {
		const struct host_world *w = &j->part[i].place;

		for (k = 0; k < w->n; k++)
			check(w->node[k] < n_nodes && w->place[w->node[k]] == k,
				"a node is not where it is said to be");
		n += w->n;
	}
	check(n <= n_nodes, "jobs overlap");
}

static uint64_t routers(const struct machine_partition *p)
{
	uint64_t n = 1;
	uint32_t i;

	for (i = 0; i < p->n_dims; i++)
		n *= p->size[i];
	return n;
}

/* Registers that are what they should be; what weft check makes of them. */
static void check_routes(const struct machine_partition *p)
{
	const char *const sets[] = { p->cut.set[0], p->cut.set[1] };
	struct proof proof = { .is_proved = true };
	struct machine *m;
	struct err e = { 0 };
	size_t i, k;

	for (i = 0; i < p->n_routes; i++) {
		const struct class_register *c = &p->routes[i];

		check(c->node < routers(p) && c->route &&
				c->route < CLASS_ROUTES &&
				c->is.channel < N_CLASS_CHANNELS &&
				!(c->is.output & CLASS_LOCAL_BIT),
			"no register");
		for (k = 0; k < i; k++)
			check(p->routes[k].node != c->node ||
					p->routes[k].route != c->route,
				"a register is written twice");
	}
	if (!p->n_routes)
		return;
	m = machine_load(FUZZ_MACHINES "/bgq.yaml", sets, 2, NULL, &e);
	check(m != NULL, "no partition");
	tree_prove(&proof, m->topo, part_params(&m->parts, &part_trees),
		p->routes, p->n_routes);
	check(proof.n_steps > 0 && proof.n_steps <= 3, "no proof");
	proof_free(&proof);
	machine_free(m);
}

/* The same file on a machine that can be divided. */
static void divide(const char *path)
{
	struct err e = { 0 };
	struct machine *m = machine_load(
		FUZZ_MACHINES "/bgq.yaml", NULL, 0, "4x4x4x8x2", &e);
	struct machine_partitions p;
	uint64_t n = 0;
	uint32_t i;

	check(m != NULL, "no machine");
	if (machine_partitions_read(&p, path, m->topo, 1, &e))
		check_refusal(&e);
	else
		for (i = 0; i < p.n; i++) {
			check_routes(&p.v[i]);
			n += routers(&p.v[i]);
		}
	check(n <= m->topo->n_nodes, "partitions overlap");
	machine_partitions_free(&p);
	machine_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine_run *r = mem_alloc(1, sizeof(*r));
	struct machine_run_setup s = {
		.machine.name = FUZZ_MACHINES "/torus.yaml",
		.machine.shape = "4x2",
		.seed = 1,
		.threads = 1,
	};
	struct fuzz_file f;
	struct err e = { 0 };

	file_open(&f, data, size);
	s.jobs = f.path;
	if (machine_run_open(r, &s, &e))
		check_refusal(&e);
	else
		check_jobs(jobs_of(r->load), r->machine->topo->n_nodes);
	machine_run_close(r);
	mem_free(r);
	divide(f.path);
	file_close(&f);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = {
	"schema: 1\njobs:\n  - name: a\n    nodes: 0..3\n    workload: random\n"
	"    keys: { load: 0.5 }\n  - name: b\n    count: 2\n"
	"    placement: random\n    workload: stream\n"
	"    keys: { via: msg }\n    start: 5 us\n    seed: 3\n",
	"jobs:\n- name: c\n  box: 2x2 at 1,0\n  workload: hotspot\n"
	"- name: d\n  nodes: [0, 7]\n  workload: pingpong\n"
	"  keys: { via: msg }\n",
	"jobs:\n- name: e\n  partition: 4x4x4x4x2 at 0,0,0,4,0\n"
	"  workload: random\n- name: f\n  faults: x.yaml\n"
	"  partition: 2x2x2x2x2\n  workload: pingpong\n",
	"jobs:\n- name: g\n  partition: 2x2x2x2x2\n  workload: pingpong\n"
	"  routes:\n"
	"  - { id: 3, node: 0, channel: sub, inputs: local, output: A+ }\n"
	"  - { id: 3, node: 1, channel: sub, inputs: [A-, local] }\n"
	"  - id: 4\n    node: 2\n    channel: system\n    inputs: [B-, E+]\n"
	"    output: [C-]\n"
	"- name: h\n  partition: 2x2x2x2x2 at 2,0,0,0,0\n"
	"  workload: pingpong\n"
	"  routes: [{ id: 15, node: 31, channel: world, inputs: [] }]\n",
};

static const char *const pieces[] = { "name: ", "nodes: ", "count: ", "box: ",
	"placement: ", "workload: ", "keys: ", "start: ", "seed: ", "- ", "\n",
	"  ", "0..7", "[0, 1]", "8", "2x2 at 0,0", "random", "contiguous", "{",
	"}", "partition: ", "4x4x4x4x2 at 0,0,0,4,0", "2x4x2x2x2 at 2,0,0,0,0",
	"5 us", "-1", "99999999999", "\xff", "routes: ", "id: ", "node: ",
	"channel: ", "inputs: ", "output: ", "sub", "world", "system", "local",
	"A-", "E+", "[A-, local]", "31", "32", "15", "16",
	"- { id: 3, node: 0, channel: sub, inputs: local, output: A+ }\n",
	"- { id: 3, node: 1, channel: sub, inputs: [A-, local] }\n" };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
