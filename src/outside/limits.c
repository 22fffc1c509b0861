#include "outside/limits.h"

#include <stdio.h>
#include <string.h>

#include "outside/channel.h"

enum {
	/* until ranks have begun: a channel, and both ends of two pipes */
	FILES_OF_RANK = 5,
	FILES_OF_RUN = 64,
	/* Open MPI and PMIx each have a thread of their own, and PMIx's server
	 * one for all */
	THREADS_OF_RANK = 4,
};

/* Of a process with Open MPI, as measured; libpmix keeps what it knows of each
 * other rank. */
#define RANK_BYTES (UINT64_C(7) << 19)
#define PEER_BYTES UINT64_C(3700)

uint64_t limits_memory(uint32_t n_ranks)
{
	uint64_t each = RANK_BYTES + n_ranks * PEER_BYTES + CHANNEL_BYTES;

	return n_ranks * each;
}

static rlim_t files_of(uint32_t n_ranks)
{
	return (rlim_t)n_ranks * FILES_OF_RANK + FILES_OF_RUN;
}

static int check_files(uint32_t n_ranks, struct err *e)
{
	struct rlimit have;

	if (getrlimit(RLIMIT_NOFILE, &have) < 0 ||
		have.rlim_max == RLIM_INFINITY ||
		have.rlim_max >= files_of(n_ranks))
		return 0;
	return err_set_code(e, EXIT_LIMIT,
		"%u ranks need %llu open files, but a process may have only "
		"%llu (see ulimit -Hn)",
		n_ranks, (unsigned long long)files_of(n_ranks),
		(unsigned long long)have.rlim_max);
}

/* UINT64_MAX where a file holds no number, as "max". */
static uint64_t number_in(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned long long n = 0;
	bool has_number = f && fscanf(f, "%llu", &n) == 1;

	if (f)
		fclose(f);
	return has_number ? n : UINT64_MAX;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Processes and threads that the host has room for, more or less. */
static uint64_t most_threads(void)
{
	uint64_t n = number_in("/proc/sys/kernel/pid_max");
	struct rlimit have;

	n = smaller(n, number_in("/proc/sys/kernel/threads-max"));
	n = smaller(n, number_in("/sys/fs/cgroup/pids.max"));
	if (!getrlimit(RLIMIT_NPROC, &have) && have.rlim_cur != RLIM_INFINITY)
		n = smaller(n, have.rlim_cur);
	return n;
}

static int check_threads(uint32_t n_ranks, struct err *e)
{
	uint64_t need = (uint64_t)n_ranks * THREADS_OF_RANK;
	uint64_t have = most_threads();

	if (need <= have)
		return 0;
	return err_set_code(e, EXIT_LIMIT,
		"%u ranks need about %llu processes and threads, but this host "
		"allows only %llu (see ulimit -u and kernel.pid_max)",
		n_ranks, (unsigned long long)need, (unsigned long long)have);
}

int limits_check(uint32_t n_ranks, struct err *e)
{
	return check_files(n_ranks, e) || check_threads(n_ranks, e) ? -1 : 0;
}

void limits_raise(uint32_t n_ranks, struct rlimit *before)
{
	struct rlimit more;

	if (getrlimit(RLIMIT_NOFILE, before) < 0)
		return;
	more = *before;
	if (more.rlim_cur != RLIM_INFINITY && more.rlim_cur < files_of(n_ranks))
		more.rlim_cur = files_of(n_ranks);
	setrlimit(RLIMIT_NOFILE, &more);
}
