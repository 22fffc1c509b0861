/*
 * Stops of a network for new tables: by a machine's management (link/reloads.c)
 * or for repairs that need a drained network (net/repair.h).  Routers do the
 * rest (router_ops.manage).
 */
#ifndef NET_MANAGE_H
#define NET_MANAGE_H

#include "net/net.h"

/* Makes all tables and, unless they were made, repairs before the run. */
void net_manage_plan(struct net *n);
/* Calls the sites for the first stop. */
void net_manage_start(struct net *n);
void net_manage_free(struct net *n);

#endif
