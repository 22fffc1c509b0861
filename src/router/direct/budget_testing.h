/* For tests: a rig that keeps time budgets, and writes each one down. */
#ifndef ROUTER_DIRECT_BUDGET_TESTING_H
#define ROUTER_DIRECT_BUDGET_TESTING_H

#include <stdatomic.h>

#include "router/direct/net_testing.h"

enum {
	A_PLUS,
	A_MINUS,
	PERIOD = FULL_PS + GAP_PS,
	LOGIC_PS = 16000,
	EMPTY_PS = 40 * BYTE_PS, /* a packet of a header and a trailer */
	MOST = 20000,
};

static const sim_time late = 100000 * SIM_NS;

struct ledger {
	struct book_account account[MOST];
	atomic_uint n;
};

struct booked {
	struct book_how how;
	struct ledger *ledger;
	struct rig *r;
};

/* Follows the first message of node 0. */
struct booked booked_begin(struct rig_how how);
/* To the end; the ledger is sorted by source, number and end. */
void booked_run(struct booked *b);
void booked_end(struct booked *b);

/* The ledger's i-th message spent this and nothing else. */
void booked_check(const struct booked *b, uint32_t i, const sim_time *want);
#define CHECK(b, i, ...)                                                       \
	booked_check((b), (i), (const sim_time[N_CAUSES]){ __VA_ARGS__ })

/* What a packet spends on wires of so many hops that take sum. */
#define HOPS(n, sum)                                                           \
	[CAUSE_ROUTER] = (n)*LOGIC_PS, [CAUSE_WIRE] = (sum) - (n)*LOGIC_PS
#define FULL [CAUSE_SERIALISATION] = FULL_PS

#endif
