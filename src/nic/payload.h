/*
 * Buffers for the bytes that packets carry: the part of the header that the
 * network does not look at, and the payload.  A packet's load field points
 * to its buffer.  A buffer is taken by the sender's worker and given back by
 * the receiver's.
 */
#ifndef NIC_PAYLOAD_H
#define NIC_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

enum { PAYLOAD_MAGAZINE = 64 };

struct payload_pool {
	struct pool pool;
};

/* All buffers have the same size and are aligned to a cache line.  A node can
 * have thousands of them in flight. */
struct payload_pool *payload_pool_new(
	uint32_t n_workers, uint32_t n_nodes, size_t bytes);
void payload_pool_free(struct payload_pool *p);

/* A buffer that holds anything. */
static inline void *payload_take(struct payload_pool *p, uint32_t worker)
{
	return pool_slot(&p->pool, pool_take(&p->pool, worker));
}

static inline void payload_give(
	struct payload_pool *p, uint32_t worker, void *buffer)
{
	pool_give(&p->pool, worker, pool_line(&p->pool, buffer),
		PAYLOAD_MAGAZINE);
}

/* How many are taken and not given back; only while nothing runs. */
uint64_t payload_pool_used(const struct payload_pool *p);
uint64_t payload_pool_memory(const struct payload_pool *p);

static inline uint64_t payload_to_load(void *buffer)
{
	return (uint64_t)(uintptr_t)buffer;
}

static inline void *payload_of_load(uint64_t load)
{
	return (void *)(uintptr_t)load;
}

#endif
