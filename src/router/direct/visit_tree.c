/* The build for packets that carry their routes, for broadcasts to a range, and
 * for routings that name channels. */
#define DIRECT_TREE  1
#define DIRECT_BUILD direct_tree

#include "router/direct/visit.c"
