#include "nic/payload.h"

#include "base/err.h"

/* Of addresses, not of memory: for any machine, for each node, and for all. */
#define LEAST_BYTES (UINT64_C(256) << 20)
#define NODE_BYTES  (UINT64_C(4) << 20)
#define MOST_BYTES  (UINT64_C(8) << 30)

static void on_empty(uint32_t most)
{
	err_give_up(EXIT_LIMIT, "more than %u payloads in flight", most);
}

struct payload_pool *payload_pool_new(
	uint32_t n_workers, uint32_t n_nodes, size_t bytes)
{
	struct payload_pool *p = mem_alloc(1, sizeof(*p));
	uint64_t sum = LEAST_BYTES + n_nodes * NODE_BYTES;
	uint64_t room = sum < MOST_BYTES ? sum : MOST_BYTES;
	size_t lines = bytes ? (bytes + CACHE_LINE - 1) / CACHE_LINE : 1;
	struct pool_setup setup = {
		.n_workers = n_workers,
		.lines = (uint32_t)lines,
		.most = (uint32_t)(room / (lines * CACHE_LINE)),
		.on_empty = on_empty,
	};

	pool_init(&p->pool, &setup);
	return p;
}

void payload_pool_free(struct payload_pool *p)
{
	if (!p)
		return;
	pool_fini(&p->pool);
	mem_free(p);
}

uint64_t payload_pool_used(const struct payload_pool *p)
{
	return pool_used(&p->pool);
}

uint64_t payload_pool_memory(const struct payload_pool *p)
{
	return pool_touched(&p->pool) * p->pool.setup.lines * CACHE_LINE;
}
