/* Mistyped names, and names as text. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The candidate nearest to name by edit distance (a swap of two neighbours
 * counts one), or NULL if none is near enough: more than a third of the longer
 * name's letters, rounded up, are wrong.
 */
const char *name_nearest(
	const char *name, const char *const *candidates, size_t n);

/*
 * The end of an error about an unknown name: "; did you mean bgq?", or the text
 * otherwise if no name is near.  Written to out, which it returns; truncated if
 * it is too long.
 */
enum { NAME_HINT = 512 };
const char *name_hint(const char *name, const char *const *candidates, size_t n,
	const char *otherwise, char out[NAME_HINT]);

/* Whether a list of words, or NULL, has a word; sign stands between words. */
bool name_has_word(const char *words, char sign, const char *word);

/*
 * The number of bytes of the UTF-8 character at the start of s, or 0 if it
 * cannot be printed on a line: a control character, a line separator, or not
 * UTF-8.
 */
size_t name_letter(const char *s);

/* Appends what to a text in a buffer of size bytes, truncated if necessary. */
void name_add(char *text, size_t size, const char *what);

/* The same at the end of a text of n bytes; returns its length.  Quicker than
 * snprintf(), for names of every site and link. */
size_t name_put(char *text, size_t size, size_t n, const char *what);
size_t name_put_number(char *text, size_t size, size_t n, uint64_t number);

/* Replaces by ? each byte that is not part of such a character and not in
 * keep. */
void name_clean(char *s, const char *keep);

#endif
