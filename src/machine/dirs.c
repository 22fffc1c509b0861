#define _GNU_SOURCE
/* Where machine files are. */
#include "machine/machine.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft_paths.h> /* made by meson */

#include "base/mem.h"
#include "base/name.h"
#include "load/load.h"

enum { MOST_MACHINES = 256 };

static void add_dir(
	struct machine_dirs *d, size_t *n, const char *dir, const char *folder)
{
	if (*n + 1 >= MACHINE_DIRS)
		return;
	snprintf(d->text[*n], sizeof(d->text[*n]), "%s%s", dir, folder);
	d->dir[*n] = d->text[*n];
	++*n;
}

/* Beside the program: in a build tree, or where it was installed. */
static void add_beside(
	struct machine_dirs *d, size_t *n, const char *way, const char *folder)
{
	char exe[512], path[1024];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (len <= 0)
		return;
	exe[len] = '\0';
	slash = strrchr(exe, '/');
	if (!slash)
		return;
	*slash = '\0';
	snprintf(path, sizeof(path), "%s/%s%s", exe, way, folder);
	if (access(path, R_OK | X_OK) == 0)
		add_dir(d, n, path, "");
}

/* The environment's variable, then ours by the folder's name. */
static void find_dirs(
	struct machine_dirs *d, const char *variable, const char *folder)
{
	const char *env = getenv(variable);
	size_t n = 0;

	memset(d, 0, sizeof(*d));
	if (env && *env)
		add_dir(d, &n, env, "");
	add_beside(d, &n, "../share/weft/", folder);
	add_beside(d, &n, "../../../", folder);
	add_dir(d, &n, WEFT_DATA_DIR "/", folder);
}

void machine_dirs(struct machine_dirs *d)
{
	find_dirs(d, "WEFT_MACHINES", "machines");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What can stand in a list on a terminal. */
static bool is_plain(const char *name)
{
	size_t n;

	while ((n = name_letter(name)))
		name += n;
	return !*name;
}

/* The machines of one directory that are not in names yet. */
static void scan(const char *dir, char **names, char **paths, size_t *n)
{
	DIR *d = opendir(dir);
	struct dirent *f;

	if (!d && errno == ENOMEM)
		mem_give_up();
	while (d && (f = readdir(d))) {
		size_t len = strlen(f->d_name), i;
		char path[2048];

		if (len < 6 || strcmp(f->d_name + len - 5, ".yaml") != 0 ||
			*n == MOST_MACHINES || !is_plain(f->d_name))
			continue;
		f->d_name[len - 5] = '\0';
		for (i = 0; i < *n && strcmp(names[i], f->d_name); i++)
			;
		if (i < *n)
			continue;
		snprintf(path, sizeof(path), "%s/%s.yaml", dir, f->d_name);
		names[*n] = mem_text(f->d_name);
		paths[*n] = mem_text(path);
		++*n;
	}
	if (d)
		closedir(d);
}

struct found {
	char *name[MOST_MACHINES], *path[MOST_MACHINES];
	size_t n;
};

static struct found *find_in(const char *variable, const char *folder)
{
	struct found *f = mem_alloc(1, sizeof(*f));
	struct machine_dirs d;
	size_t i;

	find_dirs(&d, variable, folder);
	for (i = 0; d.dir[i]; i++)
		scan(d.dir[i], f->name, f->path, &f->n);
	return f;
}

static void found_free(struct found *f)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		mem_free(f->name[i]);
		mem_free(f->path[i]);
	}
	mem_free(f);
}

static const char *path_of(const struct found *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (!strcmp(f->name[i], name))
			return f->path[i];
	return NULL;
}

int machine_list_files(const char *variable, const char *folder,
	void (*f)(void *arg, const char *name, const char *path), void *arg)
{
	struct found *all = find_in(variable, folder);
	char *sorted[MOST_MACHINES];
	size_t i, n = all->n;

	memcpy(sorted, all->name, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_name);
	for (i = 0; i < n; i++)
		f(arg, sorted[i], path_of(all, sorted[i]));
	found_free(all);
	return n ? 0 : -1;
}

static int no_machines(struct err *e)
{
	return err_set(e,
		"no machine files found; set WEFT_MACHINES to their directory");
}

int machine_list(void (*f)(void *arg, const char *name, const char *path),
	void *arg, struct err *e)
{
	if (!machine_list_files("WEFT_MACHINES", "machines", f, arg))
		return 0;
	return no_machines(e);
}

bool machine_is_name(const char *name)
{
	struct found *all = find_in("WEFT_MACHINES", "machines");
	bool is = path_of(all, name);

	found_free(all);
	return is;
}

int machine_find(struct machine *m, const char *name, struct err *e)
{
	struct found *all;
	char hint[NAME_HINT];
	const char *path;

	if (strpbrk(name, "/.")) {
		if (strlen(name) >= sizeof(m->path))
			return err_set(
				e, "the machine file's path is too long");
		snprintf(m->path, sizeof(m->path), "%s", name);
		return 0;
	}
	all = find_in("WEFT_MACHINES", "machines");
	path = path_of(all, name);
	if (path) {
		snprintf(m->path, sizeof(m->path), "%s", path);
	} else if (!all->n) {
		no_machines(e);
	} else if (load_find(name)) {
		err_set(e,
			"\"%s\" is a workload, not a machine; want the machine "
			"first, as in `weft run torus %s`",
			name, name);
	} else if (strchr(name, ',')) {
		err_set(e,
			"\"%.60s\" names several machines; `weft sweep` runs "
			"on each of them",
			name);
	} else {
		err_set(e, "no machine is called \"%.60s\"%s", name,
			name_hint(name, (const char *const *)all->name, all->n,
				"; `weft machines` lists them", hint));
	}
	found_free(all);
	return path ? 0 : -1;
}
