/*
 * Who a rank is, under the names that programs ask by: its host is a node of
 * the simulated machine.  While a rank runs, its processors and its random
 * numbers are the same each time, too.
 */
#define _GNU_SOURCE /* getrandom(), sched_getcpu() */
#include "inside/rank.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

static char host[32]; /* empty: the real one */
static pid_t rank = -1; /* none */
static _Atomic uint64_t n_random;

__attribute__((constructor)) static void begin(void)
{
	const char *node = getenv("WEFT_NODE");
	const char *number = getenv("WEFT_RANK");

	if (node && getenv("WEFT_CHANNEL"))
		snprintf(host, sizeof(host), "node%d", atoi(node));
	if (number && getenv("WEFT_CHANNEL"))
		rank = atoi(number);
}

static bool has_host(void)
{
	return host[0] && link_is_timed();
}

bool self_is_fixed(void)
{
	return link_phase() == LINK_RUNS && link_is_timed();
}

/* --- the host --- */

INSIDE_EXPORT int gethostname(char *name, size_t bytes)
{
	int (*real)(char *, size_t);

	if (!has_host()) {
		call_next(&real, "gethostname");
		return real(name, bytes);
	}
	if (strlen(host) >= bytes) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(name, host);
	return 0;
}

INSIDE_EXPORT int uname(struct utsname *u)
{
	int (*real)(struct utsname *);
	int error;

	call_next(&real, "uname");
	error = real(u);
	if (!error && has_host())
		strcpy(u->nodename, host);
	return error;
}

/* --- processors: one, as if the others were other ranks' --- */

INSIDE_EXPORT long sysconf(int name)
{
	static long (*real)(int);

	if (!real)
		call_next(&real, "sysconf");
	if (self_is_fixed() &&
		(name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF))
		return 1;
	return real(name);
}

INSIDE_EXPORT int get_nprocs(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

INSIDE_EXPORT int get_nprocs_conf(void)
{
	return (int)sysconf(_SC_NPROCESSORS_CONF);
}

INSIDE_EXPORT int sched_getcpu(void)
{
	static int (*real)(void);

	if (!real)
		call_next(&real, "sched_getcpu");
	return self_is_fixed() ? (int)weft_link_open()->process : real();
}

INSIDE_EXPORT int getcpu(unsigned *cpu, unsigned *node)
{
	static int (*real)(unsigned *, unsigned *);

	if (!real)
		call_next(&real, "getcpu");
	if (!self_is_fixed())
		return real(cpu, node);
	if (cpu)
		*cpu = weft_link_open()->process;
	if (node)
		*node = 0;
	return 0;
}

/* Of the rank itself: its one processor. */
INSIDE_EXPORT int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *to)
{
	static int (*real)(pid_t, size_t, cpu_set_t *);

	if (!real)
		call_next(&real, "sched_getaffinity");
	if (!self_is_fixed() || (pid != 0 && !numbers_is_own(pid)) ||
		bytes < sizeof(*to)) {
		pid = numbers_real(pid);
		return pid == NUMBERS_NOBODY ? -1 : real(pid, bytes, to);
	}
	memset(to, 0, bytes);
	CPU_SET(weft_link_open()->process, to);
	return 0;
}

/* --- random numbers: the seed's, one sequence a rank --- */

bool self_has_random(void)
{
	return rank >= 0 && link_is_timed() && !call_mine()->is_setup &&
	       link_phase() != LINK_AFTER;
}

/* Before MPI_Init() there is no channel to ask for a seed. */
static uint64_t next_random(void)
{
	uint64_t x = (uint64_t)rank * UINT64_C(0x9e3779b97f4a7c15);

	if (link_phase() == LINK_RUNS)
		x += weft_link_open()->seed;

	x += ++n_random * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

void self_random(unsigned char *to, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
		uint64_t x = next_random();
		size_t left = bytes - i;

		memcpy(to + i, &x, left < sizeof(x) ? left : sizeof(x));
	}
}

INSIDE_EXPORT ssize_t getrandom(void *to, size_t bytes, unsigned flags)
{
	static ssize_t (*real)(void *, size_t, unsigned);

	if (!real)
		call_next(&real, "getrandom");
	if (!self_has_random())
		return real(to, bytes, flags);
	self_random(to, bytes);
	return (ssize_t)bytes;
}

INSIDE_EXPORT int getentropy(void *to, size_t bytes)
{
	static int (*real)(void *, size_t);

	if (!real)
		call_next(&real, "getentropy");
	if (!self_has_random())
		return real(to, bytes);
	self_random(to, bytes);
	return 0;
}

/* The C library's own, from 2.36 on, asks the kernel by itself. */
INSIDE_EXPORT void arc4random_buf(void *to, size_t bytes)
{
	static void (*real)(void *, size_t);

	if (!real)
		call_next(&real, "arc4random_buf");
	if (self_has_random() || !real)
		self_random(to, bytes);
	else
		real(to, bytes);
}

INSIDE_EXPORT uint32_t arc4random(void)
{
	uint32_t x;

	arc4random_buf(&x, sizeof(x));
	return x;
}

/* Without those that would make some numbers likelier than others. */
INSIDE_EXPORT uint32_t arc4random_uniform(uint32_t n)
{
	uint32_t least = n > 0 ? -n % n : 0, x = arc4random();

	while (n > 0 && x < least)
		x = arc4random();
	return n > 0 ? x % n : 0;
}
