/*
 * What the parts of libweft-rank.so know of each other.
 *
 * link.c   the channel and who has the turn
 * clock.c  the rank's clock in place of the host's
 * calls.c  which call of MPI a thread is in
 * compute.c the time between calls
 * self.c   who the process is: its host and random numbers
 * numbers.c numbers of processes, where the rank has no namespace
 * files.c  files that are not what they seem
 * places.c where other ranks are, for those who ask PMIx
 * stack.c  where main() begins
 * spin.c   looks of a rank that computes
 * threads.c the program's threads, and the MPI library's
 * timers.c alarms
 * alloc.c  its memory
 * atomics.c what Open MPI's component of libfabric cannot do
 * tsc.c    the processor's own clock
 * debug.c  a wait for a debugger
 * windows.c what windows of memory Open MPI makes, and how
 */
#ifndef INSIDE_RANK_H
#define INSIDE_RANK_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "inside/link.h"

enum { PS_PER_NS = 1000 };
#define PS_PER_S INT64_C(1000000000000)

/* --- link.c --- */

enum link_phase link_phase(void);
/* Whether this thread lives in simulated time: not one that MPI has made for
 * itself. */
bool link_is_timed(void);

/* Whether this process is not a rank, but was forked by one. */
bool link_is_forked(void);

/* Whether weft-fi.so is there and in use. */
bool link_has_provider(void);

/* The program has made a thread: one that waits must not wait for ever. */
void link_add_thread(void);

/* The program does what is not the same each time. */
void link_note(enum channel_reason reason);

/* How far it has come, before it starts. */
void link_begin(enum channel_begun how);
/* The call that the rank is in, should it end there. */
void link_tell_call(const struct channel_call *c);

/* MPI_Init() has ended, MPI_Finalize() begins. */
void link_start(void);
void link_exit(void);

/* The program enters a call, and has left one that has crossed or posted. */
void link_enter(struct channel_call *c);
void link_leave(const struct channel_call *c);
/* Which MPI it has. */
void link_tell_library(const char *text);

/* The rank's clock, ps; crosses if commands are queued. */
int64_t link_now(void);
void link_sleep(int64_t ps);
/* Reads the clock; this takes ps of the rank's processor time. */
int64_t link_read_clock(int64_t ps);
/* The number of the program's operations other than clock reads; has_done: with
 * the current one. */
uint64_t link_deeds(bool has_done);
/* The processor time so far, ps. */
int64_t link_charged(void);
/* The rank has computed: with the lock; and because the program says so. */
void link_compute(int64_t ps);
void link_declare(int64_t ps);
/* Its calls are not those of its recording: this one, or CHANNEL_NONE, comes
 * after so many. */
void link_go_astray(uint32_t call, uint64_t n_calls);
/* One look without any queue; and one from a signal, anywhere. */
void link_look_once(void);
void link_spin(void);

/* It sends a signal to itself. */
void link_signal(int number);
/* The process has come to a place where it only waits for others to start. */
void link_rest(void);

/* --- calls.c --- */

enum call_how {
	CALL_NONE, /* in none */
	CALL_BLOCKS,
	CALL_TESTS,
	CALL_OTHER,
};

/* The call that a thread is in: the outermost one. */
struct call {
	enum call_how how;
	uint64_t number; /* later calls have larger ones; 0: none yet */
	unsigned looks; /* in vain, of one that tests */
	bool is_foreign; /* MPI's own thread */
	bool is_setup; /* within MPI_Init() or MPI_Finalize() */
	bool makes_window; /* of the rank's own memory, by whatever name */
	bool is_asking; /* PMIx, whose thread frees what this one allocates */
	int64_t since; /* the thread's CPU time when it was last seen, ns */
	bool is_told; /* it has crossed, or asked for something */
	struct channel_call what;
	const long *words; /* its arguments */
	bool is_fortran; /* these are addresses of what C's would be */
};

struct call *call_mine(void);
/* The name of a call's number, as in C. */
const char *call_name(uint32_t number);

/* The function behind one of this library's names, into a pointer to it. */
void call_next(void *function, const char *name);
/* The same for names of the MPI library, wherever the program has loaded it. */
void call_next_of_mpi(void *function, const char *name);
/* What has the name, or NULL. */
void *call_find_in_mpi(const char *name);
/* The same of a library, which may be among those that are no name's next. */
void call_library(void *function, const char *library, const char *name);
/* A symbol of a library if that is loaded, or NULL. */
void *call_find_in(const char *library, const char *name);

/* --- compute.c --- */

void compute_start(struct channel *c);
/* The program goes on; it ends. */
void compute_resume(void);
void compute_finish(void);
/* A place, with the lock: a call's number, 0, or CHANNEL_LOOKS. */
void compute_place(uint32_t call);
/* The same without the lock. */
void compute_call(uint32_t call);
/* Unless a call of MPI looks. */
void compute_look(void);
/* Whether computing takes no time. */
bool compute_is_free(void);

/* --- alloc.c --- */

/* False if this host has no place for it. */
bool alloc_open(void);
void alloc_on_child(void);

/* --- threads.c --- */

/* Whether another thread of the program computes, or could. */
bool threads_run(void);

/* --- spin.c --- */

void spin_start(bool is_interrupted);
void spin_start_thread(void);

/* --- tsc.c --- */

/* The rank begins to run, and ends. */
void tsc_start(bool is_trapped);
void tsc_end(void);

/* --- debug.c --- */

/* Until one has attached itself. */
void debug_await(void);

/* --- timers.c --- */

/* Fires what is due. */
void timers_look(int64_t now);

/* --- self.c --- */

/* Whether it is the same each time: while the rank runs. */
bool self_is_fixed(void);
/* Random numbers that are the same each time: unless MPI asks for them. */
bool self_has_random(void);
void self_random(unsigned char *to, size_t bytes);

/* --- numbers.c --- */

enum { NUMBERS_NOBODY = -1 };

/* Whether a number is the one that this process sees as its own. */
bool numbers_is_own(pid_t pid);
/* The host's number of a process that the program names; NUMBERS_NOBODY, with
 * errno, if the process does not belong to the job. */
pid_t numbers_real(pid_t pid);

/* --- files.c --- */

/* Whether an epoll descriptor waits for no other one. */
bool files_is_empty_set(int set);

/* --- clock.c --- */

/* What a clock shows when the rank begins, s. */
int64_t clock_begin(bool is_real_time);

/* The rank's clock, ps; it takes the time of a read. */
int64_t clock_read(void);

/* The host's own. */
void clock_real(clockid_t id, struct timespec *t);
void clock_real_sleep(const struct timespec *t);

#endif
