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

#endif
