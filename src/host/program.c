#define _GNU_SOURCE
#include "host/program.h"

#include <pthread.h>
#include <string.h>

#include "host/node.h"
#include "sim/fiber.h"

enum {
	KEY_BITS = 12, /* of an event's key, for round and thread */
	MOVE_BLOCK = 4096,
};

/* Later than any run lasts, and far from where sums of times overflow. */
#define FOREVER (INT64_C(1) << 60)

/* The program that runs on this thread.  A fiber may change its thread while it
 * waits, where one thread runs the windows of all workers (sim/pace.h). */
static _Thread_local struct program *current;
static _Thread_local struct fiber_pool *fibers; /* its pool */

/* --- threads that run fibers --- */

/*
 * A thread is told of fibers when it first runs one and forgets them when
 * it ends; which threads there are is the kernel's business.
 */
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static _Thread_local struct fiber_thread fiber_thread;
static _Thread_local bool is_entered;

static void leave_thread(void *t)
{
	fiber_thread_fini(t);
}

static void make_key(void)
{
	BUG_IF(pthread_key_create(&key, leave_thread));
}

/* Where a program's mistake, or one made for it, ends the run, the program
 * ends here; program_enter() goes on with the worker's end. */
static void leave_program(void)
{
	if (current)
		fiber_abandon(fibers);
}

static void enter_thread(void)
{
	pthread_once(&key_once, make_key);
	fiber_thread_init(&fiber_thread);
	BUG_IF(pthread_setspecific(key, &fiber_thread));
	err_set_leave(leave_program);
	is_entered = true;
}

/* --- the runner: all that is known of fibers --- */

static void run_program(void *arg)
{
	struct program *p = arg;

	p->run(p->arg);
	if (p->is_ahead)
		program_settle(p);
}

static uint32_t index_of(const struct program *p)
{
	return (uint32_t)(p - p->host->programs);
}

void program_prepare(struct program *p, struct fiber_pool *pool, uint32_t id)
{
	fiber_start(pool, id, run_program, p);
}

bool program_enter(struct program *p, struct fiber_pool *pool, uint32_t id,
	struct sim_worker *w, sim_time t)
{
	enum fiber_state state;

	if (!is_entered)
		enter_thread();
	p->worker = w;
	p->now = t;
	current = p;
	fibers = pool;
	state = fiber_resume(pool, id);
	current = NULL;
	if (state != FIBER_ENDED)
		return false;
	err_land();
	return true;
}

void program_resume(struct program *p, struct sim_worker *w, sim_time t)
{
	struct host *h = p->host;

	p->state = STATE_RUNNING;
	if (!program_enter(p, h->fibers, index_of(p), w, t))
		return;
	p->state = STATE_ENDED;
	poll_end_watch(p);
	if (p->is_service)
		return;
	atomic_fetch_sub_explicit(&h->n_running, 1, memory_order_relaxed);
}

void program_suspend(struct program *p, enum program_state state)
{
	p->state = (uint8_t)state;
	fiber_suspend(p->host->fibers, index_of(p));
}

struct program *program_current(void)
{
	return current;
}

void *card_current(void)
{
	return current && current->is_card ? current->arg : NULL;
}

/* Of a program that was started and has not ended. */
static __attribute__((noinline)) void kill(struct program *p)
{
	struct host *h = p->host;

	if (p->state == STATE_POLLING)
		poll_forget(p);
	p->state = STATE_DEAD;
	poll_end_watch(p);
	if (p->is_service)
		return;
	atomic_fetch_sub_explicit(&h->n_running, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&h->n_dead, 1, memory_order_relaxed);
}

void host_bury(struct host *h)
{
	for (site_id i = host_next(h, 0); h->dies_at && i < h->n_nodes;
		i = host_next(h, i + 1)) {
		if (h->dies_at[i] == SIM_NEVER)
			continue;
		for (struct program *p = h->nodes[i].programs; p; p = p->next)
			if (p->state != STATE_ENDED && p->state != STATE_DEAD)
				kill(p);
	}
}

void host_kill(struct host *h, site_id node, uint64_t processes)
{
	uint32_t each = host_threads_each(h);

	for (struct program *p = h->nodes[node].programs; p; p = p->next)
		if (p->state != STATE_ENDED && p->state != STATE_DEAD &&
			processes >> p->thread / each & 1)
			kill(p);
	if (current && current->host == h && current->state == STATE_DEAD)
		program_suspend(current, STATE_DEAD);
}

/* The one that runs on a thread, or NULL. */
static struct program *find(const struct node *n, uint32_t thread)
{
	struct program *p = n->programs;

	while (p && (p->thread != thread || p->state == STATE_ENDED ||
			    p->state == STATE_DEAD))
		p = p->next;
	return p;
}

/* The same as host_is_stale() of a program's own event. */
static inline bool is_stale(
	const struct program *p, sim_time t, const struct sim_event *e)
{
	bool is_polling = p->state == STATE_POLLING;

	switch (sim_aux(e)) {
	case EVENT_LOOK: /* of a poll that has missed its deadline */
		return !is_polling || !p->is_look_posted || p->look_at != t;
	case EVENT_LATE:
		return !is_polling || p->deadline != t;
	default:
		return p->state == STATE_DEAD;
	}
}

bool host_is_stale(const struct host *h, sim_time t, const struct sim_event *e)
{
	if (sim_aux(e) < HOST_ENGINE_EVENTS)
		return false;
	if (sim_aux(e) == EVENT_TOLD)
		return !find(&h->nodes[e->site], e->data);
	return is_stale(&h->programs[e->data], t, e);
}

/*
 * A program that computes, or will be back at a time, loses its CPU for some
 * time from t on.  One that was ahead is so much later there; one that polls
 * until a look that needs no event loses nothing before it.
 */
static void lose(struct program *p, sim_time t, sim_time time)
{
	if (t < p->now) {
		p->look_at += p->look_at > p->now ? time : 0;
		p->now += time;
	} else if (t < p->look_at) {
		return;
	}
	p->lost += time;
}

void host_take(struct host *h, site_id node, uint64_t threads, sim_time t,
	sim_time until)
{
	for (struct program *p = h->nodes[node].programs; p; p = p->next) {
		if (!(threads >> p->thread & 1))
			continue;
		if (p->state == STATE_TIMED)
			lose(p, t, until - t);
		else if (p->state == STATE_POLLING && t < p->now)
			poll_put_off(p, until - t);
		p->free_at = until;
	}
}

/* A program that would go on has lost its CPU meanwhile. */
static __attribute__((noinline)) void put_off(
	struct program *p, struct sim_worker *w, sim_time t)
{
	sim_time back = t + p->lost;

	p->lost = 0;
	program_post(
		p, w, back > p->free_at ? back : p->free_at, 0, EVENT_RESUME);
}

/* One that has ended meanwhile need not know. */
static __attribute__((noinline)) void be_told(struct host *h,
	struct sim_worker *w, site_id node, sim_time t, uint32_t thread)
{
	struct program *p = find(&h->nodes[node], thread);

	if (!p)
		return;
	if (t >= host_dies_at(h, node)) {
		kill(p);
		return;
	}
	p->told++;
	host_poke(h, w, node, t);
}

/* Not of a program. */
static void on_other(struct host *h, struct sim_worker *w, site_id node,
	sim_time t, const struct sim_event *e)
{
	if (sim_aux(e) == EVENT_TOLD)
		be_told(h, w, node, t, e->data);
	else
		h->engine.on_event(h->engine.arg, w, node, t, sim_aux(e));
}

void host_event(struct host *h, struct sim_worker *w, site_id node, sim_time t,
	const struct sim_event *e)
{
	struct program *p = &h->programs[e->data];

	if (sim_aux(e) <= EVENT_TOLD) {
		on_other(h, w, node, t, e);
		return;
	}
	BUG_IF(p->host != h || p->node != node);
	if (is_stale(p, t, e))
		return;
	if (h->dies_at && t >= h->dies_at[node]) {
		kill(p);
		return;
	}
	p->round = (uint8_t)(sim_number(e) >> h->thread_bits);
	if (sim_aux(e) == EVENT_LOOK)
		poll_look(p, w, t);
	else if (sim_aux(e) == EVENT_LATE)
		poll_give_up(p, w, t);
	else if (p->lost || t < p->free_at)
		put_off(p, w, t);
	else
		program_resume(p, w, t);
}

/* --- the engine --- */

void host_set_engine(struct host *h, const struct host_engine *x)
{
	BUG_IF(h->engine.on_event);
	h->engine = *x;
}

void host_post_engine(
	struct sim_worker *w, site_id node, sim_time t, uint32_t number)
{
	sim_post_self(
		w, node, t, SIM_KEY(PHASE_PROGRAM, 0), (uint16_t)number, 0);
}

void host_start_engine(
	struct host *h, site_id node, sim_time t, uint32_t number)
{
	if (sim_has(h->sim, node))
		sim_post(sim_owner(h->sim, node), node, t,
			SIM_KEY(PHASE_PROGRAM, 0), (uint16_t)number, 0);
}

/* --- starting --- */

/* Makes a program of a place that has none. */
static void set_up(struct host *h, struct program *p, uint32_t thread,
	void (*run)(void *arg), void *arg)
{
	p->thread = (uint8_t)thread;
	p->process = (uint8_t)(thread / host_threads_each(h));
	p->state = STATE_STARTED;
	p->is_system = current && current->is_system;
	p->is_service = false;
	p->is_ahead = p->is_exact = p->is_apart = false;
	p->late_at = SIM_NEVER;
	p->look_at = 0;
	p->told = 0;
	p->lost = p->free_at = 0;
	p->run = run;
	p->arg = arg;
	program_prepare(p, h->fibers, index_of(p));
	atomic_fetch_add_explicit(&h->n_running, 1, memory_order_relaxed);
}

static void add_place(struct host *h, struct program *p, site_id node)
{
	p->host = h;
	p->node = node;
	p->next = h->nodes[node].programs;
	h->nodes[node].programs = p;
}

void program_start(struct host *h, site_id node, uint32_t thread, sim_time t,
	void (*run)(void *arg), void *arg)
{
	struct program *p = &h->programs[h->n_started];

	BUG_IF(h->n_started == h->most_started);
	BUG_IF(node >= h->n_nodes || thread >= host_n_threads(h));
	if (!sim_has(h->sim, node))
		return; /* another process starts it */
	BUG_IF(find(&h->nodes[node], thread));
	h->n_started++;
	add_place(h, p, node);
	set_up(h, p, thread, run, arg);
	sim_post(sim_owner(h->sim, node), node, t,
		SIM_KEY(PHASE_PROGRAM, thread), EVENT_RESUME, index_of(p));
}

/* One that has ended, or a new one of the node's share, or NULL. */
static struct program *find_place(struct host *h, site_id node)
{
	struct node *n = &h->nodes[node];
	struct program *p = n->programs;

	while (p && p->state != STATE_ENDED)
		p = p->next;
	if (p || n->n_spawned == h->n_spawned)
		return p;
	p = &h->programs[h->most_started + (size_t)node * h->n_spawned +
			 n->n_spawned++];
	add_place(h, p, node);
	return p;
}

/*
 * The programs of an instant run by their threads' numbers.  What is spawned
 * on a thread whose turn is over runs in another round of the same instant;
 * when there are no more rounds, a picosecond later.
 */
static void post_spawned(struct program *p, const struct program *by)
{
	unsigned round = by->round + (p->thread < by->thread ? 1u : 0u);

	if (round >> (KEY_BITS - p->host->thread_bits) == 0)
		program_post(p, by->worker, by->now, round, EVENT_RESUME);
	else
		program_post(p, by->worker, by->now + 1, 0, EVENT_RESUME);
}

/* --- for programs --- */

static struct program *self(void)
{
	BUG_IF(!current);
	return current;
}

void program_settle(struct program *p)
{
	p->is_ahead = p->is_apart = false;
	program_post(p, p->worker, p->now, 0, EVENT_RESUME);
	program_suspend(p, STATE_TIMED);
}

/* An event that is not needed counts as one: their number does not depend on
 * who looks at the program. */
void program_catch_up(struct program *p)
{
	sim_count(p->worker, p->is_ahead);
	p->is_ahead = p->is_apart = false;
}

static __attribute__((noinline)) void join_node(struct program *p)
{
	BUG_IF(p->is_card);
	program_settle(p);
}

/* Of a program of the host; a thread of its interface has no part in it. */
struct program *host_self(void)
{
	struct program *p = self();

	if (__builtin_expect(p->is_apart, 0))
		join_node(p);
	return p;
}

bool program_is_card(void)
{
	return self()->is_card;
}

bool program_spawn(uint32_t thread, void (*run)(void *arg), void *arg)
{
	struct program *by = host_self(), *p;

	if (thread >= host_n_threads(by->host) || find(node_of(by), thread))
		return false;
	p = find_place(by->host, by->node);
	if (!p)
		return false;
	set_up(by->host, p, thread, run, arg);
	post_spawned(p, by);
	return true;
}

struct host *program_host(void)
{
	return self()->host;
}

struct nic *program_nic(void)
{
	return host_self()->host->nic;
}

site_id program_node(void)
{
	return self()->node;
}

const struct host_world *program_world(void)
{
	const struct host *h = self()->host;

	return h->worlds ? h->worlds[self()->node] : NULL;
}

/* A program's thread does not change, ahead or not. */
uint32_t program_thread(void)
{
	BUG_IF(self()->is_card);
	return current->thread;
}

uint32_t program_process(void)
{
	BUG_IF(self()->is_card);
	return current->process;
}

uint64_t program_base(void)
{
	const struct program *p = self();

	BUG_IF(p->is_card);
	return p->process ? p->process * host_memory_each(p->host) : 0;
}

bool program_has(uint64_t at, uint64_t bytes)
{
	uint64_t each = host_memory_each(program_host());

	return at <= each && bytes <= each - at;
}

/* One that is ahead does not know whether it will lose its CPU until then.  By
 * itself, so that others do not pay for it. */
static __attribute__((noinline)) sim_time now_apart(struct program *p)
{
	if (!p->is_card)
		program_settle(p);
	return p->now;
}

sim_time program_now(void)
{
	struct program *p = self();

	return __builtin_expect(p->is_apart, 0) ? now_apart(p) : p->now;
}

struct sim_worker *program_worker(void)
{
	return self()->worker;
}

bool program_is_system(void)
{
	return host_self()->is_system;
}

void program_become_system(void)
{
	host_self()->is_system = true;
}

bool program_set_system(bool is_system)
{
	struct program *p = host_self();
	bool was = p->is_system;

	p->is_system = is_system;
	return was;
}

void program_become_service(void)
{
	struct program *p = host_self();

	if (!p->is_service)
		atomic_fetch_sub_explicit(
			&p->host->n_running, 1, memory_order_relaxed);
	p->is_service = true;
}

void *program_keep(const struct program_library *l)
{
	struct node *n = node_of(host_self());
	uint32_t process = program_process();
	struct kept *k;

	for (k = n->kept; k; k = k->next)
		if (k->of == l && k->process == process)
			return k->bytes;
	k = mem_alloc(1, sizeof(*k) + l->size);
	*k = (struct kept){ n->kept, l, process };
	n->kept = k;
	return k->bytes;
}

uint64_t program_draw(void)
{
	return node_of(host_self())->n_draws++;
}

static void wait_until(struct program *p, sim_time t)
{
	BUG_IF(p->is_card);
	if (t <= p->now)
		return;
	if (t > FOREVER)
		t = FOREVER;
	program_catch_up(p);
	program_post(p, p->worker, t, 0, EVENT_RESUME);
	program_suspend(p, STATE_TIMED);
}

void program_wait(sim_time t)
{
	wait_until(self(), t);
}

void program_charge(sim_time dt)
{
	struct program *p = self();

	wait_until(p, dt < FOREVER ? p->now + dt : FOREVER);
}

static bool may_be_ahead(const struct program *p)
{
	const struct host *h = p->host;

	return !p->is_exact && !p->watch.on_write &&
	       !node_of(p)->programs->next && !h->dies_at && !h->log;
}

void program_pass(sim_time t)
{
	struct program *p = host_self();

	if (t <= p->now)
		return;
	if (!may_be_ahead(p)) {
		program_wait(t);
		return;
	}
	p->now = t;
	p->is_ahead = p->is_apart = true;
}

void program_join(void)
{
	if (self()->is_ahead)
		program_settle(current);
}

void program_be_exact(void)
{
	host_self()->is_exact = true;
}

int program_private_begin(void)
{
	struct program *p = self();

	p->is_apart = p->is_card;
	return 1;
}

void program_private_end(const int *is_open)
{
	struct program *p = self();

	(void)is_open;
	p->is_apart = p->is_card || p->is_ahead;
}

bool program_read(uint64_t at, void *to, size_t n)
{
	return memory_read(
		&node_of(host_self())->hot.memory, MEMORY_CORE, at, to, n);
}

bool program_write(uint64_t at, const void *from, size_t n)
{
	struct program *p = host_self();

	return host_write_by(
		p->host, p->worker, p->node, p->now, MEMORY_CORE, at, from, n);
}

static enum memory_by mover(uint64_t at)
{
	return memory_device_of(at) ? MEMORY_DEVICE : MEMORY_CORE;
}

static __attribute__((noinline)) void move_blocks(
	struct program *p, uint64_t to, uint64_t from, uint64_t bytes)
{
	uint8_t block[MOVE_BLOCK];
	uint64_t n, at;
	/* a place that overlaps, behind: from its end on */
	bool is_down = to > from && to - from < bytes;

	for (uint64_t i = 0; i < bytes; i += n) {
		n = bytes - i < MOVE_BLOCK ? bytes - i : MOVE_BLOCK;
		at = is_down ? bytes - i - n : i;
		memory_read(&node_of(p)->hot.memory, mover(from), from + at,
			block, n);
		host_write_by(p->host, p->worker, p->node, p->now, mover(to),
			to + at, block, n);
	}
}

/* Bytes of one page go there at once, unless both places overlap. */
void program_move(uint64_t to, uint64_t from, uint64_t bytes)
{
	struct program *p = host_self();
	const uint8_t *block =
		memory_at_first(&node_of(p)->hot.memory, from, bytes);

	if (!block || mover(to) != MEMORY_CORE ||
		(to < from + bytes && from < to + bytes))
		move_blocks(p, to, from, bytes);
	else
		host_write_by(p->host, p->worker, p->node, p->now, MEMORY_CORE,
			to, block, bytes);
}

void program_reserve(uint64_t bytes)
{
	memory_reserve(&node_of(host_self())->hot.memory, bytes);
}

uint8_t *program_place(uint64_t at, size_t n)
{
	return memory_place(&node_of(host_self())->hot.memory, at, n);
}

void program_forget(uint64_t at)
{
	memory_forget(&node_of(host_self())->hot.memory, at);
}

uint8_t *program_map(uint64_t at, uint64_t n)
{
	program_be_exact();
	return memory_map(&node_of(host_self())->hot.memory, at, n);
}

bool program_atomic(
	enum atomic_op op, uint64_t at, uint64_t operand, uint64_t *old)
{
	struct program *p = host_self();

	return host_atomic_by(p->host, p->worker, p->node, p->now, MEMORY_CORE,
		op, at, operand, old);
}

void program_tell(site_id node, uint32_t thread, sim_time delay)
{
	struct program *p = host_self();

	sim_post(p->worker, node, p->now + delay, SIM_KEY(PHASE_PROGRAM, 0),
		EVENT_TOLD, thread);
}

struct telling {
	const struct program *program;
	uint64_t n;
};

static bool was_told(void *arg, uint64_t *seen)
{
	const struct telling *t = arg;

	*seen = t->program->told;
	return t->program->told >= t->n;
}

void program_await(uint64_t n)
{
	static const struct poll_loop at_once = { .period = 1 };
	struct telling t = { host_self(), n };
	uint64_t seen;

	program_poll_until(was_told, &t, at_once, &seen);
}
