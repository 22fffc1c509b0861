/*
 * For tests: ranks whose client is a program on a fiber, with memory that is
 * not the node's: as that of a process, it is reached through a window.
 */
#ifndef TESTING_ENDPOINT_TESTING_H
#define TESTING_ENDPOINT_TESTING_H

#include "outside/endpoint.h"
#include "outside/window.h"
#include "testing/kit_testing.h"

/* Where a rank's memory begins, by its own addresses, and its length. */
#define ENDPOINT_TEST_AT    UINT64_C(0x7f0012345000)
#define ENDPOINT_TEST_BYTES (UINT64_C(4) << 20)

enum { ENDPOINT_TEST_KEY = 77 };

struct endpoint_test_rank {
	struct endpoint e;
	struct window window;
	uint8_t *memory;
	uint8_t room[CHANNEL_ROOM];
	uint32_t rank, n_ranks;
	bool is_left_open; /* it is not closed in the end */
	struct endpoint_test *test;
};

struct endpoint_test {
	const struct kit_kind *kind;
	uint32_t n_processes, n_workers;
	enum weft_msg_matching matching;
	uint32_t pool; /* as in struct weft_msg_options */
	void (*run)(struct endpoint_test_rank *r);
	void *arg;
	/* set by it */
	struct registry *registry;
	struct endpoint_test_rank *all[64]; /* by rank, while they run */
};

/* Runs it to its end, and returns the digest. */
uint64_t endpoint_test_run(struct endpoint_test *t);
/* The same with each interface, and where that matches messages also without.
 * Some are run again on three workers, and with two processes a node: in turn.
 */
void endpoint_test_everywhere(
	void (*run)(struct endpoint_test_rank *r), void *arg, uint32_t turn);

/* Begins a command; waits for the next completion; both. */
void endpoint_test_begin(
	struct endpoint_test_rank *r, struct channel_command c);
struct channel_completion endpoint_test_next(struct endpoint_test_rank *r);
struct channel_completion endpoint_test_do(
	struct endpoint_test_rank *r, struct channel_command c);
/* Of all ranks. */
void endpoint_test_barrier(struct endpoint_test_rank *r);

/* Gives all of a rank's memory to others, with ENDPOINT_TEST_KEY: an offset is
 * the address. */
void endpoint_test_open(
	struct endpoint_test_rank *r, uint64_t rights, uint16_t flags);
/* A write or read of another rank's memory, by offsets. */
struct channel_command endpoint_test_transfer(enum channel_kind kind,
	uint32_t rank, uint64_t there, uint64_t here, uint64_t bytes);
/* An atomic; operands are put into the room, comparands and results are at
 * offsets, 0: none. */
void endpoint_test_atomic(struct endpoint_test_rank *r,
	struct channel_command c, uint64_t result, uint64_t compare);

#endif
