/* Memories of GPUs, for all drivers whose interfaces reach them. */
#ifndef LOAD_BENCH_DRIVERS_GPUS_H
#define LOAD_BENCH_DRIVERS_GPUS_H

#include "load/bench/bench.h"

int64_t driver_gpus(const struct load *l);
void driver_gpus_open(struct load *l, site_id node);
void driver_gpus_write(
	const struct bench_end *x, uint64_t to, const void *from, size_t n);
void driver_gpus_read(
	const struct bench_end *x, uint64_t from, void *to, size_t n);

/* A struct bench_gpus's. */
#define DRIVER_GPUS                                                            \
	.count = driver_gpus, .open = driver_gpus_open, .at = gpu_at,          \
	.write = driver_gpus_write, .read = driver_gpus_read

#endif
