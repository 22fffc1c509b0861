/* SWverbs: each kind of message, with what shows its arrival; queues, memory
 * and events. */
#include <errno.h>
#include <string.h>

#include "api/sw/sw.h"
#include "testing/sw_testing.h"

enum { LONG = 100000 };

static uint64_t count(const struct sw_world *w, uint32_t node, const char *key)
{
	return nic_count(w->kit.nic, node, key);
}

/* --- writes and reads --- */

enum { GUARD = 64 };

static void write_and_read(struct sw_end *e)
{
	static const uint32_t sizes[] = { 1, 7, 64, 2047, 2048, 2049, LONG };

	for (uint64_t i = 0; i < 7 && e->node == 0; i++) {
		struct weft_sw_work w = swt_work(e, 1, sizes[i]);

		swt_fill(0, sizes[i], i);
		w.at += 2 * i * LONG + i; /* at any address */
		w.id = 100 + i;
		assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
		assert_int_equal(swt_await(e, WEFT_SW_DONE).id, 100 + i);
		/* and back, with its guards */
		w.at -= GUARD;
		w.own_at = LONG;
		w.bytes += 2 * GUARD;
		assert_int_equal(weft_sw_post_read(e->sq, &w), 0);
		assert_int_equal(swt_await(e, WEFT_SW_DONE).bytes, w.bytes);
		assert_true(swt_is(LONG + GUARD, sizes[i], i));
		assert_int_equal(swt_word(LONG + GUARD - 8), 0);
		assert_int_equal(swt_word(LONG + GUARD + sizes[i]), 0);
	}
}

/* SUN-F60, SUN-F61. */
static void bytes_go_there_and_back_by_writes_and_reads(void **state)
{
	sw_world_try(write_and_read, NULL, false);
}

/* --- what shows that a write has come --- */

static void write_with_notices(struct sw_end *e)
{
	for (uint64_t i = 0; i < 30; i++) {
		uint32_t bytes = (uint32_t)(1 + i * i * 100);
		struct weft_sw_work w = swt_work(e, 1, bytes);
		struct weft_sw_completion c;

		if (e->node == 0) {
			swt_fill(0, bytes, i);
			w.tag = (uint32_t)(1000 + i);
			assert_int_equal(
				weft_sw_post_write_notify(e->sq, &w), 0);
			swt_await(e, WEFT_SW_DONE);
		} else {
			c = swt_await(e, WEFT_SW_NOTICE);
			assert_true(swt_is(SWT_TARGET, bytes, i));
			assert_int_equal(c.tag, 1000 + i);
			assert_int_equal(c.bytes, bytes);
			assert_int_equal(c.at, SWT_TARGET);
			assert_int_equal(c.node, 0);
			assert_ptr_equal(c.rq, e->rq);
		}
		swt_meet(e, i + 1);
	}
}

/* SUN-F75. */
static void a_notice_comes_after_all_bytes(void **state)
{
	sw_world_try(write_with_notices, NULL, false);
}

enum { WRITES = 200 };

static void count_replies(struct sw_end *e)
{
	struct weft_sw_work w = swt_work(e, 1, 3000);

	w.reply = 0x3000;
	w.flags = WEFT_SW_QUIET;
	for (uint32_t i = 0; i < WRITES && e->node == 0; i++) {
		while (weft_sw_post_write_reply(e->sq, &w) == EAGAIN)
			program_charge(SIM_NS * 1000);
	}
	if (e->node == 1)
		assert_int_equal(weft_sw_wait_reply(e->dev, SWT_SPACE + 0x3000,
					 WRITES, WEFT_SW_FOREVER),
			0);
	swt_meet(e, 1);
	/* exactly so many */
	if (e->node == 1)
		assert_int_equal(swt_word(0x3000), WRITES);
}

/* SUN-F63, SUN-F76. */
static void reply_words_count_each_write_once(void **state)
{
	sw_world_try(count_replies, NULL, false);
}

static void read_with_reply(struct sw_end *e)
{
	struct weft_sw_work w = swt_work(e, 1, LONG);

	if (e->node == 1)
		swt_fill(SWT_TARGET, LONG, 5);
	swt_meet(e, 1);
	if (e->node == 1)
		return; /* its card needs no program */
	w.reply = 0x3000;
	w.own_at = 0x4000;
	w.flags = WEFT_SW_QUIET;
	assert_int_equal(weft_sw_post_read(e->sq, &w), 0);
	assert_int_equal(weft_sw_wait_reply(e->dev, SWT_SPACE + 0x3000, 1,
				 WEFT_SW_FOREVER),
		0);
	assert_true(swt_is(0x4000, LONG, 5));
	assert_int_equal(swt_word(0x3000), 1);
}

/* SUN-F63. */
static void a_get_is_over_when_its_own_reply_word_says_so(void **state)
{
	sw_world_try(read_with_reply, NULL, false);
}

static void write_with_event(struct sw_end *e)
{
	struct weft_sw_work w = swt_work(e, 1, 5000);
	struct weft_sw_completion c;

	w.flags = WEFT_SW_EVENT;
	w.tag = 77;
	if (e->node == 0) {
		swt_fill(0, 5000, 3);
		assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
		swt_await(e, WEFT_SW_DONE);
		return;
	}
	c = swt_await(e, WEFT_SW_ARRIVED);
	assert_true(swt_is(SWT_TARGET, 5000, 3));
	assert_int_equal(c.tag, 77);
	assert_int_equal(c.bytes, 5000);
	assert_int_equal(c.at, SWT_TARGET);
}

/* SUN-F62. */
static void an_event_tells_the_target_of_a_write(void **state)
{
	sw_world_try(write_with_event, NULL, false);
}

/* --- fast short messages --- */

static void send_short(struct sw_end *e)
{
	const struct weft_sw_piece pieces[] = {
		{ SWT_SPACE + 1, 5 },
		{ SWT_SPACE + 1000, 100 },
		{ SWT_SPACE + 500, 0 },
		{ SWT_SPACE + 77, 23 },
	};
	struct weft_sw_work w = swt_work(e, 1, 0);
	uint8_t want[128], got[128];

	if (e->node == 1)
		return;
	swt_fill(0, 2000, 9);
	program_read(SWT_SPACE + 1, want, 5);
	program_read(SWT_SPACE + 1000, want + 5, 100);
	program_read(SWT_SPACE + 77, want + 105, 23);
	/* into memory, and back by a short message that reads */
	assert_int_equal(weft_sw_post_fsm(e->sq, &w, pieces, 4), 0);
	swt_fill(0, 2000, 10); /* the pieces are the card's by now */
	assert_int_equal(swt_await(e, WEFT_SW_DONE).bytes, 128);
	w.flags = WEFT_SW_FSM_READ;
	w.bytes = 128;
	w.own_at = 4096;
	assert_int_equal(weft_sw_post_fsm(e->sq, &w, NULL, 0), 0);
	swt_await(e, WEFT_SW_DONE);
	program_read(SWT_SPACE + 4096, got, 128);
	assert_memory_equal(want, got, 128);
}

static void send_short_to_chip(struct sw_end *e)
{
	struct weft_sw_piece p = { SWT_SPACE, 100 };
	struct weft_sw_work w = swt_work(e, 1, 100);

	if (e->node == 1)
		return;
	swt_fill(0, 100, 4);
	w.at = 400;
	w.key = 12345; /* has no meaning */
	w.flags = WEFT_SW_CHIP;
	assert_int_equal(weft_sw_post_fsm(e->sq, &w, &p, 1), 0);
	swt_await(e, WEFT_SW_DONE);
	w.flags |= WEFT_SW_FSM_READ;
	w.own_at = 4096;
	assert_int_equal(weft_sw_post_fsm(e->sq, &w, NULL, 0), 0);
	swt_await(e, WEFT_SW_DONE);
	assert_true(swt_is(4096, 100, 4));
	/* it has 512 bytes */
	w.at = 413;
	assert_int_equal(weft_sw_post_fsm(e->sq, &w, NULL, 0), 0);
	swt_await_status(e, WEFT_SW_OUTSIDE);
}

/* SUN-F70, SUN-F77. */
static void short_messages_gather_and_reach_memory_and_card(void **state)
{
	sw_world_try(send_short, NULL, false);
	sw_world_try(send_short_to_chip, NULL, true);
}

/* --- messages into queues --- */

static void send_messages(struct sw_end *e)
{
	for (uint64_t i = 0; i < 40; i++) {
		uint32_t bytes = (uint32_t)(i * 53 % 2049);
		struct weft_sw_work w = swt_work(e, 1, bytes);
		struct weft_sw_completion c;

		if (e->node == 0) {
			swt_fill(0, bytes, i);
			w.tag = (uint32_t)i;
			assert_int_equal(weft_sw_post_send(e->sq, &w), 0);
			swt_await(e, WEFT_SW_DONE);
			continue;
		}
		c = swt_await(e, WEFT_SW_RECEIVED);
		assert_int_equal(c.tag, i);
		assert_int_equal(c.bytes, bytes);
		assert_int_equal(c.at, SWT_IN + i % SWT_BUFFERS * SWT_BUFFER);
		assert_true(swt_is(c.at - SWT_SPACE, bytes, i));
		assert_int_equal(
			weft_sw_post_recv(e->rq, c.id, c.at, SWT_BUFFER), 0);
	}
}

/* SUN-F64. */
static void messages_go_where_the_receiver_wants_them(void **state)
{
	sw_world_try(send_messages, NULL, false);
}

static void send_to_two_queues(struct sw_end *e)
{
	struct weft_sw_rq_options how = { WEFT_SW_VIRTUAL, 2, 0 };
	struct weft_sw_work w = swt_work(e, 1, 8);
	struct weft_sw_completion c;
	struct weft_sw_queue q;
	struct weft_sw_rq *rq;

	assert_int_equal(weft_sw_create_rq(e->dev, e->cq, &how, &rq), 0);
	assert_int_equal(weft_sw_query_rq(rq, &q), 0);
	/* they share an interface */
	assert_int_equal(q.address.interface, w.to.interface);
	assert_int_equal(q.address.queue, w.to.queue + 1);
	swt_meet(e, 1);
	if (e->node == 0) {
		/* the second one has no buffer yet, and blocks nobody */
		w.to.queue = q.address.queue;
		assert_int_equal(weft_sw_post_send(e->sq, &w), 0);
		swt_await(e, WEFT_SW_DONE);
		w.to.queue = 0;
		assert_int_equal(weft_sw_post_send(e->sq, &w), 0);
		swt_await(e, WEFT_SW_DONE);
		return;
	}
	c = swt_await(e, WEFT_SW_RECEIVED);
	assert_ptr_equal(c.rq, e->rq);
	assert_int_equal(weft_sw_poll(e->cq, &c), EAGAIN);
	/* a buffer that is too short gets what it has room for */
	assert_int_equal(weft_sw_post_recv(rq, 9, 0x100, 7), 0);
	c = swt_await_status(e, WEFT_SW_TRUNCATED);
	assert_ptr_equal(c.rq, rq);
	assert_int_equal(c.id, 9);
	assert_int_equal(c.bytes, 8);
	assert_int_equal(weft_sw_destroy_rq(rq), 0);
	assert_int_equal(weft_sw_destroy_rq(rq), EBADF);
}

enum { RING_AT = 0x1000000, SLOTS = 4 };

static void send_to_raw_queue(struct sw_end *e)
{
	struct weft_sw_rq_options how = { WEFT_SW_RAW, SLOTS, RING_AT };
	struct weft_sw_work w = swt_work(e, 1, 700);
	struct weft_sw_completion c;
	struct weft_sw_queue q;
	struct weft_sw_rq *rq;

	assert_int_equal(weft_sw_create_rq(e->dev, e->cq, &how, &rq), 0);
	assert_int_equal(weft_sw_query_rq(rq, &q), 0);
	assert_int_not_equal(q.address.interface, w.to.interface);
	assert_int_equal(weft_sw_post_recv(rq, 0, 0, 8), EINVAL);
	assert_int_equal(weft_sw_release(rq), EINVAL);
	assert_int_equal(weft_sw_release(e->rq), EINVAL);
	swt_meet(e, 1);
	w.to = q.address;
	w.to.node = 1;
	for (uint64_t i = 0; i < 3 * SLOTS; i++) {
		if (e->node == 0) {
			swt_fill(0, 700, i);
			assert_int_equal(weft_sw_post_send(e->sq, &w), 0);
			swt_await(e, WEFT_SW_DONE);
			continue;
		}
		c = swt_await(e, WEFT_SW_RECEIVED);
		/* it lies in the program's own ring */
		assert_int_equal(
			c.at, RING_AT + i % SLOTS * WEFT_SW_SLOT +
				      (WEFT_SW_SLOT - WEFT_SW_MESSAGE));
		assert_true(swt_is(c.at - SWT_SPACE, 700, i));
		assert_int_equal(weft_sw_release(rq), 0);
	}
	assert_int_equal(weft_sw_destroy_rq(rq), 0);
}

/* SUN-F79. */
static void receive_queues_are_virtual_or_raw(void **state)
{
	sw_world_try(send_to_two_queues, NULL, false);
	sw_world_try(send_to_raw_queue, NULL, false);
}

/* More than the ring has room for, while nobody takes them. */
static void flood(struct sw_end *e)
{
	uint32_t flags = (uint32_t)e->world->result[0], n = 0;
	struct weft_sw_rq_options how = { WEFT_SW_RAW, SLOTS, RING_AT };
	struct weft_sw_work w = swt_work(e, 1, 8);
	struct weft_sw_completion c;
	struct weft_sw_queue q;
	struct weft_sw_rq *rq;

	assert_int_equal(weft_sw_create_rq(e->dev, e->cq, &how, &rq), 0);
	assert_int_equal(weft_sw_query_rq(rq, &q), 0);
	swt_meet(e, 1);
	w.to = q.address;
	w.to.node = 1;
	w.flags = flags;
	for (uint32_t i = 0; i < 20 && e->node == 0; i++)
		assert_int_equal(weft_sw_post_send(e->sq, &w), 0);
	for (uint32_t i = 0; i < 20 && e->node == 0; i++)
		swt_await(e, WEFT_SW_DONE);
	if (e->node == 0)
		return;
	program_charge(SIM_NS * 20000);
	while (!weft_sw_wait(e->cq, &c, 2000000 * (int64_t)SIM_NS)) {
		assert_int_equal(weft_sw_release(rq), 0);
		n++;
	}
	e->world->result[1] = n;
}

/* SUN-F64. */
static void unreliable_messages_need_room_and_reliable_ones_wait(void **state)
{
	struct sw_world w = { .run = flood };

	sw_world_run(&w, NULL, false);
	assert_int_equal(w.result[1], 20);
	kit_close(&w.kit);
	w = (struct sw_world){ .run = flood, .result = { WEFT_SW_UNRELIABLE } };
	sw_world_run(&w, NULL, true);
	assert_int_equal(w.result[1], SLOTS);
	assert_int_equal(count(&w, 1, "datagrams_lost"), 16);
	kit_close(&w.kit);
}

/* --- many peers --- */

enum { PEERS = 31 };

/* Everyone sends to node 0, which keeps no more for many than for one. */
static void meet_peers(struct sw_end *e)
{
	struct weft_sw_device d;
	struct weft_sw_work w = swt_work(e, 0, 64);

	if (e->node) {
		program_wait(SWT_START +
			     (e->node == 1 ? 0 : 100000) * (sim_time)SIM_NS);
		for (uint32_t i = 0; i < 50; i++) {
			assert_int_equal(weft_sw_post_send(e->sq, &w), 0);
			swt_await(e, WEFT_SW_DONE);
		}
		return;
	}
	for (uint32_t i = 0; i < PEERS * 50; i++) {
		struct weft_sw_completion c = swt_await(e, WEFT_SW_RECEIVED);

		weft_sw_post_recv(e->rq, c.id, c.at, SWT_BUFFER);
		if (i != 49 && i != PEERS * 50 - 1)
			continue;
		assert_int_equal(weft_sw_query(e->dev, &d), 0);
		assert_int_equal(d.interfaces, 1);
		e->world->result[i != 49] = d.held;
	}
}

/* SUN-F80. */
static void one_pair_of_queues_serves_all_peers(void **state)
{
	struct sw_world w = { .run = meet_peers, .n_programs = PEERS + 1 };

	sw_world_run(&w, NULL, false);
	/* but for windows, of which one peer uses one of 16 */
	assert_in_range(w.result[1] - w.result[0], 0, 15 * 64 * 16);
	kit_close(&w.kit);
}

/* --- queries --- */

static void query_all(struct sw_end *e)
{
	struct weft_sw_device d;
	struct weft_sw_port p;
	struct weft_sw_queue q;
	struct weft_sw_mr mr;
	uint32_t key;

	if (e->node)
		return;
	assert_int_equal(weft_sw_query(e->dev, &d), 0);
	assert_int_equal(d.node, 0);
	assert_int_equal(d.ports, WEFT_SW_PORTS);
	assert_int_equal(d.interfaces, 1);
	assert_int_equal(d.free_interfaces, WEFT_SW_INTERFACES - 1);
	assert_int_equal(d.in_flight, 256);
	assert_int_equal(d.windows * d.window, 16 * 64);
	for (uint32_t i = 0; i < WEFT_SW_PORTS; i++) {
		assert_int_equal(weft_sw_query_port(e->dev, i, &p), 0);
		assert_true(p.is_up);
		assert_int_equal(p.lanes, 4);
	}
	assert_int_equal(weft_sw_query_port(e->dev, 2, &p), EINVAL);
	assert_int_equal(weft_sw_query_sq(e->sq, &q), 0);
	assert_int_equal(q.depth, SWT_DEPTH);
	assert_int_equal(q.used, 0);
	assert_int_equal(weft_sw_query_rq(e->rq, &q), 0);
	assert_int_equal(q.used, SWT_BUFFERS);
	assert_int_equal(weft_sw_query_mr(e->dev, e->key, &mr), 0);
	assert_int_equal(mr.at, SWT_SPACE);
	assert_int_equal(mr.bytes, SWT_BYTES);
	assert_true(mr.is_segment);
	assert_int_equal(
		weft_sw_reg(e->dev, 0, 1 << 20, WEFT_SW_READ, 64 << 10, &key),
		0);
	assert_int_equal(weft_sw_query_mr(e->dev, key, &mr), 0);
	assert_int_equal(mr.page, 64 << 10);
	assert_int_equal(mr.rights, WEFT_SW_READ);
	assert_int_equal(weft_sw_dereg(e->dev, key), 0);
	assert_int_equal(weft_sw_query_mr(e->dev, key, &mr), EINVAL);
}

/* SUN-F72, SUN-F73. */
static void queries_say_what_there_is(void **state)
{
	sw_world_try(query_all, NULL, false);
}

/* Pages of every size, and physical addresses, name the same bytes. */
static void use_spaces(struct sw_end *e)
{
	for (uint64_t page = 0; page <= 8 << 20;
		page = page ? 2 * page : 4096) {
		struct weft_sw_work w = swt_work(e, 1, 9000);
		uint32_t key;

		assert_int_equal(
			weft_sw_reg(e->dev, SWT_SPACE, SWT_BYTES,
				WEFT_SW_READ | WEFT_SW_WRITE, page, &key),
			0);
		swt_meet(e, 1 + 2 * page);
		w.key = w.own_key = key;
		w.at += page ? 3 : SWT_SPACE + 3;
		w.own_at += page ? 5 : SWT_SPACE + 5;
		if (e->node == 0) {
			swt_fill(5, 9000, page);
			assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
			swt_await(e, WEFT_SW_DONE);
		}
		swt_meet(e, 2 + 2 * page);
		if (e->node == 1)
			assert_true(swt_is(SWT_TARGET + 3, 9000, page));
		assert_int_equal(weft_sw_dereg(e->dev, key), 0);
	}
}

/* SUN-F44. */
static void memory_is_physical_paged_or_segmented(void **state)
{
	sw_world_try(use_spaces, NULL, false);
}

/* --- cancel, reset, close --- */

static void end_early(struct sw_end *e)
{
	struct weft_sw_work w = swt_work(e, 1, 1 << 20);
	struct weft_sw_completion c;
	struct weft_sw_queue q;
	uint32_t n = 0;

	if (e->node)
		return;
	for (w.id = 0; w.id < 8; w.id++)
		assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
	/* the last one waits behind megabytes */
	assert_int_equal(weft_sw_cancel(e->sq, 7), 0);
	assert_int_equal(weft_sw_cancel(e->sq, 99), ENOENT);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(weft_sw_wait(e->cq, &c, WEFT_SW_FOREVER), 0);
		assert_int_equal(
			c.status, c.id == 7 ? WEFT_SW_CANCELLED : WEFT_SW_OK);
	}
	assert_int_equal(weft_sw_cancel(e->sq, 7), ENOENT);
	for (w.id = 0; w.id < 32; w.id++)
		assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
	assert_int_equal(weft_sw_reset_sq(e->sq), 0);
	while (!weft_sw_poll(e->cq, &c))
		n += c.status == WEFT_SW_CANCELLED;
	assert_in_range(n, 20, 32);
	assert_int_equal(weft_sw_query_sq(e->sq, &q), 0);
	assert_int_equal(q.used, 0);
	/* and it works as before */
	w.bytes = 100;
	assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
	swt_await(e, WEFT_SW_DONE);
	assert_int_equal(weft_sw_close(e->dev), 0);
	assert_int_equal(weft_sw_close(e->dev), EBADF);
	assert_int_equal(weft_sw_poll(e->cq, &c), EBADF);
}

/* SUN-F72 */
static void descriptors_can_be_cancelled_and_queues_reset(void **state)
{
	sw_world_try(end_early, NULL, true);
}

/* --- waiting and events --- */

static void await_events(struct sw_end *e)
{
	struct weft_sw_rq_options how = { WEFT_SW_VIRTUAL, 8, 0 };
	struct weft_sw_completion c;
	struct weft_sw_work w = swt_work(e, 1, 8);
	struct weft_sw_event v;
	struct weft_sw_cq *cq;
	struct weft_sw_rq *rq;
	sim_time now = program_now();

	assert_int_equal(weft_sw_wait(e->cq, &c, 5000000), ETIMEDOUT);
	assert_in_range(program_now() - now, 5000000, 6000000);
	assert_int_equal(
		weft_sw_wait_reply(e->dev, SWT_SPACE, 1, 1000000), ETIMEDOUT);
	assert_int_equal(weft_sw_get_event(e->dev, &v, 1000000), ETIMEDOUT);
	assert_int_equal(weft_sw_create_cq(e->dev, 8, true, &cq), 0);
	assert_int_equal(weft_sw_create_rq(e->dev, cq, &how, &rq), 0);
	for (uint64_t i = 0; i < 3; i++)
		weft_sw_post_recv(rq, i, SWT_IN, 8);
	swt_meet(e, 1);
	w.to.queue = 1;
	for (uint32_t i = 0; i < 2 && e->node == 0; i++)
		assert_int_equal(weft_sw_post_send(e->sq, &w), 0);
	if (e->node == 0)
		return;
	assert_int_equal(weft_sw_get_event(e->dev, &v, WEFT_SW_FOREVER), 0);
	assert_int_equal(v.kind, WEFT_SW_EVENT_CQ);
	assert_ptr_equal(v.cq, cq);
	/* one event, however many completions, until it is acknowledged */
	assert_int_equal(weft_sw_get_event(e->dev, &v, 5000000), ETIMEDOUT);
	assert_int_equal(weft_sw_poll(cq, &c), 0);
	assert_int_equal(weft_sw_ack_event(e->dev, &v), 0);
	assert_int_equal(weft_sw_ack_event(e->dev, &v), EINVAL);
	assert_int_equal(weft_sw_get_event(e->dev, &v, WEFT_SW_FOREVER), 0);
	assert_int_equal(weft_sw_poll(cq, &c), 0);
	assert_int_equal(weft_sw_destroy_rq(rq), 0);
	assert_int_equal(weft_sw_destroy_cq(cq), EBUSY);
	assert_int_equal(weft_sw_ack_event(e->dev, &v), 0);
	assert_int_equal(weft_sw_destroy_cq(cq), 0);
}

/* SUN-F73. */
static void events_wake_a_program_once(void **state)
{
	sw_world_try(await_events, NULL, false);
}

static void post_quickly(struct sw_end *e)
{
	const struct swhni_params *p = swv_nic()->params;
	struct weft_sw_work w = swt_work(e, 1, 8);
	sim_time now = program_now();

	if (e->node)
		return;
	assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
	assert_int_equal(program_now() - now, p->work.post);
	now = program_now();
	assert_int_equal(weft_sw_post_recv(e->rq, 0, 0, 8), EAGAIN);
	assert_int_equal(program_now(), now);
	swt_await(e, WEFT_SW_DONE);
	/* the bytes that left are those that lay there: nothing was copied */
	e->world->result[0] = 1;
}

/* SUN-F43. */
static void posting_takes_no_system_call(void **state)
{
	struct sw_world w = { .run = post_quickly };

	sw_world_run(&w, NULL, false);
	assert_int_equal(w.result[0], 1);
	kit_close(&w.kit);
}

/* SUN-F78. */
static void descriptors_have_at_most_64_bytes(void **state)
{
	assert_in_range(sizeof(struct weft_sw_work), 8, 64);
	assert_in_range(sizeof(struct weft_sw_collective), 8, 64);
	assert_in_range(sizeof(struct swhni_descriptor), 8, 64);
	assert_in_range(sizeof(struct swhni_collective), 8, 64);
}

TESTS(TEST(bytes_go_there_and_back_by_writes_and_reads),
	TEST(a_notice_comes_after_all_bytes),
	TEST(reply_words_count_each_write_once),
	TEST(a_get_is_over_when_its_own_reply_word_says_so),
	TEST(an_event_tells_the_target_of_a_write),
	TEST(short_messages_gather_and_reach_memory_and_card),
	TEST(messages_go_where_the_receiver_wants_them),
	TEST(receive_queues_are_virtual_or_raw),
	TEST(unreliable_messages_need_room_and_reliable_ones_wait),
	TEST(one_pair_of_queues_serves_all_peers),
	TEST(queries_say_what_there_is),
	TEST(memory_is_physical_paged_or_segmented),
	TEST(descriptors_can_be_cancelled_and_queues_reset),
	TEST(events_wake_a_program_once), TEST(posting_takes_no_system_call),
	TEST(descriptors_have_at_most_64_bytes))
