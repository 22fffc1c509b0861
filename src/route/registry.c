#include "route/route.h"

#include <string.h>

#include "route/dragonfly.h"
#include "route/hint.h"
#include "route/order.h"
#include "route/updown.h"

const struct route_ops *const route_registry[] = {
	&hint_ops,
	&updown_ops,
	&dragonfly_route_ops,
	&order_ops,
	NULL,
};

const struct route_ops *route_find(const char *name)
{
	size_t i;

	for (i = 0; route_registry[i]; i++)
		if (!strcmp(route_registry[i]->name, name))
			return route_registry[i];
	return NULL;
}
