#include "link/chips.h"

#define AT(field) offsetof(struct chip_params, field)

const struct param chip_params_table[] = {
	PARAM_ROW(PARAM_COUNT, "chips.threshold", AT(threshold), "8", 0,
		CHIP_MOST,
		"number of errors of a fibre within link.chips.window after "
		"which the spare replaces it; 0: never",
		"BGQ-G40"),
	PARAM_ROW(PARAM_TIME, "chips.window", AT(window), "1 ms", 1, PS_PER_S,
		"interval in which errors of a fibre are counted", "assumed"),
	PARAM_ROW(PARAM_TIME, "chips.swap", AT(swap), "1 us", 0,
		INT64_C(1000000000),
		"pause of a link while a fibre is replaced", "assumed"),
	{ 0 },
};

enum { BALANCED = 252 };

/* Four of three ones; their complements have seven. */
static const uint16_t rare[] = { 0x007, 0x038, 0x1c0, 0x209 };

uint32_t chip_encode(uint32_t byte, bool second)
{
	uint32_t w = 0, n = 0;

	if (byte >= BALANCED)
		return rare[byte - BALANCED] ^ (second ? 0x3ffu : 0);
	while (n <= byte)
		n += __builtin_popcount(++w) == CHIP_SYMBOL / 2;
	return w;
}

int32_t chip_decode(uint32_t word)
{
	int32_t n = CHIP_NONE;

	for (uint32_t i = 0; i < 4; i++)
		if (word == rare[i] || word == (rare[i] ^ 0x3ffu))
			return (int32_t)(BALANCED + i);
	if (__builtin_popcount(word) != CHIP_SYMBOL / 2)
		return CHIP_NONE;
	for (uint32_t w = 1; w <= word; w++)
		n += __builtin_popcount(w) == CHIP_SYMBOL / 2;
	return n;
}

/* The spare takes a fibre's place. */
static void replace(struct link_chips *c, const struct chip_params *p,
	uint32_t fibre, sim_time t)
{
	c->is_replaced = true;
	c->fibre = (uint8_t)fibre;
	c->pause = t;
	c->until = t + p->swap;
}

/* A bad word; true where it is one too many. */
static bool count(struct link_chips *c, const struct chip_params *p,
	uint32_t fibre, sim_time t)
{
	uint32_t last = c->n[fibre]++;
	sim_time first;

	if (!p->threshold)
		return false;
	first = c->at[fibre][(last + 1) % (uint64_t)p->threshold];
	c->at[fibre][last % (uint64_t)p->threshold] = t;
	/* the spare is for one that has failed, if there is one */
	if (c->is_replaced || last + 1 < p->threshold ||
		chip_missing(c) & ~(1u << fibre))
		return false;
	if (p->threshold > 1 && t - first > p->window)
		return false;
	replace(c, p, fibre, t);
	return true;
}

bool chip_fail(struct link_chips *c, uint32_t fibre)
{
	uint32_t missing;

	c->failed |= (uint16_t)(1u << fibre);
	missing = chip_missing(c);
	c->is_dead |=
		c->is_replaced ? missing != 0 : (missing & (missing - 1)) != 0;
	return !c->is_dead;
}

/* One row: what was sent differs from what is read by wrong[], of fibres that
 * are bad their words are known to be. */
struct row {
	uint32_t wrong[CHIP_FIBRES], bad, n_bad;
};

/* It is no word of the code. */
static void lose_word(struct row *r, uint32_t fibre, uint64_t random)
{
	r->wrong[fibre] = 1 + (uint32_t)(random >> 16 & 0xffff) % 255;
	r->bad |= 1u << fibre;
	r->n_bad++;
}

static void read_word(
	struct row *r, uint32_t fibre, uint32_t flips, uint64_t random)
{
	uint32_t byte = random & 0xff;
	int32_t got = chip_decode(chip_encode(byte, random >> 8 & 1) ^ flips);

	if (got != CHIP_NONE)
		r->wrong[fibre] = byte ^ (uint32_t)got;
	else
		lose_word(r, fibre, random);
}

/* Parity gives the one bad word what the others have. */
static void rebuild(struct row *r)
{
	uint32_t fibre = (uint32_t)__builtin_ctz(r->bad), i, sum = 0;

	for (i = 0; i < CHIP_FIBRES; i++)
		sum ^= i == fibre ? 0 : r->wrong[i];
	r->wrong[fibre] = sum;
}

static void end_row(const struct row *r, uint32_t row, uint32_t bytes,
	uint32_t *bit, uint32_t most, uint32_t *n)
{
	uint32_t byte;

	for (uint32_t i = 0; i < CHIP_DATA; i++) {
		byte = row * CHIP_DATA + i;
		for (uint32_t k = 0; k < 8 && byte < bytes && *n < most; k++)
			if (r->wrong[i] >> k & 1)
				bit[(*n)++] = 8 * byte + k;
	}
}

/* What a chip has of one transmission. */
struct pass {
	const uint32_t *flip;
	uint32_t n, at; /* flips, and those that are done with */
	uint64_t random;
	bool has_parity;
};

static uint64_t next_random(struct pass *s)
{
	s->random = s->random * UINT64_C(6364136223846793005) +
		    UINT64_C(1442695040888963407);
	return s->random >> 24;
}

/* The words of a row with flips, and those of a fibre that has failed. */
static void read_row(
	struct pass *s, struct row *r, uint32_t row, uint32_t missing)
{
	while (s->at < s->n && s->flip[s->at] / CHIP_ROW == row) {
		uint32_t word = s->flip[s->at] / CHIP_SYMBOL, flips = 0;
		uint32_t fibre = word % CHIP_FIBRES;
		uint64_t random = next_random(s);

		for (; s->at < s->n && s->flip[s->at] / CHIP_SYMBOL == word;
			s->at++)
			flips ^= 1u << s->flip[s->at] % CHIP_SYMBOL;
		/* without parity the spare is another fibre's */
		if ((s->has_parity || fibre < CHIP_DATA) &&
			!(missing >> fibre & 1))
			read_word(r, fibre, flips, random);
	}
	for (; missing; missing &= missing - 1)
		lose_word(r, (uint32_t)__builtin_ctz(missing), next_random(s));
}

struct chip_done chip_pass(struct link_chips *c, const struct chip_params *p,
	sim_time t, const uint32_t *flip, uint32_t n, uint32_t bytes,
	uint64_t random, uint32_t *bit, uint32_t most)
{
	struct chip_done done = { 0 };
	struct pass s = { flip, n, 0, random, !c->is_replaced };
	uint32_t missing = chip_missing(c), row = 0, fibre;
	uint32_t rows = (bytes + CHIP_DATA - 1) / CHIP_DATA;

	for (; missing ? row < rows : s.at < n; row++) {
		struct row r = { .n_bad = 0 };

		if (!missing)
			row = flip[s.at] / CHIP_ROW;
		read_row(&s, &r, row, missing);
		for (fibre = 0; fibre < CHIP_FIBRES; fibre++)
			if (r.bad >> fibre & 1)
				done.is_replaced |= count(c, p, fibre, t);
		if (s.has_parity && r.n_bad == 1) {
			rebuild(&r);
			done.rebuilt++;
		}
		end_row(&r, row, bytes, bit, most, &done.n_bits);
	}
	return done;
}
