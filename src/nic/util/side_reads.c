#include "nic/util/side_reads.h"

struct piece {
	struct slot slot;
	uint32_t item, bytes;
	uint64_t at;
};

void side_reads_init(struct side_reads *r, const struct side_reads_how *how,
	struct ticks *ticks)
{
	*r = (struct side_reads){ .how = how, .ticks = ticks };
	slots_init(&r->items, sizeof(struct side_read));
	slots_init(&r->pieces, sizeof(struct piece));
}

void side_reads_fini(struct side_reads *r)
{
	slots_fini(&r->items);
	slots_fini(&r->pieces);
}

uint64_t side_reads_memory(const struct side_reads *r)
{
	return slots_memory(&r->items) + slots_memory(&r->pieces);
}

/* An event is later than what posts it. */
static void post(const struct nic_at *a, struct side_reads *r, sim_time t,
	uint32_t number, uint32_t id)
{
	ticks_post(a, r->ticks, t > a->t ? t : a->t + 1, number, id);
}

static void ask(const struct nic_at *a, struct side_reads *r, uint32_t item)
{
	struct side *side = r->how->side;
	uint32_t id = slots_take(&r->pieces);
	struct piece *p = slots_at(&r->pieces, id);
	struct side_read *x = slots_at(&r->items, item);
	uint32_t left = x->bytes - x->asked;

	p->item = item;
	p->at = x->at + x->asked;
	p->bytes = left < side->most_read ? left : side->most_read;
	x->asked += p->bytes;
	r->n++;
	post(a, r, side->ops->request(side, a->s, a->t, p->at, p->bytes),
		r->how->first, id);
}

static void pump(const struct nic_at *a, struct side_reads *r)
{
	while (r->line.first && r->n < r->how->side->n_reads) {
		const struct side_read *x = slots_at(&r->items, r->line.first);

		ask(a, r, r->line.first);
		if (x->asked == x->bytes)
			slots_pop(&r->items, &r->line);
	}
}

void side_reads_begin(const struct nic_at *a, struct side_reads *r, uint64_t at,
	uint32_t bytes, side_read_done *done, void *owner, uint32_t id)
{
	uint32_t item = slots_take(&r->items);
	struct side_read *x = slots_at(&r->items, item);

	BUG_IF(!bytes);
	x->at = at;
	x->bytes = bytes;
	x->done = done;
	x->owner = owner;
	x->id = id;
	slots_push(&r->items, &r->line, item);
	pump(a, r);
}

static void on_ready(
	const struct nic_at *a, struct side_reads *r, uint32_t data)
{
	const struct piece *p = slots_at(&r->pieces, data);
	struct side *side = r->how->side;

	post(a, r, side->ops->data(side, a->s, a->t, p->at, p->bytes),
		r->how->first + 1, data);
}

static void on_here(const struct nic_at *a, struct side_reads *r, uint32_t data)
{
	const struct piece *p = slots_at(&r->pieces, data);
	uint32_t item = p->item;
	struct side_read *x = slots_at(&r->items, item), done;

	x->here += p->bytes;
	slots_give(&r->pieces, data);
	r->n--;
	done = *x;
	if (done.here == done.bytes)
		slots_give(&r->items, item);
	pump(a, r);
	if (done.here == done.bytes)
		done.done(a, &done);
}

bool side_reads_on_event(const struct nic_at *a, struct side_reads *r,
	uint32_t number, uint32_t data)
{
	if (number == r->how->first)
		on_ready(a, r, data);
	else if (number == r->how->first + 1)
		on_here(a, r, data);
	else
		return false;
	return true;
}
