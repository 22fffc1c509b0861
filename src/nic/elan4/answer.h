/* Answers to gets: see answer.c. */
#ifndef NIC_ELAN4_ANSWER_H
#define NIC_ELAN4_ANSWER_H

#include "nic/elan4/buffer.h"
#include "nic/util/window.h"

struct elan_answers {
	struct window channel;
};

/* Whether one more get can be answered; the number of its answer. */
bool elan_answer_has_room(const struct nic_at *a);
uint32_t elan_answer_number(const struct nic_at *a);
/* Begins the answer to a packet that is a get, with room for what it reads. */
uint32_t elan_answer_begin(const struct nic_at *a, packet_id get, void **data);
/* It has the data. */
void elan_answer_send(const struct nic_at *a, packet_id get, uint32_t sending);

#endif
