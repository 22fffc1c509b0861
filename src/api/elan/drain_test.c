/* How cores' write buffers drain. */
#include "api/elan/elan.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum {
	PUTS = 40,
	WORDS = 3 + ELAN_PACKET / 8, /* of a put, with its commands */
	MOST_STORES = PUTS * WORDS,
};

/* What a burst of stores finds: the queue's end, and the words that the core
 * has given to its buffer in this put, of which so many have not left.  These
 * are counted when all buffers that wait have drained. */
struct glance {
	uint32_t words;
	uint64_t announced, given, waiting;
};

static struct {
	struct side_ops ops; /* with our store() */
	const struct side_ops *real;
	const struct nic *nic;
	const struct elan_cq *queue; /* the program's */
	struct glance seen[MOST_STORES];
	uint32_t n;
} spy;

static sim_time spy_store(
	struct side *s, site_id place, sim_time t, uint32_t bytes)
{
	const struct elan_queue *q =
		elan_queue(spy.nic->nodes[place], spy.queue->id);

	spy.seen[spy.n++] = (struct glance){
		.words = bytes / 8,
		.announced = q->announced,
		.given = (spy.queue->stored / 8) % WORDS + spy.queue->n,
		.waiting = spy.queue->n,
	};
	return spy.real->store(s, place, t, bytes);
}

static void put_all(void *arg)
{
	struct elan_cq q;
	uint8_t data[ELAN_PACKET];

	assert_int_equal(elan_cq_open(&q, 5, ELAN_64K, ELAN_MAY_ALL), 0);
	spy.queue = &q;
	for (uint32_t k = 0; k < PUTS; k++) {
		for (uint32_t i = 0; i < ELAN_PACKET; i++)
			data[i] = et_byte(k, i);
		assert_int_equal(elan_put(&q, 1, ET_TARGET + ELAN_PACKET * k,
					 data, ELAN_PACKET, 0, 0),
			0);
	}
	assert_int_equal(elan_cq_error(&q), ELAN_FINE);
}

/* Node 0 puts packets to node 1; what the bus sees is in the spy. */
static void watch(struct et *m, enum elan_platform platform, int64_t relaxed)
{
	struct side *side;

	m->params.platform = platform;
	m->params.host[platform].relaxed = relaxed;
	et_start(m, 1, 1);
	side = ((struct elan *)m->nic)->side;
	spy.real = side->ops;
	spy.ops = *side->ops;
	spy.ops.store = spy_store;
	spy.nic = m->nic;
	spy.n = 0;
	side->ops = &spy.ops;
	program_start(m->host, 0, 0, 0, put_all, NULL);
	et_go(m);
	side->ops = spy.real;
	for (uint32_t k = 0; k < PUTS; k++)
		et_expect_at(m, 1, ET_TARGET + ELAN_PACKET * k, k, ELAN_PACKET,
			true);
}

/* Whether a burst left a gap before its words. */
static bool is_ahead(uint32_t i)
{
	return i + 1 < spy.n &&
	       spy.seen[i + 1].announced == spy.seen[i].announced;
}

/* 67 words by buffers of eight, or of sixteen. */
static void qsn_f18_bursts_are_as_long_as_the_cpu_combines(void **state)
{
	static const struct {
		enum elan_platform platform;
		uint32_t words;
	} cpu[] = { { ELAN_OPTERON, 8 }, { ELAN_XEON, 8 },
		{ ELAN_ITANIUM2, 16 } };
	struct et m;

	for (uint32_t c = 0; c < 3; c++) {
		uint32_t each = WORDS / cpu[c].words + 1;

		et_init(&m, "4");
		watch(&m, cpu[c].platform, 0);
		assert_int_equal(spy.n, PUTS * each);
		for (uint32_t i = 0; i < spy.n; i++) {
			assert_int_equal(spy.seen[i].words,
				(i + 1) % each ? cpu[c].words
					       : WORDS % cpu[c].words);
			assert_false(is_ahead(i));
		}
		et_fini(&m);
	}
}

static void qsn_f18_buffers_drain_before_they_are_full(void **state)
{
	struct et *m = *state;
	uint32_t early = 0;

	watch(m, ELAN_OPTERON, 100);
	for (uint32_t i = 0; i < spy.n; i++)
		early += spy.seen[i].given < WORDS && spy.seen[i].waiting < 8;
	/* all but the last words of a put */
	assert_true(early > spy.n * 8 / 10);
}

static void qsn_f18_buffers_drain_in_parts(void **state)
{
	struct et *m = *state;
	uint32_t parts = 0, most = 0;
	uint64_t left = 0;

	watch(m, ELAN_OPTERON, 100);
	for (uint32_t i = 0; i < spy.n; i++) {
		parts = left ? parts + 1 : 1;
		left = left ? left : spy.seen[i].waiting;
		left -= spy.seen[i].words;
		most = parts > most ? parts : most;
	}
	assert_in_range(most, 4, 7);
	/* of every length that is shorter than a buffer */
	for (uint32_t words = 1; words < 7; words++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < spy.n; i++)
			n += spy.seen[i].words == words;
		assert_true(n > 0);
	}
}

/* Of each buffer of at least two words the first one does not leave first. */
static void qsn_f18_buffers_drain_out_of_order(void **state)
{
	struct et *m = *state;
	uint32_t buffers = 0, ahead = 0;
	uint64_t left = 0;

	watch(m, ELAN_OPTERON, 100);
	for (uint32_t i = 0; i < spy.n; i++) {
		if (!left) {
			left = spy.seen[i].waiting;
			buffers += left > 1;
			ahead += left > 1 && is_ahead(i);
		}
		left -= spy.seen[i].words;
	}
	assert_true(buffers > PUTS * 8);
	assert_int_equal(ahead, buffers);
}

/* One of five buffers, more or less, and the others as ever. */
static void qsn_f18_buffers_are_disturbed_as_often_as_asked_for(void **state)
{
	struct et *m = *state;
	uint32_t ahead = 0, whole = 0;

	watch(m, ELAN_OPTERON, 20);
	for (uint32_t i = 0; i < spy.n; i++) {
		bool is_first = !i || !is_ahead(i - 1);

		whole += spy.seen[i].words == 8;
		ahead += is_first && is_ahead(i);
	}
	assert_in_range(ahead, PUTS * 9 / 9, PUTS * 9 * 3 / 9);
	assert_true(whole > PUTS * 4);
}

struct stream {
	sim_time took;
};

static void stream_program(void *arg)
{
	struct stream *x = arg;

	put_all(NULL);
	x->took = program_now();
}

/* More bursts, each with its overhead, but neither losses nor repetitions. */
static void qsn_f18_every_byte_arrives_at_a_lower_rate(void **state)
{
	static const int64_t relaxed[] = { 0, 1, 10, 50, 100 };
	sim_time before = 0;
	struct stream x;
	struct et m;

	for (uint32_t i = 0; i < 5; i++) {
		et_init(&m, "4");
		m.params.host[ELAN_OPTERON].relaxed = relaxed[i];
		et_run_two(&m, stream_program, NULL, &x);
		for (uint32_t k = 0; k < PUTS; k++)
			et_expect_at(&m, 1, ET_TARGET + ELAN_PACKET * k, k,
				ELAN_PACKET, true);
		assert_int_equal(et_counts(&m, 0).packets, PUTS);
		assert_int_equal(et_counts(&m, 0).resent, 0);
		assert_int_equal(et_counts(&m, 0).aborted, 0);
		assert_true(x.took > before);
		before = x.took;
		et_fini(&m);
	}
}

static void to_next(void *arg)
{
	uint32_t me = program_node();
	struct elan_cq q;
	uint8_t data[ELAN_PACKET] = { 0 };

	elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL);
	for (uint32_t k = 0; k < 10; k++)
		elan_put(&q, (me + 1) % 16, ET_TARGET, data, 50 * k, 0, 0);
}

static uint64_t digest_of(uint32_t workers, uint64_t seed)
{
	struct et m;
	uint64_t digest;

	et_init(&m, "16");
	m.params.host[ELAN_OPTERON].relaxed = 30;
	et_start(&m, workers, 16);
	m.net->seed = seed;
	for (site_id s = 0; s < 16; s++)
		program_start(m.host, s, 0, 0, to_next, NULL);
	et_go(&m);
	digest = et_digest(&m);
	et_fini(&m);
	return digest;
}

static void qsn_f18_the_seed_decides_whatever_the_threads(void **state)
{
	uint64_t digest = digest_of(1, 1);

	for (uint32_t workers = 2; workers <= 3; workers++)
		assert_int_equal(digest_of(workers, 1), digest);
	assert_int_not_equal(digest_of(1, 2), digest);
}

TESTS(TEST(qsn_f18_bursts_are_as_long_as_the_cpu_combines),
	ET_TEST(qsn_f18_buffers_drain_before_they_are_full),
	ET_TEST(qsn_f18_buffers_drain_in_parts),
	ET_TEST(qsn_f18_buffers_drain_out_of_order),
	ET_TEST(qsn_f18_buffers_are_disturbed_as_often_as_asked_for),
	TEST(qsn_f18_every_byte_arrives_at_a_lower_rate),
	TEST(qsn_f18_the_seed_decides_whatever_the_threads))
