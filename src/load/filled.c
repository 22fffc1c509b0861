#include "load/filled.h"

#include <string.h>

enum { PIECE = 4096 };

static size_t piece(uint64_t left)
{
	return left < PIECE ? (size_t)left : PIECE;
}

void filled_make(
	const struct programs *p, uint64_t number, uint64_t at, uint64_t bytes)
{
	uint64_t i, end = bytes - sizeof(number);
	uint8_t block[PIECE];

	for (i = 0; i < end; i += PIECE) {
		memory_fill_by(p->load.seed, number, i, block, piece(end - i));
		program_write(at + i, block, piece(end - i));
	}
	program_write(at + end, &number, sizeof(number));
}

bool filled_check(
	struct programs *p, uint64_t number, uint64_t at, uint64_t bytes)
{
	uint64_t i, last, end = bytes - sizeof(number);
	uint8_t want[PIECE], got[PIECE];

	for (i = 0; i < end; i += PIECE) {
		memory_fill_by(p->load.seed, number, i, want, piece(end - i));
		program_read(at + i, got, piece(end - i));
		if (memcmp(want, got, piece(end - i)) != 0)
			return programs_complain(p,
				"message %llu: wrong bytes behind %llu",
				(unsigned long long)number,
				(unsigned long long)i);
	}
	program_read(at + end, &last, sizeof(last));
	return last == number ||
	       programs_complain(p, "message %llu: it ends with %llu",
		       (unsigned long long)number, (unsigned long long)last);
}
