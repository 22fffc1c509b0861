#define _GNU_SOURCE
#include "base/stream.h"

#include <string.h>
#include <sys/types.h>

#include "base/mem.h"

enum { LEAST = 256 };

static ssize_t take(void *cookie, const char *from, size_t n)
{
	struct stream *s = cookie;

	while (s->room <= s->size + n) {
		s->room = s->room ? 2 * s->room : LEAST;
		s->text = mem_grow(s->text, s->room, 1);
	}
	memcpy(s->text + s->size, from, n);
	s->size += n;
	s->text[s->size] = 0;
	return (ssize_t)n;
}

void stream_open(struct stream *s)
{
	cookie_io_functions_t io = { .write = take };

	*s = (struct stream){ .room = LEAST, .text = mem_alloc(LEAST, 1) };
	s->file = fopencookie(s, "w", io);
	if (!s->file)
		mem_give_up();
}

void stream_close(struct stream *s)
{
	if (fclose(s->file))
		mem_give_up();
}
