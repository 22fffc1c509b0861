#include "link/training.h"

#include "sim/random.h"

#define AT(field) offsetof(struct training_params, field)
#define PS_PER_NS 1000

/* No rotation of itself, with about as many changes as bits to compare. */
#define WORD UINT64_C(0xd3a1f0e4b5972c68)

enum { WORD_BITS = 64, MOST_TAPS = 1024, MOST_REPEATS = 4096 };

const struct param training_params_table[] = {
	PARAM_ROW(PARAM_COUNT, "lines", AT(lines), "0", 0, TRAINING_LINES,
		"number of differential pairs of a link in each direction: 10 "
		"(eight for data, one for control, one for the clock), or 0 if "
		"they are not modelled",
		NULL),
	PARAM_ROW(PARAM_FLAG, "training.on", AT(is_on), "yes", 0, 1,
		"whether links that come up are trained; no: each line is "
		"sampled at its untrained delay",
		NULL),
	PARAM_ROW(PARAM_TIME, "training.skew", AT(skew), "500 ps", 0,
		100 * PS_PER_NS,
		"largest skew of a line against the clock, in either direction",
		"assumed: 40 ps for each of 13 m of copper"),
	PARAM_ROW(PARAM_TIME, "training.eye", AT(eye), "400 ps", 1,
		100 * PS_PER_NS,
		"width of the eye: the part of a bit time in which the line "
		"can be sampled",
		"assumed: about half a bit time (750 ps)"),
	PARAM_ROW(PARAM_TIME, "training.step", AT(step), "25 ps", 1,
		100 * PS_PER_NS, "delay of one tap of a line's delay chain",
		"assumed: a sixteenth of an eye"),
	PARAM_ROW(PARAM_COUNT, "training.taps", AT(taps), "64", 2, MOST_TAPS,
		"number of taps of a line's delay chain; untrained lines are "
		"sampled at the middle one",
		"assumed: two bit times, which cover any skew of up to half a "
		"bit and an eye"),
	PARAM_ROW(PARAM_COUNT, "training.repeats", AT(repeats), "4", 1,
		MOST_REPEATS,
		"number of 64-bit words that are compared at each tap",
		"assumed: a few suffice, since a bad sampling point corrupts "
		"the first word already"),
	{ 0 },
};

/* --- what lines are like --- */

int64_t training_bit(int64_t rate)
{
	return (PS_PER_S * TRAINING_DATA / 8 + rate / 2) / rate;
}

int training_check(const struct training_params *p, int64_t rate, struct err *e)
{
	int64_t bit = training_bit(rate);

	if (!p->lines)
		return 0;
	if (p->lines != TRAINING_LINES)
		return err_set(e,
			"link.lines: %lld (want %d, or 0 if lines are not "
			"modelled)",
			(long long)p->lines, TRAINING_LINES);
	/* both edges must be seen */
	if (p->eye + 2 * p->step > bit)
		return err_set(e,
			"link.training.eye: %lld ps and two steps are longer "
			"than a bit, which lasts %lld ps",
			(long long)p->eye, (long long)bit);
	if (bit / p->step >= MOST_TAPS)
		return err_set(e,
			"link.training.step: more than %d steps in a bit, "
			"which lasts %lld ps (want longer steps)",
			MOST_TAPS, (long long)bit);
	return 0;
}

struct training_line training_line(const struct training_params *p, int64_t bit,
	uint64_t seed, uint32_t link, uint32_t line)
{
	uint64_t x = random_draw(seed, link, RANDOM_SKEW, line).a;
	struct training_line l = { .eye = p->eye };

	if (line == TRAINING_CLOCK)
		l.skew = (int64_t)random_below(x, (uint64_t)bit);
	else
		l.skew = (int64_t)random_below(x, 2 * (uint64_t)p->skew + 1) -
			 p->skew;
	return l;
}

/* In the eye that is round 0. */
static bool is_inside(const struct training_line *l, int64_t x)
{
	return 2 * x < l->eye && -2 * x < l->eye;
}

bool training_falls_right(const struct training_line *l)
{
	return is_inside(l, l->skew);
}

/* --- sampling --- */

static uint64_t turned(int64_t by)
{
	unsigned n = (unsigned)by % WORD_BITS;

	return n ? WORD << n | WORD >> (WORD_BITS - n) : WORD;
}

/* The nearest multiple of a bit's time. */
static int64_t bits_off(int64_t x, int64_t bit)
{
	return x >= 0 ? (x + bit / 2) / bit : -((-x + bit / 2) / bit);
}

uint64_t training_sample(const struct training_params *p, int64_t bit,
	const struct training_line *l, int64_t tap, uint64_t lot)
{
	int64_t x = l->skew + (tap - p->taps / 2) * p->step;
	int64_t off = bits_off(x, bit);
	int64_t rest = x - off * bit;

	if (is_inside(l, rest))
		return turned(off);
	/* at the edge of two bits: either of them */
	return (turned(off) & lot) | (turned(off + (rest < 0 ? -1 : 1)) & ~lot);
}

static uint64_t lot_of(struct training_who who, int64_t tap, int64_t i)
{
	return random_draw(who.seed, who.link, RANDOM_TRAINING,
		(uint64_t)who.line << 32 | (uint64_t)(tap * MOST_REPEATS + i))
		.a;
}

static bool is_right(const struct training_params *p, int64_t bit,
	const struct training_line *l, struct training_who who, int64_t tap)
{
	for (int64_t i = 0; i < p->repeats; i++)
		if (training_sample(p, bit, l, tap, lot_of(who, tap, i)) !=
			WORD)
			return false;
	return true;
}

/* A clock may be a whole bit off: that is a matter of latency alone. */
static bool is_steady(const struct training_params *p, int64_t bit,
	const struct training_line *l, struct training_who who, int64_t tap)
{
	uint64_t first = 0;
	bool is_word = false;

	for (int64_t i = 0; i < p->repeats; i++) {
		uint64_t x =
			training_sample(p, bit, l, tap, lot_of(who, tap, i));

		if (i && x != first)
			return false;
		first = x;
	}
	for (int64_t k = 0; k < WORD_BITS; k++)
		is_word |= first == turned(k);
	return is_word;
}

/* --- searching --- */

/* The longest stretch of taps that are right, both of whose ends were seen;
 * where it goes round, a stretch may go on beyond the last tap. */
static struct training_found longest(
	const bool *right, int64_t n, bool is_round, int64_t step)
{
	int64_t k, most = is_round ? 2 * n : n;
	struct training_found f = { 0 };

	for (int64_t i = is_round ? 0 : 1; i < n; i++) {
		if (!right[i] || right[i ? i - 1 : n - 1])
			continue;
		for (k = i; k < most && right[k % n]; k++)
			;
		if (k == most || (f.is_open && k - i <= f.last - f.first + 1))
			continue;
		f.is_open = true;
		f.first = i;
		f.last = k - 1;
	}
	if (f.is_open) {
		f.tap = (f.first + f.last) / 2;
		f.margin = (f.tap - f.first) * step;
		f.tap %= n;
	}
	return f;
}

struct training_found training_sweep(const struct training_params *p,
	int64_t bit, const struct training_line *l, struct training_who who)
{
	bool right[MOST_TAPS];

	for (int64_t i = 0; i < p->taps; i++)
		right[i] = is_right(p, bit, l, who, i);
	return longest(right, p->taps, false, p->step);
}

static int64_t n_phases(const struct training_params *p, int64_t bit)
{
	return (bit + p->step - 1) / p->step;
}

struct training_found training_align(const struct training_params *p,
	int64_t bit, const struct training_line *l, struct training_who who)
{
	bool right[MOST_TAPS];
	int64_t n = n_phases(p, bit), i;

	for (i = 0; i < n; i++)
		right[i] = is_steady(p, bit, l, who, i);
	return longest(right, n, true, p->step);
}

struct training_result training_run(const struct training_params *p,
	int64_t bit, const struct training_line line[TRAINING_LINES],
	uint64_t seed, uint32_t link)
{
	struct training_result r = { .margin = INT64_MAX };

	for (uint32_t i = 0; i < TRAINING_LINES; i++) {
		struct training_who who = { seed, link, i };

		r.line[i] = i == TRAINING_CLOCK
				    ? training_align(p, bit, &line[i], who)
				    : training_sweep(p, bit, &line[i], who);
		if (!r.line[i].is_open)
			r.failed |= 1u << i;
		else if (r.line[i].margin < r.margin)
			r.margin = r.line[i].margin;
	}
	return r;
}

sim_time training_time(const struct training_params *p, int64_t bit)
{
	return (n_phases(p, bit) + p->taps) * p->repeats * WORD_BITS * bit;
}
