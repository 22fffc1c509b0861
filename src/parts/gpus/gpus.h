/*
 * The GPUs of nodes, as their PCI Express peers and the host's software see
 * them.  They give times and hold no data: a GPU's memory is a range of its
 * node's (host/memory.h), which cores cannot reach.  What kernels compute is
 * their programs' business (api/ape/gpu.c).
 *
 * A peer writes a GPU's memory as it writes the host's, and the bytes are there
 * some time later.  A read is asked for in a mailbox, and the GPU pushes the
 * data, after a latency and at a rate of its own; or it is an ordinary read
 * through the window that the GPU has on the bus (BAR1).
 */
#ifndef PARTS_GPUS_GPUS_H
#define PARTS_GPUS_GPUS_H

#include "host/host.h"
#include "parts/part.h"

enum {
	GPU_MOST = 4, /* of a node */
	GPU_ENGINES = 2, /* for copies, of a GPU at most */
	GPU_MODELS = 2,
};

enum gpu_read_by { GPU_MAILBOX, GPU_BAR1 };

struct gpu_model {
	int64_t read_rate, bar1_rate; /* bytes a second */
};

struct gpu_params {
	int64_t count, memory; /* of a node; bytes of each */
	int64_t model, read_by; /* enum gpu_read_by */
	struct gpu_model models[GPU_MODELS];
	int64_t read, write; /* ps, beyond what host memory takes */
	int64_t window; /* bytes that are asked for and have not come */
	int64_t copy, copy_rate, engines; /* of copies */
	int64_t launch; /* ps, of a kernel */
};

struct gpus;

extern const struct part_ops part_gpus;

/* Of a machine: how many each node has. */
uint32_t gpus_count(const struct parts *p);
/* Of the host's nodes; NULL where these have none. */
struct gpus *gpus_of(const struct host *h);
const struct gpu_params *gpus_params(const struct gpus *g);

/* Where a GPU's memory begins, and whose memory an address is in: 0 the
 * host's, else 1 + the GPU. */
static inline uint64_t gpu_at(uint32_t gpu)
{
	return (uint64_t)(gpu + 1) << MEMORY_DEVICE_SHIFT;
}

static inline uint32_t gpu_of(uint64_t at)
{
	return memory_device_of(at);
}

/* Of the host's node; before its GPUs are used in any way. */
void gpu_open(struct host *h, site_id node);

/* The next bytes of a GPU's memory, at a multiple of 64 KiB; 0 where there is
 * no such GPU, or not so much left. */
uint64_t gpu_allocate(
	struct host *h, site_id node, uint32_t gpu, uint64_t bytes);

/*
 * A peer's read of bytes at an address is with the GPU at t, which is now or
 * ahead: when the first of them are at the bridge, and the last.
 */
struct gpu_times {
	sim_time first, last;
};

struct gpu_times gpu_read(
	struct gpus *g, site_id node, sim_time t, uint64_t at, uint32_t bytes);

/* Of a copy: out of the GPU's memory, or into it. */
enum gpu_way { GPU_OUT, GPU_IN };

/* A copy from or to a GPU's memory begins at t or later: when it is over. Those
 * that one engine makes follow each other. */
sim_time gpu_copy(struct gpus *g, site_id node, uint32_t gpu, enum gpu_way way,
	sim_time t, uint64_t bytes);

#endif
