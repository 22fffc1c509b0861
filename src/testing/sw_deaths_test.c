/* A node that dies: who notices, when, and who does not. */
#include <string.h>

#include "api/sw/sw.h"
#include "testing/sw_testing.h"

enum { OTHERS = 4, DEAD = 1, N = 8 };

#define DEATH (SWT_START + 20000 * (sim_time)SIM_NS)
/* All tries of the card, and then all of the library. */
#define LONGEST (20000000 * (sim_time)SIM_NS)

/* Another job's device, with what sw_testing's has. */
static void join(struct sw_end *e, uint32_t job)
{
	struct weft_sw_options o = { .job = job };
	struct weft_sw_rq_options how = { WEFT_SW_VIRTUAL, SWT_BUFFERS, 0 };

	assert_int_equal(weft_sw_open(&o, &e->dev), 0);
	assert_int_equal(weft_sw_create_cq(e->dev, 1024, false, &e->cq), 0);
	assert_int_equal(
		weft_sw_create_sq(e->dev, e->cq, SWT_DEPTH, &e->sq), 0);
	assert_int_equal(weft_sw_create_rq(e->dev, e->cq, &how, &e->rq), 0);
	assert_int_equal(weft_sw_reg_segment(e->dev, SWT_SPACE, SWT_BYTES,
				 WEFT_SW_READ | WEFT_SW_WRITE, &e->key),
		0);
}

/* Its own messages to a peer go well, and take their time. */
static void work_on(struct sw_end *e)
{
	for (uint32_t i = 0; i < 200; i++) {
		struct weft_sw_work w = swt_work(e, e->node ^ 1, 3000);

		assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
		swt_await(e, WEFT_SW_DONE);
	}
	e->world->result[e->node - OTHERS] = (uint64_t)program_now();
}

static int post(struct sw_end *e, uint32_t kind, const struct weft_sw_work *w)
{
	return kind == 0   ? weft_sw_post_write(e->sq, w)
	       : kind == 1 ? weft_sw_post_read(e->sq, w)
			   : weft_sw_post_write_reply(e->sq, w);
}

/* Everything that is for the dead node ends, and says so. */
static void mourn(struct sw_end *e)
{
	struct weft_sw_completion c;

	program_wait(DEATH + (sim_time)e->node * 10 * SIM_NS);
	for (uint32_t kind = 0; kind < 3; kind++) {
		struct weft_sw_work w = swt_work(e, DEAD, 5000);

		w.reply = kind == 2 ? 0 : UINT64_MAX;
		assert_int_equal(post(e, kind, &w), 0);
	}
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(weft_sw_wait(e->cq, &c, LONGEST), 0);
		assert_int_equal(c.status, WEFT_SW_LOST);
		assert_int_equal(c.node, DEAD);
	}
	e->world->result[7] += program_now() > DEATH;
}

static void run(struct sw_end *e)
{
	join(e, e->node < OTHERS ? 1 : 2);
	program_wait(SWT_START + 5000 * SIM_NS);
	if (e->node >= OTHERS)
		work_on(e);
	else if (e->node != DEAD && e->world->result[6])
		mourn(e);
	else if (e->node == DEAD)
		for (;;) {
			struct weft_sw_work w = swt_work(e, 0, 100000);

			if (!e->world->result[6])
				break;
			while (!weft_sw_post_write(e->sq, &w))
				;
			swt_await(e, WEFT_SW_DONE);
		}
}

/* SUN-F96: peers get errors in bounded time; another job is as fast as ever. */
static void a_dead_node_is_known_to_its_peers_and_to_nobody_else(void **state)
{
	static const char *const sets[] = { "faults.events=70 us node 1 dies",
		NULL };
	uint64_t took[2][N - OTHERS];

	for (uint32_t i = 0; i < 2; i++) {
		struct sw_world w = { .run = run, .n_programs = N };

		w.result[6] = i;
		sw_world_run(&w, i ? sets : NULL, true);
		memcpy(took[i], w.result, sizeof(took[i]));
		assert_int_equal(w.result[7], i ? OTHERS - 1 : 0);
		assert_int_equal(host_n_dead(w.kit.host), i);
		kit_close(&w.kit);
	}
	for (uint32_t i = 0; i < N - OTHERS; i++)
		assert_in_range(took[1][i], took[0][i], took[0][i] * 101 / 100);
}

TESTS(TEST(a_dead_node_is_known_to_its_peers_and_to_nobody_else))
