#include "nic/util/words.h"

struct word {
	struct slot slot;
	uint64_t address, value;
};

void words_init(
	struct words *w, const struct words_how *how, struct ticks *ticks)
{
	*w = (struct words){ .how = how, .ticks = ticks };
	slots_init(&w->items, sizeof(struct word));
}

void words_fini(struct words *w)
{
	slots_fini(&w->items);
}

void words_write(const struct nic_at *a, struct words *w, uint64_t address,
	uint64_t value)
{
	uint32_t id = slots_take(&w->items);
	struct word *x = slots_at(&w->items, id);

	x->address = address;
	x->value = value;
	slots_push(&w->items, &w->out, id);
	w->asked++;
	w->how->ask(a, id, sizeof(x->value));
}

void words_granted(
	const struct nic_at *a, struct words *w, uint32_t id, sim_time end)
{
	w->last_in = end + w->how->see;
	ticks_post(a, w->ticks, w->last_in, w->how->in, id);
	w->had++;
	if (w->how->on_had)
		w->how->on_had(a);
}

void words_on_in(const struct nic_at *a, struct words *w, uint32_t id)
{
	const struct word *x = slots_at(&w->items, id);

	BUG_IF(w->out.first != id);
	slots_pop(&w->items, &w->out);
	host_write(a->nic->host, a->w, a->s, a->t, x->address, &x->value,
		sizeof(x->value));
	/* for those who wait for this or for something else */
	host_poke(a->nic->host, a->w, a->s, a->t);
	slots_give(&w->items, id);
}

void words_read(const struct nic_at *a, const struct words *w, uint64_t at,
	void *to, uint32_t n)
{
	const struct word *x;
	uint32_t i;

	host_read(a->nic->host, a->s, at, to, n);
	for (i = w->out.first; i; i = x->slot.next) {
		x = slots_at(&w->items, i);
		words_overlay(to, at, n, x->address, (const uint8_t *)&x->value,
			sizeof(x->value));
	}
}
