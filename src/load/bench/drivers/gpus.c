/* Memories of GPUs, for all drivers whose interfaces reach them. */
#include "load/bench/drivers/gpus.h"

#include "parts/gpus/gpus.h"

int64_t driver_gpus(const struct load *l)
{
	return gpus_count(l->parts);
}

void driver_gpus_open(struct load *l, site_id node)
{
	gpu_open(l->host, node);
}

void driver_gpus_write(
	const struct bench_end *x, uint64_t to, const void *from, size_t n)
{
	host_write_by(program_host(), program_worker(), x->node, program_now(),
		MEMORY_DEVICE, to, from, n);
}

void driver_gpus_read(
	const struct bench_end *x, uint64_t from, void *to, size_t n)
{
	memory_read(
		host_at(program_host(), x->node), MEMORY_DEVICE, from, to, n);
}
