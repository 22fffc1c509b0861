/*
 * SWHNI, Sunway's network interface.
 *
 * A chip has two engines, each with a PCIe interface of its own, and the
 * network ports, which both engines use.  A program reaches it through a
 * virtual interface: a send queue of descriptors in memory with a completion
 * queue (nic/util/workq.h), a receive queue, a window for fast short messages,
 * and a page of the chip's own memory.  An interface belongs to a job and works
 * on one engine.
 *
 * A descriptor is fetched after a doorbell.  The engine issues its message and
 * cuts it into packets as its bytes come; any port takes any packet.  The
 * receiver places packets as they come.  When it has all of a message, it
 * writes what the descriptor asks for: an event, a notice or a reply word; then
 * it acknowledges the message.  Messages keep no order, not even those of one
 * queue.  Lost packets are sent again; nothing is executed twice.
 *
 * Memory is named by a key and an offset.  A key stands for a handle: a range
 * that a job has registered.  Packets carry the job of their sender's
 * interface; what it may not access is refused, and the sender's completion
 * says so.
 */
#ifndef NIC_SWHNI_SWHNI_H
#define NIC_SWHNI_SWHNI_H

#include "nic/util/ranges.h"
#include "nic/util/resend.h"
#include "nic/util/workq.h"

enum {
	SWHNI_ENGINES = 2,
	SWHNI_INTERFACES = 128, /* of a node */
	SWHNI_SHORT = 128, /* bytes of a fast short message, at most */
	SWHNI_MESSAGE = 2048, /* and of a queue message */
	SWHNI_CHIP = 512, /* bytes of the chip's memory, of each interface */
	SWHNI_CHILDREN = 32, /* of a list of a collective's tree */
	SWHNI_LISTS = 3, /* of a member */
	SWHNI_ANY_PORT = 0, /* of a descriptor; else 1 + the port */
	SWHNI_KEYS = 4096, /* of a node */
	SWHNI_LEAST_PAGE = 12, /* 4 KiB to 8 MiB, as powers of two */
	SWHNI_MOST_PAGE = 23,
	SWHNI_JOBS = 1 << 16, /* numbers */
	SWHNI_TURNS = 1 << 14, /* of jobs with one number */
};

/* The longest write or read, bytes. */
#define SWHNI_MOST (UINT32_C(1) << 30)

/* --- descriptors --- */

enum swhni_type {
	SWHNI_WRITE, /* own bytes there (RDMAW) */
	SWHNI_READ, /* bytes from there (RDMAR), at least one */
	SWHNI_SEND, /* into a receive queue; comes again while that is full */
	SWHNI_DATAGRAM, /* the same; may be lost, and is not acknowledged */
	SWHNI_COLLECTIVE, /* struct swhni_collective */
	SWHNI_POSTED, /* types below are for the send queue, as these; others
		       * are stored into the window: */
	SWHNI_FSM_WRITE = SWHNI_POSTED,
	SWHNI_FSM_READ,
	SWHNI_TYPES,
};

enum swhni_flag {
	SWHNI_TELL = 1, /* a completion; errors always have one */
	SWHNI_FAST = 2, /* before others */
	/* When all of it is in memory, at most one of: */
	SWHNI_EVENT = 4, /* in the completion queue of the target's interface */
	SWHNI_NOTICE = 8, /* in its receive queue: a message of two words */
	SWHNI_REPLY = 16, /* 1 is added to the reply word */
	/* Of a fast short message: its bytes there are at an offset of the
	 * chip's memory of the target's interface, not in a handle. */
	SWHNI_ON_CHIP = 32,
	/* Without an answer it completes with SWHNI_NO_ANSWER, but keeps its
	 * place for a while: see swhni_again(). */
	SWHNI_KEEP = 64,
	SWHNI_FLAGS = 127,
};

/*
 * What an event, a notice or a reply word of a write is, is at the target; that
 * of a read is here, where its bytes come to.
 */
struct swhni_descriptor {
	uint64_t id; /* for its completion */
	uint8_t type, flags;
	uint8_t port; /* of all its packets: 1 + a port; 0: any */
	uint8_t engine; /* of the target */
	uint32_t node;
	uint32_t bytes;
	uint32_t key; /* of its bytes there; of a send: none */
	uint64_t offset;
	uint32_t own_key; /* of its bytes here */
	uint32_t interface; /* of the target: of a send, notice, event, chip */
	uint64_t own_offset;
	union {
		uint64_t word[2]; /* of a notice; [0]: an event's id */
		struct {
			uint64_t offset; /* of a word */
			uint32_t key, unused;
		} reply;
	};
};

_Static_assert(sizeof(struct swhni_descriptor) == 64, "SUN-F78");

/*
 * A collective in place of a descriptor.  Its tree is a list in memory that the
 * interface reads: a parent and n children, each a struct swhni_member.  Who
 * gathers on several levels of the tree has more lists, one behind the other:
 * each begins with a member whose node is its number of children.  The
 * interface combines its own bytes with those of its children, in this order,
 * and sends the result to its parent; the root spreads the result.
 */
struct swhni_collective {
	uint64_t id;
	uint8_t type, flags; /* SWHNI_COLLECTIVE; SWHNI_TELL, SWHNI_FAST */
	uint8_t op, data; /* enum swhni_op, enum swhni_data */
	uint16_t tree; /* its number in the job */
	uint8_t n_children;
	uint8_t entry; /* of the multicast tables */
	uint32_t round; /* of this tree, from 1 on */
	uint32_t bytes;
	uint32_t own_key, list_key;
	uint64_t own_offset; /* its contribution */
	uint64_t result; /* where the result goes, in own_key */
	uint64_t list; /* offset of the members in list_key */
	uint32_t root; /* of a broadcast: whose bytes, as a member's rank */
	uint32_t rank; /* its own */
};

_Static_assert(sizeof(struct swhni_collective) == 64, "SUN-G16");

struct swhni_member {
	uint32_t node; /* SWHNI_NO_NODE: of the root's parent */
	uint16_t interface;
	uint8_t engine;
	uint8_t more; /* of a parent: lists behind the first one */
};

#define SWHNI_NO_NODE	UINT32_MAX
#define SWHNI_NO_RESULT UINT64_MAX /* a result that is not wanted */
#define SWHNI_NO_ENTRY	0xff /* the result goes down the tree */

enum swhni_op {
	SWHNI_SUM,
	SWHNI_MAX,
	SWHNI_MIN,
	SWHNI_AND,
	SWHNI_OR,
	SWHNI_XOR,
	SWHNI_BARRIER, /* no bytes */
	SWHNI_BROADCAST, /* those of one member */
	SWHNI_OPS,
};

enum swhni_data {
	SWHNI_INT32,
	SWHNI_INT64,
	SWHNI_FLOAT32,
	SWHNI_FLOAT64,
	SWHNI_DATA,
};

/* --- what the interface writes --- */

/*
 * A completion (struct workq_completion) has the descriptor's id; value is its
 * bytes.  An event has the id that the sender gave it, the offset of its bytes
 * as value, and their number as more.
 */
enum swhni_event {
	SWHNI_DONE, /* a descriptor of this queue, or a fast short message */
	SWHNI_ARRIVED, /* a write's event */
	SWHNI_LOST, /* messages that found the receive queue full: value */
};

enum swhni_error {
	SWHNI_OK = RANGE_OPEN,
	SWHNI_BAD_KEY = RANGE_NONE, /* here, or there */
	SWHNI_OUT_OF_BOUNDS = RANGE_OUTSIDE,
	SWHNI_NO_RIGHT = RANGE_FORBIDDEN,
	SWHNI_BAD_ENTRY, /* no such type, flags, node, port, or length */
	SWHNI_BAD_INTERFACE, /* the target has none, or it has no such queue */
	SWHNI_WRONG_JOB, /* it, or the handle, is another job's */
	SWHNI_NO_ANSWER, /* after the last retransmission */
	SWHNI_CANCELLED,
	SWHNI_STOPPED, /* the queue was stopped */
	SWHNI_BROKEN, /* a collective, because of a member */
	SWHNI_FULL, /* the target's receive queue, for long */
	SWHNI_ERRORS,
};

#define SWHNI_STATUS(event, error, node)                                       \
	((uint32_t)(event) | (uint32_t)(error) << 4 | (uint32_t)(node) << 8)
#define SWHNI_EVENT_OF(status) ((status)&15)
#define SWHNI_ERROR_OF(status) ((status) >> 4 & 15)
#define SWHNI_NODE_OF(status)  ((status) >> 8)

/*
 * A slot of a receive queue.  The bytes of a message follow its head; number
 * counts messages from 1 on and is the last to be written.  The interface
 * writes slots in order, and again when the program has taken their messages:
 * swhni_took().
 */
struct swhni_slot {
	uint64_t number;
	uint64_t word[2]; /* of a notice; a message's own (descriptor.word) */
	uint64_t offset; /* of a notice: of its write's bytes */
	uint32_t node, interface; /* of the sender */
	uint32_t bytes; /* of a notice: of its write, which are elsewhere */
	uint32_t key; /* of a notice: of these */
	uint8_t is_notice, engine; /* of the sender */
	uint8_t unused[14];
};

_Static_assert(sizeof(struct swhni_slot) == 64, "one line");

enum { SWHNI_SLOT = sizeof(struct swhni_slot) + SWHNI_MESSAGE };

/* --- set-up, by a driver --- */

/* What packets carry: a job's number, and how many jobs have had it before, so
 * that the next one can have it at once. */
#define SWHNI_JOB(number, turn) ((uint32_t)(number) | (uint32_t)(turn) << 16)
#define SWHNI_IS_JOB(job)	((job) >> 16 < SWHNI_TURNS)

struct swhni_setup {
	uint32_t job; /* SWHNI_JOB() */
	uint32_t process; /* its owner */
	uint32_t vm; /* 0: none; else messages take nic.vm longer */
	uint32_t wanted; /* 1 + an interface's number; 0: any that is free */
	bool is_shared; /* by all processes of its job on the node */
	/* nic.attach: two: the engine of its processor; one: either. */
	uint32_t engine;
};

/* The engine that a process of a node uses. */
uint32_t swhni_engine(const struct nic *nic, uint32_t process);
uint32_t swhni_n_ports(const struct nic *nic);

/*
 * Of the calling program's node, as its kernel does it; no time passes.  0, or:
 * EINVAL for invalid values, EAGAIN if all interfaces or keys are in use,
 * EBUSY for one in use, EFAULT if there is no such memory, EACCES for another
 * job's.
 */
int swhni_open(const struct nic_at *a, const struct swhni_setup *s,
	uint32_t *interface);
/* At once, whatever is under way: that is dropped, without a completion. */
void swhni_take_back(const struct nic_at *a, uint32_t interface);
/* EBUSY while work is under way. */
int swhni_close(const struct nic_at *a, uint32_t interface);
/* NULL: there is none. */
const struct swhni_setup *swhni_interface(
	struct nic *nic, site_id s, uint32_t interface);

/* The send queue (64 B an entry) and the completion queue of an interface. */
int swhni_open_queues(const struct nic_at *a, uint32_t interface,
	const struct workq_rings *r);
int swhni_close_queues(const struct nic_at *a, uint32_t interface);
/* Whatever is in the queues is gone, without a completion; they begin anew. */
int swhni_reset_queues(const struct nic_at *a, uint32_t interface);
/* Numbers of descriptors that were posted, and are not complete. */
uint32_t swhni_n_posted(struct nic *nic, site_id s, uint32_t interface);

/* The receive queue: slots of SWHNI_SLOT bytes, a power of two of them, at a
 * multiple of 64. */
int swhni_open_receive(const struct nic_at *a, uint32_t interface, uint64_t at,
	uint32_t slots);
int swhni_close_receive(const struct nic_at *a, uint32_t interface);

enum swhni_space {
	SWHNI_PHYSICAL, /* offsets are addresses of the node */
	SWHNI_SEGMENT, /* offsets from a base up to a limit */
	/* Offsets from a base; each page has a translation, which the TLB keeps
	 * or the interface reads from memory. */
	SWHNI_PAGED,
};

enum swhni_right { SWHNI_MAY_READ = 1, SWHNI_MAY_WRITE = 2 };

struct swhni_handle {
	uint32_t key; /* below SWHNI_KEYS */
	uint32_t job;
	uint32_t process;
	uint8_t space; /* an enum swhni_space */
	uint8_t rights; /* of other nodes, enum swhni_right */
	uint8_t page; /* of a paged one: log2 of its bytes */
	uint8_t unused;
	uint64_t at, bytes;
	/* Of a paged one: words with the address of each page; 0: pages are
	 * where they seem to be. */
	uint64_t table;
};

int swhni_register(const struct nic_at *a, const struct swhni_handle *h);
/* EBUSY while own messages use it; others' are refused from now on. */
int swhni_deregister(const struct nic_at *a, uint32_t job, uint32_t key);
/* NULL: there is none; valid until the next call. */
const struct swhni_handle *swhni_handle(
	struct nic *nic, site_id s, uint32_t key);

/*
 * A job leaves this node at once (SUN-F59): its interfaces and handles are
 * free, for others too, its messages end without completions, and what still
 * comes for it is dropped and counted.
 */
void swhni_leave(const struct nic_at *a, uint32_t job);
/* Packets and messages of a job that a node has dropped because what they were
 * for was not there, or was another's. */
uint64_t swhni_dropped(struct nic *nic, site_id s, uint32_t job);

/*
 * Virtual machines (SUN-F83 to F86).  A node has nic.vms, numbered from 1 on,
 * and processes belong to them.  Each has its own interfaces, queues and keys,
 * which the node's broker hands out on demand: nothing is set aside.  Messages
 * pass neither a guest nor the host.
 */
struct swhni_vm {
	uint32_t interfaces; /* that it has */
	uint64_t granted, returned, refused; /* ever */
	bool is_dead;
};

/* The one that a process belongs to: 1 + the process modulo nic.vms, unless it
 * has joined another; 0: none. */
uint32_t swhni_vm_of(struct nic *nic, site_id s, uint32_t process);
/* EINVAL if there is none, ENODEV if it has died, EBUSY while the process has
 * interfaces of another. */
int swhni_vm_join(const struct nic_at *a, uint32_t process, uint32_t vm);
/*
 * A crash: its programs end, its interfaces and keys are free, and its messages
 * are dropped as those of a job that leaves.  Nobody else notices.  Does not
 * return to a program that ends.  EINVAL if there is none.
 */
int swhni_vm_kill(const struct nic_at *a, uint32_t vm);
struct swhni_vm swhni_vm(struct nic *nic, site_id s, uint32_t vm);

/* --- for programs: stores to the chip --- */

/*
 * A doorbell: entries written, and completions taken, ever; when the program
 * began, and had copied what it sends.  EACCES if the interface is not the
 * program's: its page is not mapped.
 */
int swhni_ring(const struct nic_at *a, uint32_t interface, uint32_t process,
	uint32_t written, uint32_t taken, sim_time birth, sim_time copied);
/* Messages taken from the receive queue, ever. */
int swhni_took(const struct nic_at *a, uint32_t interface, uint32_t process,
	uint32_t taken);
/*
 * Stores a descriptor of type SWHNI_FSM_... and a write's bytes into the
 * window, and rings.  EAGAIN if the window is full, EMSGSIZE for more than
 * SWHNI_SHORT bytes; what else is wrong ends with a completion.
 */
int swhni_fsm(const struct nic_at *a, uint32_t interface, uint32_t process,
	const struct swhni_descriptor *d, const void *data, sim_time birth,
	sim_time copied);
/*
 * Stores a collective into the window, with its contribution if that has up to
 * SWHNI_SHORT bytes or is broadcast; others are read.  EACCES: the page is not
 * mapped; what else is wrong ends with a completion.
 */
int swhni_collect(const struct nic_at *a, uint32_t interface, uint32_t process,
	const struct swhni_collective *c, const void *data, sim_time birth,
	sim_time copied);
/* Sets a chain of multicasts between nodes, on all ports.  Only before a run,
 * by whoever manages jobs. */
int swhni_set_chain(struct nic *nic, uint32_t entry, const site_id *node,
	uint32_t n, struct err *e);
/* Cancels descriptors with this id whose messages have not begun: they complete
 * with SWHNI_CANCELLED, soon. */
int swhni_cancel(const struct nic_at *a, uint32_t interface, uint32_t process,
	uint64_t id);

/*
 * Lets a message with SWHNI_KEEP that had no answer go on, as the same message:
 * the interface asks its target what it has of it, and sends what is missing,
 * if anything.  So it is executed once.  Without this call it ends by itself,
 * with another completion.
 */
int swhni_again(const struct nic_at *a, uint32_t interface, uint32_t process,
	uint64_t id);

/* A core's load from the interface's page of the chip's memory; *t becomes when
 * its value is there.  A store is there a moment later. */
int swhni_chip_load(const struct nic_at *a, uint32_t interface,
	uint32_t process, uint32_t offset, void *to, uint32_t bytes,
	sim_time *t);
int swhni_chip_store(const struct nic_at *a, uint32_t interface,
	uint32_t process, uint32_t offset, const void *from, uint32_t bytes);

/* A port of a node, as its interface sees it. */
struct swhni_port {
	bool is_up;
	uint32_t lanes; /* that work */
	uint64_t packets; /* that left by it */
};

struct swhni_port swhni_port(struct nic *nic, site_id s, uint32_t port);

/* --- parameters --- */

enum swhni_attach { SWHNI_ONE, SWHNI_TWO }; /* processors */

struct swhni_params {
	struct workq_params work;
	struct resend_params retry;
	int64_t patience; /* tries that a full receiver refuses */
	int64_t attach; /* an enum swhni_attach */
	int64_t out, in; /* to the port; from it, ps */
	int64_t issue; /* of a message, ps */
	int64_t messages, entries; /* under way; that a receiver counts */
	int64_t window; /* fast short messages of an interface under way */
	int64_t ahead; /* bytes read and not cut, of an engine */
	int64_t backlog; /* bytes that wait for PCIe, of an engine */
	int64_t tlb_entries, tlb_ways, tlb_prefetch;
	int64_t vms, vm; /* of a node; ps */
	/* of the collective unit */
	int64_t child, slots;
	/* of software, ps; copy: of a byte */
	int64_t call, bcast, copy, mpi, mpi_operand, mpi_long;
	int64_t page; /* of experiments' memory, bytes; 0: a segment */
};

extern const struct nic_ops swhni_ops;

#endif
