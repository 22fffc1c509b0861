/* The full build: with time budgets, faults, links of different rates, and row
 * buffers for pairs of channels. */
#define ARRAY_FULL  1
#define ARRAY_CALLS array_full_calls

#include "router/array/visit.c"
