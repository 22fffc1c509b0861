/*
 * Outputs into odd files: what weft did not write is there afterwards as it was
 * before, links lead where they led, and nothing is left beside it.
 */
#define _GNU_SOURCE
#include "chaos.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

enum odd {
	FIFO,
	DIRECTORY,
	SOCKET,
	DEVICE,
	NOTES, /* a file that somebody wrote */
	LINK, /* to what is not there yet */
	LINK_TO_NOTES,
	LINK_TO_NOWHERE, /* into a folder that is not there */
	LINK_TO_ITSELF,
	N_ODD,
};

enum { FIFO_ROOM = 1 << 20 };

static const char notes[] = "what somebody wrote\n";

/* A folder with the file "x" in it, and perhaps "y", to which that leads. */
struct place {
	char folder[TEXT_MAX], path[TEXT_MAX + 8], other[TEXT_MAX + 8];
	char run[TEXT_MAX + 8]; /* a run file, outside of it */
	enum odd odd;
	int reader; /* of a FIFO */
};

static void write_notes(const char *path)
{
	FILE *f = fopen(path, "w");

	if (f) {
		fputs(notes, f);
		fclose(f);
	}
}

static bool has_notes(const char *path)
{
	char text[sizeof(notes)] = "";
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text), f) : 0;

	if (f)
		fclose(f);
	return n == sizeof(notes) - 1 && !memcmp(text, notes, n);
}

static bool make_socket(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), failed;

	if (fd < 0 || strlen(path) >= sizeof(at.sun_path))
		return false;
	memcpy(at.sun_path, path, strlen(path));
	failed = bind(fd, (struct sockaddr *)&at, sizeof(at));
	close(fd);
	return !failed;
}

/* With a reader, which has room for what small runs write. */
static bool make_fifo(struct place *p)
{
	if (mkfifo(p->path, 0666))
		return false;
	p->reader = open(p->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return p->reader >= 0 && fcntl(p->reader, F_SETPIPE_SZ, FIFO_ROOM) > 0;
}

/* False where this process has no right to make one. */
static bool make_odd(struct place *p)
{
	switch (p->odd) {
	case FIFO:
		return make_fifo(p);
	case DIRECTORY:
		return !mkdir(p->path, 0777);
	case SOCKET:
		return make_socket(p->path);
	case DEVICE: /* as /dev/null */
		return !mknod(p->path, S_IFCHR | 0666, makedev(1, 3)) &&
		       !access(p->path, W_OK);
	case NOTES:
		write_notes(p->path);
		return true;
	case LINK_TO_NOTES:
		write_notes(p->other);
		return !symlink("y", p->path);
	case LINK:
		return !symlink("y", p->path);
	case LINK_TO_NOWHERE:
		return !symlink("none/y", p->path);
	default:
		return !symlink("x", p->path);
	}
}

static size_t count_files(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d)))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	return n;
}

/* Why a place is not as it was, or NULL. */
static const char *judge_place(const struct place *p, int code)
{
	static const mode_t types[N_ODD] = { S_IFIFO, S_IFDIR, S_IFSOCK,
		S_IFCHR, S_IFREG, S_IFLNK, S_IFLNK, S_IFLNK, S_IFLNK };
	bool has_other = !access(p->other, F_OK);
	struct stat is;

	if (lstat(p->path, &is))
		return "the odd file is gone";
	if ((is.st_mode & S_IFMT) != types[p->odd])
		return "the odd file is another one now";
	if (p->odd == NOTES && !has_notes(p->path))
		return "somebody's file is overwritten";
	if (p->odd == LINK_TO_NOTES && !has_notes(p->other))
		return "somebody's file is overwritten by a link";
	if (count_files(p->folder) != 1 + (size_t)has_other)
		return "other files are left";
	if (p->odd == LINK && code == 0 && !has_other)
		return "the link is not followed";
	if (p->odd == LINK && code == 2 && has_other)
		return "refused, yet a file is left";
	return NULL;
}

/* --- commands --- */

/* Run files are no streams. */
static bool draw_output(struct trial *t, struct place *p, struct words *w)
{
	static const char *const pictures[] = { "links", "latency", "course" };
	uint64_t n = draw(&t->dice, 9);

	switch (n) {
	case 0:
	case 1:
		run_words(t, w);
		words_add(w, n ? "--links=%s" : "--output=%s", p->path);
		return n;
	case 2:
	case 3:
		words_add(w, n == 2 ? "report" : "trace");
		words_add(w, "%s", p->run);
		words_add(w, "--output=%s", p->path);
		return true;
	case 4:
		words_add(w, "plot");
		words_add(w, "%s", p->run);
		words_add(w, "%s", pictures[draw(&t->dice, 3)]);
		words_add(w, "--output=%s", p->path);
		return true;
	case 5:
		words_add(w, "goal");
		words_add(w, "allreduce");
		words_add(w, "ranks=8");
		words_add(w, "--output=%s", p->path);
		return true;
	case 6:
		words_add(w, "new");
		words_add(w, "torus");
		words_add(w, "%s", p->path);
		return true;
	default:
		words_add(w, "sweep");
		words_add(w, "torus");
		words_add(w, "random");
		words_add(w, "--shape=2x2");
		words_add(w, "warmup=0us");
		words_add(w, "measure=1us");
		words_add(w, "load=0.1,0.2");
		words_add(w, n == 7 ? "--output=%s" : "--csv=%s", p->path);
		return n != 7;
	}
}

/* A small run file to make others of. */
static bool make_run(struct trial *t, const struct place *p)
{
	struct words w = { 0 };
	struct outcome o;
	bool is;

	words_add(&w, "run");
	words_add(&w, "torus");
	words_add(&w, "random");
	words_add(&w, "--shape=2x2");
	words_add(&w, "measure=5us");
	words_add(&w, "--output=%s", p->run);
	o = try(t, &w, NULL);
	is = o.code == 0;
	outcome_free(&o);
	words_free(&w);
	return is;
}

static bool may_work(enum odd odd, bool is_stream)
{
	return odd == LINK || (is_stream && (odd == FIFO || odd == DEVICE));
}

static void try_output(struct trial *t, struct place *p)
{
	struct words w = { 0 };
	bool is_stream = draw_output(t, p, &w);
	struct outcome o = try(t, &w, NULL);
	const char *why = judge_place(p, o.code);

	if (why)
		finding(t, &w, NULL, "%s", why);
	else if (o.code != 2 && !o.is_late && !may_work(p->odd, is_stream))
		finding(t, &w, NULL, "exit code %d into an odd file, want 2",
			o.code);
	outcome_free(&o);
	words_free(&w);
}

static void remove_place(const struct place *p)
{
	if (p->reader >= 0)
		close(p->reader);
	unlink(p->path);
	rmdir(p->path);
	unlink(p->other);
	rmdir(p->folder);
}

void run_outputs(struct trial *t)
{
	struct place p;

	if (!make_machine(t) || !make_workload(t))
		return;
	snprintf(p.folder, sizeof(p.folder), "%.400s/odd", chaos.dir);
	snprintf(p.path, sizeof(p.path), "%s/x", p.folder);
	snprintf(p.other, sizeof(p.other), "%s/y", p.folder);
	snprintf(p.run, sizeof(p.run), "%s.db", p.folder);
	if (!make_run(t, &p))
		return;
	for (int i = 0; i < 6; i++) {
		p.odd = (enum odd)draw(&t->dice, N_ODD);
		p.reader = -1;
		if (mkdir(p.folder, 0777))
			break;
		if (make_odd(&p))
			try_output(t, &p);
		remove_place(&p);
	}
	unlink(p.run);
}
