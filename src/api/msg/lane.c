/* Lanes of slots: one for messages, one for collectives. */
#include <string.h>

#include "api/msg/pool.h"

/* The end of the slot for a message of a rank. */
static uint64_t slot_end(const struct msg_state *m, enum msg_lane lane,
	uint32_t rank, uint64_t number)
{
	uint64_t row = lane * m->n_slots + mailbox_slot(m->n_slots, number);

	return m->slots_at + (row * m->n_ranks + rank + 1) * MSG_SLOT;
}

/* The same for a message of a rank here, and for one of this rank there. */
static uint64_t in_end(const struct msg_state *m, enum msg_lane lane,
	uint32_t rank, uint64_t number)
{
	return m->n_blocks ? msg_pool_in(m, rank, number)
			   : slot_end(m, lane, rank, number);
}

static uint64_t out_end(const struct msg_state *m, enum msg_lane lane,
	uint32_t rank, uint64_t number)
{
	return m->n_blocks ? msg_pool_out(m, rank, number)
			   : slot_end(m, lane, m->rank, number);
}

/* --- sending --- */

uint64_t msg_lane_first(bool is_wide)
{
	return WEFT_MSG_EAGER - (is_wide ? sizeof(struct msg_wide) : 0);
}

uint32_t msg_lane_parts(uint64_t bytes, bool is_wide)
{
	uint64_t first = msg_lane_first(is_wide);

	return bytes <= first ? 1
			      : 1 + (uint32_t)((bytes - first + MSG_PART - 1) /
					       MSG_PART);
}

uint64_t msg_lane_most(uint32_t n_parts, bool is_wide)
{
	return msg_lane_first(is_wide) + (n_parts - UINT64_C(1)) * MSG_PART;
}

bool msg_lane_has_slots(struct msg_state *m, enum msg_lane lane, uint32_t rank,
	const struct msg_peer *p, uint32_t n)
{
	uint64_t words[2] = { 0 };

	if (m->n_blocks)
		return msg_pool_room(m, rank, p) >= n;
	msg_load(m, msg_credits_at(m, lane, rank), words, sizeof(words));
	return p->box.sent - mailbox_emptied(words) + n <= m->n_slots;
}

bool msg_lane_has_slot(struct msg_state *m, enum msg_lane lane, uint32_t rank,
	const struct msg_peer *p)
{
	uint64_t words[2] = { 0 };

	if (m->n_blocks)
		return msg_pool_room(m, rank, p);
	msg_load(m, msg_credits_at(m, lane, rank), words, sizeof(words));
	return mailbox_has_slot(&p->box, m->n_slots, words);
}

static uint32_t whole_words(uint64_t bytes)
{
	return (uint32_t)(bytes + 7) / 8 * 8;
}

void msg_lane_send(struct msg_state *m, enum msg_lane lane, uint32_t rank,
	struct msg_peer *p, struct msg_trailer *t, const struct msg_wide *w,
	const void *data)
{
	uint64_t bytes = t->kind == MSG_PARTS ? msg_lane_first(w) : t->bytes;
	uint32_t n = t->kind == MSG_LONG ? 0 : whole_words(bytes);
	uint8_t slot[MSG_SLOT];

	t->number = ++p->box.sent;
	t->is_wide = w != NULL;
	t->wants = m->n_blocks && (p->box.waiting || t->kind == MSG_PARTS);
	msg_set_peer(m, lane, rank, p);
	if (n) {
		memset(slot + n - 8, 0, 8);
		memcpy(slot, data, bytes);
	}
	if (w) {
		memcpy(slot + n, w, sizeof(*w));
		n += sizeof(*w);
	}
	memcpy(slot + n, t, sizeof(*t));
	n += sizeof(*t);
	msg_post(m, rank, out_end(m, lane, rank, t->number) - n, slot, n);
}

void msg_lane_send_part(struct msg_state *m, enum msg_lane lane, uint32_t rank,
	struct msg_peer *p, const uint8_t *data, uint64_t bytes)
{
	uint64_t slot[MSG_SLOT / 8];
	uint32_t n = whole_words(bytes) / 8;

	slot[n - 1] = 0;
	memcpy(slot, data, bytes);
	slot[n++] = ++p->box.sent;
	msg_set_peer(m, lane, rank, p);
	msg_post(m, rank, out_end(m, lane, rank, p->box.sent) - 8 * n, slot,
		8 * n);
}

void msg_lane_send_parts(struct msg_state *m, enum msg_lane lane, uint32_t rank,
	struct msg_peer *p, struct msg_trailer *t, const struct msg_wide *w,
	const uint8_t *data)
{
	uint64_t at = msg_lane_first(w), n;

	msg_lane_send(m, lane, rank, p, t, w, data);
	for (; at < t->bytes; at += n) {
		n = t->bytes - at < MSG_PART ? t->bytes - at : MSG_PART;
		msg_lane_send_part(m, lane, rank, p, data + at, n);
	}
}

/* --- receiving --- */

/* The trailer may be corrupted: not every flipped bit is seen by a CRC of the
 * network. */
static void make_sane(const struct msg_state *m, struct msg_trailer *t)
{
	bool is_parts = t->kind == MSG_PARTS && m->eager > WEFT_MSG_EAGER &&
			t->bytes > msg_lane_first(t->is_wide);
	uint64_t most;

	if (is_parts)
		most = msg_lane_most(m->n_slots, t->is_wide);
	else
		most = msg_lane_first(t->is_wide);
	if (t->kind != MSG_LONG)
		t->kind = is_parts ? MSG_PARTS : MSG_SHORT;
	t->fin = (uint16_t)(t->fin % (MSG_FINS + m->n_more_fins));
	if (t->kind != MSG_LONG && t->bytes > most)
		t->bytes = most;
}

bool msg_lane_next(const struct msg_state *m, enum msg_lane lane, uint32_t rank,
	const struct msg_peer *p, struct msg_trailer *t, struct msg_wide *w,
	uint64_t *at)
{
	uint64_t number = p->box.taken + 1;
	uint64_t end = in_end(m, lane, rank, number) - sizeof(*t);

	msg_load(m, end, t, sizeof(*t));
	if (t->number != number)
		return false;
	make_sane(m, t);
	*w = (struct msg_wide){ 0 };
	if (t->is_wide) {
		end -= sizeof(*w);
		msg_load(m, end, w, sizeof(*w));
	}
	*at = end - (t->kind == MSG_SHORT ? whole_words(t->bytes) : 0);
	if (t->kind == MSG_PARTS)
		*at = end - whole_words(msg_lane_first(t->is_wide));
	return true;
}

bool msg_lane_has_part(const struct msg_state *m, enum msg_lane lane,
	uint32_t rank, const struct msg_peer *p, uint32_t i, uint64_t n,
	uint64_t *at)
{
	uint64_t number = p->box.taken + 1 + i, got = 0;
	uint64_t end = in_end(m, lane, rank, number) - 8;

	msg_load(m, end, &got, sizeof(got));
	*at = end - whole_words(n);
	return got == number;
}

bool msg_lane_gather(const struct msg_state *m, enum msg_lane lane,
	uint32_t rank, const struct msg_peer *p, const struct msg_trailer *t,
	uint64_t at, uint8_t *to)
{
	uint64_t done = msg_lane_first(t->is_wide), n;

	program_read(at, to, done);
	for (uint32_t i = 1; done < t->bytes; i++, done += n) {
		n = t->bytes - done < MSG_PART ? t->bytes - done : MSG_PART;
		if (!msg_lane_has_part(m, lane, rank, p, i, n, &at))
			return false;
		program_read(at, to + done, n);
	}
	return true;
}

/* The slot of a message is empty, and its page may be. */
static void forget_slot(
	struct msg_state *m, enum msg_lane lane, uint32_t rank, uint64_t number)
{
	uint64_t at = in_end(m, lane, rank, number) - MSG_SLOT;
	uint64_t slot = (at - m->slots_at) / MSG_SLOT;

	m->written[slot / 8] &= (uint8_t) ~(1 << slot % 8);
	if (!m->written[slot / 8])
		program_forget(at);
}

void msg_lane_taken(struct msg_state *m, enum msg_lane lane, uint32_t rank,
	struct msg_peer *p)
{
	uint32_t word;
	bool tells;

	if (m->written)
		forget_slot(m, lane, rank, p->box.taken + 1);
	if (m->n_blocks) {
		msg_pool_taken(m, rank, p);
		return;
	}
	tells = mailbox_take(&p->box, m->n_slots, &word);
	msg_set_peer(m, lane, rank, p);
	if (tells)
		msg_post(m, rank, msg_credits_at(m, lane, m->rank) + 8 * word,
			&p->box.taken, 8);
}

/* --- collectives --- */

void msg_lane_give(
	struct msg_state *m, uint32_t rank, const void *data, uint64_t bytes)
{
	struct msg_trailer t = { .bytes = bytes, .kind = MSG_SHORT };
	struct msg_peer p = msg_peer(m, MSG_COLL, rank);

	while (!msg_lane_has_slot(m, MSG_COLL, rank, &p))
		msg_go_on(m);
	msg_lane_send(m, MSG_COLL, rank, &p, &t, NULL, data);
}

uint64_t msg_lane_take(
	struct msg_state *m, uint32_t rank, void *data, uint64_t most)
{
	struct msg_peer p = msg_peer(m, MSG_COLL, rank);
	struct msg_trailer t;
	struct msg_wide w;
	uint64_t at;

	while (!msg_lane_next(m, MSG_COLL, rank, &p, &t, &w, &at))
		msg_go_on(m);
	program_read(at, data, t.bytes < most ? t.bytes : most);
	msg_lane_taken(m, MSG_COLL, rank, &p);
	return t.bytes;
}
