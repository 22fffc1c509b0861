#include "testing/kit_testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "meas/digest.h"
#include "testing/testing.h"

enum { SEED = 7 };

static void on_delivered(
	void *arg, site_id s, const struct packet *p, sim_time t)
{
	struct kit *k = arg;

	k->digest[s] = digest_add(k->digest[s], t, p->src, p->kind, p->bytes);
}

struct machine *kit_machine(
	const char *name, const char *const *sets, const char *shape)
{
	struct err e = { 0 };
	struct machine *m;
	size_t n = 0;

	while (sets && sets[n])
		n++;
	m = machine_load(name, sets, n, shape, &e);
	if (!m)
		fail_msg("%s", e.text);
	return m;
}

void kit_start(
	struct kit *k, struct machine *m, const struct system_setup *setup)
{
	struct system_setup s = *setup;
	struct err e = { 0 };

	s.on_delivered = on_delivered;
	s.arg = k;
	k->machine = m;
	k->digest = mem_alloc(m->topo->n_routers, sizeof(*k->digest));
	k->system = system_new(m, &s, &e);
	if (!k->system)
		fail_msg("%s", e.text);
	k->net = k->system->net;
	k->host = k->system->host;
	k->nic = k->system->nic;
}

void kit_open(struct kit *k, const struct kit_how *how)
{
	struct system_setup s = {
		.seed = how->seed ? how->seed : SEED,
		.threads = how->n_workers ? how->n_workers : 1,
		.needs = how->needs,
	};
	struct machine *m = kit_machine(how->machine, how->sets, how->shape);
	struct err e = { 0 };

	if (how->faults && machine_read_faults(m, how->faults, &e))
		fail_msg("%s", e.text);
	kit_start(k, m, &s);
}

uint64_t kit_run(struct kit *k, bool may_err)
{
	struct err e = { 0 };
	char text[256];

	assert_int_equal(sim_run(k->net->sim, SIM_NEVER - 1), SIM_IDLE);
	for (site_id i = 0; !may_err && i < k->net->n_nodes; i++)
		if (nic_errors(k->nic, i, text, sizeof(text)))
			fail_msg("node %u: %s", i, text);
	host_bury(k->host);
	if (host_n_running(k->host)) {
		host_describe_waiting(k->host, text, sizeof(text));
		fail_msg("%s", text);
	}
	if (net_audit(k->net, &e) || (!may_err && nic_audit(k->nic, &e)))
		fail_msg("%s", e.text);
	return digest_fold(k->digest, k->net->n_nodes);
}

void kit_close(struct kit *k)
{
	system_free(k->system);
	mem_free(k->digest);
	machine_free(k->machine);
}

/* --- one machine of each kind --- */

/* Where time is short one machine of each interface will do. */
static bool is_new(const struct kit_kinds *k, const struct kit_kind *x)
{
	bool is_slow = getenv("WEFT_SLOW");

	for (uint32_t i = 0; i < k->n; i++)
		if (k->kind[i].nic == x->nic &&
			(is_slow || (k->kind[i].topo == x->topo &&
					    k->kind[i].route == x->route &&
					    k->kind[i].router == x->router)))
			return false;
	return x->nic && x->n_nodes >= 4 && x->n_nodes <= KIT_NODES;
}

/* What a machine may be asked for to be of another kind: any, or one. */
static const struct variant {
	const char *machine;
	const char *sets[KIT_SETS];
} variants[] = {
	{ NULL, { NULL } },
	{ NULL, { "topology.nodes=2", "topology.links=2" } },
	/* Elan4 without Elite4 */
	{ "qsnet2", { "router.kind=crossbar" } },
};

static void add_variant(struct kit_kinds *k, const char *name,
	const char *shape, const struct variant *v)
{
	struct kit_kind x = { .shape = shape };
	struct err e = { 0 };
	struct machine *m;

	memcpy(x.sets, v->sets, sizeof(v->sets));
	m = machine_load(name, x.sets, kit_n_sets(&x), shape, &e);
	if (!m)
		return;
	snprintf(x.machine, sizeof(x.machine), "%s", name);
	x.nic = m->nic;
	x.topo = m->topo->ops;
	x.route = m->route->ops;
	x.router = m->router.switches ? m->router.switches : m->router.kind;
	x.n_nodes = m->topo->n_nodes;
	if (is_new(k, &x)) {
		assert_true(k->n < KIT_KINDS);
		k->kind[k->n++] = x;
	}
	machine_free(m);
}

static void add_machine(void *arg, const char *name, const char *path)
{
	static const char *const shapes[] = { "2x2x2", "16", "8" };

	(void)path;
	for (uint32_t v = 0; v < sizeof(variants) / sizeof(variants[0]); v++) {
		const char *only = variants[v].machine;

		if (only && strcmp(only, name) != 0)
			continue;
		for (uint32_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]);
			i++)
			add_variant(arg, name, shapes[i], &variants[v]);
	}
}

void kit_find_kinds(struct kit_kinds *k)
{
	static struct kit_kinds found; /* by the first to ask */
	struct err e = { 0 };

	if (!found.n && machine_list(add_machine, &found, &e))
		fail_msg("%s", e.text);
	assert_true(found.n > 0);
	*k = found;
}

uint64_t kit_run_all(const struct kit_kind *kind, uint32_t n_workers,
	uint32_t each, void (*run)(void *arg), void *arg)
{
	uint32_t n = kind->n_nodes * each;
	struct kit_how how = {
		.machine = kind->machine,
		.shape = kind->shape,
		.sets = kind->sets,
		.n_workers = n_workers,
		.needs = { .n_programs = n,
			.n_spawned = 1,
			.n_processes = each },
	};
	uint64_t digest;
	struct kit k;

	kit_open(&k, &how);
	for (uint32_t i = 0; i < n; i++)
		program_start(k.host, i / each,
			i % each * host_threads_each(k.host), 0, run, arg);
	digest = kit_run(&k, false);
	kit_close(&k);
	return digest;
}
