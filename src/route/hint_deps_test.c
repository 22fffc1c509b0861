/*
 * The edges of the dependency graph are those that come out when every
 * minimal route of every pair of routers is walked.
 */
#include <string.h>

#include "base/mem.h"
#include "route/hint_deps.h"
#include "route/hint_testing.h"
#include "testing/testing.h"

enum { MOST_ROUTERS = 256, LOTS = 64 };

/* --- walking --- */

struct walk {
	struct hint_machine *m;
	enum hint_deps_of of;
	uint16_t after[MOST_ROUTERS][TOPO_MAX_PORTS];
	uint16_t used[MOST_ROUTERS];
	bool seen[MOST_ROUTERS]; /* by the packets of one source and target */
};

static router_id hop(
	const struct walk *w, router_id r, struct packet *p, port_id port)
{
	struct topo_end far = torus_ops.peer(&w->m->t.topo, r, port);

	assert_int_not_equal(far.router, NO_ROUTER);
	route_arrive(&w->m->h.route, p, far.router, far.port);
	return far.router;
}

/* Notes what a packet that leaves r by a port asks for next. */
static void note(
	struct walk *w, router_id r, const struct packet *p, port_id port)
{
	struct packet q = *p;

	hop(w, r, &q, port);
	w->used[r] |= (uint16_t)(1u << port);
	if (w->of == HINT_DEPS_DYNAMIC)
		w->after[r][port] |= q.ask;
	else if (q.escape != PACKET_NO_PORT)
		w->after[r][port] |= (uint16_t)(1u << q.escape);
}

static void walk_ordered(struct walk *w, struct packet p)
{
	router_id r = p.src;

	while (p.escape != PACKET_NO_PORT) {
		note(w, r, &p, p.escape);
		r = hop(w, r, &p, p.escape);
	}
	assert_int_equal(r, p.dst);
}

/* All ways that an adaptive packet may take.  What is left to go follows from
 * where it is, so a router needs to be looked at once. */
static void walk_dynamic(struct walk *w, router_id r, struct packet p)
{
	bool escapes = w->m->h.route.has_escape;
	uint32_t ports = p.ask;

	if (w->seen[r])
		return;
	w->seen[r] = true;
	if (p.escape == PACKET_NO_PORT)
		return;
	if (escapes)
		ports |= 1u << p.escape;
	for (uint32_t m = ports; m; m &= m - 1) {
		port_id port = (port_id)__builtin_ctz(m);
		struct packet q = p;

		if (w->of == HINT_DEPS_DYNAMIC ? p.ask >> port & 1
					       : port == p.escape && escapes)
			note(w, r, &p, port);
		walk_dynamic(w, hop(w, r, &q, port), q);
	}
}

static void walk_pair(struct walk *w, router_id from, router_id to)
{
	uint32_t lots = w->m->h.ties == GRID_TIES_RANDOM ? LOTS : 1;

	for (uint32_t k = 0; k < lots; k++) {
		struct packet p = { .src = from, .dst = to, .number = k };
		struct packet q = p;

		/* By lot, a flow that is in order keeps to one way; the proof
		 * holds for either, so draw it as for a dynamic packet. */
		route_begin(&w->m->h.route, &p);
		p.kind = PACKET_DETERMINISTIC;
		route_look_up(w->m->h.route.tables, &p);
		if (w->of != HINT_DEPS_DYNAMIC)
			walk_ordered(w, p);
		for (uint32_t zone = 0; zone < HINT_ZONE_SETS; zone++) {
			p = q;
			p.kind = PACKET_DYNAMIC;
			p.zone = (uint8_t)zone;
			route_begin(&w->m->h.route, &p);
			memset(w->seen, 0, sizeof(w->seen));
			if (w->of != HINT_DEPS_ORDERED)
				walk_dynamic(w, from, p);
		}
	}
}

static void compare(
	struct hint_machine *m, enum hint_deps_of of, const char *shape)
{
	struct walk *w = mem_alloc(1, sizeof(*w));
	router_id n = m->t.topo.n_routers;
	struct hint_deps d;

	w->m = m;
	w->of = of;
	for (router_id r = 0; r < n; r++)
		for (router_id to = 0; to < n; to++)
			walk_pair(w, r, to);
	hint_deps_init(&d, &m->h, of);
	for (router_id r = 0; r < n; r++) {
		if (hint_deps_used(&d, r) != w->used[r])
			fail_msg("%s, kind %d, router %u: uses %x, not %x",
				shape, of, r, w->used[r],
				hint_deps_used(&d, r));
		for (port_id p = 0; p < m->t.topo.n_ports; p++)
			if (hint_deps_after(&d, r, p) != w->after[r][p])
				fail_msg("%s, kind %d, router %u, port %u: "
					 "%x may follow, not %x",
					shape, of, r, p, w->after[r][p],
					hint_deps_after(&d, r, p));
	}
	hint_deps_fini(&d);
	mem_free(w);
}

static void compare_all(const struct hint_how *how)
{
	struct hint_machine m;

	hint_make(&m, how);
	assert_true(m.t.topo.n_routers <= MOST_ROUTERS);
	compare(&m, HINT_DEPS_ORDERED, how->shape);
	compare(&m, HINT_DEPS_ESCAPE, how->shape);
	compare(&m, HINT_DEPS_DYNAMIC, how->shape);
	hint_unmake(&m);
}

/* BGQ-F33 to BGQ-F36 */
static void edges_are_those_of_all_routes(void **state)
{
	static const char *const shapes[] = { "1", "2", "3", "4", "5", "6", "8",
		"4x3", "2x2x2", "4x4", "2x4", "5x4", "3x3x2", "3x2x4", "5x2x2",
		"1x4x2", "2x2x2x2", "7x4", "4x4x4", "3x5x4" };

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		compare_all(&(struct hint_how){ .shape = shapes[i] });
}

static void edges_of_meshes_are(void **state)
{
	static const char *const shapes[] = { "2", "3", "4", "5", "4x3",
		"2x2x2", "4x5", "3x2x4" };

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		compare_all(&(struct hint_how){
			.shape = shapes[i], .wrap = "mesh" });
		compare_all(&(struct hint_how){
			.shape = shapes[i], .wrap = "mesh,torus" });
		compare_all(&(struct hint_how){
			.shape = shapes[i], .wrap = "torus,mesh" });
		compare_all(&(struct hint_how){
			.shape = shapes[i], .wrap = "loop" });
	}
}

/* Without a set of zones that allows everything, sources are not free. */
static void edges_under_zones_are(void **state)
{
	static const char *const shapes[] = { "4x2x4", "2x4x3", "2x2x4",
		"4x4x2", "5x2x4", "3x4x4" };
	static const char *const zones[] = { "none", "longest-first", "order",
		"A,BC", "AB,C", "C,B,A", "BC,A" };
	static const char *const orders[] = { "longest-first", "ABC", "CBA",
		"BAC", "CAB" };

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (size_t j = 0; j < sizeof(zones) / sizeof(zones[0]); j++)
			for (size_t k = 0;
				k < sizeof(orders) / sizeof(orders[0]); k++)
				compare_all(&(struct hint_how){
					.shape = shapes[i],
					.zones = zones[j],
					.order = orders[k],
					.escape = (j + k) % 2 ? "yes" : "no",
				});
}

static void edges_of_other_ties_are(void **state)
{
	static const char *const shapes[] = { "2", "4", "5", "6", "4x3",
		"2x2x2", "4x4", "2x4" };

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		compare_all(&(struct hint_how){
			.shape = shapes[i], .ties = "plus" });
		compare_all(&(struct hint_how){
			.shape = shapes[i], .ties = "random" });
		compare_all(&(struct hint_how){
			.shape = shapes[i], .ties = "random", .escape = "no" });
	}
}

/* So the proof for the escape channel covers the other ring channels. */
static void escapes_only_add_edges(void **state)
{
	static const char *const shapes[] = { "4x4x4", "2x2x2x2", "4x2x6",
		"5x4x3" };
	struct hint_deps few, many;
	struct hint_machine m;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		hint_make(&m, &(struct hint_how){ .shape = shapes[i] });
		hint_deps_init(&few, &m.h, HINT_DEPS_ORDERED);
		hint_deps_init(&many, &m.h, HINT_DEPS_ESCAPE);
		for (router_id r = 0; r < m.t.topo.n_routers; r++)
			for (port_id p = 0; p < m.t.topo.n_ports; p++)
				assert_int_equal(
					hint_deps_after(&few, r, p) &
						~hint_deps_after(&many, r, p),
					0);
		hint_deps_fini(&few);
		hint_deps_fini(&many);
		hint_unmake(&m);
	}
}

/* A midplane's routers differ in nothing but parities. */
static void classes_are_few(void **state)
{
	struct hint_machine m;
	struct hint_deps d;

	hint_make(&m, &(struct hint_how){ .shape = "4x4x4x2x2" });
	hint_deps_init(&d, &m.h, HINT_DEPS_ESCAPE);
	assert_true(d.n_classes <= 32);
	hint_deps_fini(&d);
	hint_unmake(&m);
}

TESTS(TEST(edges_are_those_of_all_routes), TEST(edges_of_meshes_are),
	TEST(edges_under_zones_are), TEST(edges_of_other_ties_are),
	TEST(escapes_only_add_edges), TEST(classes_are_few))
