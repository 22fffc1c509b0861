#include "testing/endpoint_testing.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "testing/testing.h"

/* --- the client --- */

static uint8_t *place(struct endpoint_test_rank *r, uint64_t at, size_t n)
{
	uint64_t offset = at - ENDPOINT_TEST_AT;

	return offset <= ENDPOINT_TEST_BYTES &&
			       n <= ENDPOINT_TEST_BYTES - offset
		       ? r->memory + offset
		       : NULL;
}

static bool read_memory(void *arg, uint64_t at, void *to, size_t n)
{
	const uint8_t *from = place(arg, at, n);

	if (from)
		memcpy(to, from, n);
	return from;
}

static bool write_memory(void *arg, uint64_t at, const void *from, size_t n)
{
	uint8_t *to = place(arg, at, n);

	if (to)
		memcpy(to, from, n);
	return to;
}

static int take(void *arg, uint64_t bytes, uint64_t *at, uint32_t *hold)
{
	struct endpoint_test_rank *r = arg;

	return window_take(&r->window, bytes, at, hold);
}

static int take_pieces(void *arg, const struct channel_piece *piece, uint32_t n,
	uint64_t *at, uint32_t *hold)
{
	struct endpoint_test_rank *r = arg;

	return window_take_pieces(&r->window, piece, n, at, hold);
}

static void give(void *arg, uint32_t hold)
{
	struct endpoint_test_rank *r = arg;

	window_give(&r->window, hold);
}

static bool load(void *arg, uint64_t offset, void *to, uint64_t bytes)
{
	struct endpoint_test_rank *r = arg;

	if (offset > CHANNEL_ROOM || bytes > CHANNEL_ROOM - offset)
		return false;
	memcpy(to, r->room + offset, bytes);
	return true;
}

/* --- ranks --- */

static void open_rank(struct endpoint_test_rank *r, struct endpoint_test *t)
{
	const struct endpoint_client c = { .take = take,
		.take_pieces = take_pieces,
		.give = give,
		.load = load,
		.arg = r,
		.registry = t->registry };
	const struct weft_msg_options o = { .matching = t->matching,
		.pool = t->pool };
	const struct memory_foreign f = { read_memory, write_memory, r };

	r->test = t;
	r->memory = mem_alloc(1, ENDPOINT_TEST_BYTES);
	assert_int_equal(endpoint_open(&r->e, &c, &o), 0);
	window_init(&r->window, host_at(program_host(), program_node()),
		program_base(), program_base() + r->e.free, &f);
	r->rank = weft_msg_rank(&r->e.msg);
	r->n_ranks = weft_msg_ranks(&r->e.msg);
	t->all[r->rank] = r;
	endpoint_test_barrier(r);
}

/* Everything has been given back. */
static void close_rank(struct endpoint_test_rank *r)
{
	assert_int_equal(endpoint_close(&r->e), 0);
	for (uint32_t i = 0; i < r->window.n_runs; i++)
		assert_int_equal(r->window.run[i]->holds, 0);
}

static void rank_program(void *arg)
{
	struct endpoint_test *t = arg;
	struct endpoint_test_rank *r = mem_alloc(1, sizeof(*r));

	open_rank(r, t);
	t->run(r);
	if (!r->is_left_open)
		close_rank(r);
	else
		program_watch(0, 0, NULL, NULL);
	window_fini(&r->window);
	endpoint_free(&r->e);
	mem_free(r->memory);
	mem_free(r);
}

uint64_t endpoint_test_run(struct endpoint_test *t)
{
	uint32_t n = t->kind->n_nodes * t->n_processes;
	uint64_t digest;

	assert_true(n <= sizeof(t->all) / sizeof(*t->all));
	t->registry = registry_new(n);
	digest = kit_run_all(
		t->kind, t->n_workers, t->n_processes, rank_program, t);
	registry_free(t->registry);
	return digest;
}

/* Of several kinds with one interface, the first. */
static bool is_new(const struct kit_kinds *k, uint32_t i)
{
	uint32_t first = 0;

	while (k->kind[first].nic != k->kind[i].nic)
		first++;
	return first == i;
}

void endpoint_test_everywhere(
	void (*run)(struct endpoint_test_rank *r), void *arg, uint32_t turn)
{
	struct kit_kinds kinds;
	uint64_t digest;

	kit_find_kinds(&kinds);
	for (uint32_t i = 0; i < kinds.n; i++) {
		struct endpoint_test t = { .kind = &kinds.kind[i],
			.n_processes = 1 + (i + turn) % 2,
			.n_workers = 1,
			.run = run,
			.arg = arg };

		if (!is_new(&kinds, i))
			continue;
		digest = endpoint_test_run(&t);
		t.n_workers = 3;
		if ((i + turn) % 5 == 0)
			assert_true(endpoint_test_run(&t) == digest);
		t.matching = WEFT_MSG_MATCH_HOST;
		if (api_to(t.kind->nic)->msg->tagged && turn % 2)
			endpoint_test_run(&t);
	}
}

/* --- commands --- */

void endpoint_test_begin(struct endpoint_test_rank *r, struct channel_command c)
{
	endpoint_execute(&r->e, &c, 1);
}

struct channel_completion endpoint_test_next(struct endpoint_test_rank *r)
{
	struct channel_completion c;

	do
		endpoint_wait(&r->e, SIM_NEVER);
	while (!endpoint_has_next(&r->e));
	assert_true(endpoint_next(&r->e, &c));
	return c;
}

struct channel_completion endpoint_test_do(
	struct endpoint_test_rank *r, struct channel_command c)
{
	endpoint_test_begin(r, c);
	return endpoint_test_next(r);
}

void endpoint_test_barrier(struct endpoint_test_rank *r)
{
	assert_int_equal(weft_msg_barrier(&r->e.msg), 0);
}

void endpoint_test_open(
	struct endpoint_test_rank *r, uint64_t rights, uint16_t flags)
{
	const struct channel_completion c = endpoint_test_do(
		r, (struct channel_command){ .kind = CHANNEL_REGISTER,
			   .flags = flags | CHANNEL_HAS_DATA,
			   .at = ENDPOINT_TEST_AT,
			   .bytes = ENDPOINT_TEST_BYTES,
			   .ignore = rights,
			   .data = ENDPOINT_TEST_KEY });

	assert_int_equal(c.error, 0);
	assert_int_equal(c.data, ENDPOINT_TEST_KEY);
	endpoint_test_barrier(r);
}

struct channel_command endpoint_test_transfer(enum channel_kind kind,
	uint32_t rank, uint64_t there, uint64_t here, uint64_t bytes)
{
	return (struct channel_command){ .kind = (uint16_t)kind,
		.flags = kind == CHANNEL_WRITE ? CHANNEL_DELIVERED : 0,
		.rank = rank,
		.tag = there,
		.ignore = ENDPOINT_TEST_KEY,
		.at = ENDPOINT_TEST_AT + here,
		.bytes = bytes,
		.context = 5 };
}

void endpoint_test_atomic(struct endpoint_test_rank *r,
	struct channel_command c, uint64_t result, uint64_t compare)
{
	const struct channel_command more = { .kind = CHANNEL_MORE,
		.at = result ? ENDPOINT_TEST_AT + result : 0,
		.tag = compare ? ENDPOINT_TEST_AT + compare : 0,
		.bytes = c.bytes };

	c.kind = CHANNEL_ATOMIC;
	c.flags |= CHANNEL_IN_ROOM;
	c.ignore = ENDPOINT_TEST_KEY;
	endpoint_test_begin(r, c);
	endpoint_test_begin(r, more);
}
