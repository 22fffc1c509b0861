#include "base/slots.h"

#include <string.h>

#include "base/mem.h"

enum { LEAST = 1 };

static struct slot *slot_of(const struct slots *s, uint32_t id)
{
	return slots_at(s, id);
}

void slots_fini(struct slots *s)
{
	mem_free(s->items);
	slots_init(s, s->size);
}

void slots_grow(struct slots *s)
{
	uint32_t room = s->room ? 2 * s->room : LEAST;

	s->items = mem_grow(s->items, room, s->size);
	memset(slots_at(s, s->room + 1), 0, (size_t)(room - s->room) * s->size);
	for (uint32_t id = s->room + 1; id < room; id++)
		slot_of(s, id)->next = id + 1;
	s->free = s->room + 1;
	s->room = room;
}

uint32_t slots_take(struct slots *s)
{
	uint32_t id = slots_take_any(s);

	memset(slot_of(s, id) + 1, 0, s->size - sizeof(struct slot));
	return id;
}

void slots_remove(struct slots *s, struct slot_list *l, uint32_t id)
{
	const struct slot *x = slot_of(s, id);

	if (x->prev)
		slot_of(s, x->prev)->next = x->next;
	else
		l->first = x->next;
	if (x->next)
		slot_of(s, x->next)->prev = x->prev;
	else
		l->last = x->prev;
}
