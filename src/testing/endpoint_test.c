/* Endpoints of ranks on every machine, whose client is a program. */
#include "outside/endpoint.h"

#include <errno.h>

#include <string.h>

#include "base/mem.h"
#include "sim/random.h"
#include "testing/msg_testing.h"
#include "testing/testing.h"

#define TAG	UINT64_C(0xfedcba9876543210)
#define CONTEXT UINT64_C(0xffff800012345678)

enum { FEW = 4 };

/* Bytes that come with commands. */
struct client {
	uint8_t room[CHANNEL_ROOM];
	uint32_t holds;
};

/* The client's memory is its process's. */
static int take(void *arg, uint64_t bytes, uint64_t *at, uint32_t *hold)
{
	struct client *c = arg;

	if (!program_has(*at, bytes))
		return EFAULT;
	*at += program_base();
	*hold = 0;
	c->holds++;
	return 0;
}

static void give(void *arg, uint32_t hold)
{
	struct client *c = arg;

	assert_int_equal(hold, 0);
	c->holds--;
}

static bool load(void *arg, uint64_t offset, void *to, uint64_t bytes)
{
	const struct client *c = arg;

	if (offset > CHANNEL_ROOM || bytes > CHANNEL_ROOM - offset)
		return false;
	memcpy(to, c->room + offset, bytes);
	return true;
}

struct job {
	const struct kit_kind *kind;
	uint32_t n_ranks, n_processes;
	void (*run)(struct endpoint *e, struct client *c);
	bool is_left_open;
};

/* Its state is too large for a stack. */
struct state {
	struct endpoint e;
	struct client c;
};

static void rank_program(void *arg)
{
	const struct job *j = arg;
	struct state *s = mem_alloc(1, sizeof(*s));
	const struct endpoint_client c = {
		.take = take, .give = give, .load = load, .arg = &s->c
	};
	const struct weft_msg_options o = { .matching = WEFT_MSG_MATCH_HOST };

	assert_int_equal(endpoint_open(&s->e, &c, &o), 0);
	j->run(&s->e, &s->c);
	if (!j->is_left_open) {
		assert_int_equal(endpoint_close(&s->e), 0);
		assert_int_equal(s->c.holds, 0);
	}
	endpoint_free(&s->e);
	mem_free(s);
}

static uint64_t run_job(struct job *j, uint32_t n_workers)
{
	return kit_run_all(j->kind, n_workers, j->n_processes, rank_program, j);
}

static void everywhere(
	void (*run)(struct endpoint *e, struct client *c), bool is_left_open)
{
	struct kit_kinds kinds;

	kit_find_kinds(&kinds);
	for (uint32_t i = 0; i < kinds.n; i++) {
		struct job j = { .kind = &kinds.kind[i],
			.n_processes = i % 2 ? 1 : 2,
			.run = run,
			.is_left_open = is_left_open };
		uint64_t digest = run_job(&j, 1);

		assert_true(run_job(&j, 3) == digest);
	}
}

/* --- helpers --- */

static void one(struct endpoint *e, struct channel_command c)
{
	endpoint_execute(e, &c, 1);
}

static struct channel_completion wait_for(struct endpoint *e)
{
	struct channel_completion c;

	endpoint_wait(e, SIM_NEVER);
	assert_true(endpoint_next(e, &c));
	return c;
}

static uint32_t me(struct endpoint *e)
{
	return weft_msg_rank(&e->msg);
}

static uint32_t next_of(struct endpoint *e)
{
	return (me(e) + 1) % weft_msg_ranks(&e->msg);
}

static uint32_t prev_of(struct endpoint *e)
{
	uint32_t n = weft_msg_ranks(&e->msg);

	return (me(e) + n - 1) % n;
}

static struct channel_command receive_of(uint64_t bytes)
{
	return (struct channel_command){ .kind = CHANNEL_RECEIVE,
		.flags = CHANNEL_TAGGED,
		.rank = CHANNEL_ANY,
		.tag = TAG,
		.at = MSG_TEST_TARGET,
		.bytes = bytes,
		.context = CONTEXT };
}

static struct channel_command send_to(uint32_t rank, uint64_t bytes)
{
	return (struct channel_command){ .kind = CHANNEL_SEND,
		.flags = CHANNEL_TAGGED | CHANNEL_SILENT,
		.rank = rank,
		.tag = TAG,
		.at = MSG_TEST_SOURCE,
		.bytes = bytes };
}

/* --- tests --- */

static void exchange(struct endpoint *e, struct client *client)
{
	static const uint64_t sizes[] = { 0, 1, 464, 465, 480, 481, 5000 };

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct channel_command s = send_to(next_of(e), sizes[i]);
		struct channel_completion c;

		msg_test_fill(MSG_TEST_SOURCE, me(e) + i, sizes[i]);
		s.flags = CHANNEL_TAGGED | CHANNEL_HAS_DATA;
		s.tag = TAG + i;
		s.data = ~UINT64_C(7) - i;
		s.context = 1;
		one(e, receive_of(6000));
		one(e, (struct channel_command){
			       .kind = CHANNEL_CANCEL, .context = CONTEXT });
		c = wait_for(e);
		assert_int_equal(c.error, ECANCELED);
		s.ignore = UINT64_MAX; /* of a send, without effect */
		one(e, s);
		s = receive_of(6000);
		s.rank = prev_of(e);
		s.tag = TAG | 15;
		s.ignore = 15;
		one(e, s);
		for (uint32_t k = 0; k < 2; k++) {
			c = wait_for(e);
			assert_int_equal(c.error, 0);
			if (c.kind == CHANNEL_SEND) {
				assert_int_equal(c.context, 1);
				continue;
			}
			assert_true(c.context == CONTEXT);
			assert_int_equal(c.kind, CHANNEL_RECEIVE);
			assert_true(c.tag == TAG + i);
			assert_true(c.data == ~UINT64_C(7) - i);
			assert_true(c.flags & CHANNEL_HAS_DATA);
			assert_int_equal(c.rank, prev_of(e));
			assert_int_equal(c.bytes, sizes[i]);
			assert_int_equal(c.stored, sizes[i]);
			assert_true(msg_test_is(
				MSG_TEST_TARGET, prev_of(e) + i, sizes[i]));
		}
	}
}

static void messages_have_tags_of_64_bits_and_a_data_word(void **state)
{
	everywhere(exchange, false);
}

static void separate(struct endpoint *e, struct client *client)
{
	struct channel_command s = send_to(next_of(e), 8), r = receive_of(8);
	struct channel_completion c;
	uint64_t seen[FEW] = { 0 };

	/* the last is received first */
	for (uint16_t i = 0; i < FEW; i++) {
		memcpy(client->room + 8 * i, &(uint64_t){ 100u + i }, 8);
		s.flags = (uint16_t)(CHANNEL_SILENT | CHANNEL_IN_ROOM |
				     (i % 2 ? CHANNEL_TAGGED : 0));
		s.at = 8u * i;
		s.to = i / 2;
		one(e, s);
	}
	memset(client->room, 0, sizeof(client->room));
	for (uint16_t i = FEW; i--;) {
		r.flags = i % 2 ? CHANNEL_TAGGED : 0;
		r.endpoint = i / 2;
		r.at = MSG_TEST_TARGET + 8u * i;
		r.context = i;
		one(e, r);
		c = wait_for(e);
		assert_int_equal(c.context, i);
		assert_int_equal(c.endpoint, i / 2);
	}
	assert_true(weft_msg_load(MSG_TEST_TARGET, seen, sizeof(seen)));
	for (uint32_t i = 0; i < FEW; i++)
		assert_int_equal(seen[i], 100 + i);
}

/* MPI-F8. */
static void spaces_and_endpoints_do_not_meet(void **state)
{
	everywhere(separate, false);
}

static void look(struct endpoint *e, struct client *client)
{
	struct channel_command p = receive_of(0), r = receive_of(6000);
	struct channel_completion c;

	p.kind = CHANNEL_PEEK;
	one(e, p);
	c = wait_for(e);
	assert_int_equal(c.error, ENOMSG);
	for (uint64_t i = 0; i < 3; i++) {
		msg_test_fill(MSG_TEST_SOURCE + 5000 * i, i, 4000);
		p.tag = TAG + i;
		r = send_to(next_of(e), i == 1 ? 4000 : 40);
		r.at += 5000 * i;
		r.tag = TAG + i;
		one(e, r);
	}
	/* one that lasts sees it when it comes; the second is claimed, and the
	 * third is dropped */
	p.tag = TAG + 2;
	p.flags |= CHANNEL_LASTS;
	one(e, p);
	c = wait_for(e);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.bytes, 40);
	p.flags |= CHANNEL_DISCARD;
	one(e, p);
	assert_int_equal(wait_for(e).error, 0);
	p.tag = TAG;
	p.ignore = 1;
	p.flags = CHANNEL_TAGGED;
	one(e, p);
	assert_true(wait_for(e).tag == TAG);
	p.tag = TAG + 1;
	p.ignore = 0;
	p.flags = CHANNEL_TAGGED | CHANNEL_CLAIM | CHANNEL_LASTS;
	p.context = 55;
	one(e, p);
	assert_int_equal(wait_for(e).bytes, 4000);
	/* others come in between */
	r = receive_of(8);
	r.tag = TAG + 77;
	one(e, r);
	r = receive_of(6000);
	r.ignore = UINT64_MAX;
	one(e, r);
	c = wait_for(e);
	assert_true(c.tag == TAG);
	r.flags |= CHANNEL_CLAIM;
	r.context = 55;
	one(e, r);
	c = wait_for(e);
	assert_int_equal(c.error, 0);
	assert_true(c.tag == TAG + 1);
	assert_true(msg_test_is(MSG_TEST_TARGET, 1, 4000));
	one(e, (struct channel_command){
		       .kind = CHANNEL_CANCEL, .context = CONTEXT });
	assert_int_equal(wait_for(e).error, ECANCELED);
}

static void messages_are_looked_at_claimed_and_dropped(void **state)
{
	everywhere(look, false);
}

static void store_word(uint64_t at, uint64_t word)
{
	weft_msg_store(at, &word, sizeof(word));
}

static uint64_t load_word(uint64_t at)
{
	uint64_t word = 0;

	assert_true(weft_msg_load(at, &word, sizeof(word)));
	return word;
}

/* Messages of eight bytes, and peeks that claim them. */
static void claim_all(struct endpoint *e)
{
	for (uint64_t i = 0; i < FEW; i++) {
		struct channel_command s = send_to(next_of(e), 8);
		struct channel_command p = receive_of(0);

		s.at += 8 * i;
		store_word(s.at, 100 + i);
		s.tag = p.tag = TAG + i;
		one(e, s);
		p.kind = CHANNEL_PEEK;
		p.flags = CHANNEL_TAGGED | CHANNEL_CLAIM | CHANNEL_LASTS;
		p.context = i;
		one(e, p);
		assert_int_equal(wait_for(e).context, i);
	}
}

static void claim(struct endpoint *e, struct client *client)
{
	struct channel_command r = receive_of(8), p = receive_of(0);
	struct channel_completion c;

	/* a receive that waits has claimed nothing */
	r.tag = TAG + 77;
	r.context = FEW;
	one(e, r);
	r.flags |= CHANNEL_CLAIM;
	one(e, r);
	assert_int_equal(wait_for(e).error, EINVAL);
	claim_all(e);
	/* nobody else sees them */
	p.kind = CHANNEL_PEEK;
	p.ignore = UINT64_MAX;
	one(e, p);
	assert_int_equal(wait_for(e).error, ENOMSG);
	for (uint64_t i = FEW; i--;) {
		r.context = i;
		/* the last to be received is thrown away */
		r.flags |= i ? 0 : CHANNEL_DISCARD;
		one(e, r);
		c = wait_for(e);
		assert_int_equal(c.error, 0);
		assert_true(c.tag == TAG + i);
		assert_int_equal(c.bytes, 8);
		assert_int_equal(c.stored, i ? 8 : 0);
		assert_int_equal(load_word(MSG_TEST_TARGET), 100 + (i ? i : 1));
	}
	one(e, (struct channel_command){
		       .kind = CHANNEL_CANCEL, .context = FEW });
	assert_int_equal(wait_for(e).error, ECANCELED);
}

/* MPI-F8. */
static void a_claimed_message_goes_to_its_receive_only(void **state)
{
	everywhere(claim, false);
}

/* Receives of one context at two endpoints, from two endpoints. */
static void choose(struct endpoint *e, struct client *client)
{
	struct channel_command s = send_to(next_of(e), 8), r = receive_of(8);
	struct channel_command x = { .kind = CHANNEL_CANCEL, .context = 1 };
	struct channel_completion c;

	r.rank = prev_of(e);
	r.endpoint = 3;
	for (uint16_t i = 1; i < 3; i++) {
		r.to = i;
		r.context = i;
		one(e, r);
	}
	s.endpoint = 2;
	s.to = 3;
	one(e, s);
	c = wait_for(e);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.context, 2);
	assert_int_equal(c.from_endpoint, 2);
	r.endpoint = 0;
	r.context = 1;
	one(e, r);
	for (uint16_t i = 0; i < 2; i++) {
		x.endpoint = 3 * i;
		one(e, x);
		c = wait_for(e);
		assert_int_equal(c.error, ECANCELED);
		assert_int_equal(c.endpoint, 3 * i);
	}
}

static void receives_name_both_endpoints(void **state)
{
	everywhere(choose, false);
}

static void finish_as(struct endpoint *e, uint16_t flag)
{
	struct channel_command s = send_to(next_of(e), 8), r = receive_of(8);
	sim_time t = program_now();
	struct channel_completion c;

	s.flags = CHANNEL_TAGGED | flag;
	s.context = 3;
	one(e, s);
	endpoint_wait(e, t + 50000 * (sim_time)SIM_NS);
	assert_false(endpoint_has_next(e));
	assert_true(program_now() >= t + 49000 * (sim_time)SIM_NS);
	/* nobody receives while others still look */
	assert_int_equal(weft_msg_barrier(&e->msg), 0);
	r.flags |= CHANNEL_HAS_DATA; /* a message has it, or not */
	one(e, r);
	for (uint32_t k = 0; k < 2; k++) {
		c = wait_for(e);
		assert_int_equal(c.error, 0);
		assert_false(c.flags & CHANNEL_HAS_DATA);
	}
}

static void finish(struct endpoint *e, struct client *client)
{
	finish_as(e, CHANNEL_SYNC);
	finish_as(e, CHANNEL_DELIVERED);
}

/* MPI-F8. */
static void a_send_can_end_when_it_is_matched(void **state)
{
	everywhere(finish, false);
}

static void err(struct endpoint *e, struct client *client)
{
	struct channel_command s = send_to(next_of(e), 8), r = receive_of(4);
	struct channel_completion c;

	s.rank = weft_msg_ranks(&e->msg);
	one(e, s);
	assert_int_equal(wait_for(e).error, EHOSTUNREACH);
	s.rank = next_of(e);
	s.at = UINT64_MAX - 3;
	one(e, s);
	assert_int_equal(wait_for(e).error, EFAULT);
	s.flags |= CHANNEL_IN_ROOM;
	s.at = CHANNEL_ROOM - 7;
	one(e, s);
	assert_int_equal(wait_for(e).error, EFAULT);
	s.bytes = CHANNEL_SHORT + 1;
	one(e, s);
	assert_int_equal(wait_for(e).error, EMSGSIZE);
	s.kind = CHANNEL_KINDS;
	one(e, s);
	assert_int_equal(wait_for(e).error, ENOSYS);
	r.flags |= CHANNEL_CLAIM;
	one(e, r);
	assert_int_equal(wait_for(e).error, EINVAL);
	/* and one that is too short */
	one(e, send_to(next_of(e), 8));
	one(e, receive_of(4));
	c = wait_for(e);
	assert_int_equal(c.error, EMSGSIZE);
	assert_int_equal(c.bytes, 8);
	assert_int_equal(c.stored, 4);
}

static void mistakes_are_completions_with_errors(void **state)
{
	everywhere(err, false);
}

/* --- collectives --- */

static struct channel_completion meet(
	struct endpoint *e, struct channel_command c)
{
	c.context = CONTEXT;
	one(e, c);
	endpoint_meet(e);
	return wait_for(e);
}

/* Ranks from a first one on, in reverse. */
static struct channel_completion open_group(
	struct endpoint *e, uint32_t first, uint32_t n)
{
	uint32_t list[64];

	for (uint32_t i = 0; i < n; i++)
		list[i] = first + n - 1 - i;
	weft_msg_store(MSG_TEST_SOURCE, list, 4 * n);
	return meet(e, (struct channel_command){ .kind = CHANNEL_GROUP,
			       .at = MSG_TEST_SOURCE,
			       .bytes = 4 * n });
}

/* A sum of 32-bit numbers, which all get, or one of them. */
static void sum(struct endpoint *e, uint64_t group, uint32_t root,
	uint32_t first, uint32_t n)
{
	int32_t mine = (int32_t)me(e) - 20, all = 0, want = 0;
	struct channel_completion c;

	for (uint32_t i = 0; i < n; i++)
		want += (int32_t)(first + i) - 20;
	weft_msg_store(MSG_TEST_SOURCE, &mine, 4);
	weft_msg_store(MSG_TEST_TARGET, &all, 4);
	c = meet(e, (struct channel_command){ .kind = CHANNEL_REDUCE,
			    .op = 4 << 8 | 2,
			    .rank = root,
			    .at = MSG_TEST_SOURCE,
			    .tag = MSG_TEST_TARGET,
			    .bytes = 4,
			    .data = group });
	weft_msg_load(MSG_TEST_TARGET, &all, 4);
	if (c.error)
		assert_int_equal(c.error, ENOTSUP);
	else
		assert_int_equal(
			all, root == CHANNEL_ANY || root == me(e) ? want : 0);
}

/* One half of the ranks, which some networks cannot serve; all. */
static void combine(struct endpoint *e, struct client *client)
{
	uint32_t n = weft_msg_ranks(&e->msg), half = n / 2;
	uint32_t first = me(e) < half ? 0 : half;
	uint32_t length = first ? n - half : half;
	struct channel_completion c = open_group(e, first, length);

	for (uint32_t i = 0; i < 6 && !c.error; i++)
		sum(e, c.data, i % 2 ? first + i % length : CHANNEL_ANY, first,
			length);
	if (!c.error)
		assert_int_equal(meet(e,
					 (struct channel_command){
						 .kind = CHANNEL_UNGROUP,
						 .data = c.data })
					 .error,
			0);
	else
		assert_int_equal(c.error, ENOTSUP);
	c = open_group(e, 0, n);
	for (uint32_t i = 0; i < 6 && !c.error; i++)
		sum(e, c.data, i % 2 ? i % n : CHANNEL_ANY, 0, n);
}

static void groups_combine_numbers(void **state)
{
	everywhere(combine, false);
}

/* Nothing of this asks another rank. */
static void err_in_groups(struct endpoint *e, struct client *client)
{
	struct channel_command g = { .kind = CHANNEL_GROUP,
		.at = MSG_TEST_SOURCE };
	uint32_t list[3] = { me(e), me(e), UINT32_MAX };

	weft_msg_store(MSG_TEST_SOURCE, list, sizeof(list));
	assert_int_equal(meet(e, g).error, EINVAL);
	g.bytes = 6;
	assert_int_equal(meet(e, g).error, EINVAL);
	g.bytes = 8; /* twice the same */
	assert_int_equal(meet(e, g).error, EINVAL);
	g.at += 4; /* one that does not exist */
	assert_int_equal(meet(e, g).error, EINVAL);
	g.bytes = UINT64_MAX - 3;
	assert_int_equal(meet(e, g).error, EINVAL);
	g.bytes = 8;
	g.at = UINT64_MAX;
	assert_int_equal(meet(e, g).error, EFAULT);
	list[0] = next_of(e); /* without itself */
	weft_msg_store(MSG_TEST_SOURCE, list, sizeof(list));
	g.at = MSG_TEST_SOURCE;
	g.bytes = 4;
	assert_int_equal(meet(e, g).error, EINVAL);
	/* one at a time */
	one(e, (struct channel_command){ .kind = CHANNEL_BARRIER });
	one(e, (struct channel_command){ .kind = CHANNEL_BARRIER });
	assert_int_equal(wait_for(e).error, EBUSY);
	endpoint_meet(e);
	assert_int_equal(wait_for(e).error, EINVAL);
	for (uint64_t i = 0; i < 3; i++)
		for (uint16_t k = CHANNEL_BARRIER; k < CHANNEL_KINDS; k++)
			if (k != CHANNEL_GROUP)
				assert_int_equal(
					meet(e,
						(struct channel_command){
							.kind = k,
							.data = i - 1 })
						.error,
					EINVAL);
}

static void groups_that_are_none_are_refused(void **state)
{
	everywhere(err_in_groups, false);
}

/* Random words, most of them nearly right. */
static void babble(struct endpoint *e, struct client *client)
{
	struct channel_completion c;

	for (uint32_t i = 0; i < 400; i++) {
		struct channel_command x;
		uint64_t word[8];

		for (uint32_t k = 0; k < 8; k++)
			word[k] = random_draw(17, me(e), RANDOM_TEST, 8 * i + k)
					  .a;
		memcpy(&x, word, sizeof(x));
		if (i % 4)
			x.kind %= CHANNEL_KINDS + 1;
		/* all ranks must agree on these, or they wait */
		if (x.kind >= CHANNEL_BARRIER && x.kind < CHANNEL_KINDS)
			x.kind = CHANNEL_KINDS;
		if (i % 8 > 2) {
			x.rank %= 64;
			x.bytes %= 10000;
			x.at %= 1 << 26;
			x.tag %= 4;
			x.endpoint %= 2;
			x.to %= 2;
		}
		one(e, x);
		endpoint_step(e);
		while (endpoint_next(e, &c))
			;
	}
}

static void anything_can_be_said(void **state)
{
	everywhere(babble, true);
}

/* --- memory --- */

/* Each sends to all others some times, of one slot and of several. */
static void talk_to_all(struct endpoint *e, struct client *c)
{
	enum { ROUNDS = 9, LONGEST = 2000 };
	struct msg_state *m = msg_state(&e->msg);
	uint32_t n = m->n_ranks;

	(void)c;
	for (uint32_t i = 0; i < ROUNDS * (n - 1); i++) {
		uint32_t off = 1 + i % (n - 1);
		struct channel_command r = receive_of(LONGEST);

		r.rank = (m->rank + n - off) % n;
		one(e, send_to((m->rank + off) % n, i % 3 ? 8 : LONGEST));
		one(e, r);
		assert_int_equal(wait_for(e).error, 0);
	}
	endpoint_finish(e);
	assert_true(m->written || !m->tagged->drain);
	for (uint64_t at = m->slots_at; m->written && at < m->more_fins_at;
		at += MEMORY_PAGE)
		assert_true(m->written[(at - m->slots_at) / MEMORY_PAGE] ||
			    !memory_has_page(host_at(m->host, m->node), at));
}

static void emptied_slots_take_no_memory(void **state)
{
	everywhere(talk_to_all, false);
}

TESTS(TEST(messages_have_tags_of_64_bits_and_a_data_word),
	TEST(spaces_and_endpoints_do_not_meet),
	TEST(messages_are_looked_at_claimed_and_dropped),
	TEST(a_claimed_message_goes_to_its_receive_only),
	TEST(receives_name_both_endpoints),
	TEST(a_send_can_end_when_it_is_matched),
	TEST(mistakes_are_completions_with_errors),
	TEST(groups_combine_numbers), TEST(groups_that_are_none_are_refused),
	TEST(anything_can_be_said), TEST(emptied_slots_take_no_memory))
