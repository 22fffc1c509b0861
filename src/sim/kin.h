/*
 * Weft processes on one computer: children of the first one, which share a room
 * (sim/room.h).  Sockets between them tell who is gone, and take the place of
 * the room where there is to be none.
 */
#ifndef SIM_KIN_H
#define SIM_KIN_H

#include "base/err.h"
#include "sim/cluster.h"

enum { KIN_MOST = 32 }; /* processes */

/*
 * Starts n - 1 more processes, at most KIN_MOST in all, which return from this
 * call as the caller does; only before there are threads.  Each must end by
 * cluster_ops.leave(), in which the first one waits for the others.  NULL with
 * the error.
 */
struct cluster *kin_start(uint32_t n, struct err *e);

#endif
