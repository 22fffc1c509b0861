/*
 * For tests of Gemini's interface: two chips, four nodes, each with a program,
 * two handles and two queues of events.  Node 2 is a neighbour of node 0 on the
 * other chip.
 */
#ifndef TESTING_GEMINI_TESTING_H
#define TESTING_GEMINI_TESTING_H

#include "api/gemini_queue.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"

enum { ALL = 1, READ_ONLY = 2, ENTRIES = 16, DONE = 0, CAME = 1 };

#define SOURCE UINT64_C(0x100000)
#define TARGET UINT64_C(0x200000) /* what the handles are to */
#define BYTES  UINT64_C(0x10000)

struct world {
	struct kit kit;
	sim_time took;
};

/* Runs a program on all nodes, with the world, which is to be closed by
 * kit_close(). */
void run_gemini(struct world *x, const char *const *sets, bool may_err,
	void (*program)(void *));

/* --- for its programs --- */

static inline struct nic *nic(void)
{
	return host_nic(program_host());
}

/* From SOURCE to the beginning of TARGET on node 2, with an event. */
struct gemini_post post(uint32_t op, uint64_t bytes);
/* The event of a number, which is taken. */
struct gemini_event wait_for(uint32_t cq, uint32_t number);

void fill(uint64_t at, uint64_t bytes);
bool is_filled(struct host *h, site_id node, uint64_t at, uint64_t n);

#endif
