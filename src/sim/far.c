#include "sim/far.h"

#include "base/mem.h"

void far_push(struct sim_heap *h, struct sim_far f)
{
	uint32_t i = h->n++;

	if (i == h->room) {
		h->room = h->room ? 2 * h->room : 16;
		h->item = mem_grow(h->item, h->room, sizeof(*h->item));
	}
	while (i && f.t < h->item[(i - 1) / 2].t) {
		h->item[i] = h->item[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->item[i] = f;
}

struct sim_far far_pop(struct sim_heap *h)
{
	struct sim_far top = h->item[0], f = h->item[--h->n];
	uint32_t i = 0, c;

	while ((c = 2 * i + 1) < h->n) {
		if (c + 1 < h->n && h->item[c + 1].t < h->item[c].t)
			c++;
		if (h->item[c].t >= f.t)
			break;
		h->item[i] = h->item[c];
		i = c;
	}
	h->item[i] = f;
	return top;
}
