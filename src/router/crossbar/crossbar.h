/*
 * A switch of up to 64 ports, as a textbook draws it: what comes in by a port
 * waits in a queue for the port that it leaves by, and the queues of a port
 * are served in turn.
 *
 *	in 0  [ for 0 ][ for 1 ] ...      \
 *	in 1  [ for 0 ][ for 1 ] ...       > link 0, link 1, ...
 *	 ...                              /
 *
 * The queues of an input share its buffer, a channel each.  The switch itself
 * is no bottleneck: an input may feed several outputs at once.  Where routing
 * offers several ports, a packet takes the one with the least waiting for it
 * and behind it, when it comes.
 *
 * Nodes have routers of another kind.
 */
#ifndef ROUTER_CROSSBAR_CROSSBAR_H
#define ROUTER_CROSSBAR_CROSSBAR_H

#include "net/router.h"

extern const struct router_ops crossbar_ops;

#endif
