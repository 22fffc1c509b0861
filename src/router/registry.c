#include "router/registry.h"

#include "router/array/array.h"
#include "router/crossbar/crossbar.h"
#include "router/direct/direct.h"
#include "router/tiled/tiled.h"

const struct router_ops *const router_registry[] = {
	&direct_ops,
	&tiled_ops,
	&crossbar_ops,
	&array_ops,
	NULL,
};
