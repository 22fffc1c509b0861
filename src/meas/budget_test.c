#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "meas/budget.h"
#include "testing/testing.h"

enum { NODES = 10, MOST = 100000 };

static struct book *new_book(uint32_t n_workers)
{
	return book_new(&(struct book_how){ .follows = true, .number = 1 },
		n_workers, NODES, MOST);
}

static struct book_sums *sums(const struct book *k)
{
	struct book_sums *s = mem_alloc(1, sizeof(*s));

	book_sum(k, s);
	return s;
}

/* A packet of a message, all of whose time is software's. */
static void carry(struct book *k, uint32_t packet, const struct book_message *m,
	sim_time took)
{
	book_open(k, packet, m);
	book_until(k, packet, CAUSE_SOFTWARE, m->birth + took);
	book_close(k, 0, packet, m->birth + took);
}

/* --- a budget --- */

static void every_charge_begins_where_the_last_one_ended(void **state)
{
	struct budget b = { .start = 100, .at = 100 };
	sim_time sum = 0;

	budget_until(&b, CAUSE_QUEUE, 130);
	budget_until(&b, CAUSE_WIRE, 130);
	budget_until(&b, CAUSE_ROUTER, 131);
	budget_until(&b, CAUSE_QUEUE, 150);
	assert_int_equal(b.spent[CAUSE_QUEUE], 30 + 19);
	assert_int_equal(b.spent[CAUSE_WIRE], 0);
	assert_int_equal(b.spent[CAUSE_ROUTER], 1);
	for (uint32_t c = 0; c < N_CAUSES; c++)
		sum += b.spent[c];
	assert_true(sum == b.at - b.start);
}

static void every_cause_has_names(void **state)
{
	for (uint32_t a = 0; a < N_CAUSES; a++) {
		assert_non_null(causes[a].name);
		for (uint32_t b = 0; b < a; b++) {
			assert_string_not_equal(causes[a].name, causes[b].name);
			assert_string_not_equal(causes[a].key, causes[b].key);
		}
	}
}

/* --- mistakes of those who charge --- */

static void go_back(struct book *k)
{
	book_until(k, 1, CAUSE_WIRE, 9);
}

static void charge_what_is_not_open(struct book *k)
{
	book_until(k, 2, CAUSE_WIRE, 20);
}

static void open_twice(struct book *k)
{
	struct book_message m = book_message(k, 0, BOOK_PUT, 1, 0);

	book_open(k, 1, &m);
}

static void leave_time_out(struct book *k)
{
	book_close(k, 0, 1, 11);
}

static bool is_bug(void (*wrong)(struct book *k))
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		struct book *k = new_book(1);
		struct book_message m = book_message(k, 0, BOOK_PUT, 1, 0);

		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		book_open(k, 1, &m);
		book_until(k, 1, CAUSE_WIRE, 10);
		wrong(k);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) || WEXITSTATUS(status) == EXIT_INTERNAL;
}

static void wrong_charges_are_bugs(void **state)
{
	assert_true(is_bug(go_back));
	assert_true(is_bug(charge_what_is_not_open));
	assert_true(is_bug(open_twice));
	assert_true(is_bug(leave_time_out));
}

/* Where there is no book nothing happens. */
static void no_book_is_no_work(void **state)
{
	struct book_message m = book_message(NULL, 3, BOOK_PUT, 2, 5);

	book_open(NULL, 1, &m);
	book_wait(NULL, 1, CAUSE_QUEUE, 7);
	book_until(NULL, 1, CAUSE_WIRE, 9);
	book_at_part(NULL, 1, 3, "card");
	book_close(NULL, 0, 1, 9);
	book_drop(NULL, 0, 1);
	book_clear(NULL);
	assert_int_equal(m.number, 0);
}

/* --- messages --- */

static void waits_are_charged_to_what_was_waited_for(void **state)
{
	struct book *k = new_book(1);
	struct book_message m = book_message(k, 0, BOOK_PUT, 1, 10);
	struct book_sums *s;

	book_open(k, 7, &m);
	book_until(k, 7, CAUSE_SOFTWARE, 15);
	book_wait(k, 7, CAUSE_TOKENS, 17); /* what is new is in a queue */
	book_wait(k, 7, CAUSE_RECEIVER, 20);
	book_wait(k, 7, CAUSE_QUEUE, 24);
	assert_int_equal(book_at(k, 7), 24);
	book_close(k, 0, 7, 24);
	s = sums(k);
	assert_int_equal(s->spent[CAUSE_SOFTWARE], 5);
	assert_int_equal(s->spent[CAUSE_QUEUE], 2);
	assert_int_equal(s->spent[CAUSE_TOKENS], 3);
	assert_int_equal(s->spent[CAUSE_RECEIVER], 4);
	assert_int_equal(s->whole.sum, 14);
	mem_free(s);
	book_free(k);
}

/* The packet that is closed last counts, whichever it is. */
static void the_last_packet_is_the_message(void **state)
{
	struct book *k = new_book(1);
	struct book_message m = book_message(k, 4, BOOK_PUT, 3, 100);
	struct book_sums *s;

	for (uint32_t i = 0; i < 3; i++)
		book_open(k, 10 + i, &m);
	book_until(k, 12, CAUSE_WIRE, 120);
	book_until(k, 10, CAUSE_QUEUE, 130);
	book_until(k, 11, CAUSE_ENGINE, 125);
	book_until(k, 11, CAUSE_RETRY, 131);
	book_close(k, 0, 12, 120);
	book_close(k, 0, 10, 130);
	s = sums(k);
	assert_int_equal(s->n, 0);
	mem_free(s);
	book_close(k, 0, 11, 131);
	s = sums(k);
	assert_int_equal(s->n, 1);
	assert_int_equal(s->spent[CAUSE_ENGINE], 25);
	assert_int_equal(s->spent[CAUSE_RETRY], 6);
	assert_int_equal(s->spent[CAUSE_WIRE] + s->spent[CAUSE_QUEUE], 0);
	assert_int_equal(s->longest.src, 4);
	mem_free(s);
	book_free(k);
}

/* More messages at a time than the table has room for at first, closed in
 * rounds, so that places are emptied and filled in between. */
static void many_messages_are_under_way_at_a_time(void **state)
{
	enum { MANY = 3000, EACH = 5 };
	struct book *k = new_book(1);
	struct book_sums *s;

	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < MANY; i++) {
			struct book_message m =
				book_message(k, i % NODES, BOOK_PUT, EACH, 0);

			for (uint32_t j = 0; j < EACH; j++)
				book_open(k, i * EACH + j, &m);
		}
		for (uint32_t j = 0; j < EACH; j++)
			for (uint32_t i = 0; i < MANY; i++)
				book_close(k, 0,
					(i * 7 % MANY) * EACH + (i + j) % EACH,
					0);
		s = sums(k);
		assert_int_equal(s->n, MANY * (round + 1));
		mem_free(s);
	}
	assert_int_equal(book_n_sent(k, 3), 3 * MANY / NODES);
	book_free(k);
}

static void a_message_with_a_dropped_packet_never_ends(void **state)
{
	struct book *k = new_book(1);
	struct book_message m = book_message(k, 0, BOOK_PUT, 2, 0);
	struct book_sums *s;

	book_open(k, 1, &m);
	book_open(k, 2, &m);
	book_drop(k, 0, 1);
	book_close(k, 0, 2, 0);
	m = book_message(k, 0, BOOK_PUT, 1, 0);
	book_open(k, 1, &m); /* it is free again */
	book_drop(k, 0, 1);
	assert_false(book_has(k, 1));
	m = book_message(k, 0, BOOK_PUT, 2, 0);
	carry(k, 1, &m, 5);
	carry(k, 1, &m, 6);
	s = sums(k);
	assert_int_equal(s->n, 1);
	assert_int_equal(s->longest.number, 2);
	mem_free(s);
	book_free(k);
}

/* A copy of a followed message's packet is a message by itself. */
static void a_copy_is_a_message_of_its_own(void **state)
{
	struct book *k = new_book(2);
	struct book_message m = book_message(k, 0, BOOK_PUT, 2, 0);
	struct book_sums *s;

	m = book_message(k, 0, BOOK_PUT, 2, 0);
	book_open(k, 1, &m);
	book_until(k, 1, CAUSE_WIRE, 5);
	book_add_copy(k, 0, 1, 9);
	book_until(k, 9, CAUSE_MEMORY_WRITE, 8);
	book_close(k, 1, 9, 8);
	s = sums(k);
	assert_int_equal(s->n, 1);
	assert_int_equal(s->spent[CAUSE_WIRE], 5);
	assert_int_equal(s->spent[CAUSE_MEMORY_WRITE], 3);
	mem_free(s);
	/* the packet, whose message has another one, too: they may end at
	 * different nodes */
	book_close(k, 0, 1, 5);
	s = sums(k);
	assert_int_equal(s->n, 2);
	mem_free(s);
	book_free(k);
}

static void of_the_longest_the_first_is_kept(void **state)
{
	static const struct {
		uint32_t src, worker;
		sim_time birth, took;
	} sent[] = { { 5, 0, 10, 50 }, { 3, 1, 10, 50 }, { 2, 2, 11, 50 },
		{ 1, 0, 0, 49 }, { 4, 1, 10, 50 } };
	struct book *k = new_book(3);
	struct book_sums *s;

	for (uint32_t i = 0; i < 5; i++) {
		struct book_message m = book_message(
			k, sent[i].src, BOOK_PUT, 1, sent[i].birth);
		sim_time t = sent[i].birth + sent[i].took;

		book_open(k, i, &m);
		book_until(k, i, CAUSE_PEERS, t);
		book_close(k, sent[i].worker, i, t);
	}
	s = sums(k);
	assert_int_equal(s->n, 5);
	assert_int_equal(s->spent[CAUSE_PEERS], 249);
	assert_int_equal(s->longest.src, 3);
	mem_free(s);
	book_clear(k);
	s = sums(k);
	assert_int_equal(s->n, 0);
	assert_int_equal(s->spent[CAUSE_PEERS], 0);
	mem_free(s);
	book_free(k);
}

/* --- following --- */

/* Of a followed message's copies, one of which is the longest of all
 * messages, that one is shown; wherever they were received. */
static void the_longest_copy_is_shown(void **state)
{
	struct book *k = new_book(3);
	struct book_message m;
	const struct book_trail *r;
	struct book_sums *s;

	m = book_message(k, 0, BOOK_PUT, 1, 0);
	m = book_message(k, 0, BOOK_PUT, 1, 0);
	book_open(k, 1, &m);
	book_at_part(k, 1, 8, "switch");
	book_until(k, 1, CAUSE_WIRE, 5);
	for (uint32_t i = 2; i < 5; i++) {
		sim_time t = i == 3 ? 90 : 10 + i;

		book_add_copy(k, i % 3, 1, i);
		book_at_part(k, i, i, "node");
		book_until(k, i, CAUSE_MEMORY_WRITE, t);
		book_close(k, i % 3, i, t);
	}
	book_close(k, 0, 1, 5);
	s = sums(k);
	assert_int_equal(s->longest.number, 1);
	assert_int_equal(s->longest.budget.at, 90);
	mem_free(s);
	r = book_followed(k);
	assert_true(r->is_done);
	assert_int_equal(r->way.n, 2);
	assert_string_equal(r->way.step[0].at.what, "switch");
	assert_int_equal(r->way.step[1].at.site, 3);
	assert_int_equal(r->way.step[1].until, 90);
	book_free(k);
}

/* A get's way goes on with each try of its answer: the first is lost, the
 * second comes, the third is one too many. */
static void each_packet_that_takes_its_place_is_followed(void **state)
{
	struct book *k = new_book(2);
	struct book_message m;
	struct book_held held;
	const struct book_trail *r;

	m = book_message(k, 0, BOOK_PUT, 1, 0);
	m = book_message(k, 0, BOOK_PUT, 1, 0);
	book_open(k, 1, &m);
	book_at_part(k, 1, 0, "get");
	book_until(k, 1, CAUSE_WIRE, 5);
	held = book_hold(k, 1, 1);
	assert_non_null(book_followed(k));
	for (uint32_t i = 2; i < 5; i++) {
		book_resume(k, 1, i, &held);
		book_at_part(k, i, i, "try");
		book_until(k, i, CAUSE_RETRY, 10 * i);
		assert_int_equal(book_followed(k)->is_done, i > 3);
		if (i == 3)
			book_close(k, 0, i, 30);
		else
			book_hold(k, 0, i);
	}
	r = book_followed(k);
	assert_true(r->is_done);
	assert_int_equal(r->way.n, 2);
	assert_string_equal(r->way.step[0].at.what, "get");
	assert_int_equal(r->way.step[1].at.site, 3);
	book_free(k);
}

/* Message 1 of node 0: of its packets the one that completes it. */
static void the_completing_packet_is_followed(void **state)
{
	struct book *k = new_book(1);
	struct book_message m[3];
	const struct book_trail *r;

	for (uint32_t i = 0; i < 3; i++)
		m[i] = book_message(k, i == 2 ? 7 : 0, BOOK_PUT, 2, 0);
	assert_null(book_followed(k));
	for (uint32_t i = 0; i < 6; i++) {
		book_open(k, i, &m[i / 2]);
		book_at_part(k, i, i, "here");
		book_until(k, i, CAUSE_PACKET, 4);
		book_until(k, i, CAUSE_WIRE, 4); /* nothing is no step */
		book_at_part(k, i, 10 + i, "there");
		book_until(k, i, CAUSE_WIRE, 9);
	}
	book_close(k, 0, 3, 9);
	r = book_followed(k);
	assert_false(r->is_done);
	book_close(k, 0, 2, 9);
	assert_ptr_equal(book_followed(k), r);
	assert_true(r->is_done);
	assert_int_equal(r->way.n, 2);
	assert_int_equal(r->way.step[0].at.site, 2);
	assert_int_equal(r->way.step[1].at.site, 12);
	assert_int_equal(r->way.step[0].cause, CAUSE_PACKET);
	assert_int_equal(r->way.step[0].until, 4);
	assert_int_equal(book_step_from(&r->way, 1), 4);
	assert_int_equal(r->way.step[1].until, 9);
	book_free(k);
}

/* --- the slowest --- */

/* Message i of 40 takes i * 7 % 40 ps more than 100, in two places; packets'
 * numbers are used again. */
static void send_many(struct book *k, uint32_t n_workers)
{
	for (uint32_t i = 0; i < 40; i++) {
		struct book_message m = book_message(k, i % 4,
			i % 2 ? BOOK_GET : BOOK_PUT, i % 3 ? 1 : 20, 10 * i);
		sim_time end = 10 * i + 100 + i * 7 % 40;
		uint32_t p;

		for (p = 0; p < m.n_packets; p++) {
			book_open(k, p, &m);
			book_at_part(k, p, i, "here");
			book_until(k, p, CAUSE_QUEUE, 10 * i + 50);
			book_at_part(k, p, 50 + i, "there");
			book_until(k, p, CAUSE_WIRE, end);
		}
		for (p = 0; p < m.n_packets; p++)
			book_close(k, i % n_workers, p, end);
	}
}

static void check_slowest(const struct book *k)
{
	uint32_t n;
	struct book_slow *s = book_slowest(k, &n);

	assert_int_equal(n, 3);
	for (uint32_t i = 0; i < n; i++) {
		const struct book_account *a = &s[i].account;
		sim_time start = a->budget.start;

		assert_int_equal(a->budget.at - start, 139 - i);
		assert_int_equal(s[i].way.n, 2);
		assert_int_equal(s[i].way.start, start);
		assert_int_equal(s[i].way.step[0].until, start + 50);
		assert_int_equal(s[i].way.step[0].at.site, start / 10);
		assert_int_equal(s[i].way.step[1].until, a->budget.at);
		assert_int_equal(s[i].way.step[1].at.site, a->dst);
		assert_int_equal(a->dst, 50 + start / 10);
	}
	mem_free(s);
}

static void the_slowest_messages_are_kept_with_their_ways(void **state)
{
	uint32_t n;

	for (uint32_t n_workers = 1; n_workers < 4; n_workers++) {
		struct book *k = book_new(
			&(struct book_how){ .n_slowest = 3 }, n_workers, 8, 64);

		send_many(k, n_workers);
		check_slowest(k);
		book_clear(k);
		mem_free(book_slowest(k, &n));
		assert_int_equal(n, 0);
		send_many(k, n_workers);
		check_slowest(k);
		book_free(k);
	}
}

/* An answer goes on with the way of its get, also where both are held. */
static void a_slow_way_goes_on_with_another_packet(void **state)
{
	struct book *k =
		book_new(&(struct book_how){ .n_slowest = 2 }, 1, 8, 64);
	struct book_held held;
	struct book_slow *s;
	uint32_t n;

	for (uint32_t i = 0; i < 2; i++) {
		struct book_message m = book_message(k, i, BOOK_GET, 1, 0);

		book_open(k, 0, &m);
		book_until(k, 0, CAUSE_WIRE, 5 + i);
		held = i ? (struct book_held){ .n_packets = 0 }
			 : book_hold(k, 0, 0);
		if (i)
			book_replace(k, 0, 0, 1);
		else
			book_resume(k, 0, 1, &held);
		book_until(k, 1, CAUSE_MEMORY_READ, 9);
		book_close(k, 0, 1, 9);
	}
	s = book_slowest(k, &n);
	assert_int_equal(n, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(s[i].way.n, 2);
		assert_int_equal(s[i].way.step[0].until, 5 + i);
		assert_int_equal(s[i].way.step[1].cause, CAUSE_MEMORY_READ);
	}
	mem_free(s);
	book_free(k);
}

static void classes_sum_to_the_whole(void **state)
{
	struct book *k = book_new(&(struct book_how){ 0 }, 2, 8, 64);
	struct book_sums *s;
	uint64_t n = 0, spent = 0;
	char name[64];
	uint32_t i;

	send_many(k, 2);
	s = sums(k);
	for (i = 0; i < BOOK_CLASSES; i++) {
		n += s->class[i].n;
		spent += s->class[i].spent[CAUSE_WIRE];
	}
	assert_int_equal(n, 40);
	assert_true(spent == s->spent[CAUSE_WIRE]);
	i = book_class(
		&(struct book_account){ .kind = BOOK_GET, .n_packets = 20 });
	assert_int_equal(s->class[i].n, 7);
	book_class_name(i, name, sizeof(name));
	assert_string_equal(name, "get, 17 to 256 packets");
	mem_free(s);
	book_free(k);
}

static void token_waits_are_counted_from_hop_to_hop(void **state)
{
	struct book *k = new_book(1);
	struct book_message m = book_message(k, 0, BOOK_PUT, 1, 0);
	const struct book_place at = { .what = "out by" };

	book_open(k, 0, &m);
	book_until(k, 0, CAUSE_TOKENS, 5);
	assert_int_equal(book_set_wire(k, 0, &at, 6, 7), 5);
	assert_int_equal(book_set_wire(k, 0, &at, 7, 8), 0);
	book_set_arrival(k, 0, &at, CAUSE_QUEUE, 8);
	book_set_link(k, 0, 10, 9, 12);
	assert_int_equal(book_set_wire(k, 0, &at, 13, 14), 2);
	book_free(k);
}

/* A grant: tokens came at 4, the link was free at 7, its turn came at 9. */
static void a_grant_is_charged_to_tokens_link_and_turn(void **state)
{
	struct book *k = new_book(1);
	struct book_message m = book_message(k, 0, BOOK_PUT, 1, 0);
	const struct book_place at = { .what = "in by" };
	struct book_held h;

	book_open(k, 0, &m);
	book_set_arrival(k, 0, &at, CAUSE_TOKENS, 1);
	book_set_link(k, 0, 4, 7, 9);
	book_set_wire(k, 0, &at, 10, 15);
	h = book_hold(k, 0, 0);
	assert_int_equal(h.account.budget.spent[CAUSE_QUEUE], 1);
	assert_int_equal(h.account.budget.spent[CAUSE_TOKENS], 3);
	assert_int_equal(h.account.budget.spent[CAUSE_LINK], 3);
	assert_int_equal(h.account.budget.spent[CAUSE_ARBITRATION], 2);
	assert_int_equal(h.account.budget.spent[CAUSE_ROUTER], 1);
	assert_int_equal(h.account.budget.spent[CAUSE_WIRE], 5);
	assert_int_equal(h.account.budget.at, 15);
	book_free(k);
}

TESTS(TEST(every_charge_begins_where_the_last_one_ended),
	TEST(a_grant_is_charged_to_tokens_link_and_turn),
	TEST(every_cause_has_names), TEST(wrong_charges_are_bugs),
	TEST(no_book_is_no_work),
	TEST(waits_are_charged_to_what_was_waited_for),
	TEST(the_last_packet_is_the_message),
	TEST(many_messages_are_under_way_at_a_time),
	TEST(a_message_with_a_dropped_packet_never_ends),
	TEST(a_copy_is_a_message_of_its_own),
	TEST(of_the_longest_the_first_is_kept), TEST(the_longest_copy_is_shown),
	TEST(each_packet_that_takes_its_place_is_followed),
	TEST(the_completing_packet_is_followed),
	TEST(the_slowest_messages_are_kept_with_their_ways),
	TEST(a_slow_way_goes_on_with_another_packet),
	TEST(classes_sum_to_the_whole),
	TEST(token_waits_are_counted_from_hop_to_hop))
