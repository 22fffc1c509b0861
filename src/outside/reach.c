#define _GNU_SOURCE /* process_vm_readv() */
#include "outside/reach.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/mem.h"

/* Asked for a byte that nobody has, the kernel says whether it would. */
static bool may_reach(pid_t pid)
{
	char byte;
	struct iovec mine = { &byte, 1 }, its = { NULL, 1 };

	return process_vm_readv(pid, &mine, 1, &its, 1, 0) >= 0 ||
	       errno == EFAULT || errno == ESRCH;
}

void reach_init(
	struct reach *r, struct handover *channel, pid_t pid, bool by_channel)
{
	*r = (struct reach){ .channel = channel,
		.pid = pid,
		.by_channel = by_channel || !may_reach(pid) };
}

void reach_fini(struct reach *r)
{
	mem_free(r->gathered);
	mem_free(r->piece);
	mem_free(r->ahead);
	*r = (struct reach){ 0 };
}

/* How many of n bytes from an address the rank has, or none. */
static size_t copy_in(const struct reach *r, uint64_t at, void *to, size_t n)
{
	struct iovec mine = { to, n }, its = { (void *)(uintptr_t)at, n };
	ssize_t did;

	if (r->by_channel)
		return handover_copy_in(r->channel, at, to, n) ? n : 0;
	did = process_vm_readv(r->pid, &mine, 1, &its, 1, 0);
	return did < 0 ? 0 : (size_t)did;
}

static bool copy_out(
	const struct reach *r, uint64_t at, const void *from, size_t n)
{
	struct iovec mine = { (void *)from, n };
	struct iovec its = { (void *)(uintptr_t)at, n };

	if (r->by_channel)
		return handover_copy_out(r->channel, at, from, n);
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

/* --- reading --- */

static bool has_ahead(const struct reach *r, uint64_t at, size_t n)
{
	return r->n_ahead && at >= r->ahead_at && n <= r->n_ahead &&
	       at - r->ahead_at <= r->n_ahead - n;
}

/* False if the rank does not have even those that are wanted. */
static bool read_ahead(struct reach *r, uint64_t at, size_t n)
{
	if (!r->ahead)
		r->ahead = mem_alloc(1, REACH_AHEAD);
	r->ahead_at = at;
	r->n_ahead = (uint32_t)copy_in(r, at, r->ahead, REACH_AHEAD);
	return r->n_ahead >= n;
}

/* What is written there makes it old. */
static void forget_ahead(struct reach *r, uint64_t at, size_t n)
{
	if (r->n_ahead && at < r->ahead_at + r->n_ahead && r->ahead_at < at + n)
		r->n_ahead = 0;
}

bool reach_read(void *reach, uint64_t at, void *to, size_t n)
{
	struct reach *r = reach;
	bool is_next = at == r->read_to && n < REACH_AHEAD;

	if (!handover_settle(r->channel, -1))
		return false;
	r->read_to = at + n;
	if (!has_ahead(r, at, n)) {
		if (is_pending(r, at, is_next ? REACH_AHEAD : n))
			write_all(r);
		if (!is_next || !read_ahead(r, at, n))
			return copy_in(r, at, to, n) == n;
	}
	memcpy(to, r->ahead + (at - r->ahead_at), n);
	return true;
}

bool reach_has(struct reach *r, uint64_t at, uint64_t n)
{
	uint8_t byte;

	return !n || (copy_in(r, at, &byte, 1) == 1 &&
			     copy_in(r, at + n - 1, &byte, 1) == 1);
}

/* --- writing --- */

static void make_room(struct reach *r, size_t n)
{
	if (n <= r->room - r->n_bytes)
		return;
	r->room = r->room ? 2 * r->room : REACH_GATHERED / 16;
	if (r->room < r->n_bytes + n)
		r->room = REACH_GATHERED;
	r->gathered = mem_grow(r->gathered, r->room, 1);
}

static void gather(struct reach *r, uint64_t at, const void *from, size_t n)
{
	struct reach_piece *last =
		r->n_pieces ? &r->piece[r->n_pieces - 1] : NULL;

	make_room(r, n);
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

	if (!handover_settle(r->channel, -1))
		return false;
	forget_ahead(r, at, n);
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
	r->n_ahead = 0;
}
