/* Routes on the wire: each switch takes its part off. */
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { NODES = 64, FAR = 63, SWITCHES = 5, STREAM = 50, ROUTE = 3 };

static const struct tree_how tree = { .nodes = "64" };

static struct rig *make(int64_t route, uint32_t n_workers)
{
	return rig_new(&(struct rig_how){
		.tree = &tree, .route = route, .n_workers = n_workers });
}

static sim_time byte_time(int64_t bytes)
{
	return (sim_time)((bytes * PS_PER_S + ELITE_RATE / 2) / ELITE_RATE);
}

/* The far end's own wire and the others' counts, from node 0 on. */
static void follow(
	const struct rig *r, uint32_t dst, uint64_t bytes[SWITCHES + 1])
{
	const struct updown *u = &r->tree.u;
	const struct topo *t = &r->tree.t.topo;
	uint64_t route = updown_route(u, 0, dst, 0);
	struct topo_end at = { 0, 0 };

	for (uint32_t i = 0; i <= SWITCHES; i++, route >>= 4) {
		bytes[i] = rig_sent_bytes(r, at.router, at.port, ALL_CHANNELS);
		at = t->ops->peer(t, at.router, at.port);
		at.port = route & 15;
	}
}

static void qsn_f70_each_switch_takes_its_byte_off(void **state)
{
	struct rig *r = make(ROUTE, 1);
	struct packet p = { .src = 0, .dst = FAR, .bytes = 512 };
	uint64_t bytes[SWITCHES + 1];
	uint32_t k = rig_send(r, 0, 0, p), i;
	const struct arrival *a;

	rig_run(r);
	rig_gather(r);
	follow(r, FAR, bytes);
	for (i = 0; i <= SWITCHES; i++)
		assert_int_equal(
			bytes[i], ELITE_FULL_BYTES + ROUTE * (SWITCHES - i));
	/* Nothing is left of it at the end, and the head's way is as long as
	 * without. */
	a = r->got[k];
	assert_int_equal(a->tail - a->head, byte_time(ELITE_FULL_BYTES));
	rig_free(r);
}

/* The sum of wires, and a serialisation without any route: as ever. */
static void qsn_f70_a_route_costs_a_single_packet_nothing(void **state)
{
	struct rig *with = make(1, 1), *without = make(0, 1);
	uint32_t k[NODES];

	for (uint32_t b = 1; b < NODES; b++) {
		struct packet p = { .src = 0, .dst = b, .bytes = 100 };

		k[b] = rig_send(with, b * 10000000, 0, p);
		rig_send(without, b * 10000000, 0, p);
	}
	rig_run(with);
	rig_run(without);
	rig_gather(with);
	rig_gather(without);
	for (uint32_t b = 1; b < NODES; b++) {
		assert_int_equal(
			with->got[k[b]]->head, without->got[k[b]]->head);
		assert_int_equal(
			with->got[k[b]]->tail, without->got[k[b]]->tail);
	}
	rig_free(with);
	rig_free(without);
}

/* A stream goes at the pace of its first wire, which carries all of it. */
static void qsn_f70_a_stream_goes_at_its_first_wires_pace(void **state)
{
	struct rig *r = make(ROUTE, 1);
	struct packet p = { .src = 0, .dst = FAR, .bytes = 512 };
	uint32_t k = rig_flood(r, 0, 0, STREAM, p);
	sim_time apart;

	rig_run(r);
	rig_gather(r);
	apart = r->got[k + STREAM - 1]->head - r->got[k + STREAM - 2]->head;
	assert_int_equal(apart,
		byte_time(ELITE_FULL_BYTES) + byte_time(ROUTE * SWITCHES));
	rig_free(r);
}

/* Where two streams meet on a last wire, it carries nothing of their routes
 * and is never idle. */
static void qsn_f70_the_last_wire_carries_no_route(void **state)
{
	struct rig *r = make(ROUTE, 1);
	struct packet p = { .src = 0, .dst = FAR, .bytes = 512 };

	rig_flood(r, 0, 0, STREAM, p);
	p.src = 60;
	rig_flood(r, 0, 0, STREAM, p);
	rig_run(r);
	rig_gather(r);
	for (uint32_t i = STREAM / 2; i < STREAM; i++)
		assert_int_equal(r->arrival[i].head - r->arrival[i - 1].head,
			byte_time(ELITE_FULL_BYTES));
	rig_free(r);
}

/* Tokens are the packet's alone; rig_run() counts them all again and again.
 * Threads change nothing, nor does the book or a plan that does nothing. */
static void qsn_f70_tokens_come_back_as_they_went(void **state)
{
	struct fault_plan plan = { .rate = { 1 } };
	struct book_how book = { 0 };
	struct rig_how how[] = {
		{ .tree = &tree, .route = 1 },
		{ .tree = &tree, .route = 1, .n_workers = 3 },
		{ .tree = &tree, .route = 1, .faults = &plan },
		{ .tree = &tree, .route = 1, .book = &book },
	};
	sim_time end[4];

	for (uint32_t i = 0; i < 4; i++) {
		struct rig *r = rig_new(&how[i]);
		uint64_t series = 5;

		rig_storm(r, &series, 20,
			1u << PACKET_DYNAMIC | 1u << PACKET_HIGH, true);
		rig_run(r);
		rig_gather(r);
		assert_int_equal(r->n_arrivals, 20 * NODES);
		end[i] = r->arrival[r->n_arrivals - 1].tail;
		assert_int_equal(end[i], end[0]);
		rig_free(r);
	}
}

TESTS(TEST(qsn_f70_each_switch_takes_its_byte_off),
	TEST(qsn_f70_a_route_costs_a_single_packet_nothing),
	TEST(qsn_f70_a_stream_goes_at_its_first_wires_pace),
	TEST(qsn_f70_the_last_wire_carries_no_route),
	TEST(qsn_f70_tokens_come_back_as_they_went))
