/* The same code once more, for networks that have faults and keep budgets. */
#define NET_BOOKED 1
#define NET_FAULTY 1
#define NET_VISITS net_booked_faulty_visits

#include "router/visit_again.h"
