/* Source routes: what cannot lock is proved, and what can is told. */
#include <string.h>

#include "route/updown_testing.h"
#include "net/proof.h"
#include "testing/testing.h"

static void prove(struct proof *p, const struct tree_machine *m)
{
	proof_make(p, &m->t.topo, &m->u.route, NULL, 2);
	assert_int_equal(p->n_steps, p->step[0].holds ? 3 : 2);
	assert_int_equal(p->step[0].letter, 'a');
	assert_int_equal(p->step[1].letter, 'b');
	assert_true(p->step[0].why[0] && p->step[1].why[0]);
	assert_int_equal(p->is_proved,
		p->step[0].holds && p->step[1].holds && p->step[2].holds);
}

static void qsn_f69_up_down_routes_cannot_lock(void **state)
{
	struct tree_machine m;
	struct proof p;

	for (int i = 0; tree_some[i].nodes; i++) {
		updown_make(&m, &tree_some[i]);
		prove(&p, &m);
		assert_true(p.is_proved);
		assert_int_equal(p.step[1].n_cycle, 0);
		proof_free(&p);
	}
	updown_make(&m, &(struct tree_how){ .nodes = "1024" });
	prove(&p, &m);
	assert_true(p.is_proved);
	/* of each switch: up to up, up to down, down to down; a turn leads to
	 * the three other ports */
	assert_true(p.n_turns > 1280 * 16);
	proof_free(&p);
}

/* All wires but those to the nodes are used: 4 up, 12 turns, 16 down where
 * there is something above, at each of 4 + 4 switches. */
static void all_ways_from_wire_to_wire_are_counted(void **state)
{
	struct tree_machine m;
	struct proof p;

	updown_make(&m, &(struct tree_how){ .nodes = "16" });
	prove(&p, &m);
	/* level 1: 4 x (4 down-ports to 4 up-links, 12 turns, 4 to 4 down);
	 * level 2: 4 x 12 turns */
	assert_int_equal(p.n_turns, 4 * (16 + 12 + 16) + 4 * 12);
	assert_int_equal(p.n_routes, 16 * 3 + 16 * 12 * 4);
	proof_free(&p);
}

/* --- broken routings --- */

/* Hands a packet another string of ports: count, then the first one lowest. */
static void give(struct packet *p, uint64_t route)
{
	p->way = route << 16 | p->hints;
}

/*
 * In a tree of 16: between neighbours of a switch the way first leads to the
 * next switch: up, down, up again by another link, and down.
 */
static void start_zigzag(const struct route *r, struct packet *p)
{
	uint32_t next = (p->src / 4 + 1) % 4;
	uint64_t up = 4 + p->src / 4 % 2, down = next;
	uint64_t again = 4 + (p->src / 4 + 1) % 2, back = p->src / 4;

	updown_ops.start(r, p);
	if (p->src / 4 != p->dst / 4 || p->src == p->dst)
		return;
	give(p, up | down << 4 | again << 8 | back << 12 |
			(uint64_t)(p->dst % 4) << 16 | UINT64_C(5) << 44);
}

static void start_astray(const struct route *r, struct packet *p)
{
	updown_ops.start(r, p);
	if (p->src == 5 && p->dst == 6)
		give(p, 3 | UINT64_C(1) << 44);
}

static void start_nowhere(const struct route *r, struct packet *p)
{
	updown_ops.start(r, p);
	if (p->src == 5 && p->dst == 14)
		give(p, 4 | 4 << 4 | 4 << 8 | UINT64_C(3) << 44);
}

static void break_by(struct tree_machine *m, struct route_ops *ops,
	void (*start)(const struct route *, struct packet *))
{
	updown_make(m, &(struct tree_how){ .nodes = "16" });
	*ops = updown_ops;
	ops->start = start;
	m->u.route.ops = ops;
}

/* A way down and up again waits for itself, and the cycle is a true one. */
static void a_route_that_goes_down_and_up_can_lock(void **state)
{
	struct tree_machine m;
	struct route_ops ops;
	struct proof p;
	const struct proof_step *s = &p.step[1];
	char text[256];

	break_by(&m, &ops, start_zigzag);
	prove(&p, &m);
	assert_false(p.is_proved);
	assert_true(p.step[0].holds);
	assert_false(s->holds);
	assert_true(s->n_cycle > 1);
	for (uint32_t i = 0; i < s->n_cycle; i++) {
		const struct proof_channel *c = &s->cycle[i];
		const struct proof_channel *o = &s->cycle[(i + 1) % s->n_cycle];

		assert_int_equal(
			fattree_ops.peer(&m.t.topo, c->router, c->port).router,
			o->router);
		assert_true(c->router >= 16);
	}
	proof_name(&m.t.topo, &m.u.route, &s->cycle[0], text, sizeof(text));
	assert_non_null(strstr(text, "switch "));
	assert_non_null(strstr(text, " by "));
	proof_free(&p);
}

static void is_told(void (*start)(const struct route *, struct packet *),
	const char *from, const char *how)
{
	struct tree_machine m;
	struct route_ops ops;
	struct proof p;

	break_by(&m, &ops, start);
	prove(&p, &m);
	assert_false(p.is_proved);
	assert_false(p.step[0].holds);
	assert_non_null(strstr(p.step[0].why, from));
	assert_non_null(strstr(p.step[0].why, how));
	proof_free(&p);
}

static void routes_that_lead_astray_are_told(void **state)
{
	is_told(start_astray, "from node 5 to node 6", "another node");
	is_told(start_nowhere, "from node 5 to node 14", "no wire");
}

/* --- broken broadcasts --- */

/* Switches of level 1 send what comes down up again, by another link. */
static port_mask spread_bouncing(
	const struct route *r, struct packet *p, router_id at)
{
	port_mask ports = updown_ops.spread(r, p, at);

	return at < 20 && ports > 1 && ports < 16 ? ports | 1u << (4 + at % 2)
						  : ports;
}

static port_mask spread_nowhere(
	const struct route *r, struct packet *p, router_id at)
{
	return at == 21 ? 1u << 5 : updown_ops.spread(r, p, at);
}

static void prove_spread(struct proof *p,
	port_mask (*spread)(const struct route *, struct packet *, router_id))
{
	struct tree_machine m;
	struct route_ops ops;

	break_by(&m, &ops, updown_ops.start);
	ops.spread = spread;
	prove(p, &m);
	assert_true(p->step[0].holds && p->step[1].holds);
	assert_int_equal(p->step[2].letter, 'c');
}

static void broadcasts_that_can_lock_are_told(void **state)
{
	struct proof p;

	prove_spread(&p, spread_bouncing);
	assert_false(p.is_proved);
	assert_true(p.step[2].n_cycle > 1);
	for (uint32_t i = 0; i < p.step[2].n_cycle; i++)
		assert_int_equal(p.step[2].cycle[i].channel, 1);
	proof_free(&p);
	prove_spread(&p, spread_nowhere);
	assert_false(p.is_proved);
	assert_non_null(strstr(p.step[2].why, "no wire"));
	proof_free(&p);
}

/* A node's answer to its own broadcast goes back by the wire that it came by:
 * more ways than those of packets from one to another. */
static void broadcasts_have_ways_of_their_own(void **state)
{
	struct tree_machine m;
	struct proof p;

	updown_make(&m, &(struct tree_how){ .nodes = "16" });
	prove(&p, &m);
	assert_true(p.is_proved);
	/* each of eight switches turns from each port down to that port, too */
	assert_non_null(strstr(p.step[2].why, " 256 paths from one channel"));
	proof_free(&p);
}

TESTS(TEST(qsn_f69_up_down_routes_cannot_lock),
	TEST(all_ways_from_wire_to_wire_are_counted),
	TEST(a_route_that_goes_down_and_up_can_lock),
	TEST(routes_that_lead_astray_are_told),
	TEST(broadcasts_that_can_lock_are_told),
	TEST(broadcasts_have_ways_of_their_own))
