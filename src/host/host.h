/*
 * The nodes of a machine: their memories, and the programs that run on them.
 * This is what set-up and engines know of them; host/program.h is what
 * programs may call.
 *
 * Everybody who writes into a node's memory does it by a function of this
 * header or of that one, so that programs that poll a word learn of it; what
 * else programs poll is announced by host_poke().
 *
 * All that happens at a node happens on the worker that owns its site.
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include "host/atomic.h"
#include "host/memory.h"
#include "host/params.h"
#include "sim/sim.h"

enum {
	HOST_THREADS = 64, /* hardware threads of a node */
	HOST_STACK = 64 << 10, /* of a program, by default */
};

struct host;
struct nic;
struct parts;
struct side;
struct side_ops;

struct host_setup {
	struct sim *sim; /* node i is its site i */
	site_id n_nodes;
	const struct host_params *params; /* copied; NULL: the defaults */
	uint32_t n_programs; /* the most that program_start() will start */
	/*
	 * What each node has besides for programs that are spawned, at most
	 * HOST_THREADS: those that end make room, too.  What is never used
	 * costs address space only.
	 */
	uint32_t n_spawned;
	size_t stack_bytes; /* of each; 0: HOST_STACK */
	/*
	 * Processes of each node, to HOST_THREADS; 0: one.  Each has as many
	 * hardware threads and as much of the node's memory as the others.
	 */
	uint32_t n_processes;
	/* What programs were called with, NULL behind the last; or NULL. */
	const char *const *arguments;
	/* What an interface that takes any side stands at; NULL: nothing. */
	const struct side_ops *side;
	const void *side_params; /* copied */
	const struct parts *parts; /* of the machine, borrowed; or NULL */
};

struct host *host_new(const struct host_setup *s, struct err *e);
void host_free(struct host *h);

/* From now on what processes do is kept; NULL where it is not. */
void host_keep_log(struct host *h);
const struct host_log *host_log(const struct host *h);

/* What the machine's programs talk to; set by the network interface. */
void host_set_nic(struct host *h, struct nic *nic);
struct nic *host_nic(const struct host *h);

/* Bytes of memory that a node has. */
uint64_t host_memory(const struct host *h);
const struct host_params *host_params(const struct host *h);

/*
 * Nodes whose programs belong together, where not all do: messages count their
 * ranks among them.
 */
struct host_world {
	uint32_t n; /* nodes */
	site_id *node; /* [place] */
	uint32_t *place; /* [node]; UINT32_MAX: not one of them */
	sim_time begin; /* of its programs */
};

/* [node]; borrowed.  Only before the simulation runs. */
void host_set_worlds(struct host *h, const struct host_world *const *worlds);

uint32_t host_n_processes(const struct host *h);
/* Hardware threads of a process; its memory, bytes in whole pages.  The first
 * ones are those of process 0, and so on. */
uint32_t host_threads_each(const struct host *h);
uint64_t host_memory_each(const struct host *h);

/* NULL behind the last. */
const char *const *host_arguments(const struct host *h);

/* See host/side.h; NULL where the set-up names none. */
struct side *host_side(const struct host *h);
/* See parts/part.h; may be NULL. */
const struct parts *host_parts(const struct host *h);

/*
 * The processors' caches as a side, owned by the host: made when an interface
 * on their chip first asks.  Not once programs run.
 */
struct side *host_cache(struct host *h);

/*
 * Starts run(arg) at time t; only before the simulation runs.  A thread of
 * a node has one program at most.  arg is borrowed.
 */
void program_start(struct host *h, site_id node, uint32_t thread, sim_time t,
	void (*run)(void *arg), void *arg);

/*
 * A node dies at t: from then on none of its programs does anything, and none
 * comes back with it.  Only before the simulation runs.
 */
void host_set_death(struct host *h, site_id node, sim_time t);
/* SIM_NEVER: it does not. */
sim_time host_dies_at(const struct host *h, site_id node);
/*
 * Nothing is left to happen: programs that wait on nodes which die do so
 * until then.  Only while nothing runs.
 */
void host_bury(struct host *h);
/* Programs that have died; only while nothing runs. */
uint32_t host_n_dead(const struct host *h);

/* Those that were started and have neither ended nor died; only while nothing
 * runs. */
uint32_t host_n_running(const struct host *h);

enum { HOST_WHAT = 360 };

/* One of them. */
struct host_waiting {
	site_id node;
	uint32_t process, thread;
	sim_time since;
	bool is_explained; /* by the program itself: see program_explain() */
	char what[HOST_WHAT]; /* "weft_msg_receive from 1, tag 7" */
};

/* All of them, node by node, without what they wait for; only while nothing
 * runs. */
void host_each_waiting(const struct host *h,
	void (*f)(void *arg, const struct host_waiting *w), void *arg);
/* Fills in what this one waits for. */
void host_describe(const struct host *h, struct host_waiting *w);
/* Says of the first of them who it is and what it waits for. */
void host_describe_waiting(const struct host *h, char *text, size_t size);

/*
 * Bytes that it holds now, with memories and caches, stacks left out; only
 * while nothing runs.
 */
uint64_t host_held(const struct host *h);

/* As in host/memory.h, of a node; also from a program of that node. */
bool host_add_range(struct host *h, site_id node, const struct memory_range *r);
int host_add_synthetic(struct host *h, site_id node, uint64_t at,
	uint64_t bytes, memory_naming name, void *arg);
const struct memory_region *host_synthetic(
	const struct host *h, site_id node, int i);
int host_add_foreign(struct host *h, site_id node, uint64_t at, uint64_t bytes,
	const struct memory_foreign *f);
void host_drop_foreign(struct host *h, site_id node, int i);
enum memory_answer host_ask(const struct host *h, site_id node, uint32_t right,
	uint64_t at, uint64_t n);

/* --- for engines: from the node's own visit, before its programs run --- */

/* An event of PHASE_PROGRAM. */
void host_event(struct host *h, struct sim_worker *w, site_id node, sim_time t,
	const struct sim_event *e);

/* Whether an event of PHASE_PROGRAM, due at t, is of a poll that is over. */
bool host_is_stale(const struct host *h, sim_time t, const struct sim_event *e);

enum { HOST_POLLS_WORD, HOST_POLLS_TEST, HOST_POLLS };

/* What engines reach of a node without a call. */
struct host_node {
	struct memory memory;
	struct program *polling[HOST_POLLS];
	bool is_watched; /* by a program, or by the interface */
};

/* What a struct host begins with, so that they are found. */
struct host_nodes {
	char *first;
	size_t step; /* to the next one */
};

static inline struct host_node *host_node(const struct host *h, site_id node)
{
	const struct host_nodes *n = (const void *)h;

	return (void *)(n->first + node * n->step);
}

/* Tells who polls or watches that [at, at + n) was written. */
void host_notice(struct host *h, site_id node, struct sim_worker *w, sim_time t,
	uint64_t at, size_t n);

static inline bool host_write_by(struct host *h, struct sim_worker *w,
	site_id node, sim_time t, enum memory_by by, uint64_t at,
	const void *from, size_t n)
{
	struct host_node *to = host_node(h, node);

	if (!memory_write(&to->memory, by, at, from, n))
		return false;
	if (to->polling[HOST_POLLS_WORD] || to->is_watched)
		host_notice(h, node, w, t, at, n);
	return true;
}

/* By the interface, as in host/memory.h: false where it is refused. */
static inline bool host_read(
	const struct host *h, site_id node, uint64_t at, void *to, size_t n)
{
	return memory_read(&host_node(h, node)->memory, MEMORY_NIC, at, to, n);
}

static inline bool host_write(struct host *h, struct sim_worker *w,
	site_id node, sim_time t, uint64_t at, const void *from, size_t n)
{
	return host_write_by(h, w, node, t, MEMORY_NIC, at, from, n);
}

/* The same without the bytes of synthetic memory: memory_find_name(). */
static inline bool host_find_name(const struct host *h, site_id node,
	uint64_t at, size_t n, struct memory_name *name)
{
	struct memory *m = &host_node(h, node)->memory;

	return at < m->high && memory_find_name(m, MEMORY_NIC, at, n, name);
}

static inline bool host_write_named(struct host *h, struct sim_worker *w,
	site_id node, sim_time t, uint64_t at, const struct memory_name *name,
	size_t n)
{
	struct host_node *to = host_node(h, node);

	if (!memory_write_named(&to->memory, MEMORY_NIC, at, name, n))
		return false;
	if (to->polling[HOST_POLLS_WORD] || to->is_watched)
		host_notice(h, node, w, t, at, n);
	return true;
}

/* By a device, a GPU say. */
bool host_device_read(
	const struct host *h, site_id node, uint64_t at, void *to, size_t n);
bool host_device_write(struct host *h, struct sim_worker *w, site_id node,
	sim_time t, uint64_t at, const void *from, size_t n);

/*
 * An atomic operation of the interface on a word; false where that word, or
 * the bound that the operation needs, is not one that it may read and write.
 * *old is its answer; old may be NULL. Who polls the word is told where it
 * changed.
 */
bool host_atomic_by(struct host *h, struct sim_worker *w, site_id node,
	sim_time t, enum memory_by by, enum atomic_op op, uint64_t at,
	uint64_t operand, uint64_t *old);

static inline bool host_atomic(struct host *h, struct sim_worker *w,
	site_id node, sim_time t, enum atomic_op op, uint64_t at,
	uint64_t operand, uint64_t *old)
{
	return host_atomic_by(h, w, node, t, MEMORY_NIC, op, at, operand, old);
}

/* Adds to a word, in one step. */
static inline bool host_add(struct host *h, struct sim_worker *w, site_id node,
	sim_time t, uint64_t at, uint64_t addend)
{
	return host_atomic(h, w, node, t, ATOMIC_STORE_ADD, at, addend, NULL);
}

/* They look whether that is so. */
void host_look(struct host *h, struct sim_worker *w, site_id node, sim_time t);

/*
 * Something changed at t, which is now, that a test of program_poll_until()
 * may look at.  A few instructions where nobody does.
 */
static inline void host_poke(
	struct host *h, struct sim_worker *w, site_id node, sim_time t)
{
	if (host_node(h, node)->polling[HOST_POLLS_TEST])
		host_look(h, w, node, t);
}

#endif
