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

/* The next line with its end, in *text, which grows as needed and is freed by
 * the caller. */
enum readline readline(FILE *f, char **text, size_t *room);

#endif
