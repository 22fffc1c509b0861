#define _GNU_SOURCE
/* Where machine files, papers and claims are. */
#include "machine/machine.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft_paths.h> /* made by meson */

#include "base/beside.h"
#include "base/mem.h"
#include "base/name.h"
#include "load/load.h"

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
	char place[512], path[1024];

	snprintf(place, sizeof(place), "%s%s", way, folder);
	if (!beside_program(place, path, sizeof(path)))
		return;
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

/* What can stand in a list on a terminal. */
static bool is_plain(const char *name)
{
	size_t n;

	while ((n = name_letter(name)))
		name += n;
	return !*name;
}

static void add_file(struct machine_files *f, const char *dir, const char *name)
{
	size_t size = strlen(dir) + strlen(name) + sizeof("/.yaml"), i = f->n++;

	for (; i && strcmp(f->name[i - 1], name) > 0; i--) {
		f->name[i] = f->name[i - 1];
		f->path[i] = f->path[i - 1];
	}
	f->name[i] = mem_text(name);
	f->path[i] = mem_alloc(size, 1);
	snprintf(f->path[i], size, "%s/%s.yaml", dir, name);
}

/* The files of one directory whose names are new. */
static void scan(struct machine_files *all, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *f;

	if (!d && errno == ENOMEM)
		mem_give_up();
	while (d && (f = readdir(d))) {
		size_t len = strlen(f->d_name);

		if (len < 6 || strcmp(f->d_name + len - 5, ".yaml") != 0 ||
			all->n == MACHINE_FILES || !is_plain(f->d_name))
			continue;
		f->d_name[len - 5] = '\0';
		if (!machine_files_find(all, f->d_name))
			add_file(all, dir, f->d_name);
	}
	if (d)
		closedir(d);
}

struct machine_files *machine_files_new(
	const char *variable, const char *folder)
{
	struct machine_files *f = mem_alloc(1, sizeof(*f));
	struct machine_dirs d;

	find_dirs(&d, variable, folder);
	for (size_t i = 0; d.dir[i]; i++)
		scan(f, d.dir[i]);
	return f;
}

void machine_files_free(struct machine_files *f)
{
	while (f->n) {
		mem_free(f->name[--f->n]);
		mem_free(f->path[f->n]);
	}
	mem_free(f);
}

const char *machine_files_find(const struct machine_files *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->name[i], name))
			return f->path[i];
	return NULL;
}

struct machine_files *machine_files_all(void)
{
	return machine_files_new("WEFT_MACHINES", "machines");
}

static int no_machines(struct err *e)
{
	return err_set(e,
		"no machine files found; set WEFT_MACHINES to their directory");
}

int machine_list(void (*f)(void *arg, const char *name, const char *path),
	void *arg, struct err *e)
{
	struct machine_files *all = machine_files_all();
	size_t n = all->n;

	for (size_t i = 0; i < n; i++)
		f(arg, all->name[i], all->path[i]);
	machine_files_free(all);
	return n ? 0 : no_machines(e);
}

bool machine_is_name(const char *name)
{
	struct machine_files *all = machine_files_all();
	bool is = machine_files_find(all, name);

	machine_files_free(all);
	return is;
}

int machine_find(struct machine *m, const char *name, struct err *e)
{
	struct machine_files *all;
	char hint[NAME_HINT];
	const char *path;

	if (strpbrk(name, "/.")) {
		if (strlen(name) >= sizeof(m->path))
			return err_set(
				e, "the machine file's path is too long");
		snprintf(m->path, sizeof(m->path), "%s", name);
		return 0;
	}
	all = machine_files_all();
	path = machine_files_find(all, name);
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
	machine_files_free(all);
	return path ? 0 : -1;
}
