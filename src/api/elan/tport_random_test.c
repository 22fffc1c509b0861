/*
 * Tagged ports against a model.  One process sends messages with random tags
 * and lengths, another posts random receives and cancels some.  Messages prefer
 * receives that were posted earlier, and receives prefer messages that were
 * sent earlier, so who gets what does not depend on times: the model goes
 * through the messages in their order, and gives each to the first receive
 * that it matches, of those that were not cancelled.
 */
#include <errno.h>

#include "api/elan/tport_testing.h"
#include "sim/random.h"
#include "testing/testing.h"

enum {
	MESSAGES = 60,
	RECEIVES = 60, /* and then one for each message that is left */
	ROOM = 8192,
	NOBODY = -1,
};

#define SOURCES UINT64_C(0x1000000)
#define TARGETS UINT64_C(0x4000000)

struct message {
	uint64_t tag;
	uint32_t bytes, pause;
};

struct receive {
	uint64_t tag, mask;
	uint32_t source, room, pause, handle;
	bool is_cancelled;
	int got; /* message, or NOBODY */
	int code;
	uint64_t told_bytes, told_tag;
};

struct play {
	uint64_t seed, drawn;
	struct message m[MESSAGES];
	struct receive r[RECEIVES + MESSAGES];
	uint32_t n; /* receives */
};

static uint32_t draw(struct play *x, uint32_t below)
{
	return (uint32_t)(random_draw(x->seed, 7, RANDOM_DATA, x->drawn++).a %
			  below);
}

static uint32_t length(struct play *x)
{
	static const uint32_t most[] = { 1, 65, 600, 2049, 6001 };

	return draw(x, most[draw(x, 5)]);
}

static void make(struct play *x, uint64_t seed)
{
	static const uint64_t mask[] = { UINT64_MAX, 0, 1, 0xff };

	x->seed = seed;
	x->drawn = 0;
	for (uint32_t i = 0; i < MESSAGES; i++)
		x->m[i] = (struct message){ (uint64_t)draw(x, 4) << 60 |
						    draw(x, 3),
			length(x), draw(x, 3) ? 0 : draw(x, 20) };
	x->n = RECEIVES;
	for (uint32_t i = 0; i < RECEIVES; i++)
		x->r[i] = (struct receive){
			.tag = (uint64_t)draw(x, 4) << 60 | draw(x, 3),
			.mask = mask[draw(x, 4)],
			.source = draw(x, 2) ? 0 : ELAN_TPORT_ANY,
			.room = draw(x, 5) ? ROOM : draw(x, 100),
			.pause = draw(x, 3) ? 0 : draw(x, 20),
			.is_cancelled = !draw(x, 5),
		};
}

/* --- the programs --- */

static void send_all(void *arg)
{
	struct play *x = arg;
	struct elan_tport t = tpt_open();
	uint32_t handle[MESSAGES];

	program_wait(20 * US);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		uint64_t at = SOURCES + i * ROOM;

		program_charge(x->m[i].pause * (sim_time)US);
		et_fill(at, 1 + i, x->m[i].bytes);
		assert_int_equal(elan_tport_tx_start(&t, 1, x->m[i].tag, at,
					 x->m[i].bytes, &handle[i]),
			0);
	}
	for (uint32_t i = 0; i < MESSAGES; i++)
		assert_int_equal(elan_tport_wait(&t, handle[i], NULL), 0);
}

static void begin(struct elan_tport *t, struct play *x, uint32_t i)
{
	struct receive *r = &x->r[i];

	program_charge(r->pause * (sim_time)US);
	r->handle = tpt_post(t, r->source, r->tag, r->mask,
		TARGETS + i * (uint64_t)ROOM, r->room);
}

static void end(struct elan_tport *t, struct receive *r)
{
	struct elan_tport_status s = { 0 };

	r->code = elan_tport_wait(t, r->handle, &s);
	r->told_bytes = s.bytes;
	r->told_tag = s.tag;
}

/* Those that are to be cancelled, and then all that have no message. */
static uint32_t end_some(struct elan_tport *t, struct play *x)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < RECEIVES; i++)
		if (!x->r[i].is_cancelled)
			assert_int_equal(
				elan_tport_cancel(t, x->r[i].handle), 0);
	for (uint32_t i = 0; i < RECEIVES; i++) {
		if (!x->r[i].is_cancelled)
			end(t, &x->r[i]);
		n += x->r[i].code != ECANCELED;
	}
	return n;
}

static void receive_all(void *arg)
{
	struct play *x = arg;
	struct elan_tport t = tpt_open();
	uint32_t n;

	program_wait((20 + 400 * (sim_time)(x->seed % 2)) * US);
	for (uint32_t i = 0; i < RECEIVES; i++) {
		begin(&t, x, i);
		if (i < 3 || !x->r[i - 3].is_cancelled)
			continue;
		assert_int_equal(elan_tport_cancel(&t, x->r[i - 3].handle), 0);
	}
	for (uint32_t i = 0; i < RECEIVES; i++) {
		if (i + 3 < RECEIVES && x->r[i].is_cancelled)
			end(&t, &x->r[i]);
		else
			x->r[i].is_cancelled = false;
	}
	n = end_some(&t, x);
	for (; n < MESSAGES; n++) {
		x->r[x->n] = (struct receive){ .room = ROOM };
		begin(&t, x, x->n);
		end(&t, &x->r[x->n++]);
	}
	assert_int_equal(elan_tport_close(&t), 0);
}

/* --- the model --- */

static bool takes(const struct receive *r, const struct message *m)
{
	return r->code != ECANCELED && r->got == NOBODY &&
	       !((r->tag ^ m->tag) & r->mask);
}

static void match(struct play *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		x->r[i].got = NOBODY;
	for (uint32_t i = 0; i < MESSAGES; i++) {
		uint32_t k = 0;

		while (k < x->n && !takes(&x->r[k], &x->m[i]))
			k++;
		assert_true(k < x->n);
		x->r[k].got = (int)i;
	}
}

static void check(const struct et *e, const struct play *x, uint32_t i)
{
	const struct receive *r = &x->r[i];
	const struct message *m = &x->m[r->got];
	uint32_t n = m->bytes < r->room ? m->bytes : r->room;
	uint8_t here[ROOM];

	assert_int_equal(r->code, m->bytes > r->room ? EMSGSIZE : 0);
	assert_int_equal(r->told_bytes, m->bytes);
	assert_int_equal(r->told_tag, m->tag);
	host_read(e->host, 1, TARGETS + i * (uint64_t)ROOM, here, n);
	for (uint32_t k = 0; k < n; k++)
		assert_int_equal(here[k], et_byte(1 + (uint64_t)r->got, k));
}

/* By each way that nic.match.by selects. */
static void who_gets_what_is_as_in_the_model(void **state)
{
	static struct play x;
	struct et *m = *state;
	uint64_t moved = 0, cancelled = 0;

	for (uint64_t seed = 1; seed <= 18; seed++) {
		if (seed > 1) {
			et_fini(m);
			et_init(m, "4");
		}
		m->params.match.slots = seed % 3 ? 64 : 6;
		m->params.match.by = seed <= 12	  ? ELAN_MATCH_CARD
				     : seed <= 15 ? ELAN_MATCH_REJECT
						  : ELAN_MATCH_INTERRUPT;
		make(&x, seed);
		et_run_two(m, send_all, receive_all, &x);
		match(&x);
		for (uint32_t i = 0; i < x.n; i++) {
			cancelled += x.r[i].code == ECANCELED;
			if (x.r[i].code != ECANCELED)
				check(m, &x, i);
		}
		moved += et_counts(m, 1).noted[ELAN_MOVED];
	}
	assert_true(moved > 20);
	assert_true(cancelled > 50);
}

TESTS(ET_TEST(who_gets_what_is_as_in_the_model))
