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
	struct pool pool, small;
	size_t small_bytes; /* of a small buffer; 0: there are none */
	size_t small_room; /* of the mapping of small ones */
};

/* Buffers are aligned to a cache line.  A node can have thousands of them in
 * flight.  Where most packets carry little there are small ones, too (0: not):
 * a full buffer touches a page or two. */
struct payload_pool *payload_pool_new(
	uint32_t n_workers, uint32_t n_nodes, size_t bytes, size_t small);
void payload_pool_free(struct payload_pool *p);

/* A buffer that holds anything. */
static inline void *payload_take(struct payload_pool *p, uint32_t worker)
{
	return pool_slot(&p->pool, pool_take(&p->pool, worker));
}

/* One that holds at least so many bytes. */
static inline void *payload_take_for(
	struct payload_pool *p, uint32_t worker, size_t bytes)
{
	if (bytes > p->small_bytes)
		return payload_take(p, worker);
	return pool_slot(&p->small, pool_take(&p->small, worker));
}

static inline bool payload_is_small(
	const struct payload_pool *p, const void *buffer)
{
	return (uintptr_t)buffer - (uintptr_t)p->small.base < p->small_room;
}

/* One of the same size as another. */
static inline void *payload_take_like(
	struct payload_pool *p, uint32_t worker, const void *buffer)
{
	return payload_take_for(p, worker,
		payload_is_small(p, buffer) ? p->small_bytes : SIZE_MAX);
}

static inline void payload_give(
	struct payload_pool *p, uint32_t worker, void *buffer)
{
	if (__builtin_expect(payload_is_small(p, buffer), 0)) {
		pool_give(&p->small, worker, pool_line(&p->small, buffer),
			PAYLOAD_MAGAZINE);
		return;
	}
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
