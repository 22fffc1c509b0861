#include <string.h>

#include "nic/bgq_mu/descriptor.h"
#include "sim/random.h"
#include "testing/testing.h"

/* The public layout, byte by byte (BGQ-G9 to G12). */
static void fields_lie_where_the_hardware_has_them(void **state)
{
	static const uint8_t want[MU_DESCRIPTOR_BYTES] = {
		0, 0, 0, 1, 0, 0, 0, 0, /* prefetch only */
		0, 0, 0, 0x12, 0x34, 0x56, 0x78, 0x9a, /* payload */
		0, 0, 0, 0, 0, 0x0f, 0x42, 0x40, /* length */
		0, 0, 0, 0, 0, 0, 0xff, 0xc0, /* FIFO map */
		0x55, 0, 0x04, 0, /* type, hints, dynamic, channel */
		0x03, 0xfe, 0xdc, 0xba, /* destination */
		0x50, 0, 0, 0, /* put of 16 chunks */
		/* base 0x155, offset 0x1f23456789 */
		0x55, 0x5f, 0x23, 0x45, 0x67, 0x89, 0x02, 0x1f, /* base 0x21f */
		0x01, 0xff, 0, 0, /* valid bytes */
		0, 0, 0, 0x10, 0, 0, 0x10, 0x02, /* counter */
	};
	struct mu_descriptor d;

	(void)state;
	memset(&d, 0, sizeof(d));
	mu_set_prefetch(&d, true);
	mu_set_payload(&d, UINT64_C(0x123456789a), 1000000);
	mu_set_fifo_map(&d, 0xffc0);
	d.header.byte[0] = MU_PT2PT;
	d.header.byte[2] = 0x04;
	mu_set(d.header.byte + 4, 4, 0x03fedcba);
	mu_set_packet(&d.header, MU_PUT, 16);
	mu_set_put(&d.header, 0x155, UINT64_C(0x1f23456789));
	mu_set_counter(&d.header, 0x21f, UINT64_C(0x1000001002));
	mu_set_valid_bytes(&d.header, 511);
	assert_memory_equal(&d, want, sizeof(want));

	assert_true(mu_is_prefetch(&d));
	assert_true(mu_is_dynamic(&d.header));
	assert_int_equal(mu_hints(&d.header), 0);
	assert_false(mu_is_deposit(&d.header));
	assert_false(mu_is_for_io(&d.header));
	assert_int_equal(mu_coord(&d.header, 0), 0x03);
	assert_int_equal(mu_coord(&d.header, 1), 0x3f);
	assert_int_equal(mu_coord(&d.header, 2), 0x2d);
	assert_int_equal(mu_coord(&d.header, 3), 0x32);
	assert_int_equal(mu_coord(&d.header, 4), 0x3a);
}

static void what_is_set_is_read_back(void **state)
{
	uint64_t n;

	(void)state;
	for (n = 0; n < 1000; n++) {
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

	(void)state;
	h.byte[13] = 0x20;
	mu_set_put(&h, 3, MU_OFFSET_MASK);
	assert_int_equal(h.byte[13] & 0x20, 0x20);
	mu_set_put(&h, 3, 0);
	assert_int_equal(h.byte[13], 0xe0);
	assert_int_equal(mu_put_base(&h), 3);
	assert_int_equal(mu_put_offset(&h), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_lie_where_the_hardware_has_them),
		cmocka_unit_test(what_is_set_is_read_back),
		cmocka_unit_test(the_pacing_bit_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
