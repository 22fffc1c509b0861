/* Lines of a user's file, which may have any content. */
#ifndef BASE_READLINE_H
#define BASE_READLINE_H

#include <stddef.h>
#include <stdio.h>

enum { READLINE_MOST = 1 << 20 }; /* bytes of a line */

enum readline {
	READLINE_END, /* or the stream has an error */
	READLINE_ONE,
	READLINE_NO_TEXT, /* it has a zero byte */
	READLINE_TOO_LONG,
};

/* A file that is read line by line, and by nobody else meanwhile; all but file
 * begins with 0. */
struct lines {
	FILE *file;
	char *text; /* the last line, with its end; may be changed */
	char *buffer; /* bytes of the file, of which ... */
	size_t room, at, n; /* ... those from at to n have not been asked for */
	size_t zero; /* the first of the file's bytes there that is 0, or n */
	char first; /* in place of the zero behind the last line */
};

enum readline readline(struct lines *l);
void lines_fini(struct lines *l);

#endif
