/*
 * For tests of Gemini's interface, transaction by transaction: two chips, four
 * nodes, each with a program.  Node 2 is a neighbour of node 0 on the other
 * chip.  It measures nothing: tests do.
 */
#ifndef TESTING_GEMINI_TESTING_H
#define TESTING_GEMINI_TESTING_H

#include "api/gni/queue.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"

/* Handles and queues that each node has. */
enum {
	WORLD_ALL = 1,
	WORLD_READ_ONLY = 2,
	WORLD_ENTRIES = 16,
	WORLD_DONE = 0,
	WORLD_CAME = 1,
};

/* What the handles are of, and where nodes send from. */
#define WORLD_SOURCE UINT64_C(0x100000)
#define WORLD_TARGET UINT64_C(0x200000)
#define WORLD_BYTES  UINT64_C(0x10000)

struct world {
	struct kit kit;
	uint32_t n_workers; /* 0: 1 */
	uint64_t digest;
	sim_time took; /* a test's own */
	void *arg; /* too */
	uint32_t number;
};

/* Until nothing is left to happen; the kit is to be closed. */
void world_run(struct world *x, const char *const *sets, bool may_err,
	void (*program)(void *));
/* Where a queue's events are. */
uint64_t world_ring(uint32_t cq);

/* --- from a program --- */

struct nic *world_nic(void);
/* From the program's WORLD_SOURCE to node 2, or the reverse, with an event. */
struct gemini_post world_post(uint32_t op, uint64_t bytes);
/* The event of a number, which is taken. */
struct gemini_event world_wait(uint32_t cq, uint32_t number);

/* Words that count, and whether they are there. */
void world_fill(uint64_t at, uint64_t bytes);
bool world_is_filled(struct host *h, site_id node, uint64_t at, uint64_t n);

#endif
