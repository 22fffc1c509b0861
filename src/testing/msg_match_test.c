/* Sends and receives: order, matching, slots, long messages, overload. */
#include <errno.h>

#include "testing/msg_testing.h"
#include "sim/random.h"
#include "testing/testing.h"

static uint64_t stream(uint32_t from, uint32_t to, uint32_t i)
{
	return (uint64_t)from << 40 | (uint64_t)to << 20 | i;
}

/* --- sizes, around those where something changes --- */

static void send_sizes(struct weft_msg *m, void *arg)
{
	static const uint64_t sizes[] = { 0, 1, 8, 63, 64, 65, 479, 480, 481,
		512, 513, 983, 984, 985, 1488, 1489, 3000 };
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m), i;
	uint32_t to = (me + 1) % n, from = (me + n - 1) % n;
	struct weft_msg_status s;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct weft_msg_request r;

		msg_test_fill(MSG_TEST_SOURCE + i, stream(me, to, i), sizes[i]);
		assert_int_equal(weft_msg_send_start(m, to, i,
					 MSG_TEST_SOURCE + i, sizes[i], &r),
			0);
		assert_int_equal(weft_msg_receive(m, from, i,
					 MSG_TEST_TARGET + 5, sizes[i], &s),
			0);
		assert_int_equal(s.rank, from);
		assert_int_equal(s.tag, i);
		assert_int_equal(s.bytes, sizes[i]);
		assert_true(msg_test_is(
			MSG_TEST_TARGET + 5, stream(from, me, i), sizes[i]));
		assert_int_equal(weft_msg_finish(m, &r, NULL), 0);
	}
}

static void messages_of_all_sizes_arrive(void **state)
{
	msg_test_everywhere(send_sizes, NULL);
	msg_test_everywhere(
		send_sizes, &(struct weft_msg_options){ .eager = 64 });
	/* in several slots */
	msg_test_everywhere(
		send_sizes, &(struct weft_msg_options){ .eager = 1488 });
}

/* A short one ends without its receiver, a long one does not. */
static void send_long_and_short(struct weft_msg *m, void *arg)
{
	struct weft_msg_request r[2];

	if (weft_msg_rank(m) == 0) {
		weft_msg_send_start(m, 1, 0, MSG_TEST_SOURCE, 64, &r[0]);
		weft_msg_send_start(m, 1, 0, MSG_TEST_SOURCE, 65, &r[1]);
		assert_true(weft_msg_test(m, &r[0], NULL));
		program_charge(50000 * SIM_NS);
		assert_false(weft_msg_test(m, &r[1], NULL));
		weft_msg_barrier(m);
		weft_msg_finish(m, &r[1], NULL);
	} else {
		weft_msg_barrier(m);
	}
	if (weft_msg_rank(m) == 1) {
		weft_msg_receive(m, 0, 0, MSG_TEST_TARGET, 64, NULL);
		weft_msg_receive(m, 0, 0, MSG_TEST_TARGET, 65, NULL);
	}
}

static void the_threshold_parts_short_from_long(void **state)
{
	msg_test_everywhere(
		send_long_and_short, &(struct weft_msg_options){ .eager = 64 });
}

/* --- matching --- */

static void store_word(uint64_t at, uint64_t word)
{
	assert_true(weft_msg_store(at, &word, 8));
}

static uint64_t word(void)
{
	uint64_t w;

	assert_true(weft_msg_load(MSG_TEST_TARGET, &w, 8));
	return w;
}

static uint64_t take(struct weft_msg *m, uint32_t node, uint32_t tag)
{
	struct weft_msg_status s;

	assert_int_equal(
		weft_msg_receive(m, node, tag, MSG_TEST_TARGET, 8, &s), 0);
	assert_int_equal(s.bytes, 8);
	assert_true(node == WEFT_MSG_ANY || s.rank == node);
	assert_true(tag == WEFT_MSG_ANY || s.tag == tag);
	return word();
}

/* Receives in another order than sends, before and behind them. */
static void match(struct weft_msg *m, void *arg)
{
	uint32_t me = weft_msg_rank(m), i;
	struct weft_msg_request r[2];

	if (me == 1 || me == 2) {
		for (i = 0; i < 6; i++) {
			store_word(MSG_TEST_SOURCE, 100 * me + i);
			weft_msg_send(m, 0, i % 3, MSG_TEST_SOURCE, 8);
		}
	}
	weft_msg_barrier(m);
	if (me == 0) {
		assert_int_equal(take(m, 2, 2), 202);
		assert_int_equal(take(m, 1, 1), 101);
		assert_int_equal(take(m, 1, WEFT_MSG_ANY), 100);
		assert_int_equal(take(m, 1, WEFT_MSG_ANY), 102);
		assert_int_equal(take(m, 1, 1), 104);
		assert_int_equal(take(m, 2, WEFT_MSG_ANY), 200);
		assert_int_equal(take(m, 2, 1), 201);
		assert_int_equal(take(m, WEFT_MSG_ANY, 1), 204);
		for (i = 0; i < 4; i++)
			take(m, WEFT_MSG_ANY, WEFT_MSG_ANY);
		/* posted before they come: the first that fits */
		weft_msg_receive_start(
			m, WEFT_MSG_ANY, 7, MSG_TEST_TARGET, 8, &r[0]);
		weft_msg_receive_start(
			m, 1, WEFT_MSG_ANY, MSG_TEST_TARGET + 8, 8, &r[1]);
	}
	weft_msg_barrier(m);
	if (me == 1) {
		store_word(MSG_TEST_SOURCE, 7);
		weft_msg_send(m, 0, 7, MSG_TEST_SOURCE, 8);
		store_word(MSG_TEST_SOURCE, 8);
		weft_msg_send(m, 0, 7, MSG_TEST_SOURCE, 8);
	}
	if (me == 0) {
		weft_msg_finish(m, &r[1], NULL);
		assert_true(weft_msg_test(m, &r[0], NULL));
		assert_int_equal(word(), 7);
	}
}

/* MPI-F8. */
static void messages_match_by_node_and_tag(void **state)
{
	msg_test_everywhere(match, NULL);
}

static void truncate(struct weft_msg *m, void *arg)
{
	static const uint64_t sizes[] = { 100, 2000 };
	uint32_t me = weft_msg_rank(m), n = weft_msg_ranks(m), i;
	uint32_t from = (me + n - 1) % n;
	struct weft_msg_request r;
	struct weft_msg_status s;

	for (i = 0; i < 2; i++) {
		msg_test_fill(MSG_TEST_SOURCE, me, sizes[i]);
		msg_test_fill(MSG_TEST_TARGET, 999, 3000);
		weft_msg_send_start(
			m, (me + 1) % n, 0, MSG_TEST_SOURCE, sizes[i], &r);
		assert_int_equal(
			weft_msg_receive(m, from, 0, MSG_TEST_TARGET, 60, &s),
			EMSGSIZE);
		assert_int_equal(s.bytes, sizes[i]);
		assert_true(msg_test_is(MSG_TEST_TARGET, from, 60));
		assert_false(msg_test_is(MSG_TEST_TARGET, from, 61));
		weft_msg_finish(m, &r, NULL);
		/* of no room at all */
		weft_msg_send_start(
			m, (me + 1) % n, 0, MSG_TEST_SOURCE, sizes[i], &r);
		assert_int_equal(
			weft_msg_receive(m, from, 0, 0, 0, &s), EMSGSIZE);
		weft_msg_finish(m, &r, NULL);
	}
}

/* MPI-F8. */
static void messages_too_long_are_cut_and_told(void **state)
{
	msg_test_everywhere(truncate, NULL);
}

/* --- to oneself --- */

/* A long message is one everywhere. */
enum { MANY = 300, LONG = 3000, APART = 4096 };

static void talk_to_self(struct weft_msg *m, void *arg)
{
	static struct weft_msg_request all[MSG_TEST_RANKS][MANY];
	uint32_t me = weft_msg_rank(m), i;
	struct weft_msg_request *r = all[me];

	for (i = 0; i < MANY; i++) {
		uint64_t bytes = i % 2 ? LONG : 10;

		msg_test_fill(MSG_TEST_SOURCE + i * APART, i, bytes);
		weft_msg_send_start(m, me, i % 4, MSG_TEST_SOURCE + i * APART,
			bytes, &r[i]);
		assert_int_equal(weft_msg_test(m, &r[i], NULL), i % 2 == 0);
	}
	for (i = 0; i < MANY; i++) {
		uint64_t bytes = i % 2 ? LONG : 10;

		assert_int_equal(weft_msg_receive(m, i % 3 ? me : WEFT_MSG_ANY,
					 i % 4, MSG_TEST_TARGET, LONG, NULL),
			0);
		assert_true(msg_test_is(MSG_TEST_TARGET, i, bytes));
		weft_msg_finish(m, &r[i], NULL);
	}
	weft_msg_receive_start(m, me, 9, MSG_TEST_TARGET, LONG, &r[0]);
	assert_int_equal(
		weft_msg_send(m, me, 9, MSG_TEST_SOURCE + APART, LONG), 0);
	assert_int_equal(weft_msg_finish(m, &r[0], NULL), 0);
	assert_true(msg_test_is(MSG_TEST_TARGET, 1, LONG));
}

static void nodes_can_send_to_themselves(void **state)
{
	msg_test_everywhere(talk_to_self, NULL);
}

/* --- overload --- */

enum { FLOOD = 100 };

/* Everybody sends to node 0, far more than there is room for. */
static void flood(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m), i;
	uint32_t next[MSG_TEST_RANKS] = { 0 };
	struct weft_msg_status s;

	if (me) {
		for (i = 0; i < FLOOD; i++) {
			store_word(MSG_TEST_SOURCE, i);
			weft_msg_send(m, 0, me, MSG_TEST_SOURCE, 8);
		}
		return;
	}
	program_charge(200000 * SIM_NS);
	/* the last node's first, whoever else is in the way */
	for (i = 0; i < FLOOD; i++)
		assert_int_equal(take(m, n - 1, n - 1), i);
	for (i = 0; i < FLOOD * (n - 2); i++) {
		weft_msg_receive(
			m, WEFT_MSG_ANY, WEFT_MSG_ANY, MSG_TEST_TARGET, 8, &s);
		assert_int_equal(s.tag, s.rank);
		assert_int_equal(word(), next[s.rank]++);
	}
}

static void one_node_can_be_flooded(void **state)
{
	msg_test_everywhere(flood, &(struct weft_msg_options){ .slots = 2 });
	msg_test_everywhere(flood, NULL);
	msg_test_by_slots(
		flood, &(struct weft_msg_options){ .slots = 2, .pool = 2 });
}

/* Everybody starts long and short sends to everybody, then a barrier and an
 * atomic have to get through, and only then all is received. */
static void pile_up(struct weft_msg *m, void *arg)
{
	enum { EACH = 12, ALL = 16 * EACH };
	static const uint32_t sizes[] = { 8, 300, 900 };
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m), i, k;
	uint32_t each = n > 16 ? ALL / n : EACH;
	struct weft_msg_request r[ALL];
	struct weft_msg_status s;
	uint64_t old;

	msg_test_fill(MSG_TEST_SOURCE, me, 900);
	for (i = 0; i < each; i++)
		for (k = 0; k < n; k++)
			weft_msg_send_start(m, (me + k) % n, i, MSG_TEST_SOURCE,
				sizes[(i + k) % 3], &r[i * n + k]);
	weft_msg_barrier(m);
	weft_msg_atomic(
		m, (me + 3) % n, MSG_TEST_OTHER, WEFT_MSG_FETCH_ADD, 1, &old);
	assert_int_equal(old, 0);
	for (i = 0; i < each; i++) {
		for (k = 0; k < n; k++) {
			uint32_t from = (me + k) % n;
			uint32_t bytes = sizes[(i + (n - k) % n) % 3];

			assert_int_equal(weft_msg_receive(m, from, WEFT_MSG_ANY,
						 MSG_TEST_TARGET, 900, &s),
				0);
			assert_int_equal(s.tag, i);
			assert_int_equal(s.bytes, bytes);
			assert_true(msg_test_is(MSG_TEST_TARGET, from, bytes));
		}
	}
	for (i = 0; i < each * n; i++)
		weft_msg_finish(m, &r[i], NULL);
}

static void what_piles_up_holds_up_nothing_else(void **state)
{
	msg_test_everywhere(pile_up, NULL);
	msg_test_by_slots(pile_up, &(struct weft_msg_options){ .pool = 1 });
}

/* --- at random --- */

enum { STRESS = 70, OUT = 10, ROOM = 2048 };

struct drawn {
	uint32_t to, tag, bytes;
};

/* Drawn once: every rank looks at all of them. */
static uint64_t bits[MSG_TEST_RANKS][STRESS];

static void draw(void)
{
	for (uint32_t from = 0; from < MSG_TEST_RANKS; from++)
		for (uint32_t i = 0; i < STRESS; i++)
			bits[from][i] = random_draw(11, from, RANDOM_TEST, i).a;
}

static struct drawn message(uint32_t n, uint32_t from, uint32_t i)
{
	uint64_t x = bits[from][i];

	return (struct drawn){
		.to = (uint32_t)(x % n),
		.tag = (uint32_t)(x >> 20) % 4,
		.bytes = x >> 40 & 3 ? (uint32_t)(x >> 42) % 490
				     : (uint32_t)(x >> 42) % ROOM,
	};
}

/* How many a node gets of another one, by tag. */
static uint32_t n_expected(uint32_t n, uint32_t from, uint32_t to)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < STRESS; i++)
		sum += message(n, from, i).to == to;
	return sum;
}

struct stress {
	struct weft_msg_request send[OUT], receive[OUT];
	bool is_sent[OUT];
	uint32_t next[MSG_TEST_RANKS]
		     [4]; /* message to look at, by rank and tag */
};

/* The next message of a node with a tag is the one that has come. */
static void check(struct stress *t, struct weft_msg *m,
	const struct weft_msg_status *s, uint64_t at)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m);
	uint32_t *i = &t->next[s->rank][s->tag];
	struct drawn d = message(n, s->rank, *i);

	while (d.to != me || d.tag != s->tag) {
		assert_true(++*i < STRESS);
		d = message(n, s->rank, *i);
	}
	assert_int_equal(s->bytes, d.bytes);
	assert_true(msg_test_is(at, stream(s->rank, me, *i), d.bytes));
	++*i;
}

static void start_send(struct stress *t, struct weft_msg *m, uint32_t i)
{
	uint32_t k = i % OUT, me = weft_msg_rank(m);
	struct drawn d = message(weft_msg_ranks(m), me, i);
	uint64_t at = MSG_TEST_SOURCE + k * ROOM;

	t->is_sent[k] = true;
	msg_test_fill(at, stream(me, d.to, i), d.bytes);
	weft_msg_send_start(m, d.to, d.tag, at, d.bytes, &t->send[k]);
}

/* Sends and receives mixed, OUT of each at a time. */
static void stress(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m), i, k, all = 0;
	struct weft_msg_status s;
	struct stress t = { 0 };
	uint32_t got = 0, posted = 0, sent = 0, turn = 0;

	for (i = 0; i < n; i++)
		all += n_expected(n, i, me);
	while (got < all || sent < STRESS) {
		for (; posted < all && posted < got + OUT; posted++) {
			k = posted % OUT;
			weft_msg_receive_start(m, WEFT_MSG_ANY, WEFT_MSG_ANY,
				MSG_TEST_TARGET + k * ROOM, ROOM,
				&t.receive[k]);
		}
		/* nobody waits for a send whose receive may be its own */
		k = sent % OUT;
		if (sent < STRESS && (bits[me][turn++ % STRESS] >> 7) % 3 &&
			(!t.is_sent[k] || weft_msg_test(m, &t.send[k], NULL)))
			start_send(&t, m, sent++);
		/* in the order in which they were posted */
		for (k = 0; got < all && k < OUT; k++) {
			uint32_t j = got % OUT;

			if (got == posted ||
				!weft_msg_test(m, &t.receive[j], &s))
				break;
			check(&t, m, &s, MSG_TEST_TARGET + j * ROOM);
			got++;
		}
	}
	for (k = 0; k < OUT; k++)
		if (t.is_sent[k])
			weft_msg_finish(m, &t.send[k], NULL);
}

static void random_messages_arrive_in_order(void **state)
{
	draw();
	msg_test_everywhere(stress, NULL);
	msg_test_everywhere(
		stress, &(struct weft_msg_options){ .slots = 3, .eager = 100 });
	msg_test_everywhere(stress,
		&(struct weft_msg_options){ .slots = 4, .eager = 1200 });
	msg_test_by_slots(
		stress, &(struct weft_msg_options){
				.slots = 4, .eager = 1200, .pool = 2 });
}

/* A message of several slots needs all of them, in which others come first. */
static void send_parts(struct weft_msg *m, void *arg)
{
	enum { N = 40, BYTES = 1400 };
	struct weft_msg_status s;

	for (uint32_t i = 0; weft_msg_rank(m) == 0 && i < N; i++) {
		uint64_t bytes = i % 3 ? BYTES : 8;

		msg_test_fill(MSG_TEST_SOURCE, stream(0, 1, i), bytes);
		assert_int_equal(
			weft_msg_send(m, 1, i, MSG_TEST_SOURCE, bytes), 0);
	}
	if (weft_msg_rank(m) == 1)
		program_charge(100000 * SIM_NS);
	for (uint32_t i = 0; weft_msg_rank(m) == 1 && i < N; i++) {
		uint32_t k = i < 4 ? 3 - i : i; /* some came early */
		uint64_t bytes = k % 3 ? BYTES : 8;

		assert_int_equal(weft_msg_receive(m, 0, k, MSG_TEST_TARGET + 3,
					 BYTES, &s),
			0);
		assert_int_equal(s.bytes, bytes);
		assert_true(msg_test_is(
			MSG_TEST_TARGET + 3, stream(0, 1, k), bytes));
	}
}

/* MPI-F8. */
static void messages_of_several_slots_wait_for_all_of_them(void **state)
{
	msg_test_everywhere(send_parts,
		&(struct weft_msg_options){ .slots = 4, .eager = 1400 });
	msg_test_by_slots(
		send_parts, &(struct weft_msg_options){
				    .slots = 4, .eager = 1400, .pool = 1 });
}

/* --- many --- */

/* More long sends than there were answers once, received from the last one on.
 */
static void send_many(struct weft_msg *m, void *arg)
{
	enum { N = 150, BYTES = 600 };
	struct weft_msg_request r[N];

	for (uint32_t i = 0; weft_msg_rank(m) == 0 && i < N; i++) {
		uint64_t at = MSG_TEST_SOURCE + i * (uint64_t)BYTES;

		msg_test_fill(at, stream(0, 1, i), BYTES);
		assert_int_equal(
			weft_msg_send_start(m, 1, i, at, BYTES, &r[i]), 0);
	}
	for (uint32_t i = N; weft_msg_rank(m) == 1 && i > 0; i--) {
		assert_int_equal(weft_msg_receive(m, 0, i - 1, MSG_TEST_TARGET,
					 BYTES, NULL),
			0);
		assert_true(msg_test_is(
			MSG_TEST_TARGET, stream(0, 1, i - 1), BYTES));
	}
	for (uint32_t i = 0; weft_msg_rank(m) == 0 && i < N; i++)
		assert_int_equal(weft_msg_finish(m, &r[i], NULL), 0);
}

static void many_long_sends_wait_for_their_receives(void **state)
{
	msg_test_everywhere(send_many, NULL);
}

/* --- damaged --- */

static void damaged(struct weft_msg *msg, void *arg)
{
	struct msg_state *m = (struct msg_state *)msg;
	struct msg_peer p = { 0 };
	struct weft_msg_status got;

	for (uint8_t kind = MSG_SELF; kind < 9; kind += 3) {
		struct msg_trailer t = { .bytes = UINT64_C(1) << 62,
			.from = UINT64_MAX,
			.tag = 7,
			.kind = kind,
			.fin = UINT16_MAX };

		if (m->rank == 0)
			msg_lane_send(m, MSG_USER, 1, &p, &t, NULL, NULL);
		if (m->rank != 1)
			continue;
		assert_int_equal(weft_msg_receive(msg, 0, 7, MSG_TEST_TARGET,
					 WEFT_MSG_EAGER, &got),
			0);
		assert_int_equal(got.bytes, WEFT_MSG_EAGER);
	}
}

/* What comes in a slot may be anything; it is taken, and nothing breaks. */
static void a_damaged_message_is_a_short_one(void **state)
{
	msg_test_everywhere(damaged,
		&(struct weft_msg_options){ .matching = WEFT_MSG_MATCH_HOST });
}

TESTS(TEST(messages_of_all_sizes_arrive),
	TEST(the_threshold_parts_short_from_long),
	TEST(messages_match_by_node_and_tag),
	TEST(messages_too_long_are_cut_and_told),
	TEST(nodes_can_send_to_themselves), TEST(one_node_can_be_flooded),
	TEST(what_piles_up_holds_up_nothing_else),
	TEST(random_messages_arrive_in_order),
	TEST(messages_of_several_slots_wait_for_all_of_them),
	TEST(many_long_sends_wait_for_their_receives),
	TEST(a_damaged_message_is_a_short_one))
