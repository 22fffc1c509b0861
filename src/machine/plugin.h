/*
 * Parts from outside (weft/plugin/plugin.h): what a machine was told to load,
 * which lives as long as it does.  The registries know nothing of them.
 */
#ifndef MACHINE_PLUGIN_H
#define MACHINE_PLUGIN_H

#include "base/err.h"
#include "base/param.h"
#include "weft/plugin/plugin.h"

enum { MACHINE_PLUGINS = 4 };

struct plugins {
	const struct weft_plugin *is[MACHINE_PLUGINS];
	void *handle[MACHINE_PLUGINS];
	size_t n;
};

/* On an error too, plugins_close() is the caller's to call. */
int plugins_open(
	struct plugins *p, const char *const *paths, size_t n, struct err *e);
/* Those that a machine file names, but for what is open already. */
int plugins_open_named(
	struct plugins *p, const struct param_lines *paths, struct err *e);
/*
 * Instead: an error for the first of them that is none of those given, which
 * have been opened.  The file's name decides, wherever it lies; nothing is
 * looked at or run.
 */
int plugins_check_given(const struct param_lines *named,
	const char *const *given, size_t n, struct err *e);
/* Whether one of the paths has the file name that another one has. */
bool plugins_has(const char *const *given, size_t n, const char *path);
void plugins_close(struct plugins *p);

/* A workload of that name, or NULL. */
const struct weft_app *plugins_find(const struct plugins *p, const char *name);

#endif
