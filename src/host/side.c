#include "host/side.h"

#include "base/mem.h"

const struct side_ops *const side_registry[] = {
	&side_l2_ops,
	&side_pcix_ops,
	&side_ht_ops,
	&side_pcie_ops,
	NULL,
};

struct side *side_new(const struct side_ops *ops, const void *params,
	site_id n_nodes, uint32_t n_processors, struct err *e)
{
	struct side *s = mem_alloc(1, ops->size);

	s->ops = ops;
	s->n_places = n_nodes * n_processors;
	s->n_each = n_processors;
	if (ops->init(s, params, e)) {
		mem_free(s);
		return NULL;
	}
	return s;
}

void side_free(struct side *s)
{
	if (!s)
		return;
	s->ops->fini(s);
	mem_free(s);
}

uint64_t side_memory(const struct side *s)
{
	return s ? s->ops->memory(s) : 0;
}
