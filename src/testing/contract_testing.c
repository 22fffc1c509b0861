#include "testing/contract_testing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MOST_BYTES = 6000, SEED = 3 };

struct contract_arg {
	const struct clause *clause;
	const char *by;
};

struct contract {
	struct bench bench;
	const struct clause *clause;
};

uint32_t contract_nodes(const struct bench_end *x)
{
	return x->bench->programs.load.net->n_nodes;
}

uint64_t whole(const struct bench_end *x, uint64_t bytes)
{
	uint64_t grain = x->bench->driver->most.grain;

	return (bytes + grain - 1) / grain * grain;
}

uint64_t number(uint32_t from, uint32_t to, uint32_t i)
{
	return (uint64_t)from << 40 | (uint64_t)to << 20 | i;
}

void guard(struct bench_end *x, uint32_t place, uint64_t bytes)
{
	uint64_t at = target(place);

	bench_make(x, number(x->node, x->node, place), at - GUARD, GUARD);
	bench_make(x, number(x->node, 1 << 19, place), at + bytes, GUARD);
}

bool is_guarded(struct bench_end *x, uint32_t place, uint64_t bytes)
{
	uint64_t at = target(place);

	return bench_check(
		       x, number(x->node, x->node, place), at - GUARD, GUARD) &&
	       bench_check(
		       x, number(x->node, 1 << 19, place), at + bytes, GUARD);
}

void put(struct bench_end *x, uint32_t node, uint32_t place, uint64_t from,
	uint64_t bytes)
{
	struct bench_transfer p = bench_transfer(x, node, bytes);

	p.to = target(place);
	p.from = from;
	x->bench->driver->put(x, &p);
}

bool get(struct bench_end *x, uint32_t node, uint64_t from, uint32_t place,
	uint64_t bytes)
{
	struct bench_transfer g = bench_transfer(x, node, bytes);

	g.to = target(place);
	g.from = from;
	g.is_tracked = true;
	bench_track_gets(x, 1, bytes);
	x->bench->driver->get(x, &g);
	return x->bench->driver->flush(x);
}

static uint64_t length(const struct bench_end *x, uint32_t from, uint32_t to)
{
	return whole(x,
		8 + random_draw(1, from, RANDOM_TEST, to).a % (MOST_BYTES - 8));
}

bool put_to_all(struct bench_end *x)
{
	const struct bench_driver *d = x->bench->driver;
	uint32_t n = contract_nodes(x), i;
	uint64_t sum = 0;

	for (i = 0; i < n; i++) {
		if (i == x->node)
			continue;
		sum += length(x, i, x->node);
		guard(x, i, length(x, i, x->node));
		bench_make(x, number(x->node, i, 3), source(i),
			length(x, x->node, i));
	}
	d->expect(x, 0, sum);
	bench_ready(x);
	for (i = (x->node + 1) % n; i != x->node; i = (i + 1) % n)
		put(x, i, x->node, source(i), length(x, x->node, i));
	if (!d->await(x, 0))
		return false;
	for (i = 0; i < n; i++)
		if (i != x->node &&
			(!bench_check(x, number(i, x->node, 3), target(i),
				 length(x, i, x->node)) ||
				!is_guarded(x, i, length(x, i, x->node))))
			return false;
	return true;
}

/* --- the workload that runs a clause --- */

static void run(struct bench_end *x)
{
	const struct contract *c = (const struct contract *)x->bench;

	if (bench_open(x) && !c->clause->run(x))
		programs_complain(&x->bench->programs,
			"node %u: not as promised", x->node);
}

static int contract_init(struct load *l, struct err *e)
{
	const struct topo *t = l->topo;
	struct contract *c = (struct contract *)l;
	const struct contract_arg *arg = l->arg;
	const struct bench_needs n = {
		.n_programs = t->n_nodes,
		.memory = BENCH_MEMORY,
		.touched = 1 << 20,
		.n_puts = arg->clause->n_puts,
		.queues = arg->clause->queues,
		.has_gets = arg->clause->has_gets,
		.is_for_all = true,
		.is_msg = !bench_find_driver(l->nic_ops),
	};

	c->clause = arg->clause;
	c->bench.to = 1;
	snprintf(c->bench.by, sizeof(c->bench.by), "%s", arg->by);
	return bench_init(&c->bench, &n, e);
}

static void contract_start(struct load *l)
{
	static const struct bench_program program = { .run = run };
	struct contract *c = (struct contract *)l;

	c->bench.programs.may_err = c->clause->errs;
	bench_start_all(&c->bench, &program);
}

static void contract_report(struct load *l, struct load_result *r)
{
	bench_report((struct bench *)l, r);
}

static const struct load_ops contract_ops = {
	.name = "contract",
	.size = sizeof(struct contract),
	.init = contract_init,
	.start = contract_start,
	.report = contract_report,
	BENCH_OPS,
};

/* --- runs --- */

int contract_set_up(void **state)
{
	struct kit_kinds *k = mem_alloc(1, sizeof(*k));

	kit_find_kinds(k);
	*state = k;
	return 0;
}

int contract_tear_down(void **state)
{
	mem_free(*state);
	return 0;
}

static uint64_t count_errors(const struct nic *nic)
{
	char text[256];
	uint64_t sum = 0;

	for (site_id s = 0; s < nic->n_nodes; s++)
		sum += nic_errors(nic, s, text, sizeof(text));
	return sum;
}

struct outcome contract_run(const struct clause *c, const struct kit_kind *k,
	const struct contract_how *how)
{
	const struct contract_arg arg = { c, how->by ? how->by : "auto" };
	const char *all[4 * KIT_SETS];
	struct machine_run_setup s = {
		.machine.name = k->machine,
		.machine.shape = k->shape,
		.machine.sets = all,
		.machine.n_sets = kit_n_sets(k),
		.faults = how->faults,
		.load = &contract_ops,
		.load_arg = &arg,
		.seed = SEED,
		.threads = how->threads ? how->threads : 1,
		.book = how->book,
	};
	struct machine_run *r = mem_alloc(1, sizeof(*r));
	struct outcome out = { 0 };

	memcpy(all, k->sets, s.machine.n_sets * sizeof(all[0]));
	for (uint32_t i = 0; how->sets && how->sets[i]; i++)
		all[s.machine.n_sets++] = how->sets[i];
	if (!machine_run_open(r, &s, &out.e) &&
		!machine_run_perform(r, &out.e) &&
		r->result.ending != LOAD_FINISHED)
		err_set_code(&out.e, EXIT_DEADLOCK, "%s",
			r->result.ending == LOAD_STALLED ? r->result.why
							 : r->result.knot);
	out.digest = r->digest;
	if (r->system) {
		out.memory = nic_memory(r->system->nic);
		out.errors = count_errors(r->system->nic);
	}
	machine_run_close(r);
	mem_free(r);
	return out;
}

/* Its own, or that of messages, which all have. */
static const struct bench_driver *driver_of(const struct kit_kind *k)
{
	const struct bench_driver *d = bench_find_driver(k->nic);

	return d ? d : &bench_msg;
}

bool contract_applies(const struct clause *c, const struct kit_kind *k)
{
	const struct bench_driver *d = driver_of(k);

	return (!c->needs_self || d->is & BENCH_HAS_SELF) &&
	       (!c->needs_words || d->wait_word) &&
	       (!c->needs_acks || d->is & BENCH_HAS_ACKS) &&
	       c->queues <= d->most.queues;
}

/* By the interface, or by the call that was to give it something to do. */
static bool is_reported(const struct outcome *x)
{
	return x->e.code ? strstr(x->e.text, strerror(EFAULT)) != NULL
			 : x->errors > 0;
}

static void on_kind(const struct clause *c, const struct kit_kind *k,
	const struct contract_how *how)
{
	struct contract_how three = *how;
	struct outcome one = contract_run(c, k, how), other = one;

	three.threads = 3;
	/* where time is short one of both will do */
	if (!getenv("WEFT_SLOW"))
		other = contract_run(c, k, &three);
	if (c->errs ? !is_reported(&one) : one.e.code || one.errors)
		fail_msg("%s %s by=%s: %u errors; %s", k->machine, k->shape,
			how->by, (unsigned)one.errors, one.e.text);
	assert_true(one.digest == other.digest && one.errors == other.errors);
}

void contract_everywhere(
	void **state, const struct clause *c, const char *const *sets)
{
	const struct kit_kinds *kinds = *state;

	for (uint32_t i = 0; i < kinds->n; i++) {
		const struct kit_kind *k = &kinds->kind[i];
		const struct bench_means *means = driver_of(k)->means;
		struct contract_how how = {
			.sets = sets,
			.threads = getenv("WEFT_SLOW") && i % 3 == 0 ? 3 : 1,
		};

		for (uint32_t m = 0; means[m].name && contract_applies(c, k);
			m++) {
			how.by = means[m].name;
			if (!means[m].is_for_gpus && !means[m].is_dropped &&
				!means[m].drawn && !means[m].is_alias &&
				!means[m].is_tagged &&
				!(means[m].is_copied && c->errs))
				on_kind(c, k, &how);
		}
	}
}
