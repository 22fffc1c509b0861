/* Packets as bits: the header that chips route by, and what the CRC finds. */
#include "nic/gemini/frame.h"

#include <string.h>

#include "base/crc16.h"
#include "nic/gemini/card.h"
#include "testing/testing.h"
#include "topo/topo_testing.h"
#include "topo/torus.h"

enum { WRITE = 96, CRC_AT = WRITE - 2, BITS = 8 * WRITE };

static void make_torus(struct torus *t)
{
	struct param_block b = {
		.section = "topology",
		.rows = torus_ops.params,
		.n_rows = torus_ops.n_params,
		.values = t,
	};
	struct err e = { 0 };

	*t = (struct torus){ .topo.ops = &torus_ops };
	topo_defaults(&t->topo);
	t->nodes = 2;
	assert_int_equal(
		param_read(&b, param_find(&b, "shape"), "4x4x4", &e), 0);
	assert_int_equal(
		param_read(&b, param_find(&b, "links"), "8,4,8", &e), 0);
	assert_int_equal(torus_ops.init(&t->topo, &e), 0);
}

/* GEM-F49. */
static void the_first_phit_has_chip_ids_channel_and_routing(void **state)
{
	static const struct {
		struct packet p;
		uint32_t phit;
	} row[] = {
		{ { .src = 0, .dst = 0x7f, .kind = PACKET_DYNAMIC },
			0x40003f | 1 << 16 },
		{ { .src = 1, .dst = 42, .kind = PACKET_DETERMINISTIC },
			21 | 1 << 18 },
		{ { .src = 2,
			  .dst = 42,
			  .kind = PACKET_DETERMINISTIC,
			  .hints = 9 },
			21 | 1 << 23 },
		{ { .src = 2, .dst = 42, .kind = PACKET_VECTOR },
			21 | 1 << 21 },
		{ { .src = 2,
			  .dst = 43,
			  .kind = PACKET_DYNAMIC,
			  .format = GEM_DONE },
			21 | 1 << 16 | 1 << 20 | 1 << 22 },
	};
	struct torus t;

	make_torus(&t);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_int_equal(
			gem_header_pack(gem_header_of(&t.topo, &row[i].p)),
			row[i].phit);
	/* 16 bits of chip, twice 2 of node */
	assert_int_equal(gem_header_pack((struct gem_header){ .chip = 0xffff,
				 .dst = 3,
				 .src = 3,
				 .v = 1,
				 .r = true,
				 .a = true,
				 .h = true }),
		0xffffff);
}

struct wire {
	struct torus torus;
	struct net *net;
	struct packet packet[2];
	struct gem_load load;
	uint32_t bytes[1];
};

/* A write of a line, of 32 phits. */
static void set_up(struct wire *x)
{
	make_torus(&x->torus);
	x->bytes[0] = WRITE;
	x->load = (struct gem_load){ .op = GEMINI_PUT, .bytes = GEMINI_LINE };
	for (uint32_t i = 0; i < GEMINI_LINE; i++)
		x->load.data[i] = (uint8_t)(i * 37);
	x->packet[1] = (struct packet){ .src = 3,
		.dst = 77,
		.bytes = GEMINI_LINE,
		.load = payload_to_load(&x->load) };
	x->net->packets = x->packet;
	x->net->topo = &x->torus.topo;
	x->net->link.bytes = x->bytes;
}

static bool is_found(struct wire *x, const uint32_t *bit, uint32_t n)
{
	struct net_client client = { .net = x->net };

	return gem_harm_is_found(&client, NULL, 1, bit, n, BITS);
}

/* Each of 768 bits, any two and three, and bursts.  GEM-F52. */
static void the_crc_covers_headers_and_data(void **state)
{
	struct net net = { 0 };
	struct wire x = { .net = &net };
	struct gem_load was;
	uint32_t bit[16];

	set_up(&x);
	was = x.load;
	for (uint32_t i = 0; i < BITS; i++)
		assert_true(is_found(&x, &i, 1));
	for (uint32_t i = 0; i < 30000; i++) {
		bit[0] = i % BITS;
		bit[1] = (bit[0] + 1 + i * 7 % (BITS - 1)) % BITS;
		bit[2] = (bit[0] + 1 + i * 11 % (BITS - 1)) % BITS;
		assert_true(is_found(&x, bit, bit[1] == bit[2] ? 2 : 3));
	}
	for (uint32_t i = 0; i + 16 <= BITS; i++) {
		for (uint32_t k = 0; k < 16; k++)
			bit[k] = i + k;
		assert_true(is_found(&x, bit, 16));
	}
	assert_memory_equal(&x.load, &was, sizeof(was));
	assert_int_equal(x.packet[1].flags, 0);
}

/* Flips of one bit before the CRC, and of those of the CRC that belong to it.
 */
static uint32_t escape(uint32_t first, uint32_t bit[17])
{
	uint8_t zero[CRC_AT] = { 0 }, one[CRC_AT] = { 0 };
	uint32_t n = 0, change;

	one[first / 8] = (uint8_t)(1u << first % 8);
	change = crc16(zero, CRC_AT) ^ crc16(one, CRC_AT);
	bit[n++] = first;
	for (uint32_t k = 0; k < 16; k++)
		if (change >> k & 1)
			bit[n++] = 8 * CRC_AT + k;
	return n;
}

/* What it does not find changes the bytes, or leads nowhere.  GEM-F52. */
static void what_the_crc_does_not_find_is_delivered(void **state)
{
	struct net net = { 0 };
	struct wire x = { .net = &net };
	uint32_t bit[17], n;

	set_up(&x);
	/* the second byte of data, behind 21 of headers */
	n = escape(8 * 22 + 3, bit);
	assert_false(is_found(&x, bit, n));
	assert_int_equal(x.load.data[1], 37 ^ 8);
	assert_int_equal(x.packet[1].flags, 0);
	/* the destination's chip */
	set_up(&x);
	n = escape(2, bit);
	assert_false(is_found(&x, bit, n));
	assert_int_equal(x.packet[1].flags, PACKET_HURT);
	assert_int_equal(x.load.data[1], 37);
}

TESTS(TEST(the_first_phit_has_chip_ids_channel_and_routing),
	TEST(the_crc_covers_headers_and_data),
	TEST(what_the_crc_does_not_find_is_delivered))
