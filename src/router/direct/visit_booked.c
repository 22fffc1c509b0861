/* The build for tori with time budgets or arbitration in stages, but without
 * faults. */
#define DIRECT_FULL   1
#define DIRECT_FAULTS 0
#define DIRECT_TREE   0
#define DIRECT_BUILD  direct_booked

#include "router/direct/visit.c"
