/* The message layer's tagged port. */
#ifndef API_ELAN_MSG_TAGGED_H
#define API_ELAN_MSG_TAGGED_H

#include "api/msg/msg.h"

extern const struct msg_tagged elan_tagged;

/* Opens the process's port, with command queues from a number on; an error
 * number, or 0. */
int msg_port_open(struct msg_state *m, uint32_t queue);
void msg_port_close(struct msg_state *m);

#endif
