#include <string.h>

#include "coll/combine_testing.h"
#include "testing/testing.h"

/*
 * What is right is found by numbers of many digits, kept as bits, one a byte:
 * slow, and plain enough to be believed.
 */
enum {
	BYTES = COMBINE_BYTES,
	BITS = 8 * BYTES + 8,
};

struct number {
	uint8_t bit[BITS]; /* in two's complement */
};

static void read_number(
	struct number *x, const char *p, uint32_t word, bool is_signed)
{
	memset(x, 0, sizeof(*x));
	for (uint32_t i = 0; i < BITS; i++)
		if (i < 8 * word)
			x->bit[i] = (uint8_t)(p[i / 8] >> i % 8) & 1;
		else if (is_signed)
			x->bit[i] = x->bit[8 * word - 1];
}

static void add_to(struct number *x, const struct number *y)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < BITS; i++) {
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
	if (op == COLL_ADD)
		add_to(x, y);
	else if (op == COLL_MIN || op == COLL_MAX)
		*x = is_below(x, y) == (op == COLL_MIN) ? *x : *y;
	else
		for (uint32_t i = 0; i < BITS; i++)
			x->bit[i] = op == COLL_AND  ? x->bit[i] & y->bit[i]
				    : op == COLL_OR ? x->bit[i] | y->bit[i]
						    : x->bit[i] ^ y->bit[i];
}

/* True if the word is too short for it. */
static bool write_number(
	char *p, const struct number *x, uint32_t word, bool is_signed)
{
	struct number back;

	memset(p, 0, word);
	for (uint32_t i = 0; i < 8 * word; i++)
		p[i / 8] = (char)(p[i / 8] | x->bit[i] << i % 8);
	read_number(&back, p, word, is_signed);
	return memcmp(&back, x, sizeof(back)) != 0;
}

static void fill(struct combine_test *f, const struct coll_arith *a, uint32_t n,
	uint32_t bytes)
{
	uint32_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < bytes; k += 4) {
			uint64_t x = combine_bits(f);

			memcpy(&f->in[i][k], &x, 4);
		}
	/* Equal upper digits, and sums that just do or do not fit. */
	for (uint32_t at = 0; at + a->word <= bytes && n > 1; at += a->word) {
		i = combine_dice(f, n);
		k = combine_dice(f, n);
		memcpy(&f->in[i][at], &f->in[k][at], a->word);
		f->in[i][at] = (char)(f->in[i][at] ^ (1 << combine_dice(f, 8)));
		if (combine_dice(f, 2) == 0)
			for (i = 0; i < n; i++)
				f->in[i][at + a->word - 1] =
					(char)(f->in[i][at + a->word - 1] /
						(char)n);
	}
}

static void compare_integers(struct combine_test *f, const struct coll_arith *a,
	uint32_t n, uint32_t bytes)
{
	bool is_signed = a->type == COLL_SIGNED, want = false;
	struct number x, y;
	char right[BYTES];

	fill(f, a, n, bytes);
	for (uint32_t at = 0; at < bytes; at += a->word) {
		read_number(&x, &f->in[0][at], a->word, is_signed);
		for (uint32_t i = 1; i < n; i++) {
			read_number(&y, &f->in[i][at], a->word, is_signed);
			put_together(&x, &y, a->op);
		}
		want |= write_number(right + at, &x, a->word, is_signed);
	}
	assert_int_equal(combine_all_ways(f, a, n, bytes), want);
	assert_memory_equal(f->out, right, bytes);
}

/* A word, and where it is short more of them. */
static void compare_lengths(struct combine_test *f, struct coll_arith a)
{
	uint32_t words;

	for (a.word = 4; a.word <= BYTES; a.word *= 2)
		for (uint32_t n = 1; n <= COLL_MAX_INPUTS; n++) {
			words = 1 + combine_dice(f, 1 + 32u / a.word);
			compare_integers(f, &a, n, words * a.word);
		}
}

static void bgq_f45_integers_and_bits_are_as_long_numbers_say(void **state)
{
	static const enum coll_op ops[] = { COLL_ADD, COLL_MIN, COLL_MAX };
	static const enum coll_op bitwise[] = { COLL_AND, COLL_OR, COLL_XOR };
	struct combine_test f;

	combine_set_up(&f, 1);
	for (uint32_t i = 0; i < 3; i++) {
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

static void a_sum_that_does_not_fit_raises_the_flag(void **state)
{
	uint32_t x;

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

	assert_false(coll_combine(&a, &sum, from, 3, 8));
	assert_true(sum == INT64_MAX);
}

static void bgq_f53_twelve_inputs_are_merged_in_one_hop(void **state)
{
	struct coll_arith a = { COLL_OR, COLL_BITS, 4 };
	struct combine_test f;
	uint32_t out;

	combine_set_up(&f, 5);
	for (uint32_t i = 0; i < 12; i++)
		f.in[i][i / 8] = (char)(1 << i % 8);
	assert_false(combine_all_ways(&f, &a, 12, 4));
	memcpy(&out, f.out, 4);
	assert_int_equal(out, 0xfff);
}

static void a_broadcast_copies_what_is_no_double_bit_by_bit(void **state)
{
	struct coll_arith a = { COLL_BROADCAST, COLL_SIGNED, 16 };
	struct combine_test f;

	combine_set_up(&f, 6);
	for (uint32_t i = 0; i < BYTES; i++)
		f.in[0][i] = (char)-1; /* a NaN, if it were doubles */
	assert_false(combine_all_ways(&f, &a, 1, BYTES));
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

TESTS(TEST(bgq_f45_integers_and_bits_are_as_long_numbers_say),
	TEST(a_sum_that_does_not_fit_raises_the_flag),
	TEST(a_sum_may_leave_its_range_on_the_way),
	TEST(bgq_f53_twelve_inputs_are_merged_in_one_hop),
	TEST(a_broadcast_copies_what_is_no_double_bit_by_bit),
	TEST(what_the_hardware_has_no_adder_for_is_refused))
