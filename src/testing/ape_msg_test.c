/* Messages on APEnet+ between any two memories, host's and GPUs'. */
#include <errno.h>

#include "api/msg/msg.h"
#include "parts/gpus/gpus.h"
#include "testing/ape_testing.h"
#include "weft/msg.h"

enum { HOST, GPU0, GPU1, SHORT = 100, LONG = 20000, TAG = 3 };

static struct weft_msg_options late(void)
{
	return (struct weft_msg_options){ .start = 2 * APE_START };
}

/* Node 0 sends from each memory to each of node 1, short and long ones. */
static void send_all(struct ape_world *w, uint32_t node)
{
	struct weft_msg_options o = late();
	struct weft_msg m;

	assert_int_equal(weft_msg_init(&m, &o), 0);
	for (uint32_t i = 0; i < 2 * APE_MEMORIES * APE_MEMORIES; i++) {
		uint32_t from = i / 2 % APE_MEMORIES, to = i / 6;
		uint64_t bytes = i % 2 ? LONG : SHORT;

		if (node == 0) {
			ape_fill(w, from, 0, bytes, 1 + i);
			assert_int_equal(
				weft_msg_send(&m, 1, TAG, w->at[from], bytes),
				0);
			continue;
		}
		assert_int_equal(
			weft_msg_receive(&m, 0, TAG, w->at[to], bytes, NULL),
			0);
		assert_true(ape_is(w, to, 0, bytes, 1 + i));
	}
	assert_int_equal(weft_msg_fini(&m), 0);
}

static void messages_go_between_any_two_memories(void **state)
{
	struct ape_world w = { .run = send_all };

	ape_world_run(&w, NULL, NULL, false);
	kit_close(&w.kit);
}

enum { STREAM = 60 };

/* When each message of a stream had come, or could leave. */
struct stream {
	bool is_woken; /* by the ends of its own writes, too */
	sim_time at[2][STREAM];
};

/* Of a library above, which has nothing to do. */
static bool go_on(void *arg)
{
	(void)arg;
	return false;
}

static void stream(struct ape_world *w, uint32_t node)
{
	struct weft_msg_options o = late();
	struct stream *x = w->arg;
	struct weft_msg m;
	uint64_t bytes;

	assert_int_equal(weft_msg_init(&m, &o), 0);
	msg_state(&m)->go_on = x->is_woken ? go_on : NULL;
	for (uint32_t i = 0; i < STREAM; i++) {
		/* now and then one that the receiver gets, or an answer */
		bytes = i % 11 == 5 ? LONG : SHORT;
		if (node == (i % 7 == 3))
			weft_msg_send(&m, !node, TAG, w->at[HOST], bytes);
		else
			weft_msg_receive(
				&m, !node, TAG, w->at[HOST], bytes, NULL);
		x->at[node][i] = program_now();
	}
	assert_int_equal(weft_msg_fini(&m), 0);
}

static uint64_t stream_of(struct stream *x)
{
	struct ape_world w = { .run = stream, .arg = x };
	uint64_t digest;

	digest = ape_world_run(&w, NULL, NULL, false);
	kit_close(&w.kit);
	return digest;
}

static void calls_that_sleep_on_return_when_they_would_have(void **state)
{
	struct stream x[2] = { { .is_woken = true } };

	assert_int_equal(stream_of(&x[0]), stream_of(&x[1]));
	for (uint32_t i = 0; i < STREAM; i++) {
		assert_int_equal(x[0].at[0][i], x[1].at[0][i]);
		assert_int_equal(x[0].at[1][i], x[1].at[1][i]);
	}
}

/* Puts with a counter, and gets. */
static void put_and_get(struct ape_world *w, uint32_t node)
{
	struct weft_msg_options o = late();
	struct weft_msg m;
	uint32_t other = !node;

	assert_int_equal(weft_msg_init(&m, &o), 0);
	for (uint32_t i = 0; i < APE_MEMORIES * APE_MEMORIES; i++) {
		uint32_t from = i % APE_MEMORIES, to = i / APE_MEMORIES;

		ape_fill(w, from, 0, LONG, 10 * i + node);
		assert_int_equal(weft_msg_expect(&m, 1, LONG), 0);
		weft_msg_barrier(&m);
		assert_int_equal(weft_msg_put(&m, other, w->at[to] + LONG,
					 w->at[from], LONG, 1, NULL),
			0);
		assert_int_equal(weft_msg_wait_counter(&m, 1), 0);
		assert_true(ape_is(w, to, LONG, LONG, 10 * i + other));
		assert_int_equal(weft_msg_get(&m, other, w->at[from],
					 w->at[to] + 2 * LONG, LONG, NULL),
			0);
		assert_true(ape_is(w, to, 2 * LONG, LONG, 10 * i + other));
		weft_msg_barrier(&m);
	}
	ape_fill(w, GPU0, 0, LONG, 77 + node);
	assert_int_equal(weft_msg_broadcast(&m, 1, w->at[GPU0], SHORT), 0);
	assert_true(ape_is(w, GPU0, 0, SHORT, 78));
	assert_int_equal(weft_msg_broadcast(&m, 1, w->at[GPU0], LONG), 0);
	assert_true(ape_is(w, GPU0, 0, LONG, 78));
	assert_int_equal(weft_msg_fini(&m), 0);
}

static void puts_gets_and_broadcasts_reach_gpu_memory(void **state)
{
	struct ape_world w = { .run = put_and_get };

	ape_world_run(&w, NULL, NULL, false);
	kit_close(&w.kit);
}

/* To itself: a copy, which the GPU makes in its own time. */
static void copy(struct ape_world *w, uint32_t node)
{
	static const uint32_t pair[][2] = { { HOST, GPU0 }, { GPU0, HOST },
		{ GPU0, GPU1 }, { GPU1, GPU1 } };
	const struct gpu_params *g = gpus_params(gpus_of(w->kit.host));
	struct weft_msg_options o = late();
	struct weft_msg m;

	assert_int_equal(weft_msg_init(&m, &o), 0);
	for (uint32_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
		sim_time t = program_now();

		ape_fill(w, pair[i][0], 0, LONG, 5 + i);
		assert_int_equal(
			weft_msg_put(&m, node, w->at[pair[i][1]] + LONG,
				w->at[pair[i][0]], LONG, WEFT_MSG_NONE, NULL),
			0);
		assert_true(ape_is(w, pair[i][1], LONG, LONG, 5 + i));
		t = program_now() - t - g->copy -
		    LONG * INT64_C(1000000000) / (g->copy_rate / 1000);
		assert_in_range(t + 1, 0, 2);
	}
	assert_int_equal(weft_msg_fini(&m), 0);
}

static void a_copy_to_a_gpu_takes_its_copy_engine_s_time(void **state)
{
	struct ape_world w = { .run = copy };

	ape_world_run(&w, NULL, NULL, false);
	kit_close(&w.kit);
}

static void misuse(struct ape_world *w, uint32_t node)
{
	uint64_t gpu = w->at[GPU0],
		 end = gpu_at(1) +
		       (uint64_t)gpus_params(gpus_of(w->kit.host))->memory;
	struct weft_msg_options o = late();
	struct weft_msg_request r;
	struct weft_msg m;
	int gpus = *(int *)w->arg;

	assert_int_equal(weft_msg_init(&m, &o), 0);
	assert_int_equal(
		weft_msg_put(&m, !node, gpu, 0, 0, WEFT_MSG_NONE, NULL), gpus);
	assert_int_equal(
		weft_msg_put(&m, !node, 0, end - 8, 9, WEFT_MSG_NONE, NULL),
		EFAULT);
	assert_int_equal(
		weft_msg_get(&m, !node, gpu_at(2), 0, 8, NULL), EFAULT);
	assert_int_equal(
		weft_msg_send_start(&m, !node, TAG, end, 1, &r), EFAULT);
	assert_int_equal(weft_msg_atomic(&m, !node, gpu, WEFT_MSG_ADD, 1, NULL),
		gpus ? gpus : EFAULT);
	assert_int_equal(
		weft_msg_allreduce(&m, WEFT_MSG_SUM_INT, gpu, 0, 1), EFAULT);
	assert_false(weft_msg_load(gpu, &r, 8));
	assert_int_equal(weft_msg_fini(&m), 0);
}

static void gpu_addresses_that_cannot_be_are_refused(void **state)
{
	const char *const off[] = { "nic.software.p2p=no", NULL };
	int code = 0;
	struct ape_world w = { .run = misuse, .arg = &code };

	ape_world_run(&w, NULL, NULL, false);
	kit_close(&w.kit);
	code = ENOTSUP;
	ape_world_run(&w, off, NULL, false);
	kit_close(&w.kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_go_between_any_two_memories),
		cmocka_unit_test(
			calls_that_sleep_on_return_when_they_would_have),
		cmocka_unit_test(puts_gets_and_broadcasts_reach_gpu_memory),
		cmocka_unit_test(a_copy_to_a_gpu_takes_its_copy_engine_s_time),
		cmocka_unit_test(gpu_addresses_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
