#include "topo/topo_testing.h"

void topo_defaults(struct topo *t)
{
	const struct topo_block *const *b = t->ops->blocks;
	struct param_block p = { "topology", t->ops->params, t->ops->n_params,
		t, NULL, NULL };

	param_defaults(&p);
	for (; b && *b; b++) {
		p.rows = (*b)->rows;
		p.n_rows = (*b)->n_rows;
		param_defaults(&p);
	}
}
