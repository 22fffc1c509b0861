/* The same code once more, for networks that have faults. */
#define NET_FAULTY 1
#define NET_VISITS net_faulty_visits

#include "router/visit_again.h"
