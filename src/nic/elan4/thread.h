/* The thread processor: see thread.c. */
#ifndef NIC_ELAN4_THREAD_H
#define NIC_ELAN4_THREAD_H

#include "nic/elan4/elan.h"

extern const struct nic_member_ops elan_threads_member; /* of the pointer */
/* Threads that are ready or run: none when all is done. */
bool elan_threads_busy(const struct elan_threads *h);

/* Whether one more can be started; if not, the queue is told when. */
bool elan_thread_has_room(const struct nic_at *a, uint32_t queue);
/* Starts a thread for a queue: a command's words, its own included. */
enum elan_error elan_thread_begin(
	const struct nic_at *a, uint32_t queue, const uint64_t *word);
void elan_thread_on_go(const struct nic_at *a, uint32_t id);
/* A word has had the bus: a read that stands behind it goes on. */
void elan_thread_on_word(const struct nic_at *a);
/* A queue has room, or has stopped: those that wait for that go on. */
void elan_thread_on_room(const struct nic_at *a, uint32_t queue);

#endif
