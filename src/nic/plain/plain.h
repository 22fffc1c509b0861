/*
 * A plain RDMA card, as anyone would draw one today, for machines that are
 * nobody's in particular.
 *
 * A process of a node has queues.  A queue is two rings in the node's memory:
 * work entries, which software writes and the card fetches when its doorbell
 * rings, and completions, which the card writes.  Entries put, get, or change
 * a word of another node's memory.  That memory is named by a key, which
 * stands for a range that one of its processes has registered with rights;
 * an entry's own bytes lie in a range of its process's.
 *
 * Entries of a queue begin in order, several are under way at a time, and
 * each ends with one completion, in any order.  Packets are executed as they
 * come, each at once: so the bytes of a put appear in order where the
 * network keeps order (nic.routing), and those of one packet everywhere.  A
 * put or a get can count: what of it is in memory is subtracted from a word
 * there, of the same key.
 *
 * What is wrong with an entry stops its queue, and no other: it completes
 * with the reason, and the queue's other entries as stopped.
 */
#ifndef NIC_PLAIN_PLAIN_H
#define NIC_PLAIN_PLAIN_H

#include "nic/nic.h"

enum {
	PLAIN_QUEUES = 256,
	PLAIN_MOST_ENTRIES = 1 << 16, /* of a ring */
	PLAIN_MOST_PAYLOAD = 3072, /* of a packet: nic/util/flips.h */
};

enum plain_op {
	PLAIN_PUT,
	PLAIN_GET,
	/* of a word, whose value before is the completion's */
	PLAIN_ADD,
	PLAIN_SWAP,
	PLAIN_COMPARE_SWAP,
	PLAIN_AND,
	PLAIN_OR,
	PLAIN_XOR,
	PLAIN_MAX, /* unsigned */
	PLAIN_OPS,
};

/* What other nodes may do with a range. */
enum plain_right { PLAIN_READ = 1, PLAIN_WRITE = 2, PLAIN_ATOMIC = 4 };

enum plain_status {
	PLAIN_OK,
	PLAIN_BAD_ENTRY, /* there is no such operation or node */
	PLAIN_BAD_KEY, /* here, or there */
	PLAIN_OUT_OF_BOUNDS,
	PLAIN_NO_RIGHT,
	PLAIN_GAVE_UP, /* nothing came back, however often it was sent */
	PLAIN_STOPPED, /* the queue was, before this was begun */
	PLAIN_OVERRUN, /* of the queue alone: a ring had no room */
	PLAIN_STATUSES,
};

struct plain_entry {
	uint64_t id; /* for its completion */
	uint32_t node;
	uint32_t op;
	uint32_t key, own_key; /* of its bytes there, and here */
	uint64_t offset, own_offset; /* in these ranges */
	uint64_t bytes; /* of a word it is 8, and nothing is here */
	/* Of a put or get that counts: 1 + the offset of the word, in the range
	 * that the bytes go to. */
	uint64_t operand;
	uint64_t compare; /* swap if that is the word's value */
};

_Static_assert(sizeof(struct plain_entry) == 64, "a cache line");

struct plain_completion {
	uint64_t id, value;
	uint32_t status, unused;
	uint64_t number; /* from 1 on, of the queue: the last to be written */
};

struct plain_rings {
	uint32_t process;
	uint32_t n_entries, n_completions; /* powers of two */
	uint64_t entries_at, completions_at;
};

struct plain_params {
	int64_t routing; /* 0: dynamic, 1: deterministic */
	int64_t prefetch; /* entries of a fetch */
	int64_t window; /* packets of a queue under way */
	int64_t buffers; /* packets made and not sent */
	int64_t dispatch, packet, input; /* ps */
	int64_t timeout, per_node, round_trips, retries, back_off;
	int64_t post, poll_period, poll_load; /* of software, ps */
};

extern const struct nic_ops plain_ops;

static inline const struct plain_params *plain_params_of(const struct nic *nic)
{
	return nic->params;
}

/*
 * For drivers, from a program of the node: what a kernel does, in no time.  0,
 * EINVAL for what cannot be, EBUSY for what is in use, EFAULT where there is
 * no such memory.
 */
int plain_open(struct nic *nic, site_id s, uint32_t queue,
	const struct plain_rings *r);
int plain_close(struct nic *nic, site_id s, uint32_t queue);
/* The key is the caller's choice; no rights: only its own entries use it. */
int plain_register(struct nic *nic, site_id s, uint32_t process, uint32_t key,
	uint64_t at, uint64_t bytes, uint32_t rights);
int plain_forget(struct nic *nic, site_id s, uint32_t key);

/*
 * A store at t to a queue's doorbell: entries written, and completions taken,
 * ever.  What is posted was begun by a program at birth.
 */
void plain_ring(struct nic *nic, struct sim_worker *w, site_id s, sim_time t,
	uint32_t queue, uint32_t written, uint32_t taken, sim_time birth);
/* Why a queue has stopped, or PLAIN_OK; a load of a register, in no time. */
enum plain_status plain_state(const struct nic *nic, site_id s, uint32_t queue);

#endif
