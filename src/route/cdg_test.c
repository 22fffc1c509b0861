#include <stdbool.h>

#include "base/mem.h"
#include "route/cdg.h"
#include "sim/random.h"
#include "testing/testing.h"

enum { MOST = 48 };

/* A graph as a table: bit w of edge[v] leads from v to w. */
struct table {
	uint32_t n;
	uint64_t edge[MOST];
};

static uint32_t table_next(const void *arg, uint32_t v, uint32_t *at)
{
	const struct table *t = arg;

	while (*at < t->n) {
		uint32_t to = (*at)++;

		if (t->edge[v] >> to & 1)
			return to;
	}
	return CDG_NONE;
}

static struct cdg graph_of(const struct table *t)
{
	return (struct cdg){ .n = t->n, .arg = t, .next = table_next };
}

/* The slow and obvious way: takes away what waits for nobody. */
static bool has_cycle(struct table t)
{
	uint64_t left = (UINT64_C(1) << t.n) - 1, before;

	do {
		before = left;
		for (uint32_t v = 0; v < t.n; v++)
			if (!(t.edge[v] & left))
				left &= ~(UINT64_C(1) << v);
	} while (left != before);
	return left != 0;
}

static void draw_table(struct table *t, uint64_t *k)
{
	uint32_t share;

	t->n = 1 + (uint32_t)random_below(
			   random_draw(5, 0, RANDOM_TEST, (*k)++).a, MOST);
	share = (uint32_t)random_below(
		random_draw(5, 0, RANDOM_TEST, (*k)++).a, 12);
	for (uint32_t v = 0; v < t->n; v++) {
		t->edge[v] = 0;
		for (uint32_t w = 0; w < t->n; w++) {
			uint64_t r = random_draw(5, 0, RANDOM_TEST, (*k)++).a;

			/* mostly downwards, so that many have no cycle */
			if (random_below(r, 100) < share &&
				(w > v || random_below(r << 8, 40) == 0))
				t->edge[v] |= UINT64_C(1) << w;
		}
	}
}

/* Every step is an edge, and no vertex comes twice. */
static void is_cycle(const struct table *t, const struct cdg_cycle *c)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t v = c->vertex[i], w = c->vertex[(i + 1) % c->n];

		assert_true(v < t->n);
		assert_true(t->edge[v] >> w & 1);
		assert_false(seen >> v & 1);
		seen |= UINT64_C(1) << v;
	}
}

static void cycles_are_found_where_there_are_any(void **state)
{
	uint32_t with = 0, n = 4000;
	struct table t;
	uint64_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct cdg_cycle c;
		struct cdg g;

		draw_table(&t, &k);
		g = graph_of(&t);
		c = cdg_find_cycle(&g);
		assert_int_equal(c.n != 0, has_cycle(t));
		with += c.n != 0;
		is_cycle(&t, &c);
		mem_free(c.vertex);
	}
	assert_true(with > n / 10 && with < n - n / 10);
}

static void all_edges_are_counted_where_there_is_none(void **state)
{
	struct table t = { .n = 4, .edge = { 14, 12, 8, 0 } };
	struct cdg g = graph_of(&t);
	struct cdg_cycle c = cdg_find_cycle(&g);

	assert_int_equal(c.n, 0);
	assert_int_equal(c.n_edges, 6);
	assert_null(c.vertex);
}

static void a_vertex_can_wait_for_itself(void **state)
{
	struct table t = { .n = 3, .edge = { 2, 6, 0 } };
	struct cdg g = graph_of(&t);
	struct cdg_cycle c = cdg_find_cycle(&g);

	assert_int_equal(c.n, 1);
	assert_int_equal(c.vertex[0], 1);
	mem_free(c.vertex);
}

/* 0 -> 1 -> ... -> 9 -> 0, and a way back from 2 to 0. */
static void the_short_way_round_is_told(void **state)
{
	struct table t = { .n = 10 };
	struct cdg_cycle c;
	struct cdg g;

	for (uint32_t v = 0; v < t.n; v++)
		t.edge[v] = UINT64_C(1) << (v + 1) % t.n;
	t.edge[2] |= 1;
	g = graph_of(&t);
	c = cdg_find_cycle(&g);
	assert_int_equal(c.n, 3);
	is_cycle(&t, &c);
	mem_free(c.vertex);
}

static uint32_t line_next(const void *arg, uint32_t v, uint32_t *at)
{
	uint32_t n = *(const uint32_t *)arg;

	if ((*at)++ || v + 1 >= n)
		return CDG_NONE;
	return v + 1;
}

static uint32_t ring_next(const void *arg, uint32_t v, uint32_t *at)
{
	uint32_t n = *(const uint32_t *)arg;

	return (*at)++ ? CDG_NONE : (v + 1) % n;
}

/* A path as long as the graph needs no stack. */
static void paths_may_be_long(void **state)
{
	uint32_t n = 2000000;
	struct cdg g = { .n = n, .arg = &n, .next = line_next };
	struct cdg_cycle c = cdg_find_cycle(&g);

	assert_int_equal(c.n, 0);
	assert_int_equal(c.n_edges, n - 1);
	g.next = ring_next;
	c = cdg_find_cycle(&g);
	assert_int_equal(c.n, n);
	mem_free(c.vertex);
}

static void an_empty_graph_has_no_cycle(void **state)
{
	uint32_t n = 0;
	struct cdg g = { .n = n, .arg = &n, .next = line_next };

	assert_int_equal(cdg_find_cycle(&g).n, 0);
}

TESTS(TEST(cycles_are_found_where_there_are_any),
	TEST(all_edges_are_counted_where_there_is_none),
	TEST(a_vertex_can_wait_for_itself), TEST(the_short_way_round_is_told),
	TEST(paths_may_be_long), TEST(an_empty_graph_has_no_cycle))
