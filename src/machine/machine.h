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

enum { MACHINE_DIRS = 5, MACHINE_KINDS = 4 };

/* Where a section has variants, each has a block of its own, of which one is
 * in use, and the word that says which stands before them. */
enum machine_block {
	BLOCK_TOPO_KIND,
	BLOCK_TOPO, /* and the following, as in topo_registry */
	BLOCK_LINK = BLOCK_TOPO + 2,
	BLOCK_LATENCY, /* of a torus's wires */
	BLOCK_ROUTER,
	BLOCK_ROUTE_KIND,
	BLOCK_ROUTE, /* and the following, as in route_registry */
	BLOCK_NIC_KIND = BLOCK_ROUTE + 2,
	BLOCK_NIC, /* and the following, as in nic_registry */
	BLOCK_HOST = BLOCK_NIC + 1, /* where there is an interface */
	MACHINE_BLOCKS,
};

/* Which variants a machine has: indices of the registries. */
struct machine_kinds {
	int64_t topo, route;
	int64_t nic; /* 0: none, else 1 + the index */
};

/* Where machine files are looked for; NULL at the end. */
struct machine_dirs {
	const char *dir[MACHINE_DIRS];
	char text[MACHINE_DIRS][1024];
};

void machine_dirs(struct machine_dirs *d);

struct machine {
	struct machine_header header;
	char path[1024];
	struct machine_kinds kinds;
	struct topo *topo, *topos[MACHINE_KINDS]; /* one of them */
	struct route *route, *routes[MACHINE_KINDS];
	struct link_params link;
	struct net_params router;
	const struct nic_ops *nic; /* NULL: none */
	void *nic_params, *nics[MACHINE_KINDS]; /* of nic->params_size */
	struct host_params host;
	struct param_block block[MACHINE_BLOCKS];
	bool is_used[MACHINE_BLOCKS]; /* by these variants */
};

/*
 * name is a machine's ("bgq-midplane") or a path to a file.  sets are
 * "path=value" texts; shape is "4x4x4", a fat tree's number of nodes, or
 * NULL.
 */
struct machine *machine_load(const char *name, const char *const *sets,
	size_t n_sets, const char *shape, struct err *e);
/* One with every variant and every parameter's default, for `weft params`;
 * it cannot be run. */
struct machine *machine_default(void);
void machine_free(struct machine *m);

/* "4x4x4x4x2", "4-ary 5-tree". */
void machine_shape(const struct machine *m, char *text, size_t size);

/* Calls f for every machine file that is found, by name. */
int machine_list(void (*f)(void *arg, const char *name, const char *path),
	void *arg, struct err *e);

#endif
