/*
 * A node's memory: real bytes at physical addresses from 0 to its size.  It
 * is a plain store, with no time, no caches and no notice to whoever polls a
 * word; host/program.h puts these on top.
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

enum { MEMORY_PAGE = 4096, MEMORY_REGIONS = 8 /* that are synthetic */ };

struct memory_page {
	uint64_t number;
	uint8_t *bytes; /* NULL: a free place in the table */
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
	uint32_t room, n_pages;
	uint64_t last_number; /* the page that was used last, */
	uint8_t *last; /* or NULL */
	uint64_t low, high; /* all regions lie between them; 0, 0: none */
	struct memory_region *regions;
	uint32_t n_regions;
};

void memory_init(struct memory *m, uint64_t bytes);
void memory_fini(struct memory *m);

/* Whether [at, at + n) lies inside. */
static inline bool memory_has(const struct memory *m, uint64_t at, uint64_t n)
{
	return at <= m->bytes && n <= m->bytes - at;
}

/* Both do nothing and return false where memory_has() says no. */
bool memory_read(struct memory *m, uint64_t at, void *to, size_t n);
bool memory_write(struct memory *m, uint64_t at, const void *from, size_t n);

/* Eight bytes; false, too, where at is not a multiple of eight. */
bool memory_load(struct memory *m, uint64_t at, uint64_t *word);
bool memory_store(struct memory *m, uint64_t at, uint64_t word);

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
 * it can be had by themselves; about one instruction per byte.
 */
void memory_fill_by(
	uint64_t seed, uint64_t owner, uint64_t offset, uint8_t *out, size_t n);

/* What it takes of the host, bytes. */
uint64_t memory_held(const struct memory *m);

#endif
