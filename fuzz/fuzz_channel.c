/*
 * Ranks that write anything into their channels: each has a thread that plays
 * its process, and a proxy.  Whatever it says, the run ends as it would with
 * processes, and not with an internal error.
 *
 *	fuzz_channel [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_channel"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/program.h"
#include "outside/proxy.h"

#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	RANKS = 4,
	TURNS = 60, /* then a rank leaves */
	MEMORY = 1 << 17,
};

/* Behind its memory a rank has nothing for as far as a command can reach, or it
 * would write into this program, which no other process's rank can. */
#define BEHIND (UINT64_C(1) << 34)

struct rank {
	struct proxy proxy;
	struct handover channel;
	pthread_t thread;
	uint64_t seed;
	uint8_t *memory;
	bool has_begun;
	atomic_bool has_ended; /* nobody listens to it */
};

static struct {
	struct rank rank[RANKS];
	struct output *output;
	atomic_int is_over;
	_Atomic uint64_t turns; /* ever */
} all;

/* --- what a rank writes --- */

static uint64_t random_of(struct rank *r)
{
	uint64_t z = (r->seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static bool is_rare(struct rank *r, uint32_t one_in)
{
	return random_of(r) % one_in == 0;
}

/* Small mostly, and those at which something ends. */
static uint64_t any(struct rank *r)
{
	static const uint64_t ends[] = { 0, 1, 63, 64, 480, 512, 513, 4095,
		4096, 4097, 8192, 65535, 65536, 65537, 1 << 20, UINT32_MAX,
		UINT64_C(1) << 32, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1,
		UINT64_MAX };

	if (!is_rare(r, 4))
		return random_of(r) % 8;
	if (!is_rare(r, 3))
		return ends[random_of(r) % (sizeof(ends) / sizeof(ends[0]))];
	return is_rare(r, 2) ? random_of(r) : random_of(r) % 70000;
}

/* In its memory mostly. */
static uint64_t any_place(struct rank *r)
{
	if (is_rare(r, 8))
		return any(r);
	return (uint64_t)(uintptr_t)r->memory + random_of(r) % (MEMORY / 2);
}

static struct channel_command any_command(struct rank *r)
{
	struct channel_command c = {
		.kind = (uint16_t)(random_of(r) % CHANNEL_KINDS),
		.flags = (uint16_t)(random_of(r) & random_of(r)),
		.op = (uint16_t)any(r),
		.endpoint = (uint16_t)(is_rare(r, 8) ? any(r) : 0),
		.rank = (uint32_t)(is_rare(r, 16) ? any(r)
						  : random_of(r) % RANKS),
		.to = (uint16_t)(is_rare(r, 8) ? any(r) : 0),
		.n = (uint16_t)any(r),
		.tag = any(r),
		.ignore = any(r),
		.data = any(r),
		.at = any_place(r),
		.bytes = any(r),
		.context = random_of(r) % 16,
	};

	if (is_rare(r, 3))
		c.kind = is_rare(r, 2) ? CHANNEL_SEND : CHANNEL_RECEIVE;
	if (is_rare(r, 64))
		c.kind = (uint16_t)random_of(r);
	/* one that only some ranks call keeps the others waiting */
	if (channel_is_collective(c.kind) && !is_rare(r, 512))
		c.kind = CHANNEL_PEEK;
	if (c.flags & CHANNEL_IN_ROOM && !is_rare(r, 8))
		c.at %= CHANNEL_ROOM / 2;
	return c;
}

static void say_commands(struct rank *r, struct channel *c)
{
	uint32_t n = (uint32_t)(random_of(r) % 6);

	if (is_rare(r, 32))
		n = CHANNEL_COMMANDS;
	for (uint32_t i = 0; i < n; i++)
		c->command[i] = any_command(r);
	c->n_commands = is_rare(r, 2000) ? (uint32_t)any(r) : n;
}

static void say_calls(struct rank *r, struct channel *c)
{
	c->call.name = (uint32_t)(is_rare(r, 16) ? any(r) : random_of(r) % 400);
	c->call.rank = (uint32_t)any(r);
	c->call.tag = any(r);
	c->call.since = (int64_t)any(r);
	c->n_called = (uint32_t)any(r);
	c->called[random_of(r) % CHANNEL_CALLED] =
		(struct channel_called){ c->call,
			is_rare(r, 4) ? (int64_t)any(r) : c->now };
	c->calls[random_of(r) % CHANNEL_NAMES] = any(r);
	c->library[random_of(r) % CHANNEL_LIBRARY] = (char)random_of(r);
}

/* A time: soon, or never, or any. */
static int64_t any_time(struct rank *r, int64_t now)
{
	if (is_rare(r, 500))
		return (int64_t)any(r);
	return now + (int64_t)(random_of(r) % 3000000);
}

static enum channel_why say(struct rank *r, struct channel *c)
{
	uint64_t kind = random_of(r) % 100;

	c->clock = is_rare(r, 4) ? any_time(r, c->now) : c->now;
	c->until = is_rare(r, 100) ? INT64_MAX : any_time(r, c->now);
	c->outside = (int64_t)any(r);
	c->n_calls = any(r);
	c->is_busy = (uint32_t)(random_of(r) % 2);
	c->n_steps = (uint32_t)any(r);
	c->reasons = (uint32_t)any(r);
	c->room[random_of(r) % CHANNEL_ROOM] = (uint8_t)random_of(r);
	say_commands(r, c);
	say_calls(r, c);
	if (is_rare(r, 1000))
		return (enum channel_why)random_of(r);
	return kind < 60   ? CHANNEL_FLUSH
	       : kind < 75 ? CHANNEL_LOOK
	       : kind < 99 ? CHANNEL_WAIT
			   : CHANNEL_START;
}

/* Answers when it is asked to copy, mostly as it should. */
static bool copies(struct rank *r, struct channel *c)
{
	uint64_t from = (uint64_t)(uintptr_t)r->memory;
	bool has = c->copy_at >= from && c->copy_bytes <= MEMORY &&
		   c->copy_at - from <= MEMORY - c->copy_bytes;
	void *own = (void *)(uintptr_t)c->copy_at;

	if (c->copy != CHANNEL_TO_ROOM && c->copy != CHANNEL_FROM_ROOM)
		return false;
	if (has && c->copy == CHANNEL_TO_ROOM)
		memcpy(c->room, own, c->copy_bytes);
	else if (has)
		memcpy(own, c->room, c->copy_bytes);
	c->copy = has ? CHANNEL_NO_COPY : CHANNEL_NO_BYTES;
	if (is_rare(r, 64))
		c->copy = (uint32_t)any(r);
	return true;
}

/* Some scribble over the word itself, and the rest of the beginning. */
__attribute__((no_sanitize("thread"))) static void scribble(
	struct rank *r, struct channel *c)
{
	uint32_t *word = (uint32_t *)c;

	word[random_of(r) % 48] = (uint32_t)any(r);
}

static void *be_rank(void *arg)
{
	struct rank *r = arg;
	struct channel *c = r->channel.channel;
	bool scribbles = is_rare(r, 8);

	for (uint32_t i = 0; !all.is_over; i++) {
		enum channel_why why = CHANNEL_FLUSH;

		if (!copies(r, c)) {
			why = i < TURNS ? say(r, c) : CHANNEL_EXIT;
			all.turns++;
		}
		if (scribbles && is_rare(r, 64))
			scribble(r, c);
		handover_cross(c, why);
		if (atomic_load(&r->has_ended))
			sched_yield();
	}
	return NULL;
}

/* --- the run --- */

/* Its program waits for ever then, and the run ends as stalled. */
static void on_lost(struct proxy *p)
{
	atomic_store(&all.rank[p->rank].has_ended, true);
}

static uint8_t *take_memory(void)
{
	uint8_t *m = mmap(NULL, MEMORY + BEHIND, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	check(m != MAP_FAILED && !mprotect(m, MEMORY, PROT_READ | PROT_WRITE),
		"no memory");
	return m;
}

static void run_program(void *mine)
{
	uint32_t i = weft_node();
	struct rank *r = &all.rank[i];
	const struct handover_place place = {
		.rank = i, .n_ranks = RANKS, .node = i, .n_processes = 1
	};
	struct err e = { 0 };

	(void)mine;
	for (size_t k = 0; k < program_input.size; k++)
		r->seed = 31 * r->seed + program_input.data[k] + i;
	check(!handover_open(&r->channel, &place, &e), e.text);
	r->memory = take_memory();
	r->has_begun = true;
	atomic_store(&r->has_ended, false);
	r->proxy = (struct proxy){
		.rank = i,
		.n_ranks = RANKS,
		.node = i,
		.output = all.output,
		.channel = &r->channel,
		.pid = getpid(),
		.by_channel = is_rare(r, 4),
		.stop = { &all.is_over },
		.dies_at = SIM_NEVER,
		.on_lost = on_lost,
		.times = { .turn = is_rare(r, 2) ? 200 * (sim_time)SIM_NS : 0,
			.test = 100 * (sim_time)SIM_NS },
	};
	check(!pthread_create(&r->thread, NULL, be_rank, r), "no thread");
	proxy_run(&r->proxy);
	atomic_store(&r->has_ended, true);
}

static void end_rank(struct rank *r)
{
	char text[200];

	if (!r->has_begun)
		return;
	handover_kick(&r->channel, 0, false);
	pthread_join(r->thread, NULL);
	proxy_describe(&r->proxy, text, sizeof(text));
	proxy_free(&r->proxy);
	handover_close(&r->channel);
	munmap(r->memory, MEMORY + BEHIND);
	*r = (struct rank){ 0 };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* some say that they sleep for minutes */
	static const char *const on[][5] = {
		{ "torus", "--shape=4", "--set=host.memory=16MiB",
			"--until=20ms", NULL },
		{ "bgq", "--shape=2x2", "--set=host.memory=16MiB",
			"--until=20ms", NULL },
		{ "qsnet2", "--shape=4", "--set=host.memory=64MiB",
			"--until=20ms", NULL },
		{ "gemini", "--shape=2x1x1", "--set=host.memory=16MiB",
			"--until=20ms", NULL },
	};
	const int nowhere[OUTPUT_STREAMS] = { -1, -1 };
	const struct weft_app app = {
		.name = FUZZ_NAME,
		.help = "",
		.run = run_program,
		.n_nodes = RANKS,
	};
	struct err e = { 0 };

	all.output = output_new(RANKS, nowhere, false);
	check(all.output, e.text);
	program_run(&app, on[size ? data[0] % 4 : 0], data, size);
	all.is_over = 1;
	for (uint32_t i = 0; i < RANKS; i++)
		end_rank(&all.rank[i]);
	all.is_over = 0;
	output_free(all.output);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = { "0abc", "1def", "2ghi", "3jkl" };

static const char *const pieces[] = { "\x01", "\x02", "m", "n", "o", "\x80",
	"\xff", "\x10" };

int main(int argc, char **argv)
{
	int code = fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));

	printf("%llu channels\n", (unsigned long long)all.turns);
	return code;
}

#endif
