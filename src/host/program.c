#define _GNU_SOURCE
#include "host/program.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "base/mem.h"
#include "sim/fiber.h"

enum state {
	STATE_STARTED,
	STATE_RUNNING,
	STATE_TIMED, /* waits for an event that is on its way */
	STATE_POLLING, /* waits for a write, or for the look that sees it */
	STATE_ENDED,
};

/* The aux field of an event of PHASE_PROGRAM. */
enum { EVENT_RESUME, EVENT_LOOK };

struct program {
	struct host *host;
	struct program *next; /* on its node */
	site_id node;
	uint32_t fiber;
	uint8_t thread;
	uint8_t state;
	bool is_look_posted;
	void (*run)(void *arg);
	void *arg;

	/* while it runs */
	struct sim_worker *worker;
	sim_time now;

	/* while it polls */
	uint64_t at, value, seen;
	enum word_test test;
	struct poll_loop loop;
	sim_time first; /* look */
};

struct node {
	struct memory memory;
	struct program *programs;
	uint32_t n_polling;
};

struct host {
	struct node *nodes;
	struct program *programs;
	struct fiber_pool *fibers;
	struct sim *sim;
	struct nic *nic;
	uint64_t memory;
	site_id n_nodes;
	uint32_t n_programs, most_programs;
};

/* The program that runs on this thread.  A fiber never changes its thread. */
static _Thread_local struct program *current;

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

static void enter_thread(void)
{
	pthread_once(&key_once, make_key);
	fiber_thread_init(&fiber_thread);
	BUG_IF(pthread_setspecific(key, &fiber_thread));
	is_entered = true;
}

/* --- the runner: all that is known of fibers --- */

static void run_program(void *arg)
{
	struct program *p = arg;

	p->run(p->arg);
}

/* Runs a program until it waits or ends. */
static void resume(struct program *p, struct sim_worker *w, sim_time t)
{
	enum fiber_state state;

	if (!is_entered)
		enter_thread();
	p->worker = w;
	p->now = t;
	p->state = STATE_RUNNING;
	current = p;
	state = fiber_resume(p->host->fibers, p->fiber);
	current = NULL;
	if (state == FIBER_ENDED)
		p->state = STATE_ENDED;
}

/* Gives control back; its state says what it waits for. */
static void suspend(struct program *p, enum state state)
{
	p->state = (uint8_t)state;
	fiber_suspend(p->host->fibers, p->fiber);
}

/* --- life --- */

struct host *host_new(const struct host_setup *s, struct err *e)
{
	struct host *h = mem_alloc(1, sizeof(*h));
	site_id i;

	h->fibers = fiber_pool_new(
		s->n_programs, s->stack_bytes ? s->stack_bytes : HOST_STACK, e);
	if (!h->fibers) {
		mem_free(h);
		return NULL;
	}
	h->sim = s->sim;
	h->memory = s->memory;
	h->n_nodes = s->n_nodes;
	h->most_programs = s->n_programs;
	h->programs = map_alloc(s->n_programs * sizeof(*h->programs));
	h->nodes = map_alloc(s->n_nodes * sizeof(*h->nodes));
	for (i = 0; i < s->n_nodes; i++)
		memory_init(&h->nodes[i].memory, s->memory);
	return h;
}

void host_free(struct host *h)
{
	site_id i;

	if (!h)
		return;
	fiber_pool_free(h->fibers);
	for (i = 0; i < h->n_nodes; i++)
		memory_fini(&h->nodes[i].memory);
	map_free(h->nodes, h->n_nodes * sizeof(*h->nodes));
	map_free(h->programs, h->most_programs * sizeof(*h->programs));
	mem_free(h);
}

void host_set_nic(struct host *h, struct nic *nic)
{
	h->nic = nic;
}

struct nic *host_nic(const struct host *h)
{
	return h->nic;
}

uint64_t host_memory(const struct host *h)
{
	return h->memory;
}

static uint16_t key_of(const struct program *p)
{
	return SIM_KEY(PHASE_PROGRAM, p->thread);
}

static struct program *find(const struct node *n, uint32_t thread)
{
	struct program *p = n->programs;

	while (p && p->thread != thread)
		p = p->next;
	return p;
}

void program_start(struct host *h, site_id node, uint32_t thread, sim_time t,
	void (*run)(void *arg), void *arg)
{
	struct program *p = &h->programs[h->n_programs];

	BUG_IF(h->n_programs == h->most_programs);
	BUG_IF(node >= h->n_nodes || thread >= HOST_THREADS);
	BUG_IF(find(&h->nodes[node], thread));
	*p = (struct program){
		.host = h,
		.next = h->nodes[node].programs,
		.node = node,
		.fiber = h->n_programs++,
		.thread = (uint8_t)thread,
		.run = run,
		.arg = arg,
	};
	h->nodes[node].programs = p;
	fiber_start(h->fibers, p->fiber, run_program, p);
	sim_post(sim_owner(h->sim, node), node, t, key_of(p), EVENT_RESUME, 0);
}

uint32_t host_n_running(const struct host *h)
{
	uint32_t i, n = 0;

	for (i = 0; i < h->n_programs; i++)
		n += h->programs[i].state != STATE_ENDED;
	return n;
}

void host_describe_waiting(const struct host *h, char *text, size_t size)
{
	const struct program *p = h->programs, *end = p + h->n_programs;
	uint64_t word = 0;

	while (p < end && p->state == STATE_ENDED)
		p++;
	if (p == end)
		snprintf(text, size, "no program waits");
	else if (p->state != STATE_POLLING)
		snprintf(text, size, "node %u, thread %u: waits for a time",
			p->node, p->thread);
	else {
		memory_load(&h->nodes[p->node].memory, p->at, &word);
		snprintf(text, size,
			"node %u, thread %u: polls the word at 0x%" PRIx64
			", which is %" PRIu64,
			p->node, p->thread, p->at, word);
	}
}

uint64_t host_held(const struct host *h)
{
	uint64_t n = h->n_nodes * sizeof(*h->nodes) +
		     h->n_programs * sizeof(*h->programs);
	site_id i;

	for (i = 0; i < h->n_nodes; i++)
		n += memory_held(&h->nodes[i].memory);
	return n;
}

/* --- polling --- */

static bool passes(const struct program *p, uint64_t word)
{
	switch (p->test) {
	case WORD_IS:
		return word == p->value;
	case WORD_IS_NOT:
		return word != p->value;
	default:
		return word >= p->value;
	}
}

static struct node *node_of(const struct program *p)
{
	return &p->host->nodes[p->node];
}

/* A look's moment has come. */
static void look(struct program *p, struct sim_worker *w, sim_time t)
{
	struct node *n = node_of(p);

	p->is_look_posted = false;
	memory_load(&n->memory, p->at, &p->seen);
	if (!passes(p, p->seen))
		return;
	n->n_polling--;
	if (!p->loop.load) {
		resume(p, w, t);
		return;
	}
	p->state = STATE_TIMED;
	sim_post_self(w, p->node, t + p->loop.load, key_of(p), EVENT_RESUME, 0);
}

/*
 * The first look that sees what is written now.  The looks of this instant
 * are over for the programs up to the one that writes.
 */
static sim_time next_look(const struct program *p, sim_time t)
{
	sim_time since = t - p->first, period = p->loop.period;
	bool is_over = current && current->thread >= p->thread;

	if (is_over)
		return p->first + (since / period + 1) * period;
	return p->first + (since + period - 1) / period * period;
}

static void notice(struct program *p, struct sim_worker *w, sim_time t,
	uint64_t at, size_t n)
{
	uint64_t word;

	if (p->state != STATE_POLLING || p->is_look_posted ||
		p->at + sizeof(word) <= at || at + n <= p->at)
		return;
	memory_load(&node_of(p)->memory, p->at, &word);
	if (!passes(p, word))
		return;
	p->is_look_posted = true;
	sim_post_self(w, p->node, next_look(p, t), key_of(p), EVENT_LOOK, 0);
}

static void notice_all(struct node *node, struct sim_worker *w, sim_time t,
	uint64_t at, size_t n)
{
	struct program *p;

	if (!node->n_polling)
		return;
	for (p = node->programs; p; p = p->next)
		notice(p, w, t, at, n);
}

/* --- for engines --- */

void host_event(struct host *h, struct sim_worker *w, site_id node, sim_time t,
	const struct sim_event *e)
{
	struct program *p = find(&h->nodes[node], sim_number(e));

	BUG_IF(!p);
	if (sim_aux(e) == EVENT_LOOK)
		look(p, w, t);
	else
		resume(p, w, t);
}

bool host_read(
	const struct host *h, site_id node, uint64_t at, void *to, size_t n)
{
	return memory_read(&h->nodes[node].memory, at, to, n);
}

bool host_write(struct host *h, struct sim_worker *w, site_id node, sim_time t,
	uint64_t at, const void *from, size_t n)
{
	if (!memory_write(&h->nodes[node].memory, at, from, n))
		return false;
	notice_all(&h->nodes[node], w, t, at, n);
	return true;
}

bool host_add(struct host *h, struct sim_worker *w, site_id node, sim_time t,
	uint64_t at, uint64_t addend)
{
	struct memory *m = &h->nodes[node].memory;
	uint64_t word;

	if (!memory_load(m, at, &word))
		return false;
	memory_store(m, at, word + addend);
	notice_all(&h->nodes[node], w, t, at, sizeof(word));
	return true;
}

/* --- for programs --- */

static struct program *self(void)
{
	BUG_IF(!current);
	return current;
}

struct host *program_host(void)
{
	return self()->host;
}

site_id program_node(void)
{
	return self()->node;
}

uint32_t program_thread(void)
{
	return self()->thread;
}

sim_time program_now(void)
{
	return self()->now;
}

struct sim_worker *program_worker(void)
{
	return self()->worker;
}

void program_wait(sim_time t)
{
	struct program *p = self();

	if (t <= p->now)
		return;
	sim_post_self(p->worker, p->node, t, key_of(p), EVENT_RESUME, 0);
	suspend(p, STATE_TIMED);
}

void program_charge(sim_time dt)
{
	program_wait(self()->now + dt);
}

bool program_read(uint64_t at, void *to, size_t n)
{
	return memory_read(&node_of(self())->memory, at, to, n);
}

bool program_write(uint64_t at, const void *from, size_t n)
{
	struct program *p = self();

	return host_write(p->host, p->worker, p->node, p->now, at, from, n);
}

bool program_poll(uint64_t at, enum word_test test, uint64_t value,
	struct poll_loop loop, uint64_t *word)
{
	struct program *p = self();

	BUG_IF(loop.period < 1 || loop.load < 0);
	if (!memory_load(&node_of(p)->memory, at, &p->seen))
		return false;
	p->at = at;
	p->test = test;
	p->value = value;
	p->loop = loop;
	p->first = p->now;
	if (passes(p, p->seen)) {
		program_charge(loop.load);
	} else {
		node_of(p)->n_polling++;
		suspend(p, STATE_POLLING);
	}
	*word = p->seen;
	return true;
}
