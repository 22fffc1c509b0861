#include "host/memory.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum {
	FIRST_ROOM = 8,
	MOST_CHUNK = 1024, /* pages */
	MAPPED = 64, /* so many are cleared by the host, where they are used */
	MOST_PAGES = 1 << 30,
};

#define FREE UINT64_MAX

void memory_init(struct memory *m, uint64_t bytes)
{
	*m = (struct memory){
		.bytes = bytes, .none.number = FREE, .shift = 32, .room = 1
	};
	m->table = &m->none;
}

static void free_chunk(struct memory_chunk *c)
{
	if (c->n_pages < MAPPED)
		mem_free(c->bytes);
	else
		map_free(c->bytes, (size_t)c->n_pages * MEMORY_PAGE);
}

void memory_fini(struct memory *m)
{
	uint32_t i;

	for (i = 0; i < m->n_chunks; i++)
		free_chunk(&m->chunks[i]);
	mem_free(m->chunks);
	if (m->table != &m->none)
		mem_free(m->table);
	mem_free(m->regions);
	*m = (struct memory){ 0 };
}

/* --- pages --- */

/* Where a page is in the table, or where it would be. */
static struct memory_page *place_of(const struct memory *m, uint64_t number)
{
	struct memory_page *p = memory_first(m, number), *end;

	end = m->table + m->room;
	while (p->number != FREE && (p->number & ~MEMORY_MIXED) != number)
		if (++p == end)
			p = m->table;
	return p;
}

/* NULL where it was never written. */
static uint8_t *page_of(const struct memory *m, uint64_t number)
{
	return place_of(m, number)->bytes;
}

/* Whether some of [at, at + n) may be synthetic. */
static bool is_made_up(const struct memory *m, uint64_t at, size_t n)
{
	return at < m->high && m->low < at + n;
}

static bool is_plain_in_page(const struct memory *m, uint64_t at, size_t n)
{
	return n <= MEMORY_PAGE - at % MEMORY_PAGE && memory_has(m, at, n) &&
	       !is_made_up(m, at, n);
}

uint8_t *memory_stored_elsewhere(const struct memory *m, uint64_t at, size_t n)
{
	uint8_t *page;

	if (!is_plain_in_page(m, at, n))
		return NULL;
	page = page_of(m, at / MEMORY_PAGE);
	return page ? page + at % MEMORY_PAGE : NULL;
}

/* Room for n pages in a table that is half full at most. */
static void grow(struct memory *m, uint64_t n)
{
	struct memory_page *old = m->table;
	uint32_t old_room = m->room, i;

	if (2 * n <= old_room)
		return;
	m->room = old_room > FIRST_ROOM ? old_room : FIRST_ROOM;
	while (m->room < 2 * n)
		m->room *= 2;
	m->shift = 32 - (uint32_t)__builtin_ctz(m->room);
	m->table = mem_alloc(m->room, sizeof(*m->table));
	for (i = 0; i < m->room; i++)
		m->table[i].number = FREE;
	for (i = 0; i < old_room; i++)
		if (old[i].number != FREE)
			*place_of(m, old[i].number & ~MEMORY_MIXED) = old[i];
	if (old != &m->none)
		mem_free(old);
}

static void add_chunk(struct memory *m, uint32_t n)
{
	size_t bytes = (size_t)n * MEMORY_PAGE;

	m->chunks = mem_grow(m->chunks, m->n_chunks + 1, sizeof(*m->chunks));
	m->fresh = n < MAPPED ? mem_alloc(1, bytes) : map_alloc(bytes);
	m->n_fresh = n;
	m->chunks[m->n_chunks++] =
		(struct memory_chunk){ .bytes = m->fresh, .n_pages = n };
}

void memory_reserve(struct memory *m, uint64_t bytes)
{
	uint64_t n = bytes / MEMORY_PAGE;

	BUG_IF(m->n_pages + n > MOST_PAGES);
	grow(m, m->n_pages + n);
	if (n > m->n_fresh)
		add_chunk(m, (uint32_t)n);
}

/* Zeroed; chunks grow with what there is, of which few pages stay unused. */
static uint8_t *take_fresh(struct memory *m)
{
	uint32_t n = m->n_pages / 8;
	uint8_t *bytes;

	if (!m->n_fresh)
		add_chunk(m, n < 1 ? 1 : n > MOST_CHUNK ? MOST_CHUNK : n);
	bytes = m->fresh;
	m->fresh += MEMORY_PAGE;
	m->n_fresh--;
	return bytes;
}

static uint8_t *page_to_write(struct memory *m, uint64_t number)
{
	uint8_t *bytes = page_of(m, number);
	uint64_t at = number * MEMORY_PAGE;
	struct memory_page *p;

	if (bytes)
		return bytes;
	grow(m, m->n_pages + UINT64_C(1));
	p = place_of(m, number);
	p->number = number;
	if (!is_plain_in_page(m, at, MEMORY_PAGE))
		p->number |= MEMORY_MIXED;
	p->bytes = take_fresh(m);
	m->n_pages++;
	return p->bytes;
}

uint8_t *memory_place(struct memory *m, uint64_t at, size_t n)
{
	if (!is_plain_in_page(m, at, n))
		return NULL;
	return page_to_write(m, at / MEMORY_PAGE) + at % MEMORY_PAGE;
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
		const uint8_t *page = page_of(m, at / MEMORY_PAGE);
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

/* Those that a region has a part of. */
static void mix_pages(struct memory *m, const struct memory_region *s)
{
	uint32_t i;

	for (i = 0; i < m->room; i++)
		if (m->table[i].number < MEMORY_MIXED &&
			is_over(s, m->table[i].number * MEMORY_PAGE,
				MEMORY_PAGE))
			m->table[i].number |= MEMORY_MIXED;
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
	mix_pages(m, &m->regions[m->n_regions]);
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

/*
 * The i-th word of a stream is its first one and i steps: other words of it,
 * and those of other streams, which begin by chance, differ in all but few
 * bytes, and several of them are made at a time.
 */
#define STEP UINT64_C(0x9e3779b97f4a7c15)

static uint64_t first_word(uint64_t seed, uint64_t owner)
{
	return mix(seed * STEP + owner);
}

/* Four of two words each, which is what hosts have registers for. */
typedef uint64_t pair __attribute__((vector_size(16)));
enum { PAIRS = 4, AT_ONCE = 2 * PAIRS };

static void first_pairs(uint64_t word, pair p[PAIRS])
{
	int i;

	for (i = 0; i < PAIRS; i++)
		p[i] = (pair){ word + (uint64_t)(2 * i) * STEP,
			word + (uint64_t)(2 * i + 1) * STEP };
}

static void fill_words(uint64_t word, uint8_t *out, size_t n)
{
	pair p[PAIRS];
	int i;

	first_pairs(word, p);
	word += n / AT_ONCE * AT_ONCE * STEP;
	for (; n >= AT_ONCE; n -= AT_ONCE, out += sizeof(p)) {
		for (i = 0; i < PAIRS; i++)
			memcpy(out + 16 * i, &p[i], 16);
		for (i = 0; i < PAIRS; i++)
			p[i] += AT_ONCE * STEP;
	}
	for (; n; n--, out += 8, word += STEP)
		memcpy(out, &word, 8);
}

static bool are_words(uint64_t word, const uint8_t *in, size_t n)
{
	pair p[PAIRS], is, differ = { 0, 0 };
	uint64_t one;
	int i;

	first_pairs(word, p);
	word += n / AT_ONCE * AT_ONCE * STEP;
	for (; n >= AT_ONCE; n -= AT_ONCE, in += sizeof(p))
		for (i = 0; i < PAIRS; i++) {
			memcpy(&is, in + 16 * i, 16);
			differ |= is ^ p[i];
			p[i] += AT_ONCE * STEP;
		}
	for (; n; n--, in += 8, word += STEP) {
		memcpy(&one, in, 8);
		differ[0] |= one ^ word;
	}
	return !(differ[0] | differ[1]);
}

/* The bytes of a word from one of them on, n at most. */
static size_t part_of(size_t skip, size_t n)
{
	return n < 8 - skip ? n : 8 - skip;
}

void memory_fill_by(
	uint64_t seed, uint64_t owner, uint64_t offset, uint8_t *out, size_t n)
{
	uint64_t word = first_word(seed, owner) + offset / 8 * STEP;
	size_t skip = offset % 8, k = part_of(skip, n);

	if (skip) {
		memcpy(out, (uint8_t *)&word + skip, k);
		word += STEP;
		out += k;
		n -= k;
	}
	fill_words(word, out, n / 8);
	word += n / 8 * STEP;
	if (n % 8)
		memcpy(out + n - n % 8, &word, n % 8);
}

bool memory_is_by(uint64_t seed, uint64_t owner, uint64_t offset,
	const uint8_t *in, size_t n)
{
	uint64_t word = first_word(seed, owner) + offset / 8 * STEP;
	size_t skip = offset % 8, k = part_of(skip, n);

	if (skip) {
		if (memcmp(in, (uint8_t *)&word + skip, k) != 0)
			return false;
		word += STEP;
		in += k;
		n -= k;
	}
	if (!are_words(word, in, n / 8))
		return false;
	word += n / 8 * STEP;
	return n % 8 == 0 || memcmp(in + n - n % 8, &word, n % 8) == 0;
}

/* --- both --- */

bool memory_read_parts(struct memory *m, uint64_t at, void *to, size_t n)
{
	if (!memory_has(m, at, n))
		return false;
	if (is_made_up(m, at, n))
		read_split(m, at, to, n);
	else
		read_pages(m, at, to, n);
	return true;
}

bool memory_write_parts(
	struct memory *m, uint64_t at, const void *from, size_t n)
{
	if (!memory_has(m, at, n))
		return false;
	if (is_made_up(m, at, n))
		write_split(m, at, from, n);
	else
		write_pages(m, at, from, n);
	return true;
}

uint64_t memory_held(const struct memory *m)
{
	return (m->table == &m->none ? 0 : m->room * sizeof(*m->table)) +
	       (uint64_t)(m->n_pages + m->n_fresh) * MEMORY_PAGE +
	       m->n_chunks * sizeof(*m->chunks) +
	       m->n_regions * sizeof(*m->regions);
}
