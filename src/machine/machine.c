#define _GNU_SOURCE
#include "machine/machine.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/name.h"

enum { MOST_MACHINES = 256 };

/* --- where files are --- */

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
#ifdef WEFT_DATA_DIR
	add_dir(d, &n, WEFT_DATA_DIR "/", folder);
#endif
}

void machine_dirs(struct machine_dirs *d)
{
	find_dirs(d, "WEFT_MACHINES", "machines");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The machines of one directory that are not in names yet. */
static void scan(const char *dir, char **names, char **paths, size_t *n)
{
	DIR *d = opendir(dir);
	struct dirent *f;

	while (d && (f = readdir(d))) {
		size_t len = strlen(f->d_name), i;
		char path[2048];

		if (len < 6 || strcmp(f->d_name + len - 5, ".yaml") != 0 ||
			*n == MOST_MACHINES)
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

static struct found *find_all(void)
{
	return find_in("WEFT_MACHINES", "machines");
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

int machine_list(void (*f)(void *arg, const char *name, const char *path),
	void *arg, struct err *e)
{
	if (!machine_list_files("WEFT_MACHINES", "machines", f, arg))
		return 0;
	return err_set(e, "no machine files found; WEFT_MACHINES can name "
			  "their directory");
}

/* A name with a slash or a dot is a path; any other is looked for. */
static int find_path(struct machine *m, const char *name, struct err *e)
{
	struct found *all;
	const char *path, *near;

	if (strpbrk(name, "/.")) {
		if (strlen(name) >= sizeof(m->path))
			return err_set(
				e, "the machine file's path is too long");
		snprintf(m->path, sizeof(m->path), "%s", name);
		return 0;
	}
	all = find_all();
	path = path_of(all, name);
	if (path) {
		snprintf(m->path, sizeof(m->path), "%s", path);
	} else {
		near = name_nearest(
			name, (const char *const *)all->name, all->n);
		err_set(e, "no machine is called \"%.60s\"%s%s%s", name,
			near ? "; did you mean " : "", near ? near : "",
			near ? "?" : "; `weft machines` lists them");
	}
	found_free(all);
	return path ? 0 : -1;
}

/* --- reading --- */

static struct param_block make_block(
	const char *section, const struct param *rows, size_t n, void *values)
{
	return (struct param_block){
		.section = section,
		.rows = rows,
		.n_rows = n,
		.values = values,
		.origins = mem_alloc(n, sizeof(struct param_origin)),
	};
}

struct machine *machine_default(void)
{
	struct machine *m = mem_alloc(1, sizeof(*m));
	const struct topo_ops *topo = topo_registry[0];
	const struct route_ops *route = route_registry[0];
	size_t i;

	m->topo = mem_alloc(1, topo->size);
	m->topo->ops = topo;
	m->route = mem_alloc(1, route->size);
	m->route->ops = route;
	m->block[0] =
		make_block("topology", topo->params, topo->n_params, m->topo);
	m->block[1] =
		make_block("link", link_params_table, link_params_n, &m->link);
	m->block[2] = make_block(
		"router", net_params_table, net_params_n, &m->router);
	m->block[3] =
		make_block("routing", route->params, route->n_params, m->route);
	m->nic = nic_registry[0];
	m->nic_params = mem_alloc(1, m->nic->params_size);
	m->block[4] = make_block(
		"nic", m->nic->params, m->nic->n_params, m->nic_params);
	m->block[5] =
		make_block("host", host_params_table, host_params_n, &m->host);
	for (i = 0; i < MACHINE_BLOCKS; i++)
		param_defaults(&m->block[i]);
	return m;
}

/* Parameters that the command line has set. */
static size_t count_given(const struct machine *m)
{
	size_t n = 0, i, j;

	for (i = 0; i < MACHINE_BLOCKS; i++) {
		for (j = 0; j < m->block[i].n_rows; j++) {
			const char *place = m->block[i].origins[j].place;

			n += !strcmp(place, "--set") ||
			     !strcmp(place, "--shape");
		}
	}
	return n;
}

/* What is said twice on a command line contradicts itself. */
static int assign(
	struct machine *m, const char *text, const char *place, struct err *e)
{
	size_t n = count_given(m);

	if (param_assign(m->block, MACHINE_BLOCKS, text, "parameter", place, e))
		return -1;
	if (count_given(m) == n)
		return err_set(e, "%.*s is given twice, by --set or --shape",
			(int)strcspn(text, "="), text);
	return 0;
}

static int set_shape(struct machine *m, const char *shape, struct err *e)
{
	char text[PARAM_TEXT_MAX + 32];

	if (!shape)
		return 0;
	if (strlen(shape) >= PARAM_TEXT_MAX)
		return err_set(e, "--shape: too long");
	snprintf(text, sizeof(text), "topology.shape=%s", shape);
	return assign(m, text, "--shape", e);
}

static int read_all(struct machine *m, const char *const *sets, size_t n_sets,
	const char *shape, struct err *e)
{
	struct machine_dirs dirs;
	size_t i;

	machine_dirs(&dirs);
	if (machine_file_read(m->path, dirs.dir, &m->header, m->block,
		    MACHINE_BLOCKS, e) ||
		set_shape(m, shape, e))
		return -1;
	for (i = 0; i < n_sets; i++)
		if (assign(m, sets[i], "--set", e))
			return -1;
	return 0;
}

struct machine *machine_load(const char *name, const char *const *sets,
	size_t n_sets, const char *shape, struct err *e)
{
	struct machine *m = machine_default();

	if (find_path(m, name, e) || read_all(m, sets, n_sets, shape, e) ||
		host_params_check(&m->host, e) ||
		m->topo->ops->init(m->topo, e) ||
		m->route->ops->init(m->route, m->topo, e)) {
		machine_free(m);
		return NULL;
	}
	return m;
}

void machine_free(struct machine *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < MACHINE_BLOCKS; i++)
		mem_free(m->block[i].origins);
	m->route->ops->fini(m->route);
	mem_free(m->route);
	mem_free(m->nic_params);
	mem_free(m->topo);
	mem_free(m);
}

void machine_shape(const struct machine *m, char *text, size_t size)
{
	const struct param *row = param_find(&m->block[0], "shape");

	text[0] = '\0';
	if (row)
		param_format(&m->block[0], row, text, size);
}
