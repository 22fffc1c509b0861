/* APEnet+'s interface where programs do odd things: what is allowed works, what
 * is not disturbs nobody else; and random calls of both kinds. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "parts/gpus/gpus.h"
#include "sim/random.h"
#include "testing/ape_testing.h"

enum { HOST, GPU0, GPU1 };

static void run_pair(void (*f)(struct ape_world *w, uint32_t node),
	const char *const *sets, bool may_err)
{
	struct ape_world w = { .run = f };

	ape_world_run(&w, sets, NULL, may_err);
	kit_close(&w.kit);
}

/* --- what is allowed --- */

static void put_to_self(struct ape_world *w, uint32_t node)
{
	uint32_t from;

	for (from = 0; from < APE_MEMORIES; from++)
		for (uint32_t to = 0; to < APE_MEMORIES; to++) {
			struct weft_ape_transfer t =
				ape_transfer(w, from, to, 9000);

			t.node = node;
			t.offset = 100000;
			t.way = WEFT_APE_P2P;
			ape_fill(w, from, 0, 9000, from + 10 * to);
			assert_int_equal(weft_ape_put(&t), 0);
			ape_await(WEFT_APE_DONE);
			ape_await(WEFT_APE_ARRIVED);
			assert_true(
				ape_is(w, to, 100000, 9000, from + 10 * to));
			t.own_offset = 50000;
			assert_int_equal(weft_ape_get(&t), 0);
			ape_await(WEFT_APE_GOT);
			assert_true(
				ape_is(w, from, 50000, 9000, from + 10 * to));
		}
}

static void a_node_may_put_to_itself(void **state)
{
	run_pair(put_to_self, NULL, false);
}

/* 0 to 4 bytes and some around a packet, from any address to any other. */
static void put_anyhow(struct ape_world *w, uint32_t node)
{
	static const uint32_t sizes[] = { 0, 1, 2, 3, 4, 15, 17, 4095, 4096,
		4097, 8193 };

	for (uint32_t k = 0; k < 2 * 33; k++) {
		uint32_t bytes = sizes[k % 11], memory = k % APE_MEMORIES;
		struct weft_ape_transfer t =
			ape_transfer(w, memory, memory, bytes);

		t.own_offset = k;
		t.offset = 20000 + (k * 7) % 64;
		t.way = WEFT_APE_P2P;
		if (node == 0) {
			ape_fill(w, memory, k, bytes, k);
			assert_int_equal(weft_ape_put(&t), 0);
			ape_await(WEFT_APE_DONE);
			/* and back again */
			assert_int_equal(
				ape_await(WEFT_APE_ARRIVED).bytes, bytes);
			continue;
		}
		assert_int_equal(ape_await(WEFT_APE_ARRIVED).bytes, bytes);
		assert_true(ape_is(w, memory, t.offset, bytes, k));
		t.own_offset = t.offset;
		t.offset = 90000;
		assert_int_equal(weft_ape_put(&t), 0);
		ape_await(WEFT_APE_DONE);
	}
	for (uint32_t i = 0; i < 11 && node == 0; i++) {
		struct weft_ape_transfer t =
			ape_transfer(w, HOST, HOST, sizes[i]);

		assert_int_equal(weft_ape_get(&t), 0);
		assert_int_equal(ape_await(WEFT_APE_GOT).bytes, sizes[i]);
	}
}

static void any_length_and_alignment_will_do(void **state)
{
	run_pair(put_anyhow, NULL, false);
}

static void put_many(struct ape_world *w, uint32_t node)
{
	struct weft_ape_transfer t = ape_transfer(w, HOST, HOST, 8);

	for (uint32_t i = 0; i < 300; i++) {
		t.tag = i;
		if (node == 0)
			assert_int_equal(weft_ape_put(&t), 0);
		else
			assert_int_equal(ape_await(WEFT_APE_ARRIVED).tag, i);
	}
	for (uint32_t i = 0; i < 300 && node == 0; i++)
		assert_int_equal(ape_await(WEFT_APE_DONE).tag, i);
}

/* 300 in a queue of eight. */
static void more_commands_than_fit_wait(void **state)
{
	static const char *const sets[] = { "nic.dma.queue=8", NULL };

	run_pair(put_many, sets, false);
}

/* --- buffers --- */

static void register_twice(struct ape_world *w, uint32_t node)
{
	struct weft_ape_transfer t = ape_transfer(w, HOST, HOST, 100);
	uint32_t key[2];

	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(weft_ape_register(APE_HOST, 1000, &key[i]), 0);
	assert_int_not_equal(key[0], key[1]);
	if (node == 0) {
		program_wait(2 * APE_START);
		for (uint32_t i = 0; i < 2; i++) {
			t.key = key[i];
			assert_int_equal(weft_ape_put(&t), 0);
			ape_await(WEFT_APE_DONE);
		}
		return;
	}
	assert_int_equal(weft_ape_deregister(key[0]), 0);
	assert_int_equal(weft_ape_deregister(key[0]), EINVAL);
	assert_int_equal(ape_await(WEFT_APE_ERROR).error, WEFT_APE_NO_BUFFER);
	assert_int_equal(ape_await(WEFT_APE_ARRIVED).key, key[1]);
}

static void twice_registered_is_two_buffers(void **state)
{
	run_pair(register_twice, NULL, true);
}

/* Others are writing it: from then on nothing changes there. */
static void deregister_in_use(struct ape_world *w, uint32_t node)
{
	struct weft_ape_transfer t = ape_transfer(w, HOST, HOST, 200000);
	struct weft_ape_event e;
	uint32_t errors = 0, arrived = 0;
	uint64_t is[64], was[64];

	if (node == 0) {
		for (uint32_t i = 0; i < 6; i++)
			assert_int_equal(weft_ape_put(&t), 0);
		/* its own is in use, too; what was begun is sent */
		assert_int_equal(weft_ape_deregister(w->key[HOST]), 0);
		for (uint32_t i = 0; i < 6; i++)
			ape_await(WEFT_APE_DONE);
		return;
	}
	ape_await(WEFT_APE_ARRIVED);
	program_charge(20000 * SIM_NS);
	assert_int_equal(weft_ape_deregister(w->key[HOST]), 0);
	memset(was, 0x5a, sizeof(was));
	for (uint32_t i = 0; i < 200000 / sizeof(was); i++)
		program_write(APE_HOST + i * sizeof(was), was, sizeof(was));
	while (program_now() < 4 * APE_START + 2000000 * SIM_NS) {
		if (weft_ape_poll(&e)) {
			program_charge(10000 * SIM_NS);
			continue;
		}
		errors += e.kind == WEFT_APE_ERROR &&
			  e.error == WEFT_APE_NO_BUFFER;
		arrived += e.kind == WEFT_APE_ARRIVED;
	}
	assert_true(errors > 150 && errors < 5 * 49);
	assert_true(arrived < 5);
	for (uint32_t i = 0; i < 200000 / sizeof(was); i++) {
		program_read(APE_HOST + i * sizeof(is), is, sizeof(is));
		assert_memory_equal(is, was, sizeof(is));
	}
}

static void what_is_deregistered_in_use_changes_no_more(void **state)
{
	run_pair(deregister_in_use, NULL, true);
}

/* --- events that nobody takes --- */

struct two {
	struct kit kit;
	uint32_t key[2][2]; /* [node][process] */
};

/* Process 0 of node 1 never looks; process 1 does, all the time. */
static void two_processes(void *arg)
{
	struct two *x = arg;
	uint32_t node = program_node(), process = program_process(), own, i;
	struct weft_ape_event e;

	assert_int_equal(weft_ape_open(0), 0);
	assert_int_equal(weft_ape_register(APE_HOST, 4096, &own), 0);
	x->key[node][process] = own;
	program_wait(APE_START);
	if (node == 1 && process == 0) {
		program_wait(8 * APE_START);
		return;
	}
	for (i = 0; i < 100; i++) {
		struct weft_ape_transfer t = {
			.node = 1,
			.key = x->key[1][process],
			.own_key = own,
			.bytes = 8,
			.tag = i,
		};

		if (node == 0) {
			assert_int_equal(weft_ape_put(&t), 0);
			ape_await(WEFT_APE_DONE);
			continue;
		}
		assert_int_equal(weft_ape_wait(&e), 0);
		assert_int_equal(e.kind, WEFT_APE_ARRIVED);
		assert_int_equal(e.tag, i);
	}
}

static void a_full_event_queue_stops_its_owner_alone(void **state)
{
	static const char *const sets[] = { "nic.events=16", NULL };
	struct kit_how how = { .machine = "apenet-pair", .sets = sets };
	struct two x;

	how.needs.n_programs = 4;
	how.needs.n_processes = 2;
	kit_open(&x.kit, &how);
	for (uint32_t i = 0; i < 4; i++)
		program_start(x.kit.host, i / 2,
			i % 2 * host_threads_each(x.kit.host), 0, two_processes,
			&x);
	kit_run(&x.kit, true);
	assert_int_equal(nic_count(x.kit.nic, 1, "event queue overrun"), 1);
	kit_close(&x.kit);
}

/* --- random calls --- */

enum {
	NODES = 4,
	STEPS = 250,
	PART = 0x8000, /* of a buffer, for each source */
};

/* What a node has put at others, as it should be there. */
struct shadow {
	uint8_t at[NODES][PART];
};

struct random_world {
	struct ape_world ape;
	uint64_t seed;
	struct shadow *shadow; /* [NODES] */
	uint64_t refused, done;
};

static uint64_t rnd(const struct random_world *x, uint32_t step, uint32_t what)
{
	return random_draw(x->seed, program_node(), RANDOM_TARGET,
		(uint64_t)step * 16 + what)
		.a;
}

/* Any transfer, and what a call must say of it. */
static int draw(const struct random_world *x, uint32_t step, uint32_t extra,
	struct weft_ape_transfer *t)
{
	const struct ape_world *w = &x->ape;
	uint32_t wrong = (uint32_t)(rnd(x, step, 0) % 16);
	uint64_t bytes = rnd(x, step, 1) % 9000;

	*t = (struct weft_ape_transfer){
		.node = (uint32_t)(rnd(x, step, 2) % NODES),
		.key = w->key[HOST],
		.own_key = w->key[HOST],
		.bytes = bytes,
		.own_offset = 0x20000 + rnd(x, step, 3) % (0x20000 - 9000),
		.offset = program_node() * PART +
			  rnd(x, step, 4) % (PART - bytes),
		.tag = step,
		.way = (uint32_t)(rnd(x, step, 5) % 4),
	};
	switch (wrong) {
	case 0:
		t->node = NODES + (uint32_t)(rnd(x, step, 6) % 1000);
		return EINVAL;
	case 1:
		t->bytes = (UINT64_C(1) << 30) + 1 + rnd(x, step, 6) % 1000;
		return EINVAL;
	case 2:
		t->own_offset = APE_BUFFER - bytes + 1 + rnd(x, step, 6) % 99;
		return EFAULT;
	case 3:
		t->own_key = (uint32_t)rnd(x, step, 6) | UINT32_C(0x80000000);
		return EFAULT;
	case 4:
		t->way = 4 + (uint32_t)(rnd(x, step, 6) % 99);
		return EINVAL;
	case 5:
		t->own_key = extra; /* deregistered */
		return EFAULT;
	case 6: /* there: the target's owner hears of it, if there is one */
		t->key = (uint32_t)rnd(x, step, 6) | UINT32_C(0x800);
		return 0;
	case 7:
		t->offset = APE_BUFFER + rnd(x, step, 6) % 1000;
		return 0;
	default:
		return 0;
	}
}

static void note_put(struct random_world *x, const struct weft_ape_transfer *t)
{
	struct shadow *s = &x->shadow[program_node()];

	if (t->key == x->ape.key[HOST] && t->offset < APE_BUFFER)
		program_read(APE_HOST + t->own_offset,
			s->at[t->node] + (t->offset - program_node() * PART),
			t->bytes);
}

static void step(struct random_world *x, uint32_t k, uint32_t extra)
{
	struct weft_ape_transfer t;
	struct weft_ape_event e;
	int want = draw(x, k, extra, &t), code;

	if (rnd(x, k, 7) % 4 == 0) {
		t.own_offset = 0x30000;
		t.way = 0;
		if (want || t.own_key != x->ape.key[HOST])
			return;
		assert_int_equal(weft_ape_get(&t),
			t.bytes > APE_BUFFER - 0x30000 ? EFAULT : 0);
	} else {
		if (!want)
			note_put(x, &t);
		code = weft_ape_put(&t);
		assert_int_equal(code, want);
		x->refused += code != 0;
		x->done += !code;
		/* its source may change when it has left */
		program_charge(40000 * SIM_NS);
	}
	while (!weft_ape_poll(&e))
		assert_true(e.kind <= WEFT_APE_ERROR);
}

static void random_calls(struct ape_world *w, uint32_t node)
{
	struct random_world *x = (struct random_world *)w;
	uint32_t extra;
	struct weft_ape_event e;
	uint8_t got[PART];

	ape_fill(w, HOST, 0x20000, 0x20000, node);
	assert_int_equal(weft_ape_register(APE_HOST, 64, &extra), 0);
	assert_int_equal(weft_ape_deregister(extra), 0);
	program_wait(2 * APE_START);
	for (uint32_t k = 0; k < STEPS; k++)
		step(x, k, extra);
	program_charge(2000000 * SIM_NS);
	while (!weft_ape_poll(&e))
		;
	for (uint32_t from = 0; from < NODES; from++) {
		program_read(APE_HOST + from * PART, got, PART);
		assert_memory_equal(got, x->shadow[from].at[node], PART);
	}
	assert_int_equal(weft_ape_close(), 0);
}

static void random_calls_do_what_they_should_and_no_more(void **state)
{
	for (uint64_t seed = 1; seed < 4; seed++) {
		struct random_world x = { .ape = { .run = random_calls },
			.seed = seed };

		x.shadow = mem_alloc(NODES, sizeof(*x.shadow));
		ape_world_run(&x.ape, NULL, "2x2x1", true);
		assert_true(x.refused > 100 && x.done > 300);
		kit_close(&x.ape.kit);
		mem_free(x.shadow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_may_put_to_itself),
		cmocka_unit_test(any_length_and_alignment_will_do),
		cmocka_unit_test(more_commands_than_fit_wait),
		cmocka_unit_test(twice_registered_is_two_buffers),
		cmocka_unit_test(what_is_deregistered_in_use_changes_no_more),
		cmocka_unit_test(a_full_event_queue_stops_its_owner_alone),
		cmocka_unit_test(random_calls_do_what_they_should_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
