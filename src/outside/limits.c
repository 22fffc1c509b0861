#define _GNU_SOURCE
#include "outside/limits.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "outside/channel.h"

enum {
	FILES_EACH = 5, /* a channel, and two pipes with both of their ends */
	FILES_ELSE = 64,
	TASKS_EACH = 3, /* a rank, and two threads of its MPI library */
	TASKS_ELSE = 6, /* the helper, its threads, and two of its namespace */
};

/* Of a process with Open MPI, as measured: for each rank that it talks to,
 * libpmix and Open MPI keep something. */
#define RANK_BYTES (UINT64_C(3) << 20)
#define PEER_BYTES UINT64_C(2500)

uint64_t limits_memory(uint32_t n_ranks)
{
	uint64_t each = RANK_BYTES + n_ranks * PEER_BYTES + CHANNEL_BYTES;

	return n_ranks * each;
}

static uint64_t files_needed(uint32_t n_ranks)
{
	return (uint64_t)n_ranks * FILES_EACH + FILES_ELSE;
}

static int check_files(uint32_t n_ranks, struct err *e)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_max >= files_needed(n_ranks))
		return 0;
	return err_set_code(e, EXIT_LIMIT,
		"%u ranks need %llu open files, but this process may have only "
		"%llu (ulimit -Hn)",
		n_ranks, (unsigned long long)files_needed(n_ranks),
		(unsigned long long)l.rlim_max);
}

void limits_raise(uint32_t n_ranks, struct rlimit *before)
{
	struct rlimit l;

	getrlimit(RLIMIT_NOFILE, &l);
	*before = l;
	if (l.rlim_cur >= files_needed(n_ranks))
		return;
	l.rlim_cur = files_needed(n_ranks);
	if (l.rlim_cur > l.rlim_max)
		l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
}

/* --- processes --- */

/* Threads of a process, if it is this user's. */
static uint64_t tasks_of(const char *process)
{
	char path[64], line[128];
	unsigned long long n = 0;
	unsigned uid = UINT_MAX;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%.20s/status", process);
	in = fopen(path, "re");
	while (in && !n && fgets(line, sizeof(line), in)) {
		sscanf(line, "Uid: %u", &uid);
		sscanf(line, "Threads: %llu", &n);
	}
	if (in)
		fclose(in);
	return uid == getuid() ? n : 0;
}

static uint64_t tasks_of_user(void)
{
	DIR *all = opendir("/proc");
	struct dirent *d;
	uint64_t n = 0;

	while (all && (d = readdir(all)))
		if (isdigit((unsigned char)d->d_name[0]))
			n += tasks_of(d->d_name);
	if (all)
		closedir(all);
	return n;
}

static int refuse_tasks(uint32_t n_ranks, uint64_t most, uint64_t used,
	const char *which, struct err *e)
{
	return err_set_code(e, EXIT_LIMIT,
		"%u ranks need about %llu processes and threads, but only %llu "
		"are left of %llu (%s)",
		n_ranks, (unsigned long long)n_ranks * TASKS_EACH + TASKS_ELSE,
		(unsigned long long)(used < most ? most - used : 0),
		(unsigned long long)most, which);
}

static bool has_tasks(uint32_t n_ranks, uint64_t most, uint64_t used)
{
	return used + (uint64_t)n_ranks * TASKS_EACH + TASKS_ELSE <= most;
}

/* The limit does not hold for the superuser. */
static int check_user(uint32_t n_ranks, struct err *e)
{
	struct rlimit l;
	uint64_t used;

	if (!geteuid() || getrlimit(RLIMIT_NPROC, &l) ||
		l.rlim_cur == RLIM_INFINITY)
		return 0;
	used = tasks_of_user();
	return has_tasks(n_ranks, l.rlim_cur, used)
		       ? 0
		       : refuse_tasks(
				 n_ranks, l.rlim_cur, used, "ulimit -u", e);
}

/* A number in a file; 0 if there is none, as for "max". */
static uint64_t read_number(const char *folder, const char *name)
{
	char path[PATH_MAX];
	unsigned long long n = 0;
	FILE *in;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >=
		sizeof(path))
		return 0;
	in = fopen(path, "re");
	if (in && fscanf(in, "%llu", &n) != 1)
		n = 0;
	if (in)
		fclose(in);
	return n;
}

/* The folder of this process's control group; false if there is none. */
static bool find_group(char *path, size_t size)
{
	FILE *in = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];
	bool is_found = false;

	while (in && !is_found && fgets(line, sizeof(line), in)) {
		is_found = !strncmp(line, "0::", 3);
		line[strcspn(line, "\n")] = '\0';
	}
	if (in)
		fclose(in);
	return is_found && (size_t)snprintf(path, size, "/sys/fs/cgroup%s",
				   line + 3) < size;
}

/* A group and all that it is part of. */
static int check_groups(uint32_t n_ranks, struct err *e)
{
	size_t top = strlen("/sys/fs/cgroup");
	char path[PATH_MAX], *slash;
	uint64_t most, used;

	if (!find_group(path, sizeof(path)))
		return 0;
	while ((slash = strrchr(path, '/')) && strlen(path) > top) {
		most = read_number(path, "pids.max");
		used = read_number(path, "pids.current");
		if (most && !has_tasks(n_ranks, most, used))
			return refuse_tasks(n_ranks, most, used,
				"pids.max of the control group", e);
		*slash = '\0';
	}
	return 0;
}

static int check_memory(uint32_t n_ranks, struct err *e)
{
	uint64_t need = limits_memory(n_ranks), have = mem_available();

	if (need <= have)
		return 0;
	return err_set_code(e, EXIT_LIMIT,
		"%u ranks need about %.1f GiB of memory as processes, but only "
		"%.1f GiB is free",
		n_ranks, (double)need / (1 << 30), (double)have / (1 << 30));
}

int limits_check(uint32_t n_ranks, struct err *e)
{
	return check_memory(n_ranks, e) || check_files(n_ranks, e) ||
			       check_user(n_ranks, e) ||
			       check_groups(n_ranks, e)
		       ? -1
		       : 0;
}
