/*
 * Random descriptors, right and wrong, from all nodes: each has exactly one
 * completion, what is right succeeds, and no byte outside of the handles that
 * are open to others changes.  WEFT_LONG is the number of runs, with 4,608
 * descriptors each, half of them spoiled.
 */
#include <stdlib.h>
#include <string.h>

#include "nic/swhni/swhni_testing.h"
#include "sim/random.h"
#include "testing/testing.h"

enum { ROUNDS = 12, EACH = 12, OPEN = 1 << 20 };

struct dice {
	uint64_t seed, count;
	site_id node;
};

static uint32_t roll(struct dice *d, uint32_t below)
{
	struct random_bits r =
		random_draw(d->seed, d->node, RANDOM_POLL, d->count++);

	return (uint32_t)(r.a % below);
}

/* A descriptor that is all right. */
static struct swhni_descriptor right(struct dice *dice)
{
	static const uint32_t most[] = { 1, 100, 2048, 9000, 70000 };
	uint32_t bytes = roll(dice, most[roll(dice, 5)]) + 1;
	struct swhni_descriptor d = {
		.type = (uint8_t)roll(dice, SWHNI_COLLECTIVE),
		.flags = (uint8_t)(SWHNI_TELL | roll(dice, 2) * SWHNI_FAST),
		.port = (uint8_t)roll(dice, 3),
		.node = roll(dice, 32),
		.bytes = bytes,
		.key = ST_KEY,
		.offset = 64 + roll(dice, OPEN / 2),
		.own_key = ST_OWN,
		.own_offset = 64 + roll(dice, OPEN / 2),
	};

	if (d.type >= SWHNI_SEND && bytes > SWHNI_MESSAGE)
		d.bytes = SWHNI_MESSAGE;
	if (d.type == SWHNI_WRITE && roll(dice, 2)) {
		d.flags |= SWHNI_REPLY;
		d.reply.key = ST_KEY;
		d.reply.offset = 8 * roll(dice, 8);
	}
	if (d.type == SWHNI_SEND)
		d.type = SWHNI_DATAGRAM; /* nobody takes them */
	return d;
}

/* One of its bytes is something else: right by chance, or wrong. */
static void spoil(struct dice *dice, struct swhni_descriptor *d)
{
	uint8_t *bytes = (uint8_t *)d;

	bytes[8 + roll(dice, sizeof(*d) - 8)] = (uint8_t)roll(dice, 256);
	/* what is long, or never taken, says nothing more */
	d->bytes &= 0x1ffff;
	if (d->type == SWHNI_SEND || d->flags & SWHNI_NOTICE)
		d->interface |= 64;
}

static void program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct dice dice = { m->word[0], 0, node };
	uint32_t is_right[EACH];
	struct nic_at a = st_now(&q);
	struct swhni_handle h = *swhni_handle(q.nic, node, ST_KEY);

	/* a smaller one, with memory around it that nobody may write */
	assert_int_equal(swhni_deregister(&a, ST_JOB, ST_KEY), 0);
	h.bytes = OPEN;
	assert_int_equal(swhni_register(&a, &h), 0);
	st_fill(ST_TARGET - 4096, 4096, 11);
	st_fill(ST_TARGET + OPEN, 4096, 12);
	program_wait(1000 * SIM_NS);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t seen = 0;

		for (uint32_t k = 0; k < EACH; k++) {
			struct swhni_descriptor d = right(&dice);

			is_right[k] = roll(&dice, 2);
			if (!is_right[k])
				spoil(&dice, &d);
			d.id = k;
			d.flags |= SWHNI_TELL;
			st_put(&q, &d);
		}
		st_ring(&q);
		for (uint32_t k = 0; k < EACH; k++) {
			struct workq_completion c = st_wait(&q);

			/* events of what others spoiled come here, too */
			if (SWHNI_EVENT_OF(c.status) != SWHNI_DONE) {
				k--;
				continue;
			}
			assert_in_range(c.id, 0, EACH - 1);
			assert_false(seen >> c.id & 1);
			seen |= 1u << c.id;
			assert_true(SWHNI_ERROR_OF(c.status) < SWHNI_ERRORS);
			if (is_right[c.id])
				assert_int_equal(
					SWHNI_ERROR_OF(c.status), SWHNI_OK);
		}
	}
	program_wait(4000000 * (sim_time)SIM_NS);
	assert_true(st_is(ST_TARGET - 4096, 4096, 11));
	assert_true(st_is(ST_TARGET + OPEN, 4096, 12));
}

static uint64_t run(uint64_t seed, uint32_t n_workers)
{
	struct st m;
	uint64_t digest;

	st_init(&m);
	m.word[0] = seed;
	m.n_workers = n_workers;
	m.may_err = true;
	digest = st_run(&m, 0, program);
	assert_int_equal(nic_sum(m.kit.nic, "no answer"), 0);
	st_fini(&m);
	return digest;
}

static void every_descriptor_has_one_end_and_harms_nobody(void **state)
{
	const char *more = getenv("WEFT_LONG");
	uint64_t n = more ? strtoull(more, NULL, 10) : 2;

	for (uint64_t seed = 1; seed <= n; seed++)
		run(seed, 1 + seed % 2);
}

static void a_run_is_the_same_for_any_number_of_threads(void **state)
{
	uint64_t one = run(9, 1);

	assert_true(one == run(9, 2));
	assert_true(one == run(9, 3));
	assert_true(one != run(10, 1));
}

TESTS(TEST(every_descriptor_has_one_end_and_harms_nobody),
	TEST(a_run_is_the_same_for_any_number_of_threads))
