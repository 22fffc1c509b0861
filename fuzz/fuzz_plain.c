/*
 * Random entries in the plain card's queues of work, rings and doorbells in
 * any state.
 *
 *	fuzz_plain [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_plain"

#include "api/plain/workq.h"
#include "nic/nic.h"
#include "nic/plain/plain.h"

#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { QUEUES = 3, KEYS = 4, RINGS = 1 << 14, FREE = QUEUES * RINGS };

struct process {
	struct workq_user q[QUEUES];
	bool is_open[QUEUES];
};

static void open_queue(struct process *x, uint32_t i, struct program_at *p)
{
	struct workq_user *q = &x->q[i];
	uint64_t at = i * RINGS;

	*q = (struct workq_user){
		.queues =
			plain_queues(host_nic(program_host()), weft_node(), 0),
		.queue = take(p) % 8 ? i : narrow(p) % WORKQS,
		.entries_at = at,
		.completions_at = at + RINGS / 2,
	};
	x->is_open[i] = !workq_user_open(q);
}

static void post(struct workq_user *q, struct program_at *p)
{
	uint32_t op = narrow(p);
	struct plain_entry e = { .op = (uint16_t)op,
		.card = (uint16_t)(op >> 16) };

	e.node = narrow(p);
	e.key = narrow(p);
	e.own_key = narrow(p);
	e.offset = number(p);
	e.own_offset = number(p);
	e.bytes = number(p);
	e.operand = number(p);
	e.bound = number(p);
	workq_user_post(q, &e, program_now());
}

static void set_key(struct program_at *p)
{
	struct ranges *keys = plain_keys(host_nic(program_host()), weft_node());
	uint32_t key = 1 + narrow(p) % KEYS;
	uint64_t at = FREE + number(p), bytes = number(p);

	ranges_drop(keys, key);
	if (at >= FREE && at <= (1 << 22) && bytes <= (1 << 22) - at)
		ranges_add(keys, key, at, bytes, PLAIN_FLAGS(0, narrow(p) % 8));
}

static void run_program(void *mine)
{
	struct program_at p = program_begin();
	struct process *x = mine;

	for (uint32_t i = 0; i < KEYS; i++)
		set_key(&p);
	for (uint32_t i = 0; i < QUEUES; i++)
		open_queue(x, i, &p);
	for (int i = 0; i < PROGRAM_CALLS; i++) {
		uint32_t q = take(&p) % QUEUES;
		uint8_t what = take(&p) % 8;

		if (what == 0)
			set_key(&p);
		else if (!x->is_open[q])
			open_queue(x, q, &p);
		else if (what == 1)
			workq_user_wait_all(&x->q[q]);
		else if (what == 2)
			weft_compute(1000 * (narrow(&p) % 1000));
		else
			post(&x->q[q], &p);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const on[][4] = {
		{ "torus", "--shape=4", "--set=host.memory=4MiB", NULL },
		{ "fattree", "--shape=4", "--set=host.memory=4MiB", NULL },
		{ "dragonfly", "--shape=32", "--set=host.memory=4MiB", NULL },
	};
	const struct weft_app app = {
		.name = FUZZ_NAME,
		.help = "",
		.run = run_program,
		.node_bytes = sizeof(struct process),
	};

	program_run_one_of(&app, on, 3, data, size);
	return 0;
}

#include "program_driver.h"
