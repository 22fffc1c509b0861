/*
 * Words in place of an algorithm: auto, which stands for all that can do an
 * operation, until somebody has measured them; and network, whose steps are
 * not messages of members.
 */
#include "load/coll/plan.h"

#include <string.h>

enum {
	/* An algorithm is not tried if it sends so many times as much as
	 * another one, from a length on at which rates decide. */
	MUCH_MORE = 4,
	LONG = 256 << 10,
};

const struct algo *algo_find_any(const char *name, struct err *e)
{
	if (!strcmp(name, algo_auto.name))
		return &algo_auto;
	if (!strcmp(name, algo_network.name))
		return &algo_network;
	return algo_find(name, e);
}

/* --- auto --- */

static uint64_t sent_by_first(const struct algo_plan *p)
{
	struct algo_step s;
	uint64_t sum = 0;

	for (uint32_t lane = 0; lane < algo_lanes(p); lane++)
		for (uint64_t i = 0, n = algo_count(p, 0, lane); i < n; i++) {
			algo_step(p, 0, lane, i, &s);
			sum += s.kind == ALGO_SEND ? s.bytes : 0;
		}
	return sum;
}

/* By an algorithm in place of the word; -1: it cannot. */
static int try_settle(const struct algo_plan *like, const struct algo *a,
	struct algo_plan *out, struct err *e)
{
	if (!algo_has(a, like->op))
		return -1;
	*out = *like;
	out->algo = a;
	out->unit = a->has_unit ? out->unit : 1;
	return algo_settle(out, e);
}

uint32_t algo_candidates(
	const struct algo_plan *like, struct algo_plan *out, struct err *e)
{
	uint64_t sent[ALGO_TRIED], least = UINT64_MAX;
	uint32_t n = 0, kept = 0;
	struct err why = { 0 };

	for (uint32_t i = 0; algo_registry[i] && n < ALGO_TRIED; i++) {
		if (try_settle(like, algo_registry[i], &out[n], &why))
			continue;
		sent[n] = sent_by_first(&out[n]);
		least = sent[n] < least ? sent[n] : least;
		n++;
	}
	for (uint32_t i = 0; i < n; i++)
		if (out[i].bytes < LONG || sent[i] <= MUCH_MORE * least)
			out[kept++] = out[i];
	if (!kept)
		err_set(e, "%s", why.text);
	return kept;
}

/* Whether one can. */
static int auto_check(const struct algo_plan *p, struct err *e)
{
	struct algo_plan one;
	struct err why = { 0 };

	for (uint32_t i = 0; algo_registry[i]; i++)
		if (!try_settle(p, algo_registry[i], &one, &why))
			return 0;
	return err_set(e, "%s", why.text);
}

const struct algo algo_auto = {
	.name = "auto",
	.help = "the fastest of all that can do it, by measurement",
	.ops = ((1u << ALGO_OPS) - 1) & ~(1u << ALGO_ALLTOALLV),
	.has_unit = true,
	.check = auto_check,
};

/* --- the network --- */

static int network_check(const struct algo_plan *p, struct err *e)
{
	if (p->bytes % 8 || !p->bytes)
		return err_set(e, "bytes: the network adds words of 8 bytes "
				  "(want a multiple of 8)");
	if (p->chunk % 8)
		return err_set(e, "chunk: the network adds words of 8 bytes "
				  "(want a multiple of 8)");
	if (p->channels > 1)
		return err_set(e, "channels: the network has one (want 1)");
	return 0;
}

const struct algo algo_network = {
	.name = "network",
	.help = "the network, where it adds",
	.ops = 1u << ALGO_ALLREDUCE | 1u << ALGO_REDUCE | 1u << ALGO_BROADCAST,
	.check = network_check,
};
