#include "nic/payload.h"

#include "base/err.h"

/* Of addresses, not of memory: for any machine, for each node, and for all. */
#define LEAST_BYTES (UINT64_C(256) << 20)
#define NODE_BYTES  (UINT64_C(4) << 20)
#define MOST_BYTES  (UINT64_C(8) << 30)
/* Trains, which are longer than any packet, need room for as many. */
#define LONG_BYTES (UINT64_C(8) << 10)

static void on_empty(uint32_t most)
{
	err_give_up(EXIT_LIMIT, "more than %u payloads in flight", most);
}

/* Returns the bytes of its mapping. */
static size_t make(
	struct pool *p, uint32_t n_workers, uint32_t n_nodes, size_t bytes)
{
	uint64_t sum = LEAST_BYTES + n_nodes * NODE_BYTES;
	uint64_t all = sum * (1 + bytes / LONG_BYTES);
	uint64_t room = all < MOST_BYTES ? all : MOST_BYTES;
	size_t lines = bytes ? (bytes + CACHE_LINE - 1) / CACHE_LINE : 1;
	struct pool_setup setup = {
		.n_workers = n_workers,
		.lines = (uint32_t)lines,
		.most = (uint32_t)(room / (lines * CACHE_LINE)),
		.on_empty = on_empty,
	};

	pool_init(p, &setup);
	return setup.most * lines * CACHE_LINE;
}

struct payload_pool *payload_pool_new(
	uint32_t n_workers, uint32_t n_nodes, size_t bytes, size_t small)
{
	struct payload_pool *p = mem_alloc(1, sizeof(*p));

	make(&p->pool, n_workers, n_nodes, bytes);
	if (small) {
		p->small_room = make(&p->small, n_workers, n_nodes, small);
		p->small_bytes = small;
	}
	return p;
}

void payload_pool_free(struct payload_pool *p)
{
	if (!p)
		return;
	pool_fini(&p->pool);
	if (p->small_bytes)
		pool_fini(&p->small);
	mem_free(p);
}

uint64_t payload_pool_used(const struct payload_pool *p)
{
	return pool_used(&p->pool) +
	       (p->small_bytes ? pool_used(&p->small) : 0);
}

static uint64_t memory_of(const struct pool *p)
{
	return pool_touched(p) * p->setup.lines * CACHE_LINE;
}

uint64_t payload_pool_memory(const struct payload_pool *p)
{
	return memory_of(&p->pool) +
	       (p->small_bytes ? memory_of(&p->small) : 0);
}
