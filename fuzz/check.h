/*
 * What fuzz targets look at.  A target defines FUZZ_NAME, which complaints
 * begin with, before it includes this.
 */
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/param.h"

enum { TEXT_MAX = 1024 };

static inline void check(bool is_right, const char *what)
{
	if (is_right)
		return;
	fprintf(stderr, FUZZ_NAME ": %s\n", what);
	abort();
}

/* The user's fault, told in one line. */
static inline void check_refusal(const struct err *e)
{
	check(e->code == EXIT_BAD_INPUT, "wrong exit code");
	for (const char *s = e->text; *s; s++)
		check((unsigned char)*s >= ' ' && *s != 0x7f, "not one line");
}

/* What was read can be written and read again. */
static inline void check_values(const struct param_block *b)
{
	char first[TEXT_MAX], second[TEXT_MAX];
	struct err e = { 0 };

	for (size_t i = 0; i < b->n_rows; i++) {
		param_format(b, &b->rows[i], first, sizeof(first));
		check(!param_read(b, &b->rows[i], first, &e), e.text);
		param_format(b, &b->rows[i], second, sizeof(second));
		check(!strcmp(first, second), "reads back differently");
	}
}

#endif
