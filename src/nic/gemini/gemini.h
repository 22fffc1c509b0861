/*
 * Gemini's network interface: what programs' stores become in the network.
 *
 * A transaction puts or gets bytes of another node's memory by fast memory
 * access (FMA): the program stores lines of up to 64 B into a window, and each
 * line is a packet that writes there; or it stores control words, each of which
 * gets up to 64 B.  Memory is named by a handle (MDH) that its owner has
 * registered, and an offset.  Atomic operations on words of that memory go the
 * same way; they are done by the target's interface (amo.c).  Long ones are
 * better left to the block transfer engine (BTE): the kernel queues a
 * descriptor, and the engine reads memory and makes the packets while the
 * program goes on.  It also sends: to a buffer that the receiver's kernel has
 * posted, wherever that is.
 *
 * Packets arrive in any order and are executed as they come.  Every request is
 * answered, and the output request buffer (ORB) knows those that are not.  When
 * all packets of a transaction are answered there is an event in a completion
 * queue of the sender, if it wants one; when all have been delivered, one in a
 * queue of the target.  What is wrong with a packet is in the sender's event.
 */
#ifndef NIC_GEMINI_GEMINI_H
#define NIC_GEMINI_GEMINI_H

#include "host/atomic.h"
#include "nic/util/ranges.h"
#include "nic/util/ticks.h"

enum {
	GEMINI_LINE = 64,
	GEMINI_CQS = 32,
	GEMINI_NO_CQ = GEMINI_CQS,
	GEMINI_CQ_OF_HANDLE, /* the one that the handle names at the target */
};

/* The bytes of a block transfer, at most. */
#define GEMINI_BLOCK (UINT64_C(1) << 32)

enum { GEMINI_PORTS = 8 }; /* of a node, that buffers are posted to */

enum gemini_op {
	GEMINI_PUT,
	GEMINI_GET,
	GEMINI_AMO, /* an atomic memory operation on a word */
	GEMINI_FETCH, /* one that returns what the word was */
	GEMINI_SEND, /* the block transfer engine's */
	GEMINI_OPS
};

/* Atomic memory operations, by what they make of a word w. */
enum gemini_amo {
	GEMINI_ADD, /* w + operand[0] */
	GEMINI_AND, /* w & operand[0] */
	GEMINI_OR, /* w | operand[0] */
	GEMINI_XOR, /* w ^ operand[0] */
	GEMINI_AND_XOR, /* (w & operand[0]) ^ operand[1] */
	GEMINI_SWAP_IF, /* operand[1] where w is operand[0]; fetches only */
	GEMINI_AMOS
};

enum gemini_right { GEMINI_READ = 1, GEMINI_WRITE = 2 };

enum gemini_status {
	GEMINI_OK = RANGE_OPEN,
	GEMINI_BAD_HANDLE = RANGE_NONE,
	GEMINI_OUT_OF_BOUNDS = RANGE_OUTSIDE,
	GEMINI_NO_RIGHT = RANGE_FORBIDDEN,
	GEMINI_BAD_QUEUE, /* no such completion queue at the target */
	GEMINI_UNALIGNED, /* an atomic operation, not on a word */
	GEMINI_TIMED_OUT, /* not answered */
	GEMINI_NO_BUFFER, /* the receiver has posted none */
	GEMINI_BAD_WORD, /* of a table has two bad bits */
	GEMINI_STATUSES,
};

struct gemini_params {
	int64_t output, input, response; /* latencies, ps */
	int64_t orb; /* requests under way */
	int64_t pending; /* of others, taken in before they are answered */
	int64_t timeout; /* of one, ps */
	int64_t routing; /* 0: adaptive, 1: hashed */
	int64_t amo_interval; /* from one atomic to the next, ps */
	int64_t amo_lines, amo_reads; /* of its cache; under way */
	int64_t amo_update; /* 0: every change is written; 1: lazily */
	int64_t store; /* of a line by a core, ps */
	int64_t kernel; /* of a call, ps */
	int64_t bte_from; /* bytes, that programs leave to the engine */
	/* of block transfers; times in ps */
	int64_t channels, reads, start, interval;
	int64_t poll_period, poll_load; /* of a program, ps */
};

struct gemini_post {
	uint32_t op, node;
	uint32_t handle; /* of its bytes there; of a send: the port */
	uint32_t tag; /* that the handle must have */
	uint64_t offset;
	uint64_t here, bytes; /* an address of the program's */
	const void *from; /* of a put: its bytes in place of these, or NULL */
	bool is_ordered; /* hashed, so that its packets are executed in order */
	/* Of a block transfer: those that the node's kernel queues later begin
	 * when this one, and all before it, are complete. */
	bool is_fence;
	/* Of an atomic, whose bytes are 8; what it fetches comes to here. */
	uint32_t amo;
	uint64_t operand[2];
	bool is_cached; /* whether the target may keep the word */
	/* Queues of events, or GEMINI_NO_CQ, and what these say. */
	uint32_t cq, remote_cq;
	uint64_t data, remote_data;
};

/* What a completion queue's entries are; a number is 1 + those before that were
 * not lost. */
struct gemini_event {
	uint64_t data;
	uint32_t status; /* an enum gemini_status */
	uint32_t number;
};

extern const struct nic_ops gemini_ops;

/* The interface, if it is one of these; else a BUG. */
struct nic *gemini_check(struct nic *nic);

struct ranges *gemini_handles(struct nic *nic, site_id s);
/* A queue of so many entries, a power of two, in a node's memory. */
int gemini_cq_open(
	struct nic *nic, site_id s, uint32_t cq, uint64_t at, uint32_t entries);
void gemini_cq_close(struct nic *nic, site_id s, uint32_t cq);
/* A program has taken so many events of it, ever. */
void gemini_cq_take(struct nic *nic, site_id s, uint32_t cq, uint32_t taken);
/* Events of it that had no room, since it was opened. */
uint32_t gemini_cq_lost(struct nic *nic, site_id s, uint32_t cq);
/* Flags of a handle, beside its rights, by which GEMINI_CQ_OF_HANDLE means a
 * queue that is open, until that is closed. */
uint32_t gemini_events_to(struct nic *nic, site_id s, uint32_t cq);

/*
 * From a program: begins a transaction.  It takes the time of its stores.
 * EINVAL for what cannot be, EFAULT where a put's bytes are not the program's
 * to read.
 */
int gemini_fma(struct nic *nic, const struct gemini_post *p);

/*
 * From a program: words that the node's cache of atomics has are written to
 * memory, and dropped, so that the node's own stores to them count again.  The
 * event comes when memory has them.  EINVAL: no such queue.
 */
int gemini_amo_flush(struct nic *nic, uint32_t cq, uint64_t data);

/* What a send is written to, once. */
struct gemini_buffer {
	uint32_t port;
	uint64_t at;
	uint32_t bytes;
	/* Where there is an event when all of a send has come, or its rest
	 * did not fit: its data is this, and below it 32 bits of its length. */
	uint32_t cq, data;
};

/*
 * From a program, by its kernel, whose time it takes: queues a block transfer.
 * What a put or a send transfers is read from memory later, until its event;
 * p->from is NULL.  There is no order between transfers, but for fences.
 * EINVAL for what cannot be, more than GEMINI_BLOCK bytes say, EFAULT where
 * its bytes are not there.
 */
int gemini_bte(struct nic *nic, const struct gemini_post *p);
/* Whether libraries leave so many bytes to it. */
bool gemini_is_block(const struct nic *nic, uint64_t bytes);
/* The same: posts a buffer to the program's node. */
int gemini_bte_receive(struct nic *nic, const struct gemini_buffer *b);
/* Takes back those of a port that no send has been matched to; returns how
 * many these were. */
uint32_t gemini_bte_withdraw(struct nic *nic, site_id s, uint32_t port);

#endif
