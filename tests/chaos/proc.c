/* Starts weft, waits for it, and keeps what it printed. */
#define _GNU_SOURCE
#include "chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 30000, STARTING = 20000, STARTING_US = 500 };

static void die(const char *what)
{
	fprintf(stderr, "chaos: %s: %s\n", what, strerror(errno));
	exit(2);
}

void words_add(struct words *w, const char *format, ...)
{
	va_list ap;

	if (w->n == WORDS_MAX) {
		fputs("chaos: too many words\n", stderr);
		exit(2);
	}
	va_start(ap, format);
	if (vasprintf(&w->v[w->n++], format, ap) < 0)
		die("a word");
	va_end(ap);
	w->v[w->n] = NULL;
}

void words_copy(struct words *w, const struct words *from)
{
	for (size_t i = 0; i < from->n; i++)
		words_add(w, "%s", from->v[i]);
}

void words_drop(struct words *w, size_t i)
{
	free(w->v[i]);
	memmove(&w->v[i], &w->v[i + 1], (w->n-- - i) * sizeof(w->v[0]));
}

void words_free(struct words *w)
{
	while (w->n)
		words_drop(w, w->n - 1);
}

/* What the shim is told. */
static void tell_shim(const struct launch *l, int count)
{
	char text[32];

	if (!chaos.shim || (!l->fail && !l->n_allocations))
		return;
	snprintf(text, sizeof(text), "%ld%s", l->fail, l->fails_on ? "+" : "");
	setenv("CHAOS_FAIL", text, 1);
	snprintf(text, sizeof(text), "%d", count);
	setenv("CHAOS_COUNT", text, 1);
	setenv("LD_PRELOAD", chaos.shim, 1);
}

static _Noreturn void become(const struct words *w, const struct launch *l,
	int out, int err, int count)
{
	struct rlimit no_core = { 0, 0 }, space = { l->memory, l->memory };
	char *argv[WORDS_MAX + 2] = { (char *)chaos.weft };
	int in = open("/dev/null", O_RDONLY);

	memcpy(argv + 1, w->v, (w->n + 1) * sizeof(argv[0]));
	setrlimit(RLIMIT_CORE, &no_core);
	if (l->memory && !chaos.is_sanitized)
		setrlimit(RLIMIT_AS, &space);
	if (l->out)
		out = open(l->out, O_WRONLY);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(126);
	tell_shim(l, count);
	execv(chaos.weft, argv);
	_exit(127);
}

static char *take(int fd)
{
	off_t n = lseek(fd, 0, SEEK_END);
	char *text = calloc((size_t)n + 1, 1);

	if (!text || pread(fd, text, (size_t)n, 0) != n)
		die("output");
	close(fd);
	return text;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Whether a process ends within some time. */
static bool ends(int pidfd, long us)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	return ppoll(&p, 1, &t, NULL) > 0;
}

static bool catches(pid_t pid, int number)
{
	char path[64], line[256];
	unsigned long long mask = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigCgt: %llx", &mask) == 1)
			break;
	if (f)
		fclose(f);
	return mask >> (number - 1) & 1;
}

/* Before it can catch a signal the kernel ends it.  False: it has ended. */
static bool is_ready(pid_t pid, int pidfd, int number)
{
	for (int i = 0; i < STARTING && !catches(pid, number); i++)
		if (ends(pidfd, STARTING_US))
			return false;
	return true;
}

static void send_signal(pid_t pid, int pidfd, int number, long after_us)
{
	if (is_ready(pid, pidfd, number) && !ends(pidfd, after_us))
		kill(pid, number);
}

static int wait_for(pid_t pid, const struct launch *l, struct outcome *o)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), status;
	double limit = l->limit_s > 0 ? l->limit_s : chaos.limit_s;
	long start = now_ms();

	if (pidfd < 0)
		die("pidfd_open");
	if (l->signal)
		send_signal(pid, pidfd, l->signal, l->after_us);
	limit -= (double)(now_ms() - start) / 1e3;
	if (!ends(pidfd, limit > 0 ? (long)(limit * 1e6) : 1)) {
		o->is_late = true;
		send_signal(pid, pidfd, SIGTERM, 0);
		if (!ends(pidfd, PATIENCE_MS * 1000L)) {
			o->is_stuck = true;
			kill(pid, SIGKILL);
		}
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	close(pidfd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct outcome run_weft(const struct words *w, const struct launch *l)
{
	static const struct launch plain;
	int out = memfd_create("out", MFD_CLOEXEC);
	int err = memfd_create("err", MFD_CLOEXEC), count = -1;
	struct outcome o = { 0 };
	pid_t pid;

	l = l ? l : &plain;
	if (l->n_allocations)
		count = memfd_create("count", 0);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		become(w, l, out, err, count);
	o.code = wait_for(pid, l, &o);
	o.out = take(out);
	o.err = take(err);
	if (l->n_allocations) {
		char *text = take(count);

		*l->n_allocations = atol(text);
		free(text);
	}
	chaos.n_runs++;
	return o;
}

void outcome_free(struct outcome *o)
{
	free(o->out);
	free(o->err);
}
