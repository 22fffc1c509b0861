/*
 * For tests: random work of QsNetII's nodes, with everything that the card can
 * do.  All of it can be computed from a seed, so that each node knows what the
 * others do to it, and after each round compares: its memory has every byte
 * where it belongs, each message of an input queue came once, tagged messages
 * matched once and in order, collectives have the right results, and events
 * were set by what arrived and no more.
 */
#ifndef TESTING_ELAN_WORK_TESTING_H
#define TESTING_ELAN_WORK_TESTING_H

#include "api/elan/elan.h"
#include "host/host.h"
#include "nic/elan4/elan4.h"

enum {
	WORK_NODES = 16,
	WORK_OPS = 36, /* of each node in a round */
	WORK_TAGGED = 6000, /* most bytes of a tagged message */
	WORK_POSTED = WORK_NODES * WORK_OPS, /* most receives of a round */
};

enum work_kind {
	WORK_PUT,
	WORK_DMA,
	WORK_GET,
	WORK_IF,
	WORK_QUERY,
	WORK_CAST,
	WORK_LETTER,
	WORK_LETTERS, /* to many */
	WORK_CHAIN,
	WORK_TAG,
	WORK_MIXED, /* a packet of many transactions */
	WORK_INTERRUPT,
	WORK_KINDS
};

extern const char *const work_names[WORK_KINDS];

/* One node's; others never look at it. */
struct work_end {
	uint32_t round;
	struct elan_cq queue, chained;
	struct elan_hgsync sync;
	struct elan_hgroup group;
	struct elan_tport port;
	uint32_t sent[WORK_OPS]; /* handles */
	uint32_t posted[WORK_POSTED];
	uint64_t come; /* bytes that others put here */
	uint64_t letters, expected; /* messages of the input queue */
	uint64_t drops, interrupts;
	uint64_t count[WORK_KINDS];
	uint8_t came[WORK_POSTED]; /* letters of this round */
	uint8_t *area; /* as it must be */
};

struct work {
	uint64_t seed;
	uint32_t rounds;
	struct work_end end[WORK_NODES];
};

/* Starts a program on each node of a machine; the work is kept until it has
 * been run. */
void work_start(struct work *w, struct host *h);
/* What can be seen only after the run; and gives back all memory. */
void work_finish(struct work *w, const struct nic *nic);

#endif
