/* The same code once more, for networks that keep time budgets. */
#define NET_BOOKED 1
#define NET_VISITS net_booked_visits

#include "router/visit_again.h"
