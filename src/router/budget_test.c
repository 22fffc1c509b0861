/*
 * The time budget of packets in the network, against budgets worked out by
 * hand: each hop is 16 ns of router (BGQ-N28) and the rest of its latency of
 * wire; a full packet takes 276 ns and a gap of 4 ns on a link.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "router/net_testing.h"

enum {
	A_PLUS,
	A_MINUS,
	PERIOD = FULL_PS + GAP_PS,
	LOGIC_PS = 16000,
	EMPTY_PS = 40 * BYTE_PS, /* a packet of a header and a trailer */
	MOST = 20000,
};

static const sim_time late = 100000 * SIM_NS;

struct ledger {
	struct book_account account[MOST];
	atomic_uint n;
};

static void on_message(void *arg, const struct book_account *a)
{
	struct ledger *l = arg;
	uint32_t i = atomic_fetch_add(&l->n, 1);

	assert_true(i < MOST);
	l->account[i] = *a;
}

static int compare(const void *x, const void *y)
{
	const struct book_account *a = x, *b = y;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->budget.at > b->budget.at) - (a->budget.at < b->budget.at);
}

/* A rig that keeps budgets, and the ledger that they are written into. */
struct booked {
	struct book_how how;
	struct ledger *ledger;
	struct rig *r;
};

static struct booked begin(struct rig_how how)
{
	struct booked b = { .ledger = mem_alloc(1, sizeof(*b.ledger)) };

	b.how = (struct book_how){
		.follows = true,
		.on_message = on_message,
		.arg = b.ledger,
	};
	how.book = &b.how;
	b.r = rig_new(&how);
	return b;
}

static void run(struct booked *b)
{
	rig_run(b->r);
	qsort(b->ledger->account, b->ledger->n, sizeof(struct book_account),
		compare);
}

static void end(struct booked *b)
{
	rig_free(b->r);
	mem_free(b->ledger);
}

/* A message spent this and nothing else. */
static void check_spent(const struct booked *b, uint32_t i, const sim_time *w)
{
	const struct budget *g = &b->ledger->account[i].budget;
	sim_time sum = 0;
	uint32_t c;

	assert_true(i < b->ledger->n);
	for (c = 0; c < N_CAUSES; c++) {
		if (g->spent[c] != w[c])
			fail_msg("message %u, %s: %lld ps, want %lld", i,
				cause_names[c], (long long)g->spent[c],
				(long long)w[c]);
		sum += w[c];
	}
	assert_true(g->at - g->start == sum);
}

#define CHECK(b, i, ...)                                                       \
	check_spent((b), (i), (const sim_time[N_CAUSES]){ __VA_ARGS__ })

/* What a packet spends on wires of so many hops that take sum. */
#define HOPS(n, sum)                                                           \
	[CAUSE_ROUTER] = (n)*LOGIC_PS, [CAUSE_WIRE] = (sum) - (n)*LOGIC_PS
#define FULL [CAUSE_SERIALISATION] = FULL_PS

/* --- alone --- */

static void a_packet_alone_only_travels(void **state)
{
	uint8_t kind;

	(void)state;
	for (kind = 0; kind < N_PACKET_KINDS; kind++) {
		struct booked b = begin((struct rig_how){
			.way = { .shape = "8", .wrap = "mesh" } });
		struct packet p = { .dst = 3, .kind = kind, .bytes = 512 };

		rig_send(b.r, 777, rig_fifo(b.r, &p), p);
		run(&b);
		assert_int_equal(b.ledger->n, 1);
		CHECK(&b, 0, HOPS(3, 2 * BOARD_PS + BOARDS_PS), FULL);
		assert_int_equal(b.ledger->account[0].budget.start, 777);
		assert_true(
			b.ledger->account[0].budget.at == b.r->got[0]->tail);
		end(&b);
	}
}

static void a_local_packet_is_only_serialised(void **state)
{
	struct booked b = begin((struct rig_how){ .way = { .shape = "4" } });
	struct packet p = { .src = 2, .dst = 2, .bytes = 512 };

	(void)state;
	rig_send(b.r, 0, FIFO_LOCAL, p);
	rig_send(b.r, 0, FIFO_LOCAL, p);
	run(&b);
	CHECK(&b, 0, FULL);
	CHECK(&b, 1, FULL, [CAUSE_QUEUE] = FULL_PS);
	end(&b);
}

/* Logic that takes longer than the wire is all of it. */
static void the_split_never_changes_the_sum(void **state)
{
	struct booked b = begin((struct rig_how){ .way = { .shape = "4" } });

	(void)state;
	b.r->net->link.logic[WIRE_BOARD] = 2 * BOARD_PS;
	rig_send(b.r, 0, 0, (struct packet){ .dst = 1, .bytes = 512 });
	run(&b);
	CHECK(&b, 0, [CAUSE_ROUTER] = BOARD_PS, FULL);
	end(&b);
}

/* --- in company --- */

static void a_packet_behind_another_is_in_a_queue(void **state)
{
	struct booked b = begin(
		(struct rig_how){ .way = { .shape = "8", .wrap = "mesh" } });
	struct packet p = {
		.dst = 3, .kind = PACKET_DETERMINISTIC, .bytes = 512
	};

	(void)state;
	rig_flood(b.r, 0, 0, 2, p);
	run(&b);
	CHECK(&b, 0, HOPS(3, 2 * BOARD_PS + BOARDS_PS), FULL);
	/* the link needs a gap before it is free */
	CHECK(&b, 1, HOPS(3, 2 * BOARD_PS + BOARDS_PS),
		FULL, [CAUSE_QUEUE] = FULL_PS, [CAUSE_ARBITRATION] = GAP_PS);
	end(&b);
}

static void a_packet_beside_another_waits_for_the_arbiter(void **state)
{
	struct booked b = begin(
		(struct rig_how){ .way = { .shape = "8", .wrap = "mesh" } });
	struct packet p = { .dst = 1, .bytes = 512 };
	uint32_t i;

	(void)state;
	rig_send(b.r, 0, 0, p);
	rig_send(b.r, 0, 1, p);
	run(&b);
	i = b.ledger->account[0].budget.at > b.ledger->account[1].budget.at;
	CHECK(&b, i, HOPS(1, BOARD_PS), FULL);
	CHECK(&b, !i, HOPS(1, BOARD_PS), FULL, [CAUSE_ARBITRATION] = PERIOD);
	end(&b);
}

/*
 * Node 1 has the link to node 2 from 40.4 to 320.4 ns.  Two empty packets of
 * one flow come there at 41.4 and 65.4 ns; the second one, the head of a
 * queue of its own, is held until the first one goes.
 */
static void a_head_that_is_held_is_in_a_queue(void **state)
{
	struct booked b = begin(
		(struct rig_how){ .way = { .shape = "8", .wrap = "mesh" } });
	struct packet p = { .dst = 2, .kind = PACKET_DETERMINISTIC };
	struct packet own = {
		.src = 1, .dst = 2, .kind = PACKET_DETERMINISTIC, .bytes = 512
	};
	const sim_time free_at = BOARD_PS - 1000 + PERIOD;
	const sim_time second = EMPTY_PS + GAP_PS + BOARD_PS;

	(void)state;
	rig_flood(b.r, 0, 0, 2, p);
	rig_send(b.r, BOARD_PS - 1000, 0, own);
	run(&b);
	CHECK(&b, 0,
		HOPS(2, BOARD_PS + BOARDS_PS), [CAUSE_SERIALISATION] = EMPTY_PS,
		[CAUSE_ARBITRATION] = free_at - BOARD_PS);
	CHECK(&b, 1,
		HOPS(2, BOARD_PS + BOARDS_PS), [CAUSE_SERIALISATION] = EMPTY_PS,
		[CAUSE_QUEUE] = EMPTY_PS + free_at - second,
		[CAUSE_ARBITRATION] = GAP_PS + EMPTY_PS + GAP_PS);
	CHECK(&b, 2, HOPS(1, BOARDS_PS), FULL);
	end(&b);
}

/* --- tokens --- */

/*
 * Who enters a ring needs tokens for two packets, and there is room for two
 * in all: each packet waits until the one before has left the far end and its
 * tokens have come back.
 */
static void check_starving(uint32_t n_workers)
{
	const sim_time back = BOARD_PS + FULL_PS + BOARD_PS;
	struct booked b = begin((struct rig_how){
		.way = { .shape = "8", .wrap = "mesh" },
		.packets = 2,
		.n_workers = n_workers,
	});
	struct packet p = {
		.dst = 1, .kind = PACKET_DETERMINISTIC, .bytes = 512
	};

	rig_flood(b.r, 0, 0, 3, p);
	run(&b);
	CHECK(&b, 0, HOPS(1, BOARD_PS), FULL);
	CHECK(&b, 1, HOPS(1, BOARD_PS),
		FULL, [CAUSE_QUEUE] = FULL_PS, [CAUSE_TOKENS] = back - FULL_PS);
	/* born when the first one had left the injection FIFO */
	CHECK(&b, 2, HOPS(1, BOARD_PS),
		FULL, [CAUSE_QUEUE] = back, [CAUSE_TOKENS] = back - FULL_PS);
	end(&b);
}

static void a_head_without_tokens_waits_for_them(void **state)
{
	(void)state;
	check_starving(1);
	/* tokens come as events, not as stamps */
	check_starving(8);
}

/* Tokens that came before the link was free were not what it waited for; the
 * last part of a wait can be arbitration. */
static void after_the_tokens_comes_arbitration(void **state)
{
	const sim_time back = BOARD_PS + EMPTY_PS + BOARD_PS;
	struct booked b = begin((struct rig_how){
		.way = { .shape = "8", .wrap = "mesh" },
		.packets = 2,
	});
	struct packet p = { .dst = 1, .kind = PACKET_DETERMINISTIC };

	(void)state;
	rig_flood(b.r, 0, 0, 2, p);
	/* takes the link while the second one waits for tokens */
	p.kind = PACKET_SYSTEM;
	p.bytes = 512;
	rig_send(b.r, 50000, FIFO_SYSTEM, p);
	run(&b);
	CHECK(&b, 1, HOPS(1, BOARD_PS), [CAUSE_SERIALISATION] = EMPTY_PS,
		[CAUSE_QUEUE] = EMPTY_PS, [CAUSE_TOKENS] = back - EMPTY_PS,
		[CAUSE_ARBITRATION] = 50000 + PERIOD - back);
	CHECK(&b, 2, HOPS(1, BOARD_PS), FULL);
	end(&b);
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
	struct booked b = begin((struct rig_how){
		.way = { .shape = "2", .wrap = "mesh", .escape = "no" },
		.fills = true,
		.packets = 2,
		.reception = 1,
		.queues = 1,
	});
	const struct budget *g = &b.ledger->account[4].budget;
	uint32_t i;

	(void)state;
	rig_close(b.r, 1, FIFO_USER + A_MINUS);
	rig_open(b.r, 1, FIFO_USER + A_MINUS, late);
	for (i = 0; i < 6; i++)
		rig_send(b.r, i * 2000 * (sim_time)SIM_NS, i % 2,
			(struct packet){ .dst = 1, .bytes = bytes[i] });
	run(&b);
	assert_true(g->spent[CAUSE_TOKENS] ==
		    late + EMPTY_PS + BOARD_PS - 8000 * SIM_NS);
	assert_true(g->spent[CAUSE_ARBITRATION] == 0);
	assert_true(g->spent[CAUSE_SERIALISATION] == two);
	/* The full one: behind those of 1 and of 17 chunks. */
	g = &b.ledger->account[5].budget;
	assert_true(g->spent[CAUSE_TOKENS] ==
		    late + EMPTY_PS + FULL_PS + BOARD_PS - 10000 * SIM_NS);
	assert_true(g->spent[CAUSE_ARBITRATION] == 0);
	end(&b);
}

/* --- reception --- */

static void a_full_reception_fifo_is_the_receivers(void **state)
{
	struct booked b = begin((struct rig_how){
		.way = { .shape = "8", .wrap = "mesh" },
		.fills = true,
		.reception = 1,
	});
	struct packet p = { .dst = 1, .bytes = 512 };

	(void)state;
	rig_close(b.r, 1, FIFO_USER + A_MINUS);
	rig_open(b.r, 1, FIFO_USER + A_MINUS, late);
	rig_flood(b.r, 0, 0, 2, p);
	run(&b);
	CHECK(&b, 0, HOPS(1, BOARD_PS), FULL);
	CHECK(&b, 1, HOPS(1, BOARD_PS),
		FULL, [CAUSE_QUEUE] = FULL_PS, [CAUSE_ARBITRATION] = GAP_PS,
		[CAUSE_RECEIVER] = late - PERIOD - BOARD_PS);
	end(&b);
}

/* From two sides at once into one FIFO. */
static void a_busy_reception_fifo_is_the_receivers(void **state)
{
	struct booked b = begin((struct rig_how){ .way = { .shape = "4x4" } });
	struct packet p = { .kind = PACKET_SYSTEM, .bytes = 512 };
	uint32_t i;

	(void)state;
	p.dst = RIG_AT(b.r, 1, 1);
	p.src = RIG_AT(b.r, 0, 1);
	rig_send(b.r, 0, FIFO_SYSTEM, p);
	p.src = RIG_AT(b.r, 1, 0);
	rig_send(b.r, 0, FIFO_SYSTEM, p);
	run(&b);
	i = b.ledger->account[0].budget.at > b.ledger->account[1].budget.at;
	CHECK(&b, i, HOPS(1, BOARD_PS), FULL);
	CHECK(&b, !i, HOPS(1, BOARD_PS), FULL, [CAUSE_RECEIVER] = FULL_PS);
	end(&b);
}

/* --- line broadcasts --- */

/* Each copy is a message of its own, and so is what goes on to the end. */
static void copies_have_budgets_of_their_own(void **state)
{
	struct booked b = begin(
		(struct rig_how){ .way = { .shape = "8", .wrap = "mesh" } });
	struct packet p = { .dst = 3,
		.hints = 1u << A_PLUS,
		.kind = PACKET_DETERMINISTIC,
		.flags = PACKET_DEPOSIT,
		.bytes = 512 };

	(void)state;
	rig_send(b.r, 0, 0, p);
	run(&b);
	assert_int_equal(b.ledger->n, 3);
	CHECK(&b, 0, HOPS(1, BOARD_PS), FULL);
	CHECK(&b, 1, HOPS(2, BOARD_PS + BOARDS_PS), FULL);
	CHECK(&b, 2, HOPS(3, 2 * BOARD_PS + BOARDS_PS), FULL);
	assert_int_equal(book_n_sent(b.r->net->book, 0), 1);
	end(&b);
}

/* A broadcast that is held because its copy has no room waits for the
 * receiver; its copy does so, too. */
static void a_broadcast_waits_for_room_for_its_copy(void **state)
{
	struct booked b = begin((struct rig_how){
		.way = { .shape = "8", .wrap = "mesh" },
		.fills = true,
		.reception = 1,
	});
	struct packet p = {
		.dst = 1, .kind = PACKET_DETERMINISTIC, .bytes = 512
	};
	const sim_time at = 2000 * SIM_NS;
	const sim_time waits = late - at - BOARD_PS;

	(void)state;
	rig_close(b.r, 1, FIFO_USER + A_MINUS);
	rig_open(b.r, 1, FIFO_USER + A_MINUS, late);
	rig_send(b.r, 0, 0, p);
	p.dst = 2;
	p.hints = 1u << A_PLUS;
	p.flags = PACKET_DEPOSIT;
	rig_send(b.r, at, 0, p);
	run(&b);
	assert_int_equal(b.ledger->n, 3);
	CHECK(&b, 1, HOPS(1, BOARD_PS), FULL, [CAUSE_RECEIVER] = waits);
	CHECK(&b, 2, HOPS(2, BOARD_PS + BOARDS_PS),
		FULL, [CAUSE_RECEIVER] = waits);
	end(&b);
}

/* --- everything at once --- */

static struct booked storm(uint32_t n_workers, uint32_t how, bool is_plain)
{
	struct rig_how rig = {
		.way = { .shape = "4x3x2", .zones = "none" },
		.n_workers = n_workers,
		.packets = 2 + how,
		.fills = how % 2,
		.reception = 1,
		.drain = 100,
	};
	uint64_t series = 1000 * how;
	struct booked b = { 0 };

	if (is_plain)
		b.r = rig_new(&rig);
	else
		b = begin(rig);
	rig_storm(b.r, &series, 60, 15, how < 2);
	if (is_plain)
		rig_run(b.r);
	else
		run(&b);
	return b;
}

/* The times in the budgets are those of the packets, and all is charged. */
static void check_whole(const struct booked *b)
{
	struct book_sums *s = mem_alloc(1, sizeof(*s));
	uint64_t latency = 0, charged = 0;
	sim_time longest = 0;
	uint32_t i, c;

	book_sum(b->r->net->book, s);
	for (i = 0; i < b->r->n_sent; i++) {
		sim_time took = b->r->got[i]->tail - b->r->sent[i];

		latency += (uint64_t)took;
		longest = took > longest ? took : longest;
	}
	for (c = 0; c < N_CAUSES; c++)
		charged += s->spent[c];
	assert_int_equal(s->n, b->r->n_sent);
	assert_int_equal(b->ledger->n, s->n);
	assert_true(charged == latency);
	assert_true(s->whole.sum == latency);
	assert_true(s->longest.budget.at - s->longest.budget.start == longest);
	assert_true(s->spent[CAUSE_TOKENS] && s->spent[CAUSE_ARBITRATION] &&
		    s->spent[CAUSE_QUEUE] && s->spent[CAUSE_RECEIVER]);
	mem_free(s);
}

/* All kinds of packets; the same on several threads, and nothing of the run
 * is changed. */
static void sums_are_exact_in_a_crowd(void **state)
{
	uint32_t how, w, i;

	(void)state;
	for (how = 0; how < 4; how++) {
		struct booked one = storm(1, how, false);
		struct booked plain = storm(1, how, true);

		check_whole(&one);
		for (i = 0; i < plain.r->n_sent; i++)
			assert_true(
				plain.r->got[i]->tail == one.r->got[i]->tail);
		for (w = 3; w <= 8; w += 5) {
			struct booked many = storm(w, how, false);

			check_whole(&many);
			assert_memory_equal(many.ledger->account,
				one.ledger->account,
				one.ledger->n * sizeof(struct book_account));
			end(&many);
		}
		rig_free(plain.r);
		end(&one);
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
	struct booked b = begin(
		(struct rig_how){ .way = { .shape = "8", .wrap = "mesh" } });
	const struct book_trail *way;
	uint32_t i;

	(void)state;
	rig_send(b.r, 5, 0, (struct packet){ .dst = 2, .bytes = 512 });
	rig_send(b.r, 5, 0, (struct packet){ .src = 2, .dst = 1 });
	run(&b);
	way = book_followed(b.r->net->book);
	assert_true(way->is_done);
	assert_int_equal(way->n, 5);
	assert_int_equal(way->step[0].from, 5);
	for (i = 0; i < 5; i++) {
		assert_string_equal(way->step[i].what, want[i]);
		assert_true(
			way->step[i].cause == (i == 4 ? CAUSE_SERIALISATION
						      : i % 2 ? CAUSE_WIRE
							      : CAUSE_ROUTER));
		if (i)
			assert_true(
				way->step[i].from == way->step[i - 1].until);
	}
	assert_true(way->step[4].until == b.r->got[0]->tail);
	end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_alone_only_travels),
		cmocka_unit_test(a_local_packet_is_only_serialised),
		cmocka_unit_test(the_split_never_changes_the_sum),
		cmocka_unit_test(a_packet_behind_another_is_in_a_queue),
		cmocka_unit_test(a_packet_beside_another_waits_for_the_arbiter),
		cmocka_unit_test(a_head_that_is_held_is_in_a_queue),
		cmocka_unit_test(a_head_without_tokens_waits_for_them),
		cmocka_unit_test(after_the_tokens_comes_arbitration),
		cmocka_unit_test(small_packets_wait_for_few_tokens),
		cmocka_unit_test(a_full_reception_fifo_is_the_receivers),
		cmocka_unit_test(a_busy_reception_fifo_is_the_receivers),
		cmocka_unit_test(copies_have_budgets_of_their_own),
		cmocka_unit_test(a_broadcast_waits_for_room_for_its_copy),
		cmocka_unit_test(sums_are_exact_in_a_crowd),
		cmocka_unit_test(a_followed_packet_tells_its_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
