/*
 * For tests: the collective network on a small torus, whose members contribute
 * numbers.  A packet's load is its value.
 */
#ifndef ROUTER_DIRECT_GUEST_TESTING_H
#define ROUTER_DIRECT_GUEST_TESTING_H

#include "coll/tree.h"
#include "router/direct/net_testing.h"

enum {
	GUEST_FIFO = 10,
	UP_PS = 18000,
	DOWN_PS = 6000,
	TURN_PS = 24000,
	SMALL_PS = 72 * BYTE_PS,
	GUEST_MOST = 600,
};

/* One node's contributions: n of them, as fast as there is room. */
struct guest_member {
	uint32_t n, done;
	uint16_t bytes;
	uint64_t value; /* of the first; the next one's is one more */
	bool passes; /* a broadcast */
	uint32_t dst;
	uint32_t route; /* 0: the kit's, on its channel */
};

/* Packets from node 0 to node 1 that are no guests. */
struct guest_flood {
	uint32_t n, fifo;
	uint8_t kind;
};

struct guest_got {
	sim_time head[GUEST_MOST];
	uint64_t value[GUEST_MOST];
	uint32_t n;
};

struct guest_kit {
	struct rig *rig;
	struct net *net;
	struct topo_grid grid;
	struct tree *tree;
	struct guest_member *member; /* [site] */
	struct guest_got *got; /* [site] */
	uint32_t route, channel;
	uint8_t channel_of[CLASS_ROUTES]; /* set by hand */
	bool refuses;
	struct guest_flood flood[3];
	/* What node 1 gets: guests, or of the system, high, the user's. */
	char order[2 * GUEST_MOST];
	uint32_t n_order;
};

struct guest_kit *guest_kit_on(
	const char *shape, uint32_t n_workers, const struct book_how *book);
struct guest_kit *guest_kit(const char *shape);
void guest_kit_free(struct guest_kit *k);
void guest_begin(
	struct guest_kit *k, site_id s, sim_time t, struct guest_member m);
struct topo_box guest_box(const struct guest_kit *k, const uint32_t *length);
void guest_set_box(
	struct guest_kit *k, const struct topo_box *b, uint32_t route);
void guest_run(struct guest_kit *k);

#endif
