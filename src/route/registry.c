#include "route/route.h"

#include "route/dragonfly.h"
#include "route/hint.h"
#include "route/hyperx.h"
#include "route/layers.h"
#include "route/order.h"
#include "route/table.h"
#include "route/updown.h"

const struct route_ops *const route_registry[] = {
	&hint_ops,
	&updown_ops,
	&dragonfly_route_ops,
	&order_ops,
	&table_ops,
	&layers_ops,
	&hyperx_route_ops,
	NULL,
};
