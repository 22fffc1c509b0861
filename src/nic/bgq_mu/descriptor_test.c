#include <string.h>

#include "sim/random.h"
#include "testing/testing.h"
#include "weft/hwi.h"

static void what_is_set_is_read_back(void **state)
{
	for (uint64_t n = 0; n < 1000; n++) {
		struct random_bits r = random_draw(9, 0, RANDOM_TEST, n);
		uint64_t offset = r.a & MU_OFFSET_MASK;
		uint64_t counter = r.b & MU_OFFSET_MASK;
		unsigned base = (unsigned)(r.a >> 54);
		unsigned other = (unsigned)(r.b >> 54);
		struct mu_descriptor d;

		memset(&d, (int)(r.b >> 40 & 0xff), sizeof(d));
		mu_set_payload(&d, r.a, r.b);
		mu_set_put(&d.header, base, offset);
		mu_set_counter(&d.header, other, counter);
		mu_set_valid_bytes(&d.header, base / 2);
		mu_set_packet(&d.header, MU_GET, other % 17);
		assert_int_equal(mu_payload(&d), r.a);
		assert_int_equal(mu_length(&d), r.b);
		assert_int_equal(mu_put_base(&d.header), base);
		assert_int_equal(mu_put_offset(&d.header), offset);
		assert_int_equal(mu_counter_base(&d.header), other);
		assert_int_equal(mu_counter_offset(&d.header), counter);
		assert_int_equal(mu_valid_bytes(&d.header), base / 2);
		assert_int_equal(mu_packet_type(&d.header), MU_GET);
	}
}

/* Setting the offset of each packet must leave the rest as software set it. */
static void the_pacing_bit_is_kept(void **state)
{
	struct mu_header h = { { 0 } };

	h.byte[13] = 0x20;
	mu_set_put(&h, 3, MU_OFFSET_MASK);
	assert_int_equal(h.byte[13] & 0x20, 0x20);
	mu_set_put(&h, 3, 0);
	assert_int_equal(h.byte[13], 0xe0);
	assert_int_equal(mu_put_base(&h), 3);
	assert_int_equal(mu_put_offset(&h), 0);
}

TESTS(TEST(what_is_set_is_read_back), TEST(the_pacing_bit_is_kept))
