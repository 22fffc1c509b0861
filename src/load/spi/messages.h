/* Random messages of all kinds, every byte looked at. */
#ifndef LOAD_SPI_MESSAGES_H
#define LOAD_SPI_MESSAGES_H

#include "load/spi/plan.h"
#include "load/spi/fifos.h"
#include "load/registry.h"

/* What an actor has of its node's memory, from its base on. */
enum {
	COUNTER = 0x0, /* of each lane, for what others send */
	OWN_COUNTER = 0x1000, /* of each lane, for what it copies and gets */
	CREDIT_COUNTER = 0x2000,
	CREDITS = 0x3000, /* words, [lane][round] */
	FIFOS = 0x10000,
	REC_FIFO = 0x20000,
	SOURCES = 0x100000,
	TARGETS = 0x200000,
	OWN_TARGETS = 0x300000,
	GIFT = 0x400000, /* what others get */
	CREDIT_SOURCES = 0x500000,
	FIFO_BYTES = 4096,
	REC_BYTES = 0x10000,
};

/* Injection FIFOs. */
enum { FIFO_ONE, FIFO_TWO, FIFO_URGENT, FIFO_CREDIT, FIFO_GET, N_OF_FIFOS };

/* Entries of the base address table, of the sub-group that is the thread. */
enum base {
	BASE_PLAIN,
	BASE_ADD, /* counters, too */
	BASE_STORE,
	BASE_MAX,
	BASE_XOR,
	BASE_OR,
	N_BASES,
};

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

/* A program of a node.  */
struct actor {
	struct messages *m;
	uint32_t id;
	uint64_t base; /* of its part of the memory */
	struct fifos fifos;
	MUSPI_RecFifoSubGroup_t rec;
	uint64_t sent[PLAN_LANES]; /* the last descriptor of each lane, + 1 */
	uint8_t fifo[PLAN_LANES]; /* and where it is */
	struct lane lane[PLAN_LANES];
	uint64_t n_sent;
};

/*
 * From its program: takes FIFOs and base addresses, which begin at the
 * actor's part of the memory; false, and complained of, where that fails.
 */
bool messages_open(struct actor *a);

/* The program: messages_program.c */
void messages_program(void *actor);

#endif
