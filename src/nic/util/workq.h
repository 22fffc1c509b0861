/*
 * Work queues in a node's memory.  A queue has two rings: entries, which
 * software writes and the interface fetches over its side (host/side.h) after a
 * doorbell, and completions, which the interface writes.  The owner defines
 * entries and their completion.
 *
 * A ring without room stops its own queue and no other; the owner may stop a
 * queue, too.  A stopped queue still takes entries, which its owner refuses,
 * until it is opened again.
 */
#ifndef NIC_UTIL_WORKQ_H
#define NIC_UTIL_WORKQ_H

#include "base/ring.h"
#include "nic/util/side_reads.h"

enum {
	WORKQS = 256, /* of a node */
	WORKQ_MOST = 1 << 16, /* entries of a ring */
};

/* An entry begins with its id. */
struct workq_completion {
	uint64_t id, value;
	uint32_t status, more; /* the owner's; 0: it has succeeded */
	uint64_t number; /* from 1 on, the last to be written */
};

struct workq_rings {
	uint32_t owner; /* such as a process */
	uint32_t n_entries, n_completions; /* powers of two */
	uint64_t entries_at, completions_at;
};

/* When a program began to post entries, had copied their data, and rang the
 * doorbell, and when the card heard it; only if there is a book of time
 * budgets. */
struct workq_birth {
	uint32_t written;
	sim_time at, copied, handed, heard;
	/* of the entry: */
	sim_time asked, came; /* its fetch began; it was in the card */
};

/* A fetch of entries, for the same. */
struct workq_fetch {
	uint32_t fetched; /* with it */
	sim_time asked, came;
};

/* An owner's queue begins with it. */
struct workq {
	struct workq_rings rings;
	struct ring entries, births; /* fetched; posted */
	struct ring fetches; /* of the entries */
	sim_time asked; /* the fetch that is under way */
	uint32_t written, fetched, completed, taken; /* ever */
	uint32_t n_rings; /* of the doorbell, on their way */
	uint32_t n_out; /* entries taken and not completed */
	uint32_t n_ends; /* completions on their way to memory */
	bool is_open, is_fetching, is_stopped;
	bool is_dead; /* closed in mid-work: nothing is written any more */
};

/* Parameters for an owner's table. */
struct workq_params {
	int64_t prefetch; /* entries of a fetch */
	int64_t post, poll_period, poll_load; /* of software, ps */
};

#define WORKQ_ROW(name_, type_, at_, field_, ...)                              \
	PARAM_ROW(type_, name_, (at_) + offsetof(struct workq_params, field_), \
		__VA_ARGS__)
#define WORKQ_ROWS(at_, prefetch_, post_)                                      \
	WORKQ_ROW("prefetch", PARAM_COUNT, at_, prefetch, prefetch_, 1, 64,    \
		"largest number of work entries fetched at a time",            \
		"assumed: a card of the 2020s"),                               \
		WORKQ_ROW("software.post", PARAM_TIME, at_, post, post_, 0,    \
			1000000000,                                            \
			"time that a core takes to write a work entry",        \
			"assumed: about a hundred instructions"),              \
		WORKQ_ROW("software.poll-period", PARAM_TIME, at_,             \
			poll_period, "20 ns", 1, 1000000000,                   \
			"period of a poll loop",                               \
			"assumed: a loop over a cached word"),                 \
		WORKQ_ROW("software.poll-load", PARAM_TIME, at_, poll_load,    \
			"5 ns", 0, 1000000000,                                 \
			"latency of a poll loop's load",                       \
			"assumed: a loop over a cached word")

enum { WORKQS_EVENTS = 2 };

/* One for all nodes. */
struct workqs_how {
	uint32_t first; /* number of WORKQS_EVENTS events */
	uint32_t entry, size; /* bytes, of an owner's queue too */
	const struct workq_params *params;
	/* Entries have come, or the queue has stopped. */
	void (*fetched)(const struct nic_at *a, uint32_t queue);
};

/* One node's. */
struct workqs {
	const struct workqs_how *how;
	struct side_reads *reads;
	struct workq **queue; /* [n_queues]; NULL until opened */
	uint32_t n_queues;
	struct ring doorbells;
	struct slots ends; /* completions on their way */
	uint64_t fetches, overruns; /* ever */
};

void workqs_init(struct workqs *x, const struct workqs_how *how,
	struct side_reads *reads);
void workqs_fini(struct workqs *x);
extern const struct nic_member_ops workqs_member;
/* Whether anything is under way. */
bool workqs_is_busy(const struct workqs *x);

/* A queue that is open, or NULL. */
static inline void *workqs_find(const struct workqs *x, uint32_t queue)
{
	struct workq *q = queue < x->n_queues ? x->queue[queue] : NULL;

	return q && q->is_open ? q : NULL;
}

/* 0; EINVAL for invalid values, EBUSY for a queue in use, EFAULT if there is no
 * such memory.  The owner's part of the queue is unchanged. */
int workqs_open(const struct nic_at *a, struct workqs *x, uint32_t queue,
	const struct workq_rings *r);
int workqs_close(struct workqs *x, uint32_t queue);
/* Closes it whatever is under way: that is dropped, and nothing is written to
 * its rings any more.  Entries that were taken still end.  It cannot be opened
 * until all this is over. */
void workqs_kill(struct workqs *x, uint32_t queue);

/* A store to a doorbell: entries written, and completions taken, ever; and when
 * the program began, and had copied what it sends. */
void workqs_ring(const struct nic_at *a, struct workqs *x, uint32_t queue,
	uint32_t written, uint32_t taken, sim_time birth, sim_time copied);

/* Takes the next entry, which is valid until others come; without a book its
 * times are now. */
const void *workqs_take(const struct nic_at *a, struct workqs *x,
	uint32_t queue, struct workq_birth *b);
/* One that was taken has ended. */
void workqs_complete(const struct nic_at *a, struct workqs *x, uint32_t queue,
	const struct workq_completion *c);

/* The same without a completion. */
void workqs_end(struct workqs *x, uint32_t queue);
/* Writes a completion that belongs to no entry; returns when it is in memory,
 * or 0 if the ring had no room. */
sim_time workqs_tell(const struct nic_at *a, struct workqs *x, uint32_t queue,
	const struct workq_completion *c);
/*
 * The same without an event: at the time that becomes *t the owner has one for
 * what the completion follows, and calls workqs_told() with the number that
 * this returns; 0: the ring had no room.  Then it wakes programs.
 */
uint32_t workqs_tell_with(const struct nic_at *a, struct workqs *x,
	uint32_t queue, const struct workq_completion *c, sim_time *t);
void workqs_told(const struct nic_at *a, struct workqs *x, uint32_t id);

/* Handles an event of these numbers; false: it has another one. */
bool workqs_on_event(const struct nic_at *a, struct workqs *x, uint32_t number,
	uint32_t data);

#endif
