#define _GNU_SOURCE
#include "base/mem.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

void mem_give_up(void)
{
	err_last_words("out of memory");
	_Exit(EXIT_LIMIT);
}

static _Noreturn void out_of_memory(size_t n, size_t size)
{
	char text[160];
	struct rlimit limit;
	int length = snprintf(
		text, sizeof(text), "out of memory (%zu x %zu bytes)", n, size);

	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
		snprintf(text + length, sizeof(text) - (size_t)length,
			"; this shell allows %llu KiB of address space, used "
			"or not: raise `ulimit -v`",
			(unsigned long long)limit.rlim_cur >> 10);
	err_last_words(text);
	_Exit(EXIT_LIMIT);
}

void *mem_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		out_of_memory(n, size);
	return p;
}

void *mem_grow(void *old, size_t n, size_t size)
{
	void *p;

	if (size && n > SIZE_MAX / size)
		out_of_memory(n, size);
	p = realloc(old, n * size);
	if (!p)
		out_of_memory(n, size);
	return p;
}

void *mem_more(void *p, size_t n, size_t size)
{
	return n & (n - 1) ? p : mem_grow(p, n ? 2 * n : 1, size);
}

char *mem_text(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(mem_alloc(n, 1), s, n);
}

void mem_free(void *p)
{
	free(p);
}

void *map_alloc(size_t bytes)
{
	void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		out_of_memory(1, bytes);
	return p;
}

void *map_alloc_dense(size_t bytes)
{
	void *p = map_alloc(bytes);

	/* a wish, not a need: small pages are only slower */
	(void)madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

void map_thin_out(void *p, size_t bytes)
{
	(void)madvise(p, bytes, MADV_NOHUGEPAGE);
}

void map_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes ? bytes : 1);
}

/* The figure in kB behind a word of a /proc file, in bytes; 0 if absent. */
static uint64_t proc_figure(const char *path, const char *word)
{
	char line[256];
	uint64_t kb = 0;
	FILE *f = fopen(path, "r");

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, word, strlen(word))) {
			kb = strtoull(line + strlen(word), NULL, 10);
			break;
		}
	}
	fclose(f);
	return kb * 1024;
}

uint64_t mem_available(void)
{
	uint64_t n = proc_figure("/proc/meminfo", "MemAvailable:");

	if (!n)
		n = (uint64_t)sysconf(_SC_PHYS_PAGES) *
		    (uint64_t)sysconf(_SC_PAGESIZE);
	return n;
}

uint64_t mem_resident(void)
{
	return proc_figure("/proc/self/status", "VmRSS:");
}
