#include "weft/gpu.h"

#include <errno.h>

#include "base/ring.h"
#include "parts/gpus/gpus.h"
#include "nic/apenet/apenet.h"
#include "host/program.h"

/* What was started in a stream; its bytes move when it is waited for. */
struct work {
	void (*kernel)(void *arg); /* NULL: a copy */
	void *arg;
	uint64_t to, from, bytes;
};

struct stream {
	struct ring works;
	sim_time end; /* of the last one */
};

struct streams {
	struct stream stream[WEFT_GPU_STREAMS];
	bool is_kernel; /* one runs */
};

static void fini(void *kept)
{
	struct streams *s = kept;

	for (uint32_t i = 0; i < WEFT_GPU_STREAMS; i++)
		ring_fini(&s->stream[i].works);
}

static uint64_t held(const void *kept)
{
	const struct streams *s = kept;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < WEFT_GPU_STREAMS; i++)
		sum += ring_memory(&s->stream[i].works);
	return sum;
}

static struct streams *streams(void)
{
	static const struct program_library library = {
		.size = sizeof(struct streams),
		.fini = fini,
		.held = held,
	};
	struct streams *s = program_keep(&library);
	uint32_t n = s->stream[0].works.size ? 0 : WEFT_GPU_STREAMS;

	for (uint32_t i = 0; i < n; i++)
		ring_init(&s->stream[i].works, sizeof(struct work));
	return s;
}

static struct gpus *gpus(void)
{
	return gpus_of(program_host());
}

uint32_t weft_gpu_count(void)
{
	return gpus() ? (uint32_t)gpus_params(gpus())->count : 0;
}

uint64_t weft_gpu_allocate(uint32_t gpu, uint64_t bytes)
{
	return gpu_allocate(program_host(), program_node(), gpu, bytes);
}

/* The node's address of a program's. */
static uint64_t place(uint64_t at)
{
	return gpu_of(at) ? at : program_base() + at;
}

static bool is_there(uint64_t at, uint64_t bytes)
{
	const uint32_t both = MEMORY_MAY_READ(MEMORY_DEVICE) |
			      MEMORY_MAY_WRITE(MEMORY_DEVICE);

	if (!gpu_of(at) && !program_has(at, bytes))
		return false;
	return !memory_ask(host_at(program_host(), program_node()), both,
		place(at), bytes);
}

/* Bytes of a GPU that has died. */
static bool is_dead(uint64_t at)
{
	return gpu_of(at) && gpu_of(at) <= weft_gpu_count() &&
	       ape_gpu_is_dead(host_nic(program_host()), program_node(),
		       gpu_of(at) - 1, program_now());
}

static void push(struct stream *s, struct work w, sim_time end)
{
	*(struct work *)ring_push(&s->works) = w;
	s->end = end;
}

int weft_gpu_copy_start(
	uint32_t stream, uint64_t to, uint64_t from, uint64_t bytes)
{
	struct work w = {
		.to = place(to), .from = place(from), .bytes = bytes
	};
	uint32_t gpu = gpu_of(from) ? gpu_of(from) : gpu_of(to);
	struct stream *s;
	sim_time t;

	if (stream >= WEFT_GPU_STREAMS || !gpu || !gpus())
		return EINVAL;
	gpu_open(program_host(), program_node());
	if (is_dead(to) || is_dead(from))
		return EIO;
	if (!is_there(to, bytes) || !is_there(from, bytes))
		return EFAULT;
	s = &streams()->stream[stream];
	t = s->end > program_now() ? s->end : program_now();
	push(s, w,
		gpu_copy(gpus(), program_node(), gpu - 1,
			gpu_of(from) ? GPU_OUT : GPU_IN, t, bytes));
	return 0;
}

int weft_gpu_launch(
	uint32_t stream, void (*kernel)(void *arg), void *arg, int64_t takes)
{
	struct work w = { .kernel = kernel, .arg = arg };
	struct stream *s;
	sim_time t;

	if (stream >= WEFT_GPU_STREAMS || !kernel || takes < 0 || !gpus())
		return EINVAL;
	s = &streams()->stream[stream];
	t = s->end > program_now() ? s->end : program_now();
	push(s, w, t + gpus_params(gpus())->launch + takes);
	return 0;
}

int weft_gpu_wait(uint32_t stream)
{
	struct streams *all = streams();
	struct stream *s;
	struct work w;
	int code = 0;

	if (stream >= WEFT_GPU_STREAMS)
		return EINVAL;
	s = &all->stream[stream];
	program_wait(s->end);
	while (s->works.n) {
		w = *(struct work *)ring_pop(&s->works);
		if (!w.kernel && (is_dead(w.to) || is_dead(w.from))) {
			code = EIO;
			continue;
		}
		if (!w.kernel) {
			program_move(w.to, w.from, w.bytes);
			continue;
		}
		all->is_kernel = true;
		w.kernel(w.arg);
		all->is_kernel = false;
	}
	return code;
}

int weft_gpu_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
	int code = weft_gpu_copy_start(0, to, from, bytes);

	return code ? code : weft_gpu_wait(0);
}

bool weft_gpu_load(uint64_t at, void *to, size_t n)
{
	return streams()->is_kernel && gpu_of(at) &&
	       memory_read(host_at(program_host(), program_node()),
		       MEMORY_DEVICE, at, to, n);
}

bool weft_gpu_store(uint64_t at, const void *from, size_t n)
{
	return streams()->is_kernel && gpu_of(at) &&
	       host_write_by(program_host(), program_worker(), program_node(),
		       program_now(), MEMORY_DEVICE, at, from, n);
}
