/* Workloads with an end: every packet is known from the start. */
#ifndef LOAD_FINITE_H
#define LOAD_FINITE_H

#include "load/load.h"

extern const struct load_ops load_alltoall;

/*
 * A random order of 0..m-1 without a table: the i-th element of the order
 * that key names.
 */
uint32_t finite_order(uint64_t key, uint32_t m, uint32_t i);

#endif
