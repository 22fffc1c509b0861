/*
 * What a receiver remembers of packets, so that none is executed twice: of
 * each sender's channel the last 64 numbers, and one bit of what was said of
 * each.  It holds no packets; channels are never forgotten.  A sender keeps
 * its window (nic/util/window.h) at half of that or less, since what is older
 * than the last 64 counts as seen.
 */
#ifndef NIC_UTIL_SEEN_H
#define NIC_UTIL_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/nic.h"

struct seen {
	struct seen_channel *channel; /* hashed, open addressing */
	uint32_t room, n;
};

enum seen_answer { SEEN_NOT, SEEN_YES, SEEN_NO };

void seen_fini(struct seen *s);
uint64_t seen_memory(const struct seen *s);
extern const struct nic_member_ops seen_member;

/* Whether a number has been here, and what was said then; what is too old to
 * know was a yes. */
enum seen_answer seen_find(
	const struct seen *s, uint32_t src, uint32_t channel, uint32_t number);
void seen_add(struct seen *s, uint32_t src, uint32_t channel, uint32_t number,
	bool is_yes);

/*
 * A word that was said besides, of a channel that has been here: it keeps the
 * last one; NULL: that is not known yet.
 */
void seen_note(
	struct seen *s, uint32_t src, uint32_t channel, const uint64_t *word);
bool seen_noted(
	const struct seen *s, uint32_t src, uint32_t channel, uint64_t *word);

#endif
