/* What routings of fat trees have in common. */
#ifndef ROUTE_TREE_H
#define ROUTE_TREE_H

#include "route/route.h"
#include "topo/fattree.h"

/* The cost of the ways up to where two nodes meet, and down. */
struct route_way tree_way(const struct fattree *t, const int64_t *cost);

#endif
