/*
 * To be preloaded: the CHAOS_FAIL-th allocation fails, with a plus behind the
 * number also all that follow.  How many there were is written to the file
 * descriptor CHAOS_COUNT.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

static atomic_long count;
static long fail;
static bool fails_on;

__attribute__((constructor)) static void begin(void)
{
	const char *s = getenv("CHAOS_FAIL");

	fail = s ? atol(s) : 0;
	fails_on = s && strchr(s, '+');
	atomic_store(&count, 0);
}

__attribute__((destructor)) static void end(void)
{
	const char *s = getenv("CHAOS_COUNT");
	char text[32];
	int n = snprintf(text, sizeof(text), "%ld", atomic_load(&count));

	if (s && atoi(s) >= 0 && write(atoi(s), text, (size_t)n) != n)
		_exit(125);
}

static bool fails(void)
{
	long n = atomic_fetch_add(&count, 1) + 1;

	if (!fail || n < fail || (n > fail && !fails_on))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails() ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
	return fails() ? NULL : __libc_memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
	if (fails())
		return ENOMEM;
	*p = __libc_memalign(align, n);
	return *p ? 0 : ENOMEM;
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	if (fails())
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, at, n, prot, flags, fd, offset);
}
