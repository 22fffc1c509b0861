/*
 * Messages between processes, the same on every machine that has programs:
 * puts and gets, sends and receives, atomics and collectives.  A program that
 * uses nothing else runs on Blue Gene/Q and on QsNetII alike.
 *
 * A process is addressed by its rank: process p of node n has rank
 * n * weft_n_processes() + p, which is the node where a node has but one.  Of
 * all threads of a process one has a struct weft_msg, once.  All open theirs
 * alike, and the collectives are called by all in the same order.
 *
 * Memory.  An address is one of a process's memory, from 0 on: the node's, or
 * the process's part of it where there are several.  Interfaces' own calls
 * (weft/spi.h, weft/elan.h) know addresses of the node, where a process's
 * part begins at weft_msg_base().  On machines whose nodes have GPUs, addresses
 * of weft_gpu_allocate() may stand for those of puts, gets, sends, receives
 * and broadcasts: a rank's GPUs are those of its node.  ENOTSUP where their
 * memory is out of the network's reach (nic.software.p2p).
 *
 * Progress.  Whatever a process has to do for others, to take messages in, to
 * answer atomics, is done in its own calls: all that wait do it while they
 * wait, and weft_msg_progress() does it once.  Puts and gets need nothing of
 * the other process.
 *
 * Time.  Calls take what the interface below takes: descriptors and
 * registers of the message unit, stores into Elan4's command queues, and
 * loops that look at memory.  Free are the core's own copies, among them all
 * that a process sends to itself, finding out which of the words that are
 * waited for has changed, matching, and arithmetic.  Copies from or to GPU
 * memory take a GPU's copy engine: those of short messages, and all that a
 * process sends to itself.
 *
 * Errors.  Calls that return int return 0 or an error number: EINVAL for a
 * rank, counter or operation that there is not, EFAULT for bytes outside the
 * memories, EBUSY where too much is under way, EMSGSIZE where a message was
 * longer than its receiver's place, EBADF after weft_msg_fini().  Calls that
 * return nothing do nothing then, and all is done.
 */
#ifndef WEFT_MSG_H
#define WEFT_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
	WEFT_MSG_COUNTERS = 32, /* of a process */
	WEFT_MSG_DONES =
		64, /* puts and gets under way that somebody waits for */
	WEFT_MSG_EAGER = 480, /* bytes that a message may have to go at once */
	WEFT_MSG_SLOTS = 64, /* of a pair of processes, at most */
	WEFT_MSG_EARLY = 64, /* messages that wait for their receive, beside
			   those that wait in slots */
	WEFT_MSG_WORDS = 1536,
};

#define WEFT_MSG_ANY  UINT32_MAX /* rank or tag */
#define WEFT_MSG_NONE UINT32_MAX /* counter */

/* The caller's, and left alone by it; no copy of it works. */
struct weft_msg {
	uint64_t room[WEFT_MSG_WORDS];
};

struct weft_msg_options {
	/* Where the layer's own memory begins, a multiple of 4096, the same
	 * in all processes; 0: it is the end of the process's memory. */
	uint64_t at;
	/* Messages to a process that it has not taken in; 0: 8. */
	uint32_t slots;
	/* Messages of up to so many bytes go at once; 0: WEFT_MSG_EAGER. */
	uint32_t eager;
	/* When all are ready, which a launcher would see to: until
	 * then weft_msg_init() waits.  Picoseconds; 0: 10 us. */
	int64_t start;
	/* Collectives go by messages between processes, even where the
	 * network has its own. */
	bool software;
};

/* options may be NULL.  EBUSY where the machine's interface has no room for one
 * more process on the node, or for one more of these in the process.  Where it
 * fails *m stays as it was. */
int weft_msg_init(struct weft_msg *m, const struct weft_msg_options *options);
/* All processes', after all that they began: a barrier, and the end. */
int weft_msg_fini(struct weft_msg *m);

/* Bytes of a process's memory that it takes among so many. */
uint64_t weft_msg_memory(
	uint32_t n_ranks, const struct weft_msg_options *options);

uint32_t weft_msg_rank(const struct weft_msg *m);
uint32_t weft_msg_ranks(const struct weft_msg *m);

/* Where its memory begins in the node's. */
uint64_t weft_msg_base(void);

/* The process's own memory; false where it has no such bytes.  Free. */
bool weft_msg_load(uint64_t at, void *to, size_t n);
bool weft_msg_store(uint64_t at, const void *from, size_t n);

/* Does what is there to do, and takes the time of one look. */
void weft_msg_progress(struct weft_msg *m);

/* --- puts and gets --- */

/* What tells of the end of a put or get; the caller's, until it is waited
 * for, which it must be. */
struct weft_msg_done {
	uint32_t kind, index;
	uint64_t number;
};

/*
 * Writes bytes into another process's memory.  done tells that the source may
 * change; NULL: nobody wants to know.  When the bytes are there only the
 * other process's counter tells, which they are taken from; WEFT_MSG_NONE:
 * none.
 */
int weft_msg_put(struct weft_msg *m, uint32_t rank, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t counter, struct weft_msg_done *done);

/* Reads another process's memory.  done tells that the bytes are here; NULL:
 * it returns then. */
int weft_msg_get(struct weft_msg *m, uint32_t rank, uint64_t from, uint64_t to,
	uint64_t bytes, struct weft_msg_done *done);

/* Makes progress where it is not done. */
bool weft_msg_is_done(struct weft_msg *m, struct weft_msg_done *done);
void weft_msg_wait(struct weft_msg *m, struct weft_msg_done *done);

/*
 * Sets a counter to the bytes that are to come; before they can come, which
 * is sure if the call is before a barrier, or a message, that the others'
 * puts are after.
 */
int weft_msg_expect(struct weft_msg *m, uint32_t counter, uint64_t bytes);
/* Until they are here; the counter may then be set again. */
int weft_msg_wait_counter(struct weft_msg *m, uint32_t counter);

/* --- sends and receives --- */

struct weft_msg_status {
	uint32_t rank, tag;
	uint64_t bytes; /* of the message, also where fewer were taken */
	int error; /* 0 or EMSGSIZE: the rest is lost */
};

/* A send or receive under way; the caller's, left alone until its end. */
struct weft_msg_request {
	struct weft_msg_request *next;
	uint64_t at, bytes, from;
	uint32_t rank, tag, fin;
	uint32_t state, mark;
	struct weft_msg_done done;
	struct weft_msg_status status;
};

/*
 * Sends to a rank.  Messages of a rank with a tag that is the same, or which
 * any receive could take, are received in the order in which they were sent.
 * Short ones go at once while the receiver has a slot for them, and end when
 * they have gone; of long ones the receiver is told, and they end when it
 * has got them.  A tag is below WEFT_MSG_ANY.
 */
int weft_msg_send_start(struct weft_msg *m, uint32_t rank, uint32_t tag,
	uint64_t from, uint64_t bytes, struct weft_msg_request *r);
/* Receives up to max bytes from a rank, or WEFT_MSG_ANY, with a tag, or
 * WEFT_MSG_ANY: the message that arrived first of those that nobody else took.
 */
int weft_msg_receive_start(struct weft_msg *m, uint32_t rank, uint32_t tag,
	uint64_t to, uint64_t max, struct weft_msg_request *r);

/* Makes progress where it has not ended.  status may be NULL. */
bool weft_msg_test(struct weft_msg *m, struct weft_msg_request *r,
	struct weft_msg_status *status);
/* Waits until it has ended; returns the status' error. */
int weft_msg_finish(struct weft_msg *m, struct weft_msg_request *r,
	struct weft_msg_status *status);

/* Both start and finish. */
int weft_msg_send(struct weft_msg *m, uint32_t rank, uint32_t tag,
	uint64_t from, uint64_t bytes);
int weft_msg_receive(struct weft_msg *m, uint32_t rank, uint32_t tag,
	uint64_t to, uint64_t max, struct weft_msg_status *status);

/* --- atomics --- */

enum weft_msg_atomic {
	WEFT_MSG_ADD,
	WEFT_MSG_OR,
	WEFT_MSG_XOR,
	WEFT_MSG_MAX, /* unsigned */
	WEFT_MSG_FETCH_ADD,
	WEFT_MSG_ATOMICS,
};

/*
 * Changes the word at an address, a multiple of eight, of a rank and returns
 * when that has been done; *old is the word before, old may be NULL.  The
 * other process does it in a call of its own (see Progress), or the interface
 * where it can; such changes of a word exclude each other, not puts.  EIO: the
 * interface got no answer, so that nobody knows whether it has been done.
 */
int weft_msg_atomic(struct weft_msg *m, uint32_t rank, uint64_t at,
	enum weft_msg_atomic op, uint64_t operand, uint64_t *old);

/* --- collectives --- */

enum weft_msg_reduction {
	WEFT_MSG_SUM_DOUBLE, /* of doubles, always in the same order */
	WEFT_MSG_SUM_INT, /* of int64_t, goes round */
	WEFT_MSG_MIN_INT,
	WEFT_MSG_MAX_INT,
	WEFT_MSG_REDUCTIONS,
};

/* Returns when all have called it. */
int weft_msg_barrier(struct weft_msg *m);
/* The root's bytes at an address of each process. */
int weft_msg_broadcast(
	struct weft_msg *m, uint32_t root, uint64_t at, uint64_t bytes);
/* n elements of eight bytes each from every process; the result is the root's,
 * at to, which may be where they are from; others need no to. */
int weft_msg_reduce(struct weft_msg *m, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n);
/* The same result to all, to the last bit. */
int weft_msg_allreduce(struct weft_msg *m, enum weft_msg_reduction op,
	uint64_t from, uint64_t to, uint64_t n);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
