/* Rings with datelines, on APEnet+'s torus with a bare network on top. */
#include <stdatomic.h>

#include "base/mem.h"
#include "link/link_testing.h"
#include "router/direct/direct.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"

enum { MOST = 32, EACH = 60, FULL = 4096 };

struct arrival {
	sim_time head, tail;
};

/* Nodes send EACH packets at most, of any size; or full ones, all to node 0. */
struct world {
	struct machine *machine;
	struct net *net;
	const struct direct_build *build;
	bool is_hot;
	uint32_t n_sent;
	uint32_t sent[MOST];
	atomic_uint n_got;
	struct arrival got[MOST][EACH];
	uint32_t from[MOST]; /* got by node 0, by source */
};

static struct packet draw(const struct world *x, site_id s, uint32_t i)
{
	uint64_t n = (uint64_t)s << 32 | i;
	uint32_t far = 1 + (uint32_t)link_test_draw(&n, MOST - 1);

	return (struct packet){
		.src = s,
		.dst = x->is_hot ? 0 : (s + far) % MOST,
		.number = i,
		.bytes = x->is_hot ? FULL
				   : (uint16_t)(1 + link_test_draw(&n, FULL)),
	};
}

static void fill(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct world *x = me->state;
	struct net *n = me->net;

	while (x->sent[s] < x->n_sent && net_has_room(n, s, fifo)) {
		packet_id id = packet_take(n->pool, w->id);

		n->packets[id] = draw(x, s, x->sent[s]++);
		n->packets[id].born = t;
		net_inject(n, w, s, fifo, id, t);
	}
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct world *x = me->state;
	const struct packet *p = &me->net->packets[id];

	assert_int_equal(p->dst, s);
	x->got[p->src][p->number] = (struct arrival){ t, tail };
	atomic_fetch_add(&x->n_got, 1);
	if (!s)
		x->from[p->src]++;
	packet_give(me->net->pool, w->id, id);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	fill(me, w, s, e.data, t);
}

static const struct net_client_ops client = {
	.on_room = fill,
	.on_packet = on_packet,
	.on_event = on_event,
	.is_sink = true,
};

/* A node's packets enter by one FIFO for each link. */
static void begin(struct world *x, site_id s)
{
	struct net_fifos f = net_fifos(x->net, NET_USER);

	for (uint32_t i = 0; i < f.count; i++)
		sim_post(sim_owner(x->net->sim, s), s, 0,
			SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT), 0, f.first + i);
}

static struct world *make(const char *const *sets, uint32_t n_workers,
	const struct book_how *book)
{
	struct world *x = mem_alloc(1, sizeof(*x));
	struct err e = { 0 };
	struct net_setup s;

	x->machine = kit_machine("apenet", sets, "8x4x1");
	x->n_sent = EACH;
	s = (struct net_setup){ .topo = x->machine->topo,
		.route = x->machine->route,
		.link = &x->machine->link,
		.router = &x->machine->router,
		.client = &client,
		.client_state = x,
		.n_workers = n_workers,
		.book = book };
	x->net = net_new(&s, &e);
	if (!x->net)
		fail_msg("%s", e.text);
	x->build = ((struct direct *)x->net->router[NET_NODES])->build;
	return x;
}

static void drop(struct world *x)
{
	net_free(x->net);
	machine_free(x->machine);
	mem_free(x);
}

static void audit(const struct world *x)
{
	struct err e = { 0 };
	char text[100];

	if (net_audit(x->net, &e))
		fail_msg("%s", e.text);
	assert_int_equal(net_knot(x->net, text, sizeof(text)), 0);
}

/* All send; everything is counted half way, and no link is idle that could
 * carry something. */
static struct world *storm(const char *const *sets, uint32_t n_workers,
	const struct book_how *book)
{
	struct world *x = make(sets, n_workers, book);

	for (site_id s = 0; s < MOST; s++)
		begin(x, s);
	for (sim_time t = 10 * US; t < 60 * US; t += 5 * US) {
		sim_run(x->net->sim, t);
		audit(x);
		for (site_id s = 0; s < MOST; s++)
			/* what happens now has not happened yet */
			x->build->check_idle(
				x->net, s, sim_now(x->net->sim) - 1);
	}
	sim_run(x->net->sim, SIM_NEVER);
	audit(x);
	assert_int_equal(x->n_got, MOST * EACH);
	return x;
}

static void check_same(const struct world *a, const struct world *b)
{
	assert_memory_equal(a->got, b->got, sizeof(a->got));
}

/* --- tests --- */

static const char *const few[] = { "router.packets=1", NULL };
static const char *const as_is[] = { NULL };

static void a_packet_alone_takes_its_wires_and_one_serialisation(void **state)
{
	static const uint32_t far[] = { 1, 2, 4 };

	for (uint32_t i = 0; i < 3; i++) {
		struct world *x = make(as_is, 1, NULL);
		uint32_t hops = far[i];

		x->is_hot = true;
		x->n_sent = 1;
		begin(x, hops); /* along X to node 0 */
		sim_run(x->net->sim, SIM_NEVER);
		assert_int_equal(x->got[hops][0].tail,
			hops * x->net->link.latency[0] +
				link_ser(&x->net->link, FULL));
		drop(x);
	}
}

static void full_rings_keep_moving_with_room_for_one_packet(void **state)
{
	struct world *x = storm(few, 1, NULL);

	assert_ptr_equal(x->build, &ring_plain);
	drop(x);
}

static void a_run_is_the_same_on_any_number_of_workers(void **state)
{
	struct world *a = storm(few, 1, NULL), *b = storm(few, 3, NULL);

	check_same(a, b);
	drop(a);
	drop(b);
}

/* The other copy of the code posts more events, and does the same. */
static void a_run_is_the_same_with_a_book(void **state)
{
	static const struct book_how how = { .n_slowest = 0 };
	const char *const *sets[] = { as_is, few };
	struct world *a, *b;

	for (uint32_t i = 0; i < 2; i++) {
		a = storm(sets[i], 1, NULL);
		b = storm(sets[i], 1, &how);
		assert_ptr_equal(b->build, &ring_full);
		check_same(a, b);
		drop(a);
		drop(b);
	}
}

/* What node 0 gets of the next node of its ring while those behind it send,
 * too, of 40 packets' time. */
static uint32_t share_of_injection(const char *transit)
{
	const char *const sets[] = { transit, NULL };
	struct world *x = make(sets, 1, NULL);
	uint32_t mine;

	x->is_hot = true;
	for (site_id s = 1; s < 4; s++)
		begin(x, s); /* 3, 2, 1: all pass node 1 */
	sim_run(x->net->sim, 40 * link_ser(&x->net->link, FULL));
	mine = x->from[1];
	assert_true(x->from[1] + x->from[2] + x->from[3] >= 35);
	drop(x);
	return mine;
}

/* Transit goes first: node 1 has its turn before others come, and then only by
 * the ratio that is set. */
static void injection_has_its_turn_by_the_ratio(void **state)
{
	uint32_t none = share_of_injection("router.transit=0");
	uint32_t third = share_of_injection("router.transit=2");
	uint32_t half = share_of_injection("router.transit=1");

	assert_true(none <= 4);
	assert_in_range(third, 11, 16);
	assert_in_range(half, 18, 22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_packet_alone_takes_its_wires_and_one_serialisation),
		cmocka_unit_test(
			full_rings_keep_moving_with_room_for_one_packet),
		cmocka_unit_test(a_run_is_the_same_on_any_number_of_workers),
		cmocka_unit_test(a_run_is_the_same_with_a_book),
		cmocka_unit_test(injection_has_its_turn_by_the_ratio),
	};

	return cmocka_run_group_tests(tests, NULL, link_test_forget);
}
