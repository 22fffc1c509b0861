/*
 * SWverbs, the message library of Sunway's network interface SWHNI: writes and
 * reads of other nodes' memory, messages into receive queues, and fast short
 * messages.  The man page is weft-swverbs(7).
 *
 * Device.  A process opens its node's interface for a job.  From then on it
 * takes virtual interfaces on demand, of which a node has 128: each can have
 * one send queue (SQ) and one receive queue (RQ).  Its card engine is that of
 * the processor on which the process runs.
 *
 * Memory.  Addresses are those of weft/msg.h: in the process's memory, from 0.
 * A key names registered bytes.  Descriptors name bytes by a key and by an
 * offset from the first of its bytes.
 *
 * Peers.  One SQ sends to any process, and one RQ receives from all: nothing is
 * set up for a peer, and no memory depends on their number.  The library makes
 * transfers reliable: the card acknowledges every message and retransmits
 * missing packets twice; then the library takes over.  If it gives up, later
 * descriptors for that node end with WEFT_SW_LOST at once, except for one every
 * 5 ms, until the node answers.
 *
 * Order.  Messages are not ordered, neither on one queue nor between two
 * processes, and neither are the packets of a message.  A notice, a reply word
 * or a completion shows that all bytes of its message are in memory.
 *
 * Time.  Posting takes nic.software.post, polling nic.software.poll-load.
 * Everything else takes no time; calls that post and complete do not enter the
 * operating system.  Calls of the library also do its work: they retransmit,
 * answer other processes, and copy messages.  So a process that waits for a
 * peer must be in a call, or make calls from time to time.
 *
 * Errors are returned as numbers of errno.h; a call that fails does nothing.
 * EBADF: a handle that has ended or never existed.  EINVAL: a NULL pointer or
 * an invalid value.  Errors that are detected later are the status of a
 * completion.  They affect only the process that made the mistake.
 */
#ifndef WEFT_SWVERBS_H
#define WEFT_SWVERBS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
	WEFT_SW_INTERFACES = 128, /* of a node */
	WEFT_SW_PORTS = 2,
	WEFT_SW_MESSAGE = 2048, /* longest message into a queue, bytes */
	WEFT_SW_FSM = 128, /* longest fast short message */
	WEFT_SW_PIECES = 16, /* buffers that one gathers */
	WEFT_SW_SPACE = 512, /* bytes of an interface's space on the card */
	WEFT_SW_DEPTH = 4096, /* most entries of a queue */
	WEFT_SW_RINGS = 256, /* most slots of a raw RQ's ring, ... */
	WEFT_SW_SLOT = 2112, /* ... and bytes of each */
	WEFT_SW_CHILDREN = 32, /* of a member of a tree */
	WEFT_SW_REDUCED = 256, /* longest reduction, bytes */
	WEFT_SW_TURNS = 16384, /* of jobs with one number */
};

#define WEFT_SW_LONGEST (UINT32_C(1) << 30) /* write or read, bytes */
#define WEFT_SW_FOREVER INT64_MAX
#define WEFT_SW_NO_VM	UINT32_MAX

/* Owned by the library. */
struct weft_sw;
struct weft_sw_cq;
struct weft_sw_sq;
struct weft_sw_rq;
struct weft_sw_tree;

/* --- device --- */

struct weft_sw_options {
	uint32_t job; /* below 65536; packets of other jobs are refused */
	/*
	 * Number of earlier jobs with the same number, below WEFT_SW_TURNS; the
	 * program that starts jobs counts them.  So the next job can have the
	 * number at once, while packets of the last one are still in flight.
	 */
	uint32_t turn;
	/* The virtual machine of the node that the process belongs to from now
	 * on; WEFT_SW_NO_VM: none, it is the host's.  0: as before, which is at
	 * first 1 + its number modulo nic.vms, or none. */
	uint32_t vm;
};

/* Opens the interface; options may be NULL: job 0.  A process may open it
 * several times, also for several jobs.  EINVAL: there is no such virtual
 * machine; ENODEV: it has died; EBUSY: the process has interfaces of
 * another. */
int weft_sw_open(const struct weft_sw_options *options, struct weft_sw **dev);
/*
 * Ends everything that belongs to the device, at once: cards drop the remaining
 * packets of its messages, here and at other nodes, and count them.  Unread
 * completions are lost.
 */
int weft_sw_close(struct weft_sw *dev);

struct weft_sw_device {
	uint32_t node, engine, job;
	uint32_t turn, vm; /* of its job; 0: none */
	uint32_t ports; /* of the card */
	uint32_t free_interfaces; /* of the node */
	uint32_t interfaces; /* of this device, now */
	uint32_t in_flight; /* messages of an engine, at most */
	uint32_t windows, window; /* of messages into queues; each one's size */
	uint64_t
		held; /* bytes of memory that the device has, queues included */
	/* The library's work since the device was opened: retransmitted
	 * messages, writes and reads that the card continued on its request,
	 * and dropped duplicates. */
	uint64_t resent, probed, duplicates;
	/* Packets and messages of its job that this node's card has dropped
	 * because their target no longer existed. */
	uint64_t dropped;
};

int weft_sw_query(struct weft_sw *dev, struct weft_sw_device *d);

struct weft_sw_port {
	bool is_up; /* its link */
	uint32_t lanes; /* in use */
	uint64_t packets; /* that have left by it */
};

/* A port of the card, 0 or 1. */
int weft_sw_query_port(
	struct weft_sw *dev, uint32_t port, struct weft_sw_port *p);

/* --- virtual machines --- */

/*
 * A node has nic.vms of them.  Each has interfaces, queues and keys of its own,
 * which it gets from the host's broker on demand, as the host's processes do:
 * none are set aside.  Messages then bypass the operating systems of guest and
 * host, and take nic.vm longer.
 */
struct weft_sw_vm {
	bool is_dead;
	uint32_t interfaces; /* that it has now */
	uint64_t granted, returned, refused; /* interfaces, ever */
};

/* A virtual machine of the node; 0: the host itself. */
int weft_sw_query_vm(struct weft_sw *dev, uint32_t vm, struct weft_sw_vm *x);
/*
 * A crash of a virtual machine: its programs end immediately.  Its interfaces
 * and keys are free for others, and the remaining packets of its messages are
 * dropped.  Others are not affected, except that messages to it end with
 * WEFT_SW_NO_QUEUE or WEFT_SW_BAD_KEY.  The call does not return if the caller
 * belongs to the machine.  EPERM: the caller belongs to another machine; the
 * host may kill any.
 */
int weft_sw_kill_vm(struct weft_sw *dev, uint32_t vm);

/* --- memory --- */

enum {
	WEFT_SW_READ = 1, /* others may read it, ... */
	WEFT_SW_WRITE = 2, /* ... or write it and count in it */
};

/*
 * Registers bytes by pages of a size, a power of two from 4 KiB to 8 MiB, which
 * the card translates.  0: by physical addresses, without a translation;
 * descriptors then name addresses of the node, where the process's memory
 * begins at weft_msg_base(), in place of offsets.  The process itself may
 * always read and write the bytes.  Processes that register the same number of
 * times get the same keys.  EFAULT: the bytes do not belong to the process;
 * ENOSPC: no more keys.
 */
int weft_sw_reg(struct weft_sw *dev, uint64_t at, uint64_t bytes,
	uint32_t rights, uint64_t page, uint32_t *key);
/* The same as a segment, base and limit: no pages, and so no translations that
 * the card could miss. */
int weft_sw_reg_segment(struct weft_sw *dev, uint64_t at, uint64_t bytes,
	uint32_t rights, uint32_t *key);
/* Later accesses end with WEFT_SW_BAD_KEY at their sender.  EBUSY: a descriptor
 * of this device that has not completed names it. */
int weft_sw_dereg(struct weft_sw *dev, uint32_t key);

struct weft_sw_mr {
	uint64_t at, bytes;
	uint32_t rights;
	uint64_t page; /* 0: none */
	bool is_segment;
	uint32_t users; /* descriptors that have not completed */
};

int weft_sw_query_mr(struct weft_sw *dev, uint32_t key, struct weft_sw_mr *mr);

/* --- queues --- */

/* A queue of completions, for any number of SQs and RQs; depth is a power of
 * two up to WEFT_SW_DEPTH.  has_events: weft_sw_get_event() reports it. */
int weft_sw_create_cq(struct weft_sw *dev, uint32_t depth, bool has_events,
	struct weft_sw_cq **cq);
/* EBUSY: a queue still uses it, or an event of it was not acknowledged. */
int weft_sw_destroy_cq(struct weft_sw_cq *cq);

/* A send queue of depth descriptors, a power of two up to WEFT_SW_DEPTH.
 * ENOSPC: all interfaces of the node are in use. */
int weft_sw_create_sq(struct weft_sw *dev, struct weft_sw_cq *cq,
	uint32_t depth, struct weft_sw_sq **sq);
/* EBUSY: descriptors have not completed. */
int weft_sw_destroy_sq(struct weft_sw_sq *sq);

enum weft_sw_rq_kind {
	/*
	 * The library copies each message into the oldest buffer of
	 * weft_sw_post_recv().  All virtual RQs of a device share one ring of
	 * the card, and are told apart by their numbers.
	 */
	WEFT_SW_VIRTUAL,
	/* The program reads messages in the ring itself, and frees slots. */
	WEFT_SW_RAW,
};

struct weft_sw_rq_options {
	uint32_t kind; /* enum weft_sw_rq_kind */
	/* Buffers that can be posted, of a virtual RQ; slots of a raw RQ's
	 * ring, up to WEFT_SW_RINGS.  A power of two. */
	uint32_t depth;
	/* Of a raw RQ's ring: depth * WEFT_SW_SLOT bytes of the process's
	 * memory, at a multiple of 64, which belong to the card until the RQ is
	 * destroyed. */
	uint64_t at;
};

/* ENOSPC: all interfaces of the node are in use, or the device has 256 virtual
 * RQs.  EFAULT: the ring does not belong to the process. */
int weft_sw_create_rq(struct weft_sw *dev, struct weft_sw_cq *cq,
	const struct weft_sw_rq_options *options, struct weft_sw_rq **rq);
/* Messages that arrive later are refused. */
int weft_sw_destroy_rq(struct weft_sw_rq *rq);

/* The name of an RQ, for others.  Processes that make the same calls on nodes
 * of their own get the same names, except for the node. */
struct weft_sw_address {
	uint32_t node;
	uint8_t interface, engine; /* of that node */
	uint16_t queue; /* a virtual RQ of its device; 0 of a raw one */
};

struct weft_sw_queue {
	uint32_t depth, used; /* descriptors, buffers or slots */
	uint32_t failed; /* descriptors that have ended with an error */
	struct weft_sw_address address; /* of an RQ; of an SQ, its interface */
};

int weft_sw_query_sq(struct weft_sw_sq *sq, struct weft_sw_queue *q);
int weft_sw_query_rq(struct weft_sw_rq *rq, struct weft_sw_queue *q);
/* Ends all uncompleted descriptors with WEFT_SW_CANCELLED.  Packets that the
 * card has already sent may still arrive. */
int weft_sw_reset_sq(struct weft_sw_sq *sq);

/* --- work --- */

enum {
	WEFT_SW_PORT_0 = 1, /* all packets leave by this port, or by ... */
	WEFT_SW_PORT_1 = 2, /* ... that one; neither: each by the better one */
	WEFT_SW_FAST = 4, /* before messages without it */
	WEFT_SW_QUIET = 8, /* no completion unless it fails */
	/* Of a message into a queue: neither acknowledged nor sent again. */
	WEFT_SW_UNRELIABLE = 16,
	/* If the card gives up, so does the library: WEFT_SW_LOST. */
	WEFT_SW_BARE = 32,
	/* Of an FSM: into the interface's space on the target's card, not into
	 * memory; key is ignored. */
	WEFT_SW_CHIP = 64,
	WEFT_SW_FSM_READ = 128, /* an FSM that reads */
	/* Of a write: a completion at the target, too, in the CQ of the SQ on
	 * the interface `to`. */
	WEFT_SW_EVENT = 256,
};

/* A descriptor.  Calls copy it, so it may be reused when they return. */
struct weft_sw_work {
	uint64_t id; /* appears in its completion */
	/* Its node and engine; the RQ of messages and notices. */
	struct weft_sw_address to;
	uint32_t key, own_key; /* there, and here */
	uint64_t at, own_at; /* offsets */
	uint64_t reply; /* offset of a reply word, a multiple of 8 */
	uint32_t bytes;
	uint32_t flags;
	uint32_t tag; /* of messages and notices: appears at the receiver */
	uint32_t unused;
};

/*
 * All calls that post to an SQ return EAGAIN if it is full, EFAULT if own_key
 * does not name enough bytes of this device, and EINVAL for a node, engine or
 * interface that does not exist or for flags that the call does not know.
 *
 * Sends own bytes into the RQ `to`, at most WEFT_SW_MESSAGE (EMSGSIZE).  A
 * reliable message completes when it is in the ring there: while the ring has
 * no room, the card sends it again.  Of messages to peers that share one of the
 * library's windows, 64 can be under way (EAGAIN).  An unreliable message
 * completes when it has left, and is dropped if the ring has no room.
 */
int weft_sw_post_send(struct weft_sw_sq *sq, const struct weft_sw_work *w);
/* Writes own bytes, up to WEFT_SW_LONGEST (EMSGSIZE), to another process's
 * memory; completes when all of them are there. */
int weft_sw_post_write(struct weft_sw_sq *sq, const struct weft_sw_work *w);
/* The same, and a notice with the tag in the RQ `to`, after the bytes.  A
 * notice uses none of the buffers there. */
int weft_sw_post_write_notify(
	struct weft_sw_sq *sq, const struct weft_sw_work *w);
/* The same, and adds 1 to the reply word, in the bytes of key.  Nothing else is
 * atomic. */
int weft_sw_post_write_reply(
	struct weft_sw_sq *sq, const struct weft_sw_work *w);
/* Reads bytes of another process's memory into own ones: the target's card
 * turns the request into a write.  EINVAL: no bytes.  With a reply that is not
 * UINT64_MAX, also adds 1 to a word in the bytes of own_key. */
int weft_sw_post_read(struct weft_sw_sq *sq, const struct weft_sw_work *w);

struct weft_sw_piece {
	uint64_t at; /* in the process's memory, registered or not */
	uint32_t bytes;
};

/*
 * A fast short message: gathers up to WEFT_SW_PIECES pieces, together at most
 * WEFT_SW_FSM bytes (EMSGSIZE), stores them with the descriptor on the card,
 * and so writes them without any read by the card.  Ignores bytes, own_key and
 * own_at; the pieces may change when the call returns.  With WEFT_SW_FSM_READ
 * it has no pieces: it reads bytes into own ones (EINVAL: none).  EFAULT: a
 * piece does not belong to the process.
 */
int weft_sw_post_fsm(struct weft_sw_sq *sq, const struct weft_sw_work *w,
	const struct weft_sw_piece *pieces, uint32_t n);

/* Adds a buffer to a virtual RQ, of at least one byte.  EAGAIN: the RQ is full.
 * EFAULT: the bytes do not belong to the process.  EINVAL: a raw RQ. */
int weft_sw_post_recv(
	struct weft_sw_rq *rq, uint64_t id, uint64_t at, uint32_t bytes);
/* Frees the oldest slot of a raw RQ's ring whose completion was read.  EINVAL:
 * there is none, or the RQ is virtual. */
int weft_sw_release(struct weft_sw_rq *rq);

/* Ends descriptors of an id that the card has not begun, with
 * WEFT_SW_CANCELLED; others complete as usual.  ENOENT: none of this id is
 * under way. */
int weft_sw_cancel(struct weft_sw_sq *sq, uint64_t id);

/* --- collectives --- */

enum weft_sw_op {
	WEFT_SW_SUM,
	WEFT_SW_MAX,
	WEFT_SW_MIN,
	WEFT_SW_AND, /* of integers, as the next two */
	WEFT_SW_OR,
	WEFT_SW_XOR,
	WEFT_SW_BARRIER, /* no bytes */
	WEFT_SW_BROADCAST, /* the bytes of one member */
	WEFT_SW_OPS,
};

enum weft_sw_type {
	WEFT_SW_INT32,
	WEFT_SW_INT64,
	WEFT_SW_FLOAT32,
	WEFT_SW_FLOAT64,
	WEFT_SW_TYPES,
};

#define WEFT_SW_NO_CHAIN  UINT32_MAX
#define WEFT_SW_NO_RESULT UINT64_MAX

/* One member's place in a tree; members are SQs, named by the address of
 * weft_sw_query_sq(). */
struct weft_sw_tree_options {
	/* Of the tree, below 65536, the same for all members; another one for
	 * each tree of an SQ, and for trees with chains that share nodes. */
	uint32_t number;
	uint32_t rank; /* its own; each member has another one */
	struct weft_sw_address parent; /* its node is UINT32_MAX: the root */
	const struct weft_sw_address *children; /* in the order of sums */
	uint32_t n_children;
	/* A chain of multicasts in the switches that carries the root's result
	 * to all nodes of the tree; WEFT_SW_NO_CHAIN: it goes down the tree. */
	uint32_t chain;
};

/*
 * Makes the SQ a member of a tree.  All members must have done this before any
 * of them posts.  EINVAL: more than WEFT_SW_CHILDREN children, a member that is
 * its own parent or child, a child that is named twice or is the parent.
 * ENOSPC: the SQ is in 8 trees.
 */
int weft_sw_create_tree(struct weft_sw_sq *sq,
	const struct weft_sw_tree_options *options, struct weft_sw_tree **tree);
/* EBUSY: a collective has not completed. */
int weft_sw_destroy_tree(struct weft_sw_tree *tree);

struct weft_sw_collective {
	uint64_t id; /* appears in its completion */
	uint32_t op, type; /* enum weft_sw_op, enum weft_sw_type */
	uint32_t bytes; /* whole elements, the same for all members */
	uint32_t key; /* of its own bytes, ... */
	uint64_t at, result; /* ... and offsets: contribution, result */
	uint32_t root; /* of a broadcast: the rank whose bytes it is */
	uint32_t flags; /* WEFT_SW_FAST, WEFT_SW_QUIET */
};

/*
 * Takes part in the tree's next collective.  The cards combine the members'
 * bytes, own ones first, then those of the children in their order, so a result
 * depends on the tree and on nothing else; every member gets it, unless its
 * result is WEFT_SW_NO_RESULT.  No program is involved until the completion.
 * Takes nic.software.collective, or nic.software.bcast for a broadcast.
 *
 * EMSGSIZE: more than WEFT_SW_REDUCED bytes to combine, or more than
 * WEFT_SW_MESSAGE to broadcast.  EINVAL: an unknown operation or type, bits of
 * floats, or a part of an element.  EFAULT, EAGAIN: as above.  If a member dies
 * or never comes, the others end with WEFT_SW_BROKEN.
 */
int weft_sw_post_collective(
	struct weft_sw_tree *tree, const struct weft_sw_collective *c);

/* --- completion --- */

enum weft_sw_kind {
	WEFT_SW_DONE, /* a descriptor of an SQ */
	WEFT_SW_RECEIVED, /* a message */
	WEFT_SW_NOTICE, /* of a write */
	WEFT_SW_ARRIVED, /* a write with WEFT_SW_EVENT */
};

enum weft_sw_status {
	WEFT_SW_OK,
	WEFT_SW_BAD_KEY, /* no such key at the target, or no longer */
	WEFT_SW_OUTSIDE, /* of the bytes of the key */
	WEFT_SW_NO_RIGHT,
	WEFT_SW_WRONG_JOB, /* the target's memory or queue is another job's */
	WEFT_SW_NO_QUEUE, /* the target has no such interface or RQ */
	WEFT_SW_TRUNCATED, /* the receiver's buffer was too short */
	WEFT_SW_LOST, /* no answer; it may have been executed or not */
	WEFT_SW_CANCELLED,
	WEFT_SW_BAD_WORK, /* the card did not understand the descriptor */
	WEFT_SW_BROKEN, /* a collective, because of another member */
	WEFT_SW_STATUSES,
};

/* Describes a status in words; "unknown" for other numbers. */
const char *weft_sw_status_name(uint32_t status);

struct weft_sw_completion {
	uint32_t kind, status;
	uint64_t id; /* of the descriptor or buffer */
	uint32_t node; /* that sent it; of an own descriptor, the target */
	uint32_t tag, bytes; /* of messages and notices; bytes of all */
	uint64_t at; /* where the bytes are in memory; of a write, its offset */
	struct weft_sw_rq *rq; /* that it came to, or NULL */
};

/* Takes the next completion.  EAGAIN: there is none.  EOVERFLOW, once: the
 * queue was full, and completions were lost. */
int weft_sw_poll(struct weft_sw_cq *cq, struct weft_sw_completion *c);
/* The same, but waits; ETIMEDOUT: a time in picoseconds has passed. */
int weft_sw_wait(
	struct weft_sw_cq *cq, struct weft_sw_completion *c, int64_t timeout);
/* Waits until a reply word of the process, at an address that is a multiple of
 * 8, is at least value.  EFAULT: it has no such word. */
int weft_sw_wait_reply(
	struct weft_sw *dev, uint64_t at, uint64_t value, int64_t timeout);

enum weft_sw_event_kind {
	WEFT_SW_EVENT_CQ, /* a queue has a completion */
	WEFT_SW_EVENT_PORT_DOWN,
	WEFT_SW_EVENT_PORT_UP,
};

struct weft_sw_event {
	uint32_t kind;
	struct weft_sw_cq *cq;
	uint32_t port;
};

/* Waits for an event; ETIMEDOUT as above.  A queue has one event until it is
 * acknowledged, however many completions it has. */
int weft_sw_get_event(
	struct weft_sw *dev, struct weft_sw_event *e, int64_t timeout);
/* EINVAL: there was no such event. */
int weft_sw_ack_event(struct weft_sw *dev, const struct weft_sw_event *e);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
