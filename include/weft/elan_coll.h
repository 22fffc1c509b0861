/*
 * QsNetII's collectives: barriers, broadcasts, reductions, scatters and gathers
 * that cards and network execute.  The functions are called from programs like
 * those of weft/elan.h, which includes this file; the man page is weft-elan(7).
 */
#ifndef WEFT_ELAN_COLL_H
#define WEFT_ELAN_COLL_H

#include "weft/elan.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- waiting for collectives --- */

/*
 * How a library waits for a collective: it can do other things meanwhile.  It
 * returns when the word at an address is at least a number, or when one of the
 * collective's queues has stopped (elan_cq_error()).
 */
struct elan_wait {
	void (*until)(void *arg, uint64_t at, uint64_t least);
	void *arg; /* NULL: programs poll the word, like elan_wait_word() */
};

/* --- barrier --- */

/*
 * A barrier of all processes of the job, of which each node has one.  A process
 * stores the number of the round into a word of its card's memory.  Rank 0 asks
 * all by a global query, which its card repeats until the answer is yes; then
 * its card broadcasts the number into the memory of all nodes.  Between the
 * last call and the release no CPU has a part in that.
 *
 * The query names one address of card memory for all: processes must take and
 * give back card memory, and open queues, in the same order before they open a
 * barrier.  All must have opened it before rank 0 enters it for the first time.
 *
 * While a process does not come, rank 0's card asks again and again, about once
 * per microsecond.  A run in which nothing else happens for 10 times
 * router.stall, and in which no program computes, ends: it cannot go on.
 */
enum elan_hgsync_by { ELAN_HGSYNC_CARD, ELAN_HGSYNC_HOST, ELAN_HGSYNC_CPU };

enum { ELAN_HGSYNC_BYTES = 32 }; /* of the node's memory */

/* A barrier.  Programs must not change it. */
struct elan_hgsync {
	struct elan_cq queue, sender;
	uint64_t at, card; /* its memory, and the card's */
	uint64_t round; /* that was entered last */
	uint32_t by; /* an enum elan_hgsync_by: nic.hgsync */
	weft_time busy; /* until the bus has taken the stores of a call */
	int32_t failed; /* for ever, by an error number */
	bool is_open, is_root, is_started;
	struct elan_wait wait; /* programs may change it; zeros at first */
};

/*
 * Opens a barrier, with command queues queue and queue + 1, and
 * ELAN_HGSYNC_BYTES of the node's memory at an address that is the same for
 * all, a multiple of eight.  EINVAL also if nodes have several processes,
 * EFAULT; errors of elan_cq_open(), elan_cq_map() and elan_card_alloc().
 */
int elan_hgsync_open(struct elan_hgsync *h, uint32_t queue, uint64_t at);
/* EBADF; EBUSY between elan_hgsync_start() and the end of the round, and while
 * the card works on it. */
int elan_hgsync_close(struct elan_hgsync *h);
/*
 * Enters the barrier, and waits until all have, like elan_wait_word().  EBADF;
 * EINVAL if it is not at the same address of card memory everywhere: the first
 * round then fails for all.  EIO if rank 0's queue has stopped, because a node
 * has died or closed the barrier: rank 0 tells those that it reaches, and
 * others wait for ever.  Each later round fails, too.
 */
int elan_hgsync(struct elan_hgsync *h);
/* The same in two calls, between which the program can compute.  EBUSY if the
 * round before has not been waited for. */
int elan_hgsync_start(struct elan_hgsync *h);
int elan_hgsync_wait(struct elan_hgsync *h);

/* --- collectives --- */

/*
 * Broadcasts, reductions, scatters and gathers of all processes of the job, of
 * which each node has one, and whose nodes lie side by side.  All processes
 * open a group with the same options, before one of them uses it, and make its
 * calls in the same order, with the same root, length and operation.
 *
 * Cards pass on, copy and combine what belongs to a call: a thread on each card
 * takes messages out of input queues, in the order of calls.  A process may be
 * a few calls ahead of others: one that only sends does not wait for them,
 * except in each seventh call in a row, before which all meet.
 *
 * A group takes two command queues, three input queues, code, an event, an
 * address of a page, memory of the card, and a part of the node's memory, which
 * the program must not change.
 */
enum { ELAN_HGROUP_BYTES = 64 }; /* of the node's memory */

#define ELAN_ALL UINT32_MAX /* as the root of a reduction */

/* Of 64-bit integers, signed where that matters and nothing else is said. */
enum elan_reduction {
	ELAN_SUM, /* wraps around */
	ELAN_MIN,
	ELAN_MAX,
	ELAN_MIN_UNSIGNED,
	ELAN_MAX_UNSIGNED,
	ELAN_AND,
	ELAN_OR,
	ELAN_XOR,
	ELAN_REDUCTIONS,
};

/* A group.  Programs must not change it. */
struct elan_hgroup {
	struct elan_cq queue, sender;
	uint64_t at, round;
	uint32_t input, code, event;
	uint32_t ahead; /* rounds since all met */
	int32_t failed; /* for ever, by an error number */
	struct elan_wait wait; /* programs may change it; zeros at first */
};

struct elan_hgroup_options {
	uint32_t queue; /* of two command queues that are not open */
	uint32_t input; /* of three input queues that are not open */
	uint32_t code; /* that is not loaded */
	uint32_t event; /* a number that is not used */
	uint64_t at; /* ELAN_HGROUP_BYTES of memory, at a multiple of 8 */
};

/* EINVAL also if nodes have several processes or nodes of others lie between
 * them, EFAULT; errors of elan_cq_open(), elan_cq_map(), elan_iq_open() and
 * elan_thread_load(). */
int elan_hgroup_open(
	struct elan_hgroup *g, const struct elan_hgroup_options *o);
/* Waits for the end of all calls of this process.  EBADF; EBUSY after EIO, or
 * if others still send to it. */
int elan_hgroup_close(struct elan_hgroup *g);

/*
 * Each of the following returns EBADF, EINVAL for a root or operation that does
 * not exist, EFAULT for memory that is not the process's, and nothing is sent
 * then; EIO, for ever, if one of the group's queues has stopped, for example
 * because a node has died.  Other processes then wait for ever.  EMSGSIZE if
 * processes have named different lengths: what was received is not valid.
 *
 * They wait like elan_wait_word(), if they wait, until the memory of this
 * process may be used again.
 */

/*
 * Copies the root's bytes to all others.  Up to ELAN_SLOT_MOST bytes are sent
 * at once, and wait in input queues for processes that have not come.  Longer
 * ones are sent after all have come, into their memories, and need the same
 * address everywhere (EINVAL for all).
 */
int elan_hbcast(
	struct elan_hgroup *g, uint32_t root, uint64_t at, uint64_t bytes);
/*
 * Combines n words of each process, at from, a multiple of eight; the result is
 * at to, of the root or, with ELAN_ALL, of all.  It goes up a tree of four, in
 * pieces of ELAN_PACKET bytes, one after the other.
 */
int elan_hreduce(struct elan_hgroup *g, uint32_t root, enum elan_reduction op,
	uint64_t from, uint64_t to, uint64_t n);
/* The i-th part of so many bytes at the root's from comes to rank i's to; by
 * broadcasts, of which each takes its part. */
int elan_hscatter(struct elan_hgroup *g, uint32_t root, uint64_t from,
	uint64_t to, uint64_t bytes);
/* Rank i's bytes at from become the i-th part of those at the root's to.  All
 * meet before, and for each further ELAN_PACKET bytes. */
int elan_hgather(struct elan_hgroup *g, uint32_t root, uint64_t from,
	uint64_t to, uint64_t bytes);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
