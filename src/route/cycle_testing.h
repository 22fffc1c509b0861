/* For tests: cycles of channels that wait for each other. */
#ifndef ROUTE_CYCLE_TESTING_H
#define ROUTE_CYCLE_TESTING_H

#include "route/route.h"

/* Whether the dependencies of a graph close one. */
bool cycle_exists(const struct route_graph *g);

#endif
