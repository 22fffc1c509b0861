/* Random messages of all kinds, every byte looked at. */
#ifndef LOAD_MESSAGES_H
#define LOAD_MESSAGES_H

#include "load/plan.h"
#include "load/programs.h"

/* Words that hand on the right to send; a lane has this many, in turn. */
enum { MESSAGES_CREDITS = 32 };

struct messages {
	struct programs programs;
	/* keys */
	int64_t count, threads;

	struct plan plan;
	uint64_t rounds;
	struct actor *actors;
};

/* What of a lane's message has come by the reception FIFO. */
struct lane {
	uint64_t round; /* that it is in */
	uint32_t bytes, packets;
};

/* A program of a node.  What it has on its node is in messages.c. */
struct actor {
	struct messages *m;
	uint32_t id;
	uint64_t base; /* of its part of the memory */
	struct programs_fifos fifos;
	MUSPI_RecFifoSubGroup_t rec;
	uint64_t sent[PLAN_LANES]; /* the last descriptor of each lane, + 1 */
	uint8_t fifo[PLAN_LANES]; /* and where it is */
	struct lane lane[PLAN_LANES];
	uint64_t n_sent;
};

extern const struct load_ops load_messages;

/* The program: messages_program.c */
void messages_program(void *actor);

#endif
