/*
 * A PID namespace for the ranks.  Rank r is process 1000 + r there, and the
 * helper, their parent, is process 999: every system call that names a process
 * reaches one of the job or none.  The process that weft has started stays
 * outside as a guard.  When it ends, the kernel kills the namespace's first
 * process, and with it all others.
 *
 *   weft - guard - init (1) - helper (999) - rank r (1000 + r)
 *
 * An ordinary user needs a user namespace for that.  Only the user's own number
 * and group are mapped, and ranks have no capability in it.
 */
#define _GNU_SOURCE
#include "inside/start.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	LAST_CAPABILITY = 63,
	GRACE = 5, /* s that the helper has to end when weft is gone */
	SLICE = 100, /* ms between tests of whether weft is gone */
	KILLED = 128, /* plus a signal: exit code of a helper that died */
};

/* fork() into namespaces, with this process number unless it is 0.  The C
 * library does not know of the child, so the child must not use the library's
 * threads. */
static pid_t make_process(uint64_t flags, pid_t number, int *pidfd)
{
	struct clone_args a = { .flags = flags | (pidfd ? CLONE_PIDFD : 0),
		.pidfd = (uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
		.set_tid = number ? (uintptr_t)&number : 0,
		.set_tid_size = number ? 1 : 0 };

	return (pid_t)syscall(SYS_clone3, &a, sizeof(a));
}

static bool write_file(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);
	bool is_good = file >= 0 && write(file, text, n) == (ssize_t)n;

	if (file >= 0)
		close(file);
	return is_good;
}

static bool write_number(const char *path, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	return write_file(path, text);
}

/* --- the first process --- */

/* The kernel lets ordinary users map their group only without setgroups(). */
static bool map_user(uid_t user, gid_t group)
{
	char users[64], groups[64];

	snprintf(users, sizeof(users), "%u %u 1", user, user);
	snprintf(groups, sizeof(groups), "%u %u 1", group, group);
	return write_file("/proc/self/setgroups", "deny") &&
	       write_file("/proc/self/gid_map", groups) &&
	       write_file("/proc/self/uid_map", users);
}

/* Sets the number of the next process or thread. */
static bool set_next(uint32_t number)
{
	return write_number("/proc/sys/kernel/ns_last_pid", number - 1);
}

/* Threads and children get numbers above those of all ranks. */
static bool set_first_of_others(uint32_t n_ranks)
{
	return set_next(CHANNEL_FIRST_PID + n_ranks + 1);
}

/* /proc shows the namespace's processes.  The next process is the helper. */
static bool prepare(uint32_t n_ranks)
{
	return mount("none", "/", NULL, MS_SLAVE | MS_REC, NULL) == 0 &&
	       mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		       NULL) == 0 &&
	       set_first_of_others(n_ranks) && set_next(CHANNEL_PARENT_PID) &&
	       close_range(~0U, ~0U, 0) == 0;
}

/* The namespace ends with this process. */
static _Noreturn void reap_until(pid_t helper)
{
	int status = 0;
	pid_t pid;

	do
		pid = wait(&status);
	while (pid != helper && (pid > 0 || errno == EINTR));
	_exit(WIFEXITED(status) ? WEXITSTATUS(status)
				: KILLED + WTERMSIG(status));
}

/* Returns in the helper only. */
static void become_init(uint32_t n_ranks, const struct isolation *x, int told)
{
	pid_t helper;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if ((x->has_user && !map_user(x->user, x->group)) || !prepare(n_ranks))
		_exit(1);
	helper = fork();
	if (helper == 0 && !set_first_of_others(n_ranks))
		_exit(1);
	if (helper == 0)
		return;
	/* fails if the guard died before PR_SET_PDEATHSIG */
	if (helper != CHANNEL_PARENT_PID || write(told, "", 1) != 1)
		_exit(1);
	close_range(0, ~0U, 0);
	reap_until(helper);
}

/* --- the guard --- */

/* The helper ends when weft is gone; the guard kills a helper that hangs. */
static _Noreturn void guard(pid_t init, pid_t parent, const char *folder)
{
	const struct timespec slice = { .tv_nsec = SLICE * 1000000L };
	int status, patience = GRACE * 1000 / SLICE;
	sigset_t signals;

	close_range(0, ~0U, 0);
	sigfillset(&signals);
	sigdelset(&signals, SIGTSTP);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	while (waitpid(init, &status, WNOHANG) == 0) {
		bool is_alone = getppid() != parent;

		if (is_alone && patience-- == 0)
			kill(init, SIGKILL);
		sigtimedwait(&signals, NULL, is_alone ? &slice : NULL);
	}
	clean_folder(folder);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status)
				: KILLED + WTERMSIG(status));
}

/* --- both --- */

static pid_t make_init(struct isolation *x)
{
	pid_t init = make_process(CLONE_NEWPID | CLONE_NEWNS, 0, NULL);

	/* root would lose its capabilities in a user namespace */
	x->has_user = init < 0 && x->user != 0;
	if (x->has_user)
		init = make_process(
			CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUSER, 0, NULL);
	return init;
}

/* Whether the namespace is there: false if its first process has given up. */
static bool await_init(pid_t init, int told)
{
	char byte;

	if (read(told, &byte, 1) == 1)
		return true;
	waitpid(init, NULL, 0);
	return false;
}

bool isolate(struct start *s, pid_t parent)
{
	struct isolation *x = &s->isolation;
	int told[2] = { -1, -1 };
	pid_t init;

	x->user = geteuid();
	x->group = getegid();
	x->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (x->proc < 0 || pipe2(told, O_CLOEXEC) < 0)
		return false;
	init = make_init(x);
	if (init == 0) {
		close(told[0]);
		become_init(s->n_ranks, x, told[1]);
		x->is_on = true;
	}
	close(told[1]);
	if (init > 0 && await_init(init, told[0]))
		guard(init, parent, s->scratch);
	if (init)
		close(told[0]);
	return x->is_on;
}

/* --- ranks --- */

/* The number of a process on the host, which the host's /proc knows. */
static pid_t number_on_host(const struct isolation *x, int pidfd)
{
	char path[64], text[512];
	ssize_t n = -1;
	const char *at;
	int file;

	snprintf(path, sizeof(path), "self/fdinfo/%d", pidfd);
	file = openat(x->proc, path, O_RDONLY | O_CLOEXEC);
	if (file >= 0) {
		n = read(file, text, sizeof(text) - 1);
		close(file);
	}
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "Pid:");
	return at ? (pid_t)atoi(at + 4) : 0;
}

pid_t isolate_fork(const struct isolation *x, uint32_t rank, pid_t *on_host)
{
	pid_t pid, number = (pid_t)(CHANNEL_FIRST_PID + rank);
	int pidfd = -1;

	if (!x->is_on) {
		*on_host = pid = fork();
		return pid;
	}
	pid = make_process(CLONE_NEWUTS, number, &pidfd);
	if (pid < 0) /* the host limits their number */
		pid = make_process(0, number, &pidfd);
	if (pid > 0) {
		*on_host = number_on_host(x, pidfd);
		close(pidfd);
	}
	return pid;
}

/* A rank is in the table before its program begins. */
void isolate_rank(const struct start *s, uint32_t rank)
{
	const struct isolation *x = &s->isolation;
	char name[32];
	int n;

	if (x->numbers)
		x->numbers[1 + rank] = getpid();
	if (!x->is_on)
		return;
	n = snprintf(name, sizeof(name), "node%u", s->rank[rank].node);
	if (sethostname(name, (size_t)n) < 0)
		errno = 0; /* gethostname() returns the name in any case */
	for (unsigned long i = 0; x->has_user && i <= LAST_CAPABILITY; i++)
		prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
}

void isolate_forget(struct isolation *x, uint32_t rank)
{
	if (x->numbers)
		x->numbers[1 + rank] = 0;
}

/* --- without namespaces --- */

bool isolate_open_table(struct start *s)
{
	struct isolation *x = &s->isolation;
	size_t bytes = (1 + (size_t)s->n_ranks) * sizeof(*x->numbers);

	x->file = memfd_create("weft-numbers", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (x->file < 0 || ftruncate(x->file, (off_t)bytes) < 0)
		return false;
	x->numbers = mmap(
		NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, x->file, 0);
	if (x->numbers == MAP_FAILED)
		return false;
	x->numbers[0] = getpid();
	/* read-only for ranks, if the kernel supports that */
	fcntl(x->file, F_ADD_SEALS,
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE);
	return true;
}
