/*
 * Broadcasts and scatters.  Up to 2 KB are one message to an input queue of all
 * cards, where it waits for the processes.  A longer broadcast is written into
 * all nodes' memories at once, after all have come and agreed on where.
 *
 * A scatter is a broadcast of all parts, of which each thread takes its own:
 * all bytes leave the root's card in any case, and broadcasts have fewer
 * packets.
 */
#include "api/elan/hgroup.h"

#include <errno.h>

#include "host/program.h"

/* A round in which the root's bytes go to all, and a process takes some. */
static int cast(struct elan_hgroup *g, uint32_t root, uint64_t from,
	const struct hgroup_record *want)
{
	bool is_root = root == elan_rank();
	struct elan_letter l = { .queue = g->input + HGROUP_DOWN,
		.from = from,
		.bytes = want->bytes };
	struct hgroup_record r = *want;
	int code = hgroup_begin_alone(g, root);

	if (code)
		return code;
	r.flags = is_root ? HGROUP_IS_ROOT : HGROUP_IS_AWAITED;
	l.tag = g->round;
	l.number = (uint16_t)g->round;
	if (is_root)
		code = elan_enqueue_all(&g->queue, 0, elan_ranks() - 1, &l);
	if (!code)
		code = hgroup_tell(g, HGROUP_BROADCAST, &r);
	return code || is_root ? code : hgroup_await(g, HGROUP_DONE);
}

/* --- long ones --- */

/* Whether all name the same address and length. */
static int agree(struct elan_hgroup *g, uint64_t at, uint64_t bytes)
{
	uint64_t name = at + bytes * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t word[2] = { name, ~name };
	int code = hgroup_agree(
		g, ELAN_MAX_UNSIGNED, word, 2, g->at + HGROUP_AGREED);

	elan_load_bytes(g->at + HGROUP_AGREED, word, sizeof(word));
	if (!code && word[0] != ~word[1])
		code = EINVAL;
	return code;
}

static int cast_long(
	struct elan_hgroup *g, uint32_t root, uint64_t at, uint64_t bytes)
{
	/* the round after the next */
	int code = elan_arm(&g->queue, g->event, bytes, g->at + HGROUP_LONG,
		(g->round + 2) << 8);

	if (!code)
		code = agree(g, at, bytes);
	if (!code)
		code = hgroup_begin(g, root);
	if (!code && root == elan_rank())
		code = elan_broadcast_from(&g->queue, 0, elan_ranks() - 1, at,
			at, bytes, g->event, 0);
	return code ? code : hgroup_await(g, HGROUP_LONG);
}

int elan_hbcast(
	struct elan_hgroup *g, uint32_t root, uint64_t at, uint64_t bytes)
{
	PROGRAM_CALL("elan_hbcast from #, round #", root, g->round + 1);
	const struct hgroup_record r = {
		.bytes = (uint32_t)bytes, .part = (uint32_t)bytes, .to = at
	};
	int code = cq_may_use(&g->queue);

	if (code)
		return code;
	if (root >= elan_ranks())
		return EINVAL;
	if (bytes && !cq_has(at, bytes))
		return EFAULT;
	if (elan_ranks() == 1 || !bytes)
		return 0;
	return bytes <= ELAN_SLOT_MOST ? cast(g, root, at, &r)
				       : cast_long(g, root, at, bytes);
}

/* --- scatters --- */

/* Of a message with the bytes from some place on: the part that is this
 * process's. */
static struct hgroup_record part_of(
	uint64_t place, uint32_t n, uint64_t to, uint64_t bytes)
{
	uint64_t first = elan_rank() * bytes, last = first + bytes;
	uint64_t a = place > first ? place : first;
	uint64_t b = place + n < last ? place + n : last;
	struct hgroup_record r = { .bytes = n };

	if (a >= b)
		return r;
	r.skip = (uint16_t)(a - place);
	r.part = (uint32_t)(b - a);
	r.to = to + (a - first);
	return r;
}

int elan_hscatter(struct elan_hgroup *g, uint32_t root, uint64_t from,
	uint64_t to, uint64_t bytes)
{
	PROGRAM_CALL("elan_hscatter from #, round #", root, g->round + 1);
	bool is_root = root == elan_rank();
	uint64_t all = elan_ranks() * bytes, n;
	int code = cq_may_use(&g->queue);

	if (code)
		return code;
	if (root >= elan_ranks() || bytes > UINT32_MAX)
		return EINVAL;
	if (bytes && (!cq_has(to, bytes) || (is_root && !cq_has(from, all))))
		return EFAULT;
	for (uint64_t i = 0; i < all && elan_ranks() > 1 && !code; i += n) {
		struct hgroup_record r;

		n = all - i < ELAN_SLOT_MOST ? all - i : ELAN_SLOT_MOST;
		r = part_of(i, (uint32_t)n, to, bytes);
		code = cast(g, root, from + i, &r);
	}
	if (!code && is_root)
		hgroup_copy(to, from + root * bytes, bytes);
	return code;
}
