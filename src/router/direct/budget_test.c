/*
 * The time budget of packets in the network, against budgets worked out by
 * hand: each hop is 16 ns of router (BGQ-N28) and the rest of its latency of
 * wire; a full packet takes 276 ns and a gap of 4 ns on a link.
 */
#include "base/mem.h"
#include "router/direct/budget_testing.h"
#include "testing/testing.h"

/* --- alone --- */

static void a_packet_alone_only_travels(void **state)
{
	for (uint8_t kind = 0; kind < N_PACKET_KINDS; kind++) {
		struct booked b = booked_begin((struct rig_how){
			.way = { .shape = "8", .wrap = "mesh" } });
		struct packet p = { .dst = 3, .kind = kind, .bytes = 512 };

		rig_send(b.r, 777, rig_fifo(b.r, &p), p);
		booked_run(&b);
		assert_int_equal(b.ledger->n, 1);
		CHECK(&b, 0, HOPS(3, 2 * BOARD_PS + BOARDS_PS), FULL);
		assert_int_equal(b.ledger->account[0].budget.start, 777);
		assert_true(
			b.ledger->account[0].budget.at == b.r->got[0]->tail);
		booked_end(&b);
	}
}

static void a_local_packet_is_only_serialised(void **state)
{
	struct booked b =
		booked_begin((struct rig_how){ .way = { .shape = "4" } });
	struct packet p = { .src = 2, .dst = 2, .bytes = 512 };

	rig_send(b.r, 0, FIFO_LOCAL, p);
	rig_send(b.r, 0, FIFO_LOCAL, p);
	booked_run(&b);
	CHECK(&b, 0, FULL);
	CHECK(&b, 1, FULL, [CAUSE_QUEUE] = FULL_PS);
	booked_end(&b);
}

/* Logic that takes longer than the wire is all of it. */
static void the_split_never_changes_the_sum(void **state)
{
	struct booked b =
		booked_begin((struct rig_how){ .way = { .shape = "4" } });

	b.r->net->link.logic[WIRE_BOARD] = 2 * BOARD_PS;
	rig_send(b.r, 0, 0, (struct packet){ .dst = 1, .bytes = 512 });
	booked_run(&b);
	CHECK(&b, 0, [CAUSE_ROUTER] = BOARD_PS, FULL);
	booked_end(&b);
}

/* --- in company --- */

static void a_packet_behind_another_is_in_a_queue(void **state)
{
	struct booked b = booked_begin(
		(struct rig_how){ .way = { .shape = "8", .wrap = "mesh" } });
	struct packet p = {
		.dst = 3, .kind = PACKET_DETERMINISTIC, .bytes = 512
	};

	rig_flood(b.r, 0, 0, 2, p);
	booked_run(&b);
	CHECK(&b, 0, HOPS(3, 2 * BOARD_PS + BOARDS_PS), FULL);
	/* the link needs a gap before it is free */
	CHECK(&b, 1, HOPS(3, 2 * BOARD_PS + BOARDS_PS),
		FULL, [CAUSE_QUEUE] = FULL_PS, [CAUSE_LINK] = GAP_PS);
	booked_end(&b);
}

static void a_packet_beside_another_waits_for_the_link(void **state)
{
	struct booked b = booked_begin(
		(struct rig_how){ .way = { .shape = "8", .wrap = "mesh" } });
	struct packet p = { .dst = 1, .bytes = 512 };
	uint32_t i;

	rig_send(b.r, 0, 0, p);
	rig_send(b.r, 0, 1, p);
	booked_run(&b);
	i = b.ledger->account[0].budget.at > b.ledger->account[1].budget.at;
	CHECK(&b, i, HOPS(1, BOARD_PS), FULL);
	CHECK(&b, !i, HOPS(1, BOARD_PS), FULL, [CAUSE_LINK] = PERIOD);
	booked_end(&b);
}

/*
 * Node 1 has the link to node 2 from 40.4 to 320.4 ns.  Two empty packets of
 * one flow come there at 41.4 and 65.4 ns; the second one, the head of a
 * queue of its own, is held until the first one goes.
 */
static void a_head_that_is_held_is_in_a_queue(void **state)
{
	struct booked b = booked_begin(
		(struct rig_how){ .way = { .shape = "8", .wrap = "mesh" } });
	struct packet p = { .dst = 2, .kind = PACKET_DETERMINISTIC };
	struct packet own = {
		.src = 1, .dst = 2, .kind = PACKET_DETERMINISTIC, .bytes = 512
	};
	const sim_time free_at = BOARD_PS - 1000 + PERIOD;
	const sim_time second = EMPTY_PS + GAP_PS + BOARD_PS;

	rig_flood(b.r, 0, 0, 2, p);
	rig_send(b.r, BOARD_PS - 1000, 0, own);
	booked_run(&b);
	CHECK(&b, 0,
		HOPS(2, BOARD_PS + BOARDS_PS), [CAUSE_SERIALISATION] = EMPTY_PS,
		[CAUSE_LINK] = free_at - BOARD_PS);
	CHECK(&b, 1,
		HOPS(2, BOARD_PS + BOARDS_PS), [CAUSE_SERIALISATION] = EMPTY_PS,
		[CAUSE_QUEUE] = EMPTY_PS + free_at - second,
		[CAUSE_LINK] = GAP_PS + EMPTY_PS + GAP_PS);
	CHECK(&b, 2, HOPS(1, BOARDS_PS), FULL);
	booked_end(&b);
}

/* --- reception --- */

static void a_full_reception_fifo_is_the_receivers(void **state)
{
	struct booked b = booked_begin((struct rig_how){
		.way = { .shape = "8", .wrap = "mesh" },
		.fills = true,
		.reception = 1,
	});
	struct packet p = { .dst = 1, .bytes = 512 };

	rig_close(b.r, 1, FIFO_USER + A_MINUS);
	rig_open(b.r, 1, FIFO_USER + A_MINUS, late);
	rig_flood(b.r, 0, 0, 2, p);
	booked_run(&b);
	CHECK(&b, 0, HOPS(1, BOARD_PS), FULL);
	CHECK(&b, 1, HOPS(1, BOARD_PS),
		FULL, [CAUSE_QUEUE] = FULL_PS, [CAUSE_LINK] = GAP_PS,
		[CAUSE_RECEIVER] = late - PERIOD - BOARD_PS);
	booked_end(&b);
}

/* From two sides at once into one FIFO. */
static void a_busy_reception_fifo_is_the_receivers(void **state)
{
	struct booked b =
		booked_begin((struct rig_how){ .way = { .shape = "4x4" } });
	struct packet p = { .kind = PACKET_SYSTEM, .bytes = 512 };
	uint32_t i;

	p.dst = RIG_AT(b.r, 1, 1);
	p.src = RIG_AT(b.r, 0, 1);
	rig_send(b.r, 0, FIFO_SYSTEM, p);
	p.src = RIG_AT(b.r, 1, 0);
	rig_send(b.r, 0, FIFO_SYSTEM, p);
	booked_run(&b);
	i = b.ledger->account[0].budget.at > b.ledger->account[1].budget.at;
	CHECK(&b, i, HOPS(1, BOARD_PS), FULL);
	CHECK(&b, !i, HOPS(1, BOARD_PS), FULL, [CAUSE_RECEIVER] = FULL_PS);
	booked_end(&b);
}

/* --- line broadcasts --- */

/* Each copy is a message of its own, and so is what goes on to the end. */
static void copies_have_budgets_of_their_own(void **state)
{
	struct booked b = booked_begin(
		(struct rig_how){ .way = { .shape = "8", .wrap = "mesh" } });
	struct packet p = { .dst = 3,
		.hints = 1u << A_PLUS,
		.kind = PACKET_DETERMINISTIC,
		.flags = PACKET_DEPOSIT,
		.bytes = 512 };

	rig_send(b.r, 0, 0, p);
	booked_run(&b);
	assert_int_equal(b.ledger->n, 3);
	CHECK(&b, 0, HOPS(1, BOARD_PS), FULL);
	CHECK(&b, 1, HOPS(2, BOARD_PS + BOARDS_PS), FULL);
	CHECK(&b, 2, HOPS(3, 2 * BOARD_PS + BOARDS_PS), FULL);
	assert_int_equal(book_n_sent(b.r->net->book, 0), 1);
	booked_end(&b);
}

/* A broadcast that is held because its copy has no room waits for the
 * receiver; its copy does so, too. */
static void a_broadcast_waits_for_room_for_its_copy(void **state)
{
	struct booked b = booked_begin((struct rig_how){
		.way = { .shape = "8", .wrap = "mesh" },
		.fills = true,
		.reception = 1,
	});
	struct packet p = {
		.dst = 1, .kind = PACKET_DETERMINISTIC, .bytes = 512
	};
	const sim_time at = 2000 * SIM_NS;
	const sim_time waits = late - at - BOARD_PS;

	rig_close(b.r, 1, FIFO_USER + A_MINUS);
	rig_open(b.r, 1, FIFO_USER + A_MINUS, late);
	rig_send(b.r, 0, 0, p);
	p.dst = 2;
	p.hints = 1u << A_PLUS;
	p.flags = PACKET_DEPOSIT;
	rig_send(b.r, at, 0, p);
	booked_run(&b);
	assert_int_equal(b.ledger->n, 3);
	CHECK(&b, 1, HOPS(1, BOARD_PS), FULL, [CAUSE_RECEIVER] = waits);
	CHECK(&b, 2, HOPS(2, BOARD_PS + BOARDS_PS),
		FULL, [CAUSE_RECEIVER] = waits);
	booked_end(&b);
}

/* --- everything at once --- */

static struct booked storm(uint32_t n_workers, uint32_t how, bool is_plain)
{
	struct rig_how rig = {
		.way = { .shape = "4x3x2", .zones = "none" },
		.n_workers = n_workers,
		.packets = 2 + how % 3,
		.fills = how % 2,
		.reception = 1,
		.drain = 100,
	};
	uint64_t series = 1000 * how;
	struct booked b = { 0 };

	if (is_plain)
		b.r = rig_new(&rig);
	else
		b = booked_begin(rig);
	rig_storm(b.r, &series, 60, 15, how < 2);
	if (is_plain)
		rig_run(b.r);
	else
		booked_run(&b);
	return b;
}

/* The times in the budgets are those of the packets, and all is charged. */
static void check_whole(const struct booked *b)
{
	struct book_sums *s = mem_alloc(1, sizeof(*s));
	uint64_t latency = 0, charged = 0;
	sim_time longest = 0;

	book_sum(b->r->net->book, s);
	for (uint32_t i = 0; i < b->r->n_sent; i++) {
		sim_time took = b->r->got[i]->tail - b->r->sent[i];

		latency += (uint64_t)took;
		longest = took > longest ? took : longest;
	}
	for (uint32_t c = 0; c < N_CAUSES; c++)
		charged += s->spent[c];
	assert_int_equal(s->n, b->r->n_sent);
	assert_int_equal(b->ledger->n, s->n);
	assert_true(charged == latency);
	assert_true(s->whole.sum == latency);
	assert_true(s->longest.budget.at - s->longest.budget.start == longest);
	assert_true(s->spent[CAUSE_TOKENS] && s->spent[CAUSE_LINK] &&
		    s->spent[CAUSE_QUEUE] && s->spent[CAUSE_RECEIVER]);
	mem_free(s);
}

/* All kinds of packets; the same on several threads, and nothing of the run
 * is changed. */
static void sums_are_exact_in_a_crowd(void **state)
{
	for (uint32_t how = 0; how < 4; how++) {
		struct booked one = storm(1, how, false);
		struct booked plain = storm(1, how, true);

		check_whole(&one);
		for (uint32_t i = 0; i < plain.r->n_sent; i++)
			assert_true(
				plain.r->got[i]->tail == one.r->got[i]->tail);
		for (uint32_t w = 3; w <= 8; w += 5) {
			struct booked many = storm(w, how, false);

			check_whole(&many);
			assert_memory_equal(many.ledger->account,
				one.ledger->account,
				one.ledger->n * sizeof(struct book_account));
			booked_end(&many);
		}
		rig_free(plain.r);
		booked_end(&one);
	}
}

/* --- one message's way --- */

static void a_followed_packet_tells_its_way(void **state)
{
	static const char *const want[] = {
		"node 0 (0), out by A+, dynamic",
		"node 0 (0), out by A+, dynamic",
		"node 1 (1), out by A+, dynamic",
		"node 1 (1), out by A+, dynamic",
		"node 2 (2), reception FIFO A-",
	};
	struct booked b = booked_begin(
		(struct rig_how){ .way = { .shape = "8", .wrap = "mesh" } });
	const struct book_trail *way;
	char text[128];

	rig_send(b.r, 5, 0, (struct packet){ .dst = 2, .bytes = 512 });
	rig_send(b.r, 5, 0, (struct packet){ .src = 2, .dst = 1 });
	booked_run(&b);
	way = book_followed(b.r->net->book);
	assert_true(way->is_done);
	assert_int_equal(way->way.n, 5);
	assert_int_equal(way->way.start, 5);
	for (uint32_t i = 0; i < 5; i++) {
		const struct book_step *s = &way->way.step[i];

		net_place_name(b.r->net, &s->at, text, sizeof(text));
		assert_string_equal(text, want[i]);
		assert_true(s->cause == (i == 4		? CAUSE_SERIALISATION
						: i % 2 ? CAUSE_WIRE
							: CAUSE_ROUTER));
	}
	assert_true(way->way.step[4].until == b.r->got[0]->tail);
	booked_end(&b);
}

TESTS(TEST(a_packet_alone_only_travels),
	TEST(a_local_packet_is_only_serialised),
	TEST(the_split_never_changes_the_sum),
	TEST(a_packet_behind_another_is_in_a_queue),
	TEST(a_packet_beside_another_waits_for_the_link),
	TEST(a_head_that_is_held_is_in_a_queue),
	TEST(a_full_reception_fifo_is_the_receivers),
	TEST(a_busy_reception_fifo_is_the_receivers),
	TEST(copies_have_budgets_of_their_own),
	TEST(a_broadcast_waits_for_room_for_its_copy),
	TEST(sums_are_exact_in_a_crowd), TEST(a_followed_packet_tells_its_way))
