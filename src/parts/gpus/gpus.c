#include "parts/gpus/gpus.h"

#include "base/mem.h"
#include "net/net.h"

#define AT(field)   offsetof(struct gpu_params, field)
#define LATENCY	    (PS_PER_S / 1000) /* 1 ms */
#define PAGE	    (UINT64_C(64) << 10)
#define MOST_MEMORY (INT64_C(1) << 40)
#define RATE(name_, field_, def_, ...)                                         \
	PARAM_ROW(PARAM_RATE, name_, AT(field_), def_, 1000000, PS_PER_S,      \
		__VA_ARGS__)
#define TIME(name_, field_, def_, ...)                                         \
	PARAM_ROW(PARAM_TIME, name_, AT(field_), def_, 0, LATENCY, __VA_ARGS__)
#define MODEL(name_, i_, read_, bar1_)                                         \
	RATE(name_ ".read-rate", models[i_].read_rate, read_,                  \
		"rate at which the GPU pushes data that a peer has requested", \
		"assumed: APE-G14; the paper has no number"),                  \
		RATE(name_ ".bar1-rate", models[i_].bar1_rate, bar1_,          \
			"rate of reads through the GPU's window on the bus",   \
			"assumed: APE-G14; the paper has no number")

static const struct param rows[] = {
	PARAM_ROW(PARAM_COUNT, "count", AT(count), "0", 0, GPU_MOST,
		"number of GPUs of a node", "APE-F36"),
	PARAM_ROW(PARAM_BYTES, "memory", AT(memory), "6 GiB", PAGE, MOST_MEMORY,
		"memory of a GPU", "assumed: a large Fermi or Kepler board"),
	PARAM_ONE_OF("model", AT(model), "fermi", "fermi|kepler",
		"model of the GPUs", "APE-F5"),
	PARAM_ONE_OF("read-by", AT(read_by), "mailbox", "mailbox|bar1",
		"method by which peers read GPU memory; mailbox: requests that "
		"the GPU answers by pushing data; bar1: reads through the "
		"GPU's window on the bus",
		"APE-G14"),
	MODEL("fermi", 0, "1.5 GB/s", "150 MB/s"),
	MODEL("kepler", 1, "1.6 GB/s", "1.6 GB/s"),
	TIME("read", read, "1.3 us",
		"additional latency of a peer's read of GPU memory, compared "
		"with host memory",
		"calibrated: APE-N16, the sum with gpu.write; the split is "
		"assumed"),
	TIME("write", write, "600 ns",
		"additional latency of a peer's write to GPU memory",
		"calibrated: APE-N16, the sum with gpu.read; the split is "
		"assumed"),
	PARAM_ROW(PARAM_BYTES, "window", AT(window), "32 KiB", 1, 1 << 30,
		"largest number of bytes that a card has requested from a GPU "
		"and not yet received",
		"APE-G14"),
	TIME("copy", copy, "5.25 us",
		"overhead of a copy between host and GPU memory",
		"calibrated: APE-N17"),
	RATE("copy-rate", copy_rate, "6 GB/s", "rate of a GPU's copy engine",
		"assumed: PCI Express Gen2 x16, less its overheads"),
	PARAM_ROW(PARAM_COUNT, "copy-engines", AT(engines), "2", 1, GPU_ENGINES,
		"number of a GPU's copy engines, each of which makes one copy "
		"at a time; 1: for both directions; 2: one for each direction",
		"assumed: one for each direction"),
	TIME("launch", launch, "5 us",
		"time from a kernel's launch to its start",
		"assumed: usual for these GPUs"),
};

static const struct part_block blocks[] = {
	{ "gpu", rows, sizeof(rows) / sizeof(rows[0]), 0 },
	{ 0 },
};

struct gpu {
	sim_time read_free; /* what it pushes to peers */
	sim_time copy_free[GPU_ENGINES];
	uint64_t allocated; /* bytes */
};

struct gpus {
	struct gpu_params params;
	struct gpu **nodes; /* [node]; NULL until used */
	site_id n_nodes;
};

static void *gpus_open(
	const void *params, const struct part_place *at, struct err *e)
{
	const struct gpu_params *p = params;
	struct gpus *g;

	(void)e;
	if (!p->count)
		return NULL;
	g = mem_alloc(1, sizeof(*g));
	g->params = *p;
	g->n_nodes = at->net->n_nodes;
	g->nodes = map_alloc(g->n_nodes * sizeof(*g->nodes));
	return g;
}

static void gpus_close(void *state)
{
	struct gpus *g = state;

	for (site_id i = 0; i < g->n_nodes; i++)
		mem_free(g->nodes[i]);
	map_free(g->nodes, g->n_nodes * sizeof(*g->nodes));
	mem_free(g);
}

static uint64_t gpus_memory(const void *state)
{
	const struct gpus *g = state;
	uint64_t sum = 0;

	for (site_id i = 0; i < g->n_nodes; i++)
		if (g->nodes[i])
			sum += (uint64_t)g->params.count * sizeof(struct gpu);
	return sum;
}

uint32_t gpus_count(const struct parts *p)
{
	const struct gpu_params *g = part_params(p, &part_gpus);

	return g ? (uint32_t)g->count : 0;
}

struct gpus *gpus_of(const struct host *h)
{
	return part_state(host_parts(h), &part_gpus);
}

const struct gpu_params *gpus_params(const struct gpus *g)
{
	return &g->params;
}

void gpu_open(struct host *h, site_id node)
{
	const uint32_t rights =
		MEMORY_MAY_ALL &
		~(MEMORY_MAY_READ(MEMORY_CORE) | MEMORY_MAY_WRITE(MEMORY_CORE));
	struct gpus *g = gpus_of(h);
	uint32_t n;

	if (!g || g->nodes[node])
		return;
	n = (uint32_t)g->params.count;
	g->nodes[node] = mem_alloc(n, sizeof(struct gpu));
	for (uint32_t i = 0; i < n; i++)
		BUG_IF(!memory_add_range(host_at(h, node),
			&(struct memory_range){
				.at = gpu_at(i),
				.bytes = (uint64_t)g->params.memory,
				.kind = MEMORY_OF_DEVICE,
				.rights = rights,
			}));
}

uint64_t gpu_allocate(
	struct host *h, site_id node, uint32_t gpu, uint64_t bytes)
{
	struct gpus *g = gpus_of(h);
	struct gpu *x;
	uint64_t at;

	if (!g || gpu >= (uint32_t)g->params.count)
		return 0;
	gpu_open(h, node);
	x = &g->nodes[node][gpu];
	at = (x->allocated + PAGE - 1) / PAGE * PAGE;
	if (at > (uint64_t)g->params.memory ||
		bytes > (uint64_t)g->params.memory - at)
		return 0;
	x->allocated = at + bytes;
	return gpu_at(gpu) + at;
}

static sim_time takes(uint64_t bytes, int64_t rate)
{
	return (sim_time)bytes * (PS_PER_S / 1000) / (rate / 1000);
}

struct gpu_times gpu_read(
	struct gpus *g, site_id node, sim_time t, uint64_t at, uint32_t bytes)
{
	const struct gpu_model *m = &g->params.models[g->params.model];
	struct gpu *x = &g->nodes[node][gpu_of(at) - 1];
	struct gpu_times r = { .first = t + g->params.read };

	if (r.first < x->read_free)
		r.first = x->read_free;
	r.last = r.first + takes(bytes, g->params.read_by == GPU_BAR1
						? m->bar1_rate
						: m->read_rate);
	x->read_free = r.last;
	return r;
}

sim_time gpu_copy(struct gpus *g, site_id node, uint32_t gpu, enum gpu_way way,
	sim_time t, uint64_t bytes)
{
	struct gpu *x = &g->nodes[node][gpu];
	sim_time *free_at = &x->copy_free[g->params.engines > 1 ? way : 0];

	t = t > *free_at ? t : *free_at;
	*free_at = t + g->params.copy + takes(bytes, g->params.copy_rate);
	return *free_at;
}

const struct part_ops part_gpus = {
	.name = "gpus",
	.needs = "gpus",
	.blocks = blocks,
	.params_size = sizeof(struct gpu_params),
	.open = gpus_open,
	.close = gpus_close,
	.memory = gpus_memory,
};
