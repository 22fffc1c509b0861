#include "host/node.h"

#include <inttypes.h>
#include <stdio.h>

#include "sim/fiber.h"

/* --- life --- */

static size_t most_programs(const struct host *h)
{
	return h->most_started + (size_t)h->n_nodes * h->n_spawned;
}

static struct fiber_pool *new_fibers(const struct host *h, struct err *e)
{
	size_t n = most_programs(h);

	return fiber_pool_new(n ? n : 1, h->stack_bytes, e);
}

static uint32_t n_sides(const struct host *h, const struct host_setup *s)
{
	return s->n_sides ? s->n_sides : host_processors(h);
}

struct host *host_new(const struct host_setup *s, struct err *e)
{
	struct host *h = mem_alloc(1, sizeof(*h));

	BUG_IF(s->n_spawned > HOST_THREADS || s->n_processes > HOST_PROCESSES);
	h->sim = s->sim;
	h->n_nodes = s->n_nodes;
	h->most_started = s->n_programs;
	h->n_spawned = s->n_spawned;
	h->n_processes = s->n_processes ? s->n_processes : 1;
	while (1u << h->thread_bits < host_n_threads(h))
		h->thread_bits++;
	h->arguments = s->arguments;
	h->stack_bytes = s->stack_bytes ? s->stack_bytes : HOST_STACK;
	if (s->params)
		h->params = *s->params;
	else
		host_params_defaults(&h->params);
	if (host_params_check(&h->params, e) ||
		(s->side && !(h->side = side_new(s->side, s->side_params,
				      h->n_nodes, n_sides(h, s), e))) ||
		!(h->fibers = new_fibers(h, e))) {
		side_free(h->side);
		mem_free(h);
		return NULL;
	}
	h->parts = s->parts;
	card_init(h);
	h->programs = map_alloc((most_programs(h) + 1) * sizeof(*h->programs));
	h->nodes = map_alloc(h->n_nodes * sizeof(*h->nodes));
	if (h->sim)
		sim_fence(h->sim, h->nodes, sizeof(*h->nodes), 0, h->n_nodes);
	h->hot = (struct host_nodes){
		.first = (char *)&h->nodes->hot,
		.step = sizeof(*h->nodes),
	};
	for (site_id i = host_next(h, 0); i < h->n_nodes;
		i = host_next(h, i + 1))
		memory_init(&h->nodes[i].hot.memory, host_memory(h));
	return h;
}

static void free_kept(struct node *n)
{
	struct kept *k;

	while ((k = n->kept)) {
		n->kept = k->next;
		if (k->of->fini)
			k->of->fini(k->bytes);
		mem_free(k);
	}
}

static uint64_t held_by_libraries(const struct node *n)
{
	uint64_t sum = 0;

	for (const struct kept *k = n->kept; k; k = k->next)
		sum += sizeof(*k) + k->of->size +
		       (k->of->held ? k->of->held(k->bytes) : 0);
	return sum;
}

void host_keep_log(struct host *h)
{
	h->log = host_log_new(h->n_nodes, h->n_processes);
}

const struct host_log *host_log(const struct host *h)
{
	return h->log;
}

void host_free(struct host *h)
{
	if (!h)
		return;
	fiber_pool_free(h->fibers);
	card_fini(h);
	host_log_free(h->log);
	for (site_id i = host_next(h, 0); i < h->n_nodes;
		i = host_next(h, i + 1)) {
		free_kept(&h->nodes[i]);
		mem_free(h->nodes[i].watching_own);
		memory_fini(&h->nodes[i].hot.memory);
	}
	side_free(h->cache);
	side_free(h->side);
	mem_free(h->dies_at);
	map_free(h->nodes, h->n_nodes * sizeof(*h->nodes));
	map_free(h->programs, (most_programs(h) + 1) * sizeof(*h->programs));
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
	return (uint64_t)h->params.memory;
}

const struct host_params *host_params(const struct host *h)
{
	return &h->params;
}

const char *const *host_arguments(const struct host *h)
{
	static const char *const none[] = { NULL };

	return h->arguments ? h->arguments : none;
}

void host_set_worlds(struct host *h, const struct host_world *const *worlds)
{
	h->worlds = worlds;
}

uint32_t host_n_processes(const struct host *h)
{
	return h->n_processes;
}

uint32_t host_n_threads(const struct host *h)
{
	return h->n_processes > HOST_THREADS ? h->n_processes : HOST_THREADS;
}

uint32_t host_threads_each(const struct host *h)
{
	return host_n_threads(h) / h->n_processes;
}

uint64_t host_memory_each(const struct host *h)
{
	uint64_t each = host_memory(h) / h->n_processes;

	return h->n_processes > 1 ? each / MEMORY_PAGE * MEMORY_PAGE : each;
}

uint32_t host_processors(const struct host *h)
{
	return (uint32_t)h->params.processors;
}

struct side *host_side(const struct host *h)
{
	return h->side;
}

const struct parts *host_parts(const struct host *h)
{
	return h->parts;
}

struct side *host_cache(struct host *h)
{
	struct err e;

	if (!h->cache) /* its parameters were checked */
		h->cache = side_new(
			&side_l2_ops, &h->params.l2, h->n_nodes, 1, &e);
	return h->cache;
}

/* --- what is going on --- */

uint32_t host_n_running(const struct host *h)
{
	uint64_t n = atomic_load_explicit(&h->n_running, memory_order_relaxed);

	sim_sum(h->sim, &n, 1);
	return (uint32_t)n;
}

void host_set_death(struct host *h, site_id node, sim_time t)
{
	BUG_IF(node >= h->n_nodes);
	if (!h->dies_at) {
		h->dies_at = mem_alloc(h->n_nodes, sizeof(*h->dies_at));
		for (site_id i = 0; i < h->n_nodes; i++)
			h->dies_at[i] = SIM_NEVER;
	}
	h->dies_at[node] = t;
}

sim_time host_dies_at(const struct host *h, site_id node)
{
	return h->dies_at ? h->dies_at[node] : SIM_NEVER;
}

uint32_t host_n_dead(const struct host *h)
{
	uint64_t n = atomic_load_explicit(&h->n_dead, memory_order_relaxed);

	sim_sum(h->sim, &n, 1);
	return (uint32_t)n;
}

static struct host_waiting waiting_of(const struct program *p)
{
	return (struct host_waiting){
		.node = p->node,
		.process = p->thread / host_threads_each(p->host),
		.thread = p->thread,
		.since = p->waits_since ? p->waits_since : p->now,
		.is_explained = p->explain != NULL,
	};
}

static void describe(const struct program *p, struct host_waiting *w)
{
	uint64_t word = 0;

	if (p->explain) {
		p->explain(p->explain_arg, w->what, sizeof(w->what));
	} else if (p->call) {
		host_call_text(p->call, p->call_args, w->what, sizeof(w->what));
	} else if (p->state != STATE_POLLING) {
		snprintf(w->what, sizeof(w->what), "waiting for a time");
	} else if (p->test) {
		snprintf(w->what, sizeof(w->what), "polling a register");
	} else {
		memory_load(&node_of(p)->hot.memory, MEMORY_CORE, p->at, &word);
		snprintf(w->what, sizeof(w->what),
			"polling the word at 0x%" PRIx64 ", which is %" PRIu64,
			p->at, word);
	}
}

static bool is_running(const struct program *p)
{
	return p->state != STATE_ENDED && p->state != STATE_DEAD &&
	       !p->is_service;
}

/* The next thread of a node that has one running, from some thread on. */
static const struct program *next_running(const struct node *n, uint32_t from)
{
	const struct program *found = NULL;

	for (const struct program *p = n->programs; p; p = p->next)
		if (is_running(p) && p->thread >= from &&
			(!found || p->thread < found->thread))
			found = p;
	return found;
}

void host_each_waiting(const struct host *h,
	void (*f)(void *arg, const struct host_waiting *w), void *arg)
{
	const struct program *p;
	struct host_waiting w;

	for (site_id i = host_next(h, 0); i < h->n_nodes;
		i = host_next(h, i + 1)) {
		p = next_running(&h->nodes[i], 0);
		for (; p; p = next_running(&h->nodes[i], p->thread + 1u)) {
			w = waiting_of(p);
			f(arg, &w);
		}
	}
}

void host_describe(const struct host *h, struct host_waiting *w)
{
	describe(next_running(&h->nodes[w->node], w->thread), w);
}

void host_describe_waiting(const struct host *h, char *text, size_t size)
{
	const struct program *p = NULL;
	struct host_waiting w = { 0 };
	uint64_t first;

	for (site_id i = host_next(h, 0); i < h->n_nodes && !p;
		i = host_next(h, i + 1))
		p = next_running(&h->nodes[i], 0);
	if (p) {
		w = waiting_of(p);
		describe(p, &w);
	}
	first = p ? h->n_nodes - p->node : 0;
	if (h->sim)
		sim_max(h->sim, &first, 1);
	if (!first) {
		snprintf(text, size, "no program is waiting");
		return;
	}
	if (h->sim)
		sim_tell(h->sim, h->n_nodes - (site_id)first, &w, sizeof(w));
	snprintf(
		text, size, "node %u, thread %u: %s", w.node, w.thread, w.what);
}

uint64_t host_held(const struct host *h)
{
	uint64_t n = h->n_nodes * sizeof(*h->nodes) + side_memory(h->cache) +
		     side_memory(h->side);

	for (site_id i = host_next(h, 0); i < h->n_nodes;
		i = host_next(h, i + 1)) {
		n += memory_held(&h->nodes[i].hot.memory);
		n += card_held(&h->nodes[i]);
		n += held_by_libraries(&h->nodes[i]);
		if (h->nodes[i].watching_own)
			n += h->n_processes * sizeof(struct program *);
		for (const struct program *p = h->nodes[i].programs; p;
			p = p->next)
			n += sizeof(*p);
	}
	return n;
}

/* --- memory --- */

bool host_atomic_by(struct host *h, struct sim_worker *w, site_id node,
	sim_time t, enum memory_by by, enum atomic_op op, uint64_t at,
	uint64_t operand, uint64_t *old)
{
	struct host_node *to = host_node(h, node);
	uint8_t *stored = memory_stored(&to->memory, at, sizeof(operand));
	int64_t bound_at = atomic_bound_at(op);
	uint64_t word, bound = 0, changed, answer;

	if (stored && at % sizeof(word) == 0)
		memcpy(&word, stored, sizeof(word));
	else if (!memory_load(&to->memory, by, at, &word))
		return false;
	if (bound_at &&
		!memory_load(&to->memory, by, at + (uint64_t)bound_at, &bound))
		return false;
	changed = answer = word;
	if (op == ATOMIC_STORE_ADD) /* as counters do */
		changed += operand;
	else
		changed = atomic_apply(op, word, operand, bound, &answer);
	if (old)
		*old = answer;
	if (changed == word)
		return true;
	if (stored)
		memcpy(stored, &changed, sizeof(changed));
	else if (!memory_store(&to->memory, by, at, changed))
		return false;
	host_tell(h, w, node, t, at, sizeof(word));
	return true;
}
