/*
 * The collective unit, shared by its files:
 *
 *	collective.c   posts, and the unit's events
 *	rounds.c       groups and rounds, what comes from children, the result
 *	gather.c       packets between the members of a tree, and what is late
 *
 * A group is a member's place in a tree: its interface and the tree's number.
 * Its collectives are numbered; each is a round.  In a round a member sends its
 * parent one packet when it has its own contribution and those of all its
 * children: the combination of their bytes.  The root spreads the result.
 *
 *	parts     contributions to a barrier or a reduction
 *	ready     of a broadcast: the member has a slot for the result
 *	bytes     of a broadcast: its data, which pass members up to the root
 *
 * A member with two slots is ready for a broadcast's round before its program
 * calls it: when it has taken a round it is ready for the one after the next.
 *
 * Each packet of a child takes the unit's time (nic.collective.child), of the
 * oldest round first.  Packets to a parent are acknowledged, and sent again if
 * that does not come.  The result is spread by a multicast, or by the tree if
 * there is none.  A member that misses the result asks its parent, and one that
 * misses a child asks the child; what is alive answers.  A member that does not
 * breaks the group, and every member's round ends with an error.
 */
#ifndef NIC_SWHNI_COLLECTIVE_H
#define NIC_SWHNI_COLLECTIVE_H

#include "base/wide.h"
#include "coll/multicast.h"
#include "coll/ordered.h"
#include "nic/swhni/card.h"

enum {
	SWC_CHILDREN = SWHNI_LISTS * SWHNI_CHILDREN, /* of a member */
	SWC_OPERAND = 16, /* bytes that every packet has room for */
	SWC_ROUNDS = 4, /* of a group, that are remembered */
	SWC_EARLY = 128, /* packets of a group whose children are not known */
	SWC_HOPS = 64, /* of a walk up a tree */
	SWC_WATCHES = 16, /* times that a round is looked after */
};

/* Events of the unit. */
enum swc_event {
	SWC_STORED, /* a descriptor is in the chip */
	SWC_SERVED, /* the packet of a child */
	SWC_WRITTEN, /* the result is in memory */
	SWC_WATCH, /* a group is looked after */
	SWC_RESEND, /* four */
};

enum swc_kind {
	SWC_PART,
	SWC_READY,
	SWC_BYTES,
	SWC_LOOK, /* is the member alive?  Has it a result? */
	SWC_KINDS
};

/* A collective of a group. */
struct swc_round {
	uint32_t number; /* 0: none */
	uint32_t age; /* among those of the node */
	struct swhni_collective c; /* what was posted */
	struct workq_birth *birth; /* NULL without a book */
	uint32_t queue; /* that it was posted to; SW_NO_QUEUE: the window */
	packet_id *part; /* [child], or NULL */
	uint128 parts, ready; /* children whose packets came, a bit each */
	uint8_t *bytes; /* of the own contribution, then of the sum; or NULL */
	uint8_t *spread; /* of a broadcast: its bytes, on their way up */
	uint32_t n_spread;
	uint64_t shape; /* what it is: see swc_shape() */
	bool is_posted, is_own; /* by the program; its bytes are here */
	bool is_ready; /* it has said so, or said it to its parent: */
	bool is_up, is_ready_up;
	bool has_spread;
	packet_id result; /* that has come, until it is taken */
	uint8_t *kept; /* the result's bytes, for those that ask */
	uint32_t n_kept;
	bool has_result, is_taken;
	bool is_told; /* its completion is on its way */
	sim_time own_at; /* when its own contribution was there */
	sim_time since; /* it waits */
	uint32_t watches;
};

struct swc_group {
	uint32_t id, interface, engine, job;
	uint16_t tree;
	uint8_t entry, n_children;
	uint8_t next; /* the child behind the one that was found last */
	bool has_list;
	bool is_broken;
	bool is_watched;
	struct swhni_member parent, *child; /* NULL: it has none */
	uint128 all; /* children, a bit each */
	struct swc_round round[SWC_ROUNDS];
	struct ring early; /* packets, before the children are known */
};

/* Groups are made one by one, since a node has few. */
struct swc_place {
	struct slot slot;
	struct swc_group *group;
};

/* A packet to another member that is not acknowledged. */
struct swc_item {
	struct resend_item item;
	uint32_t group, round, generation;
	struct swhni_member to;
	uint8_t kind, status;
};

/* A descriptor in the window. */
struct swc_post {
	struct slot slot;
	struct swhni_collective c;
	uint32_t interface, job;
	uint32_t life; /* of the interface */
	struct workq_birth birth;
	uint8_t *data; /* that came with it, or NULL */
};

struct sw_collectives {
	struct slots groups; /* struct swc_place */
	struct index by_key;
	struct swc_group *last; /* that was found last, or NULL */
	struct slots posts; /* struct swc_post */
	struct resend sent; /* struct swc_item */
	/* packets to be served, those of the oldest round first */
	struct packet_list line[SWHNI_ENGINES];
	packet_id serving[SWHNI_ENGINES];
	uint32_t n_lined; /* and served */
	uint32_t age, generation;
};

static inline struct sw_collectives *swc_of(const struct nic_at *a)
{
	return sw_here(a)->collectives;
}

static inline struct swc_group *swc_group(const struct nic_at *a, uint32_t id)
{
	return ((struct swc_place *)slots_at(&swc_of(a)->groups, id))->group;
}

/* The same, or NULL if it is gone. */
static inline struct swc_group *swc_find_group(
	const struct sw_collectives *u, uint32_t id)
{
	const struct swc_place *x = slots_find(&u->groups, id);

	return x ? x->group : NULL;
}

static inline bool swc_is_root(const struct swc_group *g)
{
	return g->parent.node == SWHNI_NO_NODE;
}

/* Whether switches spread its results. */
static inline bool swc_has_multicast(
	const struct nic_at *a, const struct swc_group *g)
{
	return multicast_has(a->nic->net->coll) && g->entry != SWHNI_NO_ENTRY;
}

static inline uint128 swc_all(const struct swc_group *g)
{
	return g->all;
}

/* What all members must agree on. */
static inline uint64_t swc_shape(uint32_t op, uint32_t data, uint32_t bytes)
{
	return op | data << 8 | (uint64_t)bytes << 32;
}

/* The operators and types of coll/ordered.h, by those of descriptors. */
extern const uint8_t swc_coll_op[], swc_type[];

static inline bool swc_is_reduction(const struct swhni_collective *c)
{
	return c->op < SWHNI_BARRIER;
}

static inline bool swc_is_broadcast(const struct swhni_collective *c)
{
	return c->op == SWHNI_BROADCAST;
}

/* Whether its own bytes are needed: all of them contribute, or it is whose
 * bytes are broadcast. */
static inline bool swc_has_bytes(const struct swhni_collective *c)
{
	return c->bytes && (swc_is_reduction(c) || c->root == c->rank);
}

/* A round of a group, as the data of an event. */
static inline uint32_t swc_ref(
	const struct swc_group *g, const struct swc_round *r)
{
	return g->id * SWC_ROUNDS + r->number % SWC_ROUNDS;
}

/* --- rounds.c --- */

/* The unit of a node; a group is gone. */
struct sw_collectives *swc_make(const struct nic_at *a);
void swc_free(const struct nic_at *a, struct swc_group *g);
/* A group, made if need be; NULL: there is no such interface, or another job's:
 * *status. */
struct swc_group *swc_find(const struct nic_at *a, uint32_t interface,
	uint32_t tree, uint32_t job, uint32_t *status);
/* The round of a number; NULL: it is over (*is_old), or too far ahead.  The
 * first is for one that has not begun. */
struct swc_round *swc_other_round(const struct nic_at *a, struct swc_group *g,
	uint32_t number, bool *is_old);

static inline struct swc_round *swc_round(const struct nic_at *a,
	struct swc_group *g, uint32_t number, bool *is_old)
{
	struct swc_round *r = &g->round[number % SWC_ROUNDS];

	*is_old = false;
	return number && r->number == number
		       ? r
		       : swc_other_round(a, g, number, is_old);
}

/* A child's packet for a group whose list is known. */
void swc_take(const struct nic_at *a, struct swc_group *g, packet_id id);
/* Something has come: sends what can be sent, or spreads the result. */
void swc_go_on(
	const struct nic_at *a, struct swc_group *g, struct swc_round *r);
/* The result has come for one member, or by a multicast for all members of this
 * node: only those name a tree by its number alone. */
void swc_land(const struct nic_at *a, const struct sw_header *h,
	const uint8_t *data, bool is_for_all);
void swc_deliver(
	const struct nic_at *a, struct swc_group *g, struct swc_round *r);
void swc_on_written(const struct nic_at *a, uint32_t ref);
/* The bytes of a broadcast go on at once. */
void swc_pass_up(const struct nic_at *a, struct swc_group *g,
	struct swc_round *r, const uint8_t *data, uint32_t n);
/* Ends a round for its program. */
void swc_complete(const struct nic_at *a, struct swc_group *g,
	struct swc_round *r, uint32_t status);
/* A member is missing: all rounds end with errors, here and elsewhere. */
void swc_break(const struct nic_at *a, struct swc_group *g);

/* --- gather.c --- */

/* Sends a packet to a member until it is acknowledged. */
void swc_send(const struct nic_at *a, struct swc_group *g, uint32_t round,
	enum swc_kind kind, const struct swhni_member *to);
/* The root spreads a result: to all; to one member, by a port (1 + its number)
 * if it works, or by any (0). */
void swc_spread(const struct nic_at *a, struct swc_group *g, uint32_t round);
void swc_tell(const struct nic_at *a, struct swc_group *g, uint32_t round,
	const struct swhni_member *to, uint32_t wanted);
/* A round begins to wait for others. */
void swc_watch(
	const struct nic_at *a, struct swc_group *g, struct swc_round *r);
void swc_on_packet(const struct nic_at *a, uint32_t engine, packet_id id);
void swc_on_served(const struct nic_at *a, uint32_t engine, packet_id id);
void swc_on_watch(const struct nic_at *a, uint32_t group);
void swc_again(const struct nic_at *a, uint32_t id);
void swc_late(const struct nic_at *a, uint32_t id);
void swc_give_up(const struct nic_at *a, uint32_t id);
/* A group is gone: nothing of it is sent any more. */
void swc_forget_items(const struct nic_at *a, const struct swc_group *g);

#endif
