#include "testing/ape_testing.h"

#include <string.h>

#include "parts/gpus/gpus.h"

static void program(void *arg)
{
	struct ape_world *w = arg;

	assert_int_equal(weft_ape_open(0), 0);
	for (uint32_t i = 0; i < APE_MEMORIES; i++) {
		w->at[i] = i ? weft_gpu_allocate(i - 1, APE_BUFFER) : APE_HOST;
		assert_int_equal(
			weft_ape_register(w->at[i], APE_BUFFER, &w->key[i]), 0);
	}
	program_wait(APE_START);
	w->run(w, program_node());
}

uint64_t ape_world_run(struct ape_world *w, const char *const *sets,
	const char *shape, bool may_err)
{
	struct kit_how how = {
		.machine = shape ? "apenet" : "apenet-pair",
		.shape = shape,
		.sets = sets,
	};

	how.needs.n_programs = 16;
	kit_open(&w->kit, &how);
	for (site_id i = 0; i < w->kit.net->n_nodes; i++)
		program_start(w->kit.host, i, 0, 0, program, w);
	return kit_run(&w->kit, may_err);
}

void ape_fill(const struct ape_world *w, uint32_t memory, uint64_t offset,
	uint64_t bytes, uint64_t number)
{
	uint8_t block[4096];
	uint64_t n;

	for (uint64_t i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(block) ? bytes - i : sizeof(block);
		memory_fill_by(1, number, i, block, n);
		host_write_by(w->kit.host, program_worker(), program_node(),
			program_now(), MEMORY_DEVICE,
			w->at[memory] + offset + i, block, n);
	}
}

bool ape_is(const struct ape_world *w, uint32_t memory, uint64_t offset,
	uint64_t bytes, uint64_t number)
{
	uint8_t block[4096];
	uint64_t n;

	for (uint64_t i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(block) ? bytes - i : sizeof(block);
		memory_read(host_at(w->kit.host, program_node()), MEMORY_DEVICE,
			w->at[memory] + offset + i, block, n);
		if (!memory_is_by(1, number, i, block, n))
			return false;
	}
	return true;
}

struct weft_ape_transfer ape_transfer(
	const struct ape_world *w, uint32_t from, uint32_t to, uint64_t bytes)
{
	return (struct weft_ape_transfer){
		.node = !program_node(),
		.key = w->key[to],
		.own_key = w->key[from],
		.bytes = bytes,
	};
}

struct weft_ape_event ape_await(uint32_t kind)
{
	struct weft_ape_event e;

	assert_int_equal(weft_ape_wait(&e), 0);
	assert_int_equal(e.kind, kind);
	return e;
}
