#include "router/registry.h"

#include <string.h>

#include "router/direct/direct.h"
#include "router/tiled/tiled.h"

const struct router_ops *const router_registry[] = {
	&direct_ops,
	&tiled_ops,
	NULL,
};

const struct router_ops *router_find(const char *name)
{
	const struct router_ops *const *r = router_registry;

	while (*r && strcmp((*r)->name, name) != 0)
		r++;
	return *r;
}
