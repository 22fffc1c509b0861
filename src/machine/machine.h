/*
 * A machine: text in, checked parts out.  It reads the machine file and the
 * command's overrides into the parts' own parameter tables, and has each
 * part check what it got.  It builds no network; that needs a workload.
 */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include "host/params.h"
#include "link/link.h"
#include "machine/file.h"
#include "nic/nic.h"
#include "route/route.h"
#include "router/net.h"
#include "topo/topo.h"

enum { MACHINE_BLOCKS = 6, MACHINE_DIRS = 5 };

/* Where machine files are looked for; NULL at the end. */
struct machine_dirs {
	const char *dir[MACHINE_DIRS];
	char text[MACHINE_DIRS][1024];
};

void machine_dirs(struct machine_dirs *d);

struct machine {
	struct machine_header header;
	char path[1024];
	struct topo *topo;
	struct route *route;
	struct link_params link;
	struct net_params router;
	const struct nic_ops *nic;
	void *nic_params; /* a struct of nic->params_size */
	struct host_params host;
	struct param_block block[MACHINE_BLOCKS];
};

/*
 * name is a machine's ("bgq-midplane") or a path to a file.  sets are
 * "path=value" texts, shape "4x4x4" or NULL.
 */
struct machine *machine_load(const char *name, const char *const *sets,
	size_t n_sets, const char *shape, struct err *e);
/* One with every parameter's default, for `weft params`. */
struct machine *machine_default(void);
void machine_free(struct machine *m);

/* "4x4x4x4x2", or "" where the topology has no shape. */
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
