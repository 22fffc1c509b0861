/*
 * Processes that a rank reaches by their numbers; each word is one case.  Rank
 * 0 tries, rank 1 counts the signals that it gets.  Process 700 is a
 * stranger's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRANGER = 700 };

static int rank;
static volatile sig_atomic_t n_signals;

static void on_signal(int number)
{
	(void)number;
	n_signals++;
}

static void tell(const char *what, long result)
{
	printf(" %s %s", what, result >= 0 ? "yes" : strerrorname_np(errno));
}

/* Every kind of call that names a process; none does harm to a rank. */
static void try(pid_t pid)
{
	struct rlimit core = { 0, 0 };
	struct sched_param none = { 0 };
	union sigval value = { 0 };
	char byte;
	struct iovec in = { &byte, 1 }, of = { &rank, 1 };
	cpu_set_t all;
	int file;

	sched_getaffinity(0, sizeof(all), &all);
	printf("%d:", (int)pid);
	tell("kill", kill(pid, SIGUSR1));
	tell("sigqueue", sigqueue(pid, SIGUSR1, value));
	tell("tgkill", tgkill(pid, pid, SIGUSR1));
	tell("killpg", killpg(pid, SIGUSR1));
	tell("prlimit", prlimit(pid, RLIMIT_CORE, &core, NULL));
	errno = 0;
	tell("getpriority",
		getpriority(PRIO_PROCESS, (id_t)pid) == -1 && errno ? -1 : 0);
	tell("setpriority", setpriority(PRIO_PROCESS, (id_t)pid, 1));
	tell("getaffinity", sched_getaffinity(pid, sizeof(all), &all));
	tell("getscheduler", sched_getscheduler(pid));
	tell("setscheduler", sched_setscheduler(pid, SCHED_BATCH, &none));
	tell("getpgid", getpgid(pid));
	tell("getsid", getsid(pid));
	file = pidfd_open(pid, 0);
	tell("pidfd_open", file);
	if (file >= 0)
		close(file);
	tell("waitpid", waitpid(pid, NULL, WNOHANG));
	/* hosts differ in who may read whom */
	tell("readv",
		process_vm_readv(pid, &in, 1, &of, 1, 0) < 0 && errno == ESRCH
			? -1
			: 0);
	printf("\n");
}

static void try_all(void)
{
	if (rank == 0) {
		try(1001);
		try(STRANGER);
		try(1 << 30);
		printf("999: kill %d, itself: kill %d\n",
			kill(getppid(), SIGTERM), kill(getpid(), SIGUSR1));
	}
}

/* Signals from programs that a rank starts. */
static void try_system(void)
{
	char text[64];

	if (rank)
		return;
	printf("system: %d", system("kill -USR1 1001"));
	snprintf(text, sizeof(text), "kill -KILL %d 2>/dev/null", STRANGER);
	printf(" %d", system(text) != 0);
	printf(" %d\n", system("test $PPID = 1000"));
}

static void try_group(void)
{
	int before = n_signals, code;

	if (rank)
		return;
	code = kill(0, SIGUSR1);
	printf("group %d, session %d, alone %d, signals %d\n", (int)getpgrp(),
		(int)getsid(0), code, n_signals - before);
}

/* A child has a number by which both know it. */
static void try_child(void)
{
	int ends[2], status;
	pid_t child, told;

	if (rank || pipe(ends))
		return;
	child = fork();
	if (child == 0) {
		told = getpid();
		if (write(ends[1], &told, sizeof(told)) < 0)
			_exit(1);
		_exit(getppid() == 1000 && kill(1001, 0) == 0 ? 0 : 2);
	}
	if (read(ends[0], &told, sizeof(told)) < 0 ||
		waitpid(child, &status, 0) != child)
		status = 1;
	printf("child %d, status %d\n", told == child && gettid() == getpid(),
		status);
}

static void try_everybody(void)
{
	if (rank == 0)
		printf("all: %d\n", kill(-1, SIGUSR1));
}

static void end_group(void)
{
	if (rank == 0)
		kill(0, SIGTERM);
}

static void end_parent(void)
{
	if (rank == 0)
		kill(getppid(), SIGKILL);
	for (;;)
		pause();
}

static const struct {
	const char *word;
	void (*run)(void);
} cases[] = {
	{ "all", try_all },
	{ "system", try_system },
	{ "group", try_group },
	{ "child", try_child },
	{ "everybody", try_everybody },
	{ "end-group", end_group },
	{ "end-parent", end_parent },
};

int main(int argc, char **argv)
{
	signal(SIGUSR1, on_signal);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
			if (strcmp(argv[i], cases[k].word) == 0)
				cases[k].run();
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		printf("rank 1 got %s\n", n_signals ? "signals" : "none");
	MPI_Finalize();
	return 0;
}
