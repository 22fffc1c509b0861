/*
 * Slots in a receiver's memory that a sender fills in turn: who may fill one,
 * and what the sender is told.
 *
 * A message ends where its slot ends, with its number in its lane, from 1 on,
 * as the last word: bytes arrive in order or at once, so who sees the number
 * sees all.  Numbers make slots new each time, so nothing is ever cleared.
 *
 * Credits.  Who empties slots tells when half of them are empty, by writing
 * how many it has emptied since the beginning.  At most two such writes are
 * under way, into two words in turn, so whichever comes first, the larger
 * word is right.
 */
#ifndef API_MSG_MAILBOX_H
#define API_MSG_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

struct mailbox {
	uint64_t sent; /* to the other one */
	uint64_t taken, told; /* of its messages */
	uint32_t n_told;
	uint32_t waiting; /* sends that wait for a slot: its owner's */
};

/* The slot of a message. */
static inline uint32_t mailbox_slot(uint32_t n_slots, uint64_t number)
{
	return (uint32_t)((number - 1) % n_slots);
}

/* How many were emptied, as the other one's two words say. */
static inline uint64_t mailbox_emptied(const uint64_t words[2])
{
	return words[words[1] > words[0]];
}

static inline bool mailbox_has_slot(
	const struct mailbox *m, uint32_t n_slots, const uint64_t words[2])
{
	return m->sent - mailbox_emptied(words) < n_slots;
}

/* A slot was emptied.  Whether it is to be told, and into which of the two
 * words: the number that were taken. */
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
