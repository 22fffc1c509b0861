/*
 * What the files of QsNetII's interface share: where they are called from, and
 * how words get into a queue.
 */
#ifndef API_ELAN_QUEUE_H
#define API_ELAN_QUEUE_H

#include "api/elan/elan.h"

/* The card of the program's node; a BUG where there is none, and from a thread
 * that runs on it. */
struct nic *cq_card(void);
const struct elan_params *cq_params(void);
const struct elan_host *cq_host(void);
/* From the bridge to the CPU that the program runs on, more than to the
 * first. */
sim_time cq_way(void);

bool cq_is_open(const struct elan_cq *q);
/* What is wrong with a command of a queue that has these events: an error
 * number, or 0. */
int cq_check(const struct elan_cq *q, uint64_t event, uint64_t other);
/* Waits until so many bytes fit, behind the words that wait. */
void cq_need_room(struct elan_cq *q, uint32_t bytes);
/* One more word waits to be stored, for which there is room. */
void cq_add(struct elan_cq *q, uint64_t word);

#endif
