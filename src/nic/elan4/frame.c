#include "nic/elan4/frame.h"

#include <string.h>

#include "base/crc32.h"
#include "nic/elan4/elan.h"

_Static_assert(10 * ELAN_FRAME_MOST < FLIPS_NEXT_HOP, "a flip has its place");

/* --- writing --- */

struct writer {
	uint8_t *at, *part; /* what the next CRC is of */
};

static void put(struct writer *w, uint64_t value, uint32_t bytes)
{
	for (; bytes; bytes--, value >>= 8)
		*w->at++ = (uint8_t)value;
}

static void put_crc(struct writer *w)
{
	put(w, crc32(w->part, (size_t)(w->at - w->part)), 4);
	w->part = w->at;
}

static void put_piece(struct writer *w, const struct elan_buffer *b, uint32_t i)
{
	const struct elan_piece *p = &b->piece[i];

	put(w, p->what, 2);
	put(w, p->bytes, 2);
	put(w, p->context, 2);
	if (p->what == ELAN_SET) {
		put(w, p->event, 4);
		put(w, p->count, 4);
	} else {
		put(w, p->address, 8);
	}
	if (elan_reads(p) || p->what == ELAN_ENQUEUE) {
		put(w, p->back, 8);
		put(w, p->event, 4);
		put(w, p->count, 4);
	}
	if (elan_has_data(p)) {
		memcpy(w->at, b->data + p->at, p->bytes);
		w->at += p->bytes;
	}
	put_crc(w);
}

uint32_t elan_frame_write(const struct elan_buffer *b, uint32_t src,
	uint8_t frame[ELAN_FRAME_MOST])
{
	struct writer w = { frame, frame };

	put(&w, src, 4);
	put(&w, b->kind, 1);
	put(&w, b->n_pieces, 1);
	put(&w, b->context, 2);
	put(&w, b->channel, 4);
	put(&w, b->sequence, 4);
	put(&w, b->sending - 1, 4);
	put(&w, b->get.place, 4);
	put(&w, b->get.number, 4);
	put(&w, b->get.get, 1);
	put_crc(&w);
	for (uint32_t i = 0; i < b->n_pieces; i++)
		put_piece(&w, b, i);
	return (uint32_t)(w.at - frame);
}

/* --- reading --- */

struct reader {
	const uint8_t *at, *part, *end;
	bool is_short;
};

static uint64_t take(struct reader *r, uint32_t bytes)
{
	uint64_t value = 0;

	if ((size_t)(r->end - r->at) < bytes) {
		r->is_short = true;
		return 0;
	}
	for (uint32_t i = 0; i < bytes; i++)
		value |= (uint64_t)*r->at++ << 8 * i;
	return value;
}

static bool is_crc_right(struct reader *r)
{
	uint32_t crc = crc32(r->part, (size_t)(r->at - r->part));
	bool is_right = take(r, 4) == crc && !r->is_short;

	r->part = r->at;
	return is_right;
}

static bool take_piece(struct reader *r, struct elan_buffer *b, uint32_t i)
{
	struct elan_piece *p = &b->piece[i];
	uint64_t what = take(r, 2);

	*p = (struct elan_piece){ .bytes = (uint16_t)take(r, 2) };
	p->context = (uint16_t)take(r, 2);
	if (what != ELAN_WRITE && what != ELAN_GET && what != ELAN_SET &&
		what != ELAN_TEST && what != ELAN_ENQUEUE)
		return false;
	p->what = (uint8_t)what;
	if (what == ELAN_SET) {
		p->event = (uint32_t)take(r, 4);
		p->count = (uint32_t)take(r, 4);
	} else {
		p->address = take(r, 8);
	}
	if (elan_reads(p) || what == ELAN_ENQUEUE) {
		p->back = take(r, 8);
		p->event = (uint32_t)take(r, 4);
		p->count = (uint32_t)take(r, 4);
	}
	if (elan_has_data(p)) {
		if (p->bytes > ELAN_PACKET - b->data_bytes ||
			p->bytes > r->end - r->at)
			return false;
		p->at = b->data_bytes;
		memcpy(b->data + p->at, r->at, p->bytes);
		b->data_bytes = (uint16_t)(b->data_bytes + p->bytes);
		r->at += p->bytes;
	}
	return is_crc_right(r);
}

enum elan_harm elan_frame_read(
	struct elan_buffer *b, uint32_t *src, const uint8_t *frame, uint32_t n)
{
	struct reader r = { .at = frame, .part = frame, .end = frame + n };

	*src = (uint32_t)take(&r, 4);
	b->kind = (uint8_t)take(&r, 1);
	b->n_pieces = (uint8_t)take(&r, 1);
	b->context = (uint16_t)take(&r, 2);
	b->channel = (uint32_t)take(&r, 4);
	b->sequence = (uint32_t)take(&r, 4);
	b->sending = (uint32_t)take(&r, 4) + 1;
	b->get.place = (uint32_t)take(&r, 4);
	b->get.number = (uint32_t)take(&r, 4);
	b->get.get = (uint32_t)take(&r, 1);
	b->data_bytes = 0;
	if (!is_crc_right(&r) || b->n_pieces > ELAN_MOST_PIECES)
		return ELAN_UNREADABLE;
	for (uint32_t i = 0; i < b->n_pieces; i++)
		if (!take_piece(&r, b, i))
			return ELAN_TORN;
	return r.at == r.end ? ELAN_SOUND : ELAN_TORN;
}

/* --- effects of flips --- */

/* Whether a unit of a card makes such transactions (sten.c, dma.c, answer.c);
 * the input relies on it. */
static bool is_possible_piece(const struct elan_buffer *b, uint32_t i)
{
	const struct elan_piece *p = &b->piece[i];

	switch (p->what) {
	case ELAN_WRITE:
		return p->bytes && p->bytes <= ELAN_BLOCK;
	case ELAN_ENQUEUE:
		return p->bytes <= ELAN_BLOCK &&
		       p->back >> 32 <= ELAN_SLOT_MOST &&
		       (uint32_t)p->back + p->bytes <= p->back >> 32;
	case ELAN_GET:
		return !b->cast && p->bytes && p->bytes <= ELAN_PACKET &&
		       p->event < ELAN_EVENT_NAMES &&
		       p->count < ELAN_MOST_PIECES;
	case ELAN_TEST:
		return p->bytes == 8 && p->event < ELAN_OPERATIONS;
	default:
		return p->event < ELAN_EVENT_NAMES;
	}
}

static bool is_possible(const struct elan_buffer *b)
{
	for (uint32_t i = 0; i < b->n_pieces; i++)
		if (b->kind != ELAN_DATA || !is_possible_piece(b, i))
			return false;
	return true;
}

enum elan_harm elan_frame_take(
	struct elan_buffer *b, uint32_t src, const uint8_t *frame, uint32_t n)
{
	struct elan_buffer was = *b;
	enum elan_harm harm;
	uint32_t from;

	harm = elan_frame_read(b, &from, frame, n);
	/* it is handled as what it was */
	if (harm == ELAN_SOUND && (from != src || b->kind != was.kind))
		harm = ELAN_UNREADABLE;
	if (harm == ELAN_SOUND && !is_possible(b))
		harm = ELAN_TORN;
	if (harm != ELAN_SOUND)
		*b = was;
	return harm;
}

enum elan_harm elan_frame_judge(
	struct elan_buffer *b, uint32_t src, bool *escaped)
{
	uint8_t frame[ELAN_FRAME_MOST], good[ELAN_FRAME_MOST];
	uint8_t room[CODE_ROOM * ELAN_FRAME_MOST];
	uint32_t n = elan_frame_write(b, src, good), whole;
	enum elan_harm harm;

	*escaped = false;
	b->violated = false;
	memcpy(frame, good, n);
	whole = flips_apply(&b->flips, frame, n, room);
	if (whole < n) {
		b->violated = true;
		return whole < ELAN_FRAME_HEADER ? ELAN_UNREADABLE : ELAN_TORN;
	}
	if (!memcmp(frame, good, n))
		return ELAN_SOUND;
	harm = elan_frame_take(b, src, frame, n);
	*escaped = harm == ELAN_SOUND;
	return harm;
}

/* --- the network's client --- */

void elan_frame_on_hurt(struct net_client *me, struct sim_worker *w,
	packet_id id, const struct net_flip *flip)
{
	struct net *net = me->net;
	const struct packet *p = &net->packets[id];
	struct elan_buffer *b = payload_of_load(p->load);
	uint8_t frame[ELAN_FRAME_MOST];

	(void)w;
	flips_note(&b->flips, flip->code, p->head,
		elan_frame_write(b, p->src, frame), flip->bit, flip->bits);
}

void elan_frame_on_arrival(
	const struct nic_at *a, const struct packet *p, struct elan_buffer *b)
{
	bool escaped;

	b->harm = (uint8_t)elan_frame_judge(b, p->src, &escaped);
	elan_count(a)->escapes += escaped;
	elan_count(a)->violations += b->violated;
	elan_count(a)->torn += b->harm == ELAN_TORN;
	elan_count(a)->unreadable += b->harm == ELAN_UNREADABLE;
}
