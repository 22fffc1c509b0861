/*
 * Errors of three kinds go three ways.  A user's mistake is written into a
 * struct err by the function that first knows it, handed up unchanged and
 * printed once, by the command line.  Our own mistake ends in BUG().  A
 * simulated fault is an event of the model and never comes here.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

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

struct err {
	int code; /* 0 while nothing went wrong, else an exit_code */
	char text[480];
};

/* Both keep the first error that was set, and return -1 for the caller. */
int err_set(struct err *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int err_set_code(struct err *e, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Says where we broke our own rule, and ends the process with code 5. */
_Noreturn void bug(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define BUG(...) bug(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_IF(cond)                                                           \
	do {                                                                   \
		if (__builtin_expect(!!(cond), 0))                             \
			BUG("%s", #cond);                                      \
	} while (0)

#endif
