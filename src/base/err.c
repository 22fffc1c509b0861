#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

void bug(const char *file, int line, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "weft: internal error at %s:%d: ", file, line);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
#ifdef WEFT_CHECK
	abort();
#else
	_Exit(EXIT_INTERNAL);
#endif
}
