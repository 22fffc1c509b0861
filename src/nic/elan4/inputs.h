/* Input queues, for the other units. */
#ifndef NIC_ELAN4_INPUTS_H
#define NIC_ELAN4_INPUTS_H

#include "nic/elan4/elan.h"

/* --- iqueue.c --- */

extern const struct nic_member_ops elan_iqs_member; /* without notes */

struct elan_iq *elan_iq_search(
	const struct elan_node *n, uint32_t context, uint32_t id);

/* A context's queue by its number.  NULL: not open. */
static inline struct elan_iq *elan_iq(
	const struct elan_node *n, uint32_t context, uint32_t id)
{
	struct elan_iq *q = id < n->inputs.n ? n->inputs.queue[id] : NULL;

	/* of a process that is alone it is mostly there */
	return q && q->id == id && q->context == context
		       ? q
		       : elan_iq_search(n, context, id);
}

static inline struct elan_iq *elan_iq_at(
	const struct elan_node *n, uint32_t place)
{
	return place < n->inputs.n ? n->inputs.queue[place] : NULL;
}

/* Whether a transaction's queue exists, with slots that are long enough. */
bool elan_iq_allows(const struct nic_at *a, const struct elan_buffer *b,
	const struct elan_piece *p);
/* Whether there are slots for all messages of a packet; and takes them. */
bool elan_iq_takes(const struct nic_at *a, const struct elan_buffer *b);
void elan_iq_reserve(const struct nic_at *a, struct elan_buffer *b);
/* A transaction's bytes go to its slot, and may take the packet's budget with
 * them. */
void elan_iq_put(const struct nic_at *a, packet_id id, uint32_t i);
/* Those from the i-th on are not executed. */
void elan_iq_cancel(
	const struct nic_at *a, const struct elan_buffer *b, uint32_t i);

/* ELAN_ENQUEUE outside of a packet, of a queue, with all its words: what is
 * wrong with it.  And whether there is a slot for it; if not, the queue is
 * blocked until then. */
enum elan_error elan_iq_add(const struct nic_at *a, const struct elan_queue *q,
	const uint64_t *word);
bool elan_iq_has_room(
	const struct nic_at *a, struct elan_queue *q, uint64_t word);

/* For threads: the next message of a queue that has one, what it is, and its
 * end. */
uint32_t elan_iq_take(const struct nic_at *a, struct elan_iq *q);
void elan_iq_read(const struct nic_at *a, struct elan_iq *q, uint32_t slot,
	struct elan_message *m);
void elan_iq_free(const struct nic_at *a, struct elan_iq *q, uint32_t slot);
/* Address of a slot's bytes. */
uint64_t elan_iq_data(const struct elan_iq *q, uint32_t slot);
/* Whether a packet that is taken asks, and what its answer needs. */
bool elan_iq_asks(const struct nic_at *a, const struct elan_buffer *b);
void elan_iq_ask(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b);
/* The rest of a message that was taken may come. */
void elan_iq_await(const struct nic_at *a, struct elan_iq *q, uint32_t slot);

/* --- question.c --- */

/* A queue's messages ask. */
void elan_question_open(struct elan_iq *q);
/* Whether a packet has one message, and nothing else. */
bool elan_question_is_alone(const struct elan_buffer *b);
/* Whether a packet may come now, whose message has a slot or not. */
bool elan_question_may_come(
	const struct elan_iq *q, const struct elan_buffer *b, bool is_coming);
void elan_question_keep(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b, struct elan_iq *q);
/* Of a message that asks, and was taken by a thread. */
void elan_question_accept(
	const struct nic_at *a, struct elan_iq *q, uint32_t slot);
void elan_question_reject(
	const struct nic_at *a, struct elan_iq *q, uint32_t slot);

#endif
