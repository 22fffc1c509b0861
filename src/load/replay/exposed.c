#include "load/replay/exposed.h"

#include "base/mem.h"

static bool is_alike(const struct algo_plan *a, const struct algo_plan *b)
{
	return a->op == b->op && a->n == b->n && a->bytes == b->bytes &&
	       a->algo == b->algo;
}

static uint32_t kind_of(struct exposed *x, const struct algo_plan *plan)
{
	uint32_t i = 0;

	while (i < x->n && !is_alike(x->kind[i].plan, plan))
		i++;
	if (i == x->n)
		x->kind[x->n++].plan = plan;
	return i;
}

void exposed_init(struct exposed *x, const struct goal *g)
{
	const struct goal_colls *c = g->colls;
	uint32_t n = c ? c->n : 0;

	*x = (struct exposed){ .goal = g };
	x->kind_of = mem_alloc(n + 1, sizeof(*x->kind_of));
	x->kind = mem_alloc(n + 1, sizeof(*x->kind));
	for (uint32_t i = 0; i < n; i++)
		x->kind_of[i] = kind_of(x, &c->coll[i].plan);
	x->n++;
	x->time = mem_alloc((size_t)g->n_ranks * x->n, sizeof(*x->time));
}

void exposed_fini(struct exposed *x)
{
	mem_free(x->kind_of);
	mem_free(x->kind);
	mem_free(x->time);
}

void exposed_add(struct exposed *x, uint32_t rank, const struct goal_op *op,
	sim_time time)
{
	uint32_t kind = op ? x->kind_of[op->peer] : x->n - 1;

	x->time[(size_t)rank * x->n + kind] += (uint64_t)time;
}

void exposed_sum(struct exposed *x, const struct sim *sim)
{
	for (uint32_t k = 0; k < x->n; k++) {
		struct exposed_kind *kind = &x->kind[k];

		kind->sum = kind->most = 0;
		for (uint32_t i = 0; i < x->goal->n_ranks; i++) {
			uint64_t time = x->time[(size_t)i * x->n + k];

			kind->sum += time;
			kind->most = time > kind->most ? time : kind->most;
		}
		sim_sum(sim, &kind->sum, 1);
		sim_max(sim, &kind->most, 1);
	}
}

void exposed_facts(const struct exposed *x, struct facts *f)
{
	facts_list(f, "exposed");
	for (uint32_t k = 0; k < x->n; k++) {
		const struct exposed_kind *kind = &x->kind[k];
		const struct algo_plan *p = kind->plan;

		if (!kind->most)
			continue;
		facts_group(f, NULL);
		facts_text(
			f, "operation", p ? algo_op_names[p->op] : "messages");
		if (p) {
			facts_text(f, "algorithm", p->algo->name);
			facts_same(f, "members", p->n);
			facts_same(f, "bytes", p->bytes);
		}
		facts_real(f, "mean_ns",
			sim_ns((sim_time)(kind->sum / x->goal->n_ranks)));
		facts_real(f, "max_ns", sim_ns((sim_time)kind->most));
		facts_end(f);
	}
	facts_end(f);
	facts_each(f, "exposed", 0, "exposed",
		"{operation}[ by {algorithm} of {members} ranks, {bytes} B]: "
		"mean {mean_ns:u}, max {max_ns:u}");
}
