#include "link/packet.h"

#include "base/err.h"

static void on_empty(uint32_t most)
{
	err_give_up(EXIT_LIMIT, "more than %u packets in flight", most);
}

struct packet_pool *packet_pool_new(uint32_t n_workers, uint32_t most)
{
	struct packet_pool *p = mem_alloc(1, sizeof(*p));
	struct pool_setup setup = {
		.n_workers = n_workers,
		.lines = 1,
		.most = most,
		.is_dense = true,
		.on_empty = on_empty,
	};

	pool_init(&p->pool, &setup);
	p->base = pool_slot(&p->pool, 0);
	return p;
}

void packet_pool_free(struct packet_pool *p)
{
	if (!p)
		return;
	pool_fini(&p->pool);
	mem_free(p);
}

uint64_t packet_pool_used(const struct packet_pool *p)
{
	return pool_used(&p->pool);
}

uint64_t packet_pool_memory(const struct packet_pool *p)
{
	/* with the one that is never used */
	return (pool_touched(&p->pool) + 1) * sizeof(*p->base);
}
