/* Collectives of messages on QsNetII, by cards and network. */
#ifndef API_ELAN_MSG_COLL_H
#define API_ELAN_MSG_COLL_H

#include "api/msg/group.h"

enum { MSG_COLL_BYTES = 2048 }; /* of a process's memory, at own_at */

/* Of struct msg_ops. */
int msg_coll_barrier(struct msg_state *m, struct msg_group *g);
int msg_coll_broadcast(struct msg_state *m, struct msg_group *g, uint32_t root,
	uint64_t at, uint64_t bytes);
int msg_coll_reduce(struct msg_state *m, struct msg_group *g, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n);
/* Groups of all ranks. */
bool msg_coll_has_group(struct msg_state *m, const struct msg_group *g);
int msg_coll_open_group(struct msg_state *m, struct msg_group *g);
void msg_coll_close_group(struct msg_state *m, struct msg_group *g);
bool msg_coll_is_done(
	const struct msg_state *m, const struct weft_msg_done *done);

/* Before the machine's queues are closed. */
void msg_coll_close(struct msg_state *m);

#endif
