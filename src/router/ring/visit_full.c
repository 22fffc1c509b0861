/* The same code once more, for networks that keep time budgets or have
 * faults. */
#define DIRECT_FULL  1
#define DIRECT_BUILD ring_full

#include "router/ring/visit.c"
