#define _GNU_SOURCE
#include "base/readline.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

enum { BLOCK = 1 << 14 }; /* bytes, at first */

/* Reads more, behind what is left; false at the end. */
static bool fill(struct lines *l)
{
	size_t left = l->n - l->at, more;
	const char *zero;

	if (l->at)
		memmove(l->buffer, l->buffer + l->at, left);
	l->zero -= l->at;
	l->at = 0;
	l->n = left;
	if (left + 1 >= l->room) {
		l->room = l->room ? 2 * l->room : BLOCK;
		l->buffer = mem_grow(l->buffer, l->room, 1);
	}
	more = fread(l->buffer + left, 1, l->room - 1 - left, l->file);
	l->n += more;
	if (l->zero == left) {
		zero = memchr(l->buffer + left, 0, more);
		l->zero = zero ? (size_t)(zero - l->buffer) : l->n;
	}
	return more;
}

/* The length of the next line; more than READLINE_MOST: it is too long. */
static size_t measure(struct lines *l)
{
	size_t seen = 0;

	do {
		size_t from = l->at + seen;
		const char *end = l->n > from ? memchr(&l->buffer[from], '\n',
							l->n - from)
					      : NULL;

		if (end)
			return (size_t)(end - l->buffer) - l->at + 1;
		seen = l->n - l->at;
	} while (seen <= READLINE_MOST && fill(l));
	return seen;
}

enum readline readline(struct lines *l)
{
	size_t n;

	if (l->text)
		l->buffer[l->at] = l->first;
	n = measure(l);
	l->text = NULL;
	if (!n)
		return READLINE_END;
	if (l->zero < l->at + n)
		return READLINE_NO_TEXT;
	if (n > READLINE_MOST)
		return READLINE_TOO_LONG;
	l->text = l->buffer + l->at;
	l->at += n;
	l->first = l->buffer[l->at];
	l->buffer[l->at] = '\0';
	return READLINE_ONE;
}

void lines_fini(struct lines *l)
{
	mem_free(l->buffer);
	*l = (struct lines){ .file = l->file };
}
