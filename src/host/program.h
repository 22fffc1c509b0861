/*
 * Programs and the memories they run in, for all nodes of a machine.
 *
 * A program runs until it waits.  That is all that the simulator knows of
 * it: it is started on a hardware thread of a node, it runs while no time
 * passes, and it gives control back by waiting: for a time, or until a word
 * of its node's memory passes a test, or until something else does.  What
 * stands behind it is a function on a fiber; another kind of runner needs no
 * other interface.
 *
 * Polling costs nothing while nothing changes.  A program that polls looks
 * now and then every period; only a change that makes the test pass leads to
 * an event, at the first look that sees it, and the program goes on when the
 * load of that look has come back.  So everybody who writes into a node's
 * memory does it by a function of this header, and whoever changes something
 * else that programs poll calls host_poke().
 *
 * C globals are shared by all nodes of the process and their threads: a
 * program keeps what it knows on its stack, in its argument, or in its
 * node's memory.
 *
 * All that happens at a node happens on the worker that owns its site.
 */
#ifndef HOST_PROGRAM_H
#define HOST_PROGRAM_H

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
};

struct host *host_new(const struct host_setup *s, struct err *e);
void host_free(struct host *h);

/* What the machine's programs talk to; set by the network interface. */
void host_set_nic(struct host *h, struct nic *nic);
struct nic *host_nic(const struct host *h);

/* Bytes of memory that a node has. */
uint64_t host_memory(const struct host *h);
const struct host_params *host_params(const struct host *h);

/* The nodes' caches; owned by the host. */
struct l2 *host_l2(const struct host *h);

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

/* Says of the first of them who it is and what it waits for. */
void host_describe_waiting(const struct host *h, char *text, size_t size);

/*
 * Bytes that it holds now, with memories and caches, stacks left out; only
 * while nothing runs.
 */
uint64_t host_held(const struct host *h);

/* As in host/memory.h, of a node; also from a program of that node. */
int host_add_synthetic(struct host *h, site_id node, uint64_t at,
	uint64_t bytes, memory_fill fill, void *arg);
const struct memory_region *host_synthetic(
	const struct host *h, site_id node, int i);

/* --- for engines: from the node's own visit, before its programs run --- */

/* An event of PHASE_PROGRAM. */
void host_event(struct host *h, struct sim_worker *w, site_id node, sim_time t,
	const struct sim_event *e);

/* As in host/memory.h: false, and nothing done, outside the memory. */
bool host_read(
	const struct host *h, site_id node, uint64_t at, void *to, size_t n);
bool host_write(struct host *h, struct sim_worker *w, site_id node, sim_time t,
	uint64_t at, const void *from, size_t n);

/*
 * An atomic operation on a word; false where that word, or the bound that
 * the operation needs, does not exist.  *old is its answer; old may be NULL.
 * Who polls the word is told where it changed.
 */
bool host_atomic(struct host *h, struct sim_worker *w, site_id node, sim_time t,
	enum atomic_op op, uint64_t at, uint64_t operand, uint64_t *old);

/* Adds to a word, in one step. */
static inline bool host_add(struct host *h, struct sim_worker *w, site_id node,
	sim_time t, uint64_t at, uint64_t addend)
{
	return host_atomic(h, w, node, t, ATOMIC_STORE_ADD, at, addend, NULL);
}

/*
 * Something changed at t, which is now, that a test of program_poll_until()
 * may look at.  A few instructions where nobody does.
 */
void host_poke(struct host *h, struct sim_worker *w, site_id node, sim_time t);

/* --- for programs; what is called without one running is a BUG --- */

struct host *program_host(void);
site_id program_node(void);
uint32_t program_thread(void);
sim_time program_now(void);
/* Whether it is a thread of the network interface: see host/card.h. */
bool program_is_card(void);
/* For calls that post events on the program's behalf. */
struct sim_worker *program_worker(void);

/*
 * Starts run(arg) now on another thread of the same node; it first runs when
 * this program waits, after those of this instant that are to run before it.
 * False where there is no such thread, where one runs there (or is about
 * to), or where the node has no room for one more.  arg is borrowed.
 */
bool program_spawn(uint32_t thread, void (*run)(void *arg), void *arg);

/*
 * Whether it is system software: it is once it has said so, and what it
 * spawns is what it is then.  What that allows is the interface's business.
 */
bool program_is_system(void);
void program_become_system(void);

/* A number that no other call on this node has got: the count of a random
 * draw. */
uint64_t program_draw(void);

/* Computes for dt, or waits until t; a time that has passed is no wait. */
void program_charge(sim_time dt);
void program_wait(sim_time t);

/* Its node's memory; takes no time. */
bool program_read(uint64_t at, void *to, size_t n);
bool program_write(uint64_t at, const void *from, size_t n);

/*
 * Where its node's memory stores bytes, to make or look at many of them in
 * place.  NULL where they are not in one page or are synthetic; who polls
 * them is not told.
 */
uint8_t *program_place(uint64_t at, size_t n);
/* So many bytes of it will be written. */
void program_reserve(uint64_t bytes);
bool program_atomic(
	enum atomic_op op, uint64_t at, uint64_t operand, uint64_t *old);

enum word_test { WORD_IS, WORD_IS_NOT, WORD_AT_LEAST /* unsigned */ };

/* How a poll loop goes: it looks every period, a look takes so long. */
struct poll_loop {
	sim_time period; /* 1 ps or more */
	sim_time load;
	sim_time phase; /* from the call to the first look */
};

/*
 * Until the word at an address passes; *word is what was seen.  False, at
 * once, where there is no word at that address.
 */
bool program_poll(uint64_t at, enum word_test test, uint64_t value,
	struct poll_loop loop, uint64_t *word);

/*
 * The same for what is no word of memory, a device's register say: until
 * test(arg, seen) says yes; *seen is what it saw then.  It is called at
 * looks and when host_poke() is, not as the program: it must change nothing
 * else, and call nothing that is for programs.
 */
void program_poll_until(bool (*test)(void *arg, uint64_t *seen), void *arg,
	struct poll_loop loop, uint64_t *seen);

/*
 * For a library that waits for one of many words: until the program ends,
 * on_write(arg, ...) is called when bytes of [at, at + bytes) are written or
 * changed, by whomever, and tests of program_poll_until() are looked at after
 * it.  It is called as those tests are: it may note what it saw, and read
 * memory by host_read().  A node has one watch; NULL ends it.
 */
void program_watch(uint64_t at, uint64_t bytes,
	void (*on_write)(void *arg, uint64_t at, size_t n), void *arg);

#endif
