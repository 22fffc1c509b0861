/* For tests: programs that use collectives, and how their runs end. */
#ifndef TESTING_COLLECTIVE_TESTING_H
#define TESTING_COLLECTIVE_TESTING_H

#include "api/spi/spi_testing.h"
#include "cli/run.h"

enum {
	WORLD = MUHWI_PACKET_VIRTUAL_CHANNEL_USER_COMM_WORLD,
	SUB = MUHWI_PACKET_VIRTUAL_CHANNEL_USER_SUB_COMM,
	SYSTEM = MUHWI_PACKET_VIRTUAL_CHANNEL_SYSTEM_COLLECTIVE,
	ALLREDUCE = MUHWI_COLLECTIVE_TYPE_ALLREDUCE,
	BROADCAST = MUHWI_COLLECTIVE_TYPE_BROADCAST,
	FLOAT_ADD = MUHWI_COLLECTIVE_OP_CODE_FLOATING_POINT_ADD,
	SIGNED_ADD = MUHWI_COLLECTIVE_OP_CODE_SIGNED_ADD,
	SYSTEM_GROUP = 64, /* its FIFOs are the system's */
};

struct coll_how {
	const char *shape, *sets[4];
	void (*run)(void *mine);
	bool is_system;
	uint32_t threads; /* 0: 1 */
};

struct machine_run *coll_perform(const struct coll_how *h);
void coll_drop(struct machine_run *r);
/* Ends with exit code 3, and says so. */
void coll_locks(const struct coll_how *h, const char *says);
void coll_finishes(const struct coll_how *h);
/* Ready for so many bytes. */
MUSPI_InjFifo_t *coll_member(uint64_t bytes);
void coll_call_with(MUSPI_InjFifo_t *f, uint32_t route, uint32_t misc,
	uint8_t op, uint32_t bytes);
void coll_call(MUSPI_InjFifo_t *f, uint32_t route, uint32_t misc);
void coll_await(void);
/* The nodes of a box take part in a route; whether this is one of them. */
bool coll_join_box(uint32_t id, const MUSPI_Box_t *box);
/* Nodes of a box whose A and B are within bounds take part in a route. */
bool coll_join(
	uint32_t id, uint32_t a, uint32_t a_last, uint32_t b, uint32_t b_last);

#endif
