#include "nic/util/flips.h"

#include "base/err.h"

enum { LINES = CODE_LINES };

static uint32_t moments(uint32_t bits)
{
	return (bits + LINES - 1) / LINES;
}

void flips_note(struct flips *f, const struct link_code *code, sim_time hop,
	uint32_t frame_bytes, uint32_t bit, uint32_t bits)
{
	uint32_t n = code->byte_bits * frame_bytes, place;
	bool is_next = f->n && f->hop != hop;

	BUG_IF(n > FLIPS_NEXT_HOP);
	if (f->n == FLIPS_MOST)
		return; /* it is beyond repair */
	place = (uint32_t)((uint64_t)(bit / LINES) * moments(n) /
			   moments(bits)) *
			LINES +
		bit % LINES;
	if (place >= n)
		place -= LINES;
	f->code = (uint8_t)(code - link_codes);
	f->hop = hop;
	f->place[f->n++] = (uint16_t)(place | (is_next ? FLIPS_NEXT_HOP : 0));
}

uint32_t flips_apply(
	const struct flips *f, uint8_t *frame, uint32_t n, uint8_t *room)
{
	const struct link_code *code = &link_codes[f->code];
	uint32_t i = 0, whole = n;

	while (i < f->n && whole == n) {
		code->write(room, frame, n);
		do
			code->flip(room, n, f->place[i] % FLIPS_NEXT_HOP);
		while (++i < f->n && !(f->place[i] & FLIPS_NEXT_HOP));
		whole = code->read(frame, room, n);
	}
	return whole;
}
