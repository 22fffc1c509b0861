/* Gets that wait for their answers: see get.c. */
#ifndef NIC_ELAN4_GET_H
#define NIC_ELAN4_GET_H

#include "nic/elan4/account.h"
#include "nic/elan4/buffer.h"
#include "nic/util/window.h"

struct elan_get {
	struct slot slot; /* of those that wait */
	struct elan_cookie cookie;
	uint32_t queue;
	site_id dst;
	sim_time until; /* it waits */
	uint16_t context;
	uint8_t tries, n_pieces;
	bool is_waiting, is_answered;
	struct elan_piece piece[ELAN_MOST_PIECES];
	struct elan_account account;
};

struct elan_gets {
	struct slots items; /* struct elan_get */
	uint32_t made;
	struct slot_list late; /* that wait, the longest first */
	bool is_posted;
	struct window channel; /* of those that are asked again */
};

/* A queue's packet to dst is a get: what its answer will name. */
struct elan_cookie elan_get_new(const struct nic_at *a, uint32_t queue,
	site_id dst, const struct elan_buffer *b);
/* It is acknowledged: its answer is waited for.  Or it is given up. */
void elan_get_acked(const struct nic_at *a, const struct elan_cookie *c,
	const struct elan_account *account);
void elan_get_failed(const struct nic_at *a, const struct elan_cookie *c,
	enum elan_error why);
/* Its answer is here: false where nobody waits for it. */
bool elan_get_answered(const struct nic_at *a, const struct elan_cookie *c);
/* And is executed. */
void elan_get_done(const struct nic_at *a, const struct elan_cookie *c);
/* Nobody waits for answers to a queue's gets any more. */
void elan_get_forget(struct elan_node *n, uint32_t queue);
void elan_get_on_late(const struct nic_at *a, uint32_t none);

#endif
