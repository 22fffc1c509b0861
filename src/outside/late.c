#define _GNU_SOURCE
#include "outside/late.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "outside/elf.h"

#define PS_PER_NS INT64_C(1000)

struct name {
	char text[128];
};

int64_t late_cpu(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (pid <= 0 || clock_getcpuclockid(pid, &clock) ||
		clock_gettime(clock, &t))
		return 0;
	return (t.tv_sec * INT64_C(1000000000) + t.tv_nsec) * PS_PER_NS;
}

/* --- the thread --- */

/* User time of a thread that runs, in the kernel's ticks; 0: it does not. */
static unsigned long ticks_of(pid_t pid, pid_t thread)
{
	char path[64], text[512] = "", state = 0, *end;
	unsigned long ticks = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid,
		(int)thread);
	f = fopen(path, "re");
	if (!f)
		return 0;
	end = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	fclose(f);
	if (!end || sscanf(end + 1,
			    " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu",
			    &state, &ticks) != 2)
		return 0;
	return state == 'R' ? ticks + 1 : 0;
}

static pid_t busiest_of(pid_t pid)
{
	unsigned long most = 0, ticks;
	struct dirent *d;
	pid_t found = pid;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && (d = readdir(folder))) {
		pid_t thread = (pid_t)atoi(d->d_name);

		ticks = thread > 0 ? ticks_of(pid, thread) : 0;
		if (ticks > most) {
			most = ticks;
			found = thread;
		}
	}
	if (folder)
		closedir(folder);
	return found;
}

static uint64_t counter_of(pid_t thread)
{
	struct user_regs_struct regs;
	struct iovec all = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &all))
		return 0;
#if defined(__x86_64__)
	return regs.rip;
#elif defined(__aarch64__)
	return regs.pc;
#else
	return 0;
#endif
}

/* The address of the next instruction; 0: it is not known. */
static uint64_t instruction_of(pid_t thread)
{
	uint64_t at = 0;
	int status;

	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL))
		return 0;
	if (!ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) &&
		waitpid(thread, &status, __WALL) == thread &&
		WIFSTOPPED(status))
		at = counter_of(thread);
	ptrace(PTRACE_DETACH, thread, NULL, NULL);
	return at;
}

/* --- the file --- */

struct place {
	char path[256]; /* empty: no file */
	uint64_t offset; /* in the file */
};

static struct place place_of(pid_t pid, uint64_t at)
{
	struct place p = { "", 0 };
	uint64_t first, last, offset;
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && !*p.path && fgets(line, sizeof(line), f)) {
		char file[256] = "";

		if (sscanf(line,
			    "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64
			    " %*s %*s %255[^\n]",
			    &first, &last, &offset, file) < 3 ||
			at < first || at >= last || *file != '/')
			continue;
		memcpy(p.path, file, sizeof(file));
		p.offset = offset + (at - first);
	}
	if (f)
		fclose(f);
	return p;
}

/* --- the function --- */

static bool name_function(const struct place *p, struct name *to)
{
	struct elf_file f;
	bool is_found = elf_open(&f, p->path) == ELF_GOOD &&
			elf_function(&f, p->offset, to->text, sizeof(to->text));

	elf_close(&f);
	return is_found;
}

void late_name(pid_t pid, uint64_t at, char *text, size_t size)
{
	struct place p = place_of(pid, at);
	struct name name;

	if (!at)
		snprintf(text, size, "a function that is not known");
	else if (!*p.path)
		snprintf(text, size, "code at 0x%" PRIx64, at);
	else if (name_function(&p, &name))
		snprintf(text, size, "%s() of %s", name.text, p.path);
	else
		snprintf(text, size, "code at 0x%" PRIx64 " of %s", p.offset,
			p.path);
}

void late_where(pid_t pid, char *text, size_t size)
{
	late_name(pid, instruction_of(busiest_of(pid)), text, size);
}
