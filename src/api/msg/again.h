/*
 * Operations in flight of a process of the message layer on Gemini, so that
 * unanswered ones can be repeated if that is safe: gets, puts whose target was
 * not notified before their end, and writes to slots, which wait until no
 * earlier write to the slot is in flight.
 */
#ifndef API_MSG_AGAIN_H
#define API_MSG_AGAIN_H

#include "api/msg/msg.h"
#include "base/slots.h"
#include "nic/gemini/gemini.h"

enum { AGAIN_TRIES = 16 };

struct again_post {
	struct slot slot;
	struct gemini_post post;
	uint32_t word; /* that becomes less by one at its end, or another's */
	uint32_t tries; /* that are left */
	bool has_bytes; /* for a slot: */
	uint8_t bytes[MSG_SLOT];
};

/* Of the program's process. */
struct again *again(void);

/* A post is under way from now on; its data becomes its name. */
uint32_t again_add(struct again *a, struct gemini_post *p, uint32_t word);
struct again_post *again_find(struct again *a, uint32_t id);
void again_end(struct again *a, uint32_t id);

/* Whether something that ends where a post does is under way. */
bool again_is_busy(const struct again *a, const struct gemini_post *p);

#endif
