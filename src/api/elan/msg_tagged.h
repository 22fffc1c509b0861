/* The message layer's tagged port. */
#ifndef API_ELAN_MSG_TAGGED_H
#define API_ELAN_MSG_TAGGED_H

#include "api/msg/msg.h"
#include "nic/elan4/elan4.h"

extern const struct msg_tagged elan_tagged;

/* Opens the process's port, with command queues from a number on; an error
 * number, or 0. */
int msg_port_open(struct msg_state *m, uint32_t queue);
/* Bytes of card memory that it takes, at least. */
uint64_t msg_port_card(const struct elan_params *p, uint32_t n_ranks);
void msg_port_close(struct msg_state *m);

#endif
