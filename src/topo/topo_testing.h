/* For tests: topologies without a machine. */
#ifndef TOPO_TOPO_TESTING_H
#define TOPO_TOPO_TESTING_H

#include "topo/topo.h"

/* Sets all of a topology's parameters to their defaults. */
void topo_defaults(struct topo *t);

#endif
