/*
 * All-to-all: inside a unit, each member gets the blocks of all others for
 * members with its place, one unit after the other; then members with one place
 * exchange these between units, u blocks in one message.  So a card sends to
 * n / u - 1 others instead of n - u, by longer messages.
 *
 * Blocks for other units wait behind data and results.
 */
#include "load/coll/hierarchical.h"

/* Messages of a block inside a unit, and of those for a unit. */
static uint64_t chunks_inside(const struct algo_plan *p)
{
	return algo_chunks(p, algo_data(p), p->n);
}

static uint64_t chunks_across(const struct algo_plan *p)
{
	return algo_chunks(p, algo_data(p), p->n / p->unit);
}

/* Steps for one unit, inside: the own block is copied, where others come. */
static uint64_t each_of(const struct algo_plan *p, const struct hier *h)
{
	return (h->u - 1) * chunks_inside(p) + !h->is_send;
}

uint64_t hier_exchange_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	struct hier h = hier_of(p, member, lane);

	if (h.stage == 0)
		return h.units * each_of(p, &h);
	return h.stage == 1 ? (h.units - 1) * chunks_across(p) : 0;
}

/* Where a block from a member of the own unit, for a unit, waits or stays. */
static struct algo_span place_of(const struct algo_plan *p,
	const struct hier *h, uint32_t unit, uint32_t from)
{
	struct algo_span s = algo_block(p, algo_data(p), unit * h->u + from);

	s.at += (unit == h->unit ? 1 : 2) * p->bytes;
	return s;
}

static void inside_step(const struct algo_plan *p, const struct hier *h,
	uint64_t i, struct algo_step *out)
{
	uint64_t each = each_of(p, h), k = i % each, chunks = chunks_inside(p);
	uint32_t unit = algo_turn(h->unit, (uint32_t)(i / each), h->units);
	uint32_t t, other;
	struct algo_span s;

	if (!h->is_send && !k) {
		other = unit * h->u + h->place;
		algo_set(out, ALGO_COPY, other,
			algo_block(p, algo_data(p), other));
		out->to = place_of(p, h, unit, h->place).at;
		return;
	}
	k -= !h->is_send;
	t = 1 + (uint32_t)(k / chunks);
	other = algo_turn(h->place, h->is_send ? t : h->u - t, h->u);
	s = h->is_send ? algo_block(p, algo_data(p), unit * h->u + other)
		       : place_of(p, h, unit, other);
	algo_set(out, h->is_send ? ALGO_SEND : ALGO_RECEIVE,
		h->unit * h->u + other, algo_cut(p, s, chunks, k % chunks));
}

static void across_step(const struct algo_plan *p, const struct hier *h,
	uint64_t i, struct algo_step *out)
{
	uint64_t chunks = chunks_across(p), bytes = p->bytes / h->units;
	uint32_t k = 1 + (uint32_t)(i / chunks);
	uint32_t unit =
		algo_turn(h->unit, h->is_send ? k : h->units - k, h->units);
	struct algo_span s = {
		(1 + h->is_send) * p->bytes + unit * bytes,
		bytes,
	};
	struct hier first = *h;

	algo_set(out, h->is_send ? ALGO_SEND : ALGO_RECEIVE,
		unit * h->u + h->place, algo_cut(p, s, chunks, i % chunks));
	first.is_send = false;
	if (h->is_send)
		out->after = (struct algo_after){ hier_lane(h, 0),
			(p->is_apart ? h->units : k + 1) * each_of(p, &first) };
}

void hier_exchange_step(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t i, struct algo_step *out)
{
	struct hier h = hier_of(p, member, lane);

	if (h.stage == 0)
		inside_step(p, &h, i, out);
	else
		across_step(p, &h, i, out);
}
