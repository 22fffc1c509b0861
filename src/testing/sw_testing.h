/*
 * For tests of SWverbs: the nodes of a small Sunway machine, each with a
 * device, queues, and a space that has the same key everywhere.
 */
#ifndef TESTING_SW_TESTING_H
#define TESTING_SW_TESTING_H

#include "testing/kit_testing.h"
#include "testing/testing.h"
#include "weft/swverbs.h"

enum {
	SWT_BUFFERS = 16, /* posted to the receive queue, ... */
	SWT_BUFFER = 2048, /* ... of so many bytes */
	SWT_DEPTH = 64,
};

#define SWT_SPACE  UINT64_C(0x4000000) /* address of the space, ... */
#define SWT_BYTES  UINT64_C(0x400000) /* ... and its length */
#define SWT_IN	   UINT64_C(0x2000000) /* of the buffers */
#define SWT_START  (50000 * (sim_time)SIM_NS)
#define SWT_TARGET UINT64_C(0x200000) /* offset of what others write */

struct sw_world;

/* A node's program. */
struct sw_end {
	struct sw_world *world;
	uint32_t node;
	struct weft_sw *dev;
	struct weft_sw_cq *cq;
	struct weft_sw_sq *sq;
	struct weft_sw_rq *rq;
	uint32_t key;
};

struct sw_world {
	struct kit kit;
	void (*run)(struct sw_end *e);
	uint32_t n_programs; /* on the first nodes; 0: two */
	uint64_t result[8]; /* the test's own */
};

/* Runs it from SWT_START on; the machine stays. */
uint64_t sw_world_run(
	struct sw_world *w, const char *const *sets, bool may_err);
/* The same with two threads, and without a look at the machine. */
void sw_world_try(
	void (*run)(struct sw_end *e), const char *const *sets, bool may_err);

/* --- from a program --- */

/* Bytes that depend on a number, at an offset of the space: made, looked at. */
void swt_fill(uint64_t at, uint64_t bytes, uint64_t number);
bool swt_is(uint64_t at, uint64_t bytes, uint64_t number);
uint64_t swt_word(uint64_t at);
/* From the beginning of the own space to SWT_TARGET of a node's, with the name
 * of its receive queue. */
struct weft_sw_work swt_work(
	const struct sw_end *e, uint32_t node, uint32_t bytes);
/* The next completion, with success and of a kind; or with a status. */
struct weft_sw_completion swt_await(struct sw_end *e, uint32_t kind);
struct weft_sw_completion swt_await_status(struct sw_end *e, uint32_t status);
/* Programs on two nodes meet: both have come here. */
void swt_meet(struct sw_end *e, uint64_t number);

#endif
