#define _GNU_SOURCE /* memfd_create() */
#include "outside/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/futex.h"
#include "base/mem.h"
#include "base/relax.h"
#include "base/name.h"

/* A third value of the word: the rank has ended while it had the turn. */
enum { GONE = 2 };

enum {
	PIECE_ALIGN = 8,
	SLICE = 100, /* ms between looks at whether to wait any longer */
};

/* --- the word --- */

/* The other one is called only if it sleeps: it says so first, then looks at
 * the word once more. */
static void give(struct channel *c, enum channel_turn to)
{
	atomic_store(&c->turn, to);
	if (atomic_load(&c->sleeps[to]))
		futex_wake(&c->turn);
}

/* Where there is a core for each it is back before one could sleep.  The rank
 * may have written anything there. */
static void spin(const struct channel *c, uint32_t other)
{
	uint32_t n = *(const volatile uint32_t *)&c->spins;

	n = n < CHANNEL_SPINS ? n : CHANNEL_SPINS;
	while (n-- && atomic_load(&c->turn) == other)
		relax();
}

/* False if the time is over. */
static bool await(struct channel *c, enum channel_turn mine, int milliseconds)
{
	uint32_t other = mine == CHANNEL_SIM ? CHANNEL_RANK : CHANNEL_SIM;
	struct timespec most = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000L,
	};
	bool is_late = false;

	spin(c, other);
	while (!is_late && atomic_load(&c->turn) == other) {
		atomic_store(&c->sleeps[mine], 1);
		is_late = futex_wait(&c->turn, other,
				  milliseconds < 0 ? NULL : &most) < 0 &&
			  errno == ETIMEDOUT;
		atomic_store(&c->sleeps[mine], 0);
	}
	return atomic_load(&c->turn) != other;
}

/* --- life --- */

static int make_file(struct err *e)
{
	int file = memfd_create("weft-rank", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

	if (file < 0 || ftruncate(file, CHANNEL_BYTES) < 0 ||
		fcntl(file, F_ADD_SEALS, seals) < 0) {
		err_set_code(e, EXIT_LIMIT, "no channel for a rank: %s",
			strerror(errno));
		if (file >= 0)
			close(file);
		return -1;
	}
	return file;
}

int handover_join_file(struct handover *h, int file, struct err *e)
{
	struct channel *c = mmap(NULL, CHANNEL_BYTES, PROT_READ | PROT_WRITE,
		MAP_SHARED, file, 0);

	*h = (struct handover){ .file = -1 };
	if (c == MAP_FAILED) {
		close(file);
		return err_set_code(e, EXIT_LIMIT,
			"no memory for a rank's channel: %s", strerror(errno));
	}
	h->channel = c;
	h->file = file;
	return 0;
}

int handover_open(
	struct handover *h, const struct handover_place *p, struct err *e)
{
	struct channel *c;
	int file = make_file(e);

	if (file < 0 || handover_join_file(h, file, e)) {
		*h = (struct handover){ .file = -1 };
		return -1;
	}
	c = h->channel;
	c->magic = CHANNEL_MAGIC;
	c->version = CHANNEL_VERSION;
	c->rank = p->rank;
	c->n_ranks = p->n_ranks;
	c->node = p->node;
	c->process = p->process;
	c->n_processes = p->n_processes;
	c->collectives = p->collectives;
	c->seed = p->seed;
	c->ways = p->ways;
	atomic_store(&c->turn, CHANNEL_RANK);
	return 0;
}

void handover_close(struct handover *h)
{
	if (!h->channel)
		return;
	munmap(h->channel, CHANNEL_BYTES);
	mem_free(h->saved);
	mem_free(h->many);
	if (h->file >= 0)
		close(h->file);
	*h = (struct handover){ .file = -1 };
}

/* Takes the turn from a rank that has ended.  If it has given it away before,
 * what it said last counts. */
static void take_back(struct channel *c)
{
	uint32_t rank = CHANNEL_RANK;

	if (atomic_compare_exchange_strong(&c->turn, &rank, GONE))
		futex_wake(&c->turn);
}

static void give_rank(struct handover *h)
{
	give(h->channel, CHANNEL_RANK);
	if (atomic_load(&h->is_gone))
		take_back(h->channel);
}

/* --- to the rank --- */

static uint32_t piece_end(uint32_t room, uint64_t bytes)
{
	uint64_t end = room + sizeof(struct channel_piece) + bytes;

	return (uint32_t)((end + PIECE_ALIGN - 1) / PIECE_ALIGN * PIECE_ALIGN);
}

bool handover_has_room(const struct handover *h)
{
	return h->n_completions < CHANNEL_COMPLETIONS;
}

bool handover_has_room_for(const struct handover *h, uint64_t bytes)
{
	return bytes <= CHANNEL_ROOM &&
	       piece_end(h->room, bytes) <= CHANNEL_ROOM;
}

void handover_complete(struct handover *h, const struct channel_completion *c)
{
	BUG_IF(!handover_has_room(h));
	h->channel->completion[h->n_completions++] = *c;
}

void handover_store(
	struct handover *h, uint64_t at, const void *from, uint64_t bytes)
{
	const struct channel_piece p = { .at = at, .bytes = bytes };
	uint8_t *to = h->channel->room + h->room;

	BUG_IF(!handover_has_room_for(h, bytes));
	memcpy(to, &p, sizeof(p));
	memcpy(to + sizeof(p), from, bytes);
	h->room = piece_end(h->room, bytes);
	h->n_pieces++;
}

void handover_kick(struct handover *h, int64_t now, bool has_more)
{
	struct channel *c = h->channel;

	c->now = now;
	c->n_completions = h->n_completions;
	c->n_pieces = h->n_pieces;
	c->has_more = has_more;
	h->n_completions = 0;
	h->n_pieces = 0;
	h->room = 0;
	h->is_saved = false;
	give_rank(h);
}

void handover_gone(struct handover *h)
{
	atomic_store(&h->is_gone, true);
	take_back(h->channel);
}

/* --- from the rank --- */

static const struct channel_command *copy_commands(
	struct handover *h, uint32_t n)
{
	struct channel_command *to = h->few;

	if (n > HANDOVER_FEW && !h->many)
		h->many = mem_alloc(CHANNEL_COMMANDS, sizeof(*h->many));
	if (n > HANDOVER_FEW)
		to = h->many;
	memcpy(to, h->channel->command, n * sizeof(*to));
	return to;
}

/* Copies each field once; false if a count is no such count. */
static bool listen(struct handover *h, struct handover_turn *t)
{
	const struct channel *c = h->channel;
	uint32_t why = *(const volatile uint32_t *)&c->why;
	uint32_t n = *(const volatile uint32_t *)&c->n_commands;

	if (why >= CHANNEL_WHYS || n > CHANNEL_COMMANDS)
		return false;
	t->why = (enum channel_why)why;
	t->clock = *(const volatile int64_t *)&c->clock;
	t->until = *(const volatile int64_t *)&c->until;
	t->outside = *(const volatile int64_t *)&c->outside;
	t->n_calls = *(const volatile uint64_t *)&c->n_calls;
	t->reasons = *(const volatile uint32_t *)&c->reasons;
	t->is_busy = *(const volatile uint32_t *)&c->is_busy;
	t->own_tests = *(const volatile uint32_t *)&c->own_tests;
	t->n_commands = n;
	memcpy(&t->call, &c->call, sizeof(t->call));
	t->command = copy_commands(h, n);
	return true;
}

bool handover_is_stopped(const struct handover *h)
{
	for (uint32_t i = 0; i < 2; i++)
		if (h->stop[i] && atomic_load(h->stop[i]))
			return true;
	return false;
}

/* A rank that still lives could have written the third value, too, or that it
 * does not sleep: it is called again where it is late. */
enum handover_answer handover_join(
	struct handover *h, struct handover_turn *t, int milliseconds)
{
	if (!await(h->channel, CHANNEL_SIM, milliseconds)) {
		futex_wake(&h->channel->turn);
		return HANDOVER_LATE;
	}
	if (atomic_load(&h->channel->turn) != CHANNEL_SIM) {
		memcpy(&t->call, &h->channel->call, sizeof(t->call));
		return atomic_load(&h->is_gone) ? HANDOVER_GONE
						: HANDOVER_GARBAGE;
	}
	return listen(h, t) ? HANDOVER_TURN : HANDOVER_GARBAGE;
}

void handover_give_tests(struct handover *h, uint32_t n)
{
	h->channel->own_tests = n;
}

uint32_t handover_steps(const struct handover *h, struct channel_step *to)
{
	struct channel *c = h->channel;
	uint32_t n = *(const volatile uint32_t *)&c->n_steps;

	if (n > CHANNEL_STEPS)
		n = CHANNEL_STEPS;
	memcpy(to, c->step, n * sizeof(*to));
	c->n_steps = 0;
	return n;
}

bool handover_wants_steps(const struct handover *h)
{
	return *(const volatile uint32_t *)&h->channel->n_steps == 0;
}

void handover_give_steps(
	struct handover *h, const struct channel_step *from, uint32_t n)
{
	memcpy(h->channel->step, from, n * sizeof(*from));
	h->channel->n_steps = n;
}

bool handover_settle(struct handover *h, int milliseconds)
{
	if (milliseconds >= 0)
		return await(h->channel, CHANNEL_SIM, milliseconds);
	while (!await(h->channel, CHANNEL_SIM, SLICE))
		if (handover_is_stopped(h))
			return false;
	return true;
}

bool handover_has_spoken(const struct handover *h)
{
	uint32_t turn = atomic_load(&h->channel->turn);

	return turn != CHANNEL_RANK && turn != GONE;
}

bool handover_load(
	const struct handover *h, uint64_t offset, void *to, uint64_t bytes)
{
	const uint8_t *room = h->is_saved ? h->saved : h->channel->room;

	if (offset > CHANNEL_ROOM || bytes > CHANNEL_ROOM - offset)
		return false;
	memcpy(to, room + offset, bytes);
	return true;
}

/* --- copies by the rank --- */

static void save_room(struct handover *h)
{
	if (h->is_saved)
		return;
	if (!h->saved)
		h->saved = mem_alloc(1, CHANNEL_ROOM);
	memcpy(h->saved, h->channel->room, CHANNEL_ROOM);
	h->is_saved = true;
}

/* A turn that is for nothing else. */
static bool ask_copy(
	struct handover *h, enum channel_copy what, uint64_t at, uint32_t bytes)
{
	struct channel *c = h->channel;

	if (atomic_load(&c->turn) != CHANNEL_SIM)
		return false;
	c->copy_at = at;
	c->copy_bytes = bytes;
	c->copy = what;
	give_rank(h);
	return handover_settle(h, -1) && atomic_load(&c->turn) == CHANNEL_SIM &&
	       *(const volatile uint32_t *)&c->copy == CHANNEL_NO_COPY;
}

static uint32_t part_of(uint64_t bytes)
{
	return (uint32_t)(bytes < CHANNEL_ROOM ? bytes : CHANNEL_ROOM);
}

bool handover_copy_in(struct handover *h, uint64_t at, void *to, uint64_t bytes)
{
	save_room(h);
	for (uint64_t i = 0; i < bytes; i += CHANNEL_ROOM) {
		uint32_t n = part_of(bytes - i);

		if (!ask_copy(h, CHANNEL_TO_ROOM, at + i, n))
			return false;
		memcpy((uint8_t *)to + i, h->channel->room, n);
	}
	return true;
}

bool handover_copy_out(
	struct handover *h, uint64_t at, const void *from, uint64_t bytes)
{
	save_room(h);
	for (uint64_t i = 0; i < bytes; i += CHANNEL_ROOM) {
		uint32_t n = part_of(bytes - i);

		memcpy(h->channel->room, (const uint8_t *)from + i, n);
		if (!ask_copy(h, CHANNEL_FROM_ROOM, at + i, n))
			return false;
	}
	return true;
}

/* --- what it tells beside --- */

void handover_log(struct handover *h)
{
	h->channel->is_logged = 1;
}

/* Only calls that can be true. */
static bool is_true(const struct channel_called *c)
{
	return c->call.name && c->call.name < CHANNEL_NAMES &&
	       c->call.since >= 0 && c->call.since <= c->until;
}

bool handover_called(
	const struct handover *h, uint32_t *i, struct channel_called *c)
{
	uint32_t n = *(const volatile uint32_t *)&h->channel->n_called;

	while (*i < n && *i < CHANNEL_CALLED) {
		memcpy(c, &h->channel->called[(*i)++], sizeof(*c));
		if (is_true(c))
			return true;
	}
	return false;
}

uint64_t handover_calls(const struct handover *h, uint32_t call)
{
	return ((const volatile uint64_t *)h->channel->calls)[call];
}

void handover_library(const struct handover *h, char text[CHANNEL_LIBRARY])
{
	memcpy(text, h->channel->library, CHANNEL_LIBRARY);
	text[CHANNEL_LIBRARY - 1] = '\0';
	name_clean(text, "");
}

uint64_t handover_cpu(const struct handover *h)
{
	return *(const volatile uint64_t *)&h->channel->cpu;
}

void handover_cross(struct channel *c, enum channel_why why)
{
	c->why = why;
	give(c, CHANNEL_SIM);
	await(c, CHANNEL_RANK, -1);
}
