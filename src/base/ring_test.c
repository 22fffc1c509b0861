#include "base/ring.h"
#include "testing/testing.h"

struct item {
	uint64_t number;
	char rest[9];
};

static void push(struct ring *r, uint64_t number)
{
	struct item *x = ring_push(r);

	x->number = number;
	x->rest[8] = (char)number;
}

static uint64_t pop(struct ring *r)
{
	struct item *x = ring_pop(r);

	assert_int_equal(x->rest[8], (char)x->number);
	return x->number;
}

static void what_comes_first_goes_first(void **state)
{
	uint64_t in = 0, out = 0;
	struct ring r;

	ring_init(&r, sizeof(struct item));
	/* three in, two out, so that it grows from every first place */
	for (uint32_t i = 0; i < 1000; i++) {
		for (uint32_t k = 0; k < 3; k++)
			push(&r, in++);
		for (uint32_t k = 0; k < 2; k++)
			assert_int_equal(pop(&r), out++);
		assert_int_equal(r.n, in - out);
	}
	while (r.n)
		assert_int_equal(pop(&r), out++);
	assert_int_equal(in, out);
	ring_fini(&r);
}

static void items_are_found_by_their_place_from_the_front(void **state)
{
	struct ring r;

	ring_init(&r, sizeof(struct item));
	for (uint32_t i = 0; i < 13; i++)
		push(&r, i);
	for (uint32_t i = 0; i < 7; i++)
		pop(&r);
	for (uint32_t i = 13; i < 20; i++)
		push(&r, i);
	for (uint32_t i = 0; i < r.n; i++)
		assert_int_equal(
			((const struct item *)ring_at(&r, i))->number, 7 + i);
	ring_fini(&r);
}

static void a_ring_that_stays_short_does_not_grow(void **state)
{
	struct ring r;
	uint64_t room;

	ring_init(&r, sizeof(struct item));
	assert_int_equal(ring_memory(&r), 0);
	push(&r, 0);
	room = ring_memory(&r);
	for (uint64_t i = 0; i < 100000; i++) {
		push(&r, i + 1);
		assert_int_equal(pop(&r), i);
	}
	assert_int_equal(ring_memory(&r), room);
	ring_fini(&r);
	assert_int_equal(ring_memory(&r), 0);
}

static void places_survive_the_wrap_of_their_numbers(void **state)
{
	struct ring r;

	ring_init(&r, sizeof(struct item));
	push(&r, 0);
	pop(&r);
	r.first = UINT32_MAX - 1;
	for (uint32_t i = 0; i < 9; i++)
		push(&r, i);
	for (uint32_t i = 0; i < 9; i++)
		assert_int_equal(pop(&r), i);
	ring_fini(&r);
}

TESTS(TEST(what_comes_first_goes_first),
	TEST(items_are_found_by_their_place_from_the_front),
	TEST(a_ring_that_stays_short_does_not_grow),
	TEST(places_survive_the_wrap_of_their_numbers))
