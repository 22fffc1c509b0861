#define _GNU_SOURCE /* pipe2() */
#include "outside/output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/mem.h"

enum { CHUNK = 4096, NEWS = 16 /* pipes at a time */ };

struct text {
	char *bytes;
	size_t n, room;
};

/* Whole lines of a rank for one time. */
struct part {
	int64_t t;
	uint32_t rank;
	size_t from, n; /* of the stream's text */
};

struct stream {
	int to; /* or -1 */
	int error; /* of writing to it */
	struct text kept; /* of all ranks, in the order of taking */
	struct part *part;
	size_t n_parts;
};

struct output {
	uint32_t n_ranks;
	bool is_tagged;
	pthread_mutex_t lock; /* of pipes and fresh */
	int *pipe; /* [rank * OUTPUT_STREAMS + stream], read from */
	int *other; /* written to */
	int news; /* of epoll(): the pipes that hold something */
	struct text *fresh; /* like pipe: not dated yet */
	struct stream stream[OUTPUT_STREAMS];
};

static void append(struct text *t, const char *bytes, size_t n)
{
	if (t->n + n > t->room) {
		t->room = 2 * (t->n + n);
		t->bytes = mem_grow(t->bytes, t->room, 1);
	}
	memcpy(t->bytes + t->n, bytes, n);
	t->n += n;
}

static void cut(struct text *t, size_t n)
{
	memmove(t->bytes, t->bytes + n, t->n - n);
	t->n -= n;
}

int output_take_over(struct output *o, uint32_t rank, enum output_stream s,
	int reader, struct err *e)
{
	uint32_t i = rank * OUTPUT_STREAMS + s;

	o->pipe[i] = reader;
	fcntl(reader, F_SETFL, O_NONBLOCK);
	if (epoll_ctl(o->news, EPOLL_CTL_ADD, reader,
		    &(struct epoll_event){ .events = EPOLLIN, .data.u32 = i }) <
		0)
		return err_set_code(e, EXIT_LIMIT,
			"cannot wait for the output of rank %u: %s", rank,
			strerror(errno));
	return 0;
}

static int open_pipe(
	struct output *o, uint32_t rank, enum output_stream s, struct err *e)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set_code(e, EXIT_LIMIT,
			"no pipe for the output of rank %u: %s", rank,
			strerror(errno));
	o->other[rank * OUTPUT_STREAMS + s] = ends[1];
	return output_take_over(o, rank, s, ends[0], e);
}

int output_open(struct output *o, struct err *e)
{
	for (uint32_t i = 0; i < o->n_ranks; i++)
		if (open_pipe(o, i, OUTPUT_OUT, e) ||
			open_pipe(o, i, OUTPUT_ERR, e))
			return -1;
	return 0;
}

struct output *output_new(
	uint32_t n_ranks, const int to[OUTPUT_STREAMS], bool is_tagged)
{
	struct output *o = mem_alloc(1, sizeof(*o));
	uint32_t n = n_ranks * OUTPUT_STREAMS;

	o->n_ranks = n_ranks;
	o->is_tagged = is_tagged;
	o->pipe = mem_alloc(n, sizeof(*o->pipe));
	o->other = mem_alloc(n, sizeof(*o->other));
	o->fresh = mem_alloc(n, sizeof(*o->fresh));
	pthread_mutex_init(&o->lock, NULL);
	for (uint32_t i = 0; i < OUTPUT_STREAMS; i++)
		o->stream[i].to = to[i];
	for (uint32_t i = 0; i < n; i++)
		o->pipe[i] = o->other[i] = -1;
	o->news = epoll_create1(EPOLL_CLOEXEC);
	return o;
}

static void shut(int *file)
{
	if (*file >= 0)
		close(*file);
	*file = -1;
}

void output_free(struct output *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->n_ranks * OUTPUT_STREAMS; i++) {
		shut(&o->pipe[i]);
		shut(&o->other[i]);
		mem_free(o->fresh[i].bytes);
	}
	shut(&o->news);
	for (uint32_t i = 0; i < OUTPUT_STREAMS; i++) {
		mem_free(o->stream[i].kept.bytes);
		mem_free(o->stream[i].part);
	}
	pthread_mutex_destroy(&o->lock);
	mem_free(o->pipe);
	mem_free(o->other);
	mem_free(o->fresh);
	mem_free(o);
}

int output_pipe(const struct output *o, uint32_t rank, enum output_stream s)
{
	return o->other[rank * OUTPUT_STREAMS + s];
}

int output_reader(const struct output *o, uint32_t rank, enum output_stream s)
{
	return o->pipe[rank * OUTPUT_STREAMS + s];
}

void output_begin(struct output *o)
{
	for (uint32_t i = 0; i < o->n_ranks * OUTPUT_STREAMS; i++)
		shut(&o->other[i]);
}

int output_file(const struct output *o)
{
	return o->news;
}

/* --- from the pipes --- */

/* Other processes may have the end of the pipe, too: closing alone would not
 * end the events of it. */
static void end_pipe(struct output *o, uint32_t i)
{
	epoll_ctl(o->news, EPOLL_CTL_DEL, o->pipe[i], NULL);
	shut(&o->pipe[i]);
}

static void take(struct output *o, uint32_t i)
{
	char bytes[CHUNK];
	ssize_t n;

	while (o->pipe[i] >= 0) {
		n = read(o->pipe[i], bytes, sizeof(bytes));
		if (n > 0)
			append(&o->fresh[i], bytes, (size_t)n);
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && errno == EAGAIN)
			return;
		else
			end_pipe(o, i);
	}
}

/* Locked: so what a rank has printed before it gave the turn away is in its
 * text when somebody looks, whoever has read it.  Mostly nothing is there, and
 * this is one call of the system. */
static void take_all(struct output *o)
{
	struct epoll_event e[NEWS];
	int n;

	while ((n = epoll_wait(o->news, e, NEWS, 0)) > 0)
		for (int i = 0; i < n; i++)
			take(o, e[i].data.u32);
}

void output_take(struct output *o)
{
	pthread_mutex_lock(&o->lock);
	take_all(o);
	pthread_mutex_unlock(&o->lock);
}

/* --- by time --- */

/* Bytes up to the end of the last whole line, or all. */
static size_t whole(const struct text *t, bool is_all)
{
	const char *end = t->n ? memrchr(t->bytes, '\n', t->n) : NULL;

	return is_all ? t->n : end ? (size_t)(end - t->bytes) + 1 : 0;
}

static void keep(struct stream *s, uint32_t rank, int64_t t, struct text *fresh)
{
	size_t n = whole(fresh, t == INT64_MAX);

	if (!n)
		return;
	s->part = mem_more(s->part, s->n_parts, sizeof(*s->part));
	s->part[s->n_parts++] = (struct part){ t, rank, s->kept.n, n };
	append(&s->kept, fresh->bytes, n);
	cut(fresh, n);
}

void output_date(struct output *o, uint32_t rank, int64_t t)
{
	pthread_mutex_lock(&o->lock);
	take_all(o);
	for (uint32_t i = 0; i < OUTPUT_STREAMS; i++)
		keep(&o->stream[i], rank, t,
			&o->fresh[rank * OUTPUT_STREAMS + i]);
	pthread_mutex_unlock(&o->lock);
}

/* Parts of one rank and time stay in the order in which they came. */
static int compare(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* Where nobody wants it, there is no file. */
static void print(struct stream *s, const char *bytes, size_t n)
{
	ssize_t did;

	for (; n && s->to >= 0; bytes += did, n -= (size_t)did) {
		did = write(s->to, bytes, n);
		if (did < 0 && errno == EINTR) {
			did = 0;
		} else if (did < 0) {
			s->error = errno;
			return;
		}
	}
}

static void print_tagged(
	struct stream *s, uint32_t rank, const char *bytes, size_t n)
{
	char tag[16];
	size_t line;

	for (; n; bytes += line, n -= line) {
		const char *end = memchr(bytes, '\n', n);

		line = end ? (size_t)(end - bytes) + 1 : n;
		print(s, tag, (size_t)snprintf(tag, sizeof(tag), "%u: ", rank));
		print(s, bytes, line);
	}
}

/* What is left begins at the front again. */
static void forget(struct stream *s, size_t n)
{
	struct text old = s->kept;

	memmove(s->part, s->part + n, (s->n_parts - n) * sizeof(*s->part));
	s->n_parts -= n;
	s->kept = (struct text){ 0 };
	for (size_t i = 0; i < s->n_parts; i++) {
		struct part *p = &s->part[i];
		size_t from = s->kept.n;

		append(&s->kept, old.bytes + p->from, p->n);
		p->from = from;
	}
	mem_free(old.bytes);
}

/* Sorts parts; how many of them are for times up to this. */
static size_t find_due(struct stream *s, int64_t until)
{
	size_t n = 0;

	if (s->n_parts)
		qsort(s->part, s->n_parts, sizeof(*s->part), compare);
	while (n < s->n_parts && s->part[n].t <= until)
		n++;
	return n;
}

static void write_stream(struct output *o, struct stream *s, int64_t until)
{
	size_t n = find_due(s, until);

	for (size_t i = 0; i < n; i++) {
		const struct part *p = &s->part[i];
		const char *bytes = s->kept.bytes + p->from;

		if (o->is_tagged)
			print_tagged(s, p->rank, bytes, p->n);
		else
			print(s, bytes, p->n);
	}
	if (n)
		forget(s, n);
}

void output_leave(struct output *o, uint32_t rank)
{
	for (uint32_t i = 0; i < OUTPUT_STREAMS; i++) {
		uint32_t pipe = rank * OUTPUT_STREAMS + i;

		if (o->pipe[pipe] >= 0)
			end_pipe(o, pipe);
		o->fresh[pipe].n = 0;
	}
}

void output_drop(struct output *o, uint32_t rank)
{
	pthread_mutex_lock(&o->lock);
	output_leave(o, rank);
	pthread_mutex_unlock(&o->lock);
}

/* --- several processes --- */

/* Parts up to a time, each with its bytes behind it, are taken out. */
static struct text pack_parts(struct stream *s, int64_t until)
{
	struct text all = { 0 };
	size_t n = find_due(s, until);

	for (const struct part *p = s->part; p < s->part + n; p++) {
		append(&all, (const char *)p, sizeof(*p));
		append(&all, s->kept.bytes + p->from, p->n);
	}
	if (n)
		forget(s, n);
	return all;
}

static void unpack_parts(struct stream *s, const char *bytes, size_t n)
{
	struct part p;

	for (size_t i = 0; i < n; i += sizeof(p) + p.n) {
		memcpy(&p, bytes + i, sizeof(p));
		p.from = s->kept.n;
		s->part = mem_more(s->part, s->n_parts, sizeof(*s->part));
		s->part[s->n_parts++] = p;
		append(&s->kept, bytes + i + sizeof(p), p.n);
	}
}

static void date_all(struct output *o)
{
	for (uint32_t i = 0; i < o->n_ranks; i++)
		output_date(o, i, INT64_MAX);
}

void output_gather(struct output *o, const struct sim *sim, int64_t until)
{
	if (!sim_is_shared(sim))
		return;
	if (until == INT64_MAX)
		date_all(o);
	for (uint32_t i = 0; i < OUTPUT_STREAMS; i++) {
		struct stream *s = &o->stream[i];
		struct text own;
		char *all;

		pthread_mutex_lock(&o->lock);
		own = pack_parts(s, until);
		pthread_mutex_unlock(&o->lock);
		all = sim_gather(sim, own.bytes, &own.n, 1);
		pthread_mutex_lock(&o->lock);
		if (sim_is_first(sim))
			unpack_parts(s, all, own.n);
		pthread_mutex_unlock(&o->lock);
		mem_free(all);
	}
}

void output_write(struct output *o, int64_t until)
{
	if (until == INT64_MAX)
		date_all(o);
	pthread_mutex_lock(&o->lock);
	for (uint32_t i = 0; i < OUTPUT_STREAMS; i++)
		write_stream(o, &o->stream[i], until);
	pthread_mutex_unlock(&o->lock);
}

int output_error(const struct output *o)
{
	int error = 0;

	for (uint32_t i = 0; i < OUTPUT_STREAMS && !error; i++)
		error = o->stream[i].error;
	return error;
}
