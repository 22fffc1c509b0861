/*
 * A machine: it reads the machine file and the command's overrides into the
 * parameter tables of its parts, and each part checks its values.  It does not
 * build a network; that needs a workload.
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

enum { MACHINE_DIRS = 5, MACHINE_KINDS = 12, MACHINE_BLOCKS = 96 };

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

/* Directories that are searched for machine files; NULL at the end. */
struct machine_dirs {
	const char *dir[MACHINE_DIRS];
	char text[MACHINE_DIRS][1024];
};

void machine_dirs(struct machine_dirs *d);
/* Sets a machine's path.  A name with a slash or a dot is a path; for any other
 * name the directories are searched. */
int machine_find(struct machine *m, const char *name, struct err *e);

/* Whether there is a machine file of that name. */
bool machine_is_name(const char *name);

struct machine {
	struct plugins plugins;
	struct machine_header header;
	char path[1024];
	/* The files that it was read from: its own, its bases, and the shared
	 * objects. */
	struct param_lines files, plugin_files;
	struct machine_kinds kinds;
	struct machine_kind kind_row[5];
	size_t n_kinds;
	struct topo *topo, *topos[MACHINE_KINDS]; /* one of them */
	struct route *route, *routes[MACHINE_KINDS];
	struct link_params link;
	struct training_params lines; /* of its links, if any are known */
	struct net_params router;
	struct net_params running; /* the same, with buffers for trains */
	void *routers[MACHINE_KINDS]; /* of router_ops.params_size, or NULL */
	const struct nic_ops *nic; /* NULL: none */
	void *nic_params, *nics[MACHINE_KINDS]; /* of nic->params_size */
	struct host_params host;
	struct parts parts;
	/* The side of an interface that works with any. */
	const struct side_ops *side; /* NULL: none */
	void *side_params, *sides[MACHINE_KINDS];
	struct fault_params fault_lines;
	struct fault_plan faults; /* what they say */
	/* If a section has variants, each has a block of its own, after the
	 * block of the section's kind. */
	struct param_block block[MACHINE_BLOCKS];
	struct machine_use use[MACHINE_BLOCKS];
	size_t n_blocks;
	bool is_whole; /* all variants, for `weft params` */
	bool has_kinds_given; /* by --set */
	int64_t dims, dims_given; /* of its shape, by the file and --shape */
	/* Advice for the user on --shape; or "". */
	char advice[2 * PARAM_TEXT_MAX];
};

/* The sources of a machine. */
struct machine_source {
	const char *name; /* a machine's ("bgq-midplane"), or a file's path */
	const char *const *sets; /* "path=value" */
	size_t n_sets;
	const char *shape; /* "4x4x4", a fat tree's number of nodes, or NULL */
	const char *tables; /* a file with that section alone, or NULL */
	const char *const *plugins; /* paths of shared objects */
	size_t n_plugins;
	/* Refuse plugins that the machine file names unless plugins names them,
	 * too: for files that are only data. */
	bool only_given;
};

struct machine *machine_load_from(
	const struct machine_source *s, struct err *e);
/* The same, with only the plugins that the file names. */
struct machine *machine_load(const char *name, const char *const *sets,
	size_t n_sets, const char *shape, struct err *e);
/* For lists of machines: refuses a file that needs plugins, and runs no code.
 */
struct machine *machine_look(const char *name, struct err *e);
/* Adds a possible reason to an error: a shape with other dimensions than the
 * machine's own. */
void machine_explain(const struct machine *m, struct err *e);
/* Reads a plan of faults in place of the machine's, or over it. */
int machine_read_faults(struct machine *m, const char *path, struct err *e);
/* Whether its links deliver every packet, whatever the plan of faults has. */
bool machine_loses_nothing(const struct machine *m);
/* An error if the plan has faults and lost packets would not be
 * retransmitted. */
int machine_check_faults(const struct machine *m, struct err *e);
/* A machine with every variant and the default of every parameter, for `weft
 * params`; it cannot be run. */
struct machine *machine_default(void);
void machine_free(struct machine *m);

/* Whether its topology, routing, links or interface have a feature, which is a
 * word of the has of one of them. */
bool machine_has(const struct machine *m, const char *word);
/* Whether packets can be damaged, so that they must travel one by one; and
 * packets of a train (link.train), before a system is built. */
bool machine_has_flips(const struct machine *m);
void machine_set_train(struct machine *m, int64_t packets);
/* Whether it has what a block of parameters or a part needs: such a word, a
 * variant, or anything in a section (struct machine_use). */
bool machine_meets(const struct machine *m, const char *needs);
/* Where its parts are, before anything is built. */
struct part_place machine_place(const struct machine *m, uint64_t seed);
/* The value of a numeric parameter, which must exist. */
int64_t machine_value(
	const struct machine *m, const char *section, const char *name);
/* Whether a block belongs to the variants of the machine. */
bool machine_uses(const struct machine *m, size_t block);

/* "4x4x4x4x2", "4-ary 5-tree". */
void machine_shape(const struct machine *m, char *text, size_t size);

/* Calls f for every machine file that is found, by name. */
int machine_list(void (*f)(void *arg, const char *name, const char *path),
	void *arg, struct err *e);

/*
 * The .yaml files of a folder, each name once, in order: in the directory that
 * an environment variable names, in the installation and in the source tree.
 * Machines, papers and claims are such files.
 */
enum { MACHINE_FILES = 256 };
struct machine_files {
	char *name[MACHINE_FILES], *path[MACHINE_FILES];
	size_t n;
};
struct machine_files *machine_files_new(
	const char *variable, const char *folder);
struct machine_files *machine_files_all(void); /* of machines */
void machine_files_free(struct machine_files *f);
/* The path of a name, or NULL. */
const char *machine_files_find(const struct machine_files *f, const char *name);

#endif
