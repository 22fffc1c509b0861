#include "load/filled.h"

#include <string.h>

enum { PIECE = 4096 };

static size_t piece(uint64_t left)
{
	return left < PIECE ? (size_t)left : PIECE;
}

void filled_write(
	const struct programs *p, uint64_t number, uint64_t at, uint64_t bytes)
{
	uint8_t block[PIECE];
	uint64_t i;

	for (i = 0; i < bytes; i += PIECE) {
		size_t n = piece(bytes - i);

		memory_fill_by(p->load.seed, number, i, block, n);
		program_write(at + i, block, n);
	}
}

bool filled_compare(struct programs *p, const char *what, uint64_t number,
	uint64_t at, uint64_t bytes)
{
	uint8_t want[PIECE], got[PIECE];
	uint64_t i;

	for (i = 0; i < bytes; i += PIECE) {
		size_t n = piece(bytes - i);

		memory_fill_by(p->load.seed, number, i, want, n);
		program_read(at + i, got, n);
		if (memcmp(want, got, n) != 0)
			return programs_complain(p,
				"%s %llu: wrong bytes behind %llu", what,
				(unsigned long long)number,
				(unsigned long long)i);
	}
	return true;
}

/* Where the number is; behind all of it where there is none. */
static uint64_t end_of(uint64_t bytes)
{
	return bytes < sizeof(uint64_t) ? bytes : bytes - sizeof(uint64_t);
}

void filled_make(
	const struct programs *p, uint64_t number, uint64_t at, uint64_t bytes)
{
	uint64_t end = end_of(bytes);

	filled_write(p, number, at, end);
	if (end < bytes)
		program_write(at + end, &number, sizeof(number));
}

bool filled_check(
	struct programs *p, uint64_t number, uint64_t at, uint64_t bytes)
{
	uint64_t last, end = end_of(bytes);

	if (!filled_compare(p, "message", number, at, end))
		return false;
	if (end == bytes)
		return true;
	program_read(at + end, &last, sizeof(last));
	return last == number ||
	       programs_complain(p, "message %llu: it ends with %llu",
		       (unsigned long long)number, (unsigned long long)last);
}
