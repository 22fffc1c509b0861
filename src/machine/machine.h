/*
 * A machine: text in, checked parts out.  It reads the machine file and the
 * command's overrides into the parts' own parameter tables, and has each
 * part check what it got.  It builds no network; that needs a workload.
 */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include "host/params.h"
#include "host/side.h"
#include "link/faults.h"
#include "link/link.h"
#include "machine/file.h"
#include "machine/plugin.h"
#include "nic/nic.h"
#include "route/route.h"
#include "net/net.h"
#include "parts/part.h"
#include "topo/topo.h"

enum { MACHINE_DIRS = 5, MACHINE_KINDS = 12, MACHINE_BLOCKS = 60 };

/* Which variants a machine has: indices of the registries. */
struct machine_kinds {
	int64_t topo, router;
	int64_t route; /* 0: the topology's own, else 1 + the index */
	int64_t nic, side; /* 0: none, else 1 + the index */
};

/* The row of a section's kind: its words are the registry's names. */
struct machine_kind {
	const char *section;
	size_t n_variants;
	struct param row;
	char words[PARAM_TEXT_MAX];
};

/*
 * What a block's parameters need: a variant ("nic.elan4"), anything in a
 * section ("nic"), or a word that one of the machine's variants has ("l2").
 * Empty: nothing.
 */
struct machine_use {
	char needs[48];
};

struct machine;

/* Where machine files are looked for; NULL at the end. */
struct machine_dirs {
	const char *dir[MACHINE_DIRS];
	char text[MACHINE_DIRS][1024];
};

void machine_dirs(struct machine_dirs *d);
/* Sets a machine's path.  A name with a slash or a dot is one; any other is
 * looked for. */
int machine_find(struct machine *m, const char *name, struct err *e);

struct machine {
	struct plugins plugins;
	struct machine_header header;
	char path[1024];
	/* What it was read from: its file, those that this is based on, and
	 * the shared objects. */
	struct param_lines files, plugin_files;
	struct machine_kinds kinds;
	struct machine_kind kind_row[5];
	size_t n_kinds;
	struct topo *topo, *topos[MACHINE_KINDS]; /* one of them */
	struct route *route, *routes[MACHINE_KINDS];
	struct link_params link;
	struct training_params lines; /* of its links, if any are known */
	struct net_params router;
	void *routers[MACHINE_KINDS]; /* of router_ops.params_size, or NULL */
	const struct nic_ops *nic; /* NULL: none */
	void *nic_params, *nics[MACHINE_KINDS]; /* of nic->params_size */
	struct host_params host;
	struct parts parts;
	/* What the interface stands at, where it takes any. */
	const struct side_ops *side; /* NULL: none */
	void *side_params, *sides[MACHINE_KINDS];
	struct fault_params fault_lines;
	struct fault_plan faults; /* what they say */
	/* Where a section has variants, each has a block of its own, and the
	 * word that says which one is in use stands before them. */
	struct param_block block[MACHINE_BLOCKS];
	struct machine_use use[MACHINE_BLOCKS];
	size_t n_blocks;
	bool is_whole; /* all variants, for `weft params` */
	bool has_kinds_given; /* by --set */
	/* What the user should know of how it was asked for; or "". */
	char advice[2 * PARAM_TEXT_MAX];
};

/* What a machine is made of. */
struct machine_source {
	const char *name; /* a machine's ("bgq-midplane"), or a file's path */
	const char *const *sets; /* "path=value" */
	size_t n_sets;
	const char *shape; /* "4x4x4", a fat tree's number of nodes, or NULL */
	const char *const *plugins; /* paths of shared objects */
	size_t n_plugins;
	/* Refuse plugins that the machine file names, unless plugins has one of
	 * that name: for files that are only data. */
	bool only_given;
};

struct machine *machine_load_from(
	const struct machine_source *s, struct err *e);
/* The same without plugins but those that the file names. */
struct machine *machine_load(const char *name, const char *const *sets,
	size_t n_sets, const char *shape, struct err *e);
/* To list it: a file that needs plugins is refused, and nothing is run. */
struct machine *machine_look(const char *name, struct err *e);
/* Reads a plan of faults in place of the machine's, or over it. */
int machine_read_faults(struct machine *m, const char *path, struct err *e);
/* Whether its links bring every packet through whatever the plan says. */
bool machine_loses_nothing(const struct machine *m);
/* An error where there are some, and what is lost would be lost for good. */
int machine_check_faults(const struct machine *m, struct err *e);
/* One with every variant and every parameter's default, for `weft params`;
 * it cannot be run. */
struct machine *machine_default(void);
void machine_free(struct machine *m);

/* Whether its topology, routing, links or interface have what a word of their
 * has stands for. */
bool machine_has(const struct machine *m, const char *word);
/* Where its parts are, before anything is built. */
struct part_place machine_place(const struct machine *m, uint64_t seed);
/* The value of a numeric parameter that it has. */
int64_t machine_value(
	const struct machine *m, const char *section, const char *name);
/* Whether a block belongs to what the machine is. */
bool machine_uses(const struct machine *m, size_t block);

/* "4x4x4x4x2", "4-ary 5-tree". */
void machine_shape(const struct machine *m, char *text, size_t size);

/* Calls f for every machine file that is found, by name. */
int machine_list(void (*f)(void *arg, const char *name, const char *path),
	void *arg, struct err *e);

/*
 * The same for the .yaml files of another folder that is installed, or lies
 * in the source tree, beside the machines; variable names one more directory.
 * -1 where there is none.
 */
int machine_list_files(const char *variable, const char *folder,
	void (*f)(void *arg, const char *name, const char *path), void *arg);

#endif
