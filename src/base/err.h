/*
 * Errors of three kinds go three ways.  A user's mistake is written into a
 * struct err by the function that first knows it, handed up unchanged and
 * printed once, by the command line.  Our own mistake ends in BUG(), and a
 * limit that is met in the middle of a run in err_give_up(): both lead to the
 * nearest guard below, or end the process where there is none.  A simulated
 * fault is an event of the model and never comes here.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

#include "weft/plugin/err.h"

/* How a command ends; also the process's exit code. */
enum exit_code {
	EXIT_FINISHED = 0,
	EXIT_ANSWER_NO = 1,
	EXIT_BAD_INPUT = 2,
	EXIT_DEADLOCK = 3,
	EXIT_LIMIT = 4,
	EXIT_INTERNAL = 5,
	EXIT_STOPPED = 6,
};

/* Both keep the first error that was set, and return -1 for the caller. */
int err_set(struct err *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int err_set_code(struct err *e, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Says where we broke our own rule: EXIT_INTERNAL. */
_Noreturn void bug(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
_Noreturn void err_give_up(int code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
_Noreturn void err_raise(const struct err *e);

/*
 * Calls run(arg); a BUG() or err_give_up() in it on this thread ends it in the
 * middle, and is written to *e like any error that run() finds.  Returns -1
 * where *e is set.  Frames in between are left without a word, so whatever they
 * had in hand, locks above all, is lost: neither may be called under a lock
 * that somebody else waits for.
 *
 * Still ended at once is a process that has run out of memory, and one of
 * which a fiber has overrun its stack.
 */
int err_guard(void (*run)(void *arg), void *arg, struct err *e);
bool err_is_guarded(void);

/*
 * For who runs code on stacks of its own.  leave() is called first of all on
 * this thread: on such a stack it switches back to the guard's and does not
 * return, and there err_land() goes on; else it returns.  err_land() does
 * nothing where nothing is wrong.
 */
void err_set_leave(void (*leave)(void));
void err_land(void);

#define BUG(...) bug(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_IF(cond)                                                           \
	do {                                                                   \
		if (__builtin_expect(!!(cond), 0))                             \
			BUG("%s", #cond);                                      \
	} while (0)

#endif
