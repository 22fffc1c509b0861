#include "topo/torus_testing.h"

#include "testing/testing.h"
#include "topo/topo_testing.h"

#include <string.h>

int torus_read(
	struct torus *t, const char *shape, const char *wrap, struct err *e)
{
	struct param_block b = { "topology", torus_ops.params,
		torus_ops.n_params, t, NULL, NULL };

	memset(t, 0, sizeof(*t));
	t->topo.ops = &torus_ops;
	topo_defaults(&t->topo);
	t->wires = TORUS_PACKAGED;
	if (shape && param_read(&b, param_find(&b, "shape"), shape, e))
		return -1;
	return wrap ? param_read(&b, param_find(&b, "wrap"), wrap, e) : 0;
}

void torus_make(struct torus *t, const char *shape, const char *wrap)
{
	struct err e = { 0 };

	if (torus_read(t, shape, wrap, &e) || torus_ops.init(&t->topo, &e))
		fail_msg("%s", e.text);
}
