/*
 * BGQ-F30: deterministic, high-priority and system packets of one source to
 * one destination stay in order, however full the network is.  BGQ-F43: of
 * dynamic ones some come out of order.
 */
#include <stdlib.h>

#include "router/direct/net_testing.h"
#include "testing/testing.h"

#define KIND(kind) (1u << (kind))

enum {
	ORDERED = KIND(PACKET_DETERMINISTIC) | KIND(PACKET_HIGH) |
		  KIND(PACKET_SYSTEM),
	ANY_KIND = KIND(PACKET_DYNAMIC) | ORDERED,
};

/* Everything at once; returns how many dynamic packets were overtaken. */
static uint32_t check_order(
	const struct rig_how *how, uint64_t seed, uint32_t kinds, bool any_size)
{
	struct rig *r = rig_new(how);
	uint64_t series = seed << 32;
	uint32_t n = getenv("WEFT_SLOW") ? 60 : 400, overtaken;

	rig_storm(r, &series, n, kinds, any_size);
	rig_run(r);
	for (uint8_t kind = PACKET_DETERMINISTIC; kind < N_PACKET_KINDS; kind++)
		assert_int_equal(rig_overtakings(r, kind), 0);
	overtaken = rig_overtakings(r, PACKET_DYNAMIC);
	rig_free(r);
	return overtaken;
}

/* BGQ-F30 */
static void deterministic_packets_stay_in_order(void **state)
{
	static const char *const shapes[] = { "9", "2x2", "5x4", "2x2x2x2x2",
		"4x3x3", "2x2x1x2x2x2" };

	for (uint32_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct rig_how how = { .way = { .shape = shapes[i] } };

		check_order(&how, i, KIND(PACKET_DETERMINISTIC), false);
		check_order(&how, i, KIND(PACKET_DETERMINISTIC), true);
	}
}

/* BGQ-F30 */
static void classes_stay_in_order_among_each_other(void **state)
{
	static const char *const shapes[] = { "6", "3x5", "2x3x2x2" };

	for (uint32_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct rig_how how = { .way = { .shape = shapes[i] } };

		check_order(&how, 10 + i, ORDERED, true);
		how.way.wrap = "mesh";
		check_order(&how, 10 + i, ORDERED, true);
	}
}

/* BGQ-G8: where both ways round are equally far, each flow keeps to one. */
static void half_way_round_is_in_order(void **state)
{
	static const char *const ties[] = { "parity", "plus", "random" };

	for (uint32_t i = 0; i < sizeof(ties) / sizeof(ties[0]); i++) {
		struct rig_how how = {
			.way = { .shape = "4x2x4", .ties = ties[i] },
		};

		check_order(&how, 50 + i, ANY_KIND, true);
	}
}

/* Escaped packets share the deterministic channel and may overtake there. */
static void escapes_do_not_disturb_the_order(void **state)
{
	static const char *const shapes[] = { "8", "4x4", "3x3x3" };

	for (uint32_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct rig_how how = {
			.way = { .shape = shapes[i], .zones = "none" },
			.packets = 2,
		};

		check_order(&how, 20 + i, ANY_KIND, true);
		how.queues = 2;
		how.packets = 3;
		check_order(&how, 20 + i, ANY_KIND, true);
	}
}

/* Receivers that are slow to give room back, and equal shares of links for
 * transit and injection. */
static void slow_receivers_keep_the_order(void **state)
{
	struct rig_how how = {
		.way = { .shape = "4x3x2" },
		.transit = 1,
		.fills = true,
		.drain = 700 * SIM_NS,
	};

	check_order(&how, 30, ANY_KIND, true);
	how.reception = 1;
	check_order(&how, 31, ORDERED, true);
	how.drain = -1;
	check_order(&how, 32, ANY_KIND, true);
}

/* BGQ-F43 */
static void dynamic_packets_overtake_each_other(void **state)
{
	struct rig_how how = { .way = { .shape = "4x4x2", .zones = "none" } };

	assert_true(check_order(&how, 40, KIND(PACKET_DYNAMIC), false) > 0);
	how.way.zones = "longest-first";
	assert_true(check_order(&how, 41, KIND(PACKET_DYNAMIC), true) > 0);
}

TESTS(TEST(deterministic_packets_stay_in_order),
	TEST(classes_stay_in_order_among_each_other),
	TEST(half_way_round_is_in_order),
	TEST(escapes_do_not_disturb_the_order),
	TEST(slow_receivers_keep_the_order),
	TEST(dynamic_packets_overtake_each_other))
