/*
 * A channel's queues and tokens.  Most of it happens in the router (1,1) of a
 * mesh: packets come in from the west, by A+ out of (0,1), and leave by A+ or
 * B+, or stay.  Links are kept busy by packets of higher classes.
 */
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum {
	A_PLUS,
	A_MINUS,
	WEST = A_MINUS, /* the receiver */
	BUSY = 30, /* packets that keep a link busy */
	PERIOD = FULL_PS + GAP_PS,
};

struct plane {
	struct rig *r;
	site_id west, mid;
};

static struct plane plane(struct rig_how how)
{
	struct plane p;

	how.way = (struct hint_how){
		.shape = "4x4", .wrap = "mesh", .order = "AB", .zones = "order"
	};
	p.r = rig_new(&how);
	p.west = RIG_AT(p.r, 0, 1);
	p.mid = RIG_AT(p.r, 1, 1);
	return p;
}

/* From the west to a router, through the middle. */
static uint32_t send_to(struct plane *p, uint8_t kind, uint32_t a, uint32_t b)
{
	struct packet x = {
		.src = p->west,
		.dst = RIG_AT(p->r, a, b),
		.kind = kind,
		.bytes = 512,
	};

	return rig_send(p->r, 0, rig_fifo(p->r, &x), x);
}

/* System packets from the middle to the next router by A+. */
static void keep_east_busy(struct plane *p)
{
	struct packet x = {
		.src = p->mid,
		.dst = RIG_AT(p->r, 2, 1),
		.kind = PACKET_SYSTEM,
		.bytes = 512,
	};

	rig_flood(p->r, 0, FIFO_SYSTEM, BUSY, x);
}

/* High-priority ones by B+. */
static void keep_north_busy(struct plane *p)
{
	struct packet x = {
		.src = p->mid,
		.dst = RIG_AT(p->r, 1, 2),
		.kind = PACKET_HIGH,
		.bytes = 512,
	};

	rig_flood(p->r, 0, FIFO_HIGH, BUSY, x);
}

/* --- queues --- */

/* BGQ-F29: the second packet wants another link and does not wait, unless
 * there is one queue only. */
static void check_passing(uint8_t kind, int64_t queues)
{
	struct plane p = plane((struct rig_how){ .queues = queues });
	sim_time freely = PERIOD + BOARD_PS + BOARDS_PS + BOARD_PS;
	uint32_t a, b;

	keep_east_busy(&p);
	a = send_to(&p, kind, 3, 1);
	b = send_to(&p, kind, 1, 3);
	rig_run(p.r);
	assert_true(p.r->got[a]->head > BUSY * PERIOD);
	if (queues > 1)
		assert_true(p.r->got[b]->head == freely);
	else
		assert_true(p.r->got[b]->head > BUSY * PERIOD);
	rig_free(p.r);
}

/* BGQ-F29 */
static void packets_for_other_links_pass(void **state)
{
	for (int64_t queues = 1; queues <= DIRECT_QUEUES; queues++)
		for (uint8_t kind = 0; kind < PACKET_SYSTEM; kind++)
			check_passing(kind, queues);
}

/* BGQ-F30 */
static void ordered_packets_for_one_link_do_not_pass(void **state)
{
	struct plane p = plane((struct rig_how){ 0 });
	uint32_t k[6];

	keep_east_busy(&p);
	for (uint32_t i = 0; i < 6; i++)
		k[i] = send_to(&p, PACKET_DETERMINISTIC, 2 + i % 2, 1);
	rig_run(p.r);
	for (uint32_t i = 1; i < 6; i++) /* as if both ended in (2,1) */
		assert_true(p.r->got[k[i]]->head - i % 2 * BOARD_PS >
			    p.r->got[k[i - 1]]->head - (i - 1) % 2 * BOARD_PS);
	rig_free(p.r);
}

/* How many packets of n each queue holds if they are spread evenly. */
static void check_spread(const struct plane *p, uint32_t channel, uint32_t n)
{
	const struct direct_queue *q = direct_queue(
		direct_site(p->r->net, p->mid), channel, WEST * DIRECT_QUEUES);

	assert_int_equal(rig_standing(p->r, p->mid, WEST, channel), n);
	for (uint32_t i = 0; i < DIRECT_QUEUES; i++)
		assert_in_range(q[i].count, n / DIRECT_QUEUES,
			(n + DIRECT_QUEUES - 1) / DIRECT_QUEUES);
}

/* BGQ-F31: at first every second packet leaves at once, and those that stay
 * are spread over all queues before a second one joins any. */
static void check_joining(uint8_t kind, uint32_t channel)
{
	struct plane p = plane((struct rig_how){ .packets = 10 });
	uint32_t sent = 0;

	keep_east_busy(&p);
	for (uint32_t n = 1; n <= 2 * DIRECT_QUEUES; n++) {
		send_to(&p, kind, 3, 1);
		if (n < DIRECT_QUEUES)
			send_to(&p, kind, 1, 3);
	}
	for (uint32_t n = 1; n <= 2 * DIRECT_QUEUES; n++) {
		sent += n < DIRECT_QUEUES ? 2 : 1;
		rig_run_until(p.r, sent * (sim_time)PERIOD);
		check_spread(&p, channel, n);
	}
	rig_run(p.r);
	rig_free(p.r);
}

/* BGQ-F31 */
static void a_packet_joins_the_shortest_queue(void **state)
{
	check_joining(PACKET_DYNAMIC, CHANNEL_DYNAMIC);
	check_joining(PACKET_DETERMINISTIC, CHANNEL_DETERMINISTIC);
	check_joining(PACKET_HIGH, CHANNEL_HIGH);
}

/* BGQ-F32: three packets of one receiver, each with a way of its own that was
 * long closed, leave at once; from one queue they leave one by one. */
static void check_leaving(int64_t queues)
{
	struct plane p = plane((struct rig_how){
		.queues = queues,
		.fills = true,
	});
	sim_time open = BUSY * PERIOD, t[3];
	uint32_t k[3];

	keep_east_busy(&p);
	keep_north_busy(&p);
	rig_close(p.r, p.mid, FIFO_USER + WEST);
	rig_open(p.r, p.mid, FIFO_USER + WEST, open);
	send_to(&p, PACKET_DETERMINISTIC, 1, 1); /* two fill the FIFO */
	send_to(&p, PACKET_DETERMINISTIC, 1, 1);
	k[0] = send_to(&p, PACKET_DETERMINISTIC, 2, 1);
	k[1] = send_to(&p, PACKET_DETERMINISTIC, 1, 2);
	k[2] = send_to(&p, PACKET_DETERMINISTIC, 1, 1);
	rig_run(p.r);
	t[0] = p.r->got[k[0]]->head - BOARDS_PS;
	t[1] = p.r->got[k[1]]->head - BOARDS_PS;
	t[2] = p.r->got[k[2]]->head;
	assert_true(t[0] == open);
	assert_true(t[1] == open + (queues > 1 ? 0 : FULL_PS));
	assert_true(t[2] == open + (queues > 1 ? 0 : 2 * FULL_PS));
	rig_free(p.r);
}

/* BGQ-F32 */
static void several_packets_of_a_receiver_leave_at_once(void **state)
{
	check_leaving(1);
	check_leaving(DIRECT_QUEUES);
}

/* --- tokens --- */

/*
 * From node 0 to a node that takes two full packets and no more; its receiver,
 * which holds 34 chunks, has 10 left.  One of 11 chunks waits in the node
 * before it and one of 10 goes; then none is left for a header alone.
 */
static void check_room(site_id to)
{
	struct rig_how how = {
		.way = { .shape = "8", .wrap = "mesh", .escape = "no" },
		.packets = 2,
		.fills = true,
	};
	struct rig *r = rig_new(&how);
	struct packet p = { .dst = to, .bytes = 512 };
	uint64_t bytes = 3 * 552 + 7 * 32 + 8;
	sim_time t = 10 * PERIOD;

	rig_close(r, to, FIFO_USER + A_MINUS);
	rig_flood(r, 0, 0, 3, p);
	p.bytes = 6 * 32;
	rig_send(r, 0, 0, p);
	p.bytes = 10 * 32;
	rig_send(r, 0, 0, p);
	rig_run_until(r, t);
	assert_int_equal(
		rig_sent_bytes(r, to - 1, A_PLUS, ALL_CHANNELS), bytes);
	p.bytes = 9 * 32;
	rig_send(r, t, 1, p);
	rig_run_until(r, 2 * t);
	bytes += 10 * 32 + 8;
	assert_int_equal(
		rig_sent_bytes(r, to - 1, A_PLUS, ALL_CHANNELS), bytes);
	p.bytes = 0;
	rig_send(r, 2 * t, 1, p);
	rig_run_until(r, 3 * t);
	assert_int_equal(
		rig_sent_bytes(r, to - 1, A_PLUS, ALL_CHANNELS), bytes);
	rig_open(r, to, FIFO_USER + A_MINUS, 4 * t);
	rig_run(r);
	rig_free(r);
}

/* BGQ-F26, APE-F22: room for the whole packet, of one that is injected and of
 * one that goes on. */
static void a_packet_needs_room_for_all_of_it(void **state)
{
	check_room(1);
	check_room(2);
}

/*
 * BGQ-F27: tokens come back when the tail has left the buffer and a wire's
 * latency is over.  With room for two packets every second one has to wait
 * for that; one that enters a ring needs the room of two, and waits alone.
 */
static void tokens_come_back_behind_the_tail(void **state)
{
	struct rig_how how = {
		.way = { .shape = "8", .wrap = "mesh", .escape = "no" },
		.packets = 2,
	};
	sim_time round = 2 * MIDPLANES_PS + FULL_PS;

	for (uint8_t kind = 0; kind < N_PACKET_KINDS; kind++) {
		struct packet p = { .src = 3, .dst = 4, .bytes = 512 };
		uint32_t apart = kind == PACKET_DYNAMIC ? 2 : 1;
		struct rig *r = rig_new(&how);

		p.kind = kind;
		rig_flood(r, 0, rig_fifo(r, &p), 20, p);
		rig_run(r);
		for (uint32_t i = apart; i < 20; i++)
			assert_true(r->got[i]->head - r->got[i - apart]->head ==
				    round);
		rig_free(r);
	}
}

TESTS(TEST(packets_for_other_links_pass),
	TEST(ordered_packets_for_one_link_do_not_pass),
	TEST(a_packet_joins_the_shortest_queue),
	TEST(several_packets_of_a_receiver_leave_at_once),
	TEST(a_packet_needs_room_for_all_of_it),
	TEST(tokens_come_back_behind_the_tail))
