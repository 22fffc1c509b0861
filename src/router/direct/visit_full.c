/* The same code once more, for networks that keep time budgets or have
 * faults. */
#define DIRECT_FULL  1
#define DIRECT_BUILD direct_full

#include "router/direct/visit.c"
