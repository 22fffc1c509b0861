/*
 * What programs that run on a node may call; what is called without one
 * running is a BUG.
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
 * load of that look has come back.
 *
 * C globals are shared by all nodes of the process and their threads: a
 * program keeps what it knows on its stack, in its argument, or in its
 * node's memory.
 */
#ifndef HOST_PROGRAM_H
#define HOST_PROGRAM_H

#include "host/host.h"
#include "host/log.h"

struct host *program_host(void);
site_id program_node(void);
/* Whom it belongs to; NULL: all nodes are one world. */
const struct host_world *program_world(void);
uint32_t program_thread(void);
/* Of its node; and where that process's part of the memory begins. */
uint32_t program_process(void);
uint64_t program_base(void);
/* Whether the process has these bytes of memory, counted from there. */
bool program_has(uint64_t at, uint64_t bytes);
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
/* For kernel calls, which are the system's while they last: returns what it
 * was. */
bool program_set_system(bool is_system);

/* It serves others until the run ends, and nobody waits for its end. */
void program_become_service(void);

/*
 * What a library keeps for the program's process: bytes that are zero at first,
 * and the same at every call for that library.  They end with the host, after
 * fini(), NULL: nothing.  held() says what they hold besides themselves.
 */
struct program_library {
	size_t size;
	void (*fini)(void *kept);
	uint64_t (*held)(const void *kept);
};

void *program_keep(const struct program_library *l);

/* A number that no other call on this node has got: the count of a random
 * draw. */
uint64_t program_draw(void);

/* Computes for dt, or waits until t; a time that has passed is no wait. */
void program_charge(sim_time dt);
void program_wait(sim_time t);

/*
 * Its node's memory, as a core: false where that is refused, for a reason that
 * host_ask() gives.  Takes no time.
 */
bool program_read(uint64_t at, void *to, size_t n);
bool program_write(uint64_t at, const void *from, size_t n);

/* Moves bytes between any two memories of its node, also GPUs', which may
 * overlap.  Takes no time. */
void program_move(uint64_t to, uint64_t from, uint64_t bytes);

/*
 * Where its node's memory stores bytes, to make or look at many of them in
 * place.  NULL where they are not in one page of host memory, or in a region;
 * who polls them is not told.
 */
uint8_t *program_place(uint64_t at, size_t n);
/* Any number of them in one piece: see memory_map(). */
uint8_t *program_map(uint64_t at, uint64_t n);
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
 * The same, but no longer than until a time.  False at that time where no look
 * has seen it, the one at that time included.
 */
bool program_poll_before(bool (*test)(void *arg, uint64_t *seen), void *arg,
	struct poll_loop loop, sim_time deadline, uint64_t *seen);

/*
 * For a library that waits for one of many words: until the program ends,
 * on_write(arg, ...) is called when bytes of [at, at + bytes) are written or
 * changed, by whomever, and tests of program_poll_until() are looked at after
 * it.  It is called as those tests are: it may note what it saw, and read
 * memory by host_read().  A program has one watch; NULL ends it.
 */
void program_watch(uint64_t at, uint64_t bytes,
	void (*on_write)(void *arg, uint64_t at, size_t n), void *arg);

/*
 * In a library's function: until the end of the block the program is in this
 * call, which is told where it waits for ever.  A # stands for a number, of
 * which there are at most two; UINT32_MAX is "any".  Of calls inside each other
 * the outer one counts.
 */
#define PROGRAM_CALL(text, a, b)                                               \
	__attribute__((cleanup(program_call_end), unused))                     \
	const int program_call_is_open =                                       \
		program_call_begin(text, (uint32_t)(a), (uint32_t)(b))

int program_call_begin(const char *text, uint32_t a, uint32_t b);
void program_call_end(const int *is_open);

/*
 * While explain is not NULL, it says what the program waits for, instead of
 * the call that it is in.  It is called while nothing runs, of a program that
 * waits for ever, and may look at whatever other programs keep.
 */
void program_explain(
	void (*explain)(void *arg, char *text, size_t size), void *arg);

/*
 * Something begins that is to be in the log beside calls, and may go on while
 * others do: returns its mark.  Without a log these do nothing.
 */
uint32_t program_log_begin(
	const char *text, const uint64_t args[HOST_CALL_ARGS]);
void program_log_end(uint32_t mark);

/*
 * For a library of messages: one is sent; one that was sent is matched, which
 * gives a mark, and later has come.  A message names its other end; its time is
 * now.
 */
void program_log_sent(const struct host_log_message *m);
uint32_t program_log_matched(const struct host_log_message *m);
void program_log_received(uint32_t mark);

#endif
