#include "outside/computing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/readline.h"
#include "outside/account.h"

enum {
	VERSION = 1,
	MOST_RANKS = 1 << 24,
	FIRST_LOOKS = 4096, /* of a row, each by itself */
	LAST_LOOKS = 16, /* those between are kept together */
};

#define OPERATION "operation" /* what a call outside of MPI is called */
#define MOST_NS	  UINT64_C(1000000000000) /* of a step: 1,000 s */

struct steps {
	struct channel_step *step; /* [n], and room for a turn's */
	size_t n, room, at; /* at: the next to be given */
	uint32_t looks; /* in a row, at the end */
};

struct computing {
	uint32_t n_ranks;
	struct steps *rank;
};

struct computing *computing_new(uint32_t n_ranks)
{
	struct computing *c = mem_alloc(1, sizeof(*c));

	c->n_ranks = n_ranks;
	c->rank = mem_alloc(n_ranks, sizeof(*c->rank));
	return c;
}

void computing_free(struct computing *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n_ranks; i++)
		mem_free(c->rank[i].step);
	mem_free(c->rank);
	mem_free(c);
}

/* --- steps --- */

static void make_room(struct steps *s, size_t n)
{
	size_t room = s->room ? s->room : CHANNEL_STEPS;

	while (room - s->n < n)
		room *= 2;
	if (room == s->room)
		return;
	s->step = mem_grow(s->step, room, sizeof(*s->step));
	s->room = room;
}

/* Looks between the first and the last of a row become one step. */
static bool can_join(const struct channel_step *a, const struct channel_step *b)
{
	return a->n < INT32_MAX && a->ns <= MOST_NS - b->ns;
}

/*
 * One more, which may lie beyond the end.  The last looks keep their own times,
 * and so their beginnings: a program that polls must find what it waits for
 * with the same look again, and not with the one before.
 */
static void add(struct steps *s, struct channel_step x)
{
	struct channel_step *between;

	s->looks = x.call == CHANNEL_LOOKS ? s->looks + 1 : 0;
	if (s->looks > FIRST_LOOKS + 1 + LAST_LOOKS) {
		between = s->step + s->n - LAST_LOOKS - 1;
		if (can_join(between, between + 1)) {
			between->n++;
			between->ns += between[1].ns;
			memmove(between + 1, between + 2,
				(LAST_LOOKS - 1) * sizeof(*between));
			s->n--;
		}
	}
	s->step[s->n++] = x;
}

/* A rank can have written anything. */
static struct channel_step checked(struct channel_step x)
{
	if (x.call != CHANNEL_LOOKS &&
		!strcmp(account_call_name(x.call), account_call_name(0)))
		x.call = 0;
	if (x.ns > MOST_NS)
		x.ns = MOST_NS;
	x.n = 1;
	return x;
}

void computing_take(
	struct computing *c, uint32_t rank, const struct handover *h)
{
	struct steps *s = &c->rank[rank];
	struct channel_step *new;
	uint32_t n;

	make_room(s, CHANNEL_STEPS);
	new = s->step + s->n;
	n = handover_steps(h, new);
	for (uint32_t i = 0; i < n; i++)
		add(s, checked(new[i]));
}

void computing_give(struct computing *c, uint32_t rank, struct handover *h)
{
	struct steps *s = &c->rank[rank];
	size_t left = s->n - s->at;
	uint32_t n = left < CHANNEL_STEPS ? (uint32_t)left : CHANNEL_STEPS;

	if (!n || !handover_wants_steps(h))
		return;
	handover_give_steps(h, s->step + s->at, n);
	s->at += n;
}

void computing_tell(
	struct computing *c, uint32_t rank, const struct sim *sim, site_id node)
{
	struct steps *s = &c->rank[rank];
	uint64_t n = s->n;

	sim_tell(sim, node, &n, sizeof(n));
	if (n > s->n)
		make_room(s, n - s->n);
	s->n = n;
	if (n)
		sim_tell(sim, node, s->step, n * sizeof(*s->step));
}

/* --- names --- */

static const char *name_of(const struct channel_step *x)
{
	return x->call ? account_call_name(x->call) : OPERATION;
}

const char *computing_call(
	const struct computing *c, uint32_t rank, uint64_t number)
{
	const struct steps *s = &c->rank[rank];
	uint64_t k = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->step[i].call != CHANNEL_LOOKS && k++ == number)
			return name_of(&s->step[i]);
	return NULL;
}

/* --- files --- */

static void write_step(const struct channel_step *x, FILE *f)
{
	if (x->call != CHANNEL_LOOKS)
		fprintf(f, "%s %" PRIu64 "\n", name_of(x), x->ns);
	else if (x->n == 1)
		fprintf(f, "- %" PRIu64 "\n", x->ns);
	else
		fprintf(f, "-%" PRIu32 " %" PRIu64 "\n", x->n, x->ns);
}

void computing_write(const struct computing *c, FILE *f)
{
	fprintf(f, COMPUTING_BEGINS "%d\nranks %" PRIu32 "\n", VERSION,
		c->n_ranks);
	for (uint32_t i = 0; i < c->n_ranks; i++) {
		fprintf(f, "rank %" PRIu32 "\n", i);
		for (size_t k = 0; k < c->rank[i].n; k++)
			write_step(&c->rank[i].step[k], f);
	}
	fputs("end\n", f);
}

/* A line: a word, and a number behind one space. */
static bool split(char *line, const char **word, uint64_t *value, uint64_t most)
{
	char *space = strchr(line, ' '), *end;

	if (!space || space[1] < '0' || space[1] > '9')
		return false;
	*space = '\0';
	*word = line;
	errno = 0;
	*value = strtoull(space + 1, &end, 10);
	return !errno && *value <= most && !strcmp(end, "\n");
}

static bool read_looks(const char *word, struct channel_step *x)
{
	char *end;
	unsigned long n;

	x->call = CHANNEL_LOOKS;
	x->n = 1;
	if (!word[1])
		return true;
	if (word[1] < '1' || word[1] > '9')
		return false;
	n = strtoul(word + 1, &end, 10);
	x->n = (uint32_t)n;
	return !*end && n <= INT32_MAX;
}

static bool read_step(const char *word, struct channel_step *x)
{
	if (*word == '-')
		return read_looks(word, x);
	x->n = 1;
	x->call = account_call_number(word);
	return x->call || !strcmp(word, OPERATION);
}

struct reader {
	const char *path;
	struct computing *c;
	struct lines lines;
	uint32_t n_begun; /* ranks */
	uint64_t number; /* of the line */
};

static int refuse(const struct reader *r, const char *why, struct err *e)
{
	return err_set(e, "%s:%" PRIu64 ": %s", r->path, r->number, why);
}

static bool next_line(struct reader *r)
{
	r->number++;
	return readline(&r->lines) == READLINE_ONE;
}

static int read_head(struct reader *r, uint32_t n_ranks, struct err *e)
{
	const char *word;
	uint64_t n;

	if (!next_line(r) || strncmp(r->lines.text, COMPUTING_BEGINS,
				     strlen(COMPUTING_BEGINS)) != 0)
		return refuse(r, "this is no recording of compute=record", e);
	if (strtol(r->lines.text + strlen(COMPUTING_BEGINS), NULL, 10) !=
		VERSION)
		return refuse(
			r, "the recording is of another version of Weft", e);
	if (!next_line(r) || !split(r->lines.text, &word, &n, MOST_RANKS) ||
		strcmp(word, "ranks") != 0)
		return refuse(r, "want a line such as `ranks 8`", e);
	if (n != n_ranks)
		return err_set(e,
			"%s: the recording is of %" PRIu64
			" ranks, but there are %" PRIu32,
			r->path, n, n_ranks);
	r->c = computing_new(n_ranks);
	return 0;
}

static int read_line(struct reader *r, struct err *e)
{
	struct channel_step x = { 0 };
	struct steps *s;
	const char *word;

	if (!split(r->lines.text, &word, &x.ns, INT64_MAX))
		return refuse(r, "want a name, a space and a number", e);
	if (!strcmp(word, "rank")) {
		if (x.ns != r->n_begun || r->n_begun == r->c->n_ranks)
			return refuse(r, "the ranks are not in order", e);
		r->n_begun++;
		return 0;
	}
	if (!r->n_begun)
		return refuse(r, "want `rank 0` first", e);
	if (x.ns > MOST_NS)
		return refuse(r, "more than 1,000 s", e);
	if (!read_step(word, &x))
		return refuse(r, "there is no such call of MPI", e);
	s = &r->c->rank[r->n_begun - 1];
	make_room(s, 1);
	s->step[s->n++] = x;
	return 0;
}

static int read_all(struct reader *r, uint32_t n_ranks, struct err *e)
{
	int code = read_head(r, n_ranks, e);

	while (!code) {
		if (!next_line(r))
			return refuse(r, "the recording is cut off", e);
		if (!strcmp(r->lines.text, "end\n"))
			break;
		code = read_line(r, e);
	}
	if (!code && r->n_begun != n_ranks)
		code = refuse(r, "ranks are missing", e);
	return code;
}

struct computing *computing_read(
	const char *path, uint32_t n_ranks, struct err *e)
{
	struct reader r = { .path = path, .lines.file = fopen(path, "r") };

	if (!r.lines.file) {
		err_set(e, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (read_all(&r, n_ranks, e)) {
		computing_free(r.c);
		r.c = NULL;
	}
	fclose(r.lines.file);
	lines_fini(&r.lines);
	return r.c;
}
