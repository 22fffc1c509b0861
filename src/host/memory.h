/*
 * A node's memory: real bytes at physical addresses from 0 to its size.  It
 * is a plain store, with no time, no caches and no notice to whoever polls a
 * word; host/program.h puts these on top.
 *
 * Pages come into being when they are first written; what was never written
 * reads as zero and costs nothing.  An address outside is no crash but a
 * refusal, which its caller turns into what the machine would do.
 *
 * Words are in the byte order of the host, as programs that run on it see
 * them.  One thread at a time may use a memory.
 */
#ifndef HOST_MEMORY_H
#define HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMORY_PAGE = 4096 };

struct memory_page {
	uint64_t number;
	uint8_t *bytes; /* NULL: a free place in the table */
};

struct memory {
	uint64_t bytes; /* its size */
	struct memory_page *table; /* hashed, open addressing */
	uint32_t room, n_pages;
};

void memory_init(struct memory *m, uint64_t bytes);
void memory_fini(struct memory *m);

/* Whether [at, at + n) lies inside. */
static inline bool memory_has(const struct memory *m, uint64_t at, uint64_t n)
{
	return at <= m->bytes && n <= m->bytes - at;
}

/* Both do nothing and return false where memory_has() says no. */
bool memory_read(const struct memory *m, uint64_t at, void *to, size_t n);
bool memory_write(struct memory *m, uint64_t at, const void *from, size_t n);

/* Eight bytes; false, too, where at is not a multiple of eight. */
bool memory_load(const struct memory *m, uint64_t at, uint64_t *word);
bool memory_store(struct memory *m, uint64_t at, uint64_t word);

/* What it takes of the host, bytes. */
uint64_t memory_held(const struct memory *m);

#endif
