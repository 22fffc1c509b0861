/*
 * The permutation of nodes with the longest paths: a bad one for a network,
 * since each packet takes as many links as possible (Jyothi, Singla, Godfrey,
 * Kolla, "Measuring and understanding throughput of network topologies", SC
 * 2016, call it the longest matching).
 */
#ifndef LOAD_WORST_H
#define LOAD_WORST_H

#include "base/err.h"
#include "topo/topo.h"

int worst_targets(const struct topo *t, router_id *target, struct err *e);

#endif
