/*
 * Memory.  A machine that does not fit is refused before it is built, so an
 * allocation that still fails ends the process with exit code 4.  Nothing on
 * the hot path allocates, except mailboxes and pools when they double.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

enum { CACHE_LINE = 64, MAP_LARGE_PAGE = 2 << 20 };

/* mem_alloc() returns zeroed memory.  All three are for mem_free(). */
void *mem_alloc(size_t n, size_t size);
void *mem_grow(void *p, size_t n, size_t size);
/* Makes room for one more behind n elements; room grows in powers of two. */
void *mem_more(void *p, size_t n, size_t size);
char *mem_text(const char *s);
void mem_free(void *p);

/* Ends the process in the same way when a library ran out of memory. */
_Noreturn void mem_give_up(void);

/*
 * A zeroed mapping, page aligned, that costs memory only where it is touched.
 * A dense one is touched everywhere, at random: it asks for large pages, since
 * TLB misses would cost more time than anything else.
 */
void *map_alloc(size_t bytes);
void *map_alloc_dense(size_t bytes);
/* A part of either that is touched here and there: small pages. */
void map_thin_out(void *p, size_t bytes);
void map_free(void *p, size_t bytes);

/*
 * Asks for a cache line that will be needed soon.  Without the asm, compilers
 * take a function that only prefetches for one without effect, and remove calls
 * of it.
 */
static inline void mem_prefetch(const void *p)
{
	__builtin_prefetch(p);
	__asm__ volatile("" : : "r"(p));
}

/* Memory that the process could still get, and memory that it holds. */
uint64_t mem_available(void);
uint64_t mem_resident(void);

#endif
