/* What the files of the tagged ports' library share. */
#ifndef API_ELAN_TPORT_LIB_H
#define API_ELAN_TPORT_LIB_H

#include "api/elan/queue.h"
#include "api/elan/tport.h"

/* --- tport.c --- */

/* The page to which one of the two mapped queues of a port is mapped: for the
 * thread's packets, for DMAs. */
enum { TPORT_PAGE_PACKETS, TPORT_PAGE_DMAS, TPORT_PAGES };
uint64_t tport_page_at(uint32_t port, uint32_t i);
/* Bytes of a port's memory. */
uint64_t tport_bytes(
	const struct elan_params *p, uint32_t handles, uint32_t n_ranks);
/* Bytes of card memory that an open port takes, at least. */
uint64_t tport_card_least(
	const struct elan_params *p, uint32_t handles, uint32_t n_ranks);
/* Bytes of a slot for messages. */
uint32_t tport_slot_bytes(void);

/* --- tport_calls.c --- */

/* A record that the thread answers at once. */
int tport_ask(struct elan_tport *t, enum tport_kind kind, uint64_t tag,
	struct tport_record *r, struct tport_status *s);

/* Whether a message can be stored without waiting; also called outside of the
 * program. */
bool tport_has_room(const struct nic *nic, site_id node,
	const struct elan_tport *t, uint64_t bytes);
/* The result of what has ended; its handle is free, unless it is a claim. */
int tport_finish(struct elan_tport *t, uint32_t handle,
	struct elan_tport_status *status, bool *is_claim);

#endif
