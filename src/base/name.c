#include "base/name.h"
#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Of a plain letter; names are written small. */
static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/*
 * Optimal string alignment: the edit distance in which a swap of neighbours
 * counts one and no letter is edited twice.  Row i holds the distances of
 * a's first i letters to every beginning of b; a swap looks two rows back.
 */
static void fill_row(size_t *row[3], const char *a, size_t i, const char *b)
{
	row[2][0] = i;
	for (size_t j = 1; b[j - 1]; j++) {
		size_t wrong = lower(a[i - 1]) != lower(b[j - 1]);
		size_t d = min(row[1][j], row[2][j - 1]) + 1;

		d = min(d, row[1][j - 1] + wrong);
		if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			a[i - 2] == b[j - 1])
			d = min(d, row[0][j - 2] + 1);
		row[2][j] = d;
	}
}

static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(b) + 1, d;
	size_t *cells = mem_alloc(3 * n, sizeof(*cells));
	size_t *row[3] = { cells, cells + n, cells + 2 * n };

	for (size_t j = 0; j < n; j++)
		row[2][j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t *oldest = row[0];

		row[0] = row[1];
		row[1] = row[2];
		row[2] = oldest;
		fill_row(row, a, i, b);
	}
	d = row[2][n - 1];
	mem_free(cells);
	return d;
}

const char *name_nearest(
	const char *name, const char *const *candidates, size_t n)
{
	const char *best = NULL;
	size_t len = strlen(name), best_d = SIZE_MAX;

	for (size_t i = 0; i < n; i++) {
		size_t other = strlen(candidates[i]), d;
		size_t longer = len > other ? len : other;
		size_t allowed = (longer + 2) / 3;

		/* Also keeps a name of a megabyte from costing anything. */
		if (longer - min(len, other) > allowed)
			continue;
		d = distance(name, candidates[i]);
		if (d <= allowed && d < best_d) {
			best = candidates[i];
			best_d = d;
		}
	}
	return best;
}

const char *name_hint(const char *name, const char *const *candidates, size_t n,
	const char *otherwise, char out[NAME_HINT])
{
	const char *near = name_nearest(name, candidates, n);

	snprintf(out, NAME_HINT, "%s%s%s", near ? "; did you mean " : "",
		near ? near : otherwise, near ? "?" : "");
	return out;
}

size_t name_letter(const char *s)
{
	static const uint32_t least[] = { 0, 0x20, 0xa0, 0x800, 0x10000 };
	uint32_t c = (unsigned char)s[0];
	size_t n = 1;

	if (c >= 0x80)
		n = c < 0xc2 || c > 0xf4 ? 0 : 2u + (c >= 0xe0) + (c >= 0xf0);
	if (n > 1)
		c &= 0x7fu >> n;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (uint32_t)(s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return c == 0x7f || c == 0x2028 || c == 0x2029 ? 0 : n;
}

void name_clean(char *s, const char *keep)
{
	size_t n;

	for (; *s; s += n ? n : 1) {
		n = name_letter(s);
		if (!n && !strchr(keep, *s))
			*s = '?';
	}
}

bool name_has_word(const char *words, char sign, const char *word)
{
	size_t n = strlen(word);

	while (words) {
		const char *end = strchr(words, sign);
		size_t length = end ? (size_t)(end - words) : strlen(words);

		if (length == n && !strncmp(words, word, n))
			return true;
		words = end ? end + 1 : NULL;
	}
	return false;
}

size_t name_put(char *text, size_t size, size_t n, const char *what)
{
	for (; *what && n + 1 < size; what++)
		text[n++] = *what;
	if (n < size)
		text[n] = 0;
	return n;
}

size_t name_put_number(char *text, size_t size, size_t n, uint64_t number)
{
	char digits[21], *at = digits + sizeof(digits);

	*--at = 0;
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return name_put(text, size, n, at);
}

void name_add(char *text, size_t size, const char *what)
{
	name_put(text, size, strlen(text), what);
}
