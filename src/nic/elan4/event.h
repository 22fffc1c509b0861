/* Events, and the event processor: see event.c. */
#ifndef NIC_ELAN4_EVENT_H
#define NIC_ELAN4_EVENT_H

#include "base/slots.h"
#include "nic/elan4/elan.h"

struct elan_event_cell {
	int64_t count; /* 0: not armed */
	uint64_t address, value;
	uint32_t context; /* that armed it; no other sets it */
	uint32_t copy; /* instead of a word; or 0 */
};

/* Bytes that an event copies when it fires. */
struct elan_copy {
	struct slot slot;
	uint64_t address;
	uint8_t *data;
	uint32_t context, bytes;
	uint32_t written; /* bytes in memory */
};

struct elan_events {
	struct elan_event_cell *cell; /* [n], as many as used */
	uint32_t n;
	struct slots copies; /* struct elan_copy */
	uint32_t inside; /* copies that events have fired, not done */
	uint64_t bytes; /* of copies */
	struct slot_list firing; /* the event processor is at the first */
};

extern const struct nic_member_ops elan_events_member; /* without copies */

/*
 * Takes away from an event's count; fires it where none is left.  Does
 * nothing where the context has not armed it.
 */
void elan_event_set(const struct nic_at *a, uint32_t context, uint32_t event,
	uint64_t count);
/* ELAN_ARM with the words behind its first; or what is wrong with it. */
enum elan_error elan_event_arm(const struct nic_at *a, uint32_t context,
	uint32_t event, const uint64_t *word);
/*
 * ELAN_ARM_COPY of a queue, with the count and the address; its bytes, of a
 * number that may be, are the last ones that were taken out.
 */
enum elan_error elan_event_arm_copy(const struct nic_at *a, uint32_t queue,
	uint32_t event, uint32_t bytes, const uint64_t *word);
/* The event processor is through with a copy. */
void elan_event_on_done(const struct nic_at *a, uint32_t none);
void elan_event_on_copied(const struct nic_at *a, uint32_t copy);
/* A queue has more room, or is stopped: copies that wait for it go on. */
void elan_event_on_room(const struct nic_at *a, uint32_t queue);
/*
 * A queue took nothing out in its turn.  Where it never will, because it lacks
 * what a copy would bring that does not fit, it is stopped.
 */
void elan_event_on_idle(const struct nic_at *a, uint32_t queue);
/*
 * Copies that events have fired and that are not done, but for those whose
 * queue waits for a thread's end, which may never come.
 */
uint32_t elan_events_left(const struct elan_node *n);

#endif
