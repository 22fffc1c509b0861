#include "testing/gemini_testing.h"

#define RINGS UINT64_C(0x10000)

struct nic *world_nic(void)
{
	return host_nic(program_host());
}

uint64_t world_ring(uint32_t cq)
{
	return RINGS + cq * WORLD_ENTRIES * sizeof(struct gemini_event);
}

struct gemini_post world_post(uint32_t op, uint64_t bytes)
{
	return (struct gemini_post){
		.op = op,
		.node = 2,
		.handle = WORLD_ALL,
		.here = WORLD_SOURCE,
		.bytes = bytes,
		.cq = WORLD_DONE,
		.remote_cq = GEMINI_NO_CQ,
	};
}

struct gemini_event world_wait(uint32_t cq, uint32_t number)
{
	struct gemini_queue q = {
		.nic = world_nic(),
		.node = program_node(),
		.cq = cq,
		.entries = WORLD_ENTRIES,
		.at = world_ring(cq),
		.taken = number - 1,
	};
	struct gemini_event e;

	gemini_queue_wait(&q);
	assert_true(gemini_queue_take(&q, &e));
	return e;
}

void world_fill(uint64_t at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += 8)
		program_write(at + i, &(uint64_t){ i + 1 }, 8);
}

bool world_is_filled(struct host *h, site_id node, uint64_t at, uint64_t n)
{
	uint64_t word = 0;

	for (uint64_t i = 0; i < n; i += 8)
		if (!host_read(h, node, at + i, &word, 8) || word != i + 1)
			return false;
	return true;
}

void world_run(struct world *x, const char *const *sets, bool may_err,
	void (*program)(void *))
{
	const struct kit_how how = {
		.machine = "gemini",
		.shape = "2x1x1",
		.sets = sets,
		.n_workers = x->n_workers,
		.needs.n_programs = 4,
	};

	kit_open(&x->kit, &how);
	for (uint32_t i = 0; i < 4; i++) {
		struct ranges *r = gemini_handles(x->kit.nic, i);

		ranges_add(r, WORLD_ALL, WORLD_TARGET, WORLD_BYTES,
			GEMINI_READ | GEMINI_WRITE);
		ranges_add(r, WORLD_READ_ONLY, WORLD_TARGET, WORLD_BYTES,
			GEMINI_READ);
		gemini_cq_open(x->kit.nic, i, WORLD_DONE,
			world_ring(WORLD_DONE), WORLD_ENTRIES);
		gemini_cq_open(x->kit.nic, i, WORLD_CAME,
			world_ring(WORLD_CAME), WORLD_ENTRIES);
		program_start(x->kit.host, i, 0, 0, program, x);
	}
	x->digest = kit_run(&x->kit, may_err);
}
