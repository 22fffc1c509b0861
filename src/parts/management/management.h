/*
 * The management of a machine whose routers load tables: some time after links
 * die or return it stops injection, lets the network drain, and has each router
 * load tables that know what is dead (link/reloads.c, route/detour.c).  Its
 * times are the routing's parameters.
 */
#ifndef PARTS_MANAGEMENT_MANAGEMENT_H
#define PARTS_MANAGEMENT_MANAGEMENT_H

#include "parts/part.h"

extern const struct part_ops part_management;

#endif
