/* Processes that share a room, all played by this one. */
#define _GNU_SOURCE
#include "sim/room.h"

#include <string.h>

#include "base/mem.h"
#include "testing/testing.h"

enum { MOST = 3, LEAD = 4 };

struct guests {
	struct cluster c[MOST];
	struct room *room[MOST];
	struct room_ways *ways;
	uint8_t lead[MOST * MOST];
	void *memory;
	uint32_t n;
	struct cluster_bytes in;
};

static void enter(struct guests *g, uint32_t n)
{
	*g = (struct guests){ .n = n, .memory = map_alloc(room_size(n)) };
	memset(g->lead, LEAD, sizeof(g->lead));
	g->ways = room_ways_new(g->lead, n);
	for (uint32_t i = 0; i < n; i++) {
		g->c[i] = (struct cluster){ .me = i, .n = n };
		g->room[i] = room_open(g->memory, &g->c[i]);
		room_enter(g->room[i], g->ways, g->lead, 0);
	}
}

static void leave(struct guests *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		room_close(g->room[i]);
	room_ways_free(g->ways);
	cluster_bytes_free(&g->in);
	map_free(g->memory, room_size(g->n));
}

static void put(struct guests *g, uint32_t from, uint32_t to, uint64_t due)
{
	assert_int_equal(room_put(g->room[from], to, "mail", 4), 4);
	room_due(g->room[from], to, due);
}

static uint64_t horizon_of(const struct guests *g, uint32_t i)
{
	struct room_view v;

	assert_true(room_look(g->room[i], &v));
	return v.horizon;
}

static void mail_on_its_way_has_an_answer(void **state)
{
	struct guests g;

	enter(&g, 3);
	for (uint32_t i = 0; i < 3; i++)
		room_end(g.room[i], i ? ROOM_NEVER : 10, false);
	assert_int_equal(horizon_of(&g, 1), 10 + LEAD);
	put(&g, 0, 2, 20);
	assert_false(room_get(g.room[2], 0, &g.in)); /* not yet */
	room_end(g.room[0], ROOM_NEVER, false);
	assert_int_equal(horizon_of(&g, 0), 20 + LEAD);
	assert_int_equal(horizon_of(&g, 1), 20 + LEAD);
	assert_int_equal(room_left(g.room[2]), 20);
	assert_true(room_get(g.room[2], 0, &g.in));
	assert_memory_equal(g.in.at, "mail", 4);
	assert_int_equal(horizon_of(&g, 1), 20 + LEAD); /* nobody knows */
	put(&g, 0, 2, 30);
	room_end(g.room[0], ROOM_NEVER, false);
	room_end(g.room[2], ROOM_NEVER, false);
	assert_in_range(horizon_of(&g, 1), 20 + LEAD, 30 + LEAD);
	assert_true(room_get(g.room[2], 0, &g.in));
	room_end(g.room[2], ROOM_NEVER, false);
	assert_int_equal(horizon_of(&g, 1), ROOM_NEVER);
	leave(&g);
	(void)state;
}

static void who_rests_does_not_answer(void **state)
{
	struct guests g;

	enter(&g, 2);
	assert_false(room_is_resting(g.room[0], 1, 20));
	room_end(g.room[1], 30, true);
	assert_true(room_is_resting(g.room[0], 1, 29));
	assert_false(room_is_resting(g.room[0], 1, 30)); /* it may do more */
	put(&g, 0, 1, ROOM_NEVER);
	room_end(g.room[0], ROOM_NEVER, false);
	assert_true(room_is_resting(g.room[0], 1, 29));
	assert_int_equal(horizon_of(&g, 0), 30 + LEAD);
	put(&g, 0, 1, 25);
	room_end(g.room[0], ROOM_NEVER, false);
	assert_false(room_is_resting(g.room[0], 1, 29)); /* it is stirred */
	assert_int_equal(horizon_of(&g, 0), 25 + LEAD);
	assert_true(room_get(g.room[1], 0, &g.in));
	room_end(g.room[1], 30, false);
	assert_false(room_is_resting(g.room[0], 1, 29));
	leave(&g);
	(void)state;
}

static void nobody_rests_for_one_of_several(void **state)
{
	struct guests g;

	enter(&g, 3);
	room_end(g.room[1], ROOM_NEVER, true);
	assert_false(room_may_rest(g.room[1]));
	assert_false(room_is_resting(g.room[0], 1, 20));
	leave(&g);
	(void)state;
}

TESTS(TEST(mail_on_its_way_has_an_answer), TEST(who_rests_does_not_answer),
	TEST(nobody_rests_for_one_of_several))
