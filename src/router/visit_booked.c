/* The same code for networks that keep time budgets. */
#define NET_BOOKED 1
#include "router/visit.c"
