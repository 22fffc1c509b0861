#define _GNU_SOURCE
#include "outside/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "outside/channel.h"
#include "outside/late.h"

enum {
	DEPTH = 6, /* of children of children */
	MOST_CHILDREN = 64,
	PS_PER_NS = 1000,
};

/* --- files of /proc --- */

/* "" if it cannot be read. */
static void read_file(const char *path, char *text, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? 0 : read(file, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	if (file >= 0)
		close(file);
}

/* 'S', 'R', 'T', 'D', ...; '?': unknown. */
static char state_of(pid_t pid, const char *thread)
{
	char path[64], text[512];
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stat", (int)pid,
		thread);
	read_file(path, text, sizeof(text));
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : '?';
}

static int tracer_of(pid_t pid)
{
	char path[64], text[2048];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	read_file(path, text, sizeof(text));
	at = strstr(text, "TracerPid:");
	return at ? atoi(at + strlen("TracerPid:")) : 0;
}

/* --- system calls --- */

/* The call that a process sleeps in. */
struct call {
	long number; /* -1: none, or unknown */
	uint64_t args[6], at; /* at: address of the next instruction */
};

/* The first thread runs main(): others belong to libraries, and always wait for
 * a socket or a pipe. */
static struct call call_of(pid_t pid)
{
	struct call c = { .number = -1 };
	char path[64], text[512];
	int n;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	read_file(path, text, sizeof(text));
	n = sscanf(text,
		"%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		" %" SCNx64 " %*x %" SCNx64,
		&c.number, &c.args[0], &c.args[1], &c.args[2], &c.args[3],
		&c.args[4], &c.args[5], &c.at);
	if (n != 8)
		c.number = -1;
	return c;
}

static bool is_one_of(long number, const long *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (number == list[i])
			return true;
	return false;
}

/* Without a descriptor, these calls only sleep. */
static bool polls(const struct call *c)
{
	switch (c->number) {
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
		return c->args[1] > 0;
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		return c->args[0] > 0;
	default:
		return false;
	}
}

static bool is_io(const struct call *c)
{
	static const long io[] = {
		SYS_read,
		SYS_readv,
		SYS_pread64,
		SYS_preadv,
		SYS_write,
		SYS_writev,
		SYS_pwrite64,
		SYS_pwritev,
		SYS_recvfrom,
		SYS_recvmsg,
		SYS_sendto,
		SYS_sendmsg,
		SYS_accept,
		SYS_accept4,
		SYS_connect,
		SYS_fsync,
		SYS_fdatasync,
		SYS_flock,
		SYS_fcntl,
		SYS_ioctl,
		SYS_openat,
		SYS_sendfile,
		SYS_splice,
		SYS_epoll_pwait,
#ifdef SYS_open
		SYS_open,
#endif
#ifdef SYS_epoll_wait
		SYS_epoll_wait,
#endif
	};

	return is_one_of(c->number, io, sizeof(io) / sizeof(io[0])) || polls(c);
}

static bool waits_for_child(const struct call *c)
{
	static const long waits[] = { SYS_wait4, SYS_waitid,
		SYS_rt_sigsuspend };

	return is_one_of(c->number, waits, sizeof(waits) / sizeof(waits[0]));
}

/* --- children --- */

struct children {
	pid_t pid[MOST_CHILDREN];
	uint32_t n;
};

static void add_children(pid_t pid, const char *thread, struct children *c)
{
	char path[80], text[1024], *at = text, *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", (int)pid,
		thread);
	read_file(path, text, sizeof(text));
	while (c->n < MOST_CHILDREN) {
		long child = strtol(at, &end, 10);

		if (end == at)
			break;
		c->pid[c->n++] = (pid_t)child;
		at = end;
	}
}

/* Includes the state of threads. */
static void look_at_threads(
	pid_t pid, struct children *c, struct process_state *s)
{
	char path[64], state;
	struct dirent *d;
	DIR *all;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	all = opendir(path);
	while (all && (d = readdir(all))) {
		if (d->d_name[0] == '.')
			continue;
		add_children(pid, d->d_name, c);
		state = state_of(pid, d->d_name);
		s->is_runnable |= state == 'R';
		s->waits_for_io |= state == 'D'; /* for a disk */
	}
	if (all)
		closedir(all);
}

/* --- looks --- */

/* A forked child that calls MPI has a name that says so. */
static bool is_in_mpi(pid_t pid)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	read_file(path, text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	return !strcmp(text, CHANNEL_FORKED);
}

int64_t process_cpu(pid_t pid)
{
	return late_cpu(pid) / PS_PER_NS;
}

bool process_is_runnable(pid_t pid)
{
	struct process_state s = { 0 };
	struct children c = { .n = 0 };

	look_at_threads(pid, &c, &s);
	return s.is_runnable;
}

static struct process_state look(pid_t pid, int depth)
{
	struct process_state s = { .cpu = process_cpu(pid) };
	struct call call = call_of(pid);
	struct children c = { .n = 0 };

	if (is_in_mpi(pid))
		return (struct process_state){ 0 };
	s.is_traced = tracer_of(pid) > 0;
	s.waits_for_io = is_io(&call);
	look_at_threads(pid, &c, &s);
	for (uint32_t i = 0; i < c.n && depth < DEPTH; i++) {
		struct process_state child = look(c.pid[i], depth + 1);

		s.cpu += child.cpu;
		s.is_traced |= child.is_traced;
		s.is_runnable |= child.is_runnable;
		s.waits_for_io |= child.waits_for_io && waits_for_child(&call);
	}
	return s;
}

struct process_state process_state(pid_t pid)
{
	return look(pid, 0);
}

bool process_has_files(pid_t pid)
{
	char path[64];
	struct dirent *d;
	bool has = false;
	DIR *all;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	all = opendir(path);
	if (!all)
		return true;
	while (!has && (d = readdir(all)))
		has = atoi(d->d_name) > STDERR_FILENO;
	closedir(all);
	return has;
}

static void describe(pid_t pid, int depth, char *text, size_t size);

static void describe_child(pid_t pid, int depth, char *text, size_t size)
{
	int n = snprintf(text, size, "waits for process %d, which ", (int)pid);

	if (n > 0 && (size_t)n < size)
		describe(pid, depth + 1, text + n, size - (size_t)n);
}

static void describe(pid_t pid, int depth, char *text, size_t size)
{
	struct call call = call_of(pid);
	struct children c = { .n = 0 };
	char thread[16], where[300];
	struct process_state s = { 0 };

	snprintf(thread, sizeof(thread), "%d", (int)pid);
	look_at_threads(pid, &c, &s);
	late_name(pid, call.number < 0 ? 0 : call.at, where, sizeof(where));
	if (state_of(pid, thread) == 'T')
		snprintf(text, size, "is stopped by a signal");
	else if (is_in_mpi(pid))
		snprintf(text, size,
			"it has forked and which calls MPI: only "
			"the rank itself can");
	else if (waits_for_child(&call) && c.n && depth < DEPTH)
		describe_child(c.pid[0], depth, text, size);
	else if (s.waits_for_io || is_io(&call))
		snprintf(text, size, "waits for input or output in %s", where);
	else if (call.number >= 0)
		snprintf(text, size, "sleeps in %s", where);
	else
		snprintf(text, size, "does not call MPI");
}

void process_describe(pid_t pid, char *text, size_t size)
{
	describe(pid, 0, text, size);
}
