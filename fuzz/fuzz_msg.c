/*
 * Random programs on weft/msg.h; the input's first byte chooses the machine.
 *
 *	fuzz_msg [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_msg"

#include "weft/msg.h"

#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REQUESTS = 8 };

/* A process's own. */
struct process {
	struct weft_msg m;
	struct weft_msg_done done[REQUESTS];
	struct weft_msg_request request[REQUESTS];
	bool is_done_open[REQUESTS], is_request_open[REQUESTS];
};

static void put_or_get(struct process *x, struct program_at *p, bool is_put)
{
	uint32_t i = narrow(p) % REQUESTS, rank = narrow(p);
	struct weft_msg_done *d = x->is_done_open[i] ? NULL : &x->done[i];
	uint64_t to = number(p), from = number(p), n = number(p);
	int code = is_put ? weft_msg_put(&x->m, rank, to, from, n, narrow(p), d)
			  : weft_msg_get(&x->m, rank, from, to, n, d);

	if (d)
		x->is_done_open[i] = code == 0;
}

static void end_done(struct process *x, struct program_at *p)
{
	uint32_t i = narrow(p) % REQUESTS;

	if (!x->is_done_open[i])
		return;
	if (narrow(p) % 2) {
		if (!weft_msg_is_done(&x->m, &x->done[i]))
			return;
	} else {
		weft_msg_wait(&x->m, &x->done[i]);
	}
	x->is_done_open[i] = false;
}

static void start_request(struct process *x, struct program_at *p, bool sends)
{
	uint32_t i = narrow(p) % REQUESTS, rank = narrow(p), tag = narrow(p);
	struct weft_msg_request *r = &x->request[i];
	uint64_t at = number(p), n = number(p);

	if (x->is_request_open[i])
		return;
	x->is_request_open[i] =
		!(sends ? weft_msg_send_start(&x->m, rank, tag, at, n, r)
			: weft_msg_receive_start(&x->m, rank, tag, at, n, r));
}

static void end_request(struct process *x, struct program_at *p)
{
	uint32_t i = narrow(p) % REQUESTS;
	struct weft_msg_status s;

	if (!x->is_request_open[i])
		return;
	if (narrow(p) % 2) {
		if (!weft_msg_test(&x->m, &x->request[i], &s))
			return;
	} else {
		weft_msg_finish(&x->m, &x->request[i], &s);
	}
	x->is_request_open[i] = false;
}

/* In the order in which they stand: C leaves that of arguments open. */
static void collective(struct process *x, struct program_at *p)
{
	uint32_t kind = narrow(p), root = narrow(p), op = narrow(p);
	uint64_t a = number(p), b = number(p), n = number(p);

	if (kind % 4 == 0)
		weft_msg_barrier(&x->m);
	else if (kind % 4 == 1)
		weft_msg_broadcast(&x->m, root, a, n);
	else if (kind % 4 == 2)
		weft_msg_reduce(
			&x->m, root, (enum weft_msg_reduction)op, a, b, n);
	else
		weft_msg_allreduce(&x->m, (enum weft_msg_reduction)op, a, b, n);
}

static void other(struct process *x, struct program_at *p)
{
	uint32_t kind = narrow(p), a = narrow(p), op = narrow(p);
	uint64_t at = number(p), n = number(p), word = 0;

	if (kind % 6 == 0)
		weft_msg_atomic(&x->m, a, at, (enum weft_msg_atomic)op, n,
			a % 2 ? &word : NULL);
	else if (kind % 6 == 1)
		weft_msg_expect(&x->m, a, n);
	else if (kind % 6 == 2)
		weft_msg_wait_counter(&x->m, a);
	else if (kind % 6 == 3)
		weft_msg_store(at, &word, sizeof(word));
	else if (kind % 6 == 4)
		weft_msg_load(at, &word, sizeof(word));
	else
		weft_msg_progress(&x->m);
}

static void call(struct process *x, struct program_at *p)
{
	switch (take(p) % 6) {
	case 0:
		put_or_get(x, p, true);
		break;
	case 1:
		put_or_get(x, p, false);
		break;
	case 2:
		end_done(x, p);
		break;
	case 3:
		start_request(x, p, take(p) % 2);
		break;
	case 4:
		end_request(x, p);
		break;
	default:
		other(x, p);
	}
}

/* Each on its own, but for the collectives, which all call alike. */
static void run_program(void *mine)
{
	struct program_at p = program_begin(), shared = { 0 };
	struct process *x = mine;

	if (weft_msg_init(&x->m, NULL))
		return;
	for (int i = 0; i < PROGRAM_CALLS; i++) {
		call(x, &p);
		if (i % 8 == 7)
			collective(x, &shared);
	}
	weft_msg_fini(&x->m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const on[][4] = {
		{ "bgq", "--shape=2x2", "--set=host.memory=4MiB", NULL },
		{ "qsnet2", "--shape=4", "--set=host.memory=4MiB", NULL },
		{ "torus", "--shape=3", "--set=host.memory=4MiB", NULL },
		{ "dragonfly", "--shape=32", "--set=host.memory=4MiB", NULL },
	};
	const struct weft_app app = {
		.name = FUZZ_NAME,
		.help = "",
		.run = run_program,
		.node_bytes = sizeof(struct process),
	};

	program_run_one_of(&app, on, 4, data, size);
	return 0;
}

#include "program_driver.h"
