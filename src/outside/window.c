#include "outside/window.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { BLOCKS = 32 }; /* of which the process's part has at least so many */

#define LEAST_BLOCK UINT64_C(4096)
#define MOST_BLOCK  (UINT64_C(1) << 28)

/* The piece of an offset, which becomes one in the piece, and how many bytes of
 * n are in it. */
static const struct channel_piece *find_piece(
	const struct window_run *r, uint64_t *offset, size_t *n)
{
	const struct channel_piece *p = r->piece, *end = p + r->n_pieces;

	for (; p < end && *offset >= p->bytes; p++)
		*offset -= p->bytes;
	if (p == end)
		return NULL;
	if (*n > p->bytes - *offset)
		*n = p->bytes - *offset;
	return p;
}

/* Reads or writes: one of to and from is NULL. */
static bool move_pieces(const struct window_run *r, uint64_t offset,
	uint8_t *to, const uint8_t *from, size_t n)
{
	const struct memory_foreign *rank = &r->window->rank;
	size_t done, part;

	for (done = 0; done < n; done += part) {
		uint64_t at = offset + done;
		const struct channel_piece *p;

		part = n - done;
		p = find_piece(r, &at, &part);
		if (!p)
			return false;
		if (to ? !rank->read(rank->arg, p->at + at, to + done, part)
		       : !rank->write(rank->arg, p->at + at, from + done, part))
			return false;
	}
	return true;
}

static bool read_pieces(void *arg, uint64_t offset, void *to, size_t n)
{
	return move_pieces(arg, offset, to, NULL, n);
}

static bool write_pieces(void *arg, uint64_t offset, const void *from, size_t n)
{
	return move_pieces(arg, offset, NULL, from, n);
}

static bool read_rank(void *arg, uint64_t offset, void *to, size_t n)
{
	const struct window_run *r = arg;
	const struct memory_foreign *rank = &r->window->rank;

	return rank->read(rank->arg, r->rank_at + offset, to, n);
}

static bool write_rank(void *arg, uint64_t offset, const void *from, size_t n)
{
	const struct window_run *r = arg;
	const struct memory_foreign *rank = &r->window->rank;

	return rank->write(rank->arg, r->rank_at + offset, from, n);
}

void window_init(struct window *w, struct memory *m, uint64_t from,
	uint64_t end, const struct memory_foreign *rank)
{
	*w = (struct window){
		.memory = m, .block = LEAST_BLOCK, .end = end, .rank = *rank
	};
	while (w->block < MOST_BLOCK && (end - from) / BLOCKS >= 2 * w->block)
		w->block *= 2;
	w->from = from ? (from + w->block - 1) / w->block * w->block : w->block;
}

static void drop(struct window *w, struct window_run *r)
{
	memory_drop_region(w->memory, r->region);
	mem_free(r->piece);
	r->piece = NULL;
	r->n_pieces = 0;
	r->bytes = 0;
}

void window_fini(struct window *w)
{
	for (uint32_t i = 0; i < w->n_runs; i++)
		if (w->run[i]->bytes)
			drop(w, w->run[i]);
	window_free(w);
}

void window_free(struct window *w)
{
	while (w->n_runs) {
		struct window_run *r = w->run[--w->n_runs];

		mem_free(r->piece);
		mem_free(r);
	}
}

/* The lowest address of the node with so many free bytes, or 0. */
static uint64_t find_gap(const struct window *w, uint64_t bytes)
{
	uint64_t at = w->from;

	for (uint32_t i = 0; i < w->n_runs; i++) {
		const struct window_run *r = w->run[i];

		if (!r->bytes || r->node_at >= at + bytes ||
			r->node_at + r->bytes <= at)
			continue;
		at = r->node_at + r->bytes;
		i = UINT32_MAX; /* from the first one again */
	}
	return at <= w->end && bytes <= w->end - at ? at : 0;
}

static struct window_run *find(struct window *w, uint64_t at, uint64_t bytes)
{
	for (uint32_t i = 0; i < w->n_runs; i++) {
		struct window_run *r = w->run[i];

		if (r->bytes && !r->piece && at >= r->rank_at &&
			bytes <= r->bytes &&
			at - r->rank_at <= r->bytes - bytes)
			return r;
	}
	return NULL;
}

static struct window_run *find_unused(struct window *w)
{
	struct window_run *r;

	for (uint32_t i = 0; i < w->n_runs; i++)
		if (!w->run[i]->bytes)
			return w->run[i];
	if (w->n_runs == WINDOW_RUNS)
		return NULL;
	w->run[w->n_runs] = r = mem_alloc(1, sizeof(*r));
	r->window = w;
	r->number = w->n_runs++;
	return r;
}

/* Drops the least recently used one that nothing holds; false if there is
 * none. */
static bool make_room(struct window *w)
{
	struct window_run *least = NULL;

	for (uint32_t i = 0; i < w->n_runs; i++) {
		struct window_run *r = w->run[i];

		if (r->bytes && !r->holds && (!least || r->used < least->used))
			least = r;
	}
	if (least)
		drop(w, least);
	return least;
}

/* Maps whole blocks. */
static struct window_run *map(struct window *w, struct memory_foreign f,
	uint64_t rank_at, uint64_t bytes)
{
	struct window_run *r;
	uint64_t at;

	while (!(r = find_unused(w)) || !(at = find_gap(w, bytes)))
		if (!make_room(w))
			return NULL;
	r->rank_at = rank_at;
	r->node_at = at;
	r->bytes = bytes;
	f.arg = r;
	r->region = memory_add_foreign(w->memory, at, bytes, &f);
	BUG_IF(r->region < 0);
	return r;
}

int window_take(struct window *w, uint64_t bytes, uint64_t *at, uint32_t *run)
{
	static const struct memory_foreign by_rank = { read_rank, write_rank,
		NULL };
	uint64_t first = *at / w->block * w->block, last;
	struct window_run *r;

	if (bytes > UINT64_MAX - *at)
		return EFAULT;
	if (bytes > w->end - w->from)
		return ENOMEM;
	r = find(w, *at, bytes);
	if (!r) {
		last = (*at + (bytes ? bytes - 1 : 0)) / w->block * w->block;
		r = map(w, by_rank, first, last - first + w->block);
	}
	if (!r)
		return ENOMEM;
	r->used = ++w->n_used;
	r->holds++;
	*at = r->node_at + (*at - r->rank_at);
	*run = r->number;
	return 0;
}

int window_take_pieces(struct window *w, const struct channel_piece *piece,
	uint32_t n, uint64_t *at, uint32_t *run)
{
	static const struct memory_foreign by_pieces = { read_pieces,
		write_pieces, NULL };
	struct window_run *r;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		if (__builtin_add_overflow(bytes, piece[i].bytes, &bytes) ||
			piece[i].bytes > UINT64_MAX - piece[i].at)
			return EFAULT;
	if (bytes > w->end - w->from)
		return ENOMEM;
	bytes = bytes ? (bytes + LEAST_BLOCK - 1) / LEAST_BLOCK * LEAST_BLOCK
		      : LEAST_BLOCK;
	r = map(w, by_pieces, 0, bytes);
	if (!r)
		return ENOMEM;
	r->piece = mem_alloc(n, sizeof(*piece));
	memcpy(r->piece, piece, n * sizeof(*piece));
	r->n_pieces = n;
	r->holds = 1;
	*at = r->node_at;
	*run = r->number;
	return 0;
}

void window_give(struct window *w, uint32_t run)
{
	struct window_run *r = w->run[run];

	BUG_IF(!r->holds);
	r->holds--;
	if (r->piece && !r->holds)
		drop(w, r);
}
