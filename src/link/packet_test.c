#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "link/packet.h"
#include "sim/random.h"
#include "testing/testing.h"

enum { MOST = 1 << 20 };

static uint64_t draw(uint64_t *n, uint64_t below)
{
	return random_below(random_draw(6, 0, RANDOM_TEST, (*n)++).a, below);
}

/* What is out, and who has it; a packet's number says so, too. */
struct book {
	struct packet_pool *pool;
	uint8_t *out;
	packet_id *list;
	uint32_t n;
};

static struct book book_open(uint32_t n_workers)
{
	return (struct book){
		.pool = packet_pool_new(n_workers, MOST),
		.out = mem_alloc(MOST, 1),
		.list = mem_alloc(MOST, sizeof(packet_id)),
	};
}

static void book_close(struct book *b)
{
	packet_pool_free(b->pool);
	mem_free(b->out);
	mem_free(b->list);
}

static void take(struct book *b, uint32_t worker)
{
	packet_id id = packet_take(b->pool, worker);

	assert_int_not_equal(id, NO_PACKET);
	assert_true(id < MOST);
	assert_false(b->out[id]);
	b->out[id] = 1;
	/* Fields hold anything: a list must not care what is written. */
	memset(&b->pool->base[id], 0xa5, sizeof(struct packet));
	b->pool->base[id].number = id ^ 0x5a5a;
	b->list[b->n++] = id;
}

static void give(struct book *b, uint32_t worker, uint32_t which)
{
	packet_id id = b->list[which];

	assert_int_equal(b->pool->base[id].number, id ^ 0x5a5a);
	b->list[which] = b->list[--b->n];
	b->out[id] = 0;
	packet_give(b->pool, worker, id);
}

static unsigned steps(void)
{
	return getenv("WEFT_SLOW") ? 30000 : 300000;
}

/* Bursts, so that magazines fill, are exchanged and run dry. */
static void no_packet_is_handed_out_twice(void **state)
{
	uint64_t n = 0;

	for (uint32_t workers = 1; workers <= 4; workers++) {
		struct book b = book_open(workers);

		for (unsigned i = 0; i < steps() / 4;) {
			uint32_t w = (uint32_t)draw(&n, workers);
			uint32_t burst = (uint32_t)draw(&n, 3000);
			bool takes = draw(&n, 2);

			for (; burst && (takes || b.n); burst--, i++) {
				if (takes)
					take(&b, w);
				else
					give(&b, w, (uint32_t)draw(&n, b.n));
			}
			assert_int_equal(packet_pool_used(b.pool), b.n);
		}
		while (b.n)
			give(&b, 0, b.n - 1);
		assert_int_equal(packet_pool_used(b.pool), 0);
		book_close(&b);
	}
}

/* Given back is given again: a machine's packets do not creep. */
static void memory_follows_the_most_that_was_out(void **state)
{
	struct book b = book_open(1);
	uint64_t memory;

	while (b.n < 5000)
		take(&b, 0);
	memory = packet_pool_memory(b.pool);
	assert_true(memory >= 5000 * sizeof(struct packet));
	assert_true(memory < 5200 * sizeof(struct packet));
	for (int round = 0; round < 50; round++) {
		while (b.n > (uint32_t)round)
			give(&b, 0, b.n - 1);
		while (b.n < 5000)
			take(&b, 0);
	}
	assert_int_equal(packet_pool_memory(b.pool), memory);
	book_close(&b);
}

/* Traffic that flows one way must not drain one worker's store. */
static void who_only_frees_feeds_who_only_takes(void **state)
{
	enum { FLIGHT = 3000, WORKERS = 3, HELD = 2000 };
	struct book b = book_open(WORKERS);

	for (unsigned i = 0; i < steps(); i++) {
		take(&b, 0);
		if (b.n > FLIGHT)
			give(&b, 1 + i % (WORKERS - 1), 0);
	}
	/* What is out, and some magazines at each worker */
	assert_true(packet_pool_memory(b.pool) <
		    (FLIGHT + WORKERS * HELD) * sizeof(struct packet));
	book_close(&b);
}

/* --- on threads --- */

enum { RING = 1024 };

struct lane {
	struct packet_pool *pool;
	_Atomic packet_id ring[RING];
	unsigned n, n_wrong;
};

static void *taker(void *arg)
{
	struct lane *l = arg;

	for (unsigned i = 0; i < l->n; i++) {
		packet_id id = packet_take(l->pool, 0);

		l->pool->base[id].number = i;
		while (atomic_load(&l->ring[i % RING]))
			sched_yield();
		atomic_store(&l->ring[i % RING], id);
	}
	return NULL;
}

static void *freer(void *arg)
{
	struct lane *l = arg;

	for (unsigned i = 0; i < l->n; i++) {
		packet_id id;

		while (!(id = atomic_load(&l->ring[i % RING])))
			sched_yield();
		l->n_wrong += l->pool->base[id].number != i;
		packet_give(l->pool, 1, id);
		atomic_store(&l->ring[i % RING], 0);
	}
	return NULL;
}

static void packets_pass_from_thread_to_thread(void **state)
{
	struct lane *l = mem_alloc(1, sizeof(*l));
	pthread_t a, b;

	l->pool = packet_pool_new(2, MOST);
	l->n = steps();
	assert_int_equal(pthread_create(&a, NULL, taker, l), 0);
	assert_int_equal(pthread_create(&b, NULL, freer, l), 0);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert_int_equal(l->n_wrong, 0);
	assert_int_equal(packet_pool_used(l->pool), 0);
	assert_true(packet_pool_memory(l->pool) < 6000 * sizeof(struct packet));
	packet_pool_free(l->pool);
	mem_free(l);
}

/* --- the end of the pool --- */

static void a_pool_that_is_too_small_says_so(void **state)
{
	enum { SMALL = 1000, SURELY = 900 };
	int status = 0;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		struct packet_pool *p = packet_pool_new(1, SMALL);

		for (int i = 0; i < SURELY; i++)
			if (packet_take(p, 0) >= SMALL)
				_exit(1);
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		for (int i = SURELY; i < SMALL; i++)
			if (packet_take(p, 0) >= SMALL)
				_exit(2);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_LIMIT);
}

static void no_pool_can_be_freed(void **state)
{
	packet_pool_free(NULL);
}

TESTS(TEST(no_packet_is_handed_out_twice),
	TEST(memory_follows_the_most_that_was_out),
	TEST(who_only_frees_feeds_who_only_takes),
	TEST(packets_pass_from_thread_to_thread),
	TEST(a_pool_that_is_too_small_says_so), TEST(no_pool_can_be_freed))
