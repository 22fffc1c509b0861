/* Lines of a user's file with columns that are separated by commas. */
#ifndef BASE_FIELDS_H
#define BASE_FIELDS_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/readline.h"

enum { FIELDS_MOST = 8 };

struct fields {
	const char *path;
	struct lines lines;
	uint32_t line;
	char *field[FIELDS_MOST];
	uint32_t n;
	struct err *e;
};

int fields_open(struct fields *f, const char *path, struct err *e);
void fields_close(struct fields *f);

/*
 * The fields of the next line that has any, without blanks or quotes around
 * them; what follows a # is a comment.  1, 0 at the end, -1 on an error.  More
 * columns than FIELDS_MOST are an error.
 */
int fields_next(struct fields *f);

/* Reports an error at the line: "FILE:LINE: what", and a text in quotes if it
 * is not NULL.  Returns -1. */
int fields_wrong(struct fields *f, const char *what, const char *text);

/* A text without blanks around it. */
char *fields_trim(char *s);

#endif
