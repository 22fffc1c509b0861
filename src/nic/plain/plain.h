/*
 * A plain RDMA card, as anyone would draw one today, for machines that are
 * nobody's in particular.
 *
 * A process of a node has queues of work (nic/util/workq.h).  Their entries
 * put, get, or change a word of another node's memory.  That is named by a
 * key, which stands for a range that a process has registered with rights;
 * an entry's own bytes lie in a range of its process.
 *
 * Entries of a queue begin in order, several are under way at a time, and
 * each ends with one completion, in any order.  Packets are executed as they
 * come, each at once: so the bytes of a put appear in order where the network
 * keeps order (nic.routing), and those of one packet everywhere.  A put or a
 * get can count: what of it is in memory is subtracted from a word there.
 *
 * What is wrong with an entry stops its queue, and no other: it completes
 * with the reason, and the queue's other entries as stopped.
 */
#ifndef NIC_PLAIN_PLAIN_H
#define NIC_PLAIN_PLAIN_H

#include "nic/util/ranges.h"
#include "nic/util/resend.h"
#include "nic/util/workq.h"

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

/* Of completions. */
enum plain_status {
	PLAIN_OK = RANGE_OPEN,
	PLAIN_BAD_KEY = RANGE_NONE, /* here, or there */
	PLAIN_OUT_OF_BOUNDS = RANGE_OUTSIDE,
	PLAIN_NO_RIGHT = RANGE_FORBIDDEN,
	PLAIN_BAD_ENTRY, /* no such operation, node or word */
	PLAIN_GAVE_UP, /* nothing came back, however often it was sent */
	PLAIN_STOPPED, /* the queue was, before all of this was sent */
	PLAIN_STATUSES,
};

struct plain_entry {
	uint64_t id;
	uint32_t node, op;
	uint32_t key, own_key; /* of its bytes there, and here */
	uint64_t offset, own_offset; /* in these ranges */
	uint64_t bytes; /* of a word 8, and nothing is here */
	/* Of a put or get that counts: 1 + the word's offset in the range that
	 * the bytes go to. */
	uint64_t operand;
	uint64_t compare; /* swap if that is the word's value */
};

_Static_assert(sizeof(struct plain_entry) == 64, "a cache line");

struct plain_params {
	int64_t routing; /* 0: dynamic, 1: deterministic */
	int64_t window; /* packets of a queue under way */
	int64_t buffers; /* packets made and not sent */
	int64_t dispatch, packet, input; /* ps */
	struct workq_params work;
	struct resend_params retry;
};

extern const struct nic_ops plain_ops;

static inline const struct plain_params *plain_params_of(const struct nic *nic)
{
	return nic->params;
}

/* A node's queues, for its programs. */
struct workqs *plain_queues(struct nic *nic, site_id s);
/*
 * What a kernel does for a process, in no time.  The key is the caller's
 * choice; without rights it is for the process's own entries.  0, EBUSY where
 * the key is in use, EFAULT where there is no such memory.
 */
int plain_register(struct nic *nic, site_id s, uint32_t process, uint32_t key,
	uint64_t at, uint64_t bytes, uint32_t rights);
/* EINVAL where there is no such key. */
int plain_forget(struct nic *nic, site_id s, uint32_t key);

#endif
