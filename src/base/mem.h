/*
 * Where memory comes from.  Set-up takes it from here and cannot fail softly:
 * the size of a machine is estimated and refused before it is built, so what
 * fails here ends the process with exit code 4.  Nothing on the hot path
 * allocates, save mailboxes and pools that double.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

enum { CACHE_LINE = 64 };

/* Zeroed.  mem_free() takes what these two gave. */
void *mem_alloc(size_t n, size_t size);
void *mem_grow(void *p, size_t n, size_t size);
/* Makes room for one more behind n elements; room grows in powers of two. */
void *mem_more(void *p, size_t n, size_t size);
char *mem_text(const char *s);
void mem_free(void *p);

/* For what libraries could not get: ends the process like these. */
_Noreturn void mem_give_up(void);

/*
 * A zeroed mapping, page aligned, that costs memory only where it is touched.
 * A dense one is touched everywhere in no order: it asks for large pages,
 * without which looking addresses up takes longer than anything else.
 */
void *map_alloc(size_t bytes);
void *map_alloc_dense(size_t bytes);
void map_free(void *p, size_t bytes);

/*
 * Asks for a cache line that will be needed soon.  The asm is there because
 * compilers take a function that does nothing but prefetch for one without
 * effect, and leave out calls of it.
 */
static inline void mem_prefetch(const void *p)
{
	__builtin_prefetch(p);
	__asm__ volatile("" : : "r"(p));
}

/* What the process could still get, and what it holds now. */
uint64_t mem_available(void);
uint64_t mem_resident(void);

#endif
