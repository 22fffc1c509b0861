#define _GNU_SOURCE
#include "machine/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "load/load.h"

enum { MOST_NAME = 15 };

/* Its words go into machine files and lists of names. */
static int check_name(const char *path, const char *name, struct err *e)
{
	size_t n = name ? strlen(name) : 0;

	if (!n || n > MOST_NAME ||
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != n)
		return err_set(e,
			"%s: a name must have 1 to %d lower-case letters, "
			"digits or hyphens",
			path, MOST_NAME);
	return 0;
}

/* An entry that a table needs. */
struct entry {
	const char *name;
	bool is_set;
};

static int check_table(const char *path, const char *what, const char *name,
	const struct entry *entry, struct err *e)
{
	for (; entry->name; entry++)
		if (!entry->is_set)
			return err_set(e,
				"%s: %s %s lacks the required entry %s "
				"(weft-plugin(7))",
				path, what, name, entry->name);
	return 0;
}

static int check_topo(const char *path, const struct topo_ops *o, struct err *e)
{
	const struct entry entries[] = {
		{ "size", o->size >= sizeof(struct topo) },
		{ "init", o->init },
		{ "peer", o->peer },
		{ "wire", o->wire },
		{ "name_router", o->name_router },
		{ "name_port", o->name_port },
		{ "name_shape", o->name_shape },
		{ "shape_key", o->shape_key },
		{ "routing or words", o->routing || o->words },
		{ 0 },
	};

	return check_name(path, o->name, e) || check_table(path, "topology",
						       o->name, entries, e)
		       ? -1
		       : 0;
}

static int check_route(
	const char *path, const struct route_ops *o, struct err *e)
{
	const struct entry entries[] = {
		{ "size", o->size >= sizeof(struct route) },
		{ "init", o->init },
		{ "start", o->start },
		{ "next", o->next },
		{ "channels", o->channels },
		{ "n_channels", o->n_channels },
		{ 0 },
	};

	return check_name(path, o->name, e) ||
			       check_table(path, "routing", o->name, entries, e)
		       ? -1
		       : 0;
}

static int check_load(const char *path, const struct weft_app *a, struct err *e)
{
	const struct entry entries[] = { { "run", a->run }, { 0 } };

	if (check_name(path, a->name, e))
		return -1;
	if (load_find(a->name))
		return err_set(e, "%s: weft already has a workload called %s",
			path, a->name);
	return check_table(path, "workload", a->name, entries, e);
}

static int check_parts(
	const char *path, const struct weft_plugin *p, struct err *e)
{
	for (size_t i = 0; p->topologies && p->topologies[i]; i++)
		if (check_topo(path, p->topologies[i], e))
			return -1;
	for (size_t i = 0; p->routings && p->routings[i]; i++)
		if (check_route(path, p->routings[i], e))
			return -1;
	for (size_t i = 0; p->workloads && p->workloads[i]; i++)
		if (check_load(path, p->workloads[i], e))
			return -1;
	return 0;
}

static int check_version(
	const char *path, const struct weft_plugin *p, struct err *e)
{
	static const struct weft_plugin mine = { WEFT_PLUGIN_SIZES };

	if (p->abi != mine.abi)
		return err_set(e,
			"%s: the plugin was compiled for version %u of the "
			"interface, but this weft (%s) has version %u; compile "
			"it again",
			path, p->abi, WEFT_VERSION, mine.abi);
	/* up to the first table */
	if (memcmp(p, &mine, offsetof(struct weft_plugin, topologies)) != 0)
		return err_set(e,
			"%s: the plugin was compiled for another weft than "
			"this one (%s), with tables of other sizes; compile it "
			"again",
			path, WEFT_VERSION);
	return 0;
}

static bool is_open(const struct plugins *p, const void *handle)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->handle[i] == handle)
			return true;
	return false;
}

/* True for files that cannot be read, too: dlopen() describes the error better.
 */
static bool is_object(const char *path)
{
	static const char start[] = { 0x7f, 'E', 'L', 'F' };
	char is[sizeof(start)];
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(is, 1, sizeof(is), f) : 0;
	bool is_one =
		!f || ferror(f) || (n == sizeof(is) && !memcmp(is, start, n));

	if (f)
		fclose(f);
	return is_one;
}

/* Who names it stands before what is wrong. */
static int open_one(struct plugins *p, const char *path, const char *who,
	bool may_be_open, struct err *e)
{
	char text[1024];
	void *handle;

	if (p->n == MACHINE_PLUGINS)
		return err_set(e, "more than %d plugins", MACHINE_PLUGINS);
	if (!is_object(path))
		return err_set(e,
			"%s: %s is not a shared object (build one with cc "
			"-shared, see weft-plugin(7))",
			who, path);

	/* no search through the system's libraries */
	snprintf(text, sizeof(text), "%s%s", strchr(path, '/') ? "" : "./",
		path);
	handle = dlopen(text, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return err_set(e, "%s: %s", who, dlerror());
	if (may_be_open && is_open(p, handle)) {
		dlclose(handle);
		return 0;
	}
	p->handle[p->n] = handle;
	p->is[p->n] = dlsym(handle, "weft_plugin");
	p->n++;
	if (!p->is[p->n - 1])
		return err_set(e,
			"%s: not a plugin: it has no WEFT_PLUGIN() "
			"(weft-plugin(7))",
			path);
	return check_version(path, p->is[p->n - 1], e) ||
			       check_parts(path, p->is[p->n - 1], e)
		       ? -1
		       : 0;
}

int plugins_open(
	struct plugins *p, const char *const *paths, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (open_one(p, paths[i], "--plugin", false, e))
			return -1;
	return 0;
}

int plugins_open_named(
	struct plugins *p, const struct param_lines *paths, struct err *e)
{
	for (size_t i = 0; i < paths->n; i++)
		if (open_one(p, paths->v[i].text, paths->v[i].place, true, e))
			return -1;
	return 0;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool plugins_has(const char *const *given, size_t n, const char *path)
{
	size_t i = 0;

	while (i < n && strcmp(file_name(given[i]), file_name(path)) != 0)
		i++;
	return i < n;
}

int plugins_check_given(const struct param_lines *named,
	const char *const *given, size_t n, struct err *e)
{
	for (size_t i = 0; i < named->n; i++)
		if (!plugins_has(given, n, named->v[i].text))
			return err_set(e,
				"%s: needs the plugin %.200s, which this "
				"command loads only if --plugin names it",
				named->v[i].place, named->v[i].text);
	return 0;
}

void plugins_close(struct plugins *p)
{
	while (p->n)
		dlclose(p->handle[--p->n]);
}

const struct weft_app *plugins_find(const struct plugins *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0;
			p->is[i]->workloads && p->is[i]->workloads[k]; k++)
			if (!strcmp(p->is[i]->workloads[k]->name, name))
				return p->is[i]->workloads[k];
	return NULL;
}
