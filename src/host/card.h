/*
 * Threads that run on a node's network interface: functions on fibers, as
 * programs are, that the interface resumes from its own events.  They are no
 * programs: they have no hardware thread, do not poll, and do not keep a run
 * from ending.  Of what is for programs they may call program_host(),
 * program_node(), program_now() and program_worker(); all else is a BUG.
 *
 * Fibers are made when a node first needs them, for the node's life.
 */
#ifndef HOST_CARD_H
#define HOST_CARD_H

#include "host/program.h"

struct card_thread;

/*
 * A thread that runs run(arg) when it is first resumed; from the node's own
 * visit.  arg is borrowed.
 */
struct card_thread *card_start(
	struct host *h, site_id node, void (*run)(void *arg), void *arg);

/* Runs it until it waits, or ends: true, and it is gone. */
bool card_resume(struct card_thread *c, struct sim_worker *w, sim_time t);

/* Of the thread that runs: back to whoever resumed it. */
void card_suspend(void);

/* Its time, when it was resumed.  It may be set ahead of its node's until then:
 * of its calls only program_now() notices. */
sim_time *card_clock(struct card_thread *c);

/* The argument of the thread that runs, or NULL where none does. */
void *card_current(void);

typedef void card_on_write(void *arg, struct sim_worker *w, site_id node,
	sim_time t, uint64_t at, size_t n);

/*
 * Until it is called with NULL, on_write(arg, ...) is called when bytes of the
 * node's memory have been written or changed, by whomever.  It is called from
 * the node's visit, perhaps by a program: it posts nothing for this instant.
 */
void card_watch(
	struct host *h, site_id node, card_on_write *on_write, void *arg);

#endif
