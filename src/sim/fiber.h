/*
 * Fibers: C functions with a stack of their own that run until they wait.  A
 * fiber is not a thread: it is never preempted, takes no lock, has no signal
 * mask and no thread-local storage, and knows neither time nor sites.  The
 * caller of fiber_resume() decides which fiber runs next.
 *
 * Rules:
 * - A pool's fibers are independent: different fibers may be started and
 *   resumed at the same time on different threads.  One fiber belongs to one
 *   thread at a time; to move it, both threads must pass a barrier or a join.
 * - A fiber that moves must not keep the address of a thread-local variable
 *   over a suspension; compilers may do so by themselves, for errno say.  A
 *   fiber that stays on its thread may use such variables freely.
 * - A fiber ends by returning from its function, or by fiber_abandon().  It
 *   must not end its thread and must not longjmp() off its stack.
 * - The rounding mode and other floating-point controls (FPCR; MXCSR and the
 *   x87 control word) belong to the thread and are not switched: a fiber that
 *   changes them restores them before it suspends.
 *
 * All stacks of a pool are in one mapping.  Untouched pages cost no memory, and
 * freeing the pool returns the rest.  Below a stack is a guard that faults.
 * Guards count towards the kernel's limit of mappings, so a process has at most
 * FIBER_MAX_GUARDS; a pool that would need more has a guard below every second,
 * third, ... stack, and a canary below the others, which is checked whenever
 * the fiber gives control back.  Either way an overflow ends the process with
 *     weft: fiber N: stack overflow (stack of K KiB; ...)
 * and exit code 4; with a canary this comes late.  A frame that leaves more
 * than FIBER_GUARD_BYTES unwritten can step over a guard, and one that leaves a
 * cache line unwritten over a canary: such an overflow is found when it faults
 * elsewhere, or when the fiber suspends in that frame.
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

/* Returned by fiber_current() on a stack that belongs to no fiber. */
#define FIBER_NONE UINT32_MAX

enum fiber_state {
	FIBER_UNUSED, /* never started */
	FIBER_READY, /* started, not yet resumed */
	FIBER_RUNNING,
	FIBER_SUSPENDED,
	FIBER_ENDED,
};

/*
 * Fibers 0 to n_fibers - 1.  The stack's size is rounded up to whole pages; its
 * top kilobyte is reserved.  Installs a SIGSEGV handler that reports overflows
 * and passes all other faults on, unless it is the process's handler already.
 * NULL if a size is out of range or the address space is too small.
 */
struct fiber_pool *fiber_pool_new(
	size_t n_fibers, size_t stack_bytes, struct err *e);

/* Drops suspended fibers and leaks what they hold; none may be running. */
void fiber_pool_free(struct fiber_pool *p);

/*
 * Prepares a fiber that was never started or has ended, without running it.
 * The pool borrows arg.
 */
void fiber_start(
	struct fiber_pool *p, uint32_t id, void (*run)(void *arg), void *arg);

/*
 * Runs a ready or suspended fiber until it suspends or returns, and returns
 * FIBER_SUSPENDED or FIBER_ENDED.  Must be called on a thread's own stack.
 */
enum fiber_state fiber_resume(struct fiber_pool *p, uint32_t id);

/*
 * Returns control to the caller of fiber_resume(), until the fiber is resumed
 * again.  The fiber passes its own id, so that a switch needs no thread-local
 * pointer.
 */
void fiber_suspend(struct fiber_pool *p, uint32_t id);

/* Ends the calling fiber at once and leaks what it holds; returns only if the
 * caller is not a fiber of this pool. */
void fiber_abandon(struct fiber_pool *p);

/* The calling fiber, or FIBER_NONE. */
uint32_t fiber_current(const struct fiber_pool *p);

enum fiber_state fiber_state_of(const struct fiber_pool *p, uint32_t id);

/*
 * Lets a thread report overflows into guards, which otherwise are a plain
 * SIGSEGV.  Gives the calling thread an alternate signal stack, unless it has
 * one.  The same thread calls fini at its end.
 */
struct fiber_thread {
	void *alt_stack;
};
void fiber_thread_init(struct fiber_thread *t);
void fiber_thread_fini(struct fiber_thread *t);

#endif
