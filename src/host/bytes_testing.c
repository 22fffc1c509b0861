#include "host/bytes_testing.h"

#include "host/program.h"
#include "testing/testing.h"

uint8_t bytes_at(uint64_t seed, uint64_t i)
{
	return (uint8_t)((seed * 7919 + i) % 251 + 1);
}

void bytes_fill(uint64_t at, uint64_t seed, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++) {
		uint8_t byte = bytes_at(seed, i);

		assert_true(program_write(at + i, &byte, 1));
	}
}

void bytes_expect(uint64_t at, uint64_t seed, uint64_t bytes)
{
	uint8_t byte;

	for (uint64_t i = 0; i < bytes; i++) {
		assert_true(program_read(at + i, &byte, 1));
		if (byte != bytes_at(seed, i))
			fail_msg("node %u: byte %llu at 0x%llx is %u, not %u",
				program_node(), (unsigned long long)i,
				(unsigned long long)at, byte,
				bytes_at(seed, i));
	}
}

void bytes_expect_all(uint64_t at, uint8_t value, uint64_t bytes)
{
	uint8_t byte;

	for (uint64_t i = 0; i < bytes; i++) {
		assert_true(program_read(at + i, &byte, 1));
		if (byte != value)
			fail_msg("node %u: the byte at 0x%llx is %u, not %u",
				program_node(), (unsigned long long)(at + i),
				byte, value);
	}
}
