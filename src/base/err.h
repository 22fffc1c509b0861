/*
 * There are three kinds of errors.  A user's mistake is written to a struct err
 * by the function that detects it, passed up unchanged and printed once, by the
 * command line.  A mistake of our own ends in BUG(), and a limit that is
 * reached in the middle of a run in err_give_up(): both return to the innermost
 * guard (see err_guard()), or end the process if there is none.  A simulated
 * fault is an event of the model and no error.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

#include "weft/plugin/err.h"

/* The exit codes of commands. */
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

/* Reports where we broke a rule of our own: EXIT_INTERNAL. */
_Noreturn void bug(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
_Noreturn void err_give_up(int code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
_Noreturn void err_raise(const struct err *e);

/*
 * What ends this process in the middle.  It is printed, behind a name if the
 * process has one; or, where another process prints it, written to words.  A
 * handler of signals may call it.
 */
void err_last_words(const char *text);
/* Only before there are threads; what is given must stay.  Name or words may be
 * NULL. */
void err_name_process(const char *name, char *words, size_t size);

/*
 * Calls run(arg).  A BUG() or err_give_up() on this thread ends it in the
 * middle, and is written to *e like an error that run() reports.  Returns -1 if
 * *e is set.  The frames in between are skipped, so their resources, such as
 * locks, are not released: neither may be called while holding a lock that
 * another thread waits for.
 *
 * A process that runs out of memory, or whose fiber overruns its stack, still
 * ends at once.
 */
int err_guard(void (*run)(void *arg), void *arg, struct err *e);
bool err_is_guarded(void);

/*
 * For code that runs on stacks of its own.  leave() is called first, on this
 * thread: on such a stack it switches back to the guard's stack and does not
 * return, and err_land() continues there; otherwise it returns.  err_land()
 * does nothing if there is no error.
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
