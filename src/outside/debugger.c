#include "outside/debugger.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "outside/inspect.h"

static bool find(char path[PATH_MAX])
{
	return inspect_find("gdb", &(struct inspect_how){ 0 }, path);
}

bool debugger_is_here(void)
{
	char path[PATH_MAX];

	return isatty(STDIN_FILENO) && find(path);
}

static _Noreturn void become_gdb(
	const char *path, const char *rank, const sigset_t *mask)
{
	setpgid(0, 0);
	tcsetpgrp(STDIN_FILENO, getpid());
	signal(SIGTTOU, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	execl(path, path, "-q", "-p", rank, (char *)NULL);
	_exit(127);
}

/* Until gdb has ended, which SIGTERM asks for. */
static void await(pid_t gdb, const sigset_t *signals)
{
	while (gdb > 0 && waitpid(gdb, NULL, WNOHANG) == 0)
		if (sigwaitinfo(signals, NULL) == SIGTERM)
			kill(gdb, SIGKILL); /* some gdbs crash of SIGTERM */
}

/* A process of its own, since weft's threads have other things to wait for. */
static _Noreturn void mind(const char *path, const char *rank)
{
	pid_t group = getpgrp(), gdb;
	sigset_t signals, before;
	struct termios terminal;
	bool is_known = !tcgetattr(STDIN_FILENO, &terminal);

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &before);
	signal(SIGTTOU, SIG_IGN);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	gdb = fork();
	if (gdb == 0)
		become_gdb(path, rank, &before);
	await(gdb, &signals);
	tcsetpgrp(STDIN_FILENO, group);
	if (is_known)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal);
	_exit(0);
}

pid_t debugger_start(pid_t rank)
{
	char path[PATH_MAX], number[16];
	pid_t pid;

	if (!isatty(STDIN_FILENO) || !find(path))
		return -1;
	snprintf(number, sizeof(number), "%d", (int)rank);
	pid = fork();
	if (pid == 0)
		mind(path, number);
	return pid;
}

void debugger_end(pid_t started)
{
	kill(started, SIGTERM);
	while (waitpid(started, NULL, 0) < 0 && errno == EINTR)
		;
}
