#include <string.h>

#include "coll/combine_testing.h"
#include "testing/testing.h"

uint32_t combine_dice(struct combine_test *f, uint32_t below)
{
	return dice(f->seed, &f->n, below);
}

uint64_t combine_bits(struct combine_test *f)
{
	return random_draw(f->seed, 1, RANDOM_TEST, f->n++).a;
}

void combine_set_up(struct combine_test *f, uint64_t seed)
{
	memset(f, 0, sizeof(*f));
	f->seed = seed;
}

static void shuffle(struct combine_test *f, uint32_t n)
{
	while (n > 1) {
		uint32_t i = combine_dice(f, n--);
		const void *p = f->from[i];

		f->from[i] = f->from[n];
		f->from[n] = p;
	}
}

bool combine_all_ways(struct combine_test *f, const struct coll_arith *a,
	uint32_t n, uint32_t bytes)
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
	i = combine_dice(f, n);
	one = f->in[((const char *)f->from[i] - f->in[0]) / COMBINE_BYTES];
	memcpy(f->again, one, bytes);
	assert_int_equal(coll_combine(a, one, f->from, n, bytes), flag);
	assert_memory_equal(one, f->out, bytes);
	memcpy(one, f->again, bytes);
	return flag;
}
