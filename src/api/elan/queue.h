/* Shared by the files of QsNetII's interface: the calling program's card, and
 * stores into queues. */
#ifndef API_ELAN_QUEUE_H
#define API_ELAN_QUEUE_H

#include "api/elan/elan.h"

/* The card of the program's node; a BUG if there is none, or in a thread of the
 * card. */
struct nic *cq_card(void);
const struct elan_params *cq_params(void);
const struct elan_host *cq_host(void);
/* Additional latency from the bridge to the program's CPU, beyond that of the
 * first CPU. */
sim_time cq_way(void);

bool cq_is_open(const struct elan_cq *q);
/* Checks a queue and the events of a command: an error number, or 0. */
int cq_check(const struct elan_cq *q, uint64_t event, uint64_t other);
/* Waits until this number of bytes fits after the waiting words. */
void cq_need_room(struct elan_cq *q, uint32_t bytes);
/* Adds a waiting word, for which there is room. */
void cq_add(struct elan_cq *q, uint64_t word);

/* Words of a command about one event, without its operands, and of the end of a
 * packet; they return how many. */
uint32_t words_set(
	uint64_t words[2], enum elan_command c, uint32_t event, uint32_t high);
uint32_t words_close(uint64_t words[2], uint32_t event, uint32_t other);

#endif
