/*
 * A stream that writes to memory.  open_memstream() loses text without a word
 * when memory runs out; this one ends the process as mem_alloc() does.
 */
#ifndef BASE_STREAM_H
#define BASE_STREAM_H

#include <stdio.h>

/* Stays where it is while the stream is open. */
struct stream {
	FILE *file;
	char *text; /* what was flushed, ended by a zero; for mem_free() */
	size_t size, room;
};

void stream_open(struct stream *s);
/* The text is whole then, and stays. */
void stream_close(struct stream *s);

#endif
