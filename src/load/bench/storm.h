/* The state of a storm's programs, and their messages. */
#ifndef LOAD_BENCH_STORM_H
#define LOAD_BENCH_STORM_H

#include "load/bench/storm_sends.h"

enum {
	PARTNERS = 16,
	GUARD = 64,
	WORD = 8,
	MOST_BYTES = 64 << 10,
	CONSTANT = 16 << 10, /* bytes for gets */
	MOST_GET = 512,
	MOST_LANES = 16,
	MOST_LOOKS = 10000, /* until unacknowledged bytes are there */
	MOST_TRIES = 20, /* to read back a failed message */
	MOST_IDLE = 500, /* looks without progress of others */
};

/* More bytes than ever arrive. */
#define STORM_ARMED UINT64_C(0x4000000000000)

enum { OP_PUT, OP_PUT_OTHERWISE, OP_GET, OP_CHANGE, OP_SEND };

enum { KINDS_USUAL, KINDS_ALL };

struct storm;

/* The expected contents of a lane's area at one partner. */
struct place {
	site_id node;
	uint32_t first; /* the first place at that node */
	uint8_t *bytes; /* of an area */
	bool is_unknown; /* a message to it has failed */
};

struct lane {
	struct storm *storm;
	site_id node;
	uint32_t number; /* on the node */
	uint32_t stream; /* of random numbers */
	struct place place[PARTNERS];
	uint64_t sent, checked; /* messages, bytes */
	uint64_t transfers; /* during which a page could go */
	sim_time gap; /* the longest between the ends of two messages */
	bool is_over; /* it has sent all */
	uint8_t *before; /* a place before the last message */
	struct sends sends;
	uint64_t *failed; /* numbers of messages */
	uint32_t n_failed;
};

struct storm {
	struct bench bench;
	/* keys */
	int64_t count, lanes, rogues, deeds, kinds;
	int64_t match, demand, drop; /* flags; per cent */

	struct bench_rogue *rogue;
	uint32_t n_lanes;
	site_id n_nodes;
	uint64_t area;
	uint64_t memory, sends_at; /* of a node; its part for blocks */
	bool has_changes, has_sends; /* of words; blocks */
};

struct message {
	uint64_t number;
	uint32_t op, partner;
	site_id dst;
	uint64_t bytes, at; /* at: of a get, in the constants */
	uint64_t chance; /* as in struct bench_transfer */
};

/* The k-th message of a program. */
struct message storm_message(const struct lane *l, uint64_t k);

/* --- storm_check.c --- */

int storm_check(struct load *l, struct err *e);
void storm_report(struct load *l, struct load_result *r);

#endif
