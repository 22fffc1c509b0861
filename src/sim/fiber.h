/*
 * Fibers: plain C functions with a stack of their own, that run until they
 * wait.  A fiber is not a thread: nothing preempts it, it takes no lock, has
 * no signal mask and no thread-local storage, and it knows neither time nor
 * sites.  Who runs next is decided by whoever calls fiber_resume().
 *
 * Rules:
 * - A pool's fibers are independent: different fibers may be started and
 *   resumed at the same time on different threads.  One fiber belongs to one
 *   thread at a time; to move it, both threads must pass a barrier or a join.
 * - A fiber that moves must not keep the address of a thread-local variable
 *   over a suspension, and compilers do that unasked (errno is one).  A fiber
 *   that stays on its thread may use them freely.
 * - A fiber ends by returning from its function, or by fiber_abandon().  It
 *   must not end its thread and must not longjmp() off its stack.
 * - The rounding mode and other floating-point controls (FPCR; MXCSR and the
 *   x87 control word) are the thread's.  They are not switched: a fiber that
 *   changes them puts them back before it suspends.
 *
 * Stacks lie in one mapping and cost memory only where they are touched; a
 * pool gives it back when it is freed.  Below a stack lies a guard that
 * faults.  Guards use up the kernel's map count, so a process has at most
 * FIBER_MAX_GUARDS; a pool that would need more has one for every second,
 * third, ... stack, and the others stand on a canary, which is looked at
 * whenever the fiber gives control back.  Either way an overflow ends in
 *     weft: fiber N: stack overflow (stack of K KiB; ...)
 * and exit code 4.  A canary tells of it late.  A frame that leaves more than
 * FIBER_GUARD_BYTES unwritten can step over a guard, and one that leaves a
 * cache line unwritten over a canary: such a frame is found when it faults
 * anywhere else, or when the fiber suspends in it.
 */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct fiber_pool;

enum {
	FIBER_MAX_GUARDS = 16000,
	FIBER_GUARD_BYTES = 64 << 10,
	FIBER_MIN_STACK = 16 << 10,
	FIBER_MAX_STACK = 1 << 30,
};

/* What fiber_current() says on a stack that is no fiber's. */
#define FIBER_NONE UINT32_MAX

enum fiber_state {
	FIBER_UNUSED, /* never started */
	FIBER_READY, /* started, not yet resumed */
	FIBER_RUNNING,
	FIBER_SUSPENDED,
	FIBER_ENDED,
};

/*
 * Fibers 0 to n_fibers - 1.  The stack's size is rounded up to whole pages;
 * the top kilobyte of it is ours.  NULL if the sizes make no sense or the
 * address space is too small.
 */
struct fiber_pool *fiber_pool_new(
	size_t n_fibers, size_t stack_bytes, struct err *e);

/* Suspended fibers are forgotten, with whatever they hold; none may run. */
void fiber_pool_free(struct fiber_pool *p);

/*
 * Prepares a fiber that was never started or has ended, and runs nothing yet.
 * The pool borrows arg.
 */
void fiber_start(
	struct fiber_pool *p, uint32_t id, void (*run)(void *arg), void *arg);

/*
 * Runs a ready or suspended fiber until it suspends or returns, and says which:
 * FIBER_SUSPENDED or FIBER_ENDED.  Called on a thread's own stack.
 */
enum fiber_state fiber_resume(struct fiber_pool *p, uint32_t id);

/*
 * Back to whoever resumed this fiber; returns when it is resumed again.  The
 * fiber says who it is, so that a switch needs no thread-local pointer.
 */
void fiber_suspend(struct fiber_pool *p, uint32_t id);

/* Ends the fiber on whose stack this is called, in the middle, with whatever it
 * holds; returns only where that is none of the pool's. */
void fiber_abandon(struct fiber_pool *p);

/* The fiber on whose stack this is called, or FIBER_NONE. */
uint32_t fiber_current(const struct fiber_pool *p);

enum fiber_state fiber_state_of(const struct fiber_pool *p, uint32_t id);

/*
 * Lets a thread report overflows into guards; without it they are a plain
 * SIGSEGV.  Gives the calling thread an alternate signal stack, unless it has
 * one, and installs, once for the process and for good, a SIGSEGV handler that
 * hands all other faults on.  fini is called by the same thread, at its end.
 */
struct fiber_thread {
	void *alt_stack;
};
void fiber_thread_init(struct fiber_thread *t);
void fiber_thread_fini(struct fiber_thread *t);

#endif
