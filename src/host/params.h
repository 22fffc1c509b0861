/*
 * What a machine file says of a node beside its network interface: its
 * memory, the cache in front of it and the DDR behind that.
 */
#ifndef HOST_PARAMS_H
#define HOST_PARAMS_H

#include "base/param.h"
#include "host/l2.h"

/* What IO nodes have beside: a bus of two directions, and files behind it. */
struct files_params {
	int64_t pcie_rate; /* bytes a second each way */
	int64_t latency; /* ps, of an access */
};

/*
 * A chip's clocks in Hz, and how many cycles of the last one an access to the
 * ring of configuration registers takes.
 */
struct clock_params {
	int64_t core, memory, network;
	int64_t dcr, dcr_access;
};

/* A parameter that is so many thousandths of a clock's cycle, or of a byte per
 * cycle, where a machine does not state it. */
struct clock_use {
	const char *section, *name;
	size_t clock; /* offset in struct clock_params */
	int64_t millis;
	const char *source; /* NULL: that of the parameter's default */
};

struct host_params {
	int64_t memory; /* bytes per node */
	struct files_params files;
	struct l2_params l2;
	struct clock_params clocks;
};

enum {
	HOST_PARAMS = 1,
	L2_PARAMS = 10,
	PCIE_PARAMS = 1,
	FILES_PARAMS = 1,
	CLOCK_PARAMS = 3,
	DCR_PARAMS = 2,
};

/* Of any node with a network interface; of a struct host_params. */
extern const struct param host_params_table[HOST_PARAMS];
/* Of an L2 that the interface reads and writes through, and the DDR behind it;
 * of a struct l2_params. */
extern const struct param l2_params_table[L2_PARAMS];
/* Of IO nodes; of a struct files_params. */
extern const struct param pcie_params_table[PCIE_PARAMS];
extern const struct param files_params_table[FILES_PARAMS];
/* Of a struct clock_params. */
extern const struct param clock_params_table[CLOCK_PARAMS],
	dcr_params_table[DCR_PARAMS];

/* The time of so many cycles, to the nearest picosecond. */
int64_t clock_time(int64_t cycles, int64_t hz);

void host_params_defaults(struct host_params *p);

/* Whether the values fit together. */
int host_params_check(const struct host_params *p, struct err *e);

#endif
