/*
 * Slots in a receiver's memory that a sender fills in turn, with credits for
 * empty slots.
 *
 * A message ends at the end of its slot.  Its last word is its number in its
 * lane, from 1 on.  Bytes arrive in order or all at once, so a receiver that
 * sees the number sees the whole message.  Numbers differ each time, so slots
 * need not be cleared.
 *
 * Credits.  When half of the slots are empty, the receiver writes the number of
 * slots that it has emptied since the start into the sender's memory.  At most
 * two such writes are in flight, into two words in turn; whichever arrives
 * first, the larger word is right.
 */
#ifndef API_MSG_MAILBOX_H
#define API_MSG_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

struct mailbox {
	uint64_t sent; /* to the other one */
	uint64_t taken, told; /* messages received, and reported as such */
	uint32_t n_told;
	uint32_t waiting; /* sends that wait for a slot: its owner's */
};

/* The slot of a message. */
static inline uint32_t mailbox_slot(uint32_t n_slots, uint64_t number)
{
	return (uint32_t)((number - 1) % n_slots);
}

/* Number of emptied slots, according to the receiver's two words. */
static inline uint64_t mailbox_emptied(const uint64_t words[2])
{
	return words[words[1] > words[0]];
}

static inline bool mailbox_has_slot(
	const struct mailbox *m, uint32_t n_slots, const uint64_t words[2])
{
	return m->sent - mailbox_emptied(words) < n_slots;
}

/* A slot was emptied.  Returns whether taken is to be written to the sender
 * now, into word *word of the two. */
static inline bool mailbox_take(
	struct mailbox *m, uint32_t n_slots, uint32_t *word)
{
	m->taken++;
	if (m->taken - m->told < n_slots / 2)
		return false;
	m->told = m->taken;
	*word = m->n_told++ % 2;
	return true;
}

#endif
