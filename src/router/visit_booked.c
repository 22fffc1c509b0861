/* The same code once more, for networks that keep time budgets. */
#include "router/net.h"

#define NET_BOOKED	    1
#define net_inject(...)	    net_booked_inject(__VA_ARGS__)
#define net_release(...)    net_booked_release(__VA_ARGS__)
#define net_check_idle(...) net_booked_check_idle(__VA_ARGS__)
#define net_visit(...)	    net_booked_visit(__VA_ARGS__)

#include "router/visit.c"
