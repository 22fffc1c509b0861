/*
 * Bruck's algorithms (Bruck, Ho, Kipnis, Upfal and Weathersby, IEEE TPDS 1997):
 * about log2 n messages, for many members and few bytes.
 *
 * All-gather: blocks are numbered from the member's own one on.  In round k it
 * has 2^k of them, and sends them to the member 2^k behind.
 *
 * All-to-all: the block for the member j ahead has number j.  In round k blocks
 * whose number has bit k go to the member 2^k ahead, packed into one message;
 * in the end block j is that of the member j behind.
 *
 * Everything is in one lane, and waits for all before it but for messages that
 * can come early.
 */
#include "load/coll/plan.h"

enum { PER_ROUND_GATHER = 2 };

/* Parts of the work space, in lengths of the data. */
enum { RESULTS = 1, WORK = 2, PACKED = 3, COME = 4, GATHERED = 1 };

static uint64_t block_bytes(const struct algo_plan *p)
{
	return p->bytes / p->n;
}

static uint32_t n_rounds(uint32_t n)
{
	uint32_t k = 0;

	while (k < 31 && 1u << k < n)
		k++;
	return k;
}

static void copy(const struct algo_plan *p, struct algo_step *out,
	uint64_t from_block, uint64_t to_block, uint64_t n)
{
	uint64_t b = block_bytes(p);

	algo_set(
		out, ALGO_COPY, 0, (struct algo_span){ from_block * b, n * b });
	out->to = to_block * b;
}

/* --- all-gather --- */

/* Its own block first; then the rounds; then blocks get to their places, in
 * two copies. */
static uint64_t gather_count(const struct algo_plan *p)
{
	return 1 + PER_ROUND_GATHER * n_rounds(p->n) + 2;
}

static void gather_step(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t i, struct algo_step *out)
{
	uint64_t rounds = n_rounds(p->n), b = block_bytes(p);
	uint64_t n = p->n, from = GATHERED * n;
	uint64_t have = UINT64_C(1) << (i ? (i - 1) / 2 : 0);
	uint64_t count = n - have < have ? n - have : have;

	out->after = (struct algo_after){ lane, i };
	if (!i) {
		copy(p, out, member, from, 1);
	} else if (i == 1 + 2 * rounds) {
		copy(p, out, from, member, n - member);
	} else if (i == 2 + 2 * rounds) {
		copy(p, out, from + n - member, 0, member);
	} else if (i % 2) {
		algo_set(out, ALGO_RECEIVE,
			algo_turn(member, (uint32_t)have, p->n),
			(struct algo_span){ (from + have) * b, count * b });
		out->after.n = 0;
	} else {
		algo_set(out, ALGO_SEND,
			algo_turn(member, (uint32_t)(n - have), p->n),
			(struct algo_span){ from * b, count * b });
		out->after.n = i - 1; /* not for what this round brings */
	}
}

/* --- all-to-all --- */

/* Runs of neighbouring blocks whose number has bit k; blocks in all. */
static uint64_t n_runs(uint64_t n, uint32_t k)
{
	uint64_t two = UINT64_C(2) << k;

	return n / two + (n % two > two / 2);
}

static uint64_t n_moved(uint64_t n, uint32_t k)
{
	uint64_t two = UINT64_C(2) << k, rest = n % two;

	return n / two * (two / 2) + (rest > two / 2 ? rest - two / 2 : 0);
}

/* A round: its runs are packed, a message goes and one comes, and its runs are
 * unpacked. */
static uint64_t round_steps(uint64_t n, uint32_t k)
{
	return 2 * n_runs(n, k) + 2;
}

enum { BEFORE = 2 }; /* copies */

static uint64_t exchange_count(const struct algo_plan *p)
{
	uint64_t n = BEFORE + p->n;

	for (uint32_t k = 0; k < n_rounds(p->n); k++)
		n += round_steps(p->n, k);
	return n;
}

static void run_step(const struct algo_plan *p, uint32_t k, uint64_t run,
	bool is_packed, struct algo_step *out)
{
	uint64_t n = p->n, each = UINT64_C(1) << k;
	uint64_t at = (2 * run + 1) * each, length;

	length = n - at < each ? n - at : each;
	if (is_packed)
		copy(p, out, COME * n + run * each, WORK * n + at, length);
	else
		copy(p, out, WORK * n + at, PACKED * n + run * each, length);
}

static void round_step(const struct algo_plan *p, uint32_t member, uint32_t k,
	uint64_t i, struct algo_step *out)
{
	uint64_t runs = n_runs(p->n, k), b = block_bytes(p);
	uint64_t bytes = n_moved(p->n, k) * b;
	uint32_t far = (1u << k) % p->n;

	if (i < runs)
		run_step(p, k, i, false, out);
	else if (i == runs)
		algo_set(out, ALGO_RECEIVE, algo_turn(member, p->n - far, p->n),
			(struct algo_span){ COME * p->n * b, bytes });
	else if (i == runs + 1)
		algo_set(out, ALGO_SEND, algo_turn(member, far, p->n),
			(struct algo_span){ PACKED * p->n * b, bytes });
	else
		run_step(p, k, i - runs - 2, true, out);
	if (i == runs + 1)
		out->after.n--; /* not for what comes */
}

static void exchange_step(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t i, struct algo_step *out)
{
	uint64_t n = p->n, left = i - BEFORE;
	uint32_t k = 0;

	out->after = (struct algo_after){ lane, i };
	if (i < BEFORE) {
		copy(p, out, i ? 0 : member, WORK * n + (i ? n - member : 0),
			i ? member : n - member);
		return;
	}
	for (; k < n_rounds(p->n) && left >= round_steps(n, k); k++)
		left -= round_steps(n, k);
	if (k < n_rounds(p->n))
		round_step(p, member, k, left, out);
	else
		copy(p, out, WORK * n + left,
			RESULTS * n + (member + n - left) % n, 1);
}

/* --- the algorithm --- */

static uint64_t bruck_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	(void)member;
	(void)lane;
	return p->op == ALGO_ALLGATHER ? gather_count(p) : exchange_count(p);
}

static void bruck_step(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t i, struct algo_step *out)
{
	if (p->op == ALGO_ALLGATHER)
		gather_step(p, member, lane, i, out);
	else
		exchange_step(p, member, lane, i, out);
}

static int bruck_check(const struct algo_plan *p, struct err *e)
{
	if (p->channels > 1)
		return err_set(e, "channels: bruck has one (want 1)");
	return 0;
}

const struct algo algo_bruck = {
	.name = "bruck",
	.help = "few messages of many small blocks",
	.ops = 1u << ALGO_ALLTOALL | 1u << ALGO_ALLGATHER,
	.lanes = 1,
	.spaces = 4,
	.has_equal_blocks = true,
	.check = bruck_check,
	.count = bruck_count,
	.step = bruck_step,
};
