/*
 * Packets that are kept until they are acknowledged.  They are retransmitted by
 * another route, after a pause that doubles each time, if they are refused or
 * not acknowledged in time.  The owner defines packets and answers, sends the
 * packets, and decides what happens to one that is given up.
 *
 * The time-out is at least a minimum time, and several times the longest recent
 * round trip: congestion must not be taken for loss.  First tries all have the
 * same time-out, so they expire in the order in which they left, and need one
 * event at a time.
 */
#ifndef NIC_UTIL_RESEND_H
#define NIC_UTIL_RESEND_H

#include "base/param.h"
#include "base/slots.h"
#include "nic/util/ticks.h"

/* Parameters for an owner's table. */
struct resend_params {
	int64_t timeout, per_node, round_trips, limit, back_off;
};

#define RESEND_ROW(name_, type_, at_, field_, ...)                             \
	PARAM_ROW(type_, "retry." name_,                                       \
		(at_) + offsetof(struct resend_params, field_), __VA_ARGS__)
#define RESEND_ROWS(                                                           \
	at_, timeout_, limit_, per_node_from, limit_from, back_off_from)       \
	RESEND_ROW("timeout", PARAM_TIME, at_, timeout, timeout_, 1000000,     \
		PS_PER_S,                                                      \
		"minimum time-out of an unacknowledged packet; doubled for "   \
		"the second try and again for the third",                      \
		"assumed: far longer than a round trip in an idle network"),   \
		RESEND_ROW("per-node", PARAM_TIME, at_, per_node, "2 us", 0,   \
			1000000000,                                            \
			"addition to the minimum time-out for each node of "   \
			"the machine",                                         \
			per_node_from),                                        \
		RESEND_ROW("round-trips", PARAM_COUNT, at_, round_trips, "4",  \
			0, 1000,                                               \
			"minimum time-out, in multiples of the longest "       \
			"recent round trip",                                   \
			"assumed: a loaded network is not a dead one"),        \
		RESEND_ROW("limit", PARAM_COUNT, at_, limit, limit_, 0, 255,   \
			"largest number of retransmissions of a packet",       \
			limit_from),                                           \
		RESEND_ROW("back-off", PARAM_TIME, at_, back_off, "1 us", 1,   \
			1000000000,                                            \
			"pause before the second try, doubled for each "       \
			"further one",                                         \
			back_off_from)

/* An owner's item begins with it. */
struct resend_item {
	struct slot slot; /* of first tries that wait */
	site_id dst;
	uint8_t route; /* of the next try; a number, modulo the routes */
	uint16_t tries, excused; /* tries that do not count */
	sim_time left_at; /* of an unanswered try, or 0 */
	sim_time again_at; /* time of the next try, or 0 */
};

/* At least once: no valid answer can come before. */
static inline bool resend_has_left(const struct resend_item *x)
{
	return x->left_at || x->tries;
}

/* One for all nodes. */
struct resend_how {
	/* numbers of events, and what they are taken modulo */
	uint32_t leave, late, later, again, stride;
	sim_time timeout; /* the least */
	int64_t round_trips; /* the least, in longest recent ones */
	int64_t retries;
	sim_time back_off;
	/* An item is to be sent, now. */
	void (*send)(const struct nic_at *a, uint32_t id);
	/* A time-out has expired; called before the consequences. */
	void (*on_late)(const struct nic_at *a, uint32_t id);
	/* The last try has failed: the owner frees the packet. */
	void (*give_up)(const struct nic_at *a, uint32_t id);
};

enum { RESEND_DETOURS = 256 }; /* destinations share them */

/* One node's. */
struct resend {
	const struct resend_how *how;
	struct ticks *ticks;
	struct slots items;
	struct slot_list late; /* first tries, the eldest first */
	bool is_posted;
	sim_time round_trip; /* the longest recently */
	/* Routes that did not fail recently; NULL: none has failed yet. */
	uint8_t *detour;
};

/* Sets times and tries; and the numbers of events, four from first on. */
void resend_set_up(struct resend_how *how, const struct resend_params *p,
	site_id n_nodes, uint32_t first);
enum { RESEND_EVENTS = 4 };

/* From the first try of an item to the end of its last, in a network without
 * long round trips. */
sim_time resend_longest(const struct resend_how *how);

/* How and ticks are borrowed; size is an item's. */
void resend_init(struct resend *r, const struct resend_how *how,
	struct ticks *ticks, size_t size);
void resend_fini(struct resend *r);
uint64_t resend_memory(const struct resend *r);
extern const struct nic_member_ops resend_member;

/* A new item, zeroed; it is first sent at t, or now. */
uint32_t resend_take(struct resend *r);
/* The same, where what the owner has behind its resend_item is arbitrary. */
static inline uint32_t resend_take_any(struct resend *r)
{
	uint32_t id = slots_take_any(&r->items);
	struct resend_item *x = slots_at(&r->items, id);

	*x = (struct resend_item){ .slot = x->slot };
	return id;
}
void resend_at(
	const struct nic_at *a, struct resend *r, uint32_t id, sim_time t);
/* The same as the next event of the node, at once. */
void resend_now(const struct nic_at *a, struct resend *r, uint32_t id);

/* For an owner that sends the first try of an item by itself: it has left,
 * now. */
void resend_left(const struct nic_at *a, struct resend *r, uint32_t id);

/* Any answer has arrived: updates the round-trip times. */
void resend_answered(const struct nic_at *a, struct resend *r, uint32_t id);
/* The answer refused the packet. */
void resend_again(const struct nic_at *a, struct resend *r, uint32_t id);
/* The same; the failed try does not count. */
void resend_excused(const struct nic_at *a, struct resend *r, uint32_t id);
/* Nothing of it is sent or awaited any more, though it is not freed yet. */
void resend_stop(struct resend *r, uint32_t id);
/* It is not tried again before a time, and its tries count anew. */
void resend_pause(
	const struct nic_at *a, struct resend *r, uint32_t id, sim_time t);
/* Frees an item. */
void resend_give(struct resend *r, uint32_t id);

/* Handles an event of these numbers, with its data; false: another number. */
bool resend_on_event(
	const struct nic_at *a, struct resend *r, uint32_t number, uint32_t id);
/* Whether an event is a timer that nothing waits for: see nic_ops. */
bool resend_is_stale(const struct resend *r, uint32_t number, uint32_t id);
/* Whether nothing was lost of an item, but its receiver has put it off for so
 * long that pauses grow no more; and whether an event is another try of it. */
bool resend_is_put_off(const struct resend_item *x);
bool resend_is_patient(const struct resend *r, uint32_t number, uint32_t id);

#endif
