/*
 * Tests of words, which decide whether the rest of a packet is executed
 * (QSN-F36).
 *
 * A test reads memory over the bus as a get does.  It is decided when its word
 * has arrived and all earlier writes of its queue have been handed to the bus;
 * the writes behind it are handed to the bus in the same moment.  The bus keeps
 * writes in order, so a test sees all writes handed to the bus before it, in
 * memory or not, and none comes between it and its packet's next writes.
 *
 * Verdicts are remembered: a no on its way to the sender must stay true, though
 * an older copy of the packet may still arrive.  While a packet with tests is
 * in work, copies of it have to come again.
 */
#include "nic/elan4/units.h"

#include <string.h>

bool elan_ask_has_seen(
	const struct nic_at *a, const struct packet *p, struct elan_buffer *b)
{
	enum seen_answer x =
		seen_find(&elan_here(a)->seen, p->src, b->channel, b->sequence);

	if (x == SEEN_NOT)
		return false;
	b->verdict = x == SEEN_YES ? ELAN_ACKED : ELAN_DENIED;
	elan_count(a)->duplicates++;
	return true;
}

void elan_ask_note(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b)
{
	seen_add(&elan_here(a)->seen, p->src, b->channel, b->sequence,
		b->verdict != ELAN_DENIED);
}

/* --- the word --- */

struct word {
	uint64_t at;
	uint8_t byte[8];
	bool is_set[8]; /* by a write, whose turn was: */
	uint32_t turn[8];
};

static void put_byte(struct word *w, uint32_t i, uint8_t byte, uint32_t turn)
{
	if (w->is_set[i] && (int32_t)(turn - w->turn[i]) < 0)
		return;
	w->byte[i] = byte;
	w->is_set[i] = true;
	w->turn[i] = turn;
}

static void put_piece(struct word *w, const struct elan_buffer *b,
	const struct elan_piece *p, uint32_t turn)
{
	for (uint32_t i = 0; p->what == ELAN_WRITE && i < 8; i++) {
		uint64_t offset = w->at + i - p->address;

		if (offset < p->bytes)
			put_byte(w, i, b->data[p->at + offset], turn);
	}
}

/* Bursts of a packet that are on the bus, or in its line. */
static void put_bursts(struct word *w, const struct elan_buffer *b)
{
	for (uint32_t k = b->written; k < b->bursts; k++)
		for (uint32_t i = k ? b->until[k - 1] : 0; i < b->until[k]; i++)
			put_piece(w, b, &b->piece[i], b->turn[k]);
}

static bool holds(enum elan_operation o, uint64_t word, uint64_t value)
{
	switch (o) {
	case ELAN_EQUAL:
		return word == value;
	case ELAN_NOT_EQUAL:
		return word != value;
	case ELAN_LESS:
		return word < value;
	case ELAN_AT_LEAST:
		return word >= value;
	case ELAN_HAS_ALL:
		return (word & value) == value;
	case ELAN_HAS_NONE:
		return !(word & value);
	case ELAN_OPERATIONS:
		break;
	}
	return false;
}

bool elan_ask_is_yes(const struct nic_at *a, const struct elan_piece *p)
{
	packet_id id = elan_here(a)->input.writers.first;
	struct word w = { .at = p->address };
	uint64_t word;

	elan_read(a, p->address, w.byte, 8);
	for (; id; id = elan_packet(a, id)->next)
		put_bursts(&w, elan_buffer(a, id));
	memcpy(&word, w.byte, 8);
	return holds((enum elan_operation)p->event, elan_order(p->flags, word),
		p->back);
}
