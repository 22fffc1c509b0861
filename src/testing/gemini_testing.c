#include "testing/gemini_testing.h"

#define RINGS UINT64_C(0x10000)

static uint64_t ring_of(uint32_t cq)
{
	return RINGS + cq * ENTRIES * sizeof(struct gemini_event);
}

struct gemini_post post(uint32_t op, uint64_t bytes)
{
	return (struct gemini_post){
		.op = op,
		.node = 2,
		.handle = ALL,
		.here = SOURCE,
		.bytes = bytes,
		.cq = DONE,
		.remote_cq = GEMINI_NO_CQ,
	};
}

struct gemini_event wait_for(uint32_t cq, uint32_t number)
{
	struct gemini_queue q = {
		.nic = nic(),
		.node = program_node(),
		.cq = cq,
		.entries = ENTRIES,
		.at = ring_of(cq),
		.taken = number - 1,
	};
	struct gemini_event e;

	gemini_queue_wait(&q);
	assert_true(gemini_queue_take(&q, &e));
	return e;
}

void fill(uint64_t at, uint64_t bytes)
{
	uint64_t i;

	for (i = 0; i < bytes; i += 8)
		program_write(at + i, &(uint64_t){ i + 1 }, 8);
}

bool is_filled(struct host *h, site_id node, uint64_t at, uint64_t n)
{
	uint64_t i, word = 0;

	for (i = 0; i < n; i += 8)
		if (!host_read(h, node, at + i, &word, 8) || word != i + 1)
			return false;
	return true;
}

void run_gemini(struct world *x, const char *const *sets, bool may_err,
	void (*program)(void *))
{
	const struct kit_how how = {
		.machine = "gemini",
		.shape = "2x1x1",
		.sets = sets,
		.needs.n_programs = 4,
	};
	uint32_t i;

	kit_open(&x->kit, &how);
	for (i = 0; i < 4; i++) {
		struct ranges *r = gemini_handles(x->kit.nic, i);

		ranges_add(r, ALL, TARGET, BYTES, GEMINI_READ | GEMINI_WRITE);
		ranges_add(r, READ_ONLY, TARGET, BYTES, GEMINI_READ);
		gemini_cq_open(x->kit.nic, i, DONE, ring_of(DONE), ENTRIES);
		gemini_cq_open(x->kit.nic, i, CAME, ring_of(CAME), ENTRIES);
		program_start(x->kit.host, i, 0, 0, program, x);
	}
	kit_run(&x->kit, may_err);
}
