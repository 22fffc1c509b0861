/* A user's mistake: one line that says what is wrong and what would be right.
 */
#ifndef WEFT_PLUGIN_ERR_H
#define WEFT_PLUGIN_ERR_H

#include <stdarg.h>
#include <stdio.h>

struct err {
	int code; /* 0 while nothing went wrong, else an exit code */
	char text[480];
};

/* For plugins: refuses what they were given.  Returns -1. */
static inline __attribute__((format(printf, 2, 3))) int weft_refuse(
	struct err *e, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	e->code = 2;
	return -1;
}

#endif
