#include "route/hint_testing.h"

#include <string.h>

#include "testing/testing.h"
#include "topo/torus_testing.h"

static void set(const struct param_block *b, const char *name, const char *text)
{
	struct err e = { 0 };

	if (text && param_read(b, param_find(b, name), text, &e))
		fail_msg("%s", e.text);
}

void hint_make(struct hint_machine *m, const struct hint_how *how)
{
	struct param_block route = {
		.section = "routing",
		.rows = hint_ops.params,
		.n_rows = hint_ops.n_params,
		.values = &m->h,
	};
	struct err e = { 0 };

	memset(m, 0, sizeof(*m));
	m->h.route.ops = &hint_ops;
	param_defaults(&route);
	torus_make(&m->t, how->shape, how->wrap);
	set(&route, "order", how->order);
	set(&route, "ties", how->ties);
	set(&route, "zones.0", how->zones);
	set(&route, "zones.1", how->zones);
	set(&route, "zones.2", how->zones);
	set(&route, "zones.3", how->zones);
	set(&route, "bubble", how->bubble);
	set(&route, "escape", how->escape);
	if (hint_ops.init(&m->h.route, &m->t.topo, &e))
		fail_msg("%s", e.text);
}

void hint_unmake(struct hint_machine *m)
{
	hint_ops.fini(&m->h.route);
	torus_ops.fini(&m->t.topo);
}

void hint_defaults(struct hint_machine *m)
{
	struct param_block b = { .section = "routing",
		.rows = hint_ops.params,
		.n_rows = hint_ops.n_params,
		.values = &m->h };

	struct err e = { 0 };

	memset(m, 0, sizeof(*m));
	param_defaults(&b);
	assert_int_equal(torus_read(&m->t, NULL, NULL, &e), 0);
	m->h.route.ops = &hint_ops;
}

void hint_set_shape(struct hint_machine *m, const char *shape, int64_t wrap)
{
	struct err e = { 0 };

	assert_int_equal(torus_read(&m->t, shape, NULL, &e), 0);
	m->t.wrap = (struct param_list){ .n = 1, .v = { wrap } };
}

int hint_try(struct hint_machine *m, struct err *e)
{
	if (torus_ops.init(&m->t.topo, e))
		return -1;
	return hint_ops.init(&m->h.route, &m->t.topo, e);
}

void hint_make_shape(struct hint_machine *m, const char *shape, int64_t wrap)
{
	struct err e = { 0 };

	hint_defaults(m);
	hint_set_shape(m, shape, wrap);
	if (hint_try(m, &e))
		fail_msg("%s", e.text);
}
