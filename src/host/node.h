/* What the files of host/ share of hosts, nodes and programs. */
#ifndef HOST_NODE_H
#define HOST_NODE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/mem.h"
#include "host/card.h"
#include "host/log.h"
#include "host/program.h"
#include "host/side.h"

enum program_state {
	STATE_UNUSED,
	STATE_STARTED,
	STATE_RUNNING,
	STATE_TIMED, /* waits for an event that is on its way */
	STATE_POLLING, /* waits for a change, or for the look that sees it */
	STATE_ENDED,
	STATE_DEAD, /* with its node */
};

/* The aux field of an event of PHASE_PROGRAM; its data is the program.  Lower
 * values are those of the host's engine, before programs of the instant. */
enum {
	/* see program_tell(); before all that it may cause.  Its data is the
	 * thread: it may come from another process, which numbers programs
	 * otherwise */
	EVENT_TOLD = HOST_ENGINE_EVENTS,
	EVENT_RESUME,
	EVENT_LOOK,
	EVENT_LATE, /* a poll's deadline; at one instant after its look */
};

/* What is polled: the list that a program is on. */

/* See program_watch(). */
struct watch {
	uint64_t at, bytes;
	void (*on_write)(
		void *arg, sim_time t, uint64_t at, size_t n); /* NULL: none */
	void *arg;
};

struct program {
	struct host *host;
	struct program *next; /* on its node */
	struct program *next_polling; /* the same thing as it does */
	site_id node;
	uint8_t thread;
	uint8_t state;
	uint8_t round; /* of this instant, see program_spawn() */
	bool is_look_posted;
	bool is_late; /* its last poll has missed its deadline */
	bool is_system;
	bool is_service; /* counts as none that runs */
	bool is_card; /* of the network interface: see host/card.h */
	bool is_ahead; /* of its node: see program_pass() */
	bool is_exact; /* it never is */
	bool is_apart; /* most calls are not for it, or not yet */
	bool is_walked; /* see node.n_walked */
	uint8_t process; /* of its thread */
	void (*run)(void *arg);
	void *arg;

	/* while it runs */
	struct sim_worker *worker;
	sim_time now;

	/* while it polls; a word where there is no test, or with it */
	bool (*test)(void *arg, uint64_t *seen);
	void *test_arg;
	uint64_t at, value, seen;
	uint8_t word_test; /* an enum */
	uint64_t told_of; /* the number of the last write to what it watches */
	uint32_t call_depth; /* see PROGRAM_CALL() */
	struct poll_loop loop;
	const struct poll_through *through; /* NULL: everything wakes it */
	sim_time back_at; /* had it been woken, it would poll anew; or 0 */
	sim_time first; /* look */
	sim_time look_at; /* the next one, or the last; or 0 */
	sim_time deadline; /* SIM_NEVER: none */
	sim_time late_at; /* the last EVENT_LATE that was posted */
	uint64_t told; /* how often, ever */
	sim_time lost, free_at; /* to the system: see host_take() */

	struct watch watch;
	struct program *next_watching;

	/* the call that it is in: see PROGRAM_CALL() */
	const char *call;
	uint64_t call_args[HOST_CALL_ARGS];
	sim_time call_since;
	/* what it waits for, in better words: see program_explain() */
	void (*explain)(void *arg, char *text, size_t size);
	void *explain_arg;
	sim_time waits_since; /* see program_waits_since(); 0: now */
};

/* What a node's interface runs: see host/card.h. */
struct cards {
	struct card_thread *all, *free;
	card_on_write *on_write; /* NULL: nobody asks */
	void *arg;
};

/* See program_keep(). */
struct kept {
	struct kept *next;
	const struct program_library *of;
	uint32_t process;
	max_align_t bytes[];
};

struct node {
	struct host_node hot; /* first: see host_node() */
	struct kept *kept;
	struct program *programs; /* all that it ever had */
	struct program *watching; /* except those in watching_own */
	/* [process] programs that watch only memory of their own process; NULL:
	 * there are none, or the node has one process */
	struct program **watching_own;
	uint64_t n_told; /* writes to what may be watched */
	/* Programs that poll by a test, and may learn of a write from something
	 * else than their watch. */
	uint32_t n_walked;
	uint32_t n_with; /* that poll a word with a test */
	uint32_t n_spawned; /* of its share */
	uint64_t n_draws;
	struct cards *cards; /* NULL until it has some */
};

enum { CARD_POOLS = 20 };

struct card_fibers {
	pthread_mutex_t lock;
	struct fiber_pool *pool[CARD_POOLS];
	uint32_t n_pools, used; /* fibers of the last pool */
};

/* A program's index is that of its fiber, too. */
struct host {
	struct host_nodes hot; /* first: see host_node() */
	struct node *nodes;
	struct program *programs;
	struct fiber_pool *fibers;
	struct sim *sim;
	struct nic *nic;
	struct side *cache;
	struct side *side;
	const struct parts *parts;
	struct host_params params;
	site_id n_nodes;
	uint32_t n_started, most_started; /* the first ones */
	uint32_t n_spawned; /* then so many for each node */
	uint32_t n_processes; /* of each node */
	uint32_t thread_bits; /* of a thread's number */
	const char *const *arguments; /* NULL behind the last */
	const struct host_world *const *worlds; /* [node]; NULL: there is one */
	sim_time *dies_at; /* [node]; NULL: no node dies */
	atomic_uint n_running, n_dead;
	size_t stack_bytes;
	struct card_fibers card_fibers;
	struct host_log *log; /* or NULL */
	struct host_engine engine;
};

/* The first node from one on that this process simulates; only those have a
 * state. */
static inline site_id host_next(const struct host *h, site_id i)
{
	return h->sim ? sim_next_own(h->sim, i) : i; /* tests may have none */
}

static inline struct node *node_of(const struct program *p)
{
	return &p->host->nodes[p->node];
}

static inline void program_post(struct program *p, struct sim_worker *w,
	sim_time t, unsigned round, uint16_t event)
{
	unsigned number = round << p->host->thread_bits | p->thread;

	sim_post_self(w, p->node, t, SIM_KEY(PHASE_PROGRAM, number), event,
		(uint32_t)(p - p->host->programs));
}

/* --- program.c --- */

/* The program that runs on this thread, or NULL. */
struct program *program_current(void);

struct fiber_pool;

/* Makes a fiber ready to run a program. */
void program_prepare(struct program *p, struct fiber_pool *pool, uint32_t id);
/* Runs a program on its fiber until it waits, or ends: true. */
bool program_enter(struct program *p, struct fiber_pool *pool, uint32_t id,
	struct sim_worker *w, sim_time t);

/* Runs a program until it waits or ends. */
void program_resume(struct program *p, struct sim_worker *w, sim_time t);

/* Gives control back; the state says what it waits for. */
void program_suspend(struct program *p, enum program_state state);

/* A program that is ahead waits until its node is there. */
void program_settle(struct program *p);
/* The same for one that waits now in another way. */
void program_catch_up(struct program *p);

/* --- program_log.c --- */

/* The call that a program was in is over. */
void program_log_ended(const struct program *p);

/* --- card.c --- */

void card_init(struct host *h);
void card_fini(struct host *h);
uint64_t card_held(const struct node *n);

/* --- poll.c --- */

/* Ends the polling of a program. */
void poll_forget(struct program *p);

/* A look's moment has come, or a deadline. */
void poll_look(struct program *p, struct sim_worker *w, sim_time t);
void poll_give_up(struct program *p, struct sim_worker *w, sim_time t);

/* The poll of a program that is ahead begins so much later. */
void poll_put_off(struct program *p, sim_time time);

/* A program that watches does so no more. */
void poll_end_watch(struct program *p);

/* Who watches has changed. */
void poll_set_watched(const struct host *h, struct node *n);

/* The program that calls; one that was ahead of its node has joined it. */
struct program *host_self(void);

#endif
