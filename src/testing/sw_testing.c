#include "testing/sw_testing.h"

#include "api/sw/sw.h"

/* A word at the end of the space, for each node. */
#define MEET (SWT_BYTES - 4096)

static void program(void *arg)
{
	struct sw_world *w = arg;
	struct weft_sw_rq_options how = { WEFT_SW_VIRTUAL, SWT_BUFFERS, 0 };
	struct sw_end e = { .world = w, .node = program_node() };

	assert_int_equal(weft_sw_open(NULL, &e.dev), 0);
	assert_int_equal(weft_sw_create_cq(e.dev, 1024, false, &e.cq), 0);
	assert_int_equal(weft_sw_create_sq(e.dev, e.cq, SWT_DEPTH, &e.sq), 0);
	assert_int_equal(weft_sw_create_rq(e.dev, e.cq, &how, &e.rq), 0);
	assert_int_equal(weft_sw_reg_segment(e.dev, SWT_SPACE, SWT_BYTES,
				 WEFT_SW_READ | WEFT_SW_WRITE, &e.key),
		0);
	for (uint64_t i = 0; i < SWT_BUFFERS; i++)
		assert_int_equal(weft_sw_post_recv(e.rq, i,
					 SWT_IN + i * SWT_BUFFER, SWT_BUFFER),
			0);
	program_wait(SWT_START);
	w->run(&e);
}

uint64_t sw_world_run(struct sw_world *w, const char *const *sets, bool may_err)
{
	struct kit_how how = { .machine = "sunway-32", .sets = sets };

	w->n_programs += w->n_programs ? 0 : 2;
	how.needs.n_programs = w->n_programs;
	kit_open(&w->kit, &how);
	for (site_id i = 0; i < w->n_programs; i++)
		program_start(w->kit.host, i, 0, 0, program, w);
	return kit_run(&w->kit, may_err);
}

void sw_world_try(
	void (*run)(struct sw_end *e), const char *const *sets, bool may_err)
{
	struct sw_world w = { .run = run };

	sw_world_run(&w, sets, may_err);
	kit_close(&w.kit);
}

void swt_fill(uint64_t at, uint64_t bytes, uint64_t number)
{
	uint8_t block[4096];
	uint64_t n;

	for (uint64_t i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(block) ? bytes - i : sizeof(block);
		memory_fill_by(1, number, i, block, n);
		program_write(SWT_SPACE + at + i, block, n);
	}
}

bool swt_is(uint64_t at, uint64_t bytes, uint64_t number)
{
	uint8_t block[4096];
	uint64_t n;

	for (uint64_t i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(block) ? bytes - i : sizeof(block);
		program_read(SWT_SPACE + at + i, block, n);
		if (!memory_is_by(1, number, i, block, n))
			return false;
	}
	return true;
}

uint64_t swt_word(uint64_t at)
{
	uint64_t word = 0;

	program_read(SWT_SPACE + at, &word, sizeof(word));
	return word;
}

struct weft_sw_work swt_work(
	const struct sw_end *e, uint32_t node, uint32_t bytes)
{
	struct weft_sw_queue q;

	assert_int_equal(weft_sw_query_rq(e->rq, &q), 0);
	q.address.node = node;
	return (struct weft_sw_work){
		.to = q.address,
		.key = e->key,
		.own_key = e->key,
		.at = SWT_TARGET,
		.reply = UINT64_MAX,
		.bytes = bytes,
	};
}

struct weft_sw_completion swt_await_status(struct sw_end *e, uint32_t status)
{
	struct weft_sw_completion c;

	assert_int_equal(weft_sw_wait(e->cq, &c, WEFT_SW_FOREVER), 0);
	assert_string_equal(
		weft_sw_status_name(c.status), weft_sw_status_name(status));
	return c;
}

struct weft_sw_completion swt_await(struct sw_end *e, uint32_t kind)
{
	struct weft_sw_completion c = swt_await_status(e, WEFT_SW_OK);

	assert_int_equal(c.kind, kind);
	return c;
}

void swt_meet(struct sw_end *e, uint64_t number)
{
	struct weft_sw_piece p = { SWT_SPACE + MEET + 8, 8 };
	struct weft_sw_work w = swt_work(e, !e->node, 0);

	w.at = MEET;
	w.flags = WEFT_SW_QUIET;
	program_write(SWT_SPACE + MEET + 8, &number, 8);
	assert_int_equal(weft_sw_post_fsm(e->sq, &w, &p, 1), 0);
	assert_int_equal(weft_sw_wait_reply(e->dev, SWT_SPACE + MEET, number,
				 WEFT_SW_FOREVER),
		0);
}
