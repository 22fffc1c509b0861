/* Time budgets of packets that wait for tokens, worked out by hand. */
#include "router/direct/budget_testing.h"
#include "testing/testing.h"

/*
 * Who enters a ring needs tokens for two packets, and there is room for two
 * in all: each packet waits until the one before has left the far end and its
 * tokens have come back.
 */
static void check_starving(uint32_t n_workers)
{
	const sim_time back = BOARD_PS + FULL_PS + BOARD_PS;
	struct booked b = booked_begin((struct rig_how){
		.way = { .shape = "8", .wrap = "mesh" },
		.packets = 2,
		.n_workers = n_workers,
	});
	struct packet p = {
		.dst = 1, .kind = PACKET_DETERMINISTIC, .bytes = 512
	};

	rig_flood(b.r, 0, 0, 3, p);
	booked_run(&b);
	CHECK(&b, 0, HOPS(1, BOARD_PS), FULL);
	CHECK(&b, 1, HOPS(1, BOARD_PS),
		FULL, [CAUSE_QUEUE] = FULL_PS, [CAUSE_TOKENS] = back - FULL_PS);
	/* born when the first one had left the injection FIFO */
	CHECK(&b, 2, HOPS(1, BOARD_PS),
		FULL, [CAUSE_QUEUE] = back, [CAUSE_TOKENS] = back - FULL_PS);
	booked_end(&b);
}

static void a_head_without_tokens_waits_for_them(void **state)
{
	check_starving(1);
	/* tokens come as events, not as stamps */
	check_starving(8);
}

/*
 * With room for two again.  Of two packets that turn into dimension B at
 * (1,0), the second one needs tokens for both, and waits until those of the
 * first one are back.  Who goes straight on needs tokens for one only.
 */
static void who_turns_needs_more_tokens(void **state)
{
	struct rig_how how = {
		.way = { .shape = "4x4", .wrap = "mesh", .order = "AB" },
		.packets = 2,
	};
	struct booked b = booked_begin(how);
	struct packet p = { .kind = PACKET_DETERMINISTIC, .bytes = 512 };
	const sim_time back = BOARD_PS + BOARD_PS + FULL_PS + BOARD_PS;

	p.dst = RIG_AT(b.r, 1, 1);
	p.src = RIG_AT(b.r, 0, 0);
	rig_send(b.r, 0, rig_fifo(b.r, &p), p);
	p.src = RIG_AT(b.r, 2, 0);
	rig_send(b.r, 50000, rig_fifo(b.r, &p), p);
	booked_run(&b);
	CHECK(&b, 0, HOPS(2, 2 * BOARD_PS), FULL);
	CHECK(&b, 1, HOPS(2, BOARDS_PS + BOARD_PS),
		FULL, [CAUSE_TOKENS] = back - 50000 - BOARDS_PS);
	booked_end(&b);

	b = booked_begin(how);
	p.src = RIG_AT(b.r, 0, 0);
	p.dst = RIG_AT(b.r, 2, 0);
	rig_flood(b.r, 0, 0, 2, p);
	booked_run(&b);
	CHECK(&b, 1, HOPS(2, BOARD_PS + BOARDS_PS),
		FULL, [CAUSE_QUEUE] = FULL_PS, [CAUSE_TOKENS] = 2 * BOARD_PS);
	booked_end(&b);
}

/* Tokens that came before the link was free were not what it waited for; the
 * last part of a wait can be arbitration. */
static void after_the_tokens_comes_the_link(void **state)
{
	const sim_time back = BOARD_PS + EMPTY_PS + BOARD_PS;
	struct booked b = booked_begin((struct rig_how){
		.way = { .shape = "8", .wrap = "mesh" },
		.packets = 2,
	});
	struct packet p = { .dst = 1, .kind = PACKET_DETERMINISTIC };

	rig_flood(b.r, 0, 0, 2, p);
	/* takes the link while the second one waits for tokens */
	p.kind = PACKET_SYSTEM;
	p.bytes = 512;
	rig_send(b.r, 50000, FIFO_SYSTEM, p);
	booked_run(&b);
	CHECK(&b, 1, HOPS(1, BOARD_PS), [CAUSE_SERIALISATION] = EMPTY_PS,
		[CAUSE_QUEUE] = EMPTY_PS, [CAUSE_TOKENS] = back - EMPTY_PS,
		[CAUSE_LINK] = 50000 + PERIOD - back);
	CHECK(&b, 2, HOPS(1, BOARD_PS), FULL);
	booked_end(&b);
}

/*
 * The first packet fills the reception FIFO; behind it stand packets of 1,
 * 17 and 15 chunks, and one token is left of 34.  The next one is of 2 chunks
 * and goes when the packet of one chunk has gone; that it has gone does not
 * help the last one, which is a full one.
 */
static void small_packets_wait_for_few_tokens(void **state)
{
	static const uint16_t bytes[] = { 512, 0, 512, 448, 32, 512 };
	const sim_time two = 72 * BYTE_PS;
	struct booked b = booked_begin((struct rig_how){
		.way = { .shape = "2", .wrap = "mesh", .escape = "no" },
		.fills = true,
		.packets = 2,
		.reception = 1,
		.queues = 1,
	});
	const struct budget *g = &b.ledger->account[4].budget;

	rig_close(b.r, 1, FIFO_USER + A_MINUS);
	rig_open(b.r, 1, FIFO_USER + A_MINUS, late);
	for (uint32_t i = 0; i < 6; i++)
		rig_send(b.r, i * 2000 * (sim_time)SIM_NS, i % 2,
			(struct packet){ .dst = 1, .bytes = bytes[i] });
	booked_run(&b);
	assert_true(g->spent[CAUSE_TOKENS] ==
		    late + EMPTY_PS + BOARD_PS - 8000 * SIM_NS);
	assert_true(g->spent[CAUSE_ARBITRATION] == 0);
	assert_true(g->spent[CAUSE_SERIALISATION] == two);
	/* The full one: behind those of 1 and of 17 chunks. */
	g = &b.ledger->account[5].budget;
	assert_true(g->spent[CAUSE_TOKENS] ==
		    late + EMPTY_PS + FULL_PS + BOARD_PS - 10000 * SIM_NS);
	assert_true(g->spent[CAUSE_ARBITRATION] == 0);
	booked_end(&b);
}

/*
 * All 34 tokens stand for empty packets, and nobody waits for any, so the
 * first that come back are stamps and the others events.  A system packet has
 * the link from 10 to 290 ns while one comes each 20 ns, from 61.4 ns on; so
 * a packet of 8 chunks has its tokens at 201.4 ns.
 */
static void tokens_count_in_the_order_they_come(void **state)
{
	struct booked b = booked_begin((struct rig_how){
		.way = { .shape = "2", .wrap = "mesh", .escape = "no" },
		.fills = true,
		.packets = 2,
		.reception = 1,
		.queues = 1,
	});
	struct packet p = { .dst = 1 };

	rig_close(b.r, 1, FIFO_USER + A_MINUS);
	rig_open(b.r, 1, FIFO_USER + A_MINUS, late);
	rig_flood(b.r, 0, 0, 2 * FULL_CHUNKS + FULL_CHUNKS, p);
	p.bytes = 7 * 32;
	rig_send(b.r, late + 11000, 0, p);
	p.bytes = 512;
	p.kind = PACKET_SYSTEM;
	rig_send(b.r, late + 10000, FIFO_SYSTEM, p);
	booked_run(&b);
	/* the system packet was sent first */
	p = b.r->got[3 * FULL_CHUNKS]->packet;
	assert_int_equal(p.chunks, 8);
	assert_int_equal(b.ledger->account[52].budget.start, late + 11000);
	assert_true(b.ledger->account[52].budget.spent[CAUSE_TOKENS] ==
		    8 * EMPTY_PS + BOARD_PS - 11000);
	assert_true(b.ledger->account[52].budget.spent[CAUSE_LINK] ==
		    10000 + PERIOD - 8 * EMPTY_PS - BOARD_PS);
	booked_end(&b);
}

TESTS(TEST(a_head_without_tokens_waits_for_them),
	TEST(who_turns_needs_more_tokens),
	TEST(after_the_tokens_comes_the_link),
	TEST(small_packets_wait_for_few_tokens),
	TEST(tokens_count_in_the_order_they_come))
