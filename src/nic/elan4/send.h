/* The sender: see send.c. */
#ifndef NIC_ELAN4_SEND_H
#define NIC_ELAN4_SEND_H

#include "nic/elan4/account.h"
#include "nic/elan4/buffer.h"
#include "nic/util/outbox.h"
#include "nic/util/resend.h"

/* A packet that is not kept any more, for its owner. */
struct elan_sent {
	uint32_t owner_id; /* queue, DMA */
	uint32_t sequence;
	struct elan_cookie get;
	struct elan_account account;
};

struct elan_owner {
	/* It is acknowledged, by a yes, or by a test's no. */
	void (*done)(
		const struct nic_at *a, const struct elan_sent *s, bool is_yes);
	/* It is given up. */
	void (*failed)(const struct nic_at *a, const struct elan_sent *s,
		enum elan_error why);
};

/* A packet that is sent until it is acknowledged. */
struct elan_sending {
	struct resend_item item;
	struct elan_buffer *copy; /* what is sent again */
	const struct elan_owner *owner;
	uint32_t owner_id; /* queue, DMA */
	uint32_t event; /* set by the acknowledgement */
	uint32_t no_event; /* or by a test's no */
	uint32_t number; /* of the packet that was sent last */
	enum elan_fifo fifo;
	bool is_free; /* of any order with others to its node */
	struct elan_account account;
};

struct elan_sender {
	struct resend resend; /* of struct elan_sending */
	struct outbox outbox;
	uint32_t number; /* of packets */
	uint8_t rotation; /* the next route's */
	/* A DMA's packet of so many bytes is in the network for the first
	 * time. */
	void (*on_left)(const struct nic_at *a, uint32_t bytes);
};

/* Fills in what is the sender's; times are the machine's. */
void elan_send_set_up(struct resend_how *how, const struct elan *x);

struct elan_sending *elan_sending(const struct nic_at *a, uint32_t id);
/* A new one, with a buffer to fill; its packet leaves at t or later. */
uint32_t elan_send_new(const struct nic_at *a);
void elan_send_at(const struct nic_at *a, uint32_t sending, sim_time t);
void elan_send_on_answer(const struct nic_at *a, const struct elan_buffer *b);
/*
 * Puts a packet into the network, or in line for it.  Its time is charged to
 * an account's message; NULL: to none.
 */
void elan_send_packet(const struct nic_at *a, enum elan_fifo use, site_id dst,
	const struct elan_buffer *what, uint32_t route,
	struct elan_account *account);
void elan_send_on_room(const struct nic_at *a, uint32_t fifo);

#endif
