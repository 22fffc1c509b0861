/*
 * Gemini's network interface.
 *
 * A transaction puts or gets bytes of another node's memory by fast memory
 * access (FMA): the program stores lines of up to 64 B into a window, each of
 * which becomes a packet that writes there, or control words, each of which
 * gets up to 64 B.  Memory is named by a handle (MDH) that its owner has
 * registered, and an offset.  The target's interface executes atomic operations
 * on words of that memory (amo.c).  Long transfers are left to the block
 * transfer engine (BTE): the kernel queues a descriptor, and the engine reads
 * memory and makes the packets while the program goes on.  It also sends to
 * buffers that the receiver's kernel has posted.
 *
 * Packets arrive in any order and are executed as they come.  Every request is
 * answered; the output request buffer (ORB) holds the unanswered ones.  When
 * all packets of a transaction are answered, there is an event in a completion
 * queue of the sender, if it wants one; when all are delivered, one in a queue
 * of the target.  The sender's event reports errors.
 */
#ifndef NIC_GEMINI_GEMINI_H
#define NIC_GEMINI_GEMINI_H

#include "host/atomic.h"
#include "nic/util/ranges.h"
#include "nic/util/ticks.h"

enum {
	GEMINI_LINE = 64,
	GEM_LINES = 2, /* of nic.routing */
	GEMINI_CQS = 32,
	GEMINI_NO_CQ = GEMINI_CQS,
	GEMINI_CQ_OF_HANDLE, /* the one that the handle names at the target */
};

/* The longest block transfer, bytes. */
#define GEMINI_BLOCK (UINT64_C(1) << 32)

enum { GEMINI_PORTS = 8 }; /* of a node, for buffers of sends */

enum {
	GEMINI_WINDOWS = 64, /* FMA descriptors of a node */
	GEMINI_HANDLES = 4096, /* that a node registers */
	GEMINI_PE_BITS = 18,
	GEMINI_PE_LOW = 6, /* low bits, which are not translated */
	GEMINI_OFFSET_BITS = 40,
};

/* The longest window, bytes. */
#define GEMINI_WINDOW (UINT64_C(1) << 30)

enum gemini_op {
	GEMINI_PUT,
	GEMINI_GET,
	GEMINI_AMO, /* an atomic memory operation on a word */
	GEMINI_FETCH, /* one that returns the previous value */
	GEMINI_SEND, /* the block transfer engine's */
	GEMINI_OPS
};

/* Atomic memory operations, by the new value of a word w. */
enum gemini_amo {
	GEMINI_ADD, /* w + operand[0] */
	GEMINI_AND, /* w & operand[0] */
	GEMINI_OR, /* w | operand[0] */
	GEMINI_XOR, /* w ^ operand[0] */
	GEMINI_AND_XOR, /* (w & operand[0]) ^ operand[1] */
	GEMINI_SWAP_IF, /* operand[1] where w is operand[0]; fetches only */
	GEMINI_AMOS
};

/* GEMINI_DMAPP is no right: the handle belongs to DMAPP. */
enum gemini_right { GEMINI_READ = 1, GEMINI_WRITE = 2, GEMINI_DMAPP = 4 };

enum gemini_status {
	GEMINI_OK = RANGE_OPEN,
	GEMINI_BAD_HANDLE = RANGE_NONE,
	GEMINI_OUT_OF_BOUNDS = RANGE_OUTSIDE,
	GEMINI_NO_RIGHT = RANGE_FORBIDDEN,
	GEMINI_BAD_QUEUE, /* no such completion queue at the target */
	GEMINI_UNALIGNED, /* an atomic operation, not on a word */
	GEMINI_TIMED_OUT, /* not answered */
	GEMINI_NO_BUFFER, /* the receiver has posted none */
	GEMINI_BAD_PE, /* no such node, or not of the job */
	GEMINI_BAD_WORD, /* stored into a get window, no control word */
	GEMINI_BAD_MEMORY, /* a word of a table has two bad bits */
	GEMINI_STATUSES,
};

struct gemini_params {
	int64_t output, input, response; /* latencies, ps */
	int64_t orb; /* requests under way */
	int64_t ssids; /* transactions under way */
	int64_t rmt; /* transactions of other nodes that a node counts */
	int64_t pending; /* unanswered requests of other nodes, taken in */
	int64_t responses; /* 1: they wait in line with requests */
	int64_t timeout; /* of one, ps */
	int64_t routing; /* 0: adaptive, 1: hashed, GEM_LINES */
	int64_t amo_interval; /* from one atomic to the next, ps */
	int64_t amo_lines, amo_reads; /* of its cache; under way */
	int64_t amo_update; /* 0: every change is written; 1: lazily */
	int64_t store; /* of a line by a core, ps */
	int64_t kernel; /* of a call, ps */
	int64_t bte_from; /* least bytes that libraries leave to the engine */
	/* of block transfers; times in ps */
	int64_t channels, reads, start, interval;
	int64_t poll_period, poll_load; /* of a program, ps */
};

struct gemini_post {
	uint32_t op, node;
	bool is_virtual; /* the node is a PE of the job (gemini_ntt_load()) */
	uint32_t handle; /* of its bytes there; of a send: the port */
	uint32_t tag; /* that the handle must have */
	uint64_t offset;
	uint64_t here, bytes; /* an address of the program's */
	const void *from; /* of a put: its bytes instead, or NULL */
	bool is_ordered; /* hashed: its packets are executed in order */
	bool is_by_line; /* then only packets to one line of memory are */
	/* Of a block transfer: later ones of the node begin when this one and
	 * all before it are complete. */
	bool is_fence;
	/* Of an atomic, with 8 bytes; the fetched value goes to here. */
	uint32_t amo;
	uint64_t operand[2];
	bool is_cached; /* whether the target may keep the word */
	/* Queues of events, or GEMINI_NO_CQ, and the events' data. */
	uint32_t cq, remote_cq;
	uint64_t data, remote_data;
};

/* An entry of a completion queue; numbers count from 1, without lost events. */
struct gemini_event {
	uint64_t data;
	uint32_t status; /* an enum gemini_status */
	uint32_t number;
};

extern const struct nic_ops gemini_ops;

struct ranges *gemini_handles(struct nic *nic, site_id s);
/*
 * Loads the nodes of a job's virtual PEs.  A table translates only the upper
 * bits of PEs, so EINVAL if the lower GEMINI_PE_LOW ones of a virtual PE and
 * its node differ, or if PEs with the same upper bits are on nodes with
 * different ones; then the table is unchanged.
 */
int gemini_ntt_load(
	struct nic *nic, site_id s, const uint32_t *nodes, uint32_t n);
/* A queue in a node's memory; entries is a power of two. */
int gemini_cq_open(
	struct nic *nic, site_id s, uint32_t cq, uint64_t at, uint32_t entries);
void gemini_cq_close(struct nic *nic, site_id s, uint32_t cq);
/* The number of events that the program has taken, ever. */
void gemini_cq_take(struct nic *nic, site_id s, uint32_t cq, uint32_t taken);
/* The number of events that had no room, since it was opened. */
uint32_t gemini_cq_lost(struct nic *nic, site_id s, uint32_t cq);
/* Flags of a handle, in addition to its rights, that make an open queue its
 * GEMINI_CQ_OF_HANDLE until the queue is closed. */
uint32_t gemini_events_to(struct nic *nic, site_id s, uint32_t cq);

/* From a program: begins a transaction.  It takes the time of its stores.
 * EINVAL for invalid values, EFAULT if the program may not read a put's
 * bytes. */
int gemini_fma(struct nic *nic, const struct gemini_post *p);

/*
 * A descriptor: the meaning of stores into its two windows.  Bits of a store's
 * place in the window, chosen by masks, are added to the PE and to the offset,
 * so that a stream of stores can go to one line of each PE of a job.
 */
struct gemini_window {
	uint64_t bytes; /* of each window, a power of two */
	uint32_t pe; /* a node, or: */
	bool is_virtual;
	uint32_t handle, tag;
	uint64_t offset;
	uint64_t pe_bits, offset_bits; /* offset_bits includes a line's */
	bool is_ordered;
	/* Of stores into the put window: puts, or atomics, with operands. */
	uint32_t op, amo;
	bool is_cached;
	uint64_t operand[2]; /* of atomics that fetch */
	uint32_t cq; /* of syncs, and of refused stores */
	uint32_t remote_cq; /* gets an event for each line */
	uint64_t remote_data;
};

/*
 * From a program.  Each takes the time of its stores.
 *
 * set() writes a descriptor; EINVAL if it is invalid.  store() stores into the
 * put window: each line of it is one put of up to 64 B, or one atomic.  get()
 * stores a control word into the get window, which gets bytes from the place
 * that the window's address means, or fetches; an invalid word ends with an
 * event.  EFAULT beyond the window, or if the descriptor was not set.
 *
 * sync() asks for an event when all earlier stores have been answered; its
 * status is the first error.  pending() loads the number of unanswered lines.
 */
int gemini_window_set(
	struct nic *nic, uint32_t window, const struct gemini_window *w);
int gemini_window_store(struct nic *nic, uint32_t window, uint64_t at,
	const void *data, uint32_t bytes);
int gemini_window_get(
	struct nic *nic, uint32_t window, uint64_t at, uint64_t word);
int gemini_window_sync(struct nic *nic, uint32_t window, uint64_t data);
uint32_t gemini_window_pending(struct nic *nic, uint32_t window);

/* The control word of a get of 1 to 64 bytes to an address below 2^48, or of an
 * atomic that fetches 8 bytes. */
uint64_t gemini_control_get(uint64_t here, uint32_t bytes);
uint64_t gemini_control_fetch(uint64_t here, enum gemini_amo amo);

/* From a program: writes the words in the node's cache of atomics to memory and
 * drops them, so that the node's own stores to them take effect again; an event
 * follows.  EINVAL: no such queue. */
int gemini_amo_flush(struct nic *nic, uint32_t cq, uint64_t data);

/* A buffer for one send. */
struct gemini_buffer {
	uint32_t port;
	uint64_t at;
	uint32_t bytes;
	/* Gets an event when all of a send has arrived, or did not fit: its
	 * data is this, and in the lower 32 bits its length. */
	uint32_t cq, data;
};

/*
 * From a program, through its kernel, whose time it takes: queues a block
 * transfer.  The bytes of a put or a send are read later, until its event;
 * p->from is NULL.  Only fences order transfers.  EINVAL for invalid values,
 * such as more than GEMINI_BLOCK bytes, EFAULT if its bytes do not exist.
 */
int gemini_bte(struct nic *nic, const struct gemini_post *p);
/* Whether libraries leave a transfer of this length to it. */
bool gemini_is_block(const struct nic *nic, uint64_t bytes);
/* The same: posts a buffer to the program's node. */
int gemini_bte_receive(struct nic *nic, const struct gemini_buffer *b);
/* Withdraws the buffers of a port that no send has taken; returns how many. */
uint32_t gemini_bte_withdraw(struct nic *nic, site_id s, uint32_t port);

#endif
