/* Includes visit.c under other names: its functions are the file's own, and
 * reached by NET_VISITS. */
#include "router/net.h"

#define NET_SCOPE	    static
#define net_inject(...)	    again_inject(__VA_ARGS__)
#define net_release(...)    again_release(__VA_ARGS__)
#define net_check_idle(...) again_check_idle(__VA_ARGS__)
#define net_visit(...)	    again_visit(__VA_ARGS__)

#include "router/visit.c"

const struct net_visits NET_VISITS = {
	.inject = again_inject,
	.release = again_release,
	.check_idle = again_check_idle,
	.visit = again_visit,
};
