/* Where a message's time goes outside of the network: see account.c.  All of
 * these do nothing where there is no book. */
#ifndef NIC_ELAN4_ACCOUNT_H
#define NIC_ELAN4_ACCOUNT_H

#include "base/ring.h"
#include "nic/elan4/elan.h"

/* A message that a program has begun: its words begin at a position. */
struct elan_birth {
	uint64_t position;
	sim_time at;
	sim_time handed, came; /* its first word: to the bus, to the card */
};

/* Where a packet's time went before it first left, for the book. */
struct elan_account {
	struct book_message message;
	sim_time handed, came, asked; /* as above; decoded */
	sim_time reading, read, built; /* of DMAs */
	sim_time left; /* for the first time, or 0 */
	const char *engine; /* that makes its packets */
	bool is_held; /* an answer: what the get has spent */
	struct book_held held;
};

/* A store of words that begin at a position leaves the core, and comes; births
 * are a queue's. */
void elan_account_store(const struct nic_at *a, struct ring *births,
	uint64_t position, uint32_t bytes, sim_time came);
/* The command at a position is decoded: a message of so many packets. */
struct elan_account elan_account_begin(const struct nic_at *a,
	struct ring *births, enum book_kind kind, uint64_t position,
	uint64_t n_packets);
/* NULL: a packet whose time is charged to no message. */
void elan_account_packet(
	const struct nic_at *a, packet_id id, struct elan_account *c);
/* At the receiver: its last byte is there, its turn has come. */
void elan_account_tail(const struct nic_at *a, packet_id id, sim_time tail);
void elan_account_turn(const struct nic_at *a, packet_id id);
/* Its test is decided. */
void elan_account_tested(const struct nic_at *a, packet_id id);
/* A get has read: its answer goes on with what it has spent. */
void elan_account_answer(
	const struct nic_at *a, packet_id get, struct elan_account *c);
/* All is in memory; it is refused; it is nothing, or comes again. */
void elan_account_done(const struct nic_at *a, packet_id id);
void elan_account_refused(const struct nic_at *a, packet_id id);
void elan_account_nothing(const struct nic_at *a, packet_id id);

#endif
