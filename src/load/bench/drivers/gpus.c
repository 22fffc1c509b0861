/* Memories of GPUs, for all drivers whose interfaces reach them. */
#include "parts/gpus/gpus.h"

#include "load/bench/bench.h"

static int64_t count(const struct load *l)
{
	return gpus_count(l->parts);
}

static void open_node(struct load *l, site_id node)
{
	gpu_open(l->host, node);
}

static void write_gpu(
	const struct bench_end *x, uint64_t to, const void *from, size_t n)
{
	host_write_by(program_host(), program_worker(), x->node, program_now(),
		MEMORY_DEVICE, to, from, n);
}

static void read_gpu(
	const struct bench_end *x, uint64_t from, void *to, size_t n)
{
	memory_read(
		host_at(program_host(), x->node), MEMORY_DEVICE, from, to, n);
}

const struct bench_gpus driver_gpus = {
	.count = count,
	.open = open_node,
	.at = gpu_at,
	.write = write_gpu,
	.read = read_gpu,
};
