/* Shared by the files of the driver of Sunway's interface. */
#ifndef LOAD_BENCH_DRIVERS_SW_H
#define LOAD_BENCH_DRIVERS_SW_H

#include "api/sw/user.h"
#include "load/bench/bench.h"

enum {
	SWD_MOST_LANES = 32,
	SWD_RAW = SWD_MOST_LANES, /* interfaces without the library, by lane */
	SWD_ROGUE = 2 * SWD_MOST_LANES,
	SWD_GROUP, /* of collectives, by process */
};

/* A member of a collective's tree. */
struct swd_member {
	struct swv_user user;
	struct swhni_collective work; /* all but what a round has */
	uint32_t ended, status;
};

struct swd_member *swd_member(const struct bench_end *x);
/* A key of all of the node's memory. */
uint32_t swd_key(const struct bench_end *x);

extern const struct bench_group swd_group;

#endif
