#define _GNU_SOURCE /* process_vm_readv() */
#include "outside/reach.h"

#include <string.h>
#include <sys/uio.h>

#include "base/mem.h"

void reach_init(struct reach *r, struct handover *channel, pid_t pid)
{
	*r = (struct reach){ .channel = channel, .pid = pid };
	r->gathered = mem_alloc(1, REACH_GATHERED);
}

void reach_fini(struct reach *r)
{
	mem_free(r->gathered);
	mem_free(r->piece);
	*r = (struct reach){ 0 };
}

static bool copy_in(const struct reach *r, uint64_t at, void *to, size_t n)
{
	struct iovec mine = { to, n }, its = { (void *)(uintptr_t)at, n };

	return process_vm_readv(r->pid, &mine, 1, &its, 1, 0) == (ssize_t)n;
}

static bool copy_out(
	const struct reach *r, uint64_t at, const void *from, size_t n)
{
	struct iovec mine = { (void *)from, n };
	struct iovec its = { (void *)(uintptr_t)at, n };

	return process_vm_writev(r->pid, &mine, 1, &its, 1, 0) == (ssize_t)n;
}

/* Writes what was gathered into the rank's memory now.  A rank that has given
 * back the memory meanwhile loses it. */
static void write_all(struct reach *r)
{
	for (uint32_t i = 0; i < r->n_pieces; i++)
		copy_out(r, r->piece[i].at, r->gathered + r->piece[i].from,
			r->piece[i].bytes);
	r->n_pieces = 0;
	r->n_bytes = 0;
}

static bool is_pending(const struct reach *r, uint64_t at, size_t n)
{
	for (uint32_t i = 0; i < r->n_pieces; i++)
		if (at < r->piece[i].at + r->piece[i].bytes &&
			r->piece[i].at < at + n)
			return true;
	return false;
}

bool reach_read(void *reach, uint64_t at, void *to, size_t n)
{
	struct reach *r = reach;

	handover_settle(r->channel, -1);
	if (is_pending(r, at, n))
		write_all(r);
	return copy_in(r, at, to, n);
}

static void gather(struct reach *r, uint64_t at, const void *from, size_t n)
{
	struct reach_piece *last =
		r->n_pieces ? &r->piece[r->n_pieces - 1] : NULL;

	memcpy(r->gathered + r->n_bytes, from, n);
	if (last && last->at + last->bytes == at) {
		last->bytes += (uint32_t)n;
	} else {
		r->piece = mem_more(r->piece, r->n_pieces, sizeof(*r->piece));
		r->piece[r->n_pieces++] =
			(struct reach_piece){ at, r->n_bytes, (uint32_t)n };
	}
	r->n_bytes += (uint32_t)n;
}

bool reach_write(void *reach, uint64_t at, const void *from, size_t n)
{
	struct reach *r = reach;

	handover_settle(r->channel, -1);
	if (n > REACH_GATHERED - r->n_bytes)
		write_all(r);
	if (n > REACH_GATHERED)
		return copy_out(r, at, from, n);
	gather(r, at, from, n);
	return true;
}

/* Whether the room has place for all pieces. */
static bool fits(const struct reach *r)
{
	uint64_t each = sizeof(struct channel_piece) + 8;

	return r->n_bytes + r->n_pieces * each <= CHANNEL_ROOM;
}

void reach_give(struct reach *r)
{
	if (!fits(r))
		write_all(r);
	for (uint32_t i = 0; i < r->n_pieces; i++)
		handover_store(r->channel, r->piece[i].at,
			r->gathered + r->piece[i].from, r->piece[i].bytes);
	r->n_pieces = 0;
	r->n_bytes = 0;
}
