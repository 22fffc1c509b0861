/* The bytes that experiments send. */
#include "load/bench/bench.h"

enum { PIECE = 4096 };

/* --- memories --- */

/* The memory that an address is of: 0, the host's, or 1 + a GPU. */
static uint32_t memory_of(const struct bench *b, uint64_t at)
{
	if (at < b->source_from)
		return 0;
	return (uint32_t)(at >= b->target_from ? b->target : b->source);
}

uint64_t bench_address(const struct bench_end *x, uint64_t at)
{
	uint32_t memory = memory_of(x->bench, at);

	return at + (memory ? x->driver->gpus->at(memory - 1) : program_base());
}

void bench_write(
	const struct bench_end *x, uint64_t at, const void *from, size_t n)
{
	uint64_t to = bench_address(x, at);

	if (memory_of(x->bench, at))
		x->driver->gpus->write(x, to, from, n);
	else
		program_write(to, from, n);
}

void bench_read(const struct bench_end *x, uint64_t at, void *to, size_t n)
{
	uint64_t from = bench_address(x, at);

	if (memory_of(x->bench, at))
		x->driver->gpus->read(x, from, to, n);
	else
		program_read(from, to, n);
}

uint64_t bench_word(const struct bench *b, site_id node, uint64_t at)
{
	uint64_t word = 0;

	host_read(b->programs.load.host, node, at, &word, sizeof(word));
	return word;
}

/* --- synthetic memory --- */

static uint64_t name(const struct bench_end *x, uint64_t offset,
	struct memory_name *name, bool is_source)
{
	const struct bench *b = x->bench;

	*name = (struct memory_name){
		.seed = b->programs.load.seed,
		.owner = b->owner ? b->owner(x, offset / b->piece, is_source)
				  : 0,
		.offset = offset % b->piece,
	};
	return b->piece - name->offset;
}

static uint64_t name_source(void *arg, uint64_t offset, struct memory_name *x)
{
	return name(arg, offset, x, true);
}

static uint64_t name_target(void *arg, uint64_t offset, struct memory_name *x)
{
	return name(arg, offset, x, false);
}

static int add(
	struct bench_end *x, uint64_t at, uint64_t bytes, memory_naming naming)
{
	int i = memory_add_synthetic(host_at(x->load->host, x->node),
		bench_address(x, at), bytes, naming, x);

	if (i < 0)
		programs_complain(x->programs, "no synthetic memory");
	return i;
}

bool bench_add_source(struct bench_end *x, uint64_t at, uint64_t bytes)
{
	return add(x, at, bytes, name_source) >= 0;
}

bool bench_add_target(
	struct bench_end *x, uint32_t i, uint64_t at, uint64_t bytes)
{
	x->region[i] = add(x, at, bytes, name_target);
	return x->region[i] >= 0;
}

bool bench_check_target(
	struct bench_end *x, uint32_t i, uint64_t bytes, uint64_t times)
{
	const struct memory_region *r =
		memory_region(host_at(x->load->host, x->node), x->region[i]);

	if (r->wrong || r->written != bytes)
		return programs_complain(x->programs,
			"%llu bytes arrived instead of %llu, and %llu of them "
			"were wrong",
			(unsigned long long)r->written,
			(unsigned long long)bytes,
			(unsigned long long)r->wrong);
	return !times || memory_region_is_whole(r, times) ||
	       programs_complain(x->programs,
		       "some bytes arrived fewer or more than %llu times",
		       (unsigned long long)times);
}

/* --- real memory --- */

static size_t piece(uint64_t left)
{
	return left < PIECE ? (size_t)left : PIECE;
}

/* Where the bytes are stored, or NULL: a GPU's, or not in one page. */
static uint8_t *stored(const struct bench_end *x, uint64_t at, size_t n)
{
	return memory_of(x->bench, at) ? NULL
				       : program_place(bench_address(x, at), n);
}

void bench_make(
	const struct bench_end *x, uint64_t number, uint64_t at, uint64_t bytes)
{
	uint8_t block[PIECE], *to;

	for (uint64_t i = 0; i < bytes; i += PIECE) {
		size_t n = piece(bytes - i);

		to = stored(x, at + i, n);
		memory_fill_by(x->load->seed, number, i, to ? to : block, n);
		if (!to)
			bench_write(x, at + i, block, n);
	}
}

bool bench_check(
	struct bench_end *x, uint64_t number, uint64_t at, uint64_t bytes)
{
	uint8_t block[PIECE], *got;

	for (uint64_t i = 0; i < bytes; i += PIECE) {
		size_t n = piece(bytes - i);

		got = stored(x, at + i, n);
		if (!got) {
			got = block;
			bench_read(x, at + i, got, n);
		}
		if (!memory_is_by(x->load->seed, number, i, got, n))
			return programs_complain(x->programs,
				"message %llu: wrong bytes after byte %llu",
				(unsigned long long)number,
				(unsigned long long)i);
	}
	return true;
}
