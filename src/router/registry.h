/* All routers that there are. */
#ifndef ROUTER_REGISTRY_H
#define ROUTER_REGISTRY_H

#include "net/router.h"

/* NULL where there is no such router. */
const struct router_ops *router_find(const char *name);
extern const struct router_ops *const router_registry[];

#endif
