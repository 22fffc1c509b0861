/*
 * Memory that ranks have registered for others.  All ranks of a run share one
 * registry; whoever begins an operation looks up the key that it was given.
 *
 * Workers execute their sites in any order within a window of the simulation,
 * so what a rank registers at a time counts for others one window later, and
 * what it ends at a time counts for them one window longer:
 *
 *	- If a change is made in the window in which another rank looks, the
 *	  answer does not depend on it, whether the other's worker sees it or
 *	  not.  Changes of earlier windows are seen by all.
 *	- A key reaches another rank by a message, which takes a window or
 *	  longer, so nobody who knows it comes too early.
 *	- Operations that are under way hold the region.  Its owner learns of
 *	  their ends in the same way, one window later.
 *
 * Each rank's regions have a lock of their own.
 *
 * Of several processes, each has the regions of all ranks.  By the same rules
 * it is enough that the others hear of a change before their next window: by a
 * note (sim_note()).
 */
#ifndef OUTSIDE_REGISTRY_H
#define OUTSIDE_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

/* Rights of others, as libfabric has them. */
#define REGISTRY_READ  (UINT64_C(1) << 12)
#define REGISTRY_WRITE (UINT64_C(1) << 13)

struct registry;
struct registered;

/* What a rank gives to others. */
struct region {
	uint64_t base; /* what others call its first byte */
	uint64_t at; /* address in the node's memory */
	uint64_t bytes, rights;
	uint32_t hold; /* of the owner's client, while others may reach it */
	bool tells; /* the owner is told of every access */
};

/* Bytes of another rank's region, for an operation. */
struct registry_use {
	uint64_t key;
	uint64_t at, bytes; /* by the region's base */
	uint64_t rights;
};

struct registry *registry_new(uint32_t n_ranks);
void registry_free(struct registry *r);
/* Processes may share the ranks, so many on each of these nodes. */
void registry_share(struct registry *r, struct sim *sim, const site_id *node,
	uint32_t each);

/* --- for the owner; a window is the simulation's --- */

/* *key is the key that is wanted, or becomes one.  ENOKEY if it is in use. */
int registry_add(struct registry *r, uint32_t rank, sim_time now,
	const struct region *region, bool is_wanted, uint64_t *key);
/* False if there is none. */
bool registry_end(
	struct registry *r, uint32_t rank, sim_time now, uint64_t key);
/* Forgets a region that has ended and that nothing can reach any more, and
 * returns its hold; UINT32_MAX if there is none. */
uint32_t registry_take_ended(
	struct registry *r, uint32_t rank, sim_time now, sim_time window);
/* The same for any region, at the end. */
uint32_t registry_take_any(struct registry *r, uint32_t rank);

/* --- for whoever uses it --- */

/* Begins an operation: *x becomes the region's, and *at the address of the
 * bytes in the node's memory.  Returns whose it is, or NULL: there is no such
 * key, or it does not allow this. */
struct registered *registry_begin(struct registry *r, uint32_t by,
	uint32_t rank, sim_time now, sim_time window,
	const struct registry_use *u, struct region *x, uint64_t *at);
/* Nothing of the operation can reach the region any more. */
void registry_done(struct registry *r, uint32_t by, uint32_t rank,
	struct registered *x, sim_time now);

#endif
