#include "api/elan/tport_testing.h"

#include "testing/testing.h"

struct elan_tport tpt_open(void)
{
	const struct elan_tport_options o = { .port = TPT_PORT,
		.queue = TPT_QUEUE,
		.handles = TPT_HANDLES,
		.at = TPT_AT };
	struct elan_tport t;

	assert_int_equal(elan_tport_open(&t, &o), 0);
	return t;
}

void tpt_send(struct elan_tport *t, uint32_t to, uint64_t tag, uint32_t n)
{
	uint32_t handle;

	et_fill(ET_SOURCE, tag, n);
	assert_int_equal(
		elan_tport_tx_start(t, to, tag, ET_SOURCE, n, &handle), 0);
	assert_int_equal(elan_tport_wait(t, handle, NULL), 0);
}

uint32_t tpt_post(struct elan_tport *t, uint32_t from, uint64_t tag,
	uint64_t mask, uint64_t to, uint32_t n)
{
	uint32_t handle;

	assert_int_equal(
		elan_tport_rx_start(t, from, tag, mask, to, n, &handle), 0);
	return handle;
}

void tpt_expect(struct elan_tport *t, uint32_t handle, uint64_t tag,
	uint64_t at, uint32_t n)
{
	struct elan_tport_status s;

	assert_int_equal(elan_tport_wait(t, handle, &s), 0);
	assert_int_equal(s.tag, tag);
	assert_int_equal(s.bytes, n);
	et_expect(at, tag, n);
}

static void on_message(void *arg, const struct book_account *a)
{
	struct tpt_told *x = arg;

	if (a->src == 0 && a->dst == 1 && a->kind == BOOK_SEND)
		x->of[x->n++ % TPT_MOST] = *a;
}

void tpt_run(struct et *m, struct tpt_told *told, void (*a)(void *),
	void (*b)(void *), void *arg)
{
	told->n = 0;
	told->how = (struct book_how){ .on_message = on_message, .arg = told };
	m->book = &told->how;
	et_run_two(m, a, b, arg);
}
