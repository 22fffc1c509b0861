/*
 * For tests of the plain card: four nodes in a ring, and what software does
 * with a queue, without an interface that helps it.  Functions on a struct pt
 * are for the test itself, all others for programs.
 */
#ifndef NIC_PLAIN_PLAIN_TESTING_H
#define NIC_PLAIN_PLAIN_TESTING_H

#include "nic/nic_testing.h"
#include "nic/plain/plain.h"

enum {
	PT_NODES = 4,
	PT_SELF = 99, /* in place of the program's own node */
	PT_KEY = 1, /* PT_BYTES at PT_TARGET, with all rights */
	PT_OWN = 2, /* the same at PT_SOURCE, with none */
	PT_READ_ONLY = 3,
	PT_FOREIGN = 4, /* another process's */
	PT_NOWHERE = 5, /* there is no such memory */
	PT_SOURCE = 0x1000000,
	PT_TARGET = 0x2000000,
	PT_BYTES = 0x100000,
	PT_RINGS = 0x100000, /* of queue 0; others follow */
	PT_ENTRIES = 16,
};

struct pt {
	struct nic_testing t;
	struct plain_params *params;
	const void *arg; /* the test's, as what follows */
	sim_time last;
	uint64_t seen;
};

void pt_init(struct pt *m);
/* Runs a program on each of the first n nodes; its argument is m. */
void pt_run(struct pt *m, uint32_t n_workers, uint32_t n, void (*run)(void *));
void pt_fini(struct pt *m);
uint64_t pt_word_at(const struct pt *m, site_id node, uint64_t at);

struct pt_queue {
	struct nic *nic;
	struct workqs *all;
	uint32_t id, written, taken;
	uint64_t at;
};

struct pt_queue pt_open(uint32_t id);
struct pt_queue pt_open_as(uint32_t id, uint32_t process, uint32_t completions);
/* Writes an entry; where its keys are 0 they are PT_KEY and PT_OWN, and where
 * its node is the program's own, the next one. */
void pt_write(struct pt_queue *q, struct plain_entry e);
void pt_ring(struct pt_queue *q);
/* Both. */
void pt_post(struct pt_queue *q, struct plain_entry e);
/* The next completion. */
struct workq_completion pt_wait(struct pt_queue *q);

void pt_store(uint64_t at, uint64_t word);
uint64_t pt_load(uint64_t at);

#endif
