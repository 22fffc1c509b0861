#define _GNU_SOURCE
#include "base/readline.h"

#include "base/mem.h"

enum readline readline(FILE *f, char **text, size_t *room)
{
	size_t n = 0;
	int c = 0;

	while (c != '\n' && (c = getc_unlocked(f)) != EOF) {
		if (!c)
			return READLINE_NO_TEXT;
		if (n == READLINE_MOST)
			return READLINE_TOO_LONG;
		if (n + 2 > *room) {
			*room = *room ? 2 * *room : 256;
			*text = mem_grow(*text, *room, 1);
		}
		(*text)[n++] = (char)c;
	}
	if (n)
		(*text)[n] = '\0';
	return n ? READLINE_ONE : READLINE_END;
}
