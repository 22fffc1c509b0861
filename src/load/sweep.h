/* Latency and rate by size, between two nodes. */
#ifndef LOAD_SWEEP_H
#define LOAD_SWEEP_H

#include "load/load.h"

extern const struct load_ops load_sweep;

#endif
