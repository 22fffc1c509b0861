#include "nic/util/ranges.h"

#include "base/mem.h"

void ranges_fini(struct ranges *r)
{
	mem_free(r->range);
}

static uint64_t ranges_memory(const struct ranges *r)
{
	return r->n * sizeof(*r->range);
}

NIC_MEMBER_OPS(ranges, NULL);

struct range *ranges_find(const struct ranges *r, uint32_t number)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->range[i].number == number)
			return &r->range[i];
	return NULL;
}

void ranges_set(
	struct ranges *r, uint32_t number, uint64_t first, uint64_t last)
{
	struct range *x = ranges_find(r, number);

	if (!x) {
		r->range = mem_grow(r->range, r->n + 1, sizeof(*r->range));
		x = &r->range[r->n++];
	}
	*x = (struct range){ .number = number, .first = first, .last = last };
}

bool ranges_allow(
	const struct ranges *r, uint32_t number, uint64_t at, uint64_t bytes)
{
	const struct range *x = ranges_find(r, number);

	return x && (!bytes || (at >= x->first && at <= x->last &&
				       bytes - 1 <= x->last - at));
}

bool ranges_add(struct ranges *r, uint32_t number, uint64_t at, uint64_t bytes,
	uint32_t flags)
{
	if (!bytes || ranges_find(r, number))
		return false;
	ranges_set(r, number, at, at + bytes - 1);
	ranges_find(r, number)->flags = flags;
	return true;
}

bool ranges_drop(struct ranges *r, uint32_t number)
{
	struct range *x = ranges_find(r, number);

	if (x)
		*x = r->range[--r->n];
	return x;
}

enum range_answer ranges_look_up(const struct ranges *r, uint32_t number,
	uint64_t offset, uint64_t bytes, uint32_t mask, uint32_t flags,
	uint64_t *at)
{
	const struct range *x = ranges_find(r, number);

	if (!x)
		return RANGE_NONE;
	if ((x->flags & mask) != flags)
		return RANGE_FORBIDDEN;
	if (bytes && (offset > x->last - x->first ||
			     bytes - 1 > x->last - x->first - offset))
		return RANGE_OUTSIDE;
	*at = x->first + offset;
	return RANGE_OPEN;
}
