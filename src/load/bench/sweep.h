/* Latency and rate by size, between two nodes. */
#ifndef LOAD_BENCH_SWEEP_H
#define LOAD_BENCH_SWEEP_H

#include "load/load.h"

extern const struct load_ops load_sweep;

#endif
