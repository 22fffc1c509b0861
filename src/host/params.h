/*
 * What a machine file says of a node beside its network interface: its
 * memory, its processors, the cache in front of memory and the DDR behind it.
 */
#ifndef HOST_PARAMS_H
#define HOST_PARAMS_H

#include "base/param.h"
#include "host/l2.h"

struct host_params {
	int64_t memory; /* bytes per node */
	int64_t processors; /* of a node, each with its side */
	struct l2_params l2;
};

enum {
	HOST_PARAMS = 1,
	L2_PARAMS = 10,
};

/* Of any node with a network interface; of a struct host_params. */
extern const struct param host_params_table[HOST_PARAMS];
/* Of nodes whose interface serves several processors. */
extern const struct param host_processors_table[];
/* Of an L2 that the interface reads and writes through, and the DDR behind it;
 * of a struct l2_params. */
extern const struct param l2_params_table[L2_PARAMS];
void host_params_defaults(struct host_params *p);

/* Whether the values fit together. */
int host_params_check(const struct host_params *p, struct err *e);

#endif
