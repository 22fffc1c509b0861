/* Names that people mistype. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include <stddef.h>

/*
 * The candidate nearest to name by edit distance (a swap of two neighbours
 * counts one), or NULL where none is near enough to be what was meant: more
 * than a third of the longer name's letters, rounded up, are wrong.
 */
const char *name_nearest(
	const char *name, const char *const *candidates, size_t n);

/*
 * What an error says behind a name that there is not: "; did you mean bgq?",
 * or otherwise where nothing is near.  Written to out, which it returns; cut
 * where it is too long.
 */
enum { NAME_HINT = 512 };
const char *name_hint(const char *name, const char *const *candidates, size_t n,
	const char *otherwise, char out[NAME_HINT]);

/*
 * The bytes of the UTF-8 letter that starts s, or 0 where that is no letter
 * of one line: a control character, a line separator, or no UTF-8 at all.
 */
size_t name_letter(const char *s);

/* Puts what behind a text in room for size bytes, and cuts it there. */
void name_add(char *text, size_t size, const char *what);

/* Puts ? for each byte that is part of no such letter, nor one of keep. */
void name_clean(char *s, const char *keep);

#endif
