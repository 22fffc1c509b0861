/* The same code once more, for networks whose packets carry their routes. */
#define NET_STRIPPED 1
#define NET_VISITS   net_stripped_visits

#include "router/visit_again.h"
