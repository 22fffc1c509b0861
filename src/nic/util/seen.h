/*
 * A receiver's memory of packets, so that none is executed twice: the last 64
 * numbers of each sender's channel, or more, each with a yes or no.  Channels
 * are never forgotten.  Older numbers count as seen, so a sender keeps its
 * window (nic/util/window.h) at half of that or less.
 */
#ifndef NIC_UTIL_SEEN_H
#define NIC_UTIL_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/nic.h"

struct seen {
	struct seen_channel *channel; /* hashed, open addressing */
	uint32_t room, n;
	uint32_t span; /* numbers that a channel remembers; 0: 64 */
};

enum seen_answer { SEEN_NOT, SEEN_YES, SEEN_NO };

/* For channels that remember more than 64 numbers: a power of two.  One that
 * is all zero needs no call. */
void seen_init(struct seen *s, uint32_t span);
void seen_fini(struct seen *s);
uint64_t seen_memory(const struct seen *s);
extern const struct nic_member_ops seen_member;

/* Whether a number was seen, and the answer it got; one that is too old got a
 * yes. */
enum seen_answer seen_find(
	const struct seen *s, uint32_t src, uint32_t channel, uint32_t number);
void seen_add(struct seen *s, uint32_t src, uint32_t channel, uint32_t number,
	bool is_yes);
/* Both: a number that was not seen is added, with a yes. */
enum seen_answer seen_take(
	struct seen *s, uint32_t src, uint32_t channel, uint32_t number);

/* Keeps a word for the last answer of a channel that was seen; NULL: not known
 * yet. */
void seen_note(
	struct seen *s, uint32_t src, uint32_t channel, const uint64_t *word);
bool seen_noted(
	const struct seen *s, uint32_t src, uint32_t channel, uint64_t *word);

#endif
