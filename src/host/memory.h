/*
 * A node's memory: real bytes at physical addresses from 0 to its size.  It
 * is a plain store, with no time, no caches and no notice to whoever polls a
 * word; host/host.h puts these on top.
 *
 * Pages come into being when they are first written; what was never written
 * reads as zero and costs nothing.  An address outside is no crash but a
 * refusal, which its caller turns into what the machine would do.
 *
 * A region may be synthetic: its bytes are a function of their offsets.
 * Reading gives them; what is written is compared with them and counted, and
 * nothing is stored, so that gigabytes can come and go in no memory.
 *
 * Words are in the byte order of the host, as programs that run on it see
 * them.  One thread at a time may use a memory; reading it counts as use.
 */
#ifndef HOST_MEMORY_H
#define HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MEMORY_PAGE = 4096, MEMORY_REGIONS = 8 /* that are synthetic */ };

/* Of a number: some of the page is synthetic, or outside. */
#define MEMORY_MIXED (UINT64_C(1) << 63)

struct memory_page {
	uint64_t number; /* all ones: a free place in the table */
	uint8_t *bytes;
};

struct memory_chunk {
	uint8_t *bytes;
	uint32_t n_pages;
};

/* Puts the n bytes from an offset of a region into out. */
typedef void (*memory_fill)(void *arg, uint64_t offset, uint8_t *out, size_t n);

struct memory_region {
	uint64_t at, bytes;
	memory_fill fill;
	void *arg;

	/* of what was written */
	uint64_t written; /* bytes */
	uint64_t where; /* a sum over their offsets */
	uint64_t wrong; /* bytes that differed */
	uint64_t first_wrong; /* the least offset of these */
};

struct memory {
	uint64_t bytes; /* its size */
	struct memory_page *table; /* hashed, open addressing */
	struct memory_page none; /* which it is at first */
	uint32_t shift; /* of a hash, to where its page is looked for first */
	uint32_t room, n_pages;
	uint32_t n_fresh, n_chunks;
	uint8_t *fresh; /* what the last chunk has left */
	struct memory_chunk *chunks; /* that pages are cut from */
	uint64_t low, high; /* all regions lie between them; 0, 0: none */
	struct memory_region *regions;
	uint32_t n_regions;
};

/* It must stay where it is. */
void memory_init(struct memory *m, uint64_t bytes);
void memory_fini(struct memory *m);

/* Whether [at, at + n) lies inside. */
static inline bool memory_has(const struct memory *m, uint64_t at, uint64_t n)
{
	return at <= m->bytes && n <= m->bytes - at;
}

/* Where a page is looked for first. */
static inline struct memory_page *memory_first(
	const struct memory *m, uint64_t number)
{
	uint32_t hash = (uint32_t)number * UINT32_C(0x9e3779b1);

	return &m->table[(uint64_t)hash >> m->shift];
}

/* What memory_stored() does for pages that are mixed, or elsewhere. */
uint8_t *memory_stored_elsewhere(const struct memory *m, uint64_t at, size_t n);

/*
 * Where bytes are stored, until memory_fini(), that lie in one page that has
 * been written; else NULL.  About 15 instructions.
 */
static inline uint8_t *memory_stored(
	const struct memory *m, uint64_t at, size_t n)
{
	const struct memory_page *p = memory_first(m, at / MEMORY_PAGE);

	if (__builtin_expect(p->number != at / MEMORY_PAGE ||
				     n > MEMORY_PAGE - at % MEMORY_PAGE,
		    0))
		return memory_stored_elsewhere(m, at, n);
	return p->bytes + at % MEMORY_PAGE;
}

/*
 * The same for bytes that may be written there: the page comes into being.
 * NULL where they are outside, or in two pages, or synthetic.
 */
uint8_t *memory_place(struct memory *m, uint64_t at, size_t n);

/* So many bytes will be written soon, which makes room for them at once. */
void memory_reserve(struct memory *m, uint64_t bytes);

/* What is not in one page that has been written. */
bool memory_read_parts(struct memory *m, uint64_t at, void *to, size_t n);
bool memory_write_parts(
	struct memory *m, uint64_t at, const void *from, size_t n);

/* Both do nothing and return false where memory_has() says no. */
static inline bool memory_read(
	struct memory *m, uint64_t at, void *to, size_t n)
{
	const uint8_t *from = memory_stored(m, at, n);

	if (!from)
		return memory_read_parts(m, at, to, n);
	if (n) /* nothing may be at NULL */
		memcpy(to, from, n);
	return true;
}

static inline bool memory_write(
	struct memory *m, uint64_t at, const void *from, size_t n)
{
	uint8_t *to = memory_stored(m, at, n);

	if (!to)
		return memory_write_parts(m, at, from, n);
	if (n)
		memcpy(to, from, n);
	return true;
}

/* Eight bytes; false, too, where at is not a multiple of eight. */
static inline bool memory_load(struct memory *m, uint64_t at, uint64_t *word)
{
	return at % sizeof(*word) == 0 &&
	       memory_read(m, at, word, sizeof(*word));
}

static inline bool memory_store(struct memory *m, uint64_t at, uint64_t word)
{
	return at % sizeof(word) == 0 &&
	       memory_write(m, at, &word, sizeof(word));
}

/*
 * Makes [at, at + bytes) synthetic; what was stored there cannot be seen any
 * more.  arg is borrowed.  Returns the region's number, from 0 on, or -1:
 * outside the memory, empty, over another region, or one too many.
 */
int memory_add_synthetic(struct memory *m, uint64_t at, uint64_t bytes,
	memory_fill fill, void *arg);

/* A region, or NULL; until the next one is added. */
const struct memory_region *memory_synthetic(const struct memory *m, int i);

/*
 * Whether every byte of it was written so many times, right each time.  In
 * which pieces and order does not matter.  That some bytes too many make up
 * for others that are missing goes unseen once in 2^64.
 */
bool memory_region_is_whole(const struct memory_region *s, uint64_t times);

/*
 * For fills: the n bytes from an offset of an owner's stream.  Any bytes of
 * it can be had by themselves; about one instruction per four bytes.
 */
void memory_fill_by(
	uint64_t seed, uint64_t owner, uint64_t offset, uint8_t *out, size_t n);

/* Whether n bytes are what memory_fill_by() would put there. */
bool memory_is_by(uint64_t seed, uint64_t owner, uint64_t offset,
	const uint8_t *in, size_t n);

/* What it takes of the host, bytes. */
uint64_t memory_held(const struct memory *m);

#endif
