/* The same code once more, for networks whose packets carry their routes and
 * may be for many nodes. */
#define NET_TREE   1
#define NET_VISITS net_tree_visits

#include "router/visit_again.h"
