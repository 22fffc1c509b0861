#include <string.h>

#include "coll/combine.h"
#include "testing/testing.h"

/*
 * What is right is found by numbers of many digits, kept as bits, one a byte:
 * slow, and plain enough to be believed.
 */
enum {
	BYTES = 512,
	BITS = 8 * BYTES + 8,
	FIXED = 2200, /* bits of the largest sum, in units of 2^-1074 */
	N_TRIES = 12,
};

struct fixture {
	char in[COLL_MAX_INPUTS][BYTES];
	const void *from[COLL_MAX_INPUTS];
	char out[BYTES], again[BYTES];
	uint64_t seed, n;
};

static uint32_t throw_(struct fixture *f, uint32_t below)
{
	return dice(f->seed, &f->n, below);
}

static uint64_t bits(struct fixture *f)
{
	return random_draw(f->seed, 1, RANDOM_TEST, f->n++).a;
}

static void set_up(struct fixture *f, uint64_t seed)
{
	memset(f, 0, sizeof(*f));
	f->seed = seed;
}

static void shuffle(struct fixture *f, uint32_t n)
{
	while (n > 1) {
		uint32_t i = throw_(f, n--);
		const void *p = f->from[i];

		f->from[i] = f->from[n];
		f->from[n] = p;
	}
}

/* Combines twice, with the inputs in another order, into one of them. */
static bool combine(struct fixture *f, const struct coll_arith *a, uint32_t n,
	uint32_t bytes)
{
	struct err e = { 0 };
	bool flag, again;
	uint32_t i;
	void *one;

	assert_int_equal(coll_arith_check(a, bytes, &e), 0);
	for (i = 0; i < n; i++)
		f->from[i] = f->in[i];
	flag = coll_combine(a, f->out, f->from, n, bytes);
	shuffle(f, n);
	again = coll_combine(a, f->again, f->from, n, bytes);
	assert_int_equal(flag, again);
	assert_memory_equal(f->out, f->again, bytes);
	i = throw_(f, n);
	one = f->in[((const char *)f->from[i] - f->in[0]) / BYTES];
	memcpy(f->again, one, bytes);
	assert_int_equal(coll_combine(a, one, f->from, n, bytes), flag);
	assert_memory_equal(one, f->out, bytes);
	memcpy(one, f->again, bytes);
	return flag;
}

/* ---- integers of any length ---- */

struct number {
	uint8_t bit[BITS]; /* in two's complement */
};

static void read_number(
	struct number *x, const char *p, uint32_t word, bool is_signed)
{
	uint32_t i;

	memset(x, 0, sizeof(*x));
	for (i = 0; i < BITS; i++)
		if (i < 8 * word)
			x->bit[i] = (uint8_t)(p[i / 8] >> i % 8) & 1;
		else if (is_signed)
			x->bit[i] = x->bit[8 * word - 1];
}

static void add_to(struct number *x, const struct number *y)
{
	uint32_t i, sum = 0;

	for (i = 0; i < BITS; i++) {
		sum += x->bit[i] + y->bit[i];
		x->bit[i] = sum & 1;
		sum >>= 1;
	}
}

static bool is_below(const struct number *x, const struct number *y)
{
	uint32_t i = BITS - 1;

	if (x->bit[i] != y->bit[i])
		return x->bit[i] > y->bit[i];
	while (i > 0 && x->bit[i] == y->bit[i])
		i--;
	return x->bit[i] < y->bit[i];
}

static void put_together(
	struct number *x, const struct number *y, enum coll_op op)
{
	uint32_t i;

	if (op == COLL_ADD)
		add_to(x, y);
	else if (op == COLL_MIN || op == COLL_MAX)
		*x = is_below(x, y) == (op == COLL_MIN) ? *x : *y;
	else
		for (i = 0; i < BITS; i++)
			x->bit[i] = op == COLL_AND  ? x->bit[i] & y->bit[i]
				    : op == COLL_OR ? x->bit[i] | y->bit[i]
						    : x->bit[i] ^ y->bit[i];
}

/* True if the word is too short for it. */
static bool write_number(
	char *p, const struct number *x, uint32_t word, bool is_signed)
{
	struct number back;
	uint32_t i;

	memset(p, 0, word);
	for (i = 0; i < 8 * word; i++)
		p[i / 8] = (char)(p[i / 8] | x->bit[i] << i % 8);
	read_number(&back, p, word, is_signed);
	return memcmp(&back, x, sizeof(back)) != 0;
}

static void fill(struct fixture *f, const struct coll_arith *a, uint32_t n,
	uint32_t bytes)
{
	uint32_t i, k, at;

	for (i = 0; i < n; i++)
		for (k = 0; k < bytes; k += 4) {
			uint64_t x = bits(f);

			memcpy(&f->in[i][k], &x, 4);
		}
	/* Equal upper digits, and sums that just do or do not fit. */
	for (at = 0; at + a->word <= bytes && n > 1; at += a->word) {
		i = throw_(f, n);
		k = throw_(f, n);
		memcpy(&f->in[i][at], &f->in[k][at], a->word);
		f->in[i][at] = (char)(f->in[i][at] ^ (1 << throw_(f, 8)));
		if (throw_(f, 2) == 0)
			for (i = 0; i < n; i++)
				f->in[i][at + a->word - 1] /= (char)n;
	}
}

static void compare_integers(struct fixture *f, const struct coll_arith *a,
	uint32_t n, uint32_t bytes)
{
	bool is_signed = a->type == COLL_SIGNED, want = false;
	struct number x, y;
	char right[BYTES];
	uint32_t at, i;

	fill(f, a, n, bytes);
	for (at = 0; at < bytes; at += a->word) {
		read_number(&x, &f->in[0][at], a->word, is_signed);
		for (i = 1; i < n; i++) {
			read_number(&y, &f->in[i][at], a->word, is_signed);
			put_together(&x, &y, a->op);
		}
		want |= write_number(right + at, &x, a->word, is_signed);
	}
	assert_int_equal(combine(f, a, n, bytes), want);
	assert_memory_equal(f->out, right, bytes);
}

/* A word, and where it is short more of them. */
static void compare_lengths(struct fixture *f, struct coll_arith a)
{
	uint32_t n, words;

	for (a.word = 4; a.word <= BYTES; a.word *= 2)
		for (n = 1; n <= COLL_MAX_INPUTS; n++) {
			words = 1 + throw_(f, 1 + 32u / a.word);
			compare_integers(f, &a, n, words * a.word);
		}
}

static void bgq_f45_integers_and_bits_are_as_long_numbers_say(void **state)
{
	static const enum coll_op ops[] = { COLL_ADD, COLL_MIN, COLL_MAX };
	static const enum coll_op bitwise[] = { COLL_AND, COLL_OR, COLL_XOR };
	struct fixture f;
	uint32_t i;

	(void)state;
	set_up(&f, 1);
	for (i = 0; i < 3; i++) {
		compare_lengths(&f, (struct coll_arith){ .op = (uint8_t)ops[i],
					    .type = COLL_SIGNED });
		compare_lengths(&f, (struct coll_arith){ .op = (uint8_t)ops[i],
					    .type = COLL_UNSIGNED });
		compare_lengths(
			&f, (struct coll_arith){ .op = (uint8_t)bitwise[i],
				    .type = COLL_BITS });
	}
}

static bool add4(uint32_t type, uint32_t x, uint32_t y, uint32_t *sum)
{
	struct coll_arith a = { COLL_ADD, (uint8_t)type, 4 };
	const void *from[2] = { &x, &y };

	return coll_combine(&a, sum, from, 2, 4);
}

static void bgq_f57_a_sum_that_does_not_fit_raises_the_flag(void **state)
{
	uint32_t x;

	(void)state;
	assert_false(add4(COLL_UNSIGNED, 0x7fffffff, 1, &x));
	assert_int_equal(x, 0x80000000);
	assert_true(add4(COLL_SIGNED, 0x7fffffff, 1, &x));
	assert_int_equal(x, 0x80000000);
	assert_true(add4(COLL_UNSIGNED, 0xffffffff, 1, &x));
	assert_int_equal(x, 0);
	assert_false(add4(COLL_SIGNED, 0xffffffff, 1, &x));
	assert_true(add4(COLL_SIGNED, 0x80000000, 0xffffffff, &x));
	assert_int_equal(x, 0x7fffffff);
}

static void a_sum_may_leave_its_range_on_the_way(void **state)
{
	int64_t in[3] = { INT64_MAX, INT64_MAX, -INT64_MAX }, sum;
	struct coll_arith a = { COLL_ADD, COLL_SIGNED, 8 };
	const void *from[3] = { &in[0], &in[1], &in[2] };

	(void)state;
	assert_false(coll_combine(&a, &sum, from, 3, 8));
	assert_true(sum == INT64_MAX);
}

/* ---- doubles ---- */

static const uint64_t edges[] = {
	0,
	UINT64_C(1) << 63,
	1,
	UINT64_C(0x800fffffffffffff),
	UINT64_C(0x0010000000000000),
	UINT64_C(0x3ff0000000000000),
	UINT64_C(0xbff0000000000000),
	UINT64_C(0x7fefffffffffffff),
	UINT64_C(0xffefffffffffffff),
};

enum { N_EDGES = sizeof(edges) / sizeof(edges[0]) };

static uint32_t exponent(uint64_t x)
{
	uint32_t e = (uint32_t)(x >> 52) & 0x7ff;

	return e > 0 ? e : 1;
}

static uint64_t significand(uint64_t x)
{
	uint64_t m = x & (UINT64_C(0x000fffffffffffff));

	return x << 1 >> 53 > 0 ? m | UINT64_C(1) << 52 : m;
}

/* Numbers near each other, subnormals, halves of last places, extremes. */
static uint64_t some_double(struct fixture *f, uint32_t near, uint32_t spread)
{
	uint64_t sign = bits(f) << 63, m = bits(f) >> 12;
	uint32_t e = near + throw_(f, spread + 1);

	switch (throw_(f, 8)) {
	case 0:
		return edges[throw_(f, N_EDGES)];
	case 1:
		m = 0;
		break;
	case 2:
		m &= 3;
		break;
	case 3:
		m |= UINT64_C(0xffffffffffffc);
		break;
	}
	return sign | (uint64_t)(e < 0x7fe ? e : 0x7fe) << 52 | m;
}

/* Adds a significand with some bits less than it has, below the mark. */
static void add_fixed(int8_t *sum, uint64_t x, uint32_t mark)
{
	uint64_t m = significand(x);
	uint32_t i, e = exponent(x) - 1;

	for (i = 0; i < 53; i++)
		if (e + i >= mark && (m >> i & 1) != 0)
			sum[e + i] = (int8_t)(sum[e + i] + (x >> 63 ? -1 : 1));
}

/* Makes bits of digits; true where the number is below zero: its magnitude. */
static bool settle(int8_t *sum)
{
	int32_t i, carry = 0;

	for (i = 0; i < FIXED; i++) {
		carry += sum[i];
		sum[i] = carry & 1;
		carry = (carry - sum[i]) / 2;
	}
	if (carry == 0)
		return false;
	for (i = 0; i < FIXED; i++) /* two's complement: negate */
		sum[i] = !sum[i];
	for (i = 0; i < FIXED && sum[i]; i++)
		sum[i] = 0;
	sum[i] = 1;
	return true;
}

/* Rounds to 53 bits, or to what a subnormal number has. */
static uint64_t round_fixed(const int8_t *sum)
{
	int32_t top = FIXED - 1, i, low;
	uint64_t m = 0;
	bool half, rest = false;

	while (top > 52 && !sum[top])
		top--;
	low = top - 52;
	for (i = top; i >= low; i--)
		m = m << 1 | (uint64_t)sum[i];
	half = low > 0 && sum[low - 1];
	for (i = 0; i < low - 1; i++)
		rest |= sum[i];
	m += half && (rest || m % 2);
	m += (uint64_t)low << 52;
	return m < UINT64_C(0x7ff) << 52 ? m : UINT64_C(0x7ff) << 52;
}

static uint64_t right_sum(const uint64_t *x, uint32_t n)
{
	int8_t sum[FIXED] = { 0 };
	uint32_t i, mark = 0, n_minus = 0;
	uint64_t sign, out;

	for (i = 0; i < n; i++)
		if (exponent(x[i]) > 64 + 1 + mark)
			mark = exponent(x[i]) - 64 - 1;
	for (i = 0; i < n; i++) {
		add_fixed(sum, x[i], mark);
		n_minus += x[i] == UINT64_C(1) << 63;
	}
	sign = (uint64_t)settle(sum) << 63;
	out = round_fixed(sum);
	if (out == 0)
		return (uint64_t)(n_minus == n) << 63;
	return sign | out;
}

static void compare_sums(struct fixture *f, uint32_t near, uint32_t spread)
{
	struct coll_arith a = { COLL_ADD, COLL_DOUBLE, 8 };
	uint32_t n, i, k, words;
	uint64_t x[COLL_MAX_INPUTS], sum;

	for (n = 1; n <= COLL_MAX_INPUTS; n++) {
		words = 1 + throw_(f, 4);
		for (i = 0; i < n; i++)
			for (k = 0; k < words; k++) {
				x[0] = some_double(f, near, spread);
				memcpy(&f->in[i][8 * k], &x[0], 8);
			}
		assert_false(combine(f, &a, n, 8 * words));
		for (k = 0; k < words; k++) {
			for (i = 0; i < n; i++)
				memcpy(&x[i], &f->in[i][8 * k], 8);
			memcpy(&sum, &f->out[8 * k], 8);
			assert_int_equal(sum, right_sum(x, n));
		}
	}
}

static void bgq_f55_a_sum_of_doubles_is_aligned_and_rounded_once(void **state)
{
	struct fixture f;
	uint32_t i;

	(void)state;
	set_up(&f, 2);
	for (i = 0; i < N_TRIES; i++) {
		compare_sums(&f, 0, 3); /* subnormals among them */
		compare_sums(&f, 60, 10);
		compare_sums(&f, 1020, 6); /* much is cancelled */
		compare_sums(&f, 1000, 64);
		compare_sums(&f, 900, 200); /* much is cut off */
		compare_sums(&f, 2040, 6); /* some overflow */
		compare_sums(&f, 0, 2046);
	}
}

static uint64_t combine_doubles(
	enum coll_op op, const uint64_t *x, uint32_t n, bool *flag)
{
	struct coll_arith a = { (uint8_t)op, COLL_DOUBLE, 8 };
	const void *from[COLL_MAX_INPUTS];
	uint64_t out;
	uint32_t i;

	for (i = 0; i < n; i++)
		from[i] = &x[i];
	*flag = coll_combine(&a, &out, from, n, 8);
	return out;
}

static void two_doubles_add_up_as_the_host_adds_them(void **state)
{
	struct fixture f;
	uint64_t x[2], sum;
	double a, b, c;
	uint32_t i;
	bool flag;

	(void)state;
	set_up(&f, 3);
	for (i = 0; i < 20000; i++) {
		x[0] = some_double(&f, i % 3 * 1000, i % 130);
		x[1] = some_double(&f, i % 3 * 1000, i % 130);
		memcpy(&a, &x[0], 8);
		memcpy(&b, &x[1], 8);
		c = a + b;
		memcpy(&sum, &c, 8);
		assert_int_equal(combine_doubles(COLL_ADD, x, 2, &flag), sum);
	}
}

static void bgq_f56_a_small_term_is_not_lost_behind_large_ones(void **state)
{
	/* 2^53 + 1 + 1 - 2^53: additions one by one lose both ones. */
	const uint64_t x[] = { UINT64_C(0x4340000000000000),
		UINT64_C(0x3ff0000000000000), UINT64_C(0x3ff0000000000000),
		UINT64_C(0xc340000000000000) };
	bool flag;

	(void)state;
	assert_int_equal(combine_doubles(COLL_ADD, x, 4, &flag),
		UINT64_C(0x4000000000000000));
	assert_false(flag);
}

static void what_is_65_places_below_the_largest_is_cut_off(void **state)
{
	uint64_t x[3] = { UINT64_C(0x3ff0000000000000),
		UINT64_C(0xbff0000000000000), 0 };
	bool flag;

	(void)state;
	x[2] = (uint64_t)(0x3ff - 52 - 64) << 52;
	assert_int_equal(combine_doubles(COLL_ADD, x, 3, &flag), x[2]);
	x[2] = (uint64_t)(0x3ff - 52 - 65) << 52;
	assert_int_equal(combine_doubles(COLL_ADD, x, 3, &flag), 0);
}

static const uint64_t infinite = UINT64_C(0x7ff0000000000000);
static const uint64_t minus = UINT64_C(0x8000000000000000);

static void bgq_f57_nan_becomes_the_standard_one_and_is_flagged(void **state)
{
	static const enum coll_op ops[] = { COLL_ADD, COLL_MIN, COLL_MAX,
		COLL_BROADCAST };
	static const uint64_t nans[] = { UINT64_C(0x7ff8000000000000),
		UINT64_C(0xfff0000000000001), UINT64_C(0x7fffffffffffffff),
		COLL_NAN };
	uint64_t x[2];
	uint32_t i, k;
	bool flag;

	(void)state;
	for (i = 0; i < 4; i++)
		for (k = 0; k < 4; k++) {
			x[0] = nans[k];
			x[1] = infinite;
			assert_int_equal(combine_doubles(ops[i], x,
						 i < 3 ? 2 : 1, &flag),
				COLL_NAN);
			assert_true(flag);
		}
}

static void infinities_of_both_signs_are_no_number(void **state)
{
	uint64_t x[3] = { infinite, infinite | minus, 1 };
	bool flag;

	(void)state;
	assert_int_equal(combine_doubles(COLL_ADD, x, 3, &flag), COLL_NAN);
	assert_true(flag);
	assert_int_equal(
		combine_doubles(COLL_MIN, x, 3, &flag), infinite | minus);
	assert_false(flag);
	assert_int_equal(combine_doubles(COLL_MAX, x, 3, &flag), infinite);
	assert_false(flag);
	assert_int_equal(
		combine_doubles(COLL_BROADCAST, x, 1, &flag), infinite);
	assert_false(flag);
	x[0] = 5;
	assert_int_equal(
		combine_doubles(COLL_ADD, x, 3, &flag), infinite | minus);
	assert_false(flag);
}

static void too_large_a_sum_of_doubles_is_infinite_without_a_flag(void **state)
{
	uint64_t x[2] = { UINT64_C(0xffefffffffffffff),
		UINT64_C(0xffefffffffffffff) };
	bool flag;

	(void)state;
	assert_int_equal(
		combine_doubles(COLL_ADD, x, 2, &flag), infinite | minus);
	assert_false(flag);
}

static void bgq_f45_doubles_are_in_order_and_minus_zero_is_below(void **state)
{
	static const uint64_t order[] = { UINT64_C(0xfff0000000000000),
		UINT64_C(0xffefffffffffffff), UINT64_C(0xbff0000000000000),
		UINT64_C(0x8010000000000000), UINT64_C(0x8000000000000001),
		UINT64_C(0x8000000000000000), 0, 1,
		UINT64_C(0x0010000000000000), UINT64_C(0x3ff0000000000000),
		UINT64_C(0x7fefffffffffffff), UINT64_C(0x7ff0000000000000) };
	struct coll_arith a = { COLL_MIN, COLL_DOUBLE, 8 };
	struct fixture f;
	uint32_t n, i, first;

	(void)state;
	set_up(&f, 4);
	for (n = 1; n <= COLL_MAX_INPUTS; n++)
		for (first = 0; first + n <= 12; first++) {
			for (i = 0; i < n; i++)
				memcpy(f.in[i], &order[first + i], 8);
			a.op = COLL_MIN;
			assert_false(combine(&f, &a, n, 8));
			assert_memory_equal(f.out, &order[first], 8);
			a.op = COLL_MAX;
			assert_false(combine(&f, &a, n, 8));
			assert_memory_equal(f.out, &order[first + n - 1], 8);
		}
}

static void bgq_f53_twelve_inputs_are_merged_in_one_hop(void **state)
{
	struct coll_arith a = { COLL_OR, COLL_BITS, 4 };
	struct fixture f;
	uint32_t i, out;

	(void)state;
	set_up(&f, 5);
	for (i = 0; i < 12; i++)
		f.in[i][i / 8] = (char)(1 << i % 8);
	assert_false(combine(&f, &a, 12, 4));
	memcpy(&out, f.out, 4);
	assert_int_equal(out, 0xfff);
}

static void a_broadcast_copies_what_is_no_double_bit_by_bit(void **state)
{
	struct coll_arith a = { COLL_BROADCAST, COLL_SIGNED, 16 };
	struct fixture f;
	uint32_t i;

	(void)state;
	set_up(&f, 6);
	for (i = 0; i < BYTES; i++)
		f.in[0][i] = (char)-1; /* a NaN, if it were doubles */
	assert_false(combine(&f, &a, 1, BYTES));
	assert_memory_equal(f.out, f.in[0], BYTES);
}

static int check(uint32_t op, uint32_t type, uint32_t word, uint32_t bytes)
{
	struct coll_arith a = { (uint8_t)op, (uint8_t)type, (uint16_t)word };
	struct err e = { 0 };

	return coll_arith_check(&a, bytes, &e);
}

static void what_the_hardware_has_no_adder_for_is_refused(void **state)
{
	(void)state;
	assert_int_equal(check(COLL_ADD, COLL_DOUBLE, 8, 512), 0);
	assert_int_equal(check(COLL_ADD, COLL_SIGNED, 512, 512), 0);
	assert_int_equal(check(COLL_BROADCAST, COLL_BITS, 4, 0), 0);
	assert_int_equal(check(COLL_N_OPS, COLL_BITS, 4, 4), -1);
	assert_int_equal(check(COLL_ADD, COLL_N_TYPES, 4, 4), -1);
	assert_int_equal(check(COLL_ADD, COLL_BITS, 4, 4), -1);
	assert_int_equal(check(COLL_XOR, COLL_DOUBLE, 8, 8), -1);
	assert_int_equal(check(COLL_ADD, COLL_DOUBLE, 4, 8), -1);
	assert_int_equal(check(COLL_ADD, COLL_SIGNED, 2, 8), -1);
	assert_int_equal(check(COLL_ADD, COLL_SIGNED, 12, 24), -1);
	assert_int_equal(check(COLL_ADD, COLL_SIGNED, 1024, 1024), -1);
	assert_int_equal(check(COLL_ADD, COLL_SIGNED, 16, 24), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			bgq_f45_integers_and_bits_are_as_long_numbers_say),
		cmocka_unit_test(
			bgq_f57_a_sum_that_does_not_fit_raises_the_flag),
		cmocka_unit_test(a_sum_may_leave_its_range_on_the_way),
		cmocka_unit_test(
			bgq_f55_a_sum_of_doubles_is_aligned_and_rounded_once),
		cmocka_unit_test(two_doubles_add_up_as_the_host_adds_them),
		cmocka_unit_test(
			bgq_f56_a_small_term_is_not_lost_behind_large_ones),
		cmocka_unit_test(
			what_is_65_places_below_the_largest_is_cut_off),
		cmocka_unit_test(
			bgq_f57_nan_becomes_the_standard_one_and_is_flagged),
		cmocka_unit_test(infinities_of_both_signs_are_no_number),
		cmocka_unit_test(
			too_large_a_sum_of_doubles_is_infinite_without_a_flag),
		cmocka_unit_test(
			bgq_f45_doubles_are_in_order_and_minus_zero_is_below),
		cmocka_unit_test(bgq_f53_twelve_inputs_are_merged_in_one_hop),
		cmocka_unit_test(
			a_broadcast_copies_what_is_no_double_bit_by_bit),
		cmocka_unit_test(what_the_hardware_has_no_adder_for_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
