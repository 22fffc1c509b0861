/*
 * Memory for a rank.
 *
 * Where buffers lie can change what a machine does with them, by their place
 * within a packet or a page, and MPI libraries keep lists in the order of
 * addresses.  MPI_Init() makes threads, which leave the heap of the C library
 * in another state each time.  Therefore what the program's own threads
 * allocate comes from here.  Threads of the MPI library stay with the C
 * library's; what they free of ours is not used again, since nobody knows when
 * they do.  So it is with what the dynamic linker allocates for a thread when
 * that first needs it, and with questions to PMIx, which its thread frees.
 *
 * There are two heaps.  What MPI_Init() allocates depends on the host, on the
 * name of the folder say, and must not move what the program has.
 *
 * Blocks of one size class are reused, last come, first served; there is
 * nothing more clever.  A block's first 16 bytes say where and of which class
 * it is.
 */
#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE */
#include "inside/rank.h"

#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BASE  ((uintptr_t)0x200000000000)
#define ALL   ((size_t)1 << 36) /* of a heap */
#define HEAPS 2

enum {
	ALIGN = 16,
	STEPS = 8, /* classes for each doubling */
	CLASSES = 64 + STEPS * 40,
	SMALL = 1024, /* classes of each multiple of 16 */
	LARGE = 256 << 10, /* begins a page; what is free is given back */
	PAGE = 4096,
	CHUNK = 4 << 20,
};

struct head {
	uint32_t class;
	uint32_t back; /* bytes to the block's beginning */
	uint64_t bytes; /* that can be used */
};

_Static_assert(sizeof(struct head) == ALIGN, "alignment");

struct block {
	struct block *next;
};

/* The C library's own, by the names that it has for it. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);
void __libc_free(void *p);

/* The program's, and MPI_Init()'s. */
static struct heap {
	atomic_flag lock;
	uintptr_t next, end; /* beyond what was ever given out; of all */
	uintptr_t dumped; /* up to here it is part of core files */
	struct block *unused[CLASSES];
} heaps[HEAPS] = { { .lock = ATOMIC_FLAG_INIT }, { .lock = ATOMIC_FLAG_INIT } };

static bool is_open;
static uintptr_t linker, linker_end; /* the dynamic linker's code */

static int find_linker(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	if (info->dlpi_addr != *(uintptr_t *)base)
		return 0;
	linker = info->dlpi_addr;
	linker_end = linker;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			linker_end = linker + info->dlpi_phdr[i].p_vaddr +
				     info->dlpi_phdr[i].p_memsz;
	return 1;
}

bool alloc_open(void)
{
	uintptr_t base = getauxval(AT_BASE);
	void *p = mmap((void *)BASE, HEAPS * ALL, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			MAP_FIXED_NOREPLACE,
		-1, 0);

	dl_iterate_phdr(find_linker, &base);
	for (size_t i = 0; i < HEAPS; i++) {
		heaps[i].next = BASE + i * ALL;
		heaps[i].end = heaps[i].next + ALL;
		heaps[i].dumped = heaps[i].next;
	}
	is_open = p == (void *)BASE;
	if (is_open)
		madvise(p, HEAPS * ALL, MADV_DONTDUMP);
	else if (p != MAP_FAILED)
		munmap(p, HEAPS * ALL);
	return is_open;
}

/* A child is alone with a copy. */
void alloc_on_child(void)
{
	for (size_t i = 0; i < HEAPS; i++)
		atomic_flag_clear(&heaps[i].lock);
}

static void lock(struct heap *h)
{
	while (atomic_flag_test_and_set(&h->lock))
		syscall(SYS_sched_yield);
}

static void unlock(struct heap *h)
{
	atomic_flag_clear(&h->lock);
}

static bool is_ours(const void *p)
{
	return (uintptr_t)p - BASE < HEAPS * ALL;
}

static struct heap *heap_of(const void *p)
{
	return &heaps[((uintptr_t)p - BASE) / ALL];
}

/* Whether a new block is to come from here, if it is for that caller. */
static bool is_wanted(const void *caller)
{
	uintptr_t at = (uintptr_t)caller;

	return is_open && link_is_timed() && !call_mine()->is_asking &&
	       at - linker >= linker_end - linker;
}

#define IS_WANTED() is_wanted(__builtin_return_address(0))

/* --- classes --- */

/* The class for so many bytes, which become those of the class. */
static uint32_t class_of(size_t *bytes)
{
	size_t size = SMALL;
	uint32_t class = SMALL / ALIGN;

	if (*bytes <= SMALL) {
		*bytes = (*bytes + ALIGN - 1) / ALIGN * ALIGN;
		return (uint32_t)(*bytes / ALIGN);
	}
	while (2 * size < *bytes) {
		size *= 2;
		class += STEPS;
	}
	for (size_t step = size / STEPS; size < *bytes; size += step)
		class ++;
	*bytes = size;
	return class;
}

/* --- blocks --- */

/* A core file with all of a heap would seem to be larger than any disk. */
static void dump(struct heap *h)
{
	size_t more = (h->next - h->dumped + CHUNK - 1) / CHUNK * CHUNK;

	if (h->next <= h->dumped)
		return;
	if (more > h->end - h->dumped)
		more = h->end - h->dumped;
	madvise((void *)h->dumped, more, MADV_DODUMP);
	h->dumped += more;
}

static void *new_block(struct heap *h, size_t bytes)
{
	uintptr_t at = h->next;

	if (bytes >= LARGE)
		at = (at + PAGE - 1) / PAGE * PAGE;
	if (at > h->end || bytes > h->end - at)
		return NULL;
	h->next = at + bytes;
	dump(h);
	return (void *)at;
}

/* All zeros if it was never used before. */
static void *take(size_t wanted, size_t align, bool *is_new)
{
	size_t bytes = wanted + sizeof(struct head) + align - ALIGN;
	uint32_t class = class_of(&bytes);
	struct heap *h = &heaps[call_mine()->is_setup];
	uintptr_t block, at;

	lock(h);
	*is_new = !h->unused[class];
	block = (uintptr_t)h->unused[class];
	if (block)
		h->unused[class] = h->unused[class]->next;
	else
		block = (uintptr_t)new_block(h, bytes);
	unlock(h);
	if (!block)
		return NULL;
	at = (block + sizeof(struct head) + align - 1) / align * align;
	*((struct head *)at - 1) = (struct head){
		.class = class,
		.back = (uint32_t)(at - block),
		.bytes = block + bytes - at,
	};
	return (void *)at;
}

static void give_back(void *p)
{
	struct head h = *((struct head *)p - 1);
	struct block *b = (struct block *)((char *)p - h.back);
	size_t bytes = h.back + h.bytes;
	struct heap *heap = heap_of(p);

	if (bytes >= LARGE)
		madvise((char *)b + PAGE, bytes - PAGE, MADV_DONTNEED);
	if (!link_is_timed())
		return;
	lock(heap);
	b->next = heap->unused[h.class];
	heap->unused[h.class] = b;
	unlock(heap);
}

/* NULL if there is none, and errno says so. */
static void *get(size_t bytes, size_t align, bool is_zero)
{
	bool is_new;
	void *p =
		bytes < ALL && align < ALL ? take(bytes, align, &is_new) : NULL;

	if (!p)
		errno = ENOMEM;
	else if (is_zero && !is_new)
		memset(p, 0, bytes);
	return p;
}

/* --- the names --- */

static void *get_aligned(size_t align, size_t bytes)
{
	if (!is_open || !link_is_timed() || call_mine()->is_asking)
		return __libc_memalign(align, bytes);
	if (align & (align - 1)) {
		errno = EINVAL;
		return NULL;
	}
	return get(bytes, align < ALIGN ? ALIGN : align, false);
}

INSIDE_EXPORT void *malloc(size_t bytes)
{
	return IS_WANTED() ? get(bytes, ALIGN, false) : __libc_malloc(bytes);
}

INSIDE_EXPORT void free(void *p)
{
	int saved = errno;

	if (is_ours(p))
		give_back(p);
	else
		__libc_free(p);
	errno = saved;
}

INSIDE_EXPORT void *calloc(size_t n, size_t each)
{
	size_t bytes;

	if (!IS_WANTED())
		return __libc_calloc(n, each);
	if (__builtin_mul_overflow(n, each, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return get(bytes, ALIGN, true);
}

INSIDE_EXPORT size_t malloc_usable_size(void *p)
{
	static size_t (*real)(void *);

	if (is_ours(p))
		return ((struct head *)p - 1)->bytes;
	if (!real)
		call_next(&real, "malloc_usable_size");
	return real(p);
}

/* Blocks of the C library move here when they are next looked at. */
INSIDE_EXPORT void *realloc(void *p, size_t bytes)
{
	size_t old;
	void *new;

	if (!IS_WANTED() && !is_ours(p))
		return __libc_realloc(p, bytes);
	if (bytes == 0 && p) {
		free(p);
		return NULL;
	}
	if (!p)
		return get(bytes, ALIGN, false);
	old = malloc_usable_size(p);
	if (is_ours(p) && bytes <= old && 2 * bytes >= old)
		return p;
	new = get_aligned(ALIGN, bytes);
	if (!new)
		return NULL;
	memcpy(new, p, old < bytes ? old : bytes);
	free(p);
	return new;
}

INSIDE_EXPORT void *memalign(size_t align, size_t bytes)
{
	return IS_WANTED() ? get_aligned(align, bytes)
			   : __libc_memalign(align, bytes);
}

INSIDE_EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
	return get_aligned(align, bytes);
}

INSIDE_EXPORT int posix_memalign(void **to, size_t align, size_t bytes)
{
	void *p;

	if (align < sizeof(void *) || align & (align - 1))
		return EINVAL;
	p = get_aligned(align, bytes);
	if (p)
		*to = p;
	return p ? 0 : ENOMEM;
}

INSIDE_EXPORT void *valloc(size_t bytes)
{
	return get_aligned(PAGE, bytes);
}

INSIDE_EXPORT void *pvalloc(size_t bytes)
{
	return get_aligned(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
}
