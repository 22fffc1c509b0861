/* BGQ-F38, BGQ-G4: what can lock is told, and what cannot is proved. */
#include <string.h>

#include "base/mem.h"
#include "route/cdg.h"
#include "route/hint_deps.h"
#include "route/hint_testing.h"
#include "net/proof.h"
#include "testing/testing.h"

static void prove(
	struct proof *p, const struct hint_machine *m, int64_t packets)
{
	proof_make(p, &m->t.topo, &m->h.route, NULL, packets);
}

/* Each channel of a cycle ends where the next one begins, and some packet
 * may wait there for it. */
static void is_true_cycle(
	const struct hint_machine *m, const struct proof_step *s)
{
	struct hint_deps d;

	assert_true(s->n_cycle > 0);
	hint_deps_init(&d, &m->h,
		s->letter == 'c' ? HINT_DEPS_DYNAMIC : HINT_DEPS_ESCAPE);
	for (uint32_t i = 0; i < s->n_cycle; i++) {
		const struct proof_channel *c = &s->cycle[i];
		const struct proof_channel *o = &s->cycle[(i + 1) % s->n_cycle];
		struct topo_end far =
			torus_ops.peer(&m->t.topo, c->router, c->port);

		assert_int_equal(far.router, o->router);
		assert_int_equal(c->channel, o->channel);
		assert_true(
			hint_deps_after(&d, c->router, c->port) >> o->port & 1);
	}
	hint_deps_fini(&d);
}

/* Which steps fail, as text. */
static void failing(
	const struct hint_machine *m, int64_t packets, char *letters)
{
	const char *first = letters;
	struct proof p;

	prove(&p, m, packets);
	for (int i = 0; i < (int)p.n_steps; i++) {
		const struct proof_step *s = &p.step[i];

		assert_int_equal(s->letter, 'a' + i);
		assert_true(s->what && s->why[0]);
		if (!s->holds)
			*letters++ = s->letter;
		if (s->n_cycle) {
			assert_false(s->holds);
			is_true_cycle(m, s);
		}
	}
	*letters = '\0';
	assert_int_equal(p.is_proved, letters == first);
	proof_free(&p);
}

static void expect_packets(
	const struct hint_how *how, int64_t packets, const char *letters)
{
	struct hint_machine m;
	char got[PROOF_STEPS + 1];

	hint_make(&m, how);
	failing(&m, packets, got);
	if (strcmp(got, letters) != 0)
		fail_msg("%s: \"%s\" fail, not \"%s\"", how->shape, got,
			letters);
	hint_unmake(&m);
}

static void expect(const struct hint_how *how, const char *letters)
{
	expect_packets(how, 8, letters);
}

static void tori_with_the_bubble_are_proved(void **state)
{
	static const char *const shapes[] = { "1", "2", "3", "8", "4x3",
		"2x2x2", "4x4x4x4x2", "8x8", "5x7x3", "2x2x2x2x2x2" };
	static const char *const orders[] = { "A", "BA", "CBA", "BAC" };

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		expect(&(struct hint_how){ .shape = shapes[i] }, "");
		expect(&(struct hint_how){ .shape = shapes[i], .wrap = "mesh" },
			"");
		expect(&(struct hint_how){ .shape = shapes[i],
			       .wrap = "loop",
			       .ties = "random" },
			"");
	}
	expect(&(struct hint_how){ .shape = "8", .order = orders[0] }, "");
	expect(&(struct hint_how){ .shape = "8x4", .order = orders[1] }, "");
	expect(&(struct hint_how){ .shape = "8x4x2", .order = orders[2] }, "");
	expect(&(struct hint_how){ .shape = "8x4x2", .order = orders[3] }, "");
}

static void rings_without_it_can_lock(void **state)
{
	static const char *const shapes[] = { "5", "6", "8", "4x3", "8x8",
		"2x5", "4x4x4x4x2" };

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		expect(&(struct hint_how){ .shape = shapes[i], .bubble = "no" },
			"a");
	expect(
		&(struct hint_how){
			.shape = "4x8", .wrap = "mesh,torus", .bubble = "no" },
		"a");
}

/* Minimal routes go one hop in rings of two and three, and two hops in a
 * ring of four only from every other source. */
static void some_rings_need_no_bubble(void **state)
{
	static const char *const shapes[] = { "1", "2", "3", "4", "2x2x2",
		"3x3", "3x2x3", "2x2x2x2x2" };

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		expect(&(struct hint_how){ .shape = shapes[i], .bubble = "no" },
			"");
	expect(
		&(struct hint_how){
			.shape = "8x8x8", .wrap = "mesh", .bubble = "no" },
		"");
	expect(
		&(struct hint_how){
			.shape = "4", .ties = "plus", .bubble = "no" },
		"a");
	expect(
		&(struct hint_how){
			.shape = "4", .ties = "random", .bubble = "no" },
		"a");
}

static void a_ring_needs_room_for_two(void **state)
{
	expect_packets(&(struct hint_how){ .shape = "8x8" }, 2, "");
	expect_packets(&(struct hint_how){ .shape = "8x8" }, 1, "a");
	expect_packets(
		&(struct hint_how){ .shape = "3x3", .bubble = "no" }, 1, "");
}

static void without_escapes_dynamic_channels_can_lock(void **state)
{
	expect(&(struct hint_how){ .shape = "8", .escape = "no" }, "c");
	expect(&(struct hint_how){ .shape = "4x4", .escape = "no" }, "c");
	expect(
		&(struct hint_how){
			.shape = "4x4", .wrap = "mesh", .escape = "no" },
		"c");
	expect(
		&(struct hint_how){
			.shape = "8x8", .bubble = "no", .escape = "no" },
		"ac");
}

/* In an order of dimensions on a mesh there is nothing to escape from. */
static void some_dynamic_channels_need_no_escape(void **state)
{
	expect(&(struct hint_how){ .shape = "3", .escape = "no" }, "");
	expect(
		&(struct hint_how){
			.shape = "8", .wrap = "mesh", .escape = "no" },
		"");
	expect(&(struct hint_how){ .shape = "8x8x4",
		       .wrap = "mesh",
		       .zones = "order",
		       .escape = "no" },
		"");
	expect(&(struct hint_how){ .shape = "8x8x4",
		       .wrap = "mesh",
		       .zones = "AB,C",
		       .escape = "no" },
		"c");
}

/* Every channel of the whole machine, to compare with rings. */
struct channels {
	const struct hint_machine *m;
	struct hint_deps deps;
};

static uint32_t next_channel(const void *arg, uint32_t v, uint32_t *at)
{
	const struct channels *c = arg;
	uint32_t n_ports = c->m->t.topo.n_ports, q;
	uint32_t m = hint_deps_after(&c->deps, v / n_ports, v % n_ports);

	m = m >> *at << *at;
	if (!m)
		return CDG_NONE;
	q = (uint32_t)__builtin_ctz(m);
	*at = q + 1;
	return torus_ops.peer(&c->m->t.topo, v / n_ports, v % n_ports).router *
		       n_ports +
	       q;
}

/* Without the bubble, a and b together say what the channels' graph says. */
static void rings_say_what_channels_say(void **state)
{
	static const char *const shapes[] = { "3", "4", "5", "4x3", "2x4",
		"2x2x2", "4x2x2", "3x3x3", "2x3x4", "5x2" };
	static const char *const wraps[] = { "torus", "mesh", "torus,mesh",
		"mesh,torus" };
	size_t j;

	for (size_t i = 0; i < 40; i++) {
		struct hint_machine m;
		struct channels c = { .m = &m };
		struct cdg g = { .arg = &c, .next = next_channel };
		struct cdg_cycle found;
		char got[PROOF_STEPS + 1];

		j = i / 10;
		hint_make(&m, &(struct hint_how){ .shape = shapes[i % 10],
				      .wrap = wraps[j],
				      .bubble = "no",
				      .zones = i % 3 ? "none" : "order" });
		hint_deps_init(&c.deps, &m.h, HINT_DEPS_ESCAPE);
		g.n = m.t.topo.n_routers * m.t.topo.n_ports;
		found = cdg_find_cycle(&g);
		failing(&m, 8, got);
		assert_int_equal(found.n != 0, got[0] != '\0');
		mem_free(found.vertex);
		hint_deps_fini(&c.deps);
		hint_unmake(&m);
	}
}

enum { A_PLUS = 1, A_MINUS = 2, B_PLUS = 4, B_MINUS = 8 };

/* A table that turns in a circle, as no order of dimensions would. */
static void turns_in_a_circle_are_found(void **state)
{
	struct hint_machine m;
	struct proof p;

	hint_make(&m, &(struct hint_how){ .shape = "6x6" });
	m.h.first[A_PLUS | B_PLUS] = 0;
	m.h.first[A_MINUS | B_PLUS] = 2;
	m.h.first[A_MINUS | B_MINUS] = 1;
	m.h.first[A_PLUS | B_MINUS] = 3;
	prove(&p, &m, 8);
	assert_false(p.is_proved);
	assert_true(p.step[0].holds);
	assert_false(p.step[1].holds);
	is_true_cycle(&m, &p.step[1]);
	assert_true(p.step[1].n_cycle >= 4);
	assert_true(p.step[2].holds);
	assert_true(p.step[3].holds);
	proof_free(&p);
	hint_unmake(&m);
}

static void holes_in_the_tables_are_found(void **state)
{
	struct hint_machine m;
	char got[PROOF_STEPS + 1];

	hint_make(&m, &(struct hint_how){ .shape = "5x5" });
	m.h.allowed[2][A_PLUS | B_MINUS] = 0;
	failing(&m, 8, got);
	assert_string_equal(got, "c");
	m.h.allowed[2][A_PLUS | B_MINUS] = A_MINUS;
	failing(&m, 8, got);
	assert_string_equal(got, "c");
	hint_unmake(&m);

	hint_make(&m, &(struct hint_how){ .shape = "5x5" });
	m.h.first[B_PLUS] = PACKET_NO_PORT;
	failing(&m, 8, got);
	assert_string_equal(got, "cd");
	hint_unmake(&m);
}

/* Over the IO link with something left to go, or again after it. */
static void io_links_are_the_first_or_the_last(void **state)
{
	struct hint_machine m;
	char got[PROOF_STEPS + 1];
	struct err e = { 0 };
	uint32_t to;

	hint_defaults(&m);
	hint_set_shape(&m, "4x4", TORUS_WRAP);
	m.t.io_every = 4;
	assert_int_equal(hint_try(&m, &e), 0);
	failing(&m, 8, got);
	assert_string_equal(got, "");
	to = m.h.to_io;
	m.h.first[to | A_PLUS] = 4;
	failing(&m, 8, got);
	assert_string_equal(got, "e");
	m.h.first[to | A_PLUS] = 0;
	m.h.tables.rest[4] = (uint16_t)~m.h.from_io;
	failing(&m, 8, got);
	assert_string_equal(got, "e");
	hint_unmake(&m);
}

/* BGQ-F38: 20 petaflops: 96 racks. */
static void the_largest_machine_is_proved(void **state)
{
	struct hint_machine m;
	struct proof p;

	hint_make(&m, &(struct hint_how){ .shape = "16x16x16x12x2" });
	prove(&p, &m, 8);
	assert_true(p.is_proved);
	assert_int_equal(p.n_rings, 98304 / 16 * 6 + 98304 / 12 * 2 + 98304);
	assert_int_equal(p.n_closed, p.n_rings);
	assert_int_equal(p.n_turns, 98304 * 2 * 2 * (4 + 3 + 2 + 1));
	assert_int_equal(p.n_hint_sets, 242);
	proof_free(&p);
	hint_unmake(&m);
}

static void channels_have_names(void **state)
{
	struct proof_channel c = { .router = 3, .port = 1, .channel = 2 };
	struct hint_machine m;
	char text[128];

	hint_make(&m, &(struct hint_how){ .shape = "4x2" });
	proof_name(&m.t.topo, &m.h.route, &c, text, sizeof(text));
	assert_string_equal(
		text, "node 3 (3,0) by A- to node 2 (2,0), channel high");
	hint_unmake(&m);
}

/* --- routers and interfaces --- */

static struct proof wait_for(const struct net_stage *stage,
	uint32_t of_requests, uint32_t of_answers)
{
	static const char *const names[] = { "request", "response" };
	struct proof_waits w = { .stage = stage,
		.n_stages = 3,
		.channel = names,
		.n_channels = 2,
		.answers = { of_requests, of_answers } };
	struct proof p = { .is_proved = true };

	proof_waits(&p, &w);
	assert_int_equal(p.n_steps, 2);
	assert_int_equal(p.is_proved, p.step[0].holds && p.step[1].holds);
	return p;
}

/* Tokens that are asked for behind a buffer which all share; a buffer that
 * waits for the one before it. */
static void nothing_inside_a_router_may_wait_for_room_elsewhere(void **state)
{
	static const struct net_stage good[] = { { "input", 2, true, 0 },
		{ "row", 4, false, 0 }, { "output", 0, false, 0 } };
	static const struct net_stage late[] = { { "input", 2, false, 0 },
		{ "row", 4, false, 0 }, { "output", 0, true, 0 } };
	static const struct net_stage round[] = { { "input", 2, true, 0 },
		{ "row", 4, false, 0 }, { "output", 2, false, 0 } };

	assert_true(wait_for(good, 2, 0).is_proved);
	assert_false(wait_for(late, 2, 0).step[0].holds);
	assert_false(wait_for(round, 2, 0).step[0].holds);
	assert_true(wait_for(late, 2, 0).step[1].holds);
}

/* Requests wait for responses: not the reverse, and not for requests. */
static void responses_may_not_wait_for_requests(void **state)
{
	static const struct net_stage stage[] = { { "input", 2, true, 0 },
		{ "row", 4, false, 0 }, { "output", 0, false, 0 } };

	assert_true(wait_for(stage, 0, 0).is_proved);
	assert_true(wait_for(stage, 2, 0).is_proved);
	assert_false(wait_for(stage, 2, 1).is_proved);
	assert_false(wait_for(stage, 1, 0).is_proved);
	assert_false(wait_for(stage, 2, 2).is_proved);
}

TESTS(TEST(tori_with_the_bubble_are_proved), TEST(rings_without_it_can_lock),
	TEST(some_rings_need_no_bubble), TEST(a_ring_needs_room_for_two),
	TEST(without_escapes_dynamic_channels_can_lock),
	TEST(some_dynamic_channels_need_no_escape),
	TEST(rings_say_what_channels_say), TEST(turns_in_a_circle_are_found),
	TEST(holes_in_the_tables_are_found),
	TEST(io_links_are_the_first_or_the_last),
	TEST(the_largest_machine_is_proved), TEST(channels_have_names),
	TEST(nothing_inside_a_router_may_wait_for_room_elsewhere),
	TEST(responses_may_not_wait_for_requests))
