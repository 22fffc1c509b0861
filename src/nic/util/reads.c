#include "nic/util/reads.h"

void reads_init(struct reads *r, const struct reads_how *how,
	struct ticks *ticks, size_t size)
{
	*r = (struct reads){ .how = how, .ticks = ticks };
	slots_init(&r->items, size);
}

void reads_fini(struct reads *r)
{
	slots_fini(&r->items);
}

void *reads_begin(const struct nic_at *a, struct reads *r,
	const struct read_owner *owner, uint32_t bytes, sim_time after)
{
	uint32_t id = slots_take(&r->items);
	struct read *x = slots_at(&r->items, id);

	x->owner = owner;
	x->bytes = bytes;
	ticks_post(a, r->ticks, a->t + after + (bytes ? r->how->latency : 1),
		r->how->ready, id);
	return x;
}

void reads_on_ready(const struct nic_at *a, struct reads *r, uint32_t id)
{
	const struct read *x = slots_at(&r->items, id);

	if (x->bytes)
		r->how->ask(a, id, x->bytes);
	else
		reads_granted(a, r, id, a->t);
}

void reads_granted(
	const struct nic_at *a, struct reads *r, uint32_t id, sim_time end)
{
	struct read *x = slots_at(&r->items, id);

	if (x->bytes && x->owner->granted)
		x->owner->granted(a, x, end);
	ticks_post(a, r->ticks, end, r->how->done, id);
}

void reads_on_done(const struct nic_at *a, struct reads *r, uint32_t id)
{
	const struct read *x = slots_at(&r->items, id);

	slots_give(&r->items, id);
	r->n--;
	x->owner->done(a, x);
}
