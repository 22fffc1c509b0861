#include "load/replay/goal_alike.h"

#include <string.h>

#include "base/mem.h"

struct alike_shape {
	struct algo_plan plan;
	uint32_t members, stride;
	uint32_t coll; /* of the current rank */
};

struct alike_peer {
	uint32_t op;
	uint32_t shape; /* + 1 of a collective; or 0, and: */
	bool is_first; /* of the shape */
	int64_t offset;
};

static uint32_t current(const struct goal_build *b)
{
	return (uint32_t)(b->rank - b->goal->rank);
}

static int check_peer(
	const struct goal *g, uint32_t rank, int64_t offset, struct err *e)
{
	int64_t to = rank + offset;

	if (to < 0 || to >= g->n_ranks)
		return err_set(e,
			"rank %u has no peer %+lld (want ranks from 0 to %u)",
			rank, (long long)offset, g->n_ranks - 1);
	return 0;
}

/* By the text of the group, as which goal_group() knows it. */
static int find_coll(
	struct goal *g, uint32_t rank, struct alike_shape *s, struct err *e)
{
	uint64_t member = rank / s->stride % s->members;
	uint64_t first = rank - member * s->stride;
	uint64_t last = first + (s->members - UINT64_C(1)) * s->stride;
	int64_t group, coll;
	char text[64];

	snprintf(text, sizeof(text), "%llu..%llu:%u", (unsigned long long)first,
		(unsigned long long)last, s->stride);
	group = goal_group(g, text, e);
	coll = group < 0 ? -1 : goal_coll(g, &s->plan, (uint32_t)group, e);
	s->coll = (uint32_t)coll;
	return coll < 0 ? -1 : 0;
}

static void add(
	struct goal_alike *a, const struct goal_build *b, struct alike_peer x)
{
	x.op = b->rank->n_ops - 1;
	a->peer = mem_more(a->peer, a->n_peers, sizeof(*a->peer));
	a->peer[a->n_peers++] = x;
}

int goal_alike_peer(struct goal_alike *a, const struct goal_build *b,
	int64_t offset, struct err *e)
{
	struct goal_op *op = &b->rank->op[b->rank->n_ops - 1];

	add(a, b, (struct alike_peer){ .offset = offset });
	op->peer = (uint32_t)offset;
	op->is_relative = true;
	return check_peer(b->goal, current(b), offset, e);
}

static bool is_same(const struct alike_shape *s, const struct algo_plan *p,
	uint32_t members, uint32_t stride)
{
	const struct algo_plan *q = &s->plan;

	return s->members == members && s->stride == stride && q->op == p->op &&
	       q->algo == p->algo && q->bytes == p->bytes &&
	       q->channels == p->channels && q->chunk == p->chunk &&
	       q->unit == p->unit && q->is_apart == p->is_apart;
}

int goal_alike_coll(struct goal_alike *a, const struct goal_build *b,
	const struct algo_plan *plan, uint32_t members, uint32_t stride,
	struct err *e)
{
	bool is_first;
	uint32_t i = 0;

	while (i < a->n_shapes && !is_same(&a->shape[i], plan, members, stride))
		i++;
	is_first = i == a->n_shapes;
	if (is_first) {
		a->shape = mem_more(a->shape, i, sizeof(*a->shape));
		a->shape[a->n_shapes++] = (struct alike_shape){
			.plan = *plan, .members = members, .stride = stride
		};
		if (find_coll(b->goal, current(b), &a->shape[i], e))
			return -1;
	}
	add(a, b, (struct alike_peer){ .shape = i + 1, .is_first = is_first });
	b->rank->op[b->rank->n_ops - 1].peer = a->shape[i].coll;
	return 0;
}

/* Collectives are numbered, by ranks of their own. */
static bool may_share(const struct goal_rank *r)
{
	uint32_t i = 0;

	while (i < r->n_ops && r->op[i].kind != GOAL_COLL)
		i++;
	return i == r->n_ops;
}

static int copy(struct goal_alike *a, struct goal *g,
	const struct goal_rank *from, uint32_t rank, struct err *e)
{
	struct goal_rank *to = &g->rank[rank];

	*to = *from;
	to->shares_edges = true;
	to->shares_ops = a->shares_ops;
	if (!to->shares_ops) {
		to->op = mem_alloc(from->n_ops, sizeof(*to->op));
		memcpy(to->op, from->op, from->n_ops * sizeof(*to->op));
	}
	g->n_ops += to->n_ops;
	for (uint32_t i = 0; i < a->n_peers; i++) {
		const struct alike_peer *x = &a->peer[i];
		a->line = to->op[x->op].line;
		if (x->is_first &&
			find_coll(g, rank, &a->shape[x->shape - 1], e))
			return -1;
		if (x->shape)
			to->op[x->op].peer = a->shape[x->shape - 1].coll;
		else if (check_peer(g, rank, x->offset, e))
			return -1;
	}
	return 0;
}

int goal_alike_end(struct goal_alike *a, struct goal_build *b, uint32_t last,
	struct err *e)
{
	uint32_t first = current(b);
	uint64_t others = last - first;
	uint32_t line = a->line;

	if (b->goal->n_ops + others * b->rank->n_ops > GOAL_OPS)
		return err_set(e, "more than %d operations", GOAL_OPS);
	a->shares_ops = may_share(b->rank);
	for (uint32_t i = first + 1; i <= last; i++) {
		a->line = line;
		if (b->goal->rank[i].edge)
			return err_set(e, "rank %u is defined twice", i);
		if (copy(a, b->goal, b->rank, i, e))
			return -1;
	}
	a->n_shapes = a->n_peers = 0;
	return 0;
}

void goal_alike_fini(struct goal_alike *a)
{
	mem_free(a->shape);
	mem_free(a->peer);
}
