#include "host/memory.h"

#include <string.h>

#include "base/mem.h"

enum { FIRST_ROOM = 8 };

void memory_init(struct memory *m, uint64_t bytes)
{
	*m = (struct memory){ .bytes = bytes };
}

void memory_fini(struct memory *m)
{
	uint32_t i;

	for (i = 0; i < m->room; i++)
		mem_free(m->table[i].bytes);
	mem_free(m->table);
	*m = (struct memory){ 0 };
}

/* Where a page is in the table, or where it would be; room is not 0. */
static struct memory_page *place_of(const struct memory *m, uint64_t number)
{
	uint64_t hash = number * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(hash >> 32) & (m->room - 1);

	while (m->table[i].bytes && m->table[i].number != number)
		i = (i + 1) & (m->room - 1);
	return &m->table[i];
}

static void grow(struct memory *m)
{
	struct memory_page *old = m->table;
	uint32_t n = m->room, i;

	m->room = n ? 2 * n : FIRST_ROOM;
	m->table = mem_alloc(m->room, sizeof(*m->table));
	for (i = 0; i < n; i++)
		if (old[i].bytes)
			*place_of(m, old[i].number) = old[i];
	mem_free(old);
}

static uint8_t *page_to_read(const struct memory *m, uint64_t number)
{
	return m->n_pages ? place_of(m, number)->bytes : NULL;
}

static uint8_t *page_to_write(struct memory *m, uint64_t number)
{
	uint8_t *bytes = page_to_read(m, number);
	struct memory_page *p;

	if (bytes)
		return bytes;
	if (4 * m->n_pages >= 3 * m->room)
		grow(m);
	m->n_pages++;
	p = place_of(m, number);
	p->number = number;
	p->bytes = mem_alloc(1, MEMORY_PAGE);
	return p->bytes;
}

/* The part of [at, at + n) that lies in the page of at. */
static size_t in_page(uint64_t at, size_t n)
{
	size_t left = MEMORY_PAGE - at % MEMORY_PAGE;

	return n < left ? n : left;
}

bool memory_read(const struct memory *m, uint64_t at, void *to, size_t n)
{
	uint8_t *out = to;

	if (!memory_has(m, at, n))
		return false;
	while (n) {
		const uint8_t *page = page_to_read(m, at / MEMORY_PAGE);
		size_t k = in_page(at, n);

		if (page)
			memcpy(out, page + at % MEMORY_PAGE, k);
		else
			memset(out, 0, k);
		out += k;
		at += k;
		n -= k;
	}
	return true;
}

bool memory_write(struct memory *m, uint64_t at, const void *from, size_t n)
{
	const uint8_t *in = from;

	if (!memory_has(m, at, n))
		return false;
	while (n) {
		uint8_t *page = page_to_write(m, at / MEMORY_PAGE);
		size_t k = in_page(at, n);

		memcpy(page + at % MEMORY_PAGE, in, k);
		in += k;
		at += k;
		n -= k;
	}
	return true;
}

bool memory_load(const struct memory *m, uint64_t at, uint64_t *word)
{
	return at % sizeof(*word) == 0 &&
	       memory_read(m, at, word, sizeof(*word));
}

bool memory_store(struct memory *m, uint64_t at, uint64_t word)
{
	return at % sizeof(word) == 0 &&
	       memory_write(m, at, &word, sizeof(word));
}

uint64_t memory_held(const struct memory *m)
{
	return m->room * sizeof(*m->table) + (uint64_t)m->n_pages * MEMORY_PAGE;
}
