/*
 * Gemini's network interface: what programs' stores become in the network.
 *
 * A transaction puts or gets bytes of another node's memory by fast memory
 * access (FMA): the program stores lines of up to 64 B into a window, and each
 * line is a packet that writes there; or it stores control words, each of which
 * gets up to 64 B.  Memory is named by a handle (MDH) that its owner has
 * registered, and an offset.  Atomic operations on words of that memory go the
 * same way; they are done by the target's interface (amo.c).
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
	GEMINI_CQS = 16,
	GEMINI_NO_CQ = GEMINI_CQS,
	GEMINI_CQ_OF_HANDLE, /* the one that the handle names at the target */
};

enum gemini_op {
	GEMINI_PUT,
	GEMINI_GET,
	GEMINI_AMO, /* an atomic memory operation on a word */
	GEMINI_FETCH, /* one that returns what the word was */
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
	int64_t poll_period, poll_load; /* of a program, ps */
};

struct gemini_post {
	uint32_t op, node;
	uint32_t handle; /* of its bytes there */
	uint64_t offset;
	uint64_t here, bytes; /* an address of the program's */
	const void *from; /* of a put: its bytes in place of these, or NULL */
	bool is_ordered; /* hashed, so that its packets are executed in order */
	/* of an atomic, whose bytes are 8; what it fetches comes to here */
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

#endif
