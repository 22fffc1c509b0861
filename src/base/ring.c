#include "base/ring.h"

#include <string.h>

#include "base/mem.h"

enum { LEAST = 4 };

void ring_fini(struct ring *r)
{
	mem_free(r->items);
	ring_init(r, r->size);
}

void ring_grow(struct ring *r)
{
	uint32_t first = r->room ? r->first & (r->room - 1) : 0;
	uint32_t room = r->room ? 2 * r->room : LEAST;

	r->items = mem_grow(r->items, room, r->size);
	memcpy(r->items + (size_t)r->room * r->size, r->items,
		(size_t)first * r->size);
	r->first = first;
	r->room = room;
}
