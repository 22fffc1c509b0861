/*
 * A packet, and the pool of packets.  Packets are named by 32-bit indices into
 * one mapping that all workers share (base/pool.h).  Nothing may depend on the
 * value of an index.
 */
#ifndef LINK_PACKET_H
#define LINK_PACKET_H

#include <stdint.h>

#include "base/pool.h"
#include "sim/sim.h"
#include "weft/plugin/packet.h"

_Static_assert(sizeof(struct packet) == 64, "one cache line");

enum { PACKET_MAGAZINE = 512 };

struct packet_pool {
	struct pool pool; /* slots' numbers are indices; next is its word */
	struct packet *base; /* what indices refer to */
};

_Static_assert(offsetof(struct packet, next) == 0, "the pool's word");

struct packet_pool *packet_pool_new(uint32_t n_workers, uint32_t most);
void packet_pool_free(struct packet_pool *p);

/* Returns a packet with undefined fields. */
static inline packet_id packet_take(struct packet_pool *p, uint32_t worker)
{
	return pool_take(&p->pool, worker);
}

/* Prepares the next packet_take(). */
static inline void packet_ask(const struct packet_pool *p, uint32_t worker)
{
	pool_ask(&p->pool, worker);
}

static inline void packet_give(
	struct packet_pool *p, uint32_t worker, packet_id id)
{
	pool_give(&p->pool, worker, id, PACKET_MAGAZINE);
}

/* Number of packets in use; only while nothing runs. */
uint64_t packet_pool_used(const struct packet_pool *p);
uint64_t packet_pool_memory(const struct packet_pool *p);

/* Packets in order, by next; first is NO_PACKET if empty. */
struct packet_list {
	packet_id first, last;
};

static inline void packet_push(
	struct packet *packets, struct packet_list *l, packet_id id)
{
	packets[id].next = NO_PACKET;
	if (l->first)
		packets[l->last].next = id;
	else
		l->first = id;
	l->last = id;
}

/* Removes the first packet of a nonempty list. */
static inline packet_id packet_pop(
	const struct packet *packets, struct packet_list *l)
{
	packet_id id = l->first;

	l->first = packets[id].next;
	return id;
}

#endif
