#include "host/memory.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum {
	FIRST_ROOM = 8,
	SMALL = 64, /* pages */
	MOST_CHUNK = 1024, /* pages */
	ENDS = 8, /* pages that blocks begin or end in, and what goes with them
		   */
	MAPPED = 16, /* so many are cleared by the host, where they are used */
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
	for (uint32_t i = 0; i < m->n_chunks; i++)
		free_chunk(&m->chunks[i]);
	mem_free(m->chunks);
	if (m->table != &m->none)
		mem_free(m->table);
	mem_free(m->regions);
	mem_free(m->order);
	mem_free(m->ranges);
	mem_free(m->spans);
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

/* Whether some of [at, at + n) is in a region. */
static bool is_made_up(const struct memory *m, uint64_t at, uint64_t n)
{
	return at < m->high && m->low < at + n && memory_has_region(m, at, n);
}

static const struct memory_range *find_range(
	const struct memory *m, uint64_t at, uint64_t n)
{
	for (size_t i = 0; i < m->n_ranges; i++) {
		const struct memory_range *r = &m->ranges[i];

		if (at >= r->at && at - r->at <= r->bytes &&
			n <= r->bytes - (at - r->at))
			return r;
	}
	return NULL;
}

/* Whether all of it is the host's, and anybody may read and write it. */
static bool is_open(const struct memory *m, uint64_t at, uint64_t n)
{
	const struct memory_range *r;

	if (memory_has(m, at, n))
		return true;
	r = find_range(m, at, n);
	return r && r->kind == MEMORY_OF_HOST && r->rights == MEMORY_MAY_ALL;
}

static inline bool is_plain_in_page(
	const struct memory *m, uint64_t at, size_t n)
{
	return n <= MEMORY_PAGE - at % MEMORY_PAGE && is_open(m, at, n) &&
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

/* How large a table for n pages is at least: large ones are half full at most,
 * small ones, which cost little, a quarter, so that few pages meet. */
static uint64_t room_for(uint64_t n)
{
	return n <= SMALL ? 4 * n : 2 * n;
}

/* Room for n pages. */
static void grow(struct memory *m, uint64_t n)
{
	struct memory_page *old = m->table;
	uint32_t old_room = m->room;

	if (room_for(n) <= old_room)
		return;
	m->room = old_room > FIRST_ROOM ? old_room : FIRST_ROOM;
	while (m->room < room_for(n))
		m->room *= 2;
	m->shift = 32 - (uint32_t)__builtin_ctz(m->room);
	m->table = mem_grow(NULL, m->room, sizeof(*m->table));
	for (uint32_t i = 0; i < m->room; i++)
		m->table[i] = (struct memory_page){ .number = FREE };
	for (uint32_t i = 0; i < old_room; i++)
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
	uint64_t n = bytes / MEMORY_PAGE + ENDS;

	BUG_IF(m->n_pages + n > MOST_PAGES);
	grow(m, m->n_pages + n);
	if (n > m->n_fresh)
		add_chunk(m, (uint32_t)n);
}

static uint8_t *take_spare(struct memory *m)
{
	uint8_t *bytes = m->spare;

	memcpy(&m->spare, bytes, sizeof(m->spare));
	memset(bytes, 0, MEMORY_PAGE);
	return bytes;
}

/* Zeroed; chunks grow with what there is, of which few pages stay unused. */
static uint8_t *take_fresh(struct memory *m)
{
	uint32_t n = m->n_pages / 8;
	uint8_t *bytes;

	if (m->spare)
		return take_spare(m);
	if (!m->n_fresh)
		add_chunk(m, n < 1 ? 1 : n > MOST_CHUNK ? MOST_CHUNK : n);
	bytes = m->fresh;
	m->fresh += MEMORY_PAGE;
	m->n_fresh--;
	return bytes;
}

static void mix_page(const struct memory *m, struct memory_page *p)
{
	uint64_t number = p->number & ~MEMORY_MIXED;

	if (p->number == FREE)
		return;
	p->number = number;
	if (!is_plain_in_page(m, number * MEMORY_PAGE, MEMORY_PAGE))
		p->number |= MEMORY_MIXED;
}

static uint8_t *page_to_write(struct memory *m, uint64_t number)
{
	uint8_t *bytes = page_of(m, number);
	struct memory_page *p;

	if (bytes)
		return bytes;
	grow(m, m->n_pages + UINT64_C(1));
	p = place_of(m, number);
	p->number = number;
	mix_page(m, p);
	p->bytes = take_fresh(m);
	m->n_pages++;
	return p->bytes;
}

/* The first one that has some of these pages, or NULL. */
static const struct memory_span *find_span(
	const struct memory *m, uint64_t first, uint64_t n)
{
	for (uint32_t i = 0; i < m->n_spans; i++)
		if (first < m->spans[i].first + m->spans[i].n_pages &&
			m->spans[i].first < first + n)
			return &m->spans[i];
	return NULL;
}

/* Takes an entry out of the table: those behind it that are not where they are
 * looked for first move up. */
static void take_out(struct memory *m, struct memory_page *hole)
{
	struct memory_page *p = hole, *end = m->table + m->room;

	for (;;) {
		uint64_t far, gap;

		if (++p == end)
			p = m->table;
		if (p->number == FREE)
			break;
		/* how far it is from its first place, and from the hole */
		far = (uint64_t)(p -
				 memory_first(m, p->number & ~MEMORY_MIXED));
		gap = (uint64_t)(p - hole);
		if (far % m->room < gap % m->room)
			continue;
		*hole = *p;
		hole = p;
	}
	*hole = (struct memory_page){ .number = FREE };
}

void memory_forget(struct memory *m, uint64_t at)
{
	uint64_t number = at / MEMORY_PAGE;
	struct memory_page *p = place_of(m, number);

	if (p->number != number || find_span(m, number, 1))
		return;
	memcpy(p->bytes, &m->spare, sizeof(m->spare));
	m->spare = p->bytes;
	m->n_pages--;
	take_out(m, p);
}

uint8_t *memory_place(struct memory *m, uint64_t at, size_t n)
{
	if (!memory_has(m, at, n) || !is_plain_in_page(m, at, n))
		return NULL;
	return page_to_write(m, at / MEMORY_PAGE) + at % MEMORY_PAGE;
}

/* --- spans --- */

/* A chunk of its own; pages that are not there yet come from the old one. */
static uint8_t *take_chunk(struct memory *m, uint32_t n)
{
	uint8_t *was = m->fresh, *bytes;
	uint32_t n_was = m->n_fresh;

	add_chunk(m, n);
	bytes = m->fresh;
	m->fresh = was;
	m->n_fresh = n_was;
	return bytes;
}

static const struct memory_span *add_span(
	struct memory *m, uint64_t first, uint64_t n)
{
	uint8_t *bytes = take_chunk(m, (uint32_t)n);
	struct memory_page *p;

	grow(m, m->n_pages + n);
	for (uint64_t i = 0; i < n; i++) {
		p = place_of(m, first + i);
		if (p->number == FREE)
			m->n_pages++;
		else
			memcpy(bytes + i * MEMORY_PAGE, p->bytes, MEMORY_PAGE);
		p->number = first + i;
		p->bytes = bytes + i * MEMORY_PAGE;
		mix_page(m, p);
	}
	m->spans = mem_grow(m->spans, m->n_spans + 1, sizeof(*m->spans));
	m->spans[m->n_spans] = (struct memory_span){ first, n, bytes };
	return &m->spans[m->n_spans++];
}

uint8_t *memory_map(struct memory *m, uint64_t at, uint64_t n)
{
	uint64_t first = at / MEMORY_PAGE, n_pages;
	const struct memory_span *s;

	if (!n || !memory_has(m, at, n) || is_made_up(m, at, n))
		return NULL;
	n_pages = (at + n - 1) / MEMORY_PAGE - first + 1;
	s = find_span(m, first, n_pages);
	if (s && (first < s->first || first + n_pages > s->first + s->n_pages))
		return NULL;
	if (!s && n_pages > MOST_PAGES - m->n_pages)
		return NULL;
	if (!s)
		s = add_span(m, first, n_pages);
	return s->bytes + (at - s->first * MEMORY_PAGE);
}

/* --- parts --- */

/* The part of [at, at + n) that lies in the page of at. */
static size_t in_page(uint64_t at, size_t n)
{
	size_t left = MEMORY_PAGE - at % MEMORY_PAGE;

	return n < left ? n : left;
}

/* Whether there are bytes, all in one page. */
static bool is_in_page(uint64_t at, size_t n)
{
	return n - 1 < MEMORY_PAGE - at % MEMORY_PAGE;
}

/* Pages are copied by the library: of what it knows to be short, a compiler
 * copies one word after the other. */
static void copy(uint8_t *to, const uint8_t *from, size_t n)
{
	__asm__("" : "+r"(n));
	memcpy(to, from, n);
}

static void read_pages(struct memory *m, uint64_t at, uint8_t *out, size_t n)
{
	while (n) {
		const uint8_t *page = page_of(m, at / MEMORY_PAGE);
		size_t k = in_page(at, n);

		if (page)
			copy(out, page + at % MEMORY_PAGE, k);
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

		copy(page + at % MEMORY_PAGE, in, k);
		in += k;
		at += k;
		n -= k;
	}
}

void memory_mix(struct memory *m, uint64_t at, uint64_t n)
{
	uint64_t first = at / MEMORY_PAGE, last = (at + n - 1) / MEMORY_PAGE;

	if (last - first < m->room) {
		for (; first <= last; first++)
			mix_page(m, place_of(m, first));
		return;
	}
	for (uint32_t i = 0; i < m->room; i++)
		mix_page(m, &m->table[i]);
}

/* --- ranges --- */

bool memory_add_range(struct memory *m, const struct memory_range *r)
{
	if (!r->bytes || r->at < m->bytes || r->bytes > UINT64_MAX - r->at)
		return false;
	for (uint32_t i = 0; i < m->n_ranges; i++)
		if (r->at < m->ranges[i].at + m->ranges[i].bytes &&
			m->ranges[i].at < r->at + r->bytes)
			return false;
	m->ranges = mem_grow(m->ranges, m->n_ranges + 1, sizeof(*m->ranges));
	m->ranges[m->n_ranges++] = *r;
	return true;
}

uint8_t *memory_device_page(struct memory *m, uint64_t at)
{
	const struct memory_range *r = find_range(m, at, 1);

	if (!r || r->kind != MEMORY_OF_DEVICE)
		return NULL;
	return page_to_write(m, at / MEMORY_PAGE);
}

bool memory_has_page(const struct memory *m, uint64_t at)
{
	return page_of(m, at / MEMORY_PAGE);
}

static bool is_in_regions(const struct memory *m, uint64_t at, uint64_t n)
{
	while (n) {
		size_t k = (size_t)n;

		if (!memory_region_at(m, at, &k))
			return false;
		at += k;
		n -= k;
	}
	return true;
}

bool memory_is_in_range(const struct memory *m, uint64_t at, uint64_t n)
{
	return memory_has(m, at, n) || find_range(m, at, n);
}

enum memory_answer memory_ask(
	const struct memory *m, uint32_t right, uint64_t at, uint64_t n)
{
	const struct memory_range *r;

	if (memory_has(m, at, n))
		return MEMORY_OPEN;
	r = find_range(m, at, n);
	if (!r || (r->kind == MEMORY_MAPPED && !is_in_regions(m, at, n)))
		return MEMORY_OUTSIDE;
	return r->rights & right ? MEMORY_OPEN : MEMORY_FORBIDDEN;
}

/* --- reading and writing --- */

static bool read_split(struct memory *m, uint64_t at, uint8_t *out, size_t n)
{
	while (n) {
		size_t k = n;
		const struct memory_region *r = memory_region_at(m, at, &k);

		if (!r)
			read_pages(m, at, out, k);
		else if (!memory_region_read(r, at, out, k))
			return false;
		out += k;
		at += k;
		n -= k;
	}
	return true;
}

static bool write_split(
	struct memory *m, uint64_t at, const uint8_t *in, size_t n)
{
	while (n) {
		size_t k = n;
		struct memory_region *r = memory_region_at(m, at, &k);

		if (!r)
			write_pages(m, at, in, k);
		else if (!memory_region_write(r, at, in, k))
			return false;
		in += k;
		at += k;
		n -= k;
	}
	return true;
}

/* Mostly a word. */
static void clear(void *to, size_t n)
{
	if (n == sizeof(uint64_t))
		memset(to, 0, sizeof(uint64_t));
	else
		memset(to, 0, n);
}

/* By itself, so that what is in one page does not pay for it. */
static __attribute__((noinline)) bool read_any(
	struct memory *m, enum memory_by by, uint64_t at, void *to, size_t n)
{
	if (!memory_has(m, at, n) &&
		memory_ask(m, MEMORY_MAY_READ(by), at, n) != MEMORY_OPEN)
		return false;
	if (is_made_up(m, at, n))
		return read_split(m, at, to, n);
	read_pages(m, at, to, n);
	return true;
}

bool memory_read_parts(
	struct memory *m, enum memory_by by, uint64_t at, void *to, size_t n)
{
	const struct memory_page *p = place_of(m, at / MEMORY_PAGE);

	if (p->number == at / MEMORY_PAGE && is_in_page(at, n)) {
		copy(to, p->bytes + at % MEMORY_PAGE, n);
		return true;
	}
	/* unwritten, far from all regions, and open to all */
	if (p->number == FREE && is_in_page(at, n) &&
		(at >= m->high || m->low >= at + n) && is_open(m, at, n)) {
		clear(to, n);
		return true;
	}
	return read_any(m, by, at, to, n);
}

bool memory_write_parts(struct memory *m, enum memory_by by, uint64_t at,
	const void *from, size_t n)
{
	const struct memory_page *p = place_of(m, at / MEMORY_PAGE);

	if (p->number == at / MEMORY_PAGE && is_in_page(at, n)) {
		copy(p->bytes + at % MEMORY_PAGE, from, n);
		return true;
	}
	if (!memory_has(m, at, n) &&
		memory_ask(m, MEMORY_MAY_WRITE(by), at, n) != MEMORY_OPEN)
		return false;
	if (is_made_up(m, at, n))
		return write_split(m, at, from, n);
	write_pages(m, at, from, n);
	return true;
}

uint64_t memory_held(const struct memory *m)
{
	return (m->table == &m->none ? 0 : m->room * sizeof(*m->table)) +
	       (uint64_t)(m->n_pages + m->n_fresh) * MEMORY_PAGE +
	       m->n_chunks * sizeof(*m->chunks) +
	       m->n_regions * (sizeof(*m->regions) + sizeof(*m->order)) +
	       m->n_ranges * sizeof(*m->ranges) +
	       m->n_spans * sizeof(*m->spans);
}
