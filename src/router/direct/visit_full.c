/* The full build: with time budgets, faults, links of several rates, and
 * arbitration in stages. */
#define DIRECT_FULL  1
#define DIRECT_BUILD direct_full

#include "router/direct/visit.c"
