/* The same code once more, for networks that copy packets for many nodes. */
#define NET_SPREAD 1
#define NET_VISITS net_spread_visits

#include "router/visit_again.h"
