/*
 * Collectives of messages on Blue Gene/Q: barriers by global interrupts, the
 * others over class routes.
 *
 * Class route 0 is that of all nodes: of all ranks, if every node of the
 * machine has one process, and of groups whose leaders are the first processes
 * of all nodes.  Other groups get a class route of their own, and a class of
 * global interrupts, if their nodes are a box, and while there are some.
 */
#ifndef API_SPI_MSG_TREE_H
#define API_SPI_MSG_TREE_H

#include "api/msg/group.h"
#include "api/spi/unit.h"

enum {
	MSG_TREE_FIFO = 1, /* of a process's first sub-group of FIFOs */
	MSG_TREE_FIFO_BYTES = 1 << 10,
	MSG_TREE_AWAITED = 64, /* what is waited for: beyond FIFOs of puts */

	/* sub-groups of FIFOs, of each process; others' remote gets go to the
	 * first FIFO of the last */
	GROUP_POST = 0,
	GROUP_PUT,
	GROUP_GET,
	GROUPS,
	/* base addresses, of each process's sub-group: all of memory; the
	 * words; one that nobody reads; where a collective's bytes go, and the
	 * word that counts them */
	BASE_MEMORY = 0,
	BASE_WORDS,
	BASE_NOBODY,
	BASE_TREE,
	BASE_TREE_WORD,
	BASES,
};

/* Where a group's packets go. */
struct __attribute__((may_alias)) msg_route {
	uint8_t class, channel; /* channel: as in a packet's header */
	bool has_barrier; /* of its own; else a reduction is one */
	MUSPI_GIBarrier_t barrier;
};

/* Of a process; the first member of its state. */
struct __attribute__((may_alias)) msg_tree {
	bool is_whole; /* route 0 is that of all ranks */
	bool has_fifo, has_world; /* that they have been opened */
	uint64_t fifo_at, words_at;
	MUSPI_InjFifoSubGroup_t fifo;
	struct msg_route world;
	const MUSPI_GIBarrier_t *entered;
	uint64_t bases[BASES]; /* as they were last set, of the tree's */
};

/* Opens route 0 if it is that of all ranks.  It may use MSG_TREE_FIFO_BYTES of
 * memory, and two words. */
int msg_tree_open(struct msg_state *m, uint64_t fifo_at, uint64_t words_at);
bool msg_tree_is_done(
	const struct msg_state *m, const struct weft_msg_done *done);
struct poll_loop msg_tree_loop(const struct msg_state *m);

/* Entries of struct msg_ops. */
int msg_tree_barrier(struct msg_state *m, struct msg_group *g);
int msg_tree_broadcast(struct msg_state *m, struct msg_group *g, uint32_t root,
	uint64_t at, uint64_t bytes);
int msg_tree_reduce(struct msg_state *m, struct msg_group *g, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n);
bool msg_tree_has_group(struct msg_state *m, const struct msg_group *g);
int msg_tree_open_group(struct msg_state *m, struct msg_group *g);
void msg_tree_close_group(struct msg_state *m, struct msg_group *g);

/* The first number that a process has of what sub-groups have. */
static inline uint32_t msg_first_of(uint32_t subgroup)
{
	return subgroup * MU_PER_SUBGROUP;
}

#endif
