/*
 * Collectives that interfaces make along a tree of members (struct
 * bench_group).  Rounds follow each other at once, as in a benchmark of MPI: so
 * their time is that of one among many, and where operations overlap it is
 * less than one takes alone.
 */
#include "load/bench/collective.h"

static struct collective *of(const struct bench_end *x)
{
	return (struct collective *)x->bench;
}

/* --- the tree --- */

static int read_tree(struct collective *c, struct err *e)
{
	struct bench_group_shape *g = &c->groups;
	uint64_t n = 1;

	for (uint32_t i = 0; i < c->fan.n; i++) {
		if (c->fan.v[i] < 1 || i == BENCH_LEVELS)
			return err_set(e,
				"tree: want up to %d levels of at least one "
				"member",
				BENCH_LEVELS);
		g->fan[g->n_levels++] = (uint32_t)c->fan.v[i];
		n *= n < UINT32_MAX ? g->fan[i] : 1;
	}
	if (n < g->n)
		return err_set(e,
			"tree: has room for %llu members, but %u take part",
			(unsigned long long)n, g->n);
	return 0;
}

static struct bench_group_work work_of(
	const struct collective *c, int64_t round)
{
	return (struct bench_group_work){
		.what = (uint32_t)c->op,
		.arith = c->arith,
		.is_float = c->is_float,
		.root = collective_root(c, round),
		.from = BENCH_SOURCE,
		.to = BENCH_TARGET,
		.bytes = c->op == OP_BARRIER ? 0 : (uint64_t)c->bench.bytes,
	};
}

int collective_group_check(
	struct collective *c, const struct topo *t, struct err *e)
{
	struct bench_group_shape *g = &c->groups;
	struct bench_group_work w;

	g->n = c->bench.needs.n_programs;
	g->procs = (uint32_t)c->bench.procs;
	c->is_float = c->type == TYPE_FLOAT;
	c->arith = (struct coll_arith){ (uint8_t)(COLL_ADD + c->combine),
		(uint8_t)(c->is_float ? COLL_BITS : COLL_DOUBLE - c->type),
		(uint16_t)(c->is_float ? sizeof(float) : (uint64_t)c->word) };
	if (c->bench.bytes % c->arith.word)
		return err_set(e, "bytes: want a multiple of the word's %u",
			c->arith.word);
	if (c->fan.n > 1 || c->fan.v[0]) {
		if (read_tree(c, e))
			return -1;
	} else {
		bench_group_grow(g, t);
	}
	w = work_of(c, 0);
	return c->group->check(&c->bench, &w, g, e);
}

/* --- the program --- */

static bool take_part(struct bench_end *x, int64_t round)
{
	struct collective *c = of(x);
	struct bench_group_work w = work_of(c, round);
	struct member *m = x->data;

	if (w.bytes && (c->op != OP_BROADCAST || x->rank == w.root))
		collective_fill(x, BENCH_SOURCE, round, m->index);
	m->came = program_now();
	if (!c->group->run(x, &w))
		return false;
	collective_count(x, round);
	return collective_is_right(x, BENCH_TARGET, round);
}

void collective_group_run(struct bench_end *x)
{
	struct collective *c = of(x);

	if (!bench_open(x) || !c->group->open(x, &c->groups))
		return;
	bench_ready(x);
	for (int64_t round = 0; round < c->bench.warm; round++)
		if (!take_part(x, round))
			return;
	bench_count(x);
	for (int64_t round = 0; round < c->bench.rounds; round++)
		if (!take_part(x, c->bench.warm + round))
			return;
	x->end = program_now();
}
