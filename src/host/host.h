/*
 * The nodes of a machine: their memories, and the programs that run on them.
 * This header is for set-up and engines; host/program.h has the calls of
 * programs.
 *
 * All writes to a node's memory go through functions of these two headers, so
 * that programs that poll a word notice the change.  Changes of anything else
 * that programs poll are announced by host_poke().
 *
 * Everything at a node runs on the worker that owns its site.
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include "host/atomic.h"
#include "host/memory.h"
#include "host/params.h"
#include "sim/sim.h"

enum {
	HOST_THREADS = 64, /* hardware threads of a node, or its processes if
			    * these are more: */
	HOST_PROCESSES = 128, /* of a node, at most */
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
	 * Additional programs of each node for program_spawn(), at most
	 * HOST_THREADS.  A program that ends makes room for another one.
	 * Unused ones cost only address space.
	 */
	uint32_t n_spawned;
	size_t stack_bytes; /* of each; 0: HOST_STACK */
	/*
	 * Processes of each node, at most HOST_PROCESSES; 0: one.  They share
	 * the node's hardware threads and memory equally.
	 */
	uint32_t n_processes;
	/* Arguments of programs, with NULL after the last; or NULL. */
	const char *const *arguments;
	/* The side of an interface that works with any; NULL: none.  Each
	 * node has n_sides; 0: as many as processors. */
	const struct side_ops *side;
	uint32_t n_sides;
	const void *side_params; /* copied */
	const struct parts *parts; /* of the machine, borrowed; or NULL */
};

struct host *host_new(const struct host_setup *s, struct err *e);
void host_free(struct host *h);

/* Starts to log the calls of processes; without it host_log() is NULL. */
void host_keep_log(struct host *h);
const struct host_log *host_log(const struct host *h);

/* The network interface that programs use; it sets itself. */
void host_set_nic(struct host *h, struct nic *nic);
struct nic *host_nic(const struct host *h);

/* Bytes of memory that a node has. */
uint64_t host_memory(const struct host *h);
const struct host_params *host_params(const struct host *h);

/*
 * Nodes whose programs form one job, if there are several jobs: messages number
 * the ranks within it.
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
uint32_t host_n_threads(const struct host *h);
/* Hardware threads of a process, and its memory in bytes, in whole pages.
 * Process 0 has the first of each, process 1 the next, and so on. */
uint32_t host_threads_each(const struct host *h);
uint64_t host_memory_each(const struct host *h);

/*
 * Processors of a node, each with a side of its own.  Process p belongs to
 * processor p modulo their number.
 */
uint32_t host_processors(const struct host *h);
static inline uint32_t host_processor_of(const struct host *h, uint32_t process)
{
	return process % host_processors(h);
}

/* With NULL after the last. */
const char *const *host_arguments(const struct host *h);

/* See host/side.h; NULL if the set-up names none. */
struct side *host_side(const struct host *h);
/* See parts/part.h; may be NULL. */
const struct parts *host_parts(const struct host *h);

/*
 * The processors' caches as a side, owned by the host and made by the first
 * call.  Only before programs run.
 */
struct side *host_cache(struct host *h);

/*
 * Starts run(arg) at time t; only before the simulation runs.  A thread of
 * a node has at most one program.  arg is borrowed.
 */
void program_start(struct host *h, site_id node, uint32_t thread, sim_time t,
	void (*run)(void *arg), void *arg);

/*
 * A node dies at t: its programs stop for good, even if the node returns.
 * Only before the simulation runs.
 */
void host_set_death(struct host *h, site_id node, sim_time t);
/* SIM_NEVER if it does not die. */
sim_time host_dies_at(const struct host *h, site_id node);
/*
 * No events are left: counts waiting programs on nodes that would die later as
 * dead.  Only while nothing runs.
 */
void host_bury(struct host *h);
/*
 * From the node's own visit: all programs of some processes (bits) end for
 * good, now, and are counted as dead.  Does not return to a program that is one
 * of them.
 */
void host_kill(struct host *h, site_id node, uint64_t processes);
/* Programs that have died; only while nothing runs. */
uint32_t host_n_dead(const struct host *h);

/* Programs that were started and have neither ended nor died; only while
 * nothing runs. */
uint32_t host_n_running(const struct host *h);

enum { HOST_WHAT = 360 };

/* A program that waits. */
struct host_waiting {
	site_id node;
	uint32_t process, thread;
	sim_time since;
	bool is_explained; /* by the program itself: see program_explain() */
	char what[HOST_WHAT]; /* "weft_msg_receive from 1, tag 7" */
};

/* Calls f for every waiting program, node by node, with an empty what; only
 * while nothing runs. */
void host_each_waiting(const struct host *h,
	void (*f)(void *arg, const struct host_waiting *w), void *arg);
/* Fills in what the program waits for. */
void host_describe(const struct host *h, struct host_waiting *w);
/* Names the first waiting program and what it waits for. */
void host_describe_waiting(const struct host *h, char *text, size_t size);

/*
 * Memory in use, bytes, including memories and caches of nodes but not stacks;
 * only while nothing runs.
 */
uint64_t host_held(const struct host *h);

/* --- for engines: from the node's own visit, before its programs run --- */

/* An engine of every node that belongs to no interface.  Its events of an
 * instant come by number, before programs. */
enum { HOST_ENGINE_EVENTS = 1024 };

struct host_engine {
	void (*on_event)(void *arg, struct sim_worker *w, site_id node,
		sim_time t, uint32_t number);
	void *arg;
};

/* Only before the simulation runs; at most one. */
void host_set_engine(struct host *h, const struct host_engine *x);
/* Posts an event of it: of the node that is visited; before anything runs. */
void host_post_engine(
	struct sim_worker *w, site_id node, sim_time t, uint32_t number);
void host_start_engine(
	struct host *h, site_id node, sim_time t, uint32_t number);

/* An event of PHASE_PROGRAM. */
void host_event(struct host *h, struct sim_worker *w, site_id node, sim_time t,
	const struct sim_event *e);

/* Whether an event of PHASE_PROGRAM, due at t, belongs to a poll that has
 * ended. */
bool host_is_stale(const struct host *h, sim_time t, const struct sim_event *e);

enum { HOST_POLLS_WORD, HOST_POLLS_TEST, HOST_POLLS };

/* The part of a node that engines use without a call. */
struct host_node {
	struct memory memory;
	struct program *polling[HOST_POLLS];
	/* Programs or the interface watch some of these bytes; 0, 0: none. */
	uint64_t watched_from, watched_to;
};

/* The first member of struct host; host_node() finds nodes by it. */
struct host_nodes {
	char *first;
	size_t step; /* to the next one */
};

static inline struct host_node *host_node(const struct host *h, site_id node)
{
	const struct host_nodes *n = (const void *)h;

	return (void *)(n->first + node * n->step);
}

/* A node's memory: to add ranges and regions, to ask, and to read. */
static inline struct memory *host_at(const struct host *h, site_id node)
{
	return &host_node(h, node)->memory;
}

/* Notifies programs that poll or watch that [at, at + n) was written. */
void host_notice(struct host *h, site_id node, struct sim_worker *w, sim_time t,
	uint64_t at, size_t n);

/* The same, if there are any. */
static inline void host_tell(struct host *h, struct sim_worker *w, site_id node,
	sim_time t, uint64_t at, size_t n)
{
	const struct host_node *to = host_node(h, node);

	if (to->polling[HOST_POLLS_WORD] ||
		(at < to->watched_to && at + n > to->watched_from))
		host_notice(h, node, w, t, at, n);
}

/* Access by a core, the interface or a device: false if it is refused. */
static inline bool host_write_by(struct host *h, struct sim_worker *w,
	site_id node, sim_time t, enum memory_by by, uint64_t at,
	const void *from, size_t n)
{
	struct host_node *to = host_node(h, node);

	if (!memory_write(&to->memory, by, at, from, n))
		return false;
	host_tell(h, w, node, t, at, n);
	return true;
}

/* Access by the interface. */
static inline bool host_read(
	const struct host *h, site_id node, uint64_t at, void *to, size_t n)
{
	return memory_read(host_at(h, node), MEMORY_NIC, at, to, n);
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
	struct memory *m = host_at(h, node);

	return at < m->high && memory_find_name(m, MEMORY_NIC, at, n, name);
}

static inline bool host_write_named(struct host *h, struct sim_worker *w,
	site_id node, sim_time t, uint64_t at, const struct memory_name *name,
	size_t n)
{
	struct host_node *to = host_node(h, node);

	if (!memory_write_named(&to->memory, MEMORY_NIC, at, name, n))
		return false;
	host_tell(h, w, node, t, at, n);
	return true;
}

/*
 * An atomic operation of the interface on a word; false if it may not read and
 * write that word or the bound that the operation needs.  *old is the previous
 * value; old may be NULL.  Programs that poll the word notice a change.
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

/*
 * The system takes the CPU of some threads (bits) from t, which is now, until
 * another time: programs that compute lose as much, and those that wait go on
 * after it at the earliest.
 */
void host_take(struct host *h, site_id node, uint64_t threads, sim_time t,
	sim_time until);

/* Wakes the programs whose condition now holds. */
void host_look(struct host *h, struct sim_worker *w, site_id node, sim_time t);

/*
 * Something has changed at t, which is now, that a test of
 * program_poll_until() may depend on.  Costs a few instructions if no program
 * polls.
 */
static inline void host_poke(
	struct host *h, struct sim_worker *w, site_id node, sim_time t)
{
	if (host_node(h, node)->polling[HOST_POLLS_TEST])
		host_look(h, w, node, t);
}

/* host_look() for tests of one process's programs alone. */
void host_look_of(struct host *h, struct sim_worker *w, site_id node,
	sim_time t, uint32_t process);
static inline void host_poke_of(struct host *h, struct sim_worker *w,
	site_id node, sim_time t, uint32_t process)
{
	if (host_node(h, node)->polling[HOST_POLLS_TEST])
		host_look_of(h, w, node, t, process);
}

/*
 * The same for a change of [at, at + n), and of other things that tests of a
 * single word (program_poll_done()) do not depend on.
 */
void host_look_at(struct host *h, struct sim_worker *w, site_id node,
	sim_time t, uint64_t at, size_t n);
static inline void host_poke_at(struct host *h, struct sim_worker *w,
	site_id node, sim_time t, uint64_t at, size_t n)
{
	if (host_node(h, node)->polling[HOST_POLLS_TEST])
		host_look_at(h, w, node, t, at, n);
}

#endif
