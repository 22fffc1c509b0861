#define _GNU_SOURCE
#include "inside/start.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	TRIES = 20, /* processes that are killed may just have made others */
	DEPTH = 2, /* of folders in folders */
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
