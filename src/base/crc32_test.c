#include "base/crc32.h"
#include "testing/testing.h"

/* The check value that every description of this CRC has. */
static void knows_the_check_value(void **state)
{
	assert_int_equal(crc32("123456789", 9), 0xcbf43926);
	assert_int_equal(crc32("", 0), 0);
}

/* Bit by bit, as it is defined. */
static uint32_t slow(const uint8_t *p, size_t n)
{
	uint32_t x = UINT32_MAX;

	for (size_t i = 0; i < 8 * n; i++) {
		uint32_t bit = (x ^ (uint32_t)(p[i / 8] >> i % 8)) & 1;

		x = x >> 1 ^ (bit ? 0xedb88320 : 0);
	}
	return ~x;
}

static void agrees_with_its_definition(void **state)
{
	uint8_t data[300];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * i * 7 + i);
	for (size_t i = 0; i <= sizeof(data); i++)
		assert_int_equal(crc32(data, i), slow(data, i));
}

TESTS(TEST(knows_the_check_value), TEST(agrees_with_its_definition))
