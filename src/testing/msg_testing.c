#include "testing/msg_testing.h"

#include "testing/testing.h"

#include <stdlib.h>
#include <string.h>

enum { SEED = 7 };

static void node_program(void *arg)
{
	const struct weft_msg_test *t = arg;
	struct weft_msg m;

	assert_int_equal(weft_msg_init(&m, &t->options), 0);
	t->run(&m, t->arg);
	if (!t->is_left_open)
		assert_int_equal(weft_msg_fini(&m), 0);
}

uint64_t msg_test_run(const struct weft_msg_test *t)
{
	return kit_run_all(t->kind, t->n_workers,
		t->n_processes ? t->n_processes : 1, node_program, (void *)t);
}

/* Processes of each node, beside one. */
static uint32_t several(const struct kit_kind *k)
{
	uint32_t most = MSG_TEST_RANKS / k->n_nodes;

	return most < 4 ? most : 4;
}

/* On the i-th of all machines, with one process a node and with several. */
static void run_on(struct weft_msg_test *t, uint32_t i, bool is_brief)
{
	/* the other of both is done once, if time is not short */
	bool is_other = (i / 2 + i) % 2;
	uint64_t digest;

	if (is_brief && is_other)
		return;
	t->n_processes = i % 2 ? several(t->kind) : 1;
	t->n_workers = i % 2 ? 3 : 1;
	digest = msg_test_run(t);
	if (is_brief || is_other)
		return;
	t->n_workers = i % 2 ? 1 : 3;
	assert_true(msg_test_run(t) == digest);
}

void msg_test_everywhere(void (*run)(struct weft_msg *m, void *arg),
	const struct weft_msg_options *o)
{
	struct weft_msg_test t = { .run = run };
	enum weft_msg_matching matching = o ? o->matching : 0;
	/* what works without options is the same on any threads with them */
	bool is_brief = getenv("WEFT_SLOW") || (o && !getenv("WHOLE"));
	struct kit_kinds kinds;

	if (o)
		t.options = *o;
	kit_find_kinds(&kinds);
	for (uint32_t i = 0; i < 2 * kinds.n; i++) {
		t.kind = &kinds.kind[i / 2];
		t.options.matching = matching;
		run_on(&t, i, is_brief);
		if (!api_to(t.kind->nic)->msg->tagged || matching)
			continue;
		t.options.matching = WEFT_MSG_MATCH_HOST;
		run_on(&t, i, is_brief);
	}
}

void msg_test_by_slots(void (*run)(struct weft_msg *m, void *arg),
	const struct weft_msg_options *o)
{
	struct weft_msg_test t = { .run = run, .options = *o };
	struct kit_kinds kinds;

	t.options.matching = WEFT_MSG_MATCH_HOST;
	kit_find_kinds(&kinds);
	for (uint32_t i = 0; i < kinds.n; i++) {
		t.kind = &kinds.kind[i];
		t.n_processes = i % 2 ? several(t.kind) : 1;
		t.n_workers = i % 2 ? 3 : 1;
		msg_test_run(&t);
	}
}

void msg_test_fill(uint64_t at, uint64_t stream, uint64_t bytes)
{
	uint8_t block[512];
	uint64_t n;

	for (uint64_t i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(block) ? bytes - i : sizeof(block);
		memory_fill_by(SEED, stream, i, block, n);
		assert_true(weft_msg_store(at + i, block, n));
	}
}

bool msg_test_is(uint64_t at, uint64_t stream, uint64_t bytes)
{
	uint8_t want[512], got[512];
	uint64_t n;

	for (uint64_t i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(want) ? bytes - i : sizeof(want);
		memory_fill_by(SEED, stream, i, want, n);
		assert_true(weft_msg_load(at + i, got, n));
		if (memcmp(want, got, n) != 0)
			return false;
	}
	return true;
}
