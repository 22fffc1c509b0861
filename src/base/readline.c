#define _GNU_SOURCE
#include "base/readline.h"

#include <string.h>

#include "base/mem.h"

enum { PIECE = 256 }; /* bytes that are read at once */

/* Reads up to the end of the line, but no more than a piece; returns the number
 * of bytes.  Zero bytes are found since the last one is behind all of them. */
static size_t read_piece(FILE *f, char *to)
{
	memset(to, 1, PIECE);
	if (!fgets_unlocked(to, PIECE, f))
		*to = '\0';
	return (size_t)((char *)memrchr(to, 0, PIECE) - to);
}

enum readline readline(FILE *f, char **text, size_t *room)
{
	size_t n = 0, more;

	do {
		if (n + PIECE > *room) {
			*room = *room ? 2 * *room : PIECE;
			*text = mem_grow(*text, *room, 1);
		}
		more = read_piece(f, *text + n);
		if (memchr(*text + n, 0, more))
			return READLINE_NO_TEXT;
		n += more;
		if (n > READLINE_MOST)
			return READLINE_TOO_LONG;
	} while (more && (*text)[n - 1] != '\n');
	return n ? READLINE_ONE : READLINE_END;
}
