#include "load/replay/goal.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "load/replay/goal_build.h"
#include "load/replay/goal_colls.h"

/* Who waits for whom. */
struct goal_pair {
	uint32_t op, on;
	bool is_start;
};

const char *goal_where(const struct goal *g, const struct goal_rank *r,
	uint32_t op, char *where)
{
	if (g->is_binary)
		snprintf(where, GOAL_WHERE, ": rank %u, operation %u",
			(uint32_t)(r - g->rank), op);
	else
		snprintf(where, GOAL_WHERE, ":%u", r->op[op].line);
	return where;
}

/* --- building --- */

int goal_build_ranks(struct goal_build *b, uint64_t n)
{
	if (!n)
		return err_set(b->e, "%s: no ranks", b->path);
	if (n > GOAL_RANKS)
		return err_set(
			b->e, "%s: more than %d ranks", b->path, GOAL_RANKS);
	b->goal->n_ranks = (uint32_t)n;
	b->goal->rank = mem_alloc(n, sizeof(*b->goal->rank));
	return 0;
}

void goal_build_rank(struct goal_build *b, uint32_t rank)
{
	b->rank = &b->goal->rank[rank];
	b->n_pairs = 0;
}

struct goal_op *goal_build_op(struct goal_build *b, enum goal_kind kind)
{
	struct goal_rank *k = b->rank;
	struct goal_op *op;

	k->op = mem_more(k->op, k->n_ops, sizeof(*k->op));
	op = &k->op[k->n_ops++];
	*op = (struct goal_op){ .kind = (uint8_t)kind };
	return op;
}

void goal_build_pair(
	struct goal_build *b, uint32_t op, uint32_t on, bool is_start)
{
	b->pair = mem_more(b->pair, b->n_pairs, sizeof(*b->pair));
	b->pair[b->n_pairs++] =
		(struct goal_pair){ .op = op, .on = on, .is_start = is_start };
}

/* The pairs, by what is waited for. */
static void set_edges(struct goal_build *b)
{
	struct goal_rank *k = b->rank;
	uint32_t *at = mem_alloc(k->n_ops + 1, sizeof(*at));
	uint32_t sum = 0;

	k->n_edges = b->n_pairs;
	k->edge = mem_alloc(b->n_pairs + 1, sizeof(*k->edge));
	for (uint32_t i = 0; i < b->n_pairs; i++) {
		at[b->pair[i].on]++;
		k->op[b->pair[i].op].needs++;
	}
	for (uint32_t i = 0; i < k->n_ops; i++) {
		uint32_t n = at[i];

		k->op[i].after = at[i] = sum;
		sum += n;
	}
	for (uint32_t i = 0; i < b->n_pairs; i++)
		k->edge[at[b->pair[i].on]++] =
			b->pair[i].op * 2 | b->pair[i].is_start;
	mem_free(at);
}

/* Takes away what waits for nothing, until nothing changes. */
static int check_order(struct goal_build *b)
{
	struct goal_rank *k = b->rank;
	uint32_t *left = mem_alloc(k->n_ops + 1, sizeof(*left));
	uint32_t *ready = mem_alloc(k->n_ops + 1, sizeof(*ready));
	uint32_t n = 0, done = 0;
	char where[GOAL_WHERE];
	int failed = 0;

	for (uint32_t i = 0; i < k->n_ops; i++) {
		left[i] = k->op[i].needs;
		if (!left[i])
			ready[n++] = i;
	}
	while (done < n) {
		uint32_t op = ready[done++], first = k->op[op].after;

		for (uint32_t i = first; i < first + goal_n_after(k, op); i++)
			if (!--left[k->edge[i] / 2])
				ready[n++] = k->edge[i] / 2;
	}
	for (uint32_t i = 0; i < k->n_ops && done < k->n_ops && !failed; i++)
		if (left[i])
			failed = err_set(b->e,
				"%s%s: this operation waits for itself, "
				"through the operations that it requires",
				b->path, goal_where(b->goal, k, i, where));
	mem_free(left);
	mem_free(ready);
	return failed;
}

int goal_build_end(struct goal_build *b)
{
	set_edges(b);
	b->goal->n_ops += b->rank->n_ops;
	if (b->goal->n_ops > GOAL_OPS)
		return err_set(
			b->e, "%s: more than %d operations", b->path, GOAL_OPS);
	return check_order(b);
}

/* --- files --- */

int goal_read_file(struct goal *g, FILE *f, const char *path, struct err *e)
{
	struct goal_build b = { .goal = g, .path = path, .e = e };
	int first = ungetc(getc(f), f);
	int failed;

	*g = (struct goal){ .is_binary = goal_is_binary(first) };
	if (first == EOF)
		return err_set(e, "%s: %s", path,
			ferror(f) ? strerror(errno) : "is empty");
	failed = g->is_binary ? goal_read_binary(&b, f) : goal_read_text(&b, f);
	if (!failed && ferror(f))
		failed = err_set(e, "%s: %s", path, strerror(errno));
	mem_free(b.pair);
	if (failed) {
		name_clean(e->text, "");
		goal_free(g);
	}
	return failed;
}

int goal_read(struct goal *g, const char *path, struct err *e)
{
	bool has_path = *path && strcmp(path, "none") != 0;
	FILE *f = has_path ? fopen(path, "r") : NULL;
	int failed;

	*g = (struct goal){ 0 };
	if (!has_path)
		return err_set(e, "file: want the file of a schedule, such as "
				  "`weft goal` writes");
	if (!f)
		return err_set(e, "%s: %s", path, strerror(errno));
	failed = goal_read_file(g, f, path, e);
	fclose(f);
	return failed;
}

void goal_write(const struct goal *g, bool is_binary, FILE *f)
{
	if (is_binary)
		goal_write_binary(g, f);
	else
		goal_write_text(g, f);
}

void goal_free(struct goal *g)
{
	for (uint32_t i = 0; i < g->n_ranks; i++) {
		if (!g->rank[i].shares_ops)
			mem_free(g->rank[i].op);
		if (!g->rank[i].shares_edges)
			mem_free(g->rank[i].edge);
	}
	mem_free(g->rank);
	goal_colls_free(g->colls);
	*g = (struct goal){ 0 };
}

uint64_t goal_longest(const struct goal *g)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < g->n_ranks; i++)
		for (uint32_t k = 0; k < g->rank[i].n_ops; k++)
			if (goal_is_message(&g->rank[i].op[k]) &&
				g->rank[i].op[k].size > most)
				most = g->rank[i].op[k].size;
	return most;
}
