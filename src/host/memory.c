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
	mem_free(m->regions);
	*m = (struct memory){ 0 };
}

/* --- pages --- */

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

/* NULL where it was never written. */
static uint8_t *page_to_read(struct memory *m, uint64_t number)
{
	uint8_t *bytes;

	if (number == m->last_number && m->last)
		return m->last;
	bytes = m->n_pages ? place_of(m, number)->bytes : NULL;
	if (bytes) {
		m->last_number = number;
		m->last = bytes;
	}
	return bytes;
}

static uint8_t *page_to_write(struct memory *m, uint64_t number)
{
	uint8_t *bytes = page_to_read(m, number);
	struct memory_page *p;

	if (bytes)
		return bytes;
	if (2 * m->n_pages >= m->room)
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

static void read_pages(struct memory *m, uint64_t at, uint8_t *out, size_t n)
{
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
}

static void write_pages(
	struct memory *m, uint64_t at, const uint8_t *in, size_t n)
{
	while (n) {
		uint8_t *page = page_to_write(m, at / MEMORY_PAGE);
		size_t k = in_page(at, n);

		memcpy(page + at % MEMORY_PAGE, in, k);
		in += k;
		at += k;
		n -= k;
	}
}

/* --- synthetic regions --- */

static bool is_over(const struct memory_region *s, uint64_t at, uint64_t n)
{
	return at < s->at + s->bytes && s->at < at + n;
}

int memory_add_synthetic(struct memory *m, uint64_t at, uint64_t bytes,
	memory_fill fill, void *arg)
{
	uint32_t i;

	if (!memory_has(m, at, bytes) || !bytes ||
		m->n_regions == MEMORY_REGIONS)
		return -1;
	for (i = 0; i < m->n_regions; i++)
		if (is_over(&m->regions[i], at, bytes))
			return -1;
	m->regions =
		mem_grow(m->regions, m->n_regions + 1, sizeof(*m->regions));
	m->regions[m->n_regions] = (struct memory_region){
		.at = at,
		.bytes = bytes,
		.fill = fill,
		.arg = arg,
		.first_wrong = UINT64_MAX,
	};
	if (!m->n_regions || at < m->low)
		m->low = at;
	if (at + bytes > m->high)
		m->high = at + bytes;
	return (int)m->n_regions++;
}

const struct memory_region *memory_synthetic(const struct memory *m, int i)
{
	return i >= 0 && (uint32_t)i < m->n_regions ? &m->regions[i] : NULL;
}

/*
 * A byte's weight is the difference of two of these, so that a run of bytes
 * weighs what its ends say, and runs that join weigh what they do together.
 */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

static uint64_t weight(uint64_t from, uint64_t to)
{
	return mix(to + UINT64_C(0x9e3779b97f4a7c15)) -
	       mix(from + UINT64_C(0x9e3779b97f4a7c15));
}

static void note_wrong(struct memory_region *s, uint64_t offset,
	const uint8_t *in, const uint8_t *right, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (in[i] == right[i])
			continue;
		s->wrong++;
		if (offset + i < s->first_wrong)
			s->first_wrong = offset + i;
	}
}

static void write_synthetic(
	struct memory_region *s, uint64_t offset, const uint8_t *in, size_t n)
{
	uint8_t right[512];
	size_t k;

	s->written += n;
	s->where += weight(offset, offset + n);
	for (; n; n -= k) {
		k = n < sizeof(right) ? n : sizeof(right);
		s->fill(s->arg, offset, right, k);
		if (memcmp(in, right, k) != 0)
			note_wrong(s, offset, in, right, k);
		in += k;
		offset += k;
	}
}

bool memory_region_is_whole(const struct memory_region *s, uint64_t times)
{
	return !s->wrong && s->written == times * s->bytes &&
	       s->where == times * weight(0, s->bytes);
}

/*
 * The region of at, or NULL; *n becomes the part of [at, at + n) up to that
 * region's end, or up to where the first one begins.
 */
static struct memory_region *region_at(
	const struct memory *m, uint64_t at, size_t *n)
{
	struct memory_region *s = m->regions, *end = s + m->n_regions;

	for (; s < end; s++) {
		uint64_t left = s->at + s->bytes - at;

		if (!is_over(s, at, *n))
			continue;
		if (s->at <= at) {
			*n = *n < left ? *n : (size_t)left;
			return s;
		}
		*n = (size_t)(s->at - at);
	}
	return NULL;
}

static void read_split(struct memory *m, uint64_t at, uint8_t *out, size_t n)
{
	while (n) {
		size_t k = n;
		struct memory_region *s = region_at(m, at, &k);

		if (s)
			s->fill(s->arg, at - s->at, out, k);
		else
			read_pages(m, at, out, k);
		out += k;
		at += k;
		n -= k;
	}
}

static void write_split(
	struct memory *m, uint64_t at, const uint8_t *in, size_t n)
{
	while (n) {
		size_t k = n;
		struct memory_region *s = region_at(m, at, &k);

		if (s)
			write_synthetic(s, at - s->at, in, k);
		else
			write_pages(m, at, in, k);
		in += k;
		at += k;
		n -= k;
	}
}

static uint64_t word_by(uint64_t base, uint64_t i)
{
	uint64_t x = base + i * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 29;
}

void memory_fill_by(
	uint64_t seed, uint64_t owner, uint64_t offset, uint8_t *out, size_t n)
{
	uint64_t base = mix(mix(seed) + owner), i = offset / 8, word;
	size_t skip = offset % 8, k;

	if (skip) {
		word = word_by(base, i++);
		k = n < 8 - skip ? n : 8 - skip;
		memcpy(out, (uint8_t *)&word + skip, k);
		out += k;
		n -= k;
	}
	for (; n >= 8; n -= 8, out += 8) {
		word = word_by(base, i++);
		memcpy(out, &word, 8);
	}
	word = word_by(base, i);
	memcpy(out, &word, n);
}

/* --- both --- */

static bool has_synthetic(const struct memory *m, uint64_t at, size_t n)
{
	return at < m->high && m->low < at + n;
}

bool memory_read(struct memory *m, uint64_t at, void *to, size_t n)
{
	if (!memory_has(m, at, n))
		return false;
	if (has_synthetic(m, at, n))
		read_split(m, at, to, n);
	else
		read_pages(m, at, to, n);
	return true;
}

bool memory_write(struct memory *m, uint64_t at, const void *from, size_t n)
{
	if (!memory_has(m, at, n))
		return false;
	if (has_synthetic(m, at, n))
		write_split(m, at, from, n);
	else
		write_pages(m, at, from, n);
	return true;
}

bool memory_load(struct memory *m, uint64_t at, uint64_t *word)
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
	return m->room * sizeof(*m->table) +
	       (uint64_t)m->n_pages * MEMORY_PAGE +
	       m->n_regions * sizeof(*m->regions);
}
