/* Parts of a memory whose bytes are made up, or somebody else's. */
#include "host/memory.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* --- which there are --- */

static struct memory_region *nth(const struct memory *m, uint32_t i)
{
	return &m->regions[m->order[i].number];
}

static uint64_t end_of(const struct memory_region *r)
{
	return r->at + r->bytes;
}

/* The place in the order of the first region that ends behind at. */
static uint32_t find(const struct memory *m, uint64_t at)
{
	const struct memory_place *order = m->order;
	uint32_t low = 0, high = m->n_in_use;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (order[middle].end <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool memory_has_region(const struct memory *m, uint64_t at, uint64_t n)
{
	uint32_t i = find(m, at);

	return i < m->n_in_use && nth(m, i)->at < at + n;
}

struct memory_region *memory_region_at(
	const struct memory *m, uint64_t at, size_t *n)
{
	uint32_t i = find(m, at);
	struct memory_region *r = i < m->n_in_use ? nth(m, i) : NULL;
	uint64_t left;

	if (!r)
		return NULL;
	left = r->at <= at ? end_of(r) - at : r->at - at;
	*n = *n < left ? *n : (size_t)left;
	return r->at <= at ? r : NULL;
}

/* The number of a region that has been dropped, or a new one. */
static uint32_t take_number(struct memory *m)
{
	uint32_t i = 0;

	if (m->n_in_use < m->n_regions) {
		while (m->regions[i].bytes)
			i++;
		return i;
	}
	m->n_regions++;
	m->regions = mem_grow(m->regions, m->n_regions, sizeof(*m->regions));
	m->order = mem_grow(m->order, m->n_regions, sizeof(*m->order));
	return m->n_regions - 1;
}

static void set_ends(struct memory *m)
{
	m->low = m->n_in_use ? nth(m, 0)->at : 0;
	m->high = m->n_in_use ? m->order[m->n_in_use - 1].end : 0;
}

static int add(struct memory *m, const struct memory_region *r)
{
	uint32_t i = find(m, r->at), number;

	if (!r->bytes || !memory_is_in_range(m, r->at, r->bytes) ||
		memory_has_region(m, r->at, r->bytes))
		return -1;
	number = take_number(m);
	m->regions[number] = *r;
	memmove(m->order + i + 1, m->order + i,
		(m->n_in_use - i) * sizeof(*m->order));
	m->order[i] = (struct memory_place){ end_of(r), number };
	m->n_in_use++;
	set_ends(m);
	memory_mix(m, r->at, r->bytes);
	return (int)number;
}

int memory_add_synthetic(struct memory *m, uint64_t at, uint64_t bytes,
	memory_naming name, void *arg)
{
	return add(m, &(struct memory_region){
			      .at = at,
			      .bytes = bytes,
			      .name = name,
			      .arg = arg,
			      .first_wrong = UINT64_MAX,
		      });
}

int memory_add_foreign(struct memory *m, uint64_t at, uint64_t bytes,
	const struct memory_foreign *f)
{
	return add(m, &(struct memory_region){
			      .at = at, .bytes = bytes, .foreign = *f });
}

void memory_drop_region(struct memory *m, int number)
{
	uint64_t at, bytes;
	uint32_t i;

	BUG_IF(!memory_region(m, number));
	at = m->regions[number].at;
	bytes = m->regions[number].bytes;
	i = find(m, at);
	m->regions[number].bytes = 0;
	m->n_in_use--;
	memmove(m->order + i, m->order + i + 1,
		(m->n_in_use - i) * sizeof(*m->order));
	set_ends(m);
	memory_mix(m, at, bytes);
}

const struct memory_region *memory_region(const struct memory *m, int i)
{
	bool is_one = i >= 0 && (uint32_t)i < m->n_regions;

	return is_one && m->regions[i].bytes ? &m->regions[i] : NULL;
}

/* --- what is read and written --- */

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
	const uint8_t *in, const struct memory_name *name, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (memory_is_by(name->seed, name->owner, name->offset + i,
			    in + i, 1))
			continue;
		s->wrong++;
		if (offset + i < s->first_wrong)
			s->first_wrong = offset + i;
	}
}

static void note_written(struct memory_region *s, uint64_t offset, size_t n)
{
	s->written += n;
	s->where += weight(offset, offset + n);
}

/* The name of up to n bytes from an offset on; returns how many. */
static size_t name_some(const struct memory_region *s, uint64_t offset,
	size_t n, struct memory_name *name)
{
	uint64_t k = s->name(s->arg, offset, name);

	return n < k ? n : (size_t)k;
}

static void check_synthetic(
	struct memory_region *s, uint64_t offset, const uint8_t *in, size_t n)
{
	struct memory_name x;
	size_t k;

	note_written(s, offset, n);
	for (; n; n -= k, in += k, offset += k) {
		k = name_some(s, offset, n, &x);
		if (!memory_is_by(x.seed, x.owner, x.offset, in, k))
			note_wrong(s, offset, in, &x, k);
	}
}

static void make_synthetic(
	const struct memory_region *s, uint64_t offset, uint8_t *out, size_t n)
{
	struct memory_name x;
	size_t k;

	for (; n; n -= k, out += k, offset += k) {
		k = name_some(s, offset, n, &x);
		memory_fill(&x, out, k);
	}
}

bool memory_region_is_whole(const struct memory_region *s, uint64_t times)
{
	return !s->wrong && s->written == times * s->bytes &&
	       s->where == times * weight(0, s->bytes);
}

bool memory_region_read(
	const struct memory_region *r, uint64_t at, uint8_t *out, size_t n)
{
	if (!r->name)
		return r->foreign.read(r->foreign.arg, at - r->at, out, n);
	make_synthetic(r, at - r->at, out, n);
	return true;
}

bool memory_region_write(
	struct memory_region *r, uint64_t at, const uint8_t *in, size_t n)
{
	const struct memory_foreign *f = &r->foreign;

	if (!r->name)
		return f->write && f->write(f->arg, at - r->at, in, n);
	check_synthetic(r, at - r->at, in, n);
	return true;
}

/* --- by name --- */

static bool may(const struct memory *m, uint32_t right, uint64_t at, size_t n)
{
	return memory_has(m, at, n) ||
	       memory_ask(m, right, at, n) == MEMORY_OPEN;
}

/* The synthetic region with all of [at, at + n), if they are of one stream. */
static inline __attribute__((always_inline)) struct memory_region *find_named(
	const struct memory *m, uint64_t at, size_t n, struct memory_name *name)
{
	struct memory_region *r;

	if (at >= m->high || at < m->low)
		return NULL;
	r = nth(m, find(m, at));
	if (!r->name || r->at > at || n > end_of(r) - at)
		return NULL;
	return r->name(r->arg, at - r->at, name) >= n ? r : NULL;
}

bool memory_find_name(struct memory *m, enum memory_by by, uint64_t at,
	size_t n, struct memory_name *name)
{
	return find_named(m, at, n, name) && may(m, MEMORY_MAY_READ(by), at, n);
}

/* Where they are not to be, they are made. */
static bool write_made(struct memory *m, enum memory_by by, uint64_t at,
	const struct memory_name *name, size_t n)
{
	struct memory_name x = *name;
	uint8_t bytes[MEMORY_PAGE];
	size_t k;

	if (!may(m, MEMORY_MAY_WRITE(by), at, n))
		return false;
	for (; n; n -= k, at += k, x.offset += k) {
		k = n < sizeof(bytes) ? n : sizeof(bytes);
		memory_fill(&x, bytes, k);
		if (!memory_write(m, by, at, bytes, k))
			return false;
	}
	return true;
}

bool memory_write_named(struct memory *m, enum memory_by by, uint64_t at,
	const struct memory_name *name, size_t n)
{
	struct memory_name right;
	struct memory_region *r = find_named(m, at, n, &right);

	if (!r || right.offset != name->offset || right.owner != name->owner ||
		right.seed != name->seed ||
		!may(m, MEMORY_MAY_WRITE(by), at, n))
		return write_made(m, by, at, name, n);
	note_written(r, at - r->at, n);
	return true;
}

void memory_fill(const struct memory_name *name, uint8_t *out, size_t n)
{
	memory_fill_by(name->seed, name->owner, name->offset, out, n);
}

/* --- streams --- */

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
	for (int i = 0; i < PAIRS; i++)
		p[i] = (pair){ word + (uint64_t)(2 * i) * STEP,
			word + (uint64_t)(2 * i + 1) * STEP };
}

static void fill_words(uint64_t word, uint8_t *out, size_t n)
{
	pair p[PAIRS];

	first_pairs(word, p);
	word += n / AT_ONCE * AT_ONCE * STEP;
	for (; n >= AT_ONCE; n -= AT_ONCE, out += sizeof(p)) {
		for (int i = 0; i < PAIRS; i++)
			memcpy(out + 16 * i, &p[i], 16);
		for (int i = 0; i < PAIRS; i++)
			p[i] += AT_ONCE * STEP;
	}
	for (; n; n--, out += 8, word += STEP)
		memcpy(out, &word, 8);
}

static bool are_words(uint64_t word, const uint8_t *in, size_t n)
{
	pair p[PAIRS], is, differ = { 0, 0 };
	uint64_t one;

	first_pairs(word, p);
	word += n / AT_ONCE * AT_ONCE * STEP;
	for (; n >= AT_ONCE; n -= AT_ONCE, in += sizeof(p))
		for (int i = 0; i < PAIRS; i++) {
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
