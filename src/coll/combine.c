#include <string.h>

#include "base/wide.h"
#include "coll/combine.h"

enum {
	MANTISSA = 52, /* bits of a double below the hidden one */
	SPARE = 11, /* bits of 64 that a significand leaves */
	CUT = 10, /* bits of 63 that are rounded away */
	GUARD = 64, /* bits of a sum below the last one of its largest input */
	NARROW = 6, /* the same if 64 bits are enough: 4 of carry, the sign */
	TOP_EXPONENT = 0x7ff, /* infinities and NaNs */
	MIN_WORD = 4,
	MAX_WORD = 512,
};

#define HIDDEN	 (UINT64_C(1) << MANTISSA)
#define INFINITE ((uint64_t)TOP_EXPONENT << MANTISSA)
#define SIGN	 (UINT64_C(1) << 63)

struct inputs {
	const char *const *from;
	uint32_t n;
};

static uint64_t load(const char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

static uint32_t load4(const char *p)
{
	uint32_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

static bool is_nan(uint64_t x)
{
	return (x & ~SIGN) > INFINITE;
}

static uint32_t exponent(uint64_t x)
{
	return (uint32_t)(x >> MANTISSA) & TOP_EXPONENT;
}

/* ---- sums of doubles ---- */

/* Infinities and NaNs are among the inputs. */
static __attribute__((noinline)) uint64_t add_special(
	const struct inputs *in, uint32_t at)
{
	bool has_plus = false, has_minus = false;

	for (uint32_t i = 0; i < in->n; i++) {
		uint64_t x = load(in->from[i] + at);

		if (is_nan(x))
			return COLL_NAN;
		has_plus |= x == INFINITE;
		has_minus |= x == (INFINITE | SIGN);
	}
	if (has_plus && has_minus)
		return COLL_NAN;
	return has_plus ? INFINITE : INFINITE | SIGN;
}

static __attribute__((noinline)) uint64_t add_zero(
	const struct inputs *in, uint32_t at)
{
	for (uint32_t i = 0; i < in->n; i++)
		if (load(in->from[i] + at) != SIGN)
			return 0;
	return SIGN;
}

/* Rounds 63 bits, of which the first one is set, to a double. */
static inline uint64_t rounded(uint64_t top, int32_t e)
{
	uint64_t out;

	if (e < 1) /* subnormal: a multiple of the last place, nothing is cut */
		return top >> CUT >> (1 - e);
	top += (1u << (CUT - 1)) - 1 + (top >> CUT & 1);
	/* The hidden bit and a carry of the rounding add to the exponent. */
	out = ((uint64_t)(e - 1) << MANTISSA) + (top >> CUT);
	return out < INFINITE ? out : INFINITE;
}

/* The double next to a magnitude of at most 121 bits that is not 0. */
static uint64_t round_wide(uint128 x, int32_t e)
{
	uint64_t top;
	uint32_t first;

	while (x >> GUARD == 0) {
		x <<= MANTISSA;
		e -= MANTISSA;
	}
	first = 63 - (uint32_t)__builtin_clzll((uint64_t)(x >> GUARD));
	/* Its first bits; of the others only whether there are any. */
	top = (uint64_t)(x >> GUARD) << (62 - first) |
	      (uint64_t)x >> (first + 2);
	top |= (uint64_t)x << (62 - first) != 0;
	return rounded(top, e + (int32_t)first - MANTISSA);
}

static __attribute__((noinline)) uint64_t add_wide(
	const struct inputs *in, uint32_t at, uint32_t e)
{
	uint128 sum = 0;

	for (uint32_t i = 0; i < in->n; i++) {
		uint64_t x = load(in->from[i] + at), m = x & (HIDDEN - 1);
		uint32_t d = e - exponent(x);
		uint128 aligned;

		if (d == e) /* subnormal */
			d--;
		else
			m |= HIDDEN;
		aligned = d < 128 ? (uint128)m << GUARD >> d : 0;
		sum += x & SIGN ? -aligned : aligned;
	}
	if (sum == 0)
		return add_zero(in, at);
	if (sum >> 127)
		return SIGN | round_wide(-sum, (int32_t)e);
	return round_wide(sum, (int32_t)e);
}

/*
 * The same with NARROW bits to spare, which will do if no exponent is further
 * below e, and none is 0.
 */
static inline uint64_t add_narrow(
	const struct inputs *in, uint32_t at, uint32_t e)
{
	uint64_t sum = 0, sign;
	uint32_t zeros;

	for (uint32_t i = 0; i < in->n; i++) {
		uint64_t x = load(in->from[i] + at), m = x << SPARE | SIGN;
		uint64_t minus = (uint64_t)((int64_t)x >> 63);

		m >>= SPARE - NARROW + e - exponent(x);
		sum += (m ^ minus) - minus;
	}
	if (sum == 0)
		return add_zero(in, at);
	sign = sum & SIGN;
	sum = sign ? -sum : sum;
	zeros = (uint32_t)__builtin_clzll(sum);
	return sign | rounded(sum << (zeros - 1),
			      (int32_t)(e + SPARE - NARROW - zeros));
}

static inline uint64_t add_double(const struct inputs *in, uint32_t at)
{
	uint64_t largest = 0, smallest = UINT64_MAX;
	uint32_t e;

	for (uint32_t i = 0; i < in->n; i++) {
		uint64_t x = load(in->from[i] + at) << 1;

		largest = x > largest ? x : largest;
		smallest = x < smallest ? x : smallest;
	}
	e = (uint32_t)(largest >> (MANTISSA + 1));
	if (e == TOP_EXPONENT)
		return add_special(in, at);
	if (smallest >> (MANTISSA + 1) != 0 &&
		largest - smallest < (uint64_t)NARROW << (MANTISSA + 1))
		return add_narrow(in, at, e);
	return add_wide(in, at, e > 0 ? e : 1); /* subnormals have 1 */
}

static bool add_doubles(char *to, const struct inputs *in, uint32_t bytes)
{
	bool flag = false;

	for (uint32_t at = 0; at < bytes; at += 8) {
		uint64_t x = add_double(in, at);

		flag |= x == COLL_NAN;
		memcpy(to + at, &x, sizeof(x));
	}
	return flag;
}

/* ---- sums of integers ---- */

/*
 * Sums digit by digit.  Only the last digit has a sign, and the word is too
 * short if what the last one carries is not the sign of what is left.
 */
static bool add_words4(
	char *to, const struct inputs *in, uint32_t bytes, bool is_signed)
{
	bool flag = false;

	for (uint32_t at = 0; at < bytes; at += 4) {
		int64_t sum = 0;
		uint32_t x;

		for (uint32_t i = 0; i < in->n; i++) {
			uint32_t y = load4(in->from[i] + at);

			sum += is_signed ? (int64_t)(int32_t)y : (int64_t)y;
		}
		x = (uint32_t)sum;
		flag |= sum != (is_signed ? (int64_t)(int32_t)x : (int64_t)x);
		memcpy(to + at, &x, sizeof(x));
	}
	return flag;
}

static bool add_word(char *to, const struct inputs *in, uint32_t from,
	uint32_t word, bool is_signed)
{
	int128 sum = 0;
	uint64_t x = 0;

	for (uint32_t at = from; at < from + word; at += 8) {
		bool has_sign = is_signed && at + 8 == from + word;

		sum >>= 64;
		for (uint32_t i = 0; i < in->n; i++) {
			uint64_t y = load(in->from[i] + at);

			sum += has_sign ? (int128)(int64_t)y : (int128)y;
		}
		x = (uint64_t)sum;
		memcpy(to + at, &x, sizeof(x));
	}
	return sum != (is_signed ? (int128)(int64_t)x : (int128)x);
}

static bool add_integers(const struct coll_arith *a, char *to,
	const struct inputs *in, uint32_t bytes)
{
	bool is_signed = a->type == COLL_SIGNED, flag = false;

	if (a->word == MIN_WORD)
		return add_words4(to, in, bytes, is_signed);
	for (uint32_t at = 0; at < bytes; at += a->word)
		flag |= add_word(to, in, at, a->word, is_signed);
	return flag;
}

/* ---- smallest and largest ---- */

/* Bits that are in the order of their values as unsigned numbers. */
static uint64_t ordered(uint64_t x, enum coll_type type)
{
	if (type == COLL_SIGNED)
		return x ^ SIGN;
	if (type == COLL_DOUBLE)
		return x & SIGN ? ~x : x ^ SIGN;
	return x;
}

static bool pick_words4(const struct coll_arith *a, char *to,
	const struct inputs *in, uint32_t bytes)
{
	uint32_t sign = a->type == COLL_SIGNED ? UINT32_C(1) << 31 : 0;
	uint32_t turn = a->op == COLL_MAX ? UINT32_MAX : 0;

	for (uint32_t at = 0; at < bytes; at += 4) {
		uint32_t best = UINT32_MAX;

		for (uint32_t i = 0; i < in->n; i++) {
			uint32_t x = load4(in->from[i] + at) ^ sign ^ turn;

			best = x < best ? x : best;
		}
		best ^= sign ^ turn;
		memcpy(to + at, &best, sizeof(best));
	}
	return false;
}

static bool is_better(const struct coll_arith *a, const char *x, const char *y)
{
	uint32_t at = a->word - 8u;
	uint64_t p = ordered(load(x + at), a->type);
	uint64_t q = ordered(load(y + at), a->type);

	while (p == q && at > 0) {
		at -= 8;
		p = load(x + at);
		q = load(y + at);
	}
	return a->op == COLL_MAX ? p > q : p < q;
}

static bool pick_words(const struct coll_arith *a, char *to,
	const struct inputs *in, uint32_t bytes)
{
	if (a->word == MIN_WORD)
		return pick_words4(a, to, in, bytes);
	for (uint32_t at = 0; at < bytes; at += a->word) {
		const char *best = in->from[0] + at;

		for (uint32_t i = 1; i < in->n; i++)
			if (is_better(a, in->from[i] + at, best))
				best = in->from[i] + at;
		memmove(to + at, best, a->word);
	}
	return false;
}

static bool pick_doubles(const struct coll_arith *a, char *to,
	const struct inputs *in, uint32_t bytes)
{
	uint64_t turn = a->op == COLL_MAX ? UINT64_MAX : 0;
	bool flag = false;

	for (uint32_t at = 0; at < bytes; at += 8) {
		uint64_t best = UINT64_MAX, x = 0;
		bool has_nan = false;

		for (uint32_t i = 0; i < in->n; i++) {
			uint64_t y = load(in->from[i] + at);
			uint64_t key = ordered(y, COLL_DOUBLE) ^ turn;

			has_nan |= is_nan(y);
			x = key <= best ? y : x;
			best = key <= best ? key : best;
		}
		x = has_nan ? COLL_NAN : x;
		flag |= has_nan;
		memcpy(to + at, &x, sizeof(x));
	}
	return flag;
}

/* ---- bits, and copies ---- */

static bool combine_bits(const struct coll_arith *a, char *to,
	const struct inputs *in, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += 4) {
		uint32_t x = load4(in->from[0] + at);

		for (uint32_t i = 1; i < in->n; i++) {
			uint32_t y = load4(in->from[i] + at);

			x = a->op == COLL_AND  ? x & y
			    : a->op == COLL_OR ? x | y
					       : x ^ y;
		}
		memcpy(to + at, &x, sizeof(x));
	}
	return false;
}

static bool copy(const struct coll_arith *a, char *to, const struct inputs *in,
	uint32_t bytes)
{
	if (a->type == COLL_DOUBLE) /* the smallest of one, but for NaNs */
		return pick_doubles(a, to, in, bytes);
	memmove(to, in->from[0], bytes);
	return false;
}

/* ---- calls ---- */

bool coll_combine(const struct coll_arith *a, void *to, const void *const *from,
	uint32_t n_from, uint32_t bytes)
{
	struct inputs in = { .from = (const char *const *)from, .n = n_from };

	BUG_IF(n_from < 1 || n_from > COLL_MAX_INPUTS);
	switch (a->op) {
	case COLL_BROADCAST:
		BUG_IF(n_from != 1);
		return copy(a, to, &in, bytes);
	case COLL_ADD:
		return a->type == COLL_DOUBLE ? add_doubles(to, &in, bytes)
					      : add_integers(a, to, &in, bytes);
	case COLL_MIN:
	case COLL_MAX:
		return a->type == COLL_DOUBLE ? pick_doubles(a, to, &in, bytes)
					      : pick_words(a, to, &in, bytes);
	default:
		return combine_bits(a, to, &in, bytes);
	}
}

int coll_arith_check(const struct coll_arith *a, uint32_t bytes, struct err *e)
{
	bool is_bitwise = a->op >= COLL_AND;

	if (a->op >= COLL_N_OPS)
		return err_set(e, "unknown operation %u", a->op);
	if (a->type >= COLL_N_TYPES)
		return err_set(e, "unknown word type %u", a->type);
	if (a->op != COLL_BROADCAST && is_bitwise != (a->type == COLL_BITS))
		return err_set(e, "%s",
			is_bitwise ? "and, or, xor are for bits only"
				   : "bits are combined by and, or, xor only");
	if (a->word < MIN_WORD || a->word > MAX_WORD ||
		(a->word & (a->word - 1)) != 0)
		return err_set(
			e, "words of %u bytes, want 4, 8, ... 512", a->word);
	if (a->type == COLL_DOUBLE && a->word != 8)
		return err_set(e, "doubles of %u bytes, want 8", a->word);
	if (bytes % a->word != 0)
		return err_set(e,
			"%u bytes are not a multiple of the word size, %u",
			bytes, a->word);
	return 0;
}
