/* SWverbs where programs do what they must not: each mistake has one outcome,
 * and only its own program notices. */
#include <errno.h>
#include <string.h>

#include "api/sw/sw.h"
#include "sim/random.h"
#include "testing/sw_testing.h"

/* --- refused at once --- */

static void misuse_work(struct sw_end *e)
{
	struct weft_sw_piece many[WEFT_SW_PIECES + 1] = { { 0, 1 } };
	struct weft_sw_piece p = { SWT_SPACE, WEFT_SW_FSM + 1 };
	struct weft_sw_work good = swt_work(e, 1, 8), w = good;
	sim_time now = program_now();

	if (e->node)
		return;
	/* too long */
	assert_int_equal(weft_sw_post_fsm(e->sq, &w, &p, 1), EMSGSIZE);
	w.bytes = WEFT_SW_FSM + 1;
	w.flags = WEFT_SW_FSM_READ;
	assert_int_equal(weft_sw_post_fsm(e->sq, &w, NULL, 0), EMSGSIZE);
	w = good;
	w.bytes = WEFT_SW_MESSAGE + 1;
	assert_int_equal(weft_sw_post_send(e->sq, &w), EMSGSIZE);
	w.bytes = WEFT_SW_LONGEST + 1;
	assert_int_equal(weft_sw_post_write(e->sq, &w), EMSGSIZE);
	assert_int_equal(weft_sw_post_read(e->sq, &w), EMSGSIZE);
	/* nothing */
	w.bytes = 0;
	assert_int_equal(weft_sw_post_read(e->sq, &w), EINVAL);
	w.flags = WEFT_SW_FSM_READ;
	assert_int_equal(weft_sw_post_fsm(e->sq, &w, NULL, 0), EINVAL);
	assert_int_equal(weft_sw_post_fsm(e->sq, &w, &p, 1), EINVAL);
	/* own bytes that are not its own */
	w = good;
	w.own_key = 1234;
	assert_int_equal(weft_sw_post_write(e->sq, &w), EFAULT);
	assert_int_equal(weft_sw_post_send(e->sq, &w), EFAULT);
	w = good;
	w.own_at = SWT_BYTES - 7;
	assert_int_equal(weft_sw_post_write(e->sq, &w), EFAULT);
	w.own_at = UINT64_MAX - 3;
	assert_int_equal(weft_sw_post_read(e->sq, &w), EFAULT);
	w = good;
	w.reply = SWT_BYTES;
	assert_int_equal(weft_sw_post_read(e->sq, &w), EFAULT);
	p = (struct weft_sw_piece){ UINT64_MAX - 10, 8 };
	assert_int_equal(weft_sw_post_fsm(e->sq, &good, &p, 1), EFAULT);
	/* values that do not exist */
	w = good;
	w.to.node = 32;
	assert_int_equal(weft_sw_post_write(e->sq, &w), EINVAL);
	w = good;
	w.to.engine = 2;
	assert_int_equal(weft_sw_post_write(e->sq, &w), EINVAL);
	w = good;
	w.to.interface = WEFT_SW_INTERFACES;
	assert_int_equal(weft_sw_post_send(e->sq, &w), EINVAL);
	w = good;
	w.flags = WEFT_SW_PORT_0 | WEFT_SW_PORT_1;
	assert_int_equal(weft_sw_post_write(e->sq, &w), EINVAL);
	w.flags = WEFT_SW_UNRELIABLE;
	assert_int_equal(weft_sw_post_write(e->sq, &w), EINVAL);
	w.flags = 1 << 20;
	assert_int_equal(weft_sw_post_fsm(e->sq, &w, many, 1), EINVAL);
	w = good;
	w.reply = 4;
	assert_int_equal(weft_sw_post_write_reply(e->sq, &w), EINVAL);
	assert_int_equal(weft_sw_post_read(e->sq, &w), EINVAL);
	assert_int_equal(weft_sw_post_fsm(e->sq, &good, NULL, 1), EINVAL);
	assert_int_equal(
		weft_sw_post_fsm(e->sq, &good, many, WEFT_SW_PIECES + 1),
		EINVAL);
	assert_int_equal(weft_sw_post_write(e->sq, NULL), EINVAL);
	assert_int_equal(weft_sw_post_write_notify(e->sq, NULL), EINVAL);
	assert_int_equal(weft_sw_post_write(NULL, &w), EBADF);
	/* no time has passed, and nothing was sent */
	assert_int_equal(program_now(), now);
}

static void misuse_set_up(struct sw_end *e)
{
	struct weft_sw_rq_options how = { WEFT_SW_RAW, 4, 0x1000000 };
	struct weft_sw_options job = { .job = SWHNI_JOBS };
	struct weft_sw_completion c;
	struct weft_sw_event v = { .kind = 7 };
	struct weft_sw *dev;
	struct weft_sw_cq *cq;
	struct weft_sw_sq *sq;
	struct weft_sw_rq *rq;
	uint32_t key;

	if (e->node)
		return;
	assert_int_equal(weft_sw_open(NULL, NULL), EINVAL);
	assert_int_equal(weft_sw_open(&job, &dev), EINVAL);
	assert_int_equal(weft_sw_query(e->dev, NULL), EINVAL);
	assert_int_equal(weft_sw_reg_segment(e->dev, 0, 0, 0, &key), EINVAL);
	assert_int_equal(weft_sw_reg_segment(e->dev, 0, 8, 4, &key), EINVAL);
	assert_int_equal(
		weft_sw_reg_segment(e->dev, UINT64_MAX - 8, 8, 0, &key),
		EFAULT);
	assert_int_equal(weft_sw_reg(e->dev, 0, 8, 0, 2048, &key), EINVAL);
	assert_int_equal(weft_sw_reg(e->dev, 0, 8, 0, 5000, &key), EINVAL);
	assert_int_equal(weft_sw_reg(e->dev, 0, 8, 0, 16 << 20, &key), EINVAL);
	assert_int_equal(weft_sw_dereg(e->dev, 999), EINVAL);
	assert_int_equal(weft_sw_create_cq(e->dev, 0, false, &cq), EINVAL);
	assert_int_equal(weft_sw_create_cq(e->dev, 3, false, &cq), EINVAL);
	assert_int_equal(weft_sw_create_sq(e->dev, e->cq, 8192, &sq), EINVAL);
	assert_int_equal(weft_sw_create_sq(e->dev, NULL, 8, &sq), EBADF);
	how.depth = 512;
	assert_int_equal(weft_sw_create_rq(e->dev, e->cq, &how, &rq), EINVAL);
	how = (struct weft_sw_rq_options){ WEFT_SW_RAW, 4, 8 };
	assert_int_equal(weft_sw_create_rq(e->dev, e->cq, &how, &rq), EINVAL);
	how.at = UINT64_C(1) << 60;
	assert_int_equal(weft_sw_create_rq(e->dev, e->cq, &how, &rq), EFAULT);
	how = (struct weft_sw_rq_options){ 2, 4, 0 };
	assert_int_equal(weft_sw_create_rq(e->dev, e->cq, &how, &rq), EINVAL);
	assert_int_equal(weft_sw_destroy_cq(e->cq), EBUSY);
	assert_int_equal(weft_sw_post_recv(e->rq, 0, 0, 0), EINVAL);
	assert_int_equal(weft_sw_poll(e->cq, NULL), EINVAL);
	assert_int_equal(weft_sw_wait(e->cq, &c, -1), EINVAL);
	assert_int_equal(weft_sw_wait_reply(e->dev, 4, 1, 0), EINVAL);
	assert_int_equal(
		weft_sw_wait_reply(e->dev, UINT64_C(1) << 60, 1, 0), EFAULT);
	assert_int_equal(weft_sw_ack_event(e->dev, &v), EINVAL);
	/* handles of one kind are none of another */
	assert_int_equal(weft_sw_query((struct weft_sw *)e->cq, NULL), EBADF);
	/* and a queue belongs to its device */
	assert_int_equal(weft_sw_open(NULL, &dev), 0);
	assert_int_equal(weft_sw_create_sq(dev, e->cq, 8, &sq), EINVAL);
	assert_int_equal(weft_sw_close(dev), 0);
	assert_int_equal(weft_sw_create_cq(dev, 8, false, &cq), EBADF);
	assert_string_equal(weft_sw_status_name(WEFT_SW_STATUSES), "unknown");
}

/* SUN-F72 */
static void bad_arguments_are_refused_at_once(void **state)
{
	sw_world_try(misuse_work, NULL, false);
	sw_world_try(misuse_set_up, NULL, false);
}

/* --- refused by the target --- */

static void misuse_target(struct sw_end *e)
{
	struct weft_sw_work good = swt_work(e, 1, 8), w;
	struct weft_sw_options other = { .job = 1 };
	struct weft_sw_completion c;
	struct weft_sw *dev;
	struct weft_sw_cq *cq;
	struct weft_sw_sq *sq;
	uint32_t key;

	assert_int_equal(weft_sw_reg_segment(
				 e->dev, SWT_SPACE, 4096, WEFT_SW_READ, &key),
		0);
	swt_meet(e, 1);
	if (e->node == 1) {
		swt_meet(e, 2);
		assert_int_equal(swt_word(SWT_TARGET), 0);
		return;
	}
	swt_fill(0, 8, 1);
	w = good;
	w.key = 777;
	assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
	swt_await_status(e, WEFT_SW_BAD_KEY);
	assert_int_equal(weft_sw_post_read(e->sq, &w), 0);
	swt_await_status(e, WEFT_SW_BAD_KEY);
	w = good;
	w.at = SWT_BYTES - 7;
	assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
	swt_await_status(e, WEFT_SW_OUTSIDE);
	w.at = UINT64_MAX - 7;
	assert_int_equal(weft_sw_post_read(e->sq, &w), 0);
	swt_await_status(e, WEFT_SW_OUTSIDE);
	w = good;
	w.at += 64; /* its bytes are right, and come */
	w.reply = SWT_BYTES;
	assert_int_equal(weft_sw_post_write_reply(e->sq, &w), 0);
	swt_await_status(e, WEFT_SW_OUTSIDE);
	w = good;
	w.key = key;
	w.at = 0;
	assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
	swt_await_status(e, WEFT_SW_NO_RIGHT);
	w = good;
	w.to.interface = 100;
	assert_int_equal(weft_sw_post_send(e->sq, &w), 0);
	swt_await_status(e, WEFT_SW_NO_QUEUE);
	/* as another job */
	assert_int_equal(weft_sw_open(&other, &dev), 0);
	assert_int_equal(weft_sw_create_cq(dev, 8, false, &cq), 0);
	assert_int_equal(weft_sw_create_sq(dev, cq, 8, &sq), 0);
	assert_int_equal(weft_sw_post_write(sq, &good), EFAULT);
	assert_int_equal(weft_sw_reg_segment(dev, SWT_SPACE, 4096, 0, &key), 0);
	w = good;
	w.own_key = key;
	assert_int_equal(weft_sw_post_write(sq, &w), 0);
	assert_int_equal(weft_sw_wait(cq, &c, WEFT_SW_FOREVER), 0);
	assert_int_equal(c.status, WEFT_SW_WRONG_JOB);
	assert_int_equal(weft_sw_post_send(sq, &w), 0);
	assert_int_equal(weft_sw_wait(cq, &c, WEFT_SW_FOREVER), 0);
	assert_int_equal(c.status, WEFT_SW_WRONG_JOB);
	/* none of that has harmed the queue */
	assert_int_equal(weft_sw_post_read(e->sq, &good), 0);
	swt_await(e, WEFT_SW_DONE);
	swt_meet(e, 2);
}

static void the_target_refuses_what_its_owner_has_not_allowed(void **state)
{
	sw_world_try(misuse_target, NULL, true);
}

/* --- resources --- */

static void fill_queues(struct sw_end *e)
{
	struct weft_sw_work w = swt_work(e, 1, 100000);
	struct weft_sw_queue q;
	struct weft_sw_mr mr;
	uint32_t n;

	assert_int_equal(weft_sw_post_recv(e->rq, 9, 0, 8), EAGAIN);
	if (e->node)
		return;
	for (n = 0; n < SWT_DEPTH; n++)
		assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
	assert_int_equal(weft_sw_post_write(e->sq, &w), EAGAIN);
	assert_int_equal(weft_sw_query_sq(e->sq, &q), 0);
	assert_int_equal(q.used, SWT_DEPTH);
	/* in use */
	assert_int_equal(weft_sw_query_mr(e->dev, e->key, &mr), 0);
	assert_int_equal(mr.users, SWT_DEPTH);
	assert_int_equal(weft_sw_dereg(e->dev, e->key), EBUSY);
	assert_int_equal(weft_sw_destroy_sq(e->sq), EBUSY);
	while (n--)
		swt_await(e, WEFT_SW_DONE);
	assert_int_equal(weft_sw_dereg(e->dev, e->key), 0);
	assert_int_equal(weft_sw_post_write(e->sq, &w), EFAULT);
	assert_int_equal(weft_sw_destroy_sq(e->sq), 0);
	assert_int_equal(weft_sw_post_write(e->sq, &w), EBADF);
}

static void take_all_interfaces(struct sw_end *e)
{
	struct weft_sw_sq *sq[WEFT_SW_INTERFACES];
	struct weft_sw_device d;
	uint32_t i;

	if (e->node)
		return;
	for (i = 1; i < WEFT_SW_INTERFACES; i++)
		assert_int_equal(
			weft_sw_create_sq(e->dev, e->cq, 1, &sq[i]), 0);
	assert_int_equal(weft_sw_create_sq(e->dev, e->cq, 1, &sq[0]), ENOSPC);
	assert_int_equal(weft_sw_query(e->dev, &d), 0);
	assert_int_equal(d.interfaces, WEFT_SW_INTERFACES);
	assert_int_equal(d.free_interfaces, 0);
	/* one that is given back is there for others */
	assert_int_equal(weft_sw_destroy_sq(sq[50]), 0);
	assert_int_equal(weft_sw_create_sq(e->dev, e->cq, 1, &sq[0]), 0);
}

/* SUN-F73 */
static void resources_end_and_come_back(void **state)
{
	sw_world_try(fill_queues, NULL, false);
	sw_world_try(take_all_interfaces, NULL, false);
}

enum { SMALL = 4 };

/* Completions that nobody reads in time are lost, and that is said. */
static void overflow(struct sw_end *e)
{
	struct weft_sw_work w = swt_work(e, 1, 8);
	struct weft_sw_completion c;
	struct weft_sw_cq *cq;
	struct weft_sw_sq *sq;

	if (e->node)
		return;
	assert_int_equal(weft_sw_create_cq(e->dev, SMALL, false, &cq), 0);
	assert_int_equal(weft_sw_create_sq(e->dev, cq, 16, &sq), 0);
	for (w.id = 0; w.id < 6; w.id++)
		assert_int_equal(weft_sw_post_write(sq, &w), 0);
	program_charge(SIM_NS * 100000);
	for (uint32_t i = 0; i < SMALL; i++)
		assert_int_equal(weft_sw_poll(cq, &c), 0);
	assert_int_equal(weft_sw_poll(cq, &c), EOVERFLOW);
	assert_int_equal(weft_sw_poll(cq, &c), EAGAIN);
}

static void lost_completions_are_reported_once(void **state)
{
	sw_world_try(overflow, NULL, false);
}

/* --- without the library --- */

/* Doorbells for nothing, and a descriptor that changes after its doorbell. */
static void misuse_card(struct sw_end *e)
{
	struct weft_sw_work w = swt_work(e, 1, 8);
	struct swhni_descriptor d = { .type = 200 };
	struct swv_sq *sq = swv_find(SW_SQ, e->sq);
	struct swv_user *u = &sq->in->user;
	struct nic_at a;

	if (e->node)
		return;
	for (uint32_t i = 0; i < 5; i++) {
		a = nic_now(u->nic);
		assert_int_equal(swhni_ring(&a, u->interface, u->process,
					 u->posted, u->taken, a.t, a.t),
			0);
	}
	/* another process's page is not mapped */
	assert_int_equal(swhni_ring(&a, u->interface, u->process + 1, u->posted,
				 u->taken, a.t, a.t),
		EACCES);
	w.id = 1;
	assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
	d.id = ((struct swv_work *)slots_at(&sq->object.dev->works, 1))->d.id;
	program_write(u->entries_at, &d, sizeof(d));
	assert_int_equal(swt_await_status(e, WEFT_SW_BAD_WORK).id, 1);
	/* the queue goes on */
	assert_int_equal(weft_sw_post_write(e->sq, &w), 0);
	swt_await(e, WEFT_SW_DONE);
}

static void the_card_survives_what_the_library_would_not_do(void **state)
{
	sw_world_try(misuse_card, NULL, true);
}

/* --- at random --- */

enum { CALLS = 3000, GUARD_AT = 0x300000, GUARD = 0x10000 };

/* A descriptor of which some fields are wrong now and then. */
static struct weft_sw_work draw(const struct sw_end *e, uint64_t k)
{
	struct random_bits r = random_draw(5, e->node, RANDOM_DATA, k);
	struct weft_sw_work w = swt_work(e, r.a >> 8 & 1, 0);
	bool is_wild = r.a % 4 == 0;

	w.id = k;
	w.bytes = (uint32_t)(r.b % (is_wild ? 4000 : 100));
	w.at = SWT_TARGET + (r.b >> 16) % 0x10000;
	w.own_at = (r.b >> 32) % 0x10000;
	w.reply = SWT_TARGET + 0x20000 + (r.a >> 16) % 64 * 8;
	if (!is_wild)
		return w;
	switch (r.a >> 32 & 7) {
	case 0:
		w.key = (uint32_t)r.b % 5000;
		break;
	case 1:
		w.own_key = (uint32_t)r.b % 5000;
		break;
	case 2:
		w.at = r.b;
		break;
	case 3:
		w.to.node = (uint32_t)(r.b % 40);
		break;
	case 4:
		w.to.interface = (uint8_t)r.b;
		break;
	case 5:
		w.flags = (uint32_t)(r.b % 1024);
		break;
	case 6:
		w.to.queue = (uint16_t)r.b;
		break;
	default:
		w.reply = r.b;
	}
	return w;
}

static int post_any(struct sw_end *e, const struct weft_sw_work *w, uint64_t k)
{
	struct weft_sw_piece p = { SWT_SPACE + w->own_at, w->bytes };

	switch (k % 6) {
	case 0:
		return weft_sw_post_send(e->sq, w);
	case 1:
		return weft_sw_post_write(e->sq, w);
	case 2:
		return weft_sw_post_write_notify(e->sq, w);
	case 3:
		return weft_sw_post_write_reply(e->sq, w);
	case 4:
		return weft_sw_post_read(e->sq, w);
	default:
		return weft_sw_post_fsm(
			e->sq, w, &p, w->flags & WEFT_SW_FSM_READ ? 0 : 1);
	}
}

/* Takes what has come; of the own descriptors, how many. */
static uint32_t take_some(struct sw_end *e, int64_t patience)
{
	struct weft_sw_completion c;
	uint32_t n = 0;

	while (!weft_sw_wait(e->cq, &c, patience)) {
		assert_true(c.status < WEFT_SW_STATUSES);
		if (c.kind == WEFT_SW_RECEIVED)
			weft_sw_post_recv(e->rq, c.id, c.at, SWT_BUFFER);
		n += c.kind == WEFT_SW_DONE;
		patience = 0;
	}
	return n;
}

static void post_at_random(struct sw_end *e)
{
	uint32_t out = 0, quiet = 0, refused = 0;
	struct weft_sw_queue q;

	swt_fill(GUARD_AT, GUARD, 8);
	for (uint64_t k = 0; k < CALLS; k++) {
		struct weft_sw_work w = draw(e, k);
		int code = post_any(e, &w, k);

		assert_true(code == 0 || code == EAGAIN || code == EINVAL ||
			    code == EFAULT || code == EMSGSIZE);
		out += !code;
		quiet += !code && w.flags & WEFT_SW_QUIET;
		refused += code && code != EAGAIN;
		out -= take_some(e, code == EAGAIN ? 5000000 : 0);
	}
	while (weft_sw_query_sq(e->sq, &q), q.used)
		out -= take_some(e, 10000000);
	out -= take_some(e, 1000000000);
	/* each ends once, and nothing is written where nobody may */
	assert_true(out <= quiet);
	assert_in_range(refused, CALLS / 50, CALLS / 4);
	assert_true(swt_is(GUARD_AT, GUARD, 8));
}

static void random_descriptors_end_and_harm_nothing(void **state)
{
	sw_world_try(post_at_random, NULL, true);
}

TESTS(TEST(bad_arguments_are_refused_at_once),
	TEST(the_target_refuses_what_its_owner_has_not_allowed),
	TEST(resources_end_and_come_back),
	TEST(lost_completions_are_reported_once),
	TEST(the_card_survives_what_the_library_would_not_do),
	TEST(random_descriptors_end_and_harm_nothing))
