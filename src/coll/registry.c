#include "base/mem.h"
#include "coll/casts.h"
#include "coll/multicast.h"

const struct coll_ops *const coll_registry[] = {
	&casts_ops,
	&multicast_ops,
	NULL,
};

struct coll *coll_new(const struct route *r, uint8_t flags)
{
	const struct coll_ops *const *ops = coll_registry;
	struct coll *c;

	while (*ops && ((*ops)->flags & ~flags || !(*ops)->serves(r)))
		ops++;
	if (!*ops)
		return NULL;
	c = mem_alloc(1, (*ops)->size);
	c->ops = *ops;
	c->route = r;
	c->n_sites = r->topo->n_routers;
	c->n_nodes = r->topo->n_nodes;
	c->ops->init(c);
	return c;
}

void coll_free(struct coll *c)
{
	if (!c)
		return;
	c->ops->fini(c);
	mem_free(c);
}

uint64_t coll_memory(const struct coll *c)
{
	return c ? c->ops->memory(c) : 0;
}

int coll_audit(const struct coll *c, struct err *e)
{
	uint64_t waiting = c->ops->waiting(c);

	if (!waiting || c->ops->strays(c))
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"audit: switches still wait for answers to %llu broadcasts",
		(unsigned long long)waiting);
}
