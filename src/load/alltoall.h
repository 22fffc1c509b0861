/* All-to-all: by packets of the network, or by programs that put. */
#ifndef LOAD_ALLTOALL_H
#define LOAD_ALLTOALL_H

#include "load/programs.h"

struct alltoall {
	struct programs programs; /* used by via=nic only */
	/* keys */
	int64_t bytes;
	int64_t via;
	int64_t routing;
	char zones[PARAM_TEXT_MAX];
	int64_t driver, data, fifos; /* of via=nic */

	uint32_t rounds, last_bytes, full_bytes; /* packets of a message */
	int64_t peak;
	uint64_t expected; /* packets in all */

	/* via=net */
	uint8_t kind;
	sim_time slice;
	struct sender *sender;
	struct arrivals *arrivals;

	/* via=nic */
	bool is_synthetic;
	struct alltoall_node *nodes;
	uint32_t *destination; /* [node], as headers have it */
};

extern const struct load_ops load_alltoall;
/* What init() changes to where the key via says so. */
extern const struct load_ops load_alltoall_nic;

#endif
