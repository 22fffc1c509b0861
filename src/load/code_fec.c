#include "load/code_fec.h"

#include "link/code.h"

uint64_t code_draw(uint64_t *random)
{
	uint64_t x = *random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint32_t code_draw_below(uint64_t *random, uint32_t n)
{
	return (uint32_t)((code_draw(random) >> 32) * n >> 32);
}

void code_draw_symbols(
	uint64_t *random, uint32_t places, struct rs10_error *e, uint32_t n)
{
	uint64_t taken[RS10_PLACES / 64 + 1] = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		uint32_t place;

		do
			place = code_draw_below(random, places);
		while (taken[place / 64] >> place % 64 & 1);
		taken[place / 64] |= UINT64_C(1) << place % 64;
		e[i] = (struct rs10_error){ (uint16_t)place,
			(uint16_t)(1 + code_draw_below(random, RS10_PLACES)) };
	}
}

/* --- symbols of one codeword --- */

static bool is_among(
	struct rs10_error x, const struct rs10_error *e, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (e[i].place == x.place)
			return e[i].value == x.value;
	return false;
}

static enum code_outcome decode(
	const struct rs10 *code, const struct rs10_error *e, uint32_t n)
{
	struct rs10_error guess[RS10_CORRECTS];
	uint32_t n_guess;

	if (rs10_decode(code, FEC_SYMBOLS, e, n, guess, &n_guess) ==
		RS10_FAILED)
		return CODE_FAILED;
	for (uint32_t i = 0; i < n_guess; i++)
		if (!is_among(guess[i], e, n))
			return CODE_WRONG;
	return n_guess == n ? CODE_CORRECTED : CODE_WRONG;
}

/* Where all are wrong, a symbol may be right by chance. */
static uint32_t draw_all(uint64_t *random, struct rs10_error *e)
{
	uint64_t bits = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < FEC_SYMBOLS; i++, bits >>= RS10_BITS) {
		if (i % 6 == 0)
			bits = code_draw(random);
		e[n] = (struct rs10_error){ (uint16_t)i,
			(uint16_t)(bits & RS10_PLACES) };
		n += e[n].value != 0;
	}
	return n;
}

static enum code_outcome try_symbols(struct code_fec *c)
{
	struct rs10_error e[FEC_SYMBOLS];
	uint32_t n = c->symbols;

	if (n == FEC_SYMBOLS)
		n = draw_all(&c->random, e);
	else
		code_draw_symbols(&c->random, FEC_SYMBOLS, e, n);
	return decode(&c->fec.code, e, n);
}

/* --- bursts, anywhere in a packet that begins anywhere in a codeword --- */

/* Where a burst begins in a packet. */
static uint32_t draw_start(struct code_fec *c, uint32_t phase)
{
	uint32_t first = phase * CODE_BLOCK; /* the packet's, in its codeword */
	uint32_t room = c->n_bits - c->burst + 1;
	uint32_t skip = (RS10_BITS - first % RS10_BITS) % RS10_BITS;

	if (!c->is_aligned)
		return code_draw_below(&c->random, room);
	return skip + RS10_BITS * code_draw_below(&c->random,
					  (room - skip - 1) / RS10_BITS + 1);
}

/* Its first and last bits are wrong, and of the others any. */
static uint32_t draw_flips(struct code_fec *c, uint32_t start, uint32_t *flip)
{
	uint64_t bits = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->burst; i++, bits >>= 1) {
		if (i % 64 == 0)
			bits = code_draw(&c->random);
		if (!i || i + 1 == c->burst || bits & 1)
			flip[n++] = start + i;
	}
	return n;
}

static enum code_outcome try_burst(struct code_fec *c)
{
	uint32_t phase = code_draw_below(&c->random, FEC_BLOCKS);
	uint32_t flip[CODE_MOST_BURST], left[CODE_MOST_BURST];
	uint32_t n = draw_flips(c, draw_start(c, phase), flip);
	struct fec_done done = fec_pass(
		&c->fec, phase, c->n_bits, flip, n, left, CODE_MOST_BURST);

	if (done.wrong)
		return CODE_WRONG;
	return done.failed ? CODE_FAILED : CODE_CORRECTED;
}

enum code_outcome code_fec_try(struct code_fec *c)
{
	return c->burst ? try_burst(c) : try_symbols(c);
}
