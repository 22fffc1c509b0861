/* All routers. */
#ifndef ROUTER_REGISTRY_H
#define ROUTER_REGISTRY_H

#include "net/router.h"

extern const struct router_ops *const router_registry[];

#endif
