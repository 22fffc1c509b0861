/*
 * What a machine file says of a node beside its network interface: its
 * memory, the cache in front of it and the DDR behind that.
 */
#ifndef HOST_PARAMS_H
#define HOST_PARAMS_H

#include "base/param.h"
#include "host/l2.h"

struct host_params {
	int64_t memory; /* bytes per node */
	struct l2_params l2;
};

/* Of any node with a network interface; and of a cache that the interface
 * reads and writes through. */
extern const struct param host_params_table[], host_l2_table[];
extern const size_t host_params_n, host_l2_n;

void host_params_defaults(struct host_params *p);

/* Whether the values fit together. */
int host_params_check(const struct host_params *p, struct err *e);

#endif
