#include <string.h>

#include "base/mem.h"
#include "route/cycle_testing.h"
#include "route/hint_testing.h"
#include "testing/testing.h"

enum { ROUNDS = 12 };

/* A mesh, its failed links, and the routing around them. */
struct world {
	struct hint_machine m;
	const struct topo *topo;
	port_mask *dead;
	struct route *view;
	uint32_t n_aside; /* packets on spare paths */
};

static void make(struct world *x, const struct hint_how *how)
{
	hint_make(&x->m, how);
	x->topo = &x->m.t.topo;
	x->dead = mem_alloc(x->topo->n_routers, sizeof(*x->dead));
	x->view = NULL;
	x->n_aside = 0;
}

static void drop(struct world *x)
{
	if (x->view)
		route_free(x->view);
	mem_free(x->dead);
	hint_unmake(&x->m);
}

/* Both ends of a link, which fails or returns. */
static void turn(struct world *x, router_id at, port_id p)
{
	struct topo_end far = x->topo->ops->peer(x->topo, at, p);

	if (far.router == NO_ROUTER)
		return;
	x->dead[at] ^= (port_mask)1 << p;
	x->dead[far.router] ^= (port_mask)1 << far.port;
}

static void look_again(struct world *x)
{
	struct route *old = x->view;

	x->view = hint_ops.avoid(old ? old : &x->m.h.route, x->dead);
	if (old)
		route_free(old);
}

/* The routers that one is connected with. */
static uint32_t reach(const struct world *x, router_id from, uint8_t *is_there)
{
	router_id *queue = mem_alloc(x->topo->n_routers, sizeof(*queue));
	uint32_t n = 1;

	memset(is_there, 0, x->topo->n_routers);
	is_there[from] = 1;
	queue[0] = from;
	for (uint32_t i = 0; i < n; i++)
		for (port_id p = 0; p < x->topo->n_ports; p++) {
			router_id far =
				x->topo->ops->peer(x->topo, queue[i], p).router;

			if (far == NO_ROUTER || is_there[far] ||
				x->dead[queue[i]] >> p & 1)
				continue;
			is_there[far] = 1;
			queue[n++] = far;
		}
	mem_free(queue);
	return n;
}

/* Follows a packet, which takes the last of the ports that it may.  Where it
 * escapes, it waits as the proof says.  Whether it arrives by links that work.
 */
static bool arrives(
	struct world *x, const struct route_graph *g, struct packet p)
{
	router_id at = p.src;
	port_id in = TOPO_NO_PORT;
	uint32_t behind = UINT32_MAX;

	x->view->ops->start(x->view, &p);
	x->n_aside += p.hints == 3; /* which no others have */
	for (uint32_t n = 0; at != p.dst; n++) {
		struct topo_end far;
		struct route_step s = x->view->ops->next(x->view, &p, at, in);
		port_id port =
			p.ask ? 31u - (uint32_t)__builtin_clz(p.ask) : s.escape;

		assert_true(n < x->topo->n_routers);
		if ((x->dead[at] >> port | x->dead[at] >> s.escape) & 1)
			return false;
		if (behind != UINT32_MAX)
			assert_true(g->after[behind] >> s.escape & 1);
		behind = port == s.escape ? route_vertex(g, at, port, 0)
					  : UINT32_MAX;
		far = x->topo->ops->peer(x->topo, at, port);
		at = far.router;
		in = far.port;
	}
	x->view->ops->next(x->view, &p, at, in);
	assert_int_equal(p.escape, PACKET_NO_PORT);
	assert_int_equal(p.ask, 0);
	return true;
}

/* The pairs that do not arrive, though they are connected. */
static uint32_t count_missing(struct world *x, const struct route_graph *g)
{
	uint8_t *is_there = mem_alloc(x->topo->n_routers, 1);
	uint32_t n = 0;

	for (router_id a = 0; a < x->topo->n_routers; a++) {
		reach(x, a, is_there);
		for (router_id b = 0; b < x->topo->n_routers; b++) {
			uint32_t n_kinds = 0;

			for (uint8_t kind = 0; kind < N_PACKET_KINDS; kind++)
				n_kinds += arrives(x, g,
					(struct packet){ .src = a,
						.dst = b,
						.kind = kind });
			assert_true(!n_kinds || is_there[b]);
			n += is_there[b] && n_kinds < N_PACKET_KINDS;
		}
	}
	mem_free(is_there);
	return n;
}

/* The same after a change, with a proof that nothing waits for itself. */
static uint32_t look(struct world *x)
{
	struct route_graph g;
	uint32_t n;

	look_again(x);
	route_graph_init(&g, x->topo, 1);
	assert_true(hint_has_spare(x->view));
	hint_walk_lines(x->view, &g);
	assert_false(cycle_exists(&g));
	n = count_missing(x, &g);
	route_graph_fini(&g);
	return n;
}

static const struct hint_how meshes[] = {
	{ .shape = "5x4", .wrap = "mesh", .order = "BA" },
	{ .shape = "3x2x3", .wrap = "mesh", .zones = "none" },
	{ .shape = "6", .wrap = "mesh" },
};

enum { N_MESHES = sizeof(meshes) / sizeof(*meshes) };

/* NET-F35: whichever it is. */
static void one_failed_link_of_a_mesh_cuts_no_pair(void **state)
{
	for (uint32_t i = 0; i < N_MESHES; i++) {
		struct world x;

		make(&x, &meshes[i]);
		for (uint32_t k = 0; k < x.topo->n_routers * x.topo->n_ports;
			k++) {
			struct world y;

			make(&y, &meshes[i]);
			turn(&y, k / x.topo->n_ports, k % x.topo->n_ports);
			assert_int_equal(look(&y), 0);
			drop(&y);
		}
		drop(&x);
	}
	(void)state;
}

/* NET-F35: links fail and return one after the other.  Not every path fits
 * among those that there were, so that a plane, which has few, loses some. */
static void most_pairs_have_a_path_when_many_links_fail(void **state)
{
	static const uint32_t n_sound[N_MESHES] = { 1, 7, ROUNDS };
	uint64_t n = 0;

	for (uint32_t i = 0; i < N_MESHES; i++) {
		struct world x;
		uint32_t missing = 0;

		make(&x, &meshes[i]);
		for (uint32_t k = 0; k < ROUNDS; k++) {
			port_id port = dice(i, &n, x.topo->n_ports);

			turn(&x, dice(i, &n, x.topo->n_routers), port);
			missing += look(&x);
			if (k < n_sound[i])
				assert_int_equal(missing, 0);
			if (k < ROUNDS / 2)
				assert_true(
					N_PACKET_KINDS * missing <= x.n_aside);
		}
		drop(&x);
	}
	(void)state;
}

/* NET-F35: a packet on its way stays on its path when others get new ones. */
static void a_packet_keeps_its_spare_path(void **state)
{
	struct hint_how how = { .shape = "4x4", .wrap = "mesh" };
	struct packet p = { .src = 0, .dst = 3, .kind = PACKET_DYNAMIC };
	struct topo_end at;
	struct world x;
	port_id first;

	make(&x, &how);
	turn(&x, 1, 0);
	look_again(&x);
	x.view->ops->start(x.view, &p);
	first = x.view->ops->next(x.view, &p, 0, TOPO_NO_PORT).escape;
	at = x.topo->ops->peer(x.topo, 0, first);
	turn(&x, 1, 0);
	turn(&x, 9, 0);
	look_again(&x);
	for (uint32_t n = 0; at.router != 3; n++) {
		struct route_step s =
			x.view->ops->next(x.view, &p, at.router, at.port);

		assert_true(n < 16);
		assert_false(at.router == 1 && s.escape == 0);
		at = x.topo->ops->peer(x.topo, at.router, s.escape);
	}
	drop(&x);
	(void)state;
}

/* NET-F35 */
static void rings_have_no_spare_paths(void **state)
{
	struct hint_how how = { .shape = "4x4", .wrap = "mesh,torus" };
	struct world x;

	make(&x, &how);
	turn(&x, 1, 0);
	look_again(&x);
	assert_false(hint_has_spare(x.view));
	drop(&x);
	(void)state;
}

TESTS(TEST(one_failed_link_of_a_mesh_cuts_no_pair),
	TEST(most_pairs_have_a_path_when_many_links_fail),
	TEST(a_packet_keeps_its_spare_path), TEST(rings_have_no_spare_paths))
