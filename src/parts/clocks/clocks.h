/*
 * The clocks of a chip, and its ring of configuration registers.  Parameters
 * that follow a clock are listed by the interface (nic_ops.follows).
 */
#ifndef PARTS_CLOCKS_CLOCKS_H
#define PARTS_CLOCKS_CLOCKS_H

#include "parts/part.h"

/* In Hz; an access to the ring takes so many cycles of the ring's. */
struct clock_params {
	int64_t core, memory, network;
	int64_t ring, access;
};

struct host;

extern const struct part_ops part_clocks;

/* Of the host's nodes, which must have clocks. */
const struct clock_params *clocks_of(const struct host *h);

#endif
