#include "load/replay/autos.h"

#include "base/mem.h"
#include "host/program.h"

/* --- kinds --- */

static bool is_alike(const struct algo_plan *a, const struct algo_plan *b)
{
	return a->op == b->op && a->n == b->n && a->root == b->root &&
	       a->bytes == b->bytes && a->channels == b->channels &&
	       a->chunk == b->chunk && a->unit == b->unit &&
	       a->is_apart == b->is_apart;
}

static struct auto_kind *find_kind(
	struct autos *x, const struct algo_plan *plan, uint32_t *number)
{
	struct auto_kind *k;
	struct err none = { 0 };

	for (uint32_t i = 0; i < x->n; i++) {
		*number = i;
		if (is_alike(&x->kind[i].like, plan))
			return &x->kind[i];
	}
	x->kind = mem_more(x->kind, x->n, sizeof(*x->kind));
	*number = x->n;
	k = &x->kind[x->n++];
	*k = (struct auto_kind){ .like = *plan };
	/* one at least, or the plan would have been refused */
	k->n_plans = algo_candidates(plan, k->plan, &none);
	k->trial = mem_alloc(x->goal->n_ranks, sizeof(*k->trial));
	return k;
}

/* Measures a group, too, if it can be at the same time. */
static void join_trial(
	struct auto_kind *k, const struct algo_group *g, uint32_t coll)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (k->trial[algo_group_rank(g, i)])
			return;
	for (uint32_t i = 0; i < g->n; i++)
		k->trial[algo_group_rank(g, i)] = coll + 1;
}

void autos_init(struct autos *x, const struct goal *g)
{
	const struct goal_colls *c = g->colls;
	uint32_t number;

	*x = (struct autos){ .goal = g };
	if (!c)
		return;
	x->kind_of = mem_alloc(c->n, sizeof(*x->kind_of));
	for (uint32_t i = 0; i < c->n; i++) {
		const struct goal_coll *o = &c->coll[i];

		if (o->plan.algo != &algo_auto)
			continue;
		join_trial(find_kind(x, &o->plan, &number), &c->group[o->group],
			i);
		x->kind_of[i] = number + 1;
	}
}

void autos_fini(struct autos *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		mem_free(x->kind[i].trial);
	mem_free(x->kind);
	mem_free(x->kind_of);
}

static uint64_t largest(
	const struct autos *x, uint64_t (*of)(const struct algo_plan *plan))
{
	uint64_t most = 0, bytes;

	for (uint32_t i = 0; i < x->n; i++)
		for (uint32_t k = 0; k < x->kind[i].n_plans; k++) {
			bytes = of(&x->kind[i].plan[k]);
			most = bytes > most ? bytes : most;
		}
	return most;
}

uint64_t autos_space(const struct autos *x)
{
	return largest(x, algo_space);
}

uint64_t autos_longest(const struct autos *x)
{
	return largest(x, algo_longest);
}

/* --- trials --- */

/* Nothing, for a rank of no group. */
static int play(const struct autos *x, const struct auto_kind *k,
	const struct autos_end *own, const struct algo_plan *plan)
{
	const struct goal_colls *c = x->goal->colls;
	struct coll_run run = own->how;
	uint32_t coll = k->trial[own->rank];
	int code;

	if (!coll)
		return 0;
	run.group = &c->group[c->coll[coll - 1].group];
	run.tag = goal_coll_tag(0);
	coll_run_open(
		&run, plan, algo_group_member(run.group, own->rank), false);
	code = coll_run_finish(&run);
	coll_run_close(&run);
	return code;
}

static int try_one(const struct autos *x, const struct auto_kind *k,
	const struct autos_end *own, const struct algo_plan *plan,
	int64_t *time)
{
	int code, failed;

	*time = 0;
	code = own->agree(own->arg, time);
	if (code)
		return code;
	*time = program_now();
	code = play(x, k, own, plan);
	*time = program_now() - *time;
	failed = own->agree(own->arg, time);
	return code ? code : failed;
}

static int choose(struct autos *x, const struct autos_end *own,
	struct auto_kind *k, uint8_t *chosen)
{
	int64_t best = INT64_MAX, time;

	for (uint32_t i = 0; i < k->n_plans; i++) {
		int code = try_one(x, k, own, &k->plan[i], &time);

		if (code)
			return code;
		if (!own->rank)
			k->time[i] = (uint64_t)time;
		if (time < best) {
			best = time;
			*chosen = (uint8_t)i;
		}
	}
	if (!own->rank)
		k->chosen = *chosen;
	return 0;
}

int autos_choose(struct autos *x, const struct autos_end *own, uint8_t *chosen)
{
	int code = 0;

	for (uint32_t i = 0; i < x->n && !code; i++)
		code = choose(x, own, &x->kind[i], &chosen[i]);
	return code;
}

const struct algo_plan *autos_plan(
	const struct autos *x, const uint8_t *chosen, uint32_t coll)
{
	uint32_t kind = x->kind_of[coll];

	return kind ? &x->kind[kind - 1].plan[chosen[kind - 1]]
		    : &x->goal->colls->coll[coll].plan;
}

/* --- what was measured --- */

void autos_sum(struct autos *x, const struct sim *sim)
{
	for (uint32_t i = 0; i < x->n; i++) {
		sim_max(sim, x->kind[i].time, x->kind[i].n_plans);
		sim_max(sim, &x->kind[i].chosen, 1);
	}
}

static void add_row(struct facts *f, const struct auto_kind *k, uint32_t i)
{
	const struct algo_plan *p = &k->plan[i];

	facts_group(f, NULL);
	facts_text(f, "operation", algo_op_names[p->op]);
	facts_same(f, "members", p->n);
	facts_same(f, "bytes", p->bytes);
	facts_text(f, "algorithm", p->algo->name);
	facts_real(f, "time_ns", sim_ns((sim_time)k->time[i]));
	if (i == k->chosen)
		facts_text(f, "is", "chosen");
	facts_end(f);
}

void autos_facts(const struct autos *x, struct facts *f)
{
	if (!x->n)
		return;
	facts_list(f, "tried");
	for (uint32_t i = 0; i < x->n; i++)
		for (uint32_t k = 0; k < x->kind[i].n_plans; k++)
			add_row(f, &x->kind[i], k);
	facts_end(f);
	facts_each(f, "tried", 0, "measured",
		"{operation} by {algorithm} of {members} ranks, {bytes} B: "
		"{time_ns:u}[, {is}]");
}
