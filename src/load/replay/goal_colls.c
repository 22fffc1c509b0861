#include "load/replay/goal_colls.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "load/replay/goal_pairs.h"
#include "meas/digest.h"

static struct goal_colls *colls(struct goal *g)
{
	if (!g->colls)
		g->colls = mem_alloc(1, sizeof(*g->colls));
	return g->colls;
}

/* --- groups and plans, each once --- */

static uint64_t key_of_members(const struct algo_group *g)
{
	uint64_t key = g->n;

	for (uint32_t i = 0; i < g->n; i++)
		key = digest_mix(key + algo_group_rank(g, i));
	return key;
}

/* By its text; or, written otherwise, by its members. */
int64_t goal_group(struct goal *g, const char *text, struct err *e)
{
	struct goal_colls *c = colls(g);
	uint64_t key = digest_text(0, text), members;
	uint32_t id = index_find(&c->groups, key);
	struct algo_group x;

	if (id)
		return id - 1;
	if (algo_group_read(&x, text, g->n_ranks, e))
		return -1;
	members = key_of_members(&x);
	id = index_find(&c->groups, members);
	if (id) {
		algo_group_free(&x);
	} else {
		c->group = mem_more(c->group, c->n_groups, sizeof(x));
		c->group[c->n_groups] = x;
		id = ++c->n_groups;
		index_add(&c->groups, members, id);
	}
	index_add(&c->groups, key, id);
	return id - 1;
}

static uint64_t key_of(const struct algo_plan *p, uint32_t group)
{
	const uint64_t part[] = { (uintptr_t)p->algo, p->op, p->root, p->bytes,
		p->channels, p->chunk, p->unit, p->is_apart, group };
	uint64_t key = 1;

	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
		key = digest_mix(key + part[i]);
	return key;
}

int64_t goal_coll(struct goal *g, const struct algo_plan *plan, uint32_t group,
	struct err *e)
{
	struct goal_colls *c = colls(g);
	struct goal_coll x = { .plan = *plan, .group = group };
	uint64_t key;
	uint32_t id;

	x.plan.n = c->group[group].n;
	if (algo_op_has_root(plan->op)) {
		x.plan.root = algo_group_member(&c->group[group], plan->root);
		if (x.plan.root == ALGO_NOBODY)
			return err_set(e, "root: rank %u is not in the group",
				plan->root);
	}
	if (algo_settle(&x.plan, e))
		return -1;
	key = key_of(&x.plan, group);
	id = index_find(&c->index, key);
	if (id)
		return id - 1;
	c->coll = mem_more(c->coll, c->n, sizeof(x));
	c->coll[c->n++] = x;
	index_add(&c->index, key, c->n);
	return c->n - 1;
}

void goal_colls_free(struct goal_colls *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n_groups; i++)
		algo_group_free(&c->group[i]);
	mem_free(c->group);
	mem_free(c->coll);
	index_fini(&c->index);
	index_fini(&c->groups);
	mem_free(c);
}

const struct goal_coll *goal_coll_of(
	const struct goal *g, const struct goal_op *op)
{
	return &g->colls->coll[op->peer];
}

void goal_describe_coll(const struct goal *g, uint32_t rank,
	const struct goal_op *op, char *text, size_t size)
{
	const struct algo_plan *p = &goal_coll_of(g, op)->plan;

	snprintf(text, size,
		"rank %u does %s of %" PRIu64 " B by %s with %u members", rank,
		algo_op_names[p->op], p->bytes, p->algo->name, p->n);
}

/* --- writing --- */

static void write_group(const struct algo_group *g, FILE *f)
{
	const uint32_t *r = g->rank;
	uint32_t step = g->n > 1 && r ? r[1] - r[0] : 1;
	bool is_range = g->n > 1 && (!r || r[1] > r[0]);

	for (uint32_t i = 2; r && i < g->n && is_range; i++)
		is_range = r[i] - r[i - 1] == step;
	if (is_range) {
		fprintf(f, "%u..%u", algo_group_rank(g, 0),
			algo_group_rank(g, g->n - 1));
		if (step > 1)
			fprintf(f, ":%u", step);
		return;
	}
	for (uint32_t i = 0; i < g->n; i++)
		fprintf(f, "%s%u", i ? "," : "", algo_group_rank(g, i));
}

void goal_write_coll(const struct goal *g, const struct goal_op *op, FILE *f)
{
	const struct goal_coll *c = goal_coll_of(g, op);
	const struct algo_plan *p = &c->plan;
	const struct algo_group *group = &g->colls->group[c->group];

	fprintf(f, "%s %" PRIu64 "b algo %s group ", algo_op_names[p->op],
		p->bytes, p->algo->name);
	write_group(group, f);
	fprintf(f, " channels %u", p->channels);
	if (p->chunk)
		fprintf(f, " chunk %" PRIu64 "b", p->chunk);
	if (p->unit > 1)
		fprintf(f, " unit %u", p->unit);
	if (algo_op_has_root(p->op))
		fprintf(f, " root %u", algo_group_rank(group, p->root));
	if (p->is_apart)
		fputs(" overlap no", f);
	if (op->tag)
		fprintf(f, " tag %u", op->tag);
}

/* --- members that differ --- */

/* One that some members have, and the first of these. */
struct instance {
	const struct goal_rank *rank;
	uint32_t op, coll, n; /* members so far */
};

struct check {
	struct goal *goal;
	const char *path;
	struct err *e;
	struct instance *instance;
	uint32_t n;
	struct index
		index; /* of instances, by group, tag and how many before */
	struct index counts; /* of a rank: how many, by group and tag */
};

static int say_differ(struct check *c, const struct goal_rank *r, uint32_t op,
	const struct instance *x)
{
	char where[GOAL_WHERE], ref[GOAL_REF], what[128], other[128];

	goal_describe(c->goal, r, op, what, sizeof(what));
	goal_describe(c->goal, x->rank, x->op, other, sizeof(other));
	return err_set(c->e,
		"%s%s: %s, but %s (%s): members of a collective must agree",
		c->path, goal_where(c->goal, r, op, where), what, other,
		goal_ref(c->goal, x->rank, x->op, ref));
}

/* The number of the same kind that the rank has had before. */
static uint32_t count(struct check *c, uint64_t key)
{
	uint32_t n = index_find(&c->counts, key);

	if (n)
		index_set(&c->counts, key, n + 1);
	else
		index_add(&c->counts, key, 1);
	return n;
}

static struct instance *find(struct check *c, const struct goal_rank *r,
	uint32_t op, uint32_t *number)
{
	const struct goal_op *o = &r->op[op];
	uint32_t group = goal_coll_of(c->goal, o)->group;
	uint64_t kind = digest_mix((uint64_t)group << 32 | o->tag);
	uint64_t key = digest_mix(kind + count(c, kind));

	*number = index_find(&c->index, key);
	if (!*number) {
		c->instance = mem_more(c->instance, c->n, sizeof(*c->instance));
		c->instance[c->n] = (struct instance){
			.rank = r, .op = op, .coll = o->peer
		};
		*number = ++c->n;
		index_add(&c->index, key, *number);
	}
	return &c->instance[--*number];
}

static int check_op(struct check *c, struct goal_rank *r, uint32_t op)
{
	struct goal_op *o = &r->op[op];
	const struct goal_coll *x = goal_coll_of(c->goal, o);
	uint32_t rank = (uint32_t)(r - c->goal->rank), number;
	char where[GOAL_WHERE];
	struct instance *i;

	if (algo_group_member(&c->goal->colls->group[x->group], rank) ==
		ALGO_NOBODY)
		return err_set(c->e,
			"%s%s: rank %u is not in the group of its collective",
			c->path, goal_where(c->goal, r, op, where), rank);
	i = find(c, r, op, &number);
	if (i->coll != o->peer)
		return say_differ(c, r, op, i);
	i->n++;
	o->tag = number;
	return 0;
}

static int check_rank(struct check *c, struct goal_rank *r)
{
	char where[GOAL_WHERE];
	int failed = 0;

	for (uint32_t k = 0; k < r->n_ops && !failed; k++) {
		const struct goal_op *o = &r->op[k];

		if (o->kind == GOAL_COLL)
			failed = check_op(c, r, k);
		else if (o->kind != GOAL_CALC && o->tag >= GOAL_COLL_TAG)
			failed = err_set(c->e,
				"%s%s: beside collectives tags must be below "
				"2^31",
				c->path, goal_where(c->goal, r, k, where));
	}
	index_fini(&c->counts);
	c->counts = (struct index){ 0 };
	return failed;
}

/* A member that has fewer than the others. */
static int say_missing(struct check *c, const struct instance *x)
{
	const struct goal_coll *o = &c->goal->colls->coll[x->coll];
	const struct algo_group *g = &c->goal->colls->group[o->group];
	uint32_t number = (uint32_t)(x - c->instance), m = 0;
	char where[GOAL_WHERE], what[128];
	bool has = true;

	while (has && m < g->n) {
		const struct goal_rank *r =
			&c->goal->rank[algo_group_rank(g, m++)];

		has = false;
		for (uint32_t k = 0; k < r->n_ops && !has; k++)
			has = r->op[k].kind == GOAL_COLL &&
			      r->op[k].tag == number;
	}
	goal_describe(c->goal, x->rank, x->op, what, sizeof(what));
	return err_set(c->e, "%s%s: %s, but rank %u never does", c->path,
		goal_where(c->goal, x->rank, x->op, where), what,
		algo_group_rank(g, m - 1));
}

int goal_number_colls(struct goal *g, const char *path, struct err *e)
{
	struct check c = { .goal = g, .path = path, .e = e };
	int failed = 0;

	if (!g->colls)
		return 0;
	for (uint32_t i = 0; i < g->n_ranks && !failed; i++)
		failed = check_rank(&c, &g->rank[i]);
	for (uint32_t i = 0; i < c.n && !failed; i++)
		if (c.instance[i].n < g->colls->coll[c.instance[i].coll].plan.n)
			failed = say_missing(&c, &c.instance[i]);
	mem_free(c.instance);
	index_fini(&c.index);
	return failed;
}

static uint64_t largest(
	const struct goal *g, uint64_t (*of)(const struct algo_plan *plan))
{
	uint64_t most = 0, bytes;

	for (uint32_t i = 0; g->colls && i < g->colls->n; i++) {
		bytes = of(&g->colls->coll[i].plan);
		most = bytes > most ? bytes : most;
	}
	return most;
}

uint64_t goal_largest_space(const struct goal *g)
{
	return largest(g, algo_space);
}

uint64_t goal_longest_of_colls(const struct goal *g)
{
	return largest(g, algo_longest);
}
