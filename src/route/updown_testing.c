#include "route/updown_testing.h"

#include "testing/testing.h"

#include <string.h>

void updown_make(struct tree_machine *m, const struct tree_how *how)
{
	struct param_block b = {
		.section = "routing",
		.rows = updown_ops.params,
		.n_rows = updown_ops.n_params,
		.values = &m->u,
	};
	struct err e = { 0 };

	memset(m, 0, sizeof(*m));
	tree_make(&m->t, how);
	m->u.route.ops = &updown_ops;
	param_defaults(&b);
	if ((how->spread && param_read(&b, param_find(&b, "spread"),
				    how->spread, &e)) ||
		updown_ops.init(&m->u.route, &m->t.topo, &e))
		fail_msg("%s", e.text);
}
