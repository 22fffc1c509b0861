/*
 * Calls of programs that run on a node.  A call outside of a program is a BUG.
 *
 * A program runs until it waits.  It is started on a hardware thread of a
 * node, it runs while no time passes, and it returns control by waiting: for a
 * time, until a word of its node's memory passes a test, or until another
 * condition holds.  The implementation is a function on a fiber; another kind
 * of runner would need no other interface.
 *
 * Polling costs nothing while nothing changes.  A polling program looks now
 * and then once every period; only a change that makes the test pass causes an
 * event, at the first look that sees it.  The program continues when the load
 * of that look has returned.
 *
 * C globals are shared by all nodes of the process and their threads: a program
 * keeps its state on its stack, in its argument, or in its node's memory.
 */
#ifndef HOST_PROGRAM_H
#define HOST_PROGRAM_H

#include "host/host.h"
#include "host/log.h"

struct host *program_host(void);
/* The network interface of its node. */
struct nic *program_nic(void);
site_id program_node(void);
/* The world of the program; NULL: all nodes are one world. */
const struct host_world *program_world(void);
uint32_t program_thread(void);
/* The number of its process on the node; and the start of that process's part
 * of the memory. */
uint32_t program_process(void);
uint64_t program_base(void);
/* Whether the process has these bytes of memory, counted from its start. */
bool program_has(uint64_t at, uint64_t bytes);
sim_time program_now(void);
/* Whether it is a thread of the network interface: see host/card.h. */
bool program_is_card(void);
/* For calls that post events on the program's behalf. */
struct sim_worker *program_worker(void);

/*
 * Starts run(arg) now on another thread of the same node; it first runs when
 * this program waits, after earlier programs of this instant.  False if there
 * is no such thread, if it is in use, or if the node has no room for another
 * program.  arg is borrowed.
 */
bool program_spawn(uint32_t thread, void (*run)(void *arg), void *arg);

/*
 * Whether the program is system software: from program_become_system() on.
 * Programs that it spawns inherit this.  The interface decides what it allows.
 */
bool program_is_system(void);
void program_become_system(void);
/* For kernel calls, which run as the system; returns the previous state. */
bool program_set_system(bool is_system);

/* The program serves others; the run ends without waiting for it. */
void program_become_service(void);

/*
 * State that a library keeps for the program's process: zeroed at first, and
 * the same at every call for that library.  It is freed with the host, after
 * fini(), which may be NULL.  held() returns the memory that it owns.
 */
struct program_library {
	size_t size;
	void (*fini)(void *kept);
	uint64_t (*held)(const void *kept);
};

void *program_keep(const struct program_library *l);

/* A new number at every call on this node, as the count of a random draw. */
uint64_t program_draw(void);

/* Computes for dt, or waits until t; does not wait if t has passed. */
void program_charge(sim_time dt);
void program_wait(sim_time t);

/*
 * Waits until t, too, but may return at once: then the program is ahead of its
 * node, until it next waits or does anything that could tell.  So a wait that
 * another one follows costs nothing.  Programs that share their node, map or
 * watch memory, or are exact, since something else runs code of theirs, are
 * never ahead.
 *
 * Until the end of its block a function with PROGRAM_PRIVATE() does nothing
 * that could tell before it waits, though it calls what others must not: it
 * touches only what is its own, such as the memory of a library.
 */
void program_pass(sim_time t);
void program_be_exact(void);
/* A program that is ahead waits for its node. */
void program_join(void);
#define PROGRAM_PRIVATE()                                                      \
	__attribute__((cleanup(program_private_end), unused))                  \
	const int program_private_is_open = program_private_begin()

int program_private_begin(void);
void program_private_end(const int *is_open);

/*
 * Tells the program on a thread of any node that something is done: a way
 * besides the network, of which only the time is known, at least a window.
 * program_await() waits until it was told so often, ever.
 */
void program_tell(site_id node, uint32_t thread, sim_time delay);
void program_await(uint64_t n);

/*
 * Access to the node's memory by a core: false if it is refused; memory_ask()
 * gives the reason.  Takes no time.
 */
bool program_read(uint64_t at, void *to, size_t n);
bool program_write(uint64_t at, const void *from, size_t n);

/* Moves bytes between any two memories of its node, including GPUs'; the ranges
 * may overlap.  Takes no time. */
void program_move(uint64_t to, uint64_t from, uint64_t bytes);

/*
 * Pointer to bytes of the node's memory, to write or read many of them in
 * place.  NULL if they are not in one page of host memory or in one region.
 * Programs that poll these bytes do not notice changes.
 */
uint8_t *program_place(uint64_t at, size_t n);
/* A page of the node's memory is not needed any more: see memory_forget(). */
void program_forget(uint64_t at);
/* The same for any number of bytes in one piece: see memory_map(). */
uint8_t *program_map(uint64_t at, uint64_t n);
/* Announces the number of bytes that will be written. */
void program_reserve(uint64_t bytes);
bool program_atomic(
	enum atomic_op op, uint64_t at, uint64_t operand, uint64_t *old);

enum word_test { WORD_IS, WORD_IS_NOT, WORD_AT_LEAST /* unsigned */ };

/* A poll loop looks once every period; a look takes the time of a load. */
struct poll_loop {
	sim_time period; /* 1 ps or more */
	sim_time load;
	sim_time phase; /* from the call to the first look */
	bool is_checked; /* the test fails now, as the caller knows */
	bool lasts; /* see program_poll_done() */
	/* Once test() has passed with *seen == 1, it passes until the program
	 * itself changes what it looks at. */
	bool stays;
};

/*
 * Waits until the word at an address passes the test; *word is the value seen.
 * Returns false at once if there is no word at that address.
 */
bool program_poll(uint64_t at, enum word_test test, uint64_t value,
	struct poll_loop loop, uint64_t *word);

/*
 * The same for anything else, such as a device's register: waits until
 * test(arg, seen) returns true; *seen is the value seen then.  test() is called
 * at looks and by host_poke(), not as the program: it must change nothing else
 * and make no calls of programs.
 */
void program_poll_until(bool (*test)(void *arg, uint64_t *seen), void *arg,
	struct poll_loop loop, uint64_t *seen);

/* The same, and test() is called after writes to the word at an address, too.
 */
void program_poll_with(uint64_t at, bool (*test)(void *arg, uint64_t *seen),
	void *arg, struct poll_loop loop, uint64_t *seen);

/*
 * For a word that becomes 1 and stays so until the program changes it, such as
 * a flag of its library: test() waits for that, or for something else of which
 * only host_poke() tells.
 */
void program_poll_done(uint64_t at, bool (*test)(void *arg, uint64_t *seen),
	void *arg, struct poll_loop loop, uint64_t *seen);

/*
 * The same with a deadline.  False if no look up to and including the deadline
 * has passed.
 */
bool program_poll_before(bool (*test)(void *arg, uint64_t *seen), void *arg,
	struct poll_loop loop, sim_time deadline, uint64_t *seen);

/*
 * For a program that polls in a loop, which also wakes it for things that end
 * no wait, such as the ends of its own messages: it would take these and poll
 * anew.  If nothing else can tell, it stays asleep, and looks as often and at
 * the same times as if it had been woken.  test() and news() are called as
 * test() is above; news() may record what it saw.
 */
enum poll_news { POLL_NOTHING, POLL_QUIET, POLL_ENDS };

struct poll_through {
	/* What has come since it was called last: nothing, only what ends no
	 * wait, or more: then the test passes, and with poll_loop.stays sees
	 * 1. */
	enum poll_news (*news)(void *arg);
	/* The loop with which it polls anew; draw: as program_draw(). */
	struct poll_loop (*again)(void *arg, uint64_t draw);
};

void program_poll_through(bool (*test)(void *arg, uint64_t *seen), void *arg,
	struct poll_loop loop, const struct poll_through *through);

/*
 * For a library that waits for one of many words: until the program ends,
 * on_write(arg, t, ...) is called after every write to [at, at + bytes), and
 * tests of program_poll_until() are evaluated after it, and not after writes to
 * what other programs of the node watch.  Like those tests it is
 * not called as the program: it may record what it saw, and read memory by
 * host_read().  A program has one watch; NULL ends it.
 */
void program_watch(uint64_t at, uint64_t bytes,
	void (*on_write)(void *arg, sim_time t, uint64_t at, size_t n),
	void *arg);

/*
 * In a library's function: until the end of the block the program is in this
 * call, which is reported if the program waits forever.  Each # in the text
 * stands for a number, at most two; UINT32_MAX is "any".  Of nested calls the
 * outermost counts; one without a text only hides those inside it.
 */
#define PROGRAM_CALL(text, a, b)                                               \
	__attribute__((cleanup(program_call_end), unused))                     \
	const int program_call_is_open =                                       \
		program_call_begin(text, (uint32_t)(a), (uint32_t)(b))

int program_call_begin(const char *text, uint32_t a, uint32_t b);
void program_call_end(const int *is_open);

/*
 * While explain is not NULL, it describes what the program waits for, in place
 * of the call that it is in.  It is called while nothing runs, for a program
 * that waits forever, and may read the state of other programs.
 */
void program_explain(
	void (*explain)(void *arg, char *text, size_t size), void *arg);
/* Of a program that looks again and again: since when it has waited; 0: since
 * its last call. */
void program_waits_since(sim_time t);

/*
 * Begins an entry of the log that is no call and may overlap with others;
 * returns its mark.  Does nothing without a log.
 */
uint32_t program_log_begin(
	const char *text, const uint64_t args[HOST_CALL_ARGS]);
void program_log_end(uint32_t mark);
/* A call that is over, by its own times; returns its mark.  Another one of the
 * same kind that has followed at once, until a time. */
uint32_t program_log_call(const struct host_log_call *c);
void program_log_more(uint32_t mark, sim_time to);

/*
 * For a message library: a message is sent; a message is matched, which returns
 * a mark; it has arrived.  A message names its other end; its time is now.
 */
void program_log_sent(const struct host_log_message *m);
uint32_t program_log_matched(const struct host_log_message *m);
void program_log_received(uint32_t mark);

#endif
