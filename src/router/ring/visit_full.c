/* The build with time budgets, faults, and links of several rates. */
#define DIRECT_FULL  1
#define DIRECT_BUILD ring_full

#include "router/ring/visit.c"
