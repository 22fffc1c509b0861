#include "base/index.h"

#include "base/mem.h"

enum { LEAST = 4 };

static uint32_t home(const struct index *x, uint64_t key)
{
	/* the golden ratio's bits, of which the upper ones are mixed best */
	return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) &
	       (x->room - 1);
}

/* Where a key is, or would be. */
static uint32_t place(const struct index *x, uint64_t key)
{
	uint32_t i = home(x, key);

	while (x->entry[i].id && x->entry[i].key != key)
		i = (i + 1) & (x->room - 1);
	return i;
}

void index_fini(struct index *x)
{
	mem_free(x->entry);
	*x = (struct index){ .room = 0 };
}

static void grow(struct index *x)
{
	struct index old = *x;

	x->room = old.room ? 2 * old.room : LEAST;
	x->entry = mem_alloc(x->room, sizeof(*x->entry));
	for (uint32_t i = 0; i < old.room; i++)
		if (old.entry[i].id)
			x->entry[place(x, old.entry[i].key)] = old.entry[i];
	mem_free(old.entry);
}

void index_add(struct index *x, uint64_t key, uint32_t id)
{
	if (2 * x->n >= x->room)
		grow(x);
	x->n++;
	x->entry[place(x, key)] = (struct index_entry){ key, id };
}

uint32_t index_find(const struct index *x, uint64_t key)
{
	return x->n ? x->entry[place(x, key)].id : 0;
}

void index_set(struct index *x, uint64_t key, uint32_t id)
{
	x->entry[place(x, key)].id = id;
}

/* What follows without a gap moves up, unless it is at home already. */
void index_remove(struct index *x, uint64_t key)
{
	uint32_t mask = x->room - 1, hole = place(x, key), i = hole;

	x->n--;
	for (;;) {
		i = (i + 1) & mask;
		if (!x->entry[i].id)
			break;
		if (((i - home(x, x->entry[i].key)) & mask) <
			((i - hole) & mask))
			continue;
		x->entry[hole] = x->entry[i];
		hole = i;
	}
	x->entry[hole].id = 0;
}
