#define _GNU_SOURCE
#include "load/replay/goal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "base/name.h"
#include "meas/digest.h"

enum { WORD = 64 };

/* Who waits for whom, as it was read. */
struct pair {
	uint32_t op, on;
	bool is_start;
};

struct reader {
	struct goal *goal;
	const char *path;
	FILE *file;
	uint32_t line;
	struct err *e;
	char *text; /* of the line */
	size_t room;
	char *at; /* in it */
	char word[WORD];
	bool is_binary;
	/* of the rank that is being read: */
	struct goal_rank *rank;
	struct index labels; /* op + 1, by hash */
	struct pair *pair;
	uint32_t n_pairs, pair_room, op_room;
};

static int wrong(struct reader *r, const char *what)
{
	return err_set(r->e, "%s:%u: %s", r->path, r->line,
		r->is_binary ? "not text, the only form of GOAL that is read; "
			       "see weft-goal(1)"
			     : what);
}

/* --- words --- */

static bool is_in_word(char c)
{
	return c && !isspace((unsigned char)c) && !strchr(":{};", c);
}

/* The next word of the line, or a sign; "" at its end.  A word that is too
 * long is cut, and fits nothing then. */
static const char *next_word(struct reader *r)
{
	size_t n = 0;

	while (isspace((unsigned char)*r->at))
		r->at++;
	if (!*r->at || *r->at == '#' || !strncmp(r->at, "//", 2)) {
		*r->at = '\0';
	} else if (!is_in_word(*r->at)) {
		r->word[n++] = *r->at++;
	} else {
		for (; is_in_word(*r->at); r->at++)
			if (n < WORD - 1)
				r->word[n++] = *r->at;
	}
	r->word[n] = '\0';
	return r->word;
}

/* The next line that says something; false at the end. */
static bool next_line(struct reader *r)
{
	ssize_t n;

	while ((n = getline(&r->text, &r->room, r->file)) >= 0) {
		r->line++;
		r->at = r->text;
		if (memchr(r->text, '\0', (size_t)n)) {
			r->is_binary = true;
			return false;
		}
		if (*next_word(r))
			return true;
	}
	return false;
}

static bool read_number(const char *s, char unit, uint64_t most, uint64_t *v)
{
	char *end;

	errno = 0;
	if (!isdigit((unsigned char)*s))
		return false;
	*v = strtoull(s, &end, 10);
	end += *end && *end == unit;
	return !*end && !errno && *v <= most;
}

/* --- operations --- */

static struct goal_op *add_op(struct reader *r, enum goal_kind kind)
{
	struct goal_rank *k = r->rank;
	struct goal_op *op;

	if (k->n_ops == r->op_room) {
		r->op_room = r->op_room ? 2 * r->op_room : 64;
		k->op = mem_grow(k->op, r->op_room, sizeof(*k->op));
	}
	op = &k->op[k->n_ops++];
	*op = (struct goal_op){ .kind = (uint8_t)kind, .line = r->line };
	return op;
}

/* "tag 3", "cpu 1", "nic 0", in any order. */
static int read_options(struct reader *r, struct goal_op *op)
{
	uint64_t v;

	while (*next_word(r) && *r->word != ';' && *r->word != '}') {
		char name = *r->word;
		bool is_tag = !strcmp(r->word, "tag");

		if (!is_tag && strcmp(r->word, "cpu") != 0 &&
			strcmp(r->word, "nic") != 0)
			return wrong(r, "want tag, cpu or nic");
		if (!read_number(next_word(r), 0,
			    is_tag ? UINT32_MAX - 1 : GOAL_CPUS - 1, &v))
			return wrong(r, is_tag ? "want a tag below 2^32 - 1"
					       : "want a number from 0 to 63");
		if (is_tag)
			op->tag = (uint32_t)v;
		else if (name == 'c')
			op->cpu = (uint8_t)v;
	}
	return 0;
}

static int read_message(struct reader *r, enum goal_kind kind)
{
	struct goal_op *op = add_op(r, kind);
	uint64_t v;

	if (!read_number(next_word(r), 'b', UINT64_C(1) << 40, &op->size))
		return wrong(r, "want a number of bytes, as in 4096b");
	if (strcmp(next_word(r), kind == GOAL_SEND ? "to" : "from") != 0)
		return wrong(r, kind == GOAL_SEND ? "want \"to\" and a rank"
						  : "want \"from\" and a rank");
	if (!read_number(next_word(r), 0, UINT32_MAX, &v) ||
		v >= r->goal->n_ranks)
		return err_set(r->e, "%s:%u: there are ranks 0 to %u", r->path,
			r->line, r->goal->n_ranks - 1);
	op->peer = (uint32_t)v;
	return read_options(r, op);
}

static int read_calc(struct reader *r)
{
	struct goal_op *op = add_op(r, GOAL_CALC);

	if (!read_number(next_word(r), 0, UINT64_C(200000000000), &op->size))
		return wrong(r, "want a time in nanoseconds, at most 200 s");
	return read_options(r, op);
}

static int read_op(struct reader *r)
{
	if (!strcmp(r->word, "send"))
		return read_message(r, GOAL_SEND);
	if (!strcmp(r->word, "recv"))
		return read_message(r, GOAL_RECV);
	if (!strcmp(r->word, "calc"))
		return read_calc(r);
	return wrong(r, "want send, recv, calc, or \"A requires B\"");
}

static int find_label(struct reader *r, const char *label, uint32_t *op)
{
	uint32_t id = index_find(&r->labels, digest_text(0, label));

	if (!id)
		return err_set(r->e, "%s:%u: no operation is called \"%s\"",
			r->path, r->line, label);
	*op = id - 1;
	return 0;
}

static int read_pair(struct reader *r, const char *label, bool is_start)
{
	struct pair *p;

	if (r->n_pairs == r->pair_room) {
		r->pair_room = r->pair_room ? 2 * r->pair_room : 64;
		r->pair = mem_grow(r->pair, r->pair_room, sizeof(*r->pair));
	}
	p = &r->pair[r->n_pairs++];
	p->is_start = is_start;
	return find_label(r, label, &p->op) ||
			       find_label(r, next_word(r), &p->on)
		       ? -1
		       : 0;
}

/* A line inside a rank's braces. */
static int read_statement(struct reader *r)
{
	char label[WORD];
	bool is_start;

	snprintf(label, sizeof(label), "%s", r->word);
	next_word(r);
	if (*r->word == ':') {
		if (index_find(&r->labels, digest_text(0, label)))
			return err_set(r->e, "%s:%u: \"%s\" is there twice",
				r->path, r->line, label);
		index_add(
			&r->labels, digest_text(0, label), r->rank->n_ops + 1);
		next_word(r);
		return read_op(r);
	}
	is_start = !strcmp(r->word, "irequires");
	if (is_start || !strcmp(r->word, "requires"))
		return read_pair(r, label, is_start);
	/* an operation without a label: its first word again */
	r->at = r->text;
	next_word(r);
	return read_op(r);
}

/* --- ranks --- */

/* The pairs, by what is waited for. */
static void set_edges(struct reader *r)
{
	struct goal_rank *k = r->rank;
	uint32_t *at = mem_alloc(k->n_ops + 1, sizeof(*at));
	uint32_t i, sum = 0;

	k->n_edges = r->n_pairs;
	k->edge = mem_alloc(r->n_pairs + 1, sizeof(*k->edge));
	for (i = 0; i < r->n_pairs; i++) {
		at[r->pair[i].on]++;
		k->op[r->pair[i].op].needs++;
	}
	for (i = 0; i < k->n_ops; i++) {
		uint32_t n = at[i];

		k->op[i].after = at[i] = sum;
		sum += n;
	}
	for (i = 0; i < r->n_pairs; i++)
		k->edge[at[r->pair[i].on]++] =
			r->pair[i].op * 2 | r->pair[i].is_start;
	mem_free(at);
}

/* Takes away what waits for nothing, until nothing changes. */
static int check_order(struct reader *r)
{
	struct goal_rank *k = r->rank;
	uint32_t *left = mem_alloc(k->n_ops + 1, sizeof(*left));
	uint32_t *ready = mem_alloc(k->n_ops + 1, sizeof(*ready));
	uint32_t n = 0, done = 0, i;
	int failed = 0;

	for (i = 0; i < k->n_ops; i++) {
		left[i] = k->op[i].needs;
		if (!left[i])
			ready[n++] = i;
	}
	while (done < n) {
		uint32_t op = ready[done++], first = k->op[op].after;

		for (i = first; i < first + goal_n_after(k, op); i++)
			if (!--left[k->edge[i] / 2])
				ready[n++] = k->edge[i] / 2;
	}
	for (i = 0; i < k->n_ops && done < k->n_ops && !failed; i++)
		if (left[i])
			failed = err_set(r->e,
				"%s:%u: this operation of rank %u waits for "
				"itself, by way of what it requires",
				r->path, k->op[i].line,
				(uint32_t)(k - r->goal->rank));
	mem_free(left);
	mem_free(ready);
	return failed;
}

static int end_rank(struct reader *r)
{
	set_edges(r);
	r->goal->n_ops += r->rank->n_ops;
	if (r->goal->n_ops > GOAL_OPS)
		return err_set(
			r->e, "%s: more than %d operations", r->path, GOAL_OPS);
	return check_order(r);
}

static int read_rank(struct reader *r)
{
	uint64_t v;
	int failed = 0;

	if (strcmp(r->word, "rank") != 0)
		return wrong(r, "want \"rank\"");
	if (!read_number(next_word(r), 0, UINT32_MAX, &v) ||
		v >= r->goal->n_ranks)
		return err_set(r->e, "%s:%u: there are ranks 0 to %u", r->path,
			r->line, r->goal->n_ranks - 1);
	r->rank = &r->goal->rank[v];
	if (r->rank->edge)
		return wrong(r, "this rank is there twice");
	if (*next_word(r) != '{')
		return wrong(r, "want \"{\"");
	r->op_room = r->n_pairs = 0;
	index_fini(&r->labels);
	r->labels = (struct index){ 0 };
	for (;;) {
		if (!next_line(r))
			return wrong(r, "the file ends inside a rank");
		if (*r->word == '}')
			return end_rank(r);
		failed = read_statement(r);
		if (failed)
			return failed;
	}
}

static int read_all(struct reader *r)
{
	uint64_t n;

	if (!next_line(r) || strcmp(r->word, "num_ranks") != 0 ||
		!read_number(next_word(r), 0, UINT64_MAX, &n) || !n)
		return wrong(r, "want \"num_ranks\" and a number first");
	if (n > GOAL_RANKS)
		return err_set(r->e, "%s:%u: more than %d ranks", r->path,
			r->line, GOAL_RANKS);
	r->goal->n_ranks = (uint32_t)n;
	r->goal->rank = mem_alloc(n, sizeof(*r->goal->rank));
	while (next_line(r))
		if (read_rank(r))
			return -1;
	return r->is_binary ? wrong(r, "") : 0;
}

int goal_read(struct goal *g, const char *path, struct err *e)
{
	struct reader r = { .goal = g, .path = path, .e = e };
	int failed;

	*g = (struct goal){ 0 };
	r.file = fopen(path, "r");
	if (!r.file)
		return err_set(e, "%s: %s", path, strerror(errno));
	failed = read_all(&r);
	if (!failed && ferror(r.file))
		failed = err_set(e, "%s: %s", path, strerror(errno));
	fclose(r.file);
	mem_free(r.text);
	index_fini(&r.labels);
	mem_free(r.pair);
	if (failed) {
		name_clean(e->text, "");
		goal_free(g);
	}
	return failed;
}

void goal_free(struct goal *g)
{
	uint32_t i;

	for (i = 0; i < g->n_ranks; i++) {
		mem_free(g->rank[i].op);
		mem_free(g->rank[i].edge);
	}
	mem_free(g->rank);
	*g = (struct goal){ 0 };
}
