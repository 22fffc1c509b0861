#include "meas/partials.h"

#include "base/mem.h"
#include "meas/digest.h"

struct partial {
	uint64_t key;
	uint32_t left; /* 0: nothing is in this place */
	bool is_broken; /* a packet of it was dropped */
};

/* The place of a key, or the empty one where it belongs. */
static uint32_t find(const struct partials *d, uint64_t key)
{
	uint32_t i = (uint32_t)digest_mix(key) & (d->room - 1);

	while (d->entry[i].left && d->entry[i].key != key)
		i = (i + 1) & (d->room - 1);
	return i;
}

static void make_room(struct partials *d)
{
	struct partials old = { .entry = d->entry, .room = d->room };
	uint32_t i;

	if (2 * d->n < d->room)
		return;
	d->room = d->room ? 2 * d->room : 64;
	d->entry = mem_alloc(d->room, sizeof(*d->entry));
	for (i = 0; i < old.room; i++)
		if (old.entry[i].left)
			d->entry[find(d, old.entry[i].key)] = old.entry[i];
	mem_free(old.entry);
}

/* Empties a place; what was pushed on past it moves up. */
static void take_out(struct partials *d, uint32_t i)
{
	uint32_t last = d->room - 1;

	d->n--;
	d->entry[i].left = 0;
	for (i = (i + 1) & last; d->entry[i].left; i = (i + 1) & last) {
		struct partial p = d->entry[i];

		d->entry[i].left = 0;
		d->entry[find(d, p.key)] = p;
	}
}

bool partials_end(
	struct partials *d, uint64_t key, uint32_t n_packets, bool is_dropped)
{
	struct partial *p;
	bool is_whole;

	if (n_packets == 1)
		return !is_dropped;
	make_room(d);
	p = &d->entry[find(d, key)];
	if (!p->left) {
		*p = (struct partial){ .key = key, .left = n_packets };
		d->n++;
	}
	p->is_broken |= is_dropped;
	is_whole = p->left == 1 && !p->is_broken;
	if (p->left == 1)
		take_out(d, (uint32_t)(p - d->entry));
	else
		p->left--;
	return is_whole;
}

void partials_fini(struct partials *d)
{
	mem_free(d->entry);
}
