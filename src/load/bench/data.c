/* The bytes that experiments send, and messages of them there and back. */
#include <string.h>

#include "parts/gpus/gpus.h"
#include "load/bench/bench.h"

enum { PIECE = 4096, WORD = sizeof(uint64_t) };

/* --- memories --- */

uint64_t bench_address(const struct bench_end *x, uint64_t at)
{
	const struct bench *b = x->bench;
	int64_t memory = at >= b->target_from ? b->target : b->source;

	if (at < b->source_from || !memory)
		return program_base() + at;
	return gpu_at((uint32_t)memory - 1) + at;
}

void bench_write(
	const struct bench_end *x, uint64_t at, const void *from, size_t n)
{
	uint64_t to = bench_address(x, at);

	if (gpu_of(to))
		host_device_write(program_host(), program_worker(), x->node,
			program_now(), to, from, n);
	else
		program_write(to, from, n);
}

void bench_read(const struct bench_end *x, uint64_t at, void *to, size_t n)
{
	uint64_t from = bench_address(x, at);

	if (gpu_of(from))
		host_device_read(program_host(), x->node, from, to, n);
	else
		program_read(from, to, n);
}

/* --- synthetic memory --- */

static uint64_t name(const struct bench_end *x, uint64_t offset,
	struct memory_name *name, bool is_source)
{
	const struct bench *b = x->bench;

	*name = (struct memory_name){
		.seed = b->programs.load.seed,
		.owner = b->owner(x, offset / b->piece, is_source),
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
	int i = host_add_synthetic(x->bench->programs.load.host, x->node,
		bench_address(x, at), bytes, naming, x);

	if (i < 0)
		programs_complain(&x->bench->programs, "no synthetic memory");
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
	const struct memory_region *r = host_synthetic(
		x->bench->programs.load.host, x->node, x->region[i]);

	if (r->wrong || r->written != bytes)
		return programs_complain(&x->bench->programs,
			"%llu bytes arrived instead of %llu, and %llu of them "
			"were wrong",
			(unsigned long long)r->written,
			(unsigned long long)bytes,
			(unsigned long long)r->wrong);
	return !times || memory_region_is_whole(r, times) ||
	       programs_complain(&x->bench->programs,
		       "some bytes did not arrive %llu times",
		       (unsigned long long)times);
}

/* --- real memory --- */

static size_t piece(uint64_t left)
{
	return left < PIECE ? (size_t)left : PIECE;
}

void bench_make(
	const struct bench_end *x, uint64_t number, uint64_t at, uint64_t bytes)
{
	uint8_t block[PIECE];
	uint64_t i;

	for (i = 0; i < bytes; i += PIECE) {
		size_t n = piece(bytes - i);

		memory_fill_by(
			x->bench->programs.load.seed, number, i, block, n);
		bench_write(x, at + i, block, n);
	}
}

bool bench_check(
	struct bench_end *x, uint64_t number, uint64_t at, uint64_t bytes)
{
	uint8_t want[PIECE], got[PIECE];
	uint64_t i;

	for (i = 0; i < bytes; i += PIECE) {
		size_t n = piece(bytes - i);

		memory_fill_by(
			x->bench->programs.load.seed, number, i, want, n);
		bench_read(x, at + i, got, n);
		if (memcmp(want, got, n) != 0)
			return programs_complain(&x->bench->programs,
				"message %llu: wrong bytes after byte %llu",
				(unsigned long long)number,
				(unsigned long long)i);
	}
	return true;
}

/* --- messages --- */

/* Where a message's last word is, which is its number, so that a program can
 * wait for it; short ones have none. */
static uint64_t end_of(uint64_t bytes)
{
	return bytes < WORD ? bytes : bytes - WORD;
}

bool bench_counts(const struct bench_end *x)
{
	return !x->bench->driver->receive && !x->bench->driver->wait_word;
}

void bench_expect(struct bench_end *x, uint64_t bytes)
{
	if (bench_counts(x))
		x->bench->driver->expect(x, 0, bytes);
}

static void send(
	struct bench_end *x, uint64_t number, uint64_t bytes, uint32_t means)
{
	const struct bench_driver *d = x->bench->driver;
	struct bench_transfer p = bench_transfer(x, x->peer, bytes);
	uint64_t end = end_of(bytes);

	bench_make(x, number, BENCH_SOURCE, end);
	if (end < bytes)
		bench_write(x, BENCH_SOURCE + end, &number, WORD);
	p.means = means;
	if (d->wait_word)
		p.counter = BENCH_NONE;
	if (d->send)
		d->send(x, x->peer, bytes);
	else
		d->put(x, &p);
}

/* Where faults make packets come again, the last one need not be the last:
 * the last word of each is waited for. */
static bool wait_packets(struct bench_end *x, uint64_t number, uint64_t bytes)
{
	uint64_t i, word, most = x->bench->driver->get_most;

	for (i = most - WORD; i < end_of(bytes); i += most) {
		memory_fill_by(x->bench->programs.load.seed, number, i,
			(uint8_t *)&word, WORD);
		if (!x->bench->driver->wait_word(x, BENCH_TARGET + i, word))
			return false;
	}
	return true;
}

static bool wait_message(struct bench_end *x, uint64_t number, uint64_t bytes)
{
	const struct bench_driver *d = x->bench->driver;

	if (d->receive)
		return d->receive(x, x->peer, bytes);
	if (!d->wait_word)
		return d->await(x, 0);
	return d->wait_word(x, BENCH_TARGET + end_of(bytes), number) &&
	       (!x->bench->programs.load.net->faults ||
		       wait_packets(x, number, bytes));
}

static bool receive(struct bench_end *x, uint64_t number, uint64_t bytes)
{
	uint64_t last = number, end = end_of(bytes);

	if (!wait_message(x, number, bytes))
		return false;
	x->end = program_now();
	if (end < bytes)
		bench_read(x, BENCH_TARGET + end, &last, WORD);
	return bench_check(x, number, BENCH_TARGET, end) &&
	       (last == number || programs_complain(&x->bench->programs,
					  "message %llu: its last word is %llu",
					  (unsigned long long)number,
					  (unsigned long long)last));
}

bool bench_rally(struct bench_end *x, uint64_t number, uint64_t bytes,
	uint64_t next, uint32_t means)
{
	const struct bench_driver *d = x->bench->driver;
	sim_time t = d->drawn ? d->drawn(x->bench, means, bytes) : 0;

	if (t) {
		if (!x->begins)
			bench_expect(x, next);
		program_charge(2 * t);
		x->end = program_now();
		return true;
	}
	if (!x->begins && !receive(x, number, bytes))
		return false;
	bench_expect(x, x->begins ? bytes : next);
	send(x, number + !x->begins, bytes, means);
	return !x->begins || receive(x, number + 1, bytes);
}
