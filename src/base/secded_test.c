#include "base/secded.h"
#include "testing/testing.h"

enum { CODE = 72 }; /* 64 bits of data, and of the check */

static const uint64_t words[] = {
	0,
	UINT64_MAX,
	1,
	UINT64_C(1) << 63,
	UINT64_C(0x0123456789abcdef),
	UINT64_C(0xdeadbeefcafef00d),
	UINT64_C(0x5555555555555555),
};

enum { N_WORDS = sizeof(words) / sizeof(words[0]) };

static void flip(uint64_t *data, uint8_t *check, unsigned bit)
{
	if (bit < 64)
		*data ^= UINT64_C(1) << bit;
	else
		*check ^= (uint8_t)(1u << (bit - 64));
}

static void a_sound_word_is_left_alone(void **state)
{
	for (unsigned i = 0; i < N_WORDS; i++) {
		uint64_t data = words[i];

		assert_int_equal(secded_decode(&data, secded_encode(data)),
			SECDED_CLEAN);
		assert_int_equal(data, words[i]);
	}
}

static void bgq_f130_any_single_bit_is_mended(void **state)
{
	unsigned i;

	for (i = 0; i < N_WORDS; i++)
		for (unsigned a = 0; a < CODE; a++) {
			uint64_t data = words[i];
			uint8_t check = secded_encode(data);

			flip(&data, &check, a);
			assert_int_equal(
				secded_decode(&data, check), SECDED_CORRECTED);
			assert_int_equal(data, words[i]);
		}
}

static void bgq_f130_any_two_bits_are_noticed(void **state)
{
	unsigned a;

	for (unsigned i = 0; i < N_WORDS; i++)
		for (a = 0; a < CODE; a++)
			for (unsigned b = 0; b < a; b++) {
				uint64_t data = words[i];
				uint8_t check = secded_encode(data);

				flip(&data, &check, a);
				flip(&data, &check, b);
				assert_int_equal(secded_decode(&data, check),
					SECDED_BAD);
			}
}

TESTS(TEST(a_sound_word_is_left_alone), TEST(bgq_f130_any_single_bit_is_mended),
	TEST(bgq_f130_any_two_bits_are_noticed))
