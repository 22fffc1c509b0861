#include "nic/util/flips.h"

#include <string.h>

#include "base/crc32.h"
#include "base/err.h"

enum { LINES = CODE_LINES };

static uint32_t moments(uint32_t bits)
{
	return (bits + LINES - 1) / LINES;
}

void flips_note(struct flips *f, const struct link_code *code, sim_time hop,
	uint32_t frame_bytes, uint32_t bit, uint32_t bits)
{
	uint32_t n = code_bits(code, frame_bytes), place;
	uint32_t is = (uint32_t)(code - link_codes);
	bool is_next = f->n && f->hop != hop;

	BUG_IF(n >> FLIPS_CODE);
	if (f->n == FLIPS_MOST)
		return; /* it is beyond repair */
	place = (uint32_t)((uint64_t)(bit / LINES) * moments(n) /
			   moments(bits)) *
			LINES +
		bit % LINES;
	if (place >= n)
		place -= LINES;
	if (!f->n)
		f->code = (uint8_t)is;
	f->hop = hop;
	f->place[f->n++] = place | (is ^ f->code) << FLIPS_CODE |
			   (is_next ? FLIPS_NEXT_HOP : 0);
}

static const struct link_code *code_of(const struct flips *f, uint32_t place)
{
	return &link_codes[f->code ^ (place >> FLIPS_CODE & FLIPS_CODES)];
}

uint32_t flips_apply(
	const struct flips *f, uint8_t *frame, uint32_t n, uint8_t *room)
{
	const uint32_t places = (UINT32_C(1) << FLIPS_CODE) - 1;
	const struct link_code *code;
	uint32_t i = 0, whole = n;

	while (i < f->n && whole == n) {
		code = code_of(f, f->place[i]);
		code->write(room, frame, n);
		do
			code->flip(room, n, f->place[i] & places);
		while (++i < f->n && !(f->place[i] & FLIPS_NEXT_HOP));
		whole = code->read(frame, room, n);
	}
	return whole;
}

enum flips_harm flips_judge(struct flips *f, void *header, uint32_t n_header,
	void *data, uint32_t n_data)
{
	uint8_t frame[FLIPS_FRAME], was[FLIPS_FRAME];
	uint8_t room[CODE_ROOM * FLIPS_FRAME];
	uint32_t n = n_header + n_data, crc;

	BUG_IF(n + FLIPS_CRC > FLIPS_FRAME);
	memcpy(frame, header, n_header);
	memcpy(frame + n_header, data, n_data);
	crc = crc32(frame, n);
	memcpy(frame + n, &crc, FLIPS_CRC);
	memcpy(was, frame, n);
	if (flips_apply(f, frame, n + FLIPS_CRC, room) < n + FLIPS_CRC)
		return FLIPS_FOUND;
	memcpy(&crc, frame + n, FLIPS_CRC);
	if (crc != crc32(frame, n))
		return FLIPS_FOUND;
	memcpy(header, frame, n_header);
	memcpy(data, frame + n_header, n_data);
	f->n = 0;
	return memcmp(was, frame, n) ? FLIPS_ESCAPED : FLIPS_NONE;
}
