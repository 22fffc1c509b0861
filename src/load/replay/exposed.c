#include "load/replay/exposed.h"

#include <math.h>
#include <stdio.h>

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

/* --- rows --- */

static void name_row(
	struct exposed_row *r, const char *operation, const char *algorithm)
{
	snprintf(r->operation, sizeof(r->operation), "%s", operation);
	snprintf(r->algorithm, sizeof(r->algorithm), "%s",
		algorithm ? algorithm : "");
}

static double number(const struct fact *row, const char *key)
{
	const struct fact *x = facts_find(row, key);
	double value = 0;

	return x && fact_number(x, &value) ? value : 0;
}

static struct exposed_row read_row(const struct fact *x)
{
	const struct fact *algorithm = facts_find(x, "algorithm");
	struct exposed_row r = {
		.members = (uint64_t)number(x, "members"),
		.bytes = (uint64_t)number(x, "bytes"),
		.mean = llround(number(x, "mean_ns") * SIM_NS),
		.most = llround(number(x, "max_ns") * SIM_NS),
	};

	name_row(&r, fact_text(x, "operation"),
		algorithm ? algorithm->is.text : NULL);
	return r;
}

struct exposed_rows exposed_rows(const struct load *l)
{
	struct exposed_rows r = { 0 };
	const struct fact *list, *x;
	struct facts f;

	facts_init(&f);
	if (l->ops->facts)
		l->ops->facts(l, &f);
	list = facts_find(&f.root, "exposed");
	r.is_there = list;
	for (x = list ? list->first : NULL; x; x = x->next) {
		r.row = mem_more(r.row, r.n, sizeof(*r.row));
		r.row[r.n++] = read_row(x);
	}
	facts_fini(&f);
	return r;
}

static void add_row(const struct exposed_row *r, struct facts *f)
{
	facts_group(f, NULL);
	facts_text(f, "operation", r->operation);
	if (*r->algorithm) {
		facts_text(f, "algorithm", r->algorithm);
		facts_same(f, "members", r->members);
		facts_same(f, "bytes", r->bytes);
	}
	facts_real(f, "mean_ns", sim_ns(r->mean));
	facts_real(f, "max_ns", sim_ns(r->most));
	facts_end(f);
}

void exposed_rows_facts(const struct exposed_rows *x, struct facts *f)
{
	if (!x->is_there)
		return;
	facts_list(f, "exposed");
	for (uint32_t i = 0; i < x->n; i++)
		add_row(&x->row[i], f);
	facts_end(f);
	facts_each(f, "exposed", 0, "exposed",
		"{operation}[ by {algorithm} of {members} ranks, {bytes} B]: "
		"mean {mean_ns:u}, max {max_ns:u}");
}

static struct exposed_row row_of(const struct exposed *x, uint32_t k)
{
	const struct exposed_kind *kind = &x->kind[k];
	const struct algo_plan *p = kind->plan;
	struct exposed_row r = {
		.members = p ? p->n : 0,
		.bytes = p ? p->bytes : 0,
		.mean = (sim_time)(kind->sum / x->goal->n_ranks),
		.most = (sim_time)kind->most,
	};

	name_row(&r, p ? algo_op_names[p->op] : "messages",
		p ? p->algo->name : NULL);
	return r;
}

void exposed_facts(const struct exposed *x, struct facts *f)
{
	struct exposed_rows r = {
		.is_there = true,
		.row = mem_alloc(x->n, sizeof(*r.row)),
	};

	for (uint32_t k = 0; k < x->n; k++)
		if (x->kind[k].most)
			r.row[r.n++] = row_of(x, k);
	exposed_rows_facts(&r, f);
	mem_free(r.row);
}
