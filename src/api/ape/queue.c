#include "api/ape/queue.h"

#include <string.h>

#include "parts/lofamo/history.h"

enum {
	ENTRY = sizeof(struct ape_command),
	BATCH = 16,
	MOST_KEYS = 1 << 19,
};

static const struct ape_params *params_of(const struct ape_user *u)
{
	return u->nic->params;
}

static uint64_t events_at(const struct ape_user *u)
{
	return u->at + (uint64_t)u->n_commands * ENTRY;
}

uint64_t ape_user_memory(const struct nic *nic)
{
	const struct ape_params *p = nic->params;

	return (uint64_t)p->queue * ENTRY +
	       (uint64_t)p->events * sizeof(struct workq_completion);
}

/* Those of an earlier life have numbers, too; memory that was never written
 * stays so. */
static void clear_events(const struct ape_user *u)
{
	static const struct workq_completion none[64];
	struct workq_completion was[64];
	uint64_t at = events_at(u), n, left = u->n_events * sizeof(none[0]);

	for (; left; left -= n, at += n) {
		n = left < sizeof(none) ? left : sizeof(none);
		if (program_read(at, was, n) && memcmp(was, none, n) != 0)
			program_write(at, none, n);
	}
}

int ape_user_open(struct ape_user *u)
{
	struct workq_rings r;
	struct nic_at a;
	int code;

	u->nic = nic_check(host_nic(program_host()), &apenet_ops);
	u->node = program_node();
	u->watch = lofamo_of(u->nic->host);
	if (!u->n_commands)
		u->n_commands = (uint32_t)params_of(u)->queue;
	if (!u->n_events)
		u->n_events = (uint32_t)params_of(u)->events;
	r = (struct workq_rings){
		.n_entries = u->n_commands,
		.n_completions = u->n_events,
		.entries_at = u->at,
		.completions_at = events_at(u),
	};
	a = nic_now(u->nic);
	code = workqs_open(&a, ape_queues(u->nic, u->node), u->queue, &r);
	if (!code)
		clear_events(u);
	return code;
}

/* When the host knows that the card is dead. */
static sim_time known_at(const struct ape_user *u)
{
	return u->heeds && u->watch ? lofamo_card_is_dead_at(
					      u->watch, u->node, program_now())
				    : SIM_NEVER;
}

bool ape_user_has_lost_card(const struct ape_user *u)
{
	return known_at(u) <= program_now();
}

/* --- events --- */

/* The place of the i-th from the next one on. */
static inline uint64_t place_of(const struct ape_user *u, uint32_t i)
{
	uint32_t place = (u->taken + i) & (u->n_events - 1);

	return events_at(u) + place * sizeof(struct workq_completion);
}

static inline uint64_t next_at(const struct ape_user *u)
{
	return place_of(u, 0);
}

/* Its number comes last. */
static inline bool has_next(const struct ape_user *u)
{
	uint64_t number = 0;

	host_read(u->nic->host, u->node,
		next_at(u) + offsetof(struct workq_completion, number), &number,
		sizeof(number));
	return (uint32_t)number == u->taken + 1;
}

bool ape_user_has_event(const struct ape_user *u)
{
	return has_next(u);
}

static void ring(struct ape_user *u, sim_time begun)
{
	struct nic_at a = nic_now(u->nic);

	u->told = u->taken;
	workqs_ring(&a, ape_queues(u->nic, u->node), u->queue, u->posted,
		u->taken, begun, u->copied > begun ? u->copied : begun);
}

/* What a dead card had may have been given up. */
static void note_done(struct ape_user *u, uint32_t done)
{
	if ((int32_t)(done - u->done) > 0)
		u->done = done;
}

/* Whether the card is told when so many have been taken. */
static inline bool is_told_at(const struct ape_user *u, uint32_t taken)
{
	return taken - u->told >= u->n_events / 4;
}

/* There is one.  By itself, so that looking for none does not pay for it. */
static __attribute__((noinline)) void take_all(struct ape_user *u)
{
	struct workq_completion c = { 0 };

	do {
		host_read(u->nic->host, u->node, next_at(u), &c, sizeof(c));
		u->taken++;
		if (APE_EVENT(c.status) == APE_DONE ||
			APE_EVENT(c.status) == APE_FAILED)
			note_done(u, (uint32_t)c.id + 1);
		if (is_told_at(u, u->taken))
			ring(u, program_now());
		if (u->on_event)
			u->on_event(u->arg, &c);
	} while (has_next(u));
}

bool ape_user_poll(struct ape_user *u)
{
	if (!has_next(u))
		return false;
	take_all(u);
	return true;
}

enum poll_news ape_user_peek(const struct ape_user *u, uint32_t *n)
{
	struct workq_completion c;
	uint32_t was = *n;

	for (;; ++*n) {
		host_read(
			u->nic->host, u->node, place_of(u, *n), &c, sizeof(c));
		if ((uint32_t)c.number != u->taken + *n + 1)
			break;
		if (APE_EVENT(c.status) != APE_DONE ||
			is_told_at(u, u->taken + *n + 1))
			return POLL_ENDS;
	}
	return *n == was ? POLL_NOTHING : POLL_QUIET;
}

static bool has_event(void *arg, uint64_t *seen)
{
	*seen = 0;
	return ape_user_has_event(arg);
}

struct poll_loop ape_user_loop(const struct ape_user *u)
{
	const struct workq_params *p = &params_of(u)->work;

	return nic_poll_loop(u->nic, p->poll_period, p->poll_load);
}

struct poll_loop ape_user_loop_by(const struct ape_user *u, uint64_t draw)
{
	const struct workq_params *p = &params_of(u)->work;

	return nic_poll_loop_by(
		u->nic, u->node, draw, p->poll_period, p->poll_load);
}

bool ape_user_wait(struct ape_user *u, sim_time deadline)
{
	PROGRAM_CALL("waiting for an event of its card", 0, 0);
	sim_time known = known_at(u);
	uint64_t seen;

	deadline = deadline < known ? deadline : known;
	if (!ape_user_has_event(u) && deadline == SIM_NEVER)
		program_poll_until(has_event, u, ape_user_loop(u), &seen);
	else if (!ape_user_has_event(u) &&
		 !program_poll_before(
			 has_event, u, ape_user_loop(u), deadline, &seen))
		return false;
	return true;
}

/* One event, or more, is taken; false: the card is dead. */
static bool wait_and_take(struct ape_user *u)
{
	ape_user_wait(u, SIM_NEVER);
	return ape_user_poll(u) || !ape_user_has_lost_card(u);
}

void ape_user_close(struct ape_user *u)
{
	while (u->done != u->posted && wait_and_take(u))
		;
	workqs_close(ape_queues(u->nic, u->node), u->queue);
}

/* --- commands --- */

/* Commands that are posted, but not written yet. */
struct batch {
	struct ape_command c[BATCH];
	uint32_t n;
};

static void write_batch(const struct ape_user *u, struct batch *b)
{
	uint32_t first = (u->posted - b->n) & (u->n_commands - 1);

	if (b->n)
		program_write(u->at + first * (uint64_t)ENTRY, b->c,
			(size_t)b->n * ENTRY);
	b->n = 0;
}

static void post(
	struct ape_user *u, struct batch *b, const struct ape_command *c)
{
	b->c[b->n++] = *c;
	u->posted++;
	/* not past the ring's end */
	if (b->n == BATCH || u->posted % u->n_commands == 0)
		write_batch(u, b);
}

bool ape_user_make_room(struct ape_user *u)
{
	ape_user_poll(u);
	while (u->posted - u->done >= u->n_commands)
		if (!wait_and_take(u))
			return false;
	return true;
}

void ape_user_post(struct ape_user *u, const struct ape_command *c)
{
	struct batch b = { .n = 0 };

	program_charge(params_of(u)->work.post);
	post(u, &b, c);
	write_batch(u, &b);
	ring(u, program_now());
}

uint32_t ape_user_send(struct ape_user *u, struct ape_command c, uint32_t op,
	uint32_t node, uint32_t flags, uint64_t bytes, sim_time begun)
{
	uint32_t most = ape_most(u->nic), rung = u->posted, tag = c.size;
	uint32_t packets = bytes ? (uint32_t)((bytes - 1) / most + 1) : 1, i, n;
	struct batch b;

	b.n = 0;
	program_charge(params_of(u)->work.post);
	for (i = 0; i < packets; i++) {
		bool is_last = i + 1 == packets;
		uint32_t f = flags | (is_last ? APE_LAST | APE_TELL : 0);

		bool is_full = u->posted - u->done >= u->n_commands;

		if (is_full && rung != u->posted) {
			write_batch(u, &b);
			ring(u, begun);
			rung = u->posted;
		}
		/* later no time passes but here */
		if ((is_full || !i) && !ape_user_make_room(u))
			break;
		/* so that room is known of in time */
		if (u->posted % (u->n_commands / 2) == 0)
			f |= APE_TELL;
		n = bytes < most ? (uint32_t)bytes : most;
		c.to = APE_TO(node, op, f);
		c.size = APE_SIZE(n, op == APE_GET ? tag : packets);
		post(u, &b, &c);
		c.from += n;
		c.offset += n;
		bytes -= n;
		if (is_last || u->posted - rung == BATCH) {
			write_batch(u, &b);
			ring(u, begun);
			rung = u->posted;
		}
	}
	return u->posted - 1;
}

/* --- buffers --- */

struct awaited {
	const struct ape_user *u;
	uint64_t number;
};

static bool is_enrolled(void *arg, uint64_t *seen)
{
	const struct awaited *x = arg;

	*seen = 0;
	return ape_enrolled(x->u->nic, x->u->node) >= x->number;
}

static bool await(struct ape_user *u, uint64_t number)
{
	PROGRAM_CALL("waiting for its card to register a buffer", 0, 0);
	struct awaited x = { u, number };
	sim_time known = known_at(u);
	uint64_t seen;

	if (known != SIM_NEVER)
		return program_poll_before(
			is_enrolled, &x, ape_user_loop(u), known, &seen);
	program_poll_until(is_enrolled, &x, ape_user_loop(u), &seen);
	return true;
}

uint32_t ape_user_register(
	struct ape_user *u, uint64_t at, uint64_t bytes, uint32_t bits)
{
	uint32_t key = ape_key(u->queue, (u->n_keys + 1) | bits);
	struct nic_at a;

	if (u->n_keys + 1 == MOST_KEYS)
		return 0;
	u->n_keys++;
	program_charge(params_of(u)->kernel);
	a = nic_now(u->nic);
	return await(u, ape_enrol(&a, key, at, bytes)) ? key : 0;
}

void ape_user_deregister(struct ape_user *u, uint32_t key)
{
	struct nic_at a;

	program_charge(params_of(u)->kernel);
	a = nic_now(u->nic);
	await(u, ape_strike(&a, key));
}
