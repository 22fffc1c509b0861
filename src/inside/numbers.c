/*
 * Numbers of processes in a rank that has no PID namespace.  The program knows
 * its parent as 999 and rank r as 1000 + r, and every function of the C library
 * that takes the number of a process, a thread or a group translates it.
 * Children of ranks keep the numbers that the host gives them.  All other
 * processes do not exist for the program: ESRCH.
 *
 * The table of the real numbers is a file of the helper.  Programs that a rank
 * starts load this library, too, and read the same table.
 */
#define _GNU_SOURCE /* gettid(), process_vm_readv() */
/* This file needs prlimit() and prlimit64(), not one name for the other. */
#undef _FILE_OFFSET_BITS
#include "inside/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	DEPTH = 64, /* generations between a process and the helper */
};

static const volatile int32_t *table; /* [0]: helper, [1 + rank]; or NULL */
static uint32_t n_ranks;
static pid_t own, shown; /* this process's, as it was started; or 0 */

static pid_t real_pid(void)
{
	return (pid_t)syscall(SYS_getpid);
}

/* --- the table --- */

/* What the program calls a process. */
static pid_t shown_of(pid_t real)
{
	if (!table || real <= 0)
		return real;
	if (real == table[0])
		return CHANNEL_PARENT_PID;
	for (uint32_t i = 0; i < n_ranks; i++)
		if (table[1 + i] == real)
			return CHANNEL_FIRST_PID + (pid_t)i;
	return real;
}

static bool is_listed(pid_t real)
{
	return shown_of(real) != real;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("WEFT_NUMBERS");
	int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct stat s;
	void *at = MAP_FAILED;

	if (file < 0)
		return;
	if (fstat(file, &s) == 0 && s.st_size > 0)
		at = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_SHARED, file,
			0);
	close(file);
	if (at == MAP_FAILED)
		return;
	n_ranks = (uint32_t)((size_t)s.st_size / sizeof(*table)) - 1;
	table = at;
	own = real_pid();
	shown = shown_of(own);
}

/* The parent of a process or a thread; without the C library's streams, which
 * could allocate. */
static pid_t parent_of(pid_t pid)
{
	char path[32], text[256];
	const char *at;
	ssize_t n;
	int file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	n = read(file, text, sizeof(text) - 1);
	close(file);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	return at && strlen(at) > 4 ? (pid_t)atoi(at + 4) : 0;
}

/* Whether a rank has started it, or it is a rank or one of its threads. */
static bool is_of_job(pid_t pid)
{
	for (int i = 0; pid > 1 && i < DEPTH; i++) {
		if (pid == table[0])
			return true;
		pid = parent_of(pid);
	}
	return false;
}

/* A number that a child and a rank share by chance is the number of the child.
 */
pid_t numbers_real(pid_t pid)
{
	uint32_t rank = (uint32_t)pid - CHANNEL_FIRST_PID;
	pid_t real = 0;

	if (!table || pid == 0)
		return pid;
	if (pid == shown && own)
		return own;
	if (pid > 0 && !is_listed(pid) && is_of_job(pid))
		return pid;
	if (pid == CHANNEL_PARENT_PID)
		real = table[0];
	else if (pid > 0 && rank < n_ranks)
		real = table[1 + rank];
	if (real > 0)
		return real;
	errno = ESRCH;
	return NUMBERS_NOBODY;
}

/* --- who this is --- */

INSIDE_EXPORT pid_t getpid(void)
{
	pid_t pid = real_pid();

	return table && pid == own ? shown : pid;
}

INSIDE_EXPORT pid_t getppid(void)
{
	return shown_of((pid_t)syscall(SYS_getppid));
}

INSIDE_EXPORT pid_t gettid(void)
{
	pid_t thread = (pid_t)syscall(SYS_gettid);

	return table && thread == own ? shown : thread;
}

bool numbers_is_own(pid_t pid)
{
	return pid > 0 && pid == getpid();
}

/* --- signals --- */

/* Every other rank, as in a namespace of their own. */
static int kill_all(int (*real)(pid_t, int), int number)
{
	int n = 0;

	for (uint32_t i = 0; i < n_ranks; i++)
		if (table[1 + i] > 0 && table[1 + i] != own)
			n += real(table[1 + i], number) == 0;
	if (n)
		return 0;
	errno = ESRCH;
	return -1;
}

static pid_t real_group(void)
{
	return (pid_t)syscall(SYS_getpgid, 0);
}

INSIDE_EXPORT int kill(pid_t pid, int number)
{
	static int (*real)(pid_t, int);
	bool is_group = pid < -1;
	pid_t to;

	if (!real)
		call_next(&real, "kill");
	if (pid == -1)
		return table ? kill_all(real, number) : real(pid, number);
	to = numbers_real(is_group ? -pid : pid);
	if (to == NUMBERS_NOBODY)
		return -1;
	if (to == 0 || to == (is_group ? real_group() : real_pid()))
		link_signal(number);
	return real(is_group ? -to : to, number);
}

INSIDE_EXPORT int killpg(pid_t group, int number)
{
	if (group >= 0)
		return kill(-group, number);
	errno = EINVAL;
	return -1;
}

/* The C library's raise() does not call kill(). */
INSIDE_EXPORT int raise(int number)
{
	static int (*real)(int);

	if (!real)
		call_next(&real, "raise");
	link_signal(number);
	return real(number);
}

INSIDE_EXPORT int sigqueue(pid_t pid, int number, const union sigval value)
{
	static int (*real)(pid_t, int, const union sigval);
	pid_t to = numbers_real(pid);

	if (!real)
		call_next(&real, "sigqueue");
	if (to == NUMBERS_NOBODY)
		return -1;
	if (to == real_pid())
		link_signal(number);
	return real(to, number, value);
}

INSIDE_EXPORT int tgkill(pid_t pid, pid_t thread, int number)
{
	static int (*real)(pid_t, pid_t, int);
	pid_t to = numbers_real(pid), it = numbers_real(thread);

	if (!real)
		call_next(&real, "tgkill");
	if (to == NUMBERS_NOBODY || it == NUMBERS_NOBODY)
		return -1;
	if (to == real_pid())
		link_signal(number);
	return real(to, it, number);
}

/* --- groups and sessions: their numbers are those of processes --- */

INSIDE_EXPORT pid_t getpgid(pid_t pid)
{
	pid_t to = numbers_real(pid);

	return to == NUMBERS_NOBODY ? -1
				    : shown_of((pid_t)syscall(SYS_getpgid, to));
}

INSIDE_EXPORT pid_t getpgrp(void)
{
	return getpgid(0);
}

INSIDE_EXPORT pid_t getsid(pid_t pid)
{
	pid_t to = numbers_real(pid);

	return to == NUMBERS_NOBODY ? -1
				    : shown_of((pid_t)syscall(SYS_getsid, to));
}

INSIDE_EXPORT int setpgid(pid_t pid, pid_t group)
{
	pid_t to = numbers_real(pid),
	      in = group < 0 ? group : numbers_real(group);

	if (to == NUMBERS_NOBODY || (in == NUMBERS_NOBODY && group >= 0))
		return -1;
	return (int)syscall(SYS_setpgid, to, in);
}

INSIDE_EXPORT pid_t setsid(void)
{
	return shown_of((pid_t)syscall(SYS_setsid));
}

/* Children keep their numbers; any other process is no child. */
static pid_t waited(pid_t pid)
{
	int saved = errno;
	pid_t group = pid < -1 ? numbers_real(-pid) : NUMBERS_NOBODY;

	errno = saved;
	return group > 0 ? -group : pid;
}

INSIDE_EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
	static pid_t (*real)(pid_t, int *, int);

	if (!real)
		call_next(&real, "waitpid");
	return real(waited(pid), status, options);
}

INSIDE_EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *u)
{
	static pid_t (*real)(pid_t, int *, int, struct rusage *);

	if (!real)
		call_next(&real, "wait4");
	return real(waited(pid), status, options, u);
}

INSIDE_EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	static int (*real)(idtype_t, id_t, siginfo_t *, int);

	if (!real)
		call_next(&real, "waitid");
	if (type == P_PGID && (pid_t)id > 0)
		id = (id_t)-waited(-(pid_t)id);
	return real(type, id, info, options);
}

/* --- priorities --- */

enum { WHICH_USER = 2 /* of enum __priority_which */ };

int getpriority(int which, id_t who);
int setpriority(int which, id_t who, int priority);

INSIDE_EXPORT int getpriority(int which, id_t who)
{
	static int (*real)(int, id_t);
	pid_t to = which == WHICH_USER ? (pid_t)who : numbers_real((pid_t)who);

	if (!real)
		call_next(&real, "getpriority");
	return to == NUMBERS_NOBODY && which != WHICH_USER
		       ? -1
		       : real(which, (id_t)to);
}

/* A user has processes outside of the job. */
INSIDE_EXPORT int setpriority(int which, id_t who, int priority)
{
	static int (*real)(int, id_t, int);
	pid_t to = which == WHICH_USER && table ? NUMBERS_NOBODY
						: numbers_real((pid_t)who);

	if (!real)
		call_next(&real, "setpriority");
	if (to != NUMBERS_NOBODY)
		return real(which, (id_t)to, priority);
	errno = ESRCH;
	return -1;
}

/* --- other functions whose first argument is a process --- */

#define OF_PROCESS(type, name, parameters, ...)                                \
	type name parameters;                                                  \
	INSIDE_EXPORT type name parameters                                     \
	{                                                                      \
		static type(*real) parameters;                                 \
		pid_t to = numbers_real(pid);                                  \
                                                                               \
		if (!real)                                                     \
			call_next(&real, #name);                               \
		return to == NUMBERS_NOBODY ? (type)-1                         \
					    : real(to, __VA_ARGS__);           \
	}

/* The types of the limits do not matter here. */
OF_PROCESS(int, prlimit, (pid_t pid, int what, const void *new, void *old),
	what, new, old)
OF_PROCESS(int, prlimit64, (pid_t pid, int what, const void *new, void *old),
	what, new, old)
OF_PROCESS(int, pidfd_open, (pid_t pid, unsigned flags), flags)
OF_PROCESS(int, sched_setaffinity,
	(pid_t pid, size_t bytes, const cpu_set_t *set), bytes, set)
OF_PROCESS(int, sched_setparam, (pid_t pid, const struct sched_param *p), p)
OF_PROCESS(int, sched_getparam, (pid_t pid, struct sched_param *p), p)
OF_PROCESS(int, sched_setscheduler,
	(pid_t pid, int policy, const struct sched_param *p), policy, p)
OF_PROCESS(int, sched_rr_get_interval, (pid_t pid, struct timespec *t), t)
OF_PROCESS(ssize_t, process_vm_readv,
	(pid_t pid, const struct iovec *mine, unsigned long n_mine,
		const struct iovec *its, unsigned long n, unsigned long flags),
	mine, n_mine, its, n, flags)
OF_PROCESS(ssize_t, process_vm_writev,
	(pid_t pid, const struct iovec *mine, unsigned long n_mine,
		const struct iovec *its, unsigned long n, unsigned long flags),
	mine, n_mine, its, n, flags)

INSIDE_EXPORT int sched_getscheduler(pid_t pid)
{
	static int (*real)(pid_t);
	pid_t to = numbers_real(pid);

	if (!real)
		call_next(&real, "sched_getscheduler");
	return to == NUMBERS_NOBODY ? -1 : real(to);
}
