/*
 * Algorithms of collectives.  An algorithm knows no machine, no message and no
 * memory: it gives the steps of each member, and others carry them out or write
 * them down (load/coll/play.h, `weft goal`).
 *
 * A step is a function of its number, so a collective of many members needs no
 * memory for its steps.  The steps of a member form lanes.  The steps of a lane
 * begin in their order, each as soon as the steps are over that it waits for;
 * lanes go on independently of each other.  Lanes 2k and 2k + 1 are a pair: the
 * even one receives what the odd ones of other members send, in the order in
 * which one member sends it; or a lane is alone, and does both.
 *
 * Addresses count from the start of the member's data.  Its work space, with
 * results that do not replace the data, begins behind them.  The data:
 *
 *	all-reduce       vectors; all become their sum
 *	reduce-scatter   vectors; block m of member m becomes that of their sum
 *	all-gather       block m of member m; all get all blocks
 *	broadcast        the root's
 *	reduce           vectors; that of the root becomes their sum
 *	all-to-all       block m goes to member m, as block of its sender, which
 *	                 is in the work space
 */
#ifndef LOAD_COLL_PLAN_H
#define LOAD_COLL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum algo_op {
	ALGO_BROADCAST,
	ALGO_REDUCE,
	ALGO_ALLREDUCE,
	ALGO_REDUCESCATTER,
	ALGO_ALLGATHER,
	ALGO_ALLTOALL,
	ALGO_ALLTOALLV,
	ALGO_OPS,
};

extern const char *const algo_op_names[ALGO_OPS];

enum algo_kind {
	ALGO_SEND,
	ALGO_RECEIVE,
	ALGO_ADD, /* receives, and adds to what is there */
	ALGO_COPY,
};

enum {
	ALGO_CHANNELS = 64,
	ALGO_LANES = 8, /* of a channel, at most */
	ALGO_MEMBERS = 1 << 20,
};

/* What a step waits for: the first n steps of a lane are over. */
struct algo_after {
	uint32_t lane;
	uint64_t n;
};

struct algo_step {
	enum algo_kind kind;
	uint32_t peer; /* a member */
	uint64_t at, bytes;
	/* Where bytes to be added come to; where a copy goes. */
	uint64_t to;
	struct algo_after after;
	/* The bytes at at are not changed before; of ALGO_ADD only. */
	struct algo_after add_after;
	/* Steps of its lane under way, with it, at most; 0: any number.  Only
	 * the rate depends on it, so schedules that are written down have none.
	 */
	uint32_t most;
};

/* Bytes from each member to each other one, for all-to-all of several lengths:
 * [member][n + 1], where a member's block begins in data and in results. */
struct algo_blocks {
	const uint64_t *from, *to;
};

struct algo_plan {
	const struct algo *algo;
	enum algo_op op;
	uint32_t n; /* members */
	uint32_t root; /* a member */
	uint64_t bytes; /* of a member's data */
	uint32_t channels; /* parts that go side by side */
	uint64_t chunk; /* most bytes of a message; 0: algo_settle() decides */
	uint32_t unit; /* neighbouring members that are close to each other */
	uint32_t grain; /* bytes that stay together */
	bool is_apart; /* no stage of it begins before the last one is over */
	struct algo_blocks blocks; /* with ALGO_ALLTOALLV */
};

struct algo {
	const char *name, *help;
	uint32_t ops; /* bits of enum algo_op */
	uint32_t lanes; /* of each channel */
	uint32_t spaces; /* the work space, in lengths of the data */
	/* A message is at most one of so many parts of the data, each time the
	 * number of members, and besides, unless a plan says otherwise. */
	uint32_t cuts_each, cuts;
	uint64_t most_chunk; /* the same; 0: 512 KiB */
	bool has_unit; /* else it ignores the unit */
	bool has_equal_blocks; /* it needs them */
	/* An error where it cannot; or NULL. */
	int (*check)(const struct algo_plan *p, struct err *e);
	uint64_t (*count)(
		const struct algo_plan *p, uint32_t member, uint32_t lane);
	/* out is zero but for at and bytes that count. */
	void (*step)(const struct algo_plan *p, uint32_t member, uint32_t lane,
		uint64_t i, struct algo_step *out);
	/* Changes how many steps of a lane are under way at a time, of those
	 * that send and that receive; or NULL. */
	void (*pace)(
		const struct algo_plan *p, uint32_t *sends, uint32_t *receives);
};

extern const struct algo *const algo_registry[]; /* NULL at the end */
extern const struct algo algo_ring, algo_tree, algo_doubling, algo_halving,
	algo_bruck, algo_pairwise, algo_hierarchical;
/* Words in place of one, without steps; not in the registry. */
extern const struct algo algo_auto, algo_network;

/* An error names the nearest one that there is. */
const struct algo *algo_find(const char *name, struct err *e);
/* The same, or one of these words. */
const struct algo *algo_find_any(const char *name, struct err *e);
/* The number of an operation, or ALGO_OPS. */
enum algo_op algo_find_op(const char *name);

static inline bool algo_has(const struct algo *a, enum algo_op op)
{
	return a->ops >> op & 1;
}

/* Operations with a root. */
static inline bool algo_op_has_root(enum algo_op op)
{
	return op == ALGO_BROADCAST || op == ALGO_REDUCE;
}

/* Checks a plan, and fills in what it left open. */
int algo_settle(struct algo_plan *p, struct err *e);

/* Whether it has steps: no word in place of an algorithm. */
static inline bool algo_has_steps(const struct algo_plan *p)
{
	return p->algo->lanes > 0;
}

enum { ALGO_TRIED = 16 };

/* Plans to be tried in place of one, by all algorithms that can do it but for
 * those that send far too much.  Settled; 0: none can, and why the last one
 * cannot. */
uint32_t algo_candidates(
	const struct algo_plan *like, struct algo_plan *out, struct err *e);

/* All lanes of a member, by channel; the steps of one; one of these. */
static inline uint32_t algo_lanes(const struct algo_plan *p)
{
	return p->channels * p->algo->lanes;
}

/* A tag for the messages of a lane, below ALGO_TAGS. */
enum { ALGO_TAGS = ALGO_CHANNELS * ALGO_LANES / 2 };

static inline uint32_t algo_tag(uint32_t lane)
{
	return lane / 2;
}

static inline uint64_t algo_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	return p->n > 1 || p->op >= ALGO_ALLTOALL
		       ? p->algo->count(p, member, lane)
		       : 0;
}

static inline void algo_step(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t i, struct algo_step *out)
{
	*out = (struct algo_step){ 0 };
	p->algo->step(p, member, lane, i, out);
}

/* Bytes of its longest message, by the first steps of the first member. */
uint64_t algo_longest(const struct algo_plan *p);

/* Bytes of data and work space. */
uint64_t algo_space(const struct algo_plan *p);

/*
 * nccl-tests' factor from the bytes of the data per time to the rate of a
 * member's link that a perfect algorithm would need; in_network: of switches
 * that add.
 */
double algo_bus_factor(enum algo_op op, uint32_t n, bool in_network);

/* --- for algorithms --- */

struct algo_span {
	uint64_t at, bytes;
};

/* Part i of a span that is cut into equal parts, but for a grain. */
struct algo_span algo_cut(const struct algo_plan *p, struct algo_span s,
	uint64_t parts, uint64_t i);
/* How many of these parts cover the span up to an address. */
uint64_t algo_cover(const struct algo_plan *p, struct algo_span s,
	uint64_t parts, uint64_t upto);

static inline struct algo_span algo_data(const struct algo_plan *p)
{
	return (struct algo_span){ 0, p->bytes };
}

/* A member's block of the data, and what a channel has of it. */
static inline struct algo_span algo_block(
	const struct algo_plan *p, struct algo_span data, uint32_t member)
{
	return algo_cut(p, data, p->n, member);
}

/* Messages that the longest of n parts of a span takes. */
uint64_t algo_chunks(
	const struct algo_plan *p, struct algo_span s, uint64_t parts);

static inline void algo_set(struct algo_step *s, enum algo_kind kind,
	uint32_t peer, struct algo_span span)
{
	s->kind = kind;
	s->peer = peer;
	s->at = span.at;
	s->bytes = span.bytes;
}

static inline uint32_t algo_channel(const struct algo_plan *p, uint32_t lane)
{
	return lane / p->algo->lanes;
}

/* (a + b) modulo n, for a and b below n. */
static inline uint32_t algo_turn(uint32_t a, uint32_t b, uint32_t n)
{
	return (uint32_t)(((uint64_t)a + b) % n);
}

/*
 * A ring: in each round every place sends a block to the next place and
 * receives one of the previous place.  In the first n - 1 rounds blocks are
 * added, in the others they replace what was there.
 */
struct algo_ring {
	uint32_t n, place;
	uint32_t next, prev; /* members */
	/* Places of a unit are turned: place q has the block of its member. */
	uint32_t unit, turn;
	struct algo_span span; /* all blocks */
	/* Of other cuts of the span than n: the block of place 0, and the
	 * distance between blocks; cuts 0: block q is that of place q. */
	uint32_t cuts, cut, stride;
	uint32_t channel, channels; /* which part of each block */
	uint32_t first, end; /* rounds */
	uint64_t chunks; /* of a block */
	uint32_t lane; /* that receives; the next one sends */
	uint64_t base; /* steps of the lane before it */
	uint64_t space; /* where bytes to be added come to: + their address */
	struct algo_after after; /* before everything */
};

static inline uint64_t algo_ring_count(const struct algo_ring *r)
{
	return (r->end - r->first) * r->chunks;
}

/* The block's owner, or the member of a place. */
static inline uint32_t algo_ring_at(const struct algo_ring *r, uint32_t place)
{
	uint32_t first = place - place % r->unit;

	return first + (place - first + r->turn) % r->unit;
}

/* Step i of its lane that receives, or sends. */
void algo_ring_step(const struct algo_plan *p, const struct algo_ring *r,
	bool is_send, uint64_t i, struct algo_step *out);

/*
 * Powers of two: the members beyond the largest one are folded into their
 * neighbours, which take part for them: an odd member sends all to the even one
 * before it, and gets the result in the end.
 */
struct algo_fold {
	uint32_t core; /* places, a power of two */
	uint32_t rest; /* members that are folded */
	uint32_t rounds; /* its logarithm */
	uint32_t place; /* of a member that takes part */
	uint32_t partner; /* of the fold, or UINT32_MAX */
	bool is_out;
};

struct algo_fold algo_fold(uint32_t n, uint32_t member);

static inline uint32_t algo_fold_member(
	const struct algo_fold *f, uint32_t place)
{
	return place < f->rest ? 2 * place : place + f->rest;
}

/* Whether it takes part for another one, too. */
static inline bool algo_fold_is_in(const struct algo_fold *f)
{
	return f->partner != UINT32_MAX && !f->is_out;
}

#endif
