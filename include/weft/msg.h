/*
 * Messages between processes: puts and gets, sends and receives, atomics and
 * collectives.  A program that uses only this header and weft/program.h runs on
 * every machine that has a network interface.  The man page is weft-msg(7).
 *
 * Processes.  A process is addressed by its rank: process p of node n has rank
 * n * weft_n_processes() + p.  With one process per node the rank is the node.
 * Exactly one thread of each process has a struct weft_msg.  All processes call
 * weft_msg_init() with the same options, and the collectives in the same order.
 *
 * Memory.  An address is an address in the process's memory, from 0: the
 * node's memory, or the process's part of it if the node has several
 * processes.  The calls of interfaces (weft/spi.h, weft/elan.h) use addresses
 * of the node, where the process's part begins at weft_msg_base().  If nodes
 * have GPUs, puts, gets, sends, receives and broadcasts also accept addresses
 * of weft_gpu_allocate(); a rank's GPUs are those of its node.  They return
 * ENOTSUP if the network cannot access GPU memory (nic.software.p2p).
 *
 * Progress.  A process serves other processes (accepts messages, answers
 * atomics) only inside its own calls: calls that wait do so while they wait,
 * and weft_msg_progress() does so once.  Puts and gets do not need the other
 * process, and neither do messages if the network's card matches them, as on
 * QsNetII (struct weft_msg_options).
 *
 * Time.  Calls take the time of the interface below: descriptors and
 * registers of the message unit, stores into Elan4's command queues, and poll
 * loops.  These take no simulated time: copies by the core (including
 * messages of a process to itself), matching in calls, arithmetic, and finding
 * the awaited word that has changed.  Copies from or to GPU memory, for short
 * messages and for messages of a process to itself, take the time of a GPU's
 * copy engine.
 *
 * Errors.  Calls that return int return 0 or an error number: EINVAL for an
 * invalid rank, counter or operation, EFAULT for bytes outside the memories,
 * EBUSY if too many operations are in flight, EMSGSIZE if a message was longer
 * than the receiver's buffer, EIO if the other process cannot be reached any
 * more, EBADF after weft_msg_fini().  Calls that return nothing have no effect
 * after weft_msg_fini(), and everything is done.
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
	WEFT_MSG_COUNTERS = 32, /* per process */
	WEFT_MSG_DONES = 64, /* puts and gets in flight with a weft_msg_done */
	WEFT_MSG_EAGER = 480, /* longest message that is sent at once, bytes */
	WEFT_MSG_EAGER_MOST = 16 << 10, /* the same if a program asks for it */
	WEFT_MSG_SLOTS = 64, /* per pair of processes, at most */
	WEFT_MSG_POOL = 4096, /* blocks of slots, at most */
	WEFT_MSG_WORDS = 1024,
};

#define WEFT_MSG_ANY  UINT32_MAX /* rank or tag */
#define WEFT_MSG_NONE UINT32_MAX /* counter */

/* Owned by the caller, who must neither change nor copy it. */
struct weft_msg {
	uint64_t room[WEFT_MSG_WORDS];
};

/* Who matches messages with receives. */
enum weft_msg_matching {
	WEFT_MSG_MATCH_BEST, /* the network's card if it can, or calls */
	WEFT_MSG_MATCH_HOST, /* calls of the receiving process */
	WEFT_MSG_MATCHINGS,
};

struct weft_msg_options {
	/* Address of the layer's own memory, a multiple of 4096, the same
	 * in all processes; 0: at the end of the process's memory. */
	uint64_t at;
	/* Slots for messages of each pair of processes; 0: 8.  Without effect
	 * if the card matches messages. */
	uint32_t slots;
	/* Longest message that is sent at once, in bytes; 0: WEFT_MSG_EAGER.
	 * More, up to WEFT_MSG_EAGER_MOST, take several slots; half of the
	 * slots and one more must be enough, unless slots is 0.
	 * If the card matches messages, the machine decides what is sent at
	 * once, but longer messages than this end when they are matched; 0: the
	 * machine decides that, too. */
	uint32_t eager;
	/* Time at which all processes are ready, in place of a launcher:
	 * weft_msg_init() waits until then.  Picoseconds; 0: 10 us. */
	int64_t start;
	/* Collectives use messages between processes, even if the network
	 * has collectives. */
	bool software;
	/* The same in all processes. */
	enum weft_msg_matching matching;
	/* For jobs of many processes, the same in all: each pair has two slots,
	 * and each process has so many blocks of slots for those that send to
	 * it, up to WEFT_MSG_POOL.  0: each pair has all slots.  Without effect
	 * if the card matches messages. */
	uint32_t pool;
};

/* options may be NULL.  EBUSY: the machine's interface has no room for another
 * process on the node, or the process already has a struct weft_msg.  ENOMEM:
 * the card's memory is full.  On failure *m is unchanged. */
int weft_msg_init(struct weft_msg *m, const struct weft_msg_options *options);
/* A barrier, then the end.  All processes must call it, after all their
 * operations have completed.  EBUSY: some have not, or a message has come that
 * was not received. */
int weft_msg_fini(struct weft_msg *m);

/* Bytes of a process's memory that the layer needs for n_ranks processes, on
 * any machine as its file is. */
uint64_t weft_msg_memory(
	uint32_t n_ranks, const struct weft_msg_options *options);

uint32_t weft_msg_rank(const struct weft_msg *m);
uint32_t weft_msg_ranks(const struct weft_msg *m);

/* Address of the process's memory in the node's memory. */
uint64_t weft_msg_base(void);

/* Copies from or to the process's own memory, in no simulated time.  False if
 * the bytes are outside of it. */
bool weft_msg_load(uint64_t at, void *to, size_t n);
bool weft_msg_store(uint64_t at, const void *from, size_t n);

/* Serves other processes once, and takes the time of one poll. */
void weft_msg_progress(struct weft_msg *m);

/* --- puts and gets --- */

/* Reports the end of a put or get.  Allocated by the caller, who must keep it
 * until weft_msg_wait() has returned or weft_msg_is_done() was true, and must
 * call one of them. */
struct weft_msg_done {
	uint32_t kind, index;
	uint64_t number;
};

/*
 * Writes bytes into another process's memory.  done is set when the source
 * buffer may be reused; may be NULL.  Only a counter of the other process
 * reports the arrival: the bytes are subtracted from it; WEFT_MSG_NONE: no
 * counter.
 */
int weft_msg_put(struct weft_msg *m, uint32_t rank, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t counter, struct weft_msg_done *done);

/* Reads another process's memory.  done is set when the bytes have arrived;
 * NULL: returns when they have arrived. */
int weft_msg_get(struct weft_msg *m, uint32_t rank, uint64_t from, uint64_t to,
	uint64_t bytes, struct weft_msg_done *done);

/* weft_msg_is_done() makes progress if the answer is no. */
bool weft_msg_is_done(struct weft_msg *m, struct weft_msg_done *done);
void weft_msg_wait(struct weft_msg *m, struct weft_msg_done *done);

/*
 * Sets a counter to the number of expected bytes.  Call it before any of them
 * can arrive: before a barrier or a message that the others' puts follow.
 */
int weft_msg_expect(struct weft_msg *m, uint32_t counter, uint64_t bytes);
/* Waits until they have arrived; the counter may then be set again. */
int weft_msg_wait_counter(struct weft_msg *m, uint32_t counter);

/* --- sends and receives --- */

struct weft_msg_status {
	uint32_t rank, tag;
	uint64_t bytes; /* length of the message, even if it was truncated */
	int error; /* 0, or EMSGSIZE: the rest of the message is lost */
};

/* A send or receive in flight.  Allocated by the caller, who must not touch it
 * until the end. */
struct weft_msg_request {
	struct weft_msg_request *next;
	uint64_t at, bytes, from;
	uint32_t rank, tag, fin;
	uint32_t state, mark;
	struct weft_msg_done done;
	struct weft_msg_status status;
};

/*
 * Sends to a rank.  Messages from one rank that match the same receive are
 * received in the order in which they were sent.  A short message is sent at
 * once if the receiver has a free slot, and ends when it has been sent.  Of a
 * long message only a notice is sent; it ends when the receiver has fetched it.
 * A tag is below WEFT_MSG_ANY.
 */
int weft_msg_send_start(struct weft_msg *m, uint32_t rank, uint32_t tag,
	uint64_t from, uint64_t bytes, struct weft_msg_request *r);
/* Receives up to max bytes from a rank, or WEFT_MSG_ANY, with a tag, or
 * WEFT_MSG_ANY: the first message to arrive that no other receive has taken. */
int weft_msg_receive_start(struct weft_msg *m, uint32_t rank, uint32_t tag,
	uint64_t to, uint64_t max, struct weft_msg_request *r);

/* True if the request has ended; otherwise makes progress.  status may be
 * NULL. */
bool weft_msg_test(struct weft_msg *m, struct weft_msg_request *r,
	struct weft_msg_status *status);
/* Waits until the request has ended; returns the error of the status. */
int weft_msg_finish(struct weft_msg *m, struct weft_msg_request *r,
	struct weft_msg_status *status);

/* Start and finish in one call. */
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
 * Changes the word at an address of a rank, a multiple of eight, and returns
 * when this has been done.  *old is the previous value; old may be NULL.  The
 * other process executes it in one of its calls (see Progress), or the
 * interface if it can.  Atomics on a word exclude each other, but not puts.
 * EIO: the interface got no answer; the word may have been changed or not.
 */
int weft_msg_atomic(struct weft_msg *m, uint32_t rank, uint64_t at,
	enum weft_msg_atomic op, uint64_t operand, uint64_t *old);

/* --- collectives --- */

enum weft_msg_reduction {
	WEFT_MSG_SUM_DOUBLE, /* of doubles, always in the same order */
	WEFT_MSG_SUM_INT, /* of int64_t, wraps around */
	WEFT_MSG_MIN_INT,
	WEFT_MSG_MAX_INT,
	WEFT_MSG_MIN_UINT, /* of uint64_t */
	WEFT_MSG_MAX_UINT,
	WEFT_MSG_AND_BITS,
	WEFT_MSG_OR_BITS,
	WEFT_MSG_XOR_BITS,
	WEFT_MSG_MIN_DOUBLE,
	WEFT_MSG_MAX_DOUBLE,
	WEFT_MSG_REDUCTIONS,
};

/* Returns when all processes have called it. */
int weft_msg_barrier(struct weft_msg *m);
/* Copies the root's bytes to the same address of every process. */
int weft_msg_broadcast(
	struct weft_msg *m, uint32_t root, uint64_t at, uint64_t bytes);
/* Reduces n elements of eight bytes each from every process.  The root gets the
 * result at to, which may equal from; other processes ignore to. */
int weft_msg_reduce(struct weft_msg *m, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n);
/* The same for all processes, whose results are equal to the last bit. */
int weft_msg_allreduce(struct weft_msg *m, enum weft_msg_reduction op,
	uint64_t from, uint64_t to, uint64_t n);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
