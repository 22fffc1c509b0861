#define _GNU_SOURCE
#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set(struct err *e, int code, const char *format, va_list ap)
{
	if (e->code)
		return;
	e->code = code;
	vsnprintf(e->text, sizeof(e->text), format, ap);
}

int err_set(struct err *e, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	set(e, EXIT_BAD_INPUT, format, ap);
	va_end(ap);
	return -1;
}

int err_set_code(struct err *e, int code, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	set(e, code, format, ap);
	va_end(ap);
	return -1;
}

/* --- guards --- */

struct guard {
	struct guard *outer;
	struct err *e;
	bool is_raised;
	jmp_buf at;
};

static _Thread_local struct guard *guard; /* the innermost */
static _Thread_local void (*leave_stack)(void);

int err_guard(void (*run)(void *arg), void *arg, struct err *e)
{
	struct guard g = { .outer = guard, .e = e };

	if (!setjmp(g.at)) {
		guard = &g;
		run(arg);
	}
	guard = g.outer;
	return e->code ? -1 : 0;
}

bool err_is_guarded(void)
{
	return guard;
}

void err_set_leave(void (*leave)(void))
{
	leave_stack = leave;
}

void err_land(void)
{
	if (guard && guard->is_raised)
		longjmp(guard->at, 1);
}

/* Set once, at the start of one of several processes. */
static struct {
	const char *name;
	char *words;
	size_t size;
} own;

void err_name_process(const char *name, char *words, size_t size)
{
	own.name = name;
	own.words = words;
	own.size = size;
}

static void print(const char *text)
{
	(void)!write(STDERR_FILENO, text, strlen(text));
}

void err_last_words(const char *text)
{
	if (own.words) {
		stpncpy(own.words, text, own.size - 1);
		return;
	}
	print("weft: ");
	if (own.name) {
		print(own.name);
		print(": ");
	}
	print(text);
	print("\n");
}

static _Noreturn void end_process(const struct err *e)
{
	fflush(stderr);
	err_last_words(e->text);
#ifdef WEFT_CHECK
	if (e->code == EXIT_INTERNAL)
		abort();
#endif
	_Exit(e->code);
}

void err_raise(const struct err *e)
{
	if (!guard)
		end_process(e);
	guard->is_raised = true;
	err_set_code(guard->e, e->code, "%s", e->text);
	if (leave_stack)
		leave_stack();
	longjmp(guard->at, 1);
}

void err_give_up(int code, const char *format, ...)
{
	struct err e = { 0 };
	va_list ap;

	va_start(ap, format);
	set(&e, code, format, ap);
	va_end(ap);
	err_raise(&e);
}

void bug(const char *file, int line, const char *format, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	err_give_up(
		EXIT_INTERNAL, "internal error at %s:%d: %s", file, line, text);
}
