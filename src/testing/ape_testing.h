/*
 * For tests of APEnet+'s interface: two nodes, each with a buffer in host
 * memory and in each of its two GPUs', which all have the same keys.
 */
#ifndef TESTING_APE_TESTING_H
#define TESTING_APE_TESTING_H

#include "testing/kit_testing.h"
#include "testing/testing.h"
#include "weft/ape.h"
#include "weft/gpu.h"

enum { APE_MEMORIES = 3 /* host, two GPUs */ };

#define APE_BUFFER UINT64_C(0x40000) /* bytes of each */
#define APE_HOST   UINT64_C(0x4000000) /* where the host's is */
#define APE_START  (200000 * (sim_time)SIM_NS)

/* Sets: a fault is known soon, and some parts fail. */
#define APE_FAULTS(events_)                                                    \
	{                                                                      \
		"lofamo.period=1ms", "faults.events=" events_, NULL            \
	}

struct ape_world {
	struct kit kit;
	void (*run)(struct ape_world *w, uint32_t node);
	uint32_t key[APE_MEMORIES];
	uint64_t at[APE_MEMORIES]; /* addresses */
	uint32_t n; /* the test's own */
	void *arg; /* too */
};

/* Runs it on both nodes, from APE_START on; the machine stays. */
uint64_t ape_world_run(struct ape_world *w, const char *const *sets,
	const char *shape, bool may_err);

/* --- from a program --- */

/* Bytes that depend on a number, at an offset of a memory's buffer of the
 * program's node: made, and looked at. */
void ape_fill(const struct ape_world *w, uint32_t memory, uint64_t offset,
	uint64_t bytes, uint64_t number);
bool ape_is(const struct ape_world *w, uint32_t memory, uint64_t offset,
	uint64_t bytes, uint64_t number);
/* From a memory to one of the other node, at the buffers' beginnings. */
struct weft_ape_transfer ape_transfer(
	const struct ape_world *w, uint32_t from, uint32_t to, uint64_t bytes);
/* The next event, which is of a kind. */
struct weft_ape_event ape_await(uint32_t kind);

#endif
