/* Collectives of all nodes, by messages. */
#ifndef LOAD_COLLECTIVE_H
#define LOAD_COLLECTIVE_H

#include "load/load.h"

extern const struct load_ops load_collective;

#endif
