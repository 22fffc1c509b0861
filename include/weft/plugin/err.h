/* An error of the user: one line that says what is wrong and what would be
 * right. */
#ifndef WEFT_PLUGIN_ERR_H
#define WEFT_PLUGIN_ERR_H

#include <stdarg.h>
#include <stdio.h>

struct err {
	int code; /* 0: no error; else an exit status */
	char text[480];
};

/* Reports an error from a plugin.  Returns -1. */
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
