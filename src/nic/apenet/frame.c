#include "nic/apenet/frame.h"

#include <string.h>
#include <wchar.h>

#include "base/crc16.h"
#include "base/crc32.h"

enum { OP_START = 1, OP_CREDIT, OP_END };

/* The twelve control symbols of 8b/10b as bytes, and four of them again. */
const uint8_t ape_marker[APE_WORD] = { 0x1c, 0x3c, 0x5c, 0x7c, 0x9c, 0xbc, 0xdc,
	0xfc, 0xf7, 0xfb, 0xfd, 0xfe, 0x1c, 0x3c, 0x5c, 0x7c };
static const uint8_t credit[APE_WORD] = { OP_CREDIT };
static const uint8_t end[APE_WORD] = { OP_END };

static bool is_marker(const uint8_t *word)
{
	return !memcmp(word, ape_marker, APE_WORD);
}

/* Whether data contains a quarter of a marker, which is rare.  This runs over
 * most bytes that a card sends, and wmemchr() is the fastest search. */
static bool may_be_marker(const uint8_t *data, uint32_t bytes)
{
	wchar_t quarter;

	if ((uintptr_t)data % sizeof(quarter))
		return true;
	memcpy(&quarter, ape_marker + APE_WORD / 2, sizeof(quarter));
	return wmemchr((const wchar_t *)(const void *)data, quarter,
		       bytes / sizeof(quarter)) != NULL;
}

uint32_t ape_frame_doubled(const uint8_t *data, uint32_t bytes)
{
	uint32_t n = 0;

	if (!may_be_marker(data, bytes))
		return 0;
	for (uint32_t at = 0; at + APE_WORD <= bytes; at += APE_WORD)
		n += is_marker(data + at);
	return n;
}

void ape_frame_make(struct ape_load *l, uint32_t bytes)
{
	if (l->is_named)
		memory_fill(&l->name, l->data, bytes);
	l->is_named = false;
}

/* --- a packet's own words --- */

static void store(uint8_t *at, uint64_t value, uint32_t bytes)
{
	for (; bytes; bytes--, value >>= 8)
		*at++ = (uint8_t)value;
}

static uint64_t load(const uint8_t *at, uint32_t bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

/* Where things are. */
enum {
	START_OP = 0,
	START_ERROR = 1,
	START_TOTAL = 2,
	START_KEY = 6,
	START_OFFSET = 10,
	HEADER = APE_WORD,
	HEADER_DST = HEADER,
	HEADER_SRC = HEADER + 3,
	HEADER_OP = HEADER + 6,
	HEADER_LENGTH = HEADER + 7,
	HEADER_KEY = HEADER + 9,
	/* a byte that is 0, so that no header is a marker */
	HEADER_CRC = HEADER + 14,
	DATA = HEADER + APE_WORD,
	FOOTER_OFFSET = 0, /* in the last word */
	FOOTER_TAG = 8,
	FOOTER_CRC = 12,
};

uint32_t ape_frame_plain(const struct packet *p, const struct ape_load *l,
	uint8_t plain[APE_PLAIN])
{
	uint32_t n = p->bytes, footer;
	bool is_get = l->op == APE_GET;

	footer = DATA + (n + APE_WORD - 1) / APE_WORD * APE_WORD;
	memset(plain, 0, footer + APE_WORD);
	plain[START_OP] = OP_START;
	plain[START_ERROR] = l->error;
	store(plain + START_TOTAL, l->total, 4);
	store(plain + START_KEY, is_get ? l->own_key : 0, 4);
	store(plain + START_OFFSET, is_get ? l->own_offset : 0, 6);
	store(plain + HEADER_DST, p->dst, 3);
	store(plain + HEADER_SRC, p->src, 3);
	plain[HEADER_OP] = (uint8_t)(l->op << 4 | l->flags);
	store(plain + HEADER_LENGTH, n, 2);
	store(plain + HEADER_KEY, l->key, 4);
	store(plain + HEADER_CRC, crc16(plain + HEADER, APE_WORD - 2), 2);
	memcpy(plain + DATA, l->data, n);
	store(plain + footer + FOOTER_OFFSET, l->offset, 8);
	store(plain + footer + FOOTER_TAG, l->tag, 4);
	store(plain + footer + FOOTER_CRC, crc32(plain, footer + FOOTER_CRC),
		4);
	return footer + APE_WORD;
}

/* --- on the wire --- */

struct writer {
	uint8_t *at;
	uint32_t since; /* credits */
};

static void put(struct writer *w, const uint8_t *word)
{
	memcpy(w->at, word, APE_WORD);
	w->at += APE_WORD;
	w->since++;
}

/* Nothing goes between the two of a pair. */
static void put_data(struct writer *w, const uint8_t *word)
{
	put(w, word);
	if (is_marker(word))
		put(w, word);
	if (w->since < APE_EVERY)
		return;
	put(w, ape_marker);
	put(w, credit);
	w->since = 0;
}

uint32_t ape_frame_write(
	const uint8_t *plain, uint32_t n, uint8_t frame[APE_FRAME])
{
	struct writer w = { .at = frame };

	put(&w, ape_marker);
	put(&w, plain);
	for (uint32_t at = APE_WORD; at < n; at += APE_WORD)
		put_data(&w, plain + at);
	put(&w, end);
	return (uint32_t)(w.at - frame);
}

struct reader {
	const uint8_t *at, *end;
};

/* The next word of data, behind control words; NULL: there is none. */
static const uint8_t *take(struct reader *r)
{
	for (; r->end - r->at >= APE_WORD; r->at += APE_WORD) {
		if (!is_marker(r->at)) {
			r->at += APE_WORD;
			return r->at - APE_WORD;
		}
		r->at += APE_WORD;
		if (r->end - r->at < APE_WORD)
			break;
		if (is_marker(r->at)) {
			r->at += APE_WORD;
			return r->at - APE_WORD;
		}
	}
	return NULL;
}

enum ape_harm ape_frame_read(uint8_t plain[APE_PLAIN], const uint8_t *frame,
	uint32_t whole, uint32_t n)
{
	struct reader r = { frame + 2 * APE_WORD, frame + whole };
	uint32_t footer = DATA;
	const uint8_t *word;

	if (whole < 2 * APE_WORD || !is_marker(frame) ||
		frame[APE_WORD] != OP_START)
		return APE_BAD_HEADER;
	memcpy(plain, frame + APE_WORD, APE_WORD);
	for (uint32_t at = HEADER; at <= footer; at += APE_WORD) {
		word = take(&r);
		if (!word)
			return at == HEADER ? APE_BAD_HEADER : APE_BAD_FOOTER;
		memcpy(plain + at, word, APE_WORD);
		if (at > HEADER)
			continue;
		if (load(plain + HEADER_CRC, 2) !=
				crc16(plain + HEADER, APE_WORD - 2) ||
			load(plain + HEADER_LENGTH, 2) > APE_MOST)
			return APE_BAD_HEADER;
		footer += ((uint32_t)load(plain + HEADER_LENGTH, 2) + APE_WORD -
				  1) /
			  APE_WORD * APE_WORD;
	}
	if (whole < n || load(plain + footer + FOOTER_CRC, 4) !=
				 crc32(plain, footer + FOOTER_CRC))
		return APE_BAD_FOOTER;
	return APE_SOUND;
}

/* --- effects of flips --- */

enum ape_harm ape_frame_judge(const struct packet *p, const struct ape_load *l,
	uint8_t plain[APE_PLAIN])
{
	uint8_t was[APE_PLAIN], frame[APE_FRAME], room[CODE_ROOM * APE_FRAME];
	uint32_t bytes = ape_frame_plain(p, l, was);
	uint32_t n = ape_frame_write(was, bytes, frame);
	uint32_t whole = flips_apply(&l->flips, frame, n, room);
	enum ape_harm harm = ape_frame_read(plain, frame, whole, n);

	if (harm == APE_SOUND && memcmp(was, plain, bytes) != 0)
		harm = APE_ESCAPED;
	return harm;
}

/* Changes a packet whose checks have found nothing; its target and kind stay.
 */
static void become(struct ape_load *l, const struct packet *p,
	const uint8_t plain[APE_PLAIN])
{
	uint32_t n = (uint32_t)load(plain + HEADER_LENGTH, 2);
	const uint8_t *footer =
		plain + DATA + (n + APE_WORD - 1) / APE_WORD * APE_WORD;

	if (n != p->bytes) {
		l->error = APE_DAMAGED; /* it would not be where it ends */
		return;
	}
	l->key = (uint32_t)load(plain + HEADER_KEY, 4);
	l->offset = load(footer + FOOTER_OFFSET, 8);
	l->tag = (uint32_t)load(footer + FOOTER_TAG, 4);
	memcpy(l->data, plain + DATA, n);
}

void ape_frame_on_arrival(
	const struct nic_at *a, const struct packet *p, struct ape_load *l)
{
	uint8_t plain[APE_PLAIN];
	enum ape_harm harm = ape_frame_judge(p, l, plain);

	if (harm == APE_ESCAPED) {
		ape_here(a)->escapes++;
		become(l, p, plain);
	} else if (harm != APE_SOUND) {
		l->error = APE_DAMAGED;
	}
}

/* --- the network's client --- */

void ape_frame_on_hurt(struct net_client *me, struct sim_worker *w,
	packet_id id, const struct net_flip *flip)
{
	struct net *net = me->net;
	const struct packet *p = &net->packets[id];
	struct ape_load *l = payload_of_load(p->load);
	uint8_t plain[APE_PLAIN], frame[APE_FRAME];
	uint32_t n;

	(void)w;
	ape_frame_make(l, p->bytes);
	n = ape_frame_plain(p, l, plain);
	flips_note(&l->flips, flip->code, p->head,
		ape_frame_write(plain, n, frame), flip->bit, flip->bits);
}

bool ape_frame_is_dropped(
	struct net_client *me, struct sim_worker *w, packet_id id)
{
	struct net *net = me->net;
	const struct packet *p = &net->packets[id];
	uint8_t plain[APE_PLAIN];

	(void)w;
	return ape_frame_judge(p, payload_of_load(p->load), plain) ==
	       APE_BAD_HEADER;
}

/* Links that replay check all of it, control words too. */
bool ape_frame_is_found(struct net_client *me, struct sim_worker *w,
	packet_id id, const uint32_t *bit, uint32_t n_bits, uint32_t bits)
{
	struct net *net = me->net;
	const struct packet *p = &net->packets[id];
	struct ape_load *l = payload_of_load(p->load);
	struct flips before = l->flips;
	uint8_t plain[APE_PLAIN];

	for (uint32_t i = 0; i < n_bits; i++)
		ape_frame_on_hurt(me, w, id,
			&(struct net_flip){ bit[i], bits, net->link.code });
	if (ape_frame_judge(p, l, plain) == APE_ESCAPED)
		return false;
	l->flips = before;
	return true;
}
