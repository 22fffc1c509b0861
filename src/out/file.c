#define _GNU_SOURCE
#include "out/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { MOST_LINKS = 40, LONGEST_START = 64 };

#define BEGINS(...) ((const char *const[]){ __VA_ARGS__, NULL })

const struct out_kind out_page = { "a page", true, BEGINS("<!DOCTYPE html>") };
const struct out_kind out_picture = { "a picture", true, BEGINS("<svg ") };
const struct out_kind out_pdf = { "a PDF", true, BEGINS("%PDF-") };
const struct out_kind out_png = { "a PNG", true, BEGINS("\x89PNG\r\n") };
const struct out_kind out_trace = { "a trace", true, BEGINS("\n") };
const struct out_kind out_schedule = { "a schedule", true,
	BEGINS("num_ranks ", "\x7f\x10") };
const struct out_kind out_report = { "a report", true,
	BEGINS("weft: ", "{\n  \"weft\": ") };
const struct out_kind out_links = { "a list of links", true,
	BEGINS("site,port,") };
const struct out_kind out_points = { "a list of points", true,
	BEGINS("curve,x,seed,") };
const struct out_kind out_bill = { "a bill", true, BEGINS("part,key,") };
const struct out_kind out_computing = { "a recording of computing", true,
	BEGINS("weft computing ") };
/* what somebody has written by hand is never replaced */
const struct out_kind out_machine = { NULL, true, BEGINS(NULL) };
const struct out_kind out_run = { "a run file", false,
	BEGINS("SQLite format 3") };

/* A handler of signals can find it in no other way. */
static _Atomic(const char *) unfinished;

void out_file_abandon(void)
{
	const char *path = atomic_exchange(&unfinished, NULL);

	if (path)
		unlink(path);
}

/* --- where a path leads to --- */

/* What a link says, as seen from where the path is. */
static char *read_link(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) + 1 : 0;
	char to[PATH_MAX], *all;
	ssize_t size = readlink(path, to, sizeof(to) - 1);

	if (size < 0)
		return NULL;
	to[size] = '\0';
	if (*to == '/')
		n = 0;
	all = mem_alloc(n + (size_t)size + 1, 1);
	snprintf(all, n + (size_t)size + 1, "%.*s%s", (int)n, path, to);
	return all;
}

char *out_file_target(const char *path)
{
	char *at = mem_text(path), *next;

	for (int i = 0; i < MOST_LINKS && (next = read_link(at)); i++) {
		mem_free(at);
		at = next;
	}
	return at;
}

/* The descriptor that a path stands for, or -1. */
static int descriptor_of(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	size_t n;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < 2; i++) {
		n = strlen(folders[i]);
		if (!strncmp(path, folders[i], n) &&
			path[n + strspn(path + n, "0123456789")] == '\0')
			return (int)strtol(path + n, NULL, 10);
	}
	return -1;
}

/* --- whether it may be written --- */

static int refuse_mode(const char *path, mode_t mode, struct err *e)
{
	return err_set(e, "%s: is a %s; want a file", path,
		S_ISDIR(mode)	 ? "directory"
		: S_ISFIFO(mode) ? "FIFO"
		: S_ISSOCK(mode) ? "socket"
		: S_ISBLK(mode)	 ? "disk"
				 : "device");
}

static bool is_stream(mode_t mode)
{
	return S_ISFIFO(mode) || S_ISCHR(mode);
}

/* Nothing that somebody else has made is overwritten. */
static int check_kind(const char *path, const struct out_kind *k, struct err *e)
{
	char start[LONGEST_START] = "";
	const char *const *b = k->begins;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, start, sizeof(start));

	if (fd >= 0)
		close(fd);
	while (n > 0 && *b && strncmp(start, *b, strlen(*b)) != 0)
		b++;
	if (n < 0)
		return err_set(e, "%s: exists and cannot be read: %s", path,
			strerror(errno));
	if (n && !*b)
		return err_set(e,
			"%s: exists%s%s%s; remove it first, or name another "
			"file",
			path, k->name ? " and is not " : "",
			k->name ? k->name : "",
			k->name ? " that weft wrote" : "");
	return 0;
}

/* Whether files may be made where one is. */
static int check_folder(const char *target)
{
	const char *slash = strrchr(target, '/');
	char *folder = mem_text(slash ? target : ".");
	int failed;

	if (slash)
		folder[slash - target + 1] = '\0';
	failed = access(folder, W_OK);
	mem_free(folder);
	return failed;
}

static int check_new(const char *path, struct err *e)
{
	char *target = out_file_target(path);
	int failed = check_folder(target);

	mem_free(target);
	return failed ? err_set(e, "%s: cannot be created: %s", path,
				strerror(errno))
		      : 0;
}

int out_file_check(const char *path, const struct out_kind *k, struct err *e)
{
	struct stat is;

	if (!strcmp(path, "-"))
		return k->is_stream ? 0
				    : err_set(e, "-: is no file; want a file");
	if (stat(path, &is)) {
		if (errno != ENOENT)
			return err_set(e, "%s: %s", path, strerror(errno));
		return check_new(path, e);
	}
	if (!S_ISREG(is.st_mode) && !(k->is_stream && is_stream(is.st_mode)))
		return refuse_mode(path, is.st_mode, e);
	if (access(path, W_OK))
		return err_set(e, "%s: %s", path, strerror(errno));
	return S_ISREG(is.st_mode) && descriptor_of(path) < 0
		       ? check_kind(path, k, e)
		       : 0;
}

/* --- writing it --- */

static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* A file beside the target that will take its place. */
static int open_temporary(struct out_file *f, mode_t mode)
{
	const char *slash = strrchr(f->target, '/');
	int n = slash ? (int)(slash - f->target) + 1 : 0, fd;
	size_t size = strlen(f->target) + sizeof(".weft-XXXXXX");

	f->temporary = mem_alloc(size, 1);
	snprintf(f->temporary, size, "%.*s.weft-XXXXXX", n, f->target);
	fd = mkostemp(f->temporary, O_CLOEXEC);
	if (fd >= 0 && !fchmod(fd, mode)) {
		atomic_store(&unfinished, f->temporary);
		return fd;
	}
	if (fd >= 0) {
		close(fd);
		unlink(f->temporary);
	}
	mem_free(f->temporary);
	f->temporary = NULL;
	return -1;
}

/* A file with other names, of somebody else, or in a folder where nothing can
 * be made, is written where it is. */
static int open_regular(struct out_file *f, const struct stat *is)
{
	int fd = -1;

	if (!is)
		fd = open_temporary(f, usual_mode());
	else if (is->st_nlink == 1 && is->st_uid == geteuid())
		fd = open_temporary(f, is->st_mode & 07777);
	if (fd < 0)
		fd = open(f->target,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
			0666);
	return fd;
}

static int open_path(struct out_file *f)
{
	struct stat is;
	int given = descriptor_of(f->path);

	if (given >= 0)
		return fcntl(given, F_DUPFD_CLOEXEC, 0);
	f->is_new = stat(f->path, &is) != 0;
	f->is_regular = f->is_new || S_ISREG(is.st_mode);
	if (!f->is_regular)
		return open(f->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	f->target = out_file_target(f->path);
	return open_regular(f, f->is_new ? NULL : &is);
}

int out_file_open(struct out_file *f, const char *path,
	const struct out_kind *kind, struct err *e)
{
	int fd;

	*f = (struct out_file){ .path = path };
	if (!path) {
		f->stream = stdout;
		return 0;
	}
	if (out_file_check(path, kind, e))
		return -1;
	fd = open_path(f);
	f->stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (f->stream)
		return 0;
	err_set(e, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	mem_free(f->target);
	return -1;
}

static void fail(const struct out_file *f, struct err *e)
{
	err_set(e, "%s: cannot be written: %s",
		f->path ? f->path : "the output", strerror(errno));
}

/* Nothing is left of it that was not there before. */
static void undo(const struct out_file *f)
{
	if (f->temporary)
		unlink(f->temporary);
	else if (f->is_new && f->target)
		unlink(f->target);
}

int out_file_close(struct out_file *f, struct err *e)
{
	struct stat is;

	if (fflush(f->stream) || ferror(f->stream))
		fail(f, e);
	if (f->is_regular && !fstat(fileno(f->stream), &is))
		f->size = (long long)is.st_size;
	if (f->path && fclose(f->stream))
		fail(f, e);
	if (!e->code && f->temporary && rename(f->temporary, f->target))
		fail(f, e);
	if (e->code)
		undo(f);
	atomic_store(&unfinished, NULL);
	mem_free(f->temporary);
	mem_free(f->target);
	return e->code ? -1 : 0;
}
