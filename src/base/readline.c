#define _GNU_SOURCE
#include "base/readline.h"

#include "base/mem.h"

enum readline readline(FILE *f, char **text, size_t *room)
{
	/* a char may alias *text and *room, which would be loaded each time */
	char *to = *text;
	size_t n = 0, most = *room;
	int c = 0;

	while (c != '\n' && (c = getc_unlocked(f)) != EOF) {
		if (!c)
			return READLINE_NO_TEXT;
		if (n == READLINE_MOST)
			return READLINE_TOO_LONG;
		if (n + 2 > most) {
			*room = most = most ? 2 * most : 256;
			*text = to = mem_grow(to, most, 1);
		}
		to[n++] = (char)c;
	}
	if (n)
		to[n] = '\0';
	return n ? READLINE_ONE : READLINE_END;
}
