/* Tagged ports: data words, sends that end when they are matched, and messages
 * that are claimed or dropped. */
#include <errno.h>

#include "api/elan/tport_testing.h"
#include "testing/testing.h"

enum { LENGTHS = 7, MOST = 9000, SLOTS = 4 };

static const uint32_t length[LENGTHS] = { 0, 8, 61, 2032, 2041, 2048, MOST };

static struct elan_tport_message message(
	uint32_t rank, uint64_t tag, uint32_t flags, uint64_t at, uint64_t n)
{
	return (struct elan_tport_message){ .tag = tag,
		.mask = TPT_ALL,
		.data = ~tag,
		.rank = rank,
		.flags = flags,
		.at = at,
		.bytes = n };
}

static uint32_t send(struct elan_tport *t, uint64_t tag, uint32_t flags)
{
	uint32_t n = length[tag % LENGTHS], handle;
	uint64_t at = ET_SOURCE + tag * 2 * MOST;
	const struct elan_tport_message m = message(1, tag, flags, at, n);

	et_fill(at, tag, n);
	assert_int_equal(elan_tport_send(t, &m, &handle), 0);
	return handle;
}

/* Ends a receive of a message. */
static void expect(struct elan_tport *t, uint32_t handle, uint64_t tag,
	bool has_data, uint64_t at)
{
	uint32_t n = length[tag % LENGTHS];
	struct elan_tport_status s;

	assert_int_equal(elan_tport_wait(t, handle, &s), 0);
	assert_int_equal(s.tag, tag);
	assert_int_equal(s.bytes, n);
	assert_int_equal(s.flags, has_data ? ELAN_TPORT_DATA : 0);
	assert_int_equal(s.data, has_data ? ~tag : 0);
	if (at)
		et_expect(at, tag, n);
}

static uint32_t post(struct elan_tport *t, uint64_t tag)
{
	return tpt_post(t, 0, tag, TPT_ALL, ET_TARGET + tag * 2 * MOST, MOST);
}

static uint32_t peek(struct elan_tport *t, uint64_t tag, uint32_t flags)
{
	const struct elan_tport_message m = message(0, tag, flags, 0, 0);
	uint32_t handle;

	assert_int_equal(elan_tport_peek(t, &m, &handle), 0);
	return handle;
}

/* --- data words --- */

enum { ROUND = 3 * LENGTHS };

/* With a word, without one, and with one. */
static bool has_word(uint64_t tag)
{
	return tag / LENGTHS != 1;
}

static void send_words(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t handle[ROUND];

	(void)arg;
	program_wait(20 * US);
	for (uint32_t i = 0; i < ROUND; i++)
		handle[i] = send(&t, i, has_word(i) ? ELAN_TPORT_DATA : 0);
	for (uint32_t i = 0; i < ROUND; i++)
		assert_int_equal(elan_tport_wait(&t, handle[i], NULL), 0);
}

/* Those of even numbers come early, and are looked at first. */
static void receive_words(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t handle[ROUND];

	(void)arg;
	for (uint32_t i = 1; i < ROUND; i += 2)
		handle[i] = post(&t, i);
	program_wait(200 * US);
	for (uint32_t i = 0; i < ROUND; i += 2) {
		expect(&t, peek(&t, i, 0), i, has_word(i), 0);
		handle[i] = post(&t, i);
	}
	for (uint32_t i = 0; i < ROUND; i++)
		expect(&t, handle[i], i, has_word(i),
			ET_TARGET + (uint64_t)i * 2 * MOST);
	assert_int_equal(elan_tport_close(&t), 0);
}

static void data_words_come_with_messages_of_all_lengths(void **state)
{
	struct et *m = *state;

	m->params.match.slots = 64;
	et_run_two(m, send_words, receive_words, NULL);
	et_fini(m);
	et_init(m, "4");
	m->params.match.slots = SLOTS; /* most move to host memory */
	et_run_two(m, send_words, receive_words, NULL);
	assert_true(et_counts(m, 1).noted[ELAN_MOVED] > 4);
}

struct sent {
	uint32_t flags, bytes;
};

static void send_one(void *arg)
{
	const struct sent *x = arg;
	struct elan_tport t = tpt_open();
	const struct elan_tport_message m =
		message(1, 1, x->flags, ET_SOURCE, x->bytes);
	uint32_t handle;

	program_wait(20 * US);
	assert_int_equal(elan_tport_send(&t, &m, &handle), 0);
	assert_int_equal(elan_tport_wait(&t, handle, NULL), 0);
}

static void receive_one(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	assert_int_equal(elan_tport_wait(&t, post(&t, 1), NULL), 0);
}

/* A packet's time on the link shows its bytes. */
static sim_time on_link(struct et *m, uint32_t flags, uint32_t n)
{
	struct sent x = { flags, n };
	static struct tpt_told told;

	et_fini(m);
	et_init(m, "4");
	tpt_run(m, &told, send_one, receive_one, &x);
	return told.of[0].budget.spent[CAUSE_SERIALISATION];
}

static void only_what_is_asked_for_is_sent(void **state)
{
	struct et *m = *state;
	sim_time word = on_link(m, 0, 16) - on_link(m, 0, 8);

	assert_true(word > 0);
	assert_int_equal(on_link(m, ELAN_TPORT_DATA, 8), on_link(m, 0, 16));
	assert_int_equal(on_link(m, ELAN_TPORT_SYNC, 8), on_link(m, 0, 24));
	assert_int_equal(on_link(m, ELAN_TPORT_SYNC | ELAN_TPORT_DATA, 8),
		on_link(m, 0, 32));
}

/* --- sends that end when they are matched --- */

static void send_sync(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t handle[LENGTHS];

	(void)arg;
	program_wait(20 * US);
	for (uint32_t i = 0; i < LENGTHS; i++)
		handle[i] = send(&t, i, ELAN_TPORT_SYNC);
	program_wait(199 * US);
	for (uint32_t i = 0; i < LENGTHS; i++) {
		assert_int_not_equal(handle[i], 0);
		assert_int_equal(
			elan_tport_test(&t, handle[i], NULL), EINPROGRESS);
	}
	for (uint32_t i = 0; i < LENGTHS; i++)
		assert_int_equal(elan_tport_wait(&t, handle[i], NULL), 0);
	assert_in_range(program_now(), 200 * US, 240 * US);
}

static void receive_sync(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(200 * US);
	for (uint32_t i = 0; i < LENGTHS; i++)
		expect(&t, post(&t, i), i, false,
			ET_TARGET + (uint64_t)i * 2 * MOST);
}

static void a_sender_waits_for_the_match(void **state)
{
	et_run_two(*state, send_sync, receive_sync, NULL);
}

/* --- claims --- */

enum { COPIES = 3, CLAIMS = COPIES * LENGTHS };

/* Of each length three: claimed, claimed and dropped, and dropped at once. */
static void send_claims(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t handle[CLAIMS];

	(void)arg;
	program_wait(20 * US);
	for (uint32_t i = 0; i < CLAIMS; i++)
		handle[i] = send(
			&t, i, ELAN_TPORT_DATA | (i % 2 ? ELAN_TPORT_SYNC : 0));
	for (uint32_t i = 0; i < CLAIMS; i++)
		assert_int_equal(elan_tport_wait(&t, handle[i], NULL), 0);
}

static void receive_claim(
	struct elan_tport *t, uint64_t tag, uint32_t handle, uint32_t flags)
{
	uint64_t at = ET_TARGET + tag * 2 * MOST;
	const struct elan_tport_message m =
		message(0, 0, ELAN_TPORT_CLAIM | flags, at, MOST);
	uint32_t again = handle;

	assert_int_equal(elan_tport_receive(t, &m, &handle), 0);
	assert_int_equal(elan_tport_receive(t, &m, &again), EINVAL);
	expect(t, handle, tag, true, flags ? 0 : at);
}

static void claim_all(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t handle[CLAIMS], late;
	struct elan_tport_status s;

	(void)arg;
	program_wait(200 * US);
	for (uint32_t i = 0; i < CLAIMS; i++) {
		handle[i] = peek(&t, i,
			i < 2 * LENGTHS ? ELAN_TPORT_CLAIM
					: ELAN_TPORT_DISCARD);
		expect(&t, handle[i], i, true, 0);
	}
	/* nobody else gets them */
	late = tpt_post(&t, ELAN_TPORT_ANY, 0, 0, ET_TARGET, MOST);
	for (uint32_t i = 0; i < CLAIMS; i++)
		assert_int_equal(
			elan_tport_wait(&t, peek(&t, i, 0), &s), ENOMSG);
	assert_int_equal(elan_tport_test(&t, late, NULL), EINPROGRESS);
	/* the last one first */
	for (uint32_t i = 2 * LENGTHS; i; i--)
		receive_claim(&t, i - 1, handle[i - 1],
			i > LENGTHS ? ELAN_TPORT_DISCARD : 0);
	assert_int_equal(elan_tport_cancel(&t, late), 0);
	assert_int_equal(elan_tport_wait(&t, late, NULL), ECANCELED);
	assert_int_equal(elan_tport_close(&t), 0);
}

static void what_is_claimed_is_for_one_receive(void **state)
{
	struct et *m = *state;

	for (uint32_t i = 0; i < 4; i++) {
		et_fini(m);
		et_init(m, "4");
		m->params.match.slots = i == 3 ? 64 : SLOTS << 2 * i;
		m->params.match.by =
			i == 3 ? ELAN_MATCH_INTERRUPT : ELAN_MATCH_CARD;
		et_run_two(m, send_claims, claim_all, NULL);
	}
}

/* --- spaces --- */

enum { SPACES = 4, IN_SPACE = SPACES * LENGTHS };

static uint16_t space_of(uint32_t i)
{
	static const uint16_t of[SPACES] = { 0, 1, 2, UINT16_MAX };

	return of[i % SPACES];
}

/* Message i has length i / SPACES, and a word if that is odd. */
static void send_spaces(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t handle[IN_SPACE], n;

	(void)arg;
	program_wait(20 * US);
	for (uint32_t i = 0; i < IN_SPACE; i++) {
		uint64_t at = ET_SOURCE + i * 2 * MOST;
		struct elan_tport_message m =
			message(1, 3, i / SPACES % 2 ? ELAN_TPORT_DATA : 0, at,
				n = length[i / SPACES]);

		m.space = space_of(i);
		et_fill(at, i, n);
		assert_int_equal(elan_tport_send(&t, &m, &handle[i]), 0);
	}
	for (uint32_t i = 0; i < IN_SPACE; i++)
		assert_int_equal(elan_tport_wait(&t, handle[i], NULL), 0);
}

static uint32_t post_space(struct elan_tport *t, uint32_t i)
{
	struct elan_tport_message m =
		message(0, 3, 0, ET_TARGET + i * 2 * MOST, MOST);
	uint32_t handle;

	m.space = space_of(i);
	m.mask = i % 5 ? TPT_ALL : 0;
	assert_int_equal(elan_tport_receive(t, &m, &handle), 0);
	return handle;
}

static uint32_t nth_of(uint32_t space, uint32_t n)
{
	return n * SPACES + space;
}

/* All of one space, then all of the next; half of them are posted before. */
static void receive_spaces(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t handle[IN_SPACE], i;
	struct elan_tport_status s;

	(void)arg;
	for (uint32_t n = 0; n < LENGTHS; n++)
		for (uint32_t k = 0; k < SPACES; k += 2)
			handle[nth_of(k, n)] = post_space(&t, nth_of(k, n));
	program_wait(200 * US);
	for (uint32_t k = 1; k < SPACES; k += 2)
		for (uint32_t n = 0; n < LENGTHS; n++)
			handle[nth_of(k, n)] = post_space(&t, nth_of(k, n));
	for (i = 0; i < IN_SPACE; i++) {
		assert_int_equal(elan_tport_wait(&t, handle[i], &s), 0);
		assert_int_equal(s.bytes, length[i / SPACES]);
		assert_int_equal(s.flags, i / SPACES % 2 ? ELAN_TPORT_DATA : 0);
		et_expect(ET_TARGET + (uint64_t)i * 2 * MOST, i,
			length[i / SPACES]);
	}
	assert_int_equal(elan_tport_close(&t), 0);
}

static void messages_of_different_spaces_do_not_meet(void **state)
{
	struct et *m = *state;

	for (uint32_t slots = SLOTS; slots <= 64; slots *= 4) {
		et_fini(m);
		et_init(m, "4");
		m->params.match.slots = slots;
		et_run_two(m, send_spaces, receive_spaces, NULL);
	}
}

/* --- as MPI's messages are: of space 2, with the sender's rank --- */

enum { USUAL = 2 * LENGTHS };

static void send_usual(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t handle[USUAL];

	(void)arg;
	program_wait(20 * US);
	for (uint32_t i = 0; i < USUAL; i++) {
		uint64_t at = ET_SOURCE + i * 2 * MOST;
		uint32_t n = length[i % LENGTHS];
		struct elan_tport_message m = message(1, i,
			ELAN_TPORT_DATA | (i % 3 ? 0 : ELAN_TPORT_SYNC), at, n);

		m.space = 2;
		m.data = 0;
		et_fill(at, i, n);
		assert_int_equal(elan_tport_send(&t, &m, &handle[i]), 0);
	}
	for (uint32_t i = 0; i < USUAL; i++)
		assert_int_equal(elan_tport_wait(&t, handle[i], NULL), 0);
}

static uint32_t post_usual(struct elan_tport *t, uint32_t i)
{
	struct elan_tport_message m =
		message(0, i, 0, ET_TARGET + i * 2 * MOST, MOST);
	uint32_t handle;

	m.space = 2;
	assert_int_equal(elan_tport_receive(t, &m, &handle), 0);
	return handle;
}

/* Some are posted before their messages come. */
static void receive_usual(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t handle[USUAL];
	struct elan_tport_status s;

	(void)arg;
	for (uint32_t i = 0; i < USUAL; i += 2)
		handle[i] = post_usual(&t, i);
	program_wait(200 * US);
	for (uint32_t i = 1; i < USUAL; i += 2)
		handle[i] = post_usual(&t, i);
	for (uint32_t i = 0; i < USUAL; i++) {
		assert_int_equal(elan_tport_wait(&t, handle[i], &s), 0);
		assert_int_equal(s.bytes, length[i % LENGTHS]);
		assert_int_equal(s.flags, ELAN_TPORT_DATA);
		assert_int_equal(s.data, 0);
		et_expect(ET_TARGET + (uint64_t)i * 2 * MOST, i,
			length[i % LENGTHS]);
	}
	assert_int_equal(elan_tport_close(&t), 0);
}

static void messages_as_mpi_has_them_need_no_words(void **state)
{
	struct et *m = *state;

	for (uint32_t slots = SLOTS; slots <= 64; slots *= 4) {
		et_fini(m);
		et_init(m, "4");
		m->params.match.slots = slots;
		et_run_two(m, send_usual, receive_usual, NULL);
	}
}

/* --- peeks that last --- */

static void send_late(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(50 * US);
	elan_tport_wait(&t, send(&t, 1, 0), NULL);
	program_wait(100 * US);
	elan_tport_wait(&t, send(&t, 2, 0), NULL);
	elan_tport_wait(&t, send(&t, 3, 0), NULL);
}

static void peek_before(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t first = peek(&t, 1, ELAN_TPORT_LASTS);
	uint32_t second = peek(&t, 2, ELAN_TPORT_LASTS | ELAN_TPORT_CLAIM);
	struct elan_tport_message m =
		message(0, 2, ELAN_TPORT_CLAIM, ET_TARGET, MOST);

	(void)arg;
	expect(&t, first, 1, false, 0);
	assert_true(program_now() > 50 * US && program_now() < 60 * US);
	/* it is still there; now it need not wait */
	expect(&t, peek(&t, 1, ELAN_TPORT_LASTS), 1, false, 0);
	expect(&t, post(&t, 1), 1, false, ET_TARGET + 2 * MOST);
	expect(&t, second, 2, false, 0);
	assert_true(program_now() > 100 * US);
	assert_int_equal(elan_tport_receive(&t, &m, &second), 0);
	expect(&t, second, 2, false, ET_TARGET);
	expect(&t, post(&t, 3), 3, false, ET_TARGET + 3 * 2 * MOST);
	assert_int_equal(elan_tport_close(&t), 0);
}

static void a_peek_that_lasts_ends_with_its_message(void **state)
{
	struct et *m = *state;

	for (int64_t by = ELAN_MATCH_CARD; by <= ELAN_MATCH_INTERRUPT; by++) {
		et_fini(m);
		et_init(m, "4");
		m->params.match.by = by;
		et_run_two(m, send_late, peek_before, NULL);
	}
}

/* --- misuse --- */

static void misuse(void *arg)
{
	struct elan_tport t = tpt_open();
	const struct elan_tport_message m =
		message(0, 0, ELAN_TPORT_CLAIM, ET_TARGET, 8);
	uint32_t handle = 0, other = post(&t, 1);

	(void)arg;
	assert_int_equal(elan_tport_receive(&t, &m, &handle), EINVAL);
	handle = 77;
	assert_int_equal(elan_tport_receive(&t, &m, &handle), EINVAL);
	handle = other;
	assert_int_equal(elan_tport_receive(&t, &m, &handle), EINVAL);
	/* a look that found nothing claims nothing */
	handle = peek(&t, 5, ELAN_TPORT_CLAIM);
	assert_int_equal(elan_tport_wait(&t, handle, NULL), ENOMSG);
	assert_int_equal(elan_tport_receive(&t, &m, &handle), EINVAL);
}

static void only_what_was_claimed_can_be_received_so(void **state)
{
	et_run_two(*state, misuse, NULL, NULL);
}

TESTS(ET_TEST(data_words_come_with_messages_of_all_lengths),
	ET_TEST(only_what_is_asked_for_is_sent),
	ET_TEST(a_sender_waits_for_the_match),
	ET_TEST(what_is_claimed_is_for_one_receive),
	ET_TEST(messages_of_different_spaces_do_not_meet),
	ET_TEST(messages_as_mpi_has_them_need_no_words),
	ET_TEST(a_peek_that_lasts_ends_with_its_message),
	ET_TEST(only_what_was_claimed_can_be_received_so))
