/*
 * SWverbs where packets vanish: links neither correct nor replay, and flip bits
 * so often that the card gives up now and then.  Then the library goes on, and
 * everything still happens once.
 */
#include <errno.h>
#include <string.h>

#include "api/sw/sw.h"
#include "testing/sw_testing.h"

/* Of packets of a hundred bytes, one in five on each link is lost. */
#define LOSSY "link.retry=none", "link.fec=none", "faults.bit-errors=3e-4"

static const char *const lossy[] = { LOSSY, NULL };

enum { MESSAGES = 600, FEW = 8 };

/* Until all descriptors have ended. */
static void finish(struct sw_end *e)
{
	struct weft_sw_completion c;
	struct weft_sw_queue q;

	while (weft_sw_query_sq(e->sq, &q), q.used)
		weft_sw_wait(e->cq, &c, 10000 * (int64_t)SIM_NS);
}

/* --- messages into queues --- */

static void send_many(struct sw_end *e)
{
	struct weft_sw_work w = swt_work(e, 1, 8);
	struct weft_sw_completion c;
	struct weft_sw_device d;

	for (w.tag = 0; w.tag < MESSAGES; w.tag++) {
		while (weft_sw_post_send(e->sq, &w) == EAGAIN)
			swt_await(e, WEFT_SW_DONE);
		while (!weft_sw_poll(e->cq, &c))
			assert_int_equal(c.status, WEFT_SW_OK);
	}
	finish(e);
	assert_int_equal(weft_sw_query(e->dev, &d), 0);
	e->world->result[0] = d.resent;
}

static void take_many(struct sw_end *e)
{
	uint8_t times[MESSAGES] = { 0 };
	struct weft_sw_completion c;
	struct weft_sw_device d;

	/* as long as doubles may come */
	while (!weft_sw_wait(e->cq, &c, 5000000 * (int64_t)SIM_NS)) {
		assert_int_equal(c.kind, WEFT_SW_RECEIVED);
		assert_true(c.tag < MESSAGES);
		times[c.tag]++;
		weft_sw_post_recv(e->rq, c.id, c.at, SWT_BUFFER);
	}
	for (uint32_t i = 0; i < MESSAGES; i++)
		assert_int_equal(times[i], 1);
	assert_int_equal(weft_sw_query(e->dev, &d), 0);
	e->world->result[1] = d.duplicates;
}

static void send_and_take(struct sw_end *e)
{
	if (e->node == 0)
		send_many(e);
	else
		take_many(e);
}

/* SUN-F80: SUN-F81, SUN-F94. */
static void each_message_arrives_once_though_the_card_gives_up(void **state)
{
	struct sw_world w = { .run = send_and_take };

	sw_world_run(&w, lossy, true);
	/* the library sent some again, and some of them had arrived */
	assert_true(w.result[0] >= 5);
	assert_true(w.result[1] >= 1);
	kit_close(&w.kit);
}

/* --- writes --- */

static void count_many(struct sw_end *e)
{
	struct weft_sw_work w = swt_work(e, 1, 16);
	struct weft_sw_device d;

	w.reply = 0x3000;
	w.flags = WEFT_SW_QUIET;
	for (uint32_t i = 0; i < MESSAGES && e->node == 0; i++)
		while (weft_sw_post_write_reply(e->sq, &w) == EAGAIN)
			program_charge(SIM_NS * 1000);
	if (e->node == 1) {
		assert_int_equal(weft_sw_wait_reply(e->dev, SWT_SPACE + 0x3000,
					 MESSAGES, WEFT_SW_FOREVER),
			0);
		/* and no more */
		program_charge(5000000 * (sim_time)SIM_NS);
		assert_int_equal(swt_word(0x3000), MESSAGES);
		return;
	}
	finish(e);
	assert_int_equal(weft_sw_query(e->dev, &d), 0);
	e->world->result[0] = d.probed;
}

/* SUN-F81, SUN-F87, SUN-F95. */
static void reply_words_are_exact_though_the_card_gives_up(void **state)
{
	struct sw_world w = { .run = count_many };

	sw_world_run(&w, lossy, true);
	assert_true(w.result[0] >= 5);
	kit_close(&w.kit);
}

/* A notice that finds no room, for so long that the card gives up: its data is
 * not sent again. */
static void notify_late(struct sw_end *e)
{
	struct weft_sw_rq_options how = { WEFT_SW_RAW, 1, 0x1000000 };
	struct weft_sw_work w = swt_work(e, 1, 100000);
	struct weft_sw_completion c;
	struct weft_sw_queue q;
	struct weft_sw_rq *rq;

	assert_int_equal(weft_sw_create_rq(e->dev, e->cq, &how, &rq), 0);
	assert_int_equal(weft_sw_query_rq(rq, &q), 0);
	swt_meet(e, 1);
	w.to = q.address;
	w.to.node = 1;
	if (e->node == 0) {
		swt_fill(0, w.bytes, 1);
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(
				weft_sw_post_write_notify(e->sq, &w), 0);
		swt_await(e, WEFT_SW_DONE);
		program_charge(200000 * (sim_time)SIM_NS);
		e->world->result[0] =
			nic_count(e->world->kit.nic, 0, "packets");
		swt_await(e, WEFT_SW_DONE);
		e->world->result[1] =
			nic_count(e->world->kit.nic, 0, "packets");
		return;
	}
	swt_await(e, WEFT_SW_NOTICE);
	program_charge(500000 * (sim_time)SIM_NS);
	assert_true(swt_is(SWT_TARGET, w.bytes, 1));
	assert_int_equal(weft_sw_poll(e->cq, &c), EAGAIN);
	assert_int_equal(weft_sw_release(rq), 0);
	swt_await(e, WEFT_SW_NOTICE);
}

/* SUN-F95. */
static void a_notice_without_room_comes_again_alone(void **state)
{
	struct sw_world w = { .run = notify_late };

	sw_world_run(&w, NULL, true);
	/* probes, but none of the 49 packets again */
	assert_in_range(w.result[1] - w.result[0], 1, 40);
	kit_close(&w.kit);
}

/* --- a peer that is gone --- */

static void send_to_the_dead(struct sw_end *e)
{
	struct weft_sw_work w = swt_work(e, 1, 64);
	sim_time begun = program_now();

	if (e->node)
		return;
	program_wait(200000 * (sim_time)SIM_NS);
	for (w.id = 0; w.id < FEW; w.id++)
		assert_int_equal(w.id % 2 ? weft_sw_post_send(e->sq, &w)
					  : weft_sw_post_write(e->sq, &w),
			0);
	for (uint32_t i = 0; i < FEW; i++)
		swt_await_status(e, WEFT_SW_LOST);
	/* in bounded time; with others it goes on */
	assert_true(program_now() - begun < 100000000 * (sim_time)SIM_NS);
	w.to.node = 0;
	assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
	swt_await(e, WEFT_SW_DONE);
	e->world->result[0] = 1;
}

/* SUN-F81. */
static void messages_to_a_dead_node_end_with_errors(void **state)
{
	static const char *const dies[] = { "faults.events=100 us node 1 dies",
		NULL };
	struct sw_world w = { .run = send_to_the_dead };

	sw_world_run(&w, dies, true);
	assert_int_equal(w.result[0], 1);
	kit_close(&w.kit);
}

/* Posts a message of a kind, and awaits its end; its status, and how long it
 * took. */
static uint32_t post_one(struct sw_end *e, uint32_t kind, sim_time *took)
{
	struct weft_sw_work w = swt_work(e, 1, 64);
	struct weft_sw_piece p = { SWT_SPACE, 64 };
	sim_time begun = program_now();
	struct weft_sw_completion c;
	int code = kind == 0   ? weft_sw_post_send(e->sq, &w)
		   : kind == 1 ? weft_sw_post_write(e->sq, &w)
		   : kind == 2 ? weft_sw_post_read(e->sq, &w)
			       : weft_sw_post_fsm(e->sq, &w, &p, 1);

	assert_int_equal(code, 0);
	assert_int_equal(weft_sw_wait(e->cq, &c, WEFT_SW_FOREVER), 0);
	*took = program_now() - begun;
	return c.status;
}

enum { KINDS = 4, FEW_US = 2000000 }; /* 2 us in ps */

static void send_many_to_the_dead(struct sw_end *e)
{
	const struct nic *nic = e->world->kit.nic;
	uint64_t packets;
	sim_time took;

	if (e->node)
		return;
	program_wait(200000 * (sim_time)SIM_NS);
	assert_int_equal(post_one(e, 0, &took), WEFT_SW_LOST);
	assert_in_range(took, SW_SILENCE / 2, 2 * SW_SILENCE);
	packets = nic_count(nic, 0, "packets");
	for (uint32_t i = 0; i < 100 * KINDS; i++) {
		assert_int_equal(post_one(e, i % KINDS, &took), WEFT_SW_LOST);
		assert_true(took < FEW_US);
	}
	assert_int_equal(nic_count(nic, 0, "packets"), packets);
	/* now and then one tries, by the card alone */
	program_charge(SW_SILENCE);
	assert_int_equal(post_one(e, 0, &took), WEFT_SW_LOST);
	assert_in_range(took, 100 * FEW_US, SW_SILENCE / 4);
	assert_int_equal(nic_count(nic, 0, "packets"), packets + 3);
	assert_int_equal(post_one(e, 0, &took), WEFT_SW_LOST);
	assert_true(took < FEW_US);
	e->world->result[0] = 1;
}

/* SUN-F81. */
static void later_messages_to_a_dead_node_fail_at_once(void **state)
{
	static const char *const dies[] = { "faults.events=100 us node 1 dies",
		NULL };
	struct sw_world w = { .run = send_many_to_the_dead };

	sw_world_run(&w, dies, true);
	assert_int_equal(w.result[0], 1);
	kit_close(&w.kit);
}

#define RETURN (SWT_START + 20000000 * (sim_time)SIM_NS)

/* Until a message to a node that is back arrives: not later than the next one
 * that is sent after a silence.  Its own message ends the silence earlier. */
static void send_to_one_that_returns(struct sw_end *e)
{
	struct weft_sw_work w = swt_work(e, 0, 64);
	uint32_t status;
	sim_time took;

	if (e->node) {
		program_wait(RETURN + 1000000 * (sim_time)SIM_NS);
		if (e->world->result[6])
			assert_int_equal(weft_sw_post_send(e->sq, &w), 0);
		return;
	}
	program_wait(200000 * (sim_time)SIM_NS);
	do {
		status = post_one(e, 1, &took);
		program_charge(100000 * (sim_time)SIM_NS);
	} while (status != WEFT_SW_OK);
	assert_true(program_now() >= RETURN);
	e->world->result[0] = (uint64_t)(program_now() - RETURN);
}

/* SUN-F81. */
static void the_silence_of_a_node_ends_when_it_is_back(void **state)
{
	static const char *const sets[] = {
		"faults.events=100 us link 1 port 0 dies; 100 us link 1 port 1 "
		"dies; 20050 us link 1 port 0 returns; 20050 us link 1 port 1 "
		"returns",
		NULL
	};

	for (uint32_t i = 0; i < 2; i++) {
		struct sw_world w = { .run = send_to_one_that_returns };

		w.result[6] = i;
		sw_world_run(&w, sets, true);
		assert_in_range(w.result[0], 1,
			i ? 1300000 * SIM_NS : SW_SILENCE + SW_SILENCE / 4);
		kit_close(&w.kit);
	}
}

static void fail_bare(struct sw_end *e)
{
	struct weft_sw_work w = swt_work(e, 1, 64);
	uint32_t lost = 0;

	w.flags = WEFT_SW_BARE;
	for (uint32_t i = 0; i < MESSAGES && e->node == 0; i++) {
		struct weft_sw_completion c;

		assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
		assert_int_equal(weft_sw_wait(e->cq, &c, WEFT_SW_FOREVER), 0);
		lost += c.status == WEFT_SW_LOST;
	}
	if (e->node == 0)
		e->world->result[0] = lost;
}

/* Without the library the program learns of what the card has given up. */
static void bare_messages_fail_where_others_go_on(void **state)
{
	struct sw_world w = { .run = fail_bare };

	sw_world_run(&w, lossy, true);
	assert_in_range(w.result[0], 1, MESSAGES / 4);
	kit_close(&w.kit);
}

/* --- a port --- */

static void watch_port(struct sw_end *e)
{
	struct weft_sw_event v;
	struct weft_sw_port p;

	if (e->node)
		return;
	program_wait(150000 * (sim_time)SIM_NS);
	assert_int_equal(weft_sw_get_event(e->dev, &v, 0), 0);
	assert_int_equal(v.kind, WEFT_SW_EVENT_PORT_DOWN);
	assert_int_equal(v.port, 1);
	assert_int_equal(weft_sw_query_port(e->dev, 1, &p), 0);
	assert_false(p.is_up);
	assert_int_equal(weft_sw_ack_event(e->dev, &v), 0);
	assert_int_equal(weft_sw_ack_event(e->dev, &v), EINVAL);
	assert_int_equal(weft_sw_get_event(e->dev, &v, 0), ETIMEDOUT);
}

static void bound_to_dead_port(struct sw_end *e)
{
	struct weft_sw_work w = swt_work(e, 1, 64);

	if (e->node)
		return;
	program_wait(150000 * (sim_time)SIM_NS);
	w.flags = WEFT_SW_PORT_1;
	assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
	swt_await_status(e, WEFT_SW_LOST);
	w.flags = 0;
	assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
	swt_await(e, WEFT_SW_DONE);
}

static void a_dead_port_is_reported_and_avoided(void **state)
{
	static const char *const dies[] = {
		"faults.events=100 us link 0 port 1 dies", NULL
	};

	sw_world_try(watch_port, dies, true);
	sw_world_try(bound_to_dead_port, dies, true);
}

TESTS(TEST(each_message_arrives_once_though_the_card_gives_up),
	TEST(reply_words_are_exact_though_the_card_gives_up),
	TEST(a_notice_without_room_comes_again_alone),
	TEST(messages_to_a_dead_node_end_with_errors),
	TEST(later_messages_to_a_dead_node_fail_at_once),
	TEST(the_silence_of_a_node_ends_when_it_is_back),
	TEST(bare_messages_fail_where_others_go_on),
	TEST(a_dead_port_is_reported_and_avoided))
