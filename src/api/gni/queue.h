/*
 * A completion queue of Gemini's interface (nic/gemini/gemini.h) as software
 * sees it: events in memory, which it takes one after the other.
 */
#ifndef API_GNI_QUEUE_H
#define API_GNI_QUEUE_H

#include "nic/gemini/gemini.h"

struct gemini_queue {
	struct nic *nic;
	site_id node;
	uint32_t cq, entries;
	uint64_t at; /* of its entries */
	uint32_t taken;
};

/* Opens one of the program's node, as gemini_cq_open(). */
int gemini_queue_open(
	struct gemini_queue *q, uint32_t cq, uint64_t at, uint32_t entries);
/* Whether there is an event; also from outside the program. */
bool gemini_queue_look(const struct gemini_queue *q, struct gemini_event *e);
/* The same, and takes it. */
bool gemini_queue_take(struct gemini_queue *q, struct gemini_event *e);
/* Until there is one. */
void gemini_queue_wait(struct gemini_queue *q);
struct poll_loop gemini_queue_loop(const struct nic *nic);

#endif
