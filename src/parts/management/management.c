#include "parts/management/management.h"

#include "link/faults.h"
#include "net/net.h"
#include "net/router.h"

static void set_times(const void *params, const struct part_place *at,
	struct fault_plan *plan)
{
	(void)params;
	plan->is_managed = at->route->is_loaded && at->router->kind->repair;
	plan->notice = at->route->notice;
	plan->reload = at->route->reload;
	plan->drain = at->route->drain;
}

const struct part_ops part_management = {
	.name = "management",
	.needs = "tables",
	.plan = set_times,
};
