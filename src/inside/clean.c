#define _GNU_SOURCE
#include "inside/start.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	TRIES = 20, /* processes that are killed may just have made others */
	DEPTH = 2, /* of folders in folders */
	SOON = 8, /* s: longer than ranks have to end in order */
	HOW = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

/* --- files --- */

bool clean_make(char path[CLEAN_PATH])
{
	static const char *const places[] = { "/dev/shm", "/tmp" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, CLEAN_PATH, "%s/weft-XXXXXX", places[i]);
		if (mkdtemp(path))
			return true;
	}
	return false;
}

/* Ranks that were killed leave files behind, and folders of PMIx. */
static void empty(int at, int depth)
{
	DIR *folder = at < 0 ? NULL : fdopendir(at);
	struct dirent *d;

	while (folder && (d = readdir(folder))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		if (unlinkat(dirfd(folder), d->d_name, 0) == 0 || !depth)
			continue;
		empty(openat(dirfd(folder), d->d_name, HOW), depth - 1);
		unlinkat(dirfd(folder), d->d_name, AT_REMOVEDIR);
	}
	if (folder)
		closedir(folder);
}

void clean_folder(const char *path)
{
	empty(open(path, HOW), DEPTH);
	rmdir(path);
}

/* --- processes --- */

/* Whether its environment says so. */
static bool is_from(const char *process, const char *pair)
{
	char *path = start_text("/proc/%s/environ", process), *line = NULL;
	FILE *in = fopen(path, "r");
	size_t room = 0;
	bool is_one = false;

	free(path);
	while (in && !is_one && getdelim(&line, &room, 0, in) > 0)
		is_one = strcmp(line, pair) == 0;
	if (in)
		fclose(in);
	free(line);
	return is_one;
}

/* How many there were. */
static unsigned kill_once(const char *pair)
{
	DIR *all = opendir("/proc");
	struct dirent *d;
	unsigned n = 0;
	pid_t pid;

	while (all && (d = readdir(all))) {
		pid = atoi(d->d_name);
		if (pid > 1 && pid != getpid() && is_from(d->d_name, pair))
			n += kill(pid, SIGKILL) == 0;
	}
	if (all)
		closedir(all);
	return n;
}

void clean_processes(pid_t helper)
{
	const struct timespec moment = { .tv_nsec = 5000000 };
	char *pair = start_text("WEFT_STARTER=%010d", (int)helper);

	for (int i = 0; i < TRIES && kill_once(pair); i++)
		nanosleep(&moment, NULL);
	free(pair);
}

/* --- its own end --- */

/* The environment of a helper that cleans up for this one; this one's parent.
 */
static char own_number[32], own_scratch[CLEAN_PATH + 32];
static pid_t own_parent;

/* This handler may interrupt malloc(), so it uses system calls only.  It
 * ignores alarms that ranks send. */
static void become_cleaner(int number, siginfo_t *from, void *context)
{
	char *const variables[] = { own_number, own_scratch, NULL };

	(void)number;
	(void)context;
	if (from->si_code <= 0)
		return;
	execle("/proc/self/exe", "weft-start", (char *)NULL, variables);
	_exit(1);
}

void clean_soon(void)
{
	alarm(SOON);
}

/* Ranks may send this signal, too. */
static void on_orphan(int number)
{
	(void)number;
	if (getppid() != own_parent)
		clean_soon();
}

void clean_after_parent(const struct start *s)
{
	struct sigaction late = { .sa_sigaction = become_cleaner,
		.sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction orphan = { .sa_handler = on_orphan,
		.sa_flags = SA_RESTART };
	sigset_t both;

	own_parent = getppid();
	snprintf(own_number, sizeof(own_number), "WEFT_CLEAN=%d", (int)s->self);
	snprintf(own_scratch, sizeof(own_scratch), "WEFT_SCRATCH=%s",
		s->scratch);
	sigaction(SIGALRM, &late, NULL);
	sigaction(SIGUSR1, &orphan, NULL);
	sigemptyset(&both);
	sigaddset(&both, SIGALRM);
	sigaddset(&both, SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &both, NULL);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
}
