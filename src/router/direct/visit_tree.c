/* The same code once more, for networks whose packets carry their routes and
 * may be for many nodes. */
#define DIRECT_TREE  1
#define DIRECT_BUILD direct_tree

#include "router/direct/visit.c"
