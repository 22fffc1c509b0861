/* A heap of events that are too far off for a window's slot. */
#ifndef SIM_FAR_H
#define SIM_FAR_H

#include "sim/sim.h"

struct sim_far {
	sim_time t;
	struct sim_event e;
};

void far_push(struct sim_heap *h, struct sim_far f);
/* The earliest; there is one. */
struct sim_far far_pop(struct sim_heap *h);

#endif
