/*
 * What the search calls locked never moves again, and what does not move
 * when nothing is left to do was called locked.  Both are seen by stopping
 * the sources: whatever can still move arrives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "link/link_testing.h"
#include "net/params_testing.h"
#include "route/hint_testing.h"
#include "router/direct/direct.h"
#include "sim/random.h"
#include "testing/testing.h"

enum { MOST_SITES = 128, TEXT = 4096 };

/* Nodes that send as fast as they can. */
struct world {
	struct hint_machine m;
	struct net_params router;
	struct link_params link;
	struct net *net;
	uint64_t seed;
	/* what they send */
	uint32_t kinds; /* a bit per enum packet_kind */
	bool has_small, stays;
	bool kind_by_fifo; /* high priority in the first two, else dynamic */
	site_id (*target)(
		const struct world *w, site_id s, uint32_t fifo, uint64_t bits);
	bool is_stopped;
	uint64_t n[MOST_SITES]; /* packets made */
	uint64_t got[MOST_SITES];
};

/* --- the client --- */

static site_id anybody(
	const struct world *w, site_id s, uint32_t fifo, uint64_t bits)
{
	site_id n = w->net->n_sites;

	return (s + 1 + (site_id)random_below(bits, n - 1)) % n;
}

static uint32_t any_kind(const struct world *w, uint32_t fifo, uint64_t bits)
{
	uint32_t kind = (uint32_t)(bits >> 8) % N_PACKET_KINDS;

	if (w->kind_by_fifo)
		return fifo < 2 ? PACKET_HIGH : PACKET_DYNAMIC;
	while (!(w->kinds >> kind & 1))
		kind = (kind + 1) % N_PACKET_KINDS;
	return kind;
}

static void fill(struct net_client *me, struct sim_worker *worker, site_id s,
	uint32_t fifo, sim_time t)
{
	struct net *n = me->net;
	struct world *w = me->state;

	while (!w->is_stopped && net_has_room(n, s, fifo)) {
		struct random_bits r =
			random_draw(w->seed, s, RANDOM_TEST, w->n[s]);
		site_id to = w->target(w, s, fifo, r.a);
		packet_id id;

		if (to == s)
			return;
		id = packet_take(n->pool, worker->id);
		n->packets[id] = (struct packet){
			.src = s,
			.dst = to,
			.number = (uint32_t)w->n[s]++,
			.kind = (uint8_t)any_kind(w, fifo, r.b),
			.zone = r.b >> 16 & 3,
			.flags = w->stays && r.b >> 20 & 1 ? PACKET_STAY : 0,
			.bytes = w->has_small && r.b >> 21 & 1
					 ? (uint16_t)(r.b >> 24 & 255)
					 : 512,
		};
		net_inject(n, worker, s, fifo, id, t);
	}
}

static void on_packet(struct net_client *me, struct sim_worker *worker,
	site_id s, uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *n = me->net;
	struct world *w = me->state;

	assert_int_equal(n->packets[id].dst, s);
	w->got[s]++;
	packet_give(n->pool, worker->id, id);
}

static void on_event(struct net_client *me, struct sim_worker *worker,
	site_id s, sim_time t, struct sim_event e)
{
	struct net *n = me->net;

	for (uint32_t f = 0; f < n->n_ports; f++)
		fill(me, worker, s, f, t);
}

static const struct net_client_ops client = {
	.on_room = fill,
	.on_packet = on_packet,
	.on_event = on_event,
	.is_sink = true,
};

static struct world *make(const struct hint_how *how, int64_t packets)
{
	struct world *w = mem_alloc(1, sizeof(*w));

	hint_make(&w->m, how);
	net_params_defaults(&w->router);
	w->link = link_test_defaults();
	w->router.queues = DIRECT_QUEUES;
	w->router.kind = &direct_ops;
	w->router.packets = packets;
	w->kinds = 1u << PACKET_DYNAMIC;
	w->target = anybody;
	return w;
}

static void start(struct world *w)
{
	struct net_setup s = {
		.topo = &w->m.t.topo,
		.route = &w->m.h.route,
		.link = &w->link,
		.router = &w->router,
		.client = &client,
		.client_state = w,
		.n_workers = 1,
	};
	struct err e = { 0 };

	w->net = net_new(&s, &e);
	if (!w->net)
		fail_msg("%s", e.text);
	assert_true(w->net->n_sites <= MOST_SITES);
	for (site_id i = 0; i < w->net->n_sites; i++)
		sim_post(sim_owner(w->net->sim, i), i, 0,
			SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT), 0, 0);
}

static void end(struct world *w)
{
	struct err e = { 0 };

	if (net_audit(w->net, &e))
		fail_msg("%s", e.text);
	net_free(w->net);
	hint_unmake(&w->m);
	mem_free(w);
}

/* --- what is looked at --- */

/* Packets in the receivers' queues. */
static uint64_t standing(const struct world *w)
{
	uint64_t sum = 0;

	for (site_id s = 0; s < w->net->n_sites; s++)
		for (uint32_t c = 0; c < N_CHANNELS; c++)
			for (uint32_t q = 0;
				q < w->net->n_ports * DIRECT_QUEUES; q++)
				sum += direct_queue(
					direct_site(w->net, s), c, q)
					       ->count;
	return sum;
}

static uint64_t delivered(const struct world *w)
{
	return net_total(w->net).delivered;
}

struct line {
	uint32_t node;
	port_id in, out;
	uint32_t channel;
};

static port_id port_named(const struct world *w, const char *name)
{
	const struct topo *t = &w->m.t.topo;
	char text[16];

	for (port_id p = 0; p < t->n_ports; p++) {
		t->ops->name_port(t, 0, p, text, sizeof(text));
		if (!strcmp(text, name))
			return p;
	}
	fail_msg("no port is called %s", name);
	return 0;
}

static struct line read_line(const struct world *w, const char *text)
{
	char in[16], channel[32], out[16];
	struct line l;
	uint32_t c = 0;

	if (sscanf(text,
		    "  node %u %*[(0-9,)] receiver %15[^,], channel %31[^,], "
		    "waits for %15s",
		    &l.node, in, channel, out) != 4)
		fail_msg("what is this: %s", text);
	l.in = port_named(w, in);
	l.out = port_named(w, out);
	while (strcmp(direct_ops.channels[c], channel) != 0)
		assert_true(++c < N_CHANNELS);
	l.channel = c;
	return l;
}

/* Some head of the buffer asks for the port, and the buffer behind it has
 * no room for a full packet that would enter. */
static void waits(
	const struct world *w, const struct line *l, const struct line *next)
{
	const struct net *n = w->net;
	const struct direct_site *s = direct_site(n, l->node);
	const struct link_sender *sender = &s->port[l->out].sender;
	bool asks = false;

	assert_int_equal(sender->peer, next->node);
	assert_int_equal(sender->peer_port, next->in);
	for (uint32_t q = l->in * DIRECT_QUEUES;
		q < (l->in + 1) * DIRECT_QUEUES; q++) {
		const struct direct_queue *queue =
			direct_queue(s, l->channel, q);
		const struct packet *p = &n->packets[queue->head];

		if (queue->count)
			asks |= p->escape == l->out || p->ask >> l->out & 1;
	}
	assert_true(asks);
	assert_true(sender->tokens[next->channel] < direct_of(n, 0)->entry);
}

/* Each line waits for the next, and the last for the first. */
static void is_true_cycle(const struct world *w, const char *text)
{
	struct line first = { 0 }, last = { 0 };
	uint32_t n = 0;

	for (; *text; text = strchr(text, '\n') + 1, n++) {
		struct line l = read_line(w, text);

		if (n)
			waits(w, &last, &l);
		else
			first = l;
		last = l;
	}
	assert_true(n > 0);
	waits(w, &last, &first);
}

/* Runs for a time, or until something is locked where it is to be hasty, and
 * searches now and then; returns what is locked then.  What is locked once
 * stays so. */
static uint64_t watch(
	struct world *w, sim_time until, sim_time slice, bool is_hasty)
{
	char text[TEXT];
	uint64_t locked = 0;
	sim_time t = sim_now(w->net->sim);

	for (; t < until && !(locked && is_hasty); t += slice) {
		uint64_t now;

		sim_run(w->net->sim, t + slice);
		now = net_knot(w->net, text, sizeof(text));
		assert_true(now >= locked);
		locked = now;
	}
	return locked;
}

/* No more is sent: what can arrive does.  Returns what does not. */
static uint64_t drain(struct world *w)
{
	char text[TEXT];
	uint64_t left;

	w->is_stopped = true;
	assert_int_equal(sim_run(w->net->sim, SIM_NEVER), SIM_IDLE);
	left = net_knot(w->net, text, sizeof(text));
	assert_int_equal(left, standing(w));
	if (left)
		is_true_cycle(w, text);
	return left;
}

/* --- tests --- */

static struct world *draw_world(uint64_t *k)
{
	static const char *const shapes[] = { "8", "5x5", "4x4", "3x6", "4x4x4",
		"2x5x2", "3x3x3", "6x2", "7" };
	static const char *const wraps[] = { "torus", "torus", "torus",
		"mesh,torus" };
	static const char *const zones[] = { "none", "order", NULL };
	bool bubble = dice(9, k, 3) == 0, escape = dice(9, k, 2) == 0;
	struct world *w =
		make(&(struct hint_how){ .shape = shapes[dice(9, k, 9)],
			     .wrap = wraps[dice(9, k, 4)],
			     .zones = zones[dice(9, k, 3)],
			     .bubble = bubble ? "yes" : "no",
			     .escape = escape ? "yes" : "no" },
			1 + bubble + dice(9, k, 3));

	w->seed = *k;
	w->kinds = 1 + dice(9, k, 15);
	w->has_small = dice(9, k, 2);
	w->stays = dice(9, k, 2);
	w->router.queues = 1 + dice(9, k, DIRECT_QUEUES);
	w->router.transit = dice(9, k, 3);
	return w;
}

/* Safe machines among them never lock. */
static void what_is_locked_is_what_never_moves(void **state)
{
	uint32_t n = getenv("WEFT_SLOW") ? 60 : 300, i, n_locked = 0;
	uint64_t k = 0;

	for (i = 0; i < n; i++) {
		struct world *w = draw_world(&k);
		bool is_safe = w->m.h.bubble && w->m.h.escape;
		uint64_t before, left;

		start(w);
		before = watch(w, 60 * US, 4 * US, i % 2);
		left = drain(w);
		assert_true(left >= before);
		if (is_safe)
			assert_int_equal(left, 0);
		n_locked += before > 0;
		end(w);
	}
	assert_true(n_locked > n / 8 && n_locked < n - n / 8);
}

/* Small packets pass where full ones could not; a ring is full of them, or
 * almost, before it locks. */
static void what_is_about_to_lock_is_not_locked(void **state)
{
	uint32_t n = getenv("WEFT_SLOW") ? 20 : 100, i, n_locked = 0;

	for (i = 0; i < n; i++) {
		struct world *w = make(
			&(struct hint_how){
				.shape = "8", .escape = "no", .bubble = "no" },
			1 + i % 2);
		uint64_t before;

		w->seed = i;
		w->has_small = true;
		w->kinds = i % 3 ? 1u << PACKET_DYNAMIC : 1u << PACKET_HIGH;
		w->router.transit = 1;
		start(w);
		before = watch(w, 30 * US, US / 8, true);
		assert_true(drain(w) >= before);
		n_locked += before > 0;
		end(w);
	}
	assert_true(n_locked > n / 5);
}

static site_id half_round(
	const struct world *w, site_id s, uint32_t fifo, uint64_t bits)
{
	site_id n = w->net->n_sites;

	return (s + (n + 1) / 2 - 1) % n;
}

/* BGQ-F38: on a ring that is filled, the rule alone makes the difference. */
static void a_ring_locks_without_the_bubble(void **state)
{
	for (uint32_t kind = PACKET_DETERMINISTIC; kind < N_PACKET_KINDS;
		kind++) {
		struct world *w = make(
			&(struct hint_how){ .shape = "8", .bubble = "no" }, 2);

		w->kinds = 1u << kind;
		w->target = half_round;
		w->router.transit = 1;
		start(w);
		assert_true(watch(w, 50 * US, 5 * US, false) > 0);
		assert_true(drain(w) > 0);
		end(w);

		w = make(&(struct hint_how){ .shape = "8" }, 2);
		w->kinds = 1u << kind;
		w->target = half_round;
		w->router.transit = 1;
		start(w);
		assert_int_equal(watch(w, 50 * US, 5 * US, false), 0);
		assert_int_equal(drain(w), 0);
		end(w);
	}
}

/* Few arrive on a long ring, so it is as full as the rule allows. */
static void a_full_ring_is_kept_moving_by_its_bubble(void **state)
{
	struct world *w = make(&(struct hint_how){ .shape = "60" }, 2);

	w->kinds = 1u << PACKET_DETERMINISTIC;
	w->target = half_round;
	w->router.transit = 1;
	start(w);
	assert_int_equal(watch(w, 100 * US, US / 2, false), 0);
	assert_int_equal(drain(w), 0);
	end(w);
}

static site_id to_node_0(
	const struct world *w, site_id s, uint32_t fifo, uint64_t bits)
{
	return 0;
}

/* All send to one node: heads wait for very long, and nothing is locked. */
static void congestion_is_not_deadlock(void **state)
{
	static const uint32_t kinds[] = { 1, 2, 8, 15 };

	for (uint32_t i = 0; i < 4; i++) {
		struct world *w =
			make(&(struct hint_how){ .shape = "5x4x4" }, 2);
		sim_time longest = 0, t;
		char text[TEXT];

		w->kinds = kinds[i];
		w->target = to_node_0;
		start(w);
		for (t = 0; t < 300 * US; t += 3 * US) {
			sim_time wait;

			sim_run(w->net->sim, t);
			assert_int_equal(
				net_knot(w->net, text, sizeof(text)), 0);
			wait = net_longest_wait(w->net, t);
			longest = wait > longest ? wait : longest;
		}
		assert_true(longest > 50 * US);
		assert_int_equal(drain(w), 0);
		end(w);
	}
}

/* Row 0 turns in a circle at high priority; over the same wires, and
 * everywhere else, packets go to the next node, which cannot lock. */
static site_id rows(
	const struct world *w, site_id s, uint32_t fifo, uint64_t bits)
{
	const struct torus *t = &w->m.t;
	uint32_t x = torus_coord(t, s, 0), d = t->dim[0];

	if (fifo < 2 && torus_coord(t, s, 1) == 0)
		return s - x + (x + (d + 1) / 2 - 1) % d;
	return s - x + (x + 1) % d;
}

static void a_part_can_be_locked_while_the_rest_goes_on(void **state)
{
	struct world *w =
		make(&(struct hint_how){ .shape = "8x4", .bubble = "no" }, 1);
	uint64_t locked, before;

	w->target = rows;
	w->kind_by_fifo = true;
	w->router.transit = 1;
	start(w);
	locked = watch(w, 60 * US, 3 * US, false);
	assert_true(locked > 0);
	for (uint32_t i = 0; i < 10; i++) {
		before = delivered(w);
		watch(w, sim_now(w->net->sim) + 20 * US, 5 * US, false);
		assert_true(delivered(w) > before + 1000);
	}
	assert_int_equal(drain(w), locked);
	end(w);
}

static void an_empty_network_is_not_locked(void **state)
{
	struct world *w = make(&(struct hint_how){ .shape = "4x4" }, 8);
	char text[TEXT] = "as it was";

	w->is_stopped = true;
	start(w);
	assert_int_equal(net_knot(w->net, text, sizeof(text)), 0);
	assert_int_equal(net_longest_wait(w->net, 0), 0);
	assert_string_equal(text, "as it was");
	end(w);
}

/* What has no room for the whole cycle counts the rest. */
static void a_short_text_holds_what_it_can(void **state)
{
	struct world *w =
		make(&(struct hint_how){ .shape = "8", .bubble = "no" }, 1);
	char text[300], last[300];

	w->kinds = 1u << PACKET_SYSTEM;
	w->target = half_round;
	w->router.transit = 1;
	start(w);
	assert_true(watch(w, 50 * US, 5 * US, false) > 0);
	assert_true(net_knot(w->net, NULL, 0) > 0);
	for (size_t size = sizeof(text); size > 60; size--) {
		char *line = text;

		memset(text, 'x', sizeof(text));
		assert_true(net_knot(w->net, text, size) > 0);
		assert_true(strlen(text) < size);
		while (strchr(line, '\n')[1])
			line = strchr(line, '\n') + 1;
		snprintf(last, sizeof(last), "%s", line);
		assert_non_null(strstr(last, " more\n"));
	}
	end(w);
}

TESTS(TEST(what_is_locked_is_what_never_moves),
	TEST(what_is_about_to_lock_is_not_locked),
	TEST(a_ring_locks_without_the_bubble),
	TEST(a_full_ring_is_kept_moving_by_its_bubble),
	TEST(congestion_is_not_deadlock),
	TEST(a_part_can_be_locked_while_the_rest_goes_on),
	TEST(an_empty_network_is_not_locked),
	TEST(a_short_text_holds_what_it_can))
