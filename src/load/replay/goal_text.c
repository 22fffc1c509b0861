/* GOAL's text form; goal.h shows it. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "base/readline.h"
#include "load/replay/goal_alike.h"
#include "meas/digest.h"

struct reader {
	struct goal_build *b;
	struct lines lines;
	uint32_t line;
	const char *word, *end; /* in it; nothing but blanks is before it */
	bool is_binary, is_too_long; /* nothing more is read of it */
	struct index labels; /* op + 1, by hash, of the rank */
	struct goal_alike alike; /* what depends on the rank of its block */
};

static int wrong(struct reader *r, const char *what)
{
	return err_set(r->b->e, "%s:%u: %s", r->b->path, r->line,
		r->is_binary	 ? "not GOAL, neither text nor binary"
		: r->is_too_long ? "the line is longer than 1 MiB"
				 : what);
}

/* --- words --- */

enum { IN_WORD, MARK, SPACE, SIGN, END }; /* MARK: may begin a comment */

/* Not isspace(): every character of long files is asked. */
static const uint8_t kind_of[UCHAR_MAX + 1] = {
	['\0'] = END,
	['#'] = MARK,
	['/'] = MARK,
	['\t'] = SPACE,
	['\n'] = SPACE,
	['\v'] = SPACE,
	['\f'] = SPACE,
	['\r'] = SPACE,
	[' '] = SPACE,
	[':'] = SIGN,
	[';'] = SIGN,
	['{'] = SIGN,
	['}'] = SIGN,
};

static uint8_t kind(const char *c)
{
	return kind_of[(unsigned char)*c];
}

static bool is_comment(const char *c)
{
	return *c == '#' || (c[0] == '/' && c[1] == '/');
}

/* Goes on to the next word of the line, or a sign; to nothing at its end. */
static void next_word(struct reader *r)
{
	const char *at = r->end;
	uint8_t k;

	while ((k = kind(at)) == SPACE)
		at++;
	r->word = at;
	if (k == IN_WORD || (k == MARK && !is_comment(at)))
		while (kind(++at) <= MARK)
			;
	else if (k == SIGN)
		at++;
	else if (k != END)
		r->word = at += strlen(at);
	r->end = at;
}

/* Whether the word is this one. */
static inline __attribute__((always_inline)) bool is_word(
	const struct reader *r, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(r->end - r->word) == n && !memcmp(r->word, word, n);
}

static inline bool is_next(struct reader *r, const char *word)
{
	next_word(r);
	return is_word(r, word);
}

/* Whether the line ends here. */
static bool is_end(const struct reader *r)
{
	return !*r->word || *r->word == ';' || *r->word == '}';
}

/* The next line that says something; false at the end. */
static bool next_line(struct reader *r)
{
	enum readline got;

	while ((got = readline(&r->lines)) != READLINE_END) {
		r->line++;
		if (got != READLINE_ONE) {
			r->is_binary = got == READLINE_NO_TEXT;
			r->is_too_long = got == READLINE_TOO_LONG;
			return false;
		}
		r->end = r->lines.text;
		next_word(r);
		if (*r->word)
			return true;
	}
	return false;
}

/* The digits at s; not by strtoull(), for the same reason.  NULL: there are
 * none, or too many. */
static inline const char *take_digits(const char *s, uint64_t *v)
{
	const char *first = s;
	uint64_t x = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(x, 10, &x) ||
			__builtin_add_overflow(x, (uint64_t)(*s - '0'), &x))
			return NULL;
	*v = x;
	return s == first ? NULL : s;
}

/* The next word as a number. */
static bool read_number(struct reader *r, char unit, uint64_t most, uint64_t *v)
{
	const char *s;

	next_word(r);
	s = take_digits(r->word, v);
	if (!s)
		return false;
	s += *s && *s == unit;
	return s == r->end && *v <= most;
}

/* --- operations --- */

static struct goal_op *add_op(struct reader *r, enum goal_kind kind)
{
	struct goal_op *op = goal_build_op(r->b, kind);

	op->line = r->line;
	return op;
}

/* "tag 3", "cpu 1", "nic 0", in any order, from the current word on. */
static bool is_common_option(const struct reader *r)
{
	return is_word(r, "tag") || is_word(r, "cpu") || is_word(r, "nic");
}

static int read_word_options(struct reader *r, struct goal_op *op)
{
	uint64_t v;

	for (; !is_end(r); next_word(r)) {
		char name = *r->word;
		bool is_tag = is_word(r, "tag");

		if (!is_common_option(r))
			return wrong(r, "want tag, cpu or nic");
		if (!read_number(r, 0, is_tag ? GOAL_TAG : GOAL_CPUS - 1, &v))
			return wrong(r, is_tag ? "want a tag below 2^32 - 1"
					       : "want a number from 0 to 63");
		if (is_tag)
			op->tag = (uint32_t)v;
		else if (name == 'c')
			op->cpu = (uint8_t)v;
		else
			op->nic = (uint8_t)v;
	}
	return 0;
}

static int read_options(struct reader *r, struct goal_op *op)
{
	next_word(r);
	return read_word_options(r, op);
}

static int want_rank(struct reader *r)
{
	return err_set(r->b->e, "%s:%u: want a rank from 0 to %u", r->b->path,
		r->line, r->b->goal->n_ranks - 1);
}

/* "3", or, counted from the own rank, "+3" and "-3". */
static int read_peer(struct reader *r, struct goal_op *op)
{
	struct err e = { 0 };
	bool is_relative;
	const char *s;
	uint64_t v = 0;

	next_word(r);
	is_relative = *r->word == '+' || *r->word == '-';
	s = take_digits(r->word + is_relative, &v);
	if (s != r->end || v >= r->b->goal->n_ranks)
		return want_rank(r);
	op->peer = (uint32_t)v;
	if (is_relative &&
		goal_alike_peer(&r->alike, r->b,
			*r->word == '+' ? (int64_t)v : -(int64_t)v, &e))
		return wrong(r, e.text);
	return 0;
}

/* "3", or "0..3". */
static int read_ranks(struct reader *r, uint32_t *first, uint32_t *last)
{
	uint64_t from = 0, to;
	const char *s;

	next_word(r);
	s = take_digits(r->word, &from);
	to = from;
	if (s && s[0] == '.' && s[1] == '.')
		s = take_digits(s + 2, &to);
	if (s != r->end || from > to || to >= r->b->goal->n_ranks)
		return want_rank(r);
	*first = (uint32_t)from;
	*last = (uint32_t)to;
	return 0;
}

static int read_message(struct reader *r, enum goal_kind kind)
{
	struct goal_op *op = add_op(r, kind);

	if (!read_number(r, 'b', GOAL_BYTES, &op->size))
		return wrong(r, "want a number of bytes, as in 4096b");
	next_word(r);
	if (!(kind == GOAL_SEND ? is_word(r, "to") : is_word(r, "from")))
		return wrong(r, kind == GOAL_SEND ? "want \"to\" and a rank"
						  : "want \"from\" and a rank");
	if (read_peer(r, op))
		return -1;
	return read_options(r, op);
}

static int read_calc(struct reader *r)
{
	struct goal_op *op = add_op(r, GOAL_CALC);

	if (!read_number(r, 0, GOAL_CALC_NS, &op->size))
		return wrong(r, "want a time in nanoseconds, at most 200 s");
	return read_options(r, op);
}

/* --- collectives --- */

/* To be freed. */
static char *word_text(const struct reader *r)
{
	size_t n = (size_t)(r->end - r->word);
	char *text = mem_alloc(n + 1, 1);

	memcpy(text, r->word, n);
	return text;
}

static const struct algo *find_algo(const struct reader *r, struct err *e)
{
	char *text = word_text(r);
	const struct algo *a = algo_find_any(text, e);

	mem_free(text);
	return a;
}

static enum algo_op find_algo_op(const struct reader *r)
{
	char *text = word_text(r);
	enum algo_op which = algo_find_op(text);

	mem_free(text);
	return which;
}

/* A list of ranks, which may be long and have signs in it. */
static int read_group(struct reader *r, int64_t *group)
{
	struct err e = { 0 };
	char *text;

	while (kind(r->end) == SPACE)
		r->end++;
	r->word = r->end;
	while (kind(r->end) <= MARK || *r->end == ':')
		r->end++;
	text = word_text(r);
	*group = goal_group(r->b->goal, text, &e);
	mem_free(text);
	return *group < 0 ? wrong(r, e.text) : 0;
}

/* "channels 2", "chunk 65536b", "unit 8", "root 0", "overlap no". */
static int read_plan_option(struct reader *r, struct algo_plan *p)
{
	static const char *const words[] = { "channels", "chunk", "unit",
		"root" };
	const uint64_t most[] = { ALGO_CHANNELS, GOAL_BYTES, GOAL_RANKS,
		GOAL_RANKS };
	uint32_t i = 0;
	uint64_t v;

	if (is_word(r, "overlap")) {
		p->is_apart = is_next(r, "no");
		return p->is_apart || is_word(r, "yes")
			       ? 0
			       : wrong(r, "overlap: want yes or no");
	}
	while (i < 4 && !is_word(r, words[i]))
		i++;
	if (i == 4)
		return wrong(r, "want algo, group, members, channels, chunk, "
				"unit, root, overlap, tag, cpu or nic");
	if (!read_number(r, i == 1 ? 'b' : 0, most[i], &v) || (!v && i < 3))
		return wrong(r, "want a number that is not too large");
	if (i == 1)
		p->chunk = v;
	else
		*(i == 0	 ? &p->channels
			: i == 2 ? &p->unit
				 : &p->root) = (uint32_t)v;
	return 0;
}

/* The members of a collective: a group, or one that depends on the rank. */
struct members {
	int64_t group; /* or -1 */
	uint32_t n, stride; /* n 0: it does not */
};

/* "members 8 stride 4" */
static int read_members(struct reader *r, struct members *m)
{
	uint64_t n, stride;

	if (!read_number(r, 0, r->b->goal->n_ranks, &n) || !n)
		return wrong(r, "members: want a number, up to that of ranks");
	if (!is_next(r, "stride") ||
		!read_number(r, 0, r->b->goal->n_ranks, &stride) || !stride)
		return wrong(r, "members: want a stride, as in members 8 "
				"stride 1");
	*m = (struct members){ -1, (uint32_t)n, (uint32_t)stride };
	return 0;
}

static int set_coll(struct reader *r, const struct algo_plan *p,
	const struct members *m, struct goal_op *op)
{
	int64_t group = m->group, coll;
	struct err e = { 0 };

	if (m->n && algo_op_has_root(p->op))
		return wrong(r, "members: want a group, which has the root");
	if (m->n)
		return goal_alike_coll(&r->alike, r->b, p, m->n, m->stride, &e)
			       ? wrong(r, e.text)
			       : 0;
	if (group < 0)
		group = goal_group(r->b->goal, "all", &e);
	coll = goal_coll(r->b->goal, p, (uint32_t)group, &e);
	op->peer = (uint32_t)coll;
	return coll < 0 ? wrong(r, e.text) : 0;
}

static int read_coll(struct reader *r, enum algo_op which)
{
	struct goal_op *op = add_op(r, GOAL_COLL);
	struct algo_plan p = { .op = which };
	struct members m = { -1, 0, 0 };
	struct err e = { 0 };
	int failed = 0;

	if (!read_number(r, 'b', GOAL_BYTES, &p.bytes))
		return wrong(r, "want a number of bytes, as in 4096b");
	op->size = p.bytes;
	next_word(r);
	while (!failed && !is_end(r) && !is_common_option(r)) {
		if (is_word(r, "group")) {
			failed = read_group(r, &m.group);
			m.n = 0;
		} else if (is_word(r, "members")) {
			failed = read_members(r, &m);
		} else if (is_word(r, "algo")) {
			next_word(r);
			p.algo = find_algo(r, &e);
			failed = p.algo ? 0 : wrong(r, e.text);
		} else {
			failed = read_plan_option(r, &p);
		}
		next_word(r);
	}
	if (failed)
		return failed;
	if (!p.algo || which == ALGO_ALLTOALLV)
		return wrong(r, p.algo ? "a schedule has no alltoallv (want "
					 "alltoall, or sends and receives)"
				       : "want an algorithm, as in algo ring");
	return set_coll(r, &p, &m, op) ? -1 : read_word_options(r, op);
}

static int read_op(struct reader *r)
{
	enum algo_op which;

	if (is_word(r, "send"))
		return read_message(r, GOAL_SEND);
	if (is_word(r, "recv"))
		return read_message(r, GOAL_RECV);
	if (is_word(r, "calc"))
		return read_calc(r);
	which = find_algo_op(r);
	if (which != ALGO_OPS)
		return read_coll(r, which);
	return wrong(r, "want send, recv, calc, a collective such as "
			"allreduce, or \"A requires B\"");
}

/* The name of an operation. */
struct label {
	const char *text;
	int length;
	uint64_t hash;
};

/* By eight bytes at a time; the last four may overlap those before. */
static uint64_t hash_of(const char *at, size_t n)
{
	uint64_t chain = n * UINT64_C(0x9e3779b97f4a7c15), x;
	uint32_t first = 0, last = 0;

	for (; n > 8; n -= 8, at += 8) {
		memcpy(&x, at, 8);
		chain = digest_mix(chain ^ x);
	}
	if (n >= 4) {
		memcpy(&first, at, 4);
		memcpy(&last, at + n - 4, 4);
	} else {
		for (size_t i = 0; i < n; i++)
			first = first << 8 | (uint8_t)at[i];
	}
	return digest_mix(chain ^ ((uint64_t)last << 32 | first));
}

static struct label label_here(const struct reader *r)
{
	size_t n = (size_t)(r->end - r->word);

	return (struct label){
		.text = r->word, .length = (int)n, .hash = hash_of(r->word, n)
	};
}

static int find_label(struct reader *r, const struct label *l, uint32_t *op)
{
	uint32_t id = index_find(&r->labels, l->hash);

	if (!id)
		return err_set(r->b->e,
			"%s:%u: no operation is called \"%.*s\"", r->b->path,
			r->line, l->length, l->text);
	*op = id - 1;
	return 0;
}

static int read_pair(struct reader *r, const struct label *label, bool is_start)
{
	uint32_t op = 0, on = 0;
	struct label other;

	if (find_label(r, label, &op))
		return -1;
	next_word(r);
	other = label_here(r);
	if (find_label(r, &other, &on))
		return -1;
	goal_build_pair(r->b, op, on, is_start);
	return 0;
}

/* A line inside a rank's braces. */
static int read_statement(struct reader *r)
{
	struct label label = label_here(r);
	bool is_start;

	next_word(r);
	if (*r->word == ':') {
		if (index_find(&r->labels, label.hash))
			return err_set(r->b->e,
				"%s:%u: \"%.*s\" is defined twice", r->b->path,
				r->line, label.length, label.text);
		index_add(&r->labels, label.hash, r->b->rank->n_ops + 1);
		next_word(r);
		return read_op(r);
	}
	is_start = is_word(r, "irequires");
	if (is_start || is_word(r, "requires"))
		return read_pair(r, &label, is_start);
	/* an operation without a label: its first word again */
	r->end = r->lines.text;
	next_word(r);
	return read_op(r);
}

/* --- ranks --- */

static int end_ranks(struct reader *r, uint32_t last)
{
	struct err e = { 0 };

	if (goal_build_end(r->b))
		return -1;
	r->alike.line = r->line;
	if (!goal_alike_end(&r->alike, r->b, last, &e))
		return 0;
	r->line = r->alike.line;
	return wrong(r, e.text);
}

static int read_rank(struct reader *r)
{
	uint32_t v = 0, last = 0;
	int failed = 0;

	if (!is_word(r, "rank"))
		return wrong(r, "want \"rank\"");
	if (read_ranks(r, &v, &last))
		return -1;
	if (r->b->goal->rank[v].edge)
		return wrong(r, "this rank is defined twice");
	goal_build_rank(r->b, v);
	if (!is_next(r, "{"))
		return wrong(r, "want \"{\"");
	index_fini(&r->labels);
	r->labels = (struct index){ 0 };
	for (;;) {
		if (!next_line(r))
			return wrong(r, "the file ends inside a rank");
		if (*r->word == '}')
			return end_ranks(r, last);
		failed = read_statement(r);
		if (failed)
			return failed;
	}
}

static int read_all(struct reader *r)
{
	uint64_t n;

	if (!next_line(r) || !is_word(r, "num_ranks") ||
		!read_number(r, 0, UINT64_MAX, &n))
		return wrong(r, "want \"num_ranks\" and a number first");
	if (goal_build_ranks(r->b, n))
		return -1;
	while (next_line(r))
		if (read_rank(r))
			return -1;
	return r->is_binary ? wrong(r, "") : 0;
}

int goal_read_text(struct goal_build *b, FILE *f)
{
	struct reader r = { .b = b, .lines.file = f };
	int failed = read_all(&r);

	lines_fini(&r.lines);
	index_fini(&r.labels);
	goal_alike_fini(&r.alike);
	return failed;
}

/* --- writing --- */

static void write_op(
	const struct goal *g, const struct goal_rank *r, uint32_t i, FILE *f)
{
	const struct goal_op *op = &r->op[i];

	fprintf(f, "l%u: ", i + 1);
	if (op->kind == GOAL_CALC)
		fprintf(f, "calc %" PRIu64, op->size);
	else if (op->kind == GOAL_COLL)
		goal_write_coll(g, op, f);
	else
		fprintf(f, "%s %" PRIu64 "b %s %u tag %u",
			op->kind == GOAL_SEND ? "send" : "recv", op->size,
			op->kind == GOAL_SEND ? "to" : "from",
			goal_peer(g, r, op), op->tag);
	if (op->cpu)
		fprintf(f, " cpu %u", op->cpu);
	if (op->nic)
		fprintf(f, " nic %u", op->nic);
	putc('\n', f);
}

static void write_rank(const struct goal *g, const struct goal_rank *r, FILE *f)
{
	for (uint32_t op = 0; op < r->n_ops; op++)
		write_op(g, r, op, f);
	for (uint32_t op = 0; op < r->n_ops; op++)
		for (uint32_t i = 0; i < goal_n_after(r, op); i++) {
			uint32_t edge = r->edge[r->op[op].after + i];

			fprintf(f, "l%u %s l%u\n", edge / 2 + 1,
				edge % 2 ? "irequires" : "requires", op + 1);
		}
}

void goal_write_text(const struct goal *g, FILE *f)
{
	fprintf(f, "num_ranks %u\n", g->n_ranks);
	for (uint32_t i = 0; i < g->n_ranks; i++) {
		fprintf(f, "rank %u {\n", i);
		write_rank(g, &g->rank[i], f);
		fputs("}\n", f);
	}
}
