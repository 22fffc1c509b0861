/*
 * Which way packets go: the programmed order of dimensions (BGQ-F34) and the
 * zones (BGQ-F36, BGQ-F37).  Packets go one by one, and the senders' counters
 * tell which links each has taken.
 */
#include <string.h>

#include "base/mem.h"
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { TRIES = 24, MOST_HOPS = 64 };

struct walker {
	struct rig *r;
	uint64_t *before; /* [site][port] bytes sent */
	sim_time now;
	uint64_t series;
};

static void start(struct walker *w, struct hint_how way)
{
	struct rig_how how = { .way = way };

	*w = (struct walker){ .r = rig_new(&how) };
	w->before = mem_alloc((size_t)w->r->net->n_sites * w->r->net->n_ports,
		sizeof(*w->before));
}

static void finish(struct walker *w)
{
	rig_run(w->r);
	mem_free(w->before);
	rig_free(w->r);
}

/* The port by which something has left a site since the last time. */
static port_id port_used(struct walker *w, site_id s)
{
	uint32_t n = w->r->net->n_ports, used = n, p;

	for (p = 0; p < n; p++) {
		uint64_t b = rig_sent_bytes(w->r, s, p, ALL_CHANNELS);

		if (b == w->before[s * n + p])
			continue;
		assert_int_equal(used, n); /* one only */
		assert_int_equal(b - w->before[s * n + p], 40);
		w->before[s * n + p] = b;
		used = p;
	}
	return used;
}

/* The dimensions of a packet's hops, in order, as letters. */
static void walk(struct walker *w, struct packet p, char *letters)
{
	uint32_t n = w->r->net->n_ports, k = rig_send(w->r, w->now, 0, p);
	site_id s = p.src;
	port_id o;

	w->now += 20000 * SIM_NS;
	rig_run_until(w->r, w->now);
	w->now += 1000 * SIM_NS;
	while ((o = port_used(w, s)) < n) {
		*letters++ = (char)('A' + o / 2);
		s = direct_site(w->r->net, s)->port[o].sender.peer;
	}
	*letters = '\0';
	assert_int_equal(s, p.dst);
	rig_gather(w->r);
	assert_non_null(w->r->got[k]);
}

static struct packet any_packet(struct walker *w, uint8_t kind, uint8_t zone)
{
	return (struct packet){
		.src = rig_draw(&w->series, w->r->net->n_sites),
		.dst = rig_draw(&w->series, w->r->net->n_sites),
		.kind = kind,
		.zone = zone,
	};
}

/* Whether no letter comes before one of an earlier group ("AB,C"). */
static bool is_grouped(const char *letters, const char *groups)
{
	size_t at = 0;

	for (; *letters; letters++) {
		size_t i = 0;
		const char *g;

		for (g = groups; *g != *letters; g++)
			i += *g == ',';
		if (i < at)
			return false;
		at = i;
	}
	return true;
}

/* --- orders --- */

/* BGQ-F34; as groups of one dimension each. */
static void check_order(const char *shape, const char *wrap, const char *order,
	const char *groups)
{
	char letters[MOST_HOPS];
	struct walker w;

	start(&w, (struct hint_how){
			  .shape = shape, .wrap = wrap, .order = order });
	for (int i = 0; i < TRIES; i++) {
		static const uint8_t kinds[] = { PACKET_DETERMINISTIC,
			PACKET_HIGH, PACKET_SYSTEM };

		walk(&w, any_packet(&w, kinds[i % 3], 0), letters);
		assert_true(is_grouped(letters, groups));
	}
	finish(&w);
}

/* BGQ-F34 */
static void deterministic_packets_follow_the_order(void **state)
{
	check_order("4x3x5", NULL, "ABC", "A,B,C");
	check_order("4x3x5", NULL, "ACB", "A,C,B");
	check_order("4x3x5", NULL, "BAC", "B,A,C");
	check_order("4x3x5", NULL, "BCA", "B,C,A");
	check_order("4x3x5", NULL, "CAB", "C,A,B");
	check_order("4x3x5", NULL, "CBA", "C,B,A");
	check_order("2x3x2x2x2", NULL, "EBDAC", "E,B,D,A,C");
}

/* BGQ-F34: a line is twice as long as a ring. */
static void the_longest_dimension_can_go_first(void **state)
{
	check_order("4x3x5", NULL, "longest-first", "C,A,B");
	check_order("4x4", "torus,mesh", "longest-first", "B,A");
	check_order("5x3", "torus,mesh", "longest-first", "B,A");
	check_order("2x4x2", NULL, NULL, "B,A,C");
}

/* --- zones --- */

static void program(struct walker *w, uint32_t set, const char *zones)
{
	struct err e = { 0 };

	if (hint_set_zones(&w->r->way.h, set, zones, &e))
		fail_msg("%s", e.text);
}

/* Dynamic packets obey the set that they name. */
static void check_zones(struct walker *w, uint8_t set, const char *groups)
{
	char letters[MOST_HOPS];

	for (int i = 0; i < TRIES; i++) {
		walk(w, any_packet(w, PACKET_DYNAMIC, set), letters);
		assert_true(is_grouped(letters, groups));
	}
}

/* BGQ-F36, BGQ-G6: four sets at once; BGQ-F37's example among them. */
static void dynamic_packets_finish_a_zone_before_the_next(void **state)
{
	struct walker w;

	start(&w, (struct hint_how){ .shape = "3x3x2x2x2", .order = "DBECA" });
	program(&w, 0, "AB,CD,E");
	program(&w, 1, "E,D,C,B,A");
	program(&w, 2, "order");
	program(&w, 3, "longest-first");
	check_zones(&w, 0, "AB,CD,E");
	check_zones(&w, 1, "E,D,C,B,A");
	check_zones(&w, 2, "D,B,E,C,A");
	check_zones(&w, 3, "AB,CDE");
	finish(&w);
}

/* BGQ-F36: the masks are registers: another content holds from then on. */
static void zones_can_be_programmed_between_packets(void **state)
{
	struct walker w;

	start(&w, (struct hint_how){ .shape = "4x4x4" });
	program(&w, 0, "A,BC");
	check_zones(&w, 0, "A,BC");
	program(&w, 0, "C,A,B");
	check_zones(&w, 0, "C,A,B");
	program(&w, 0, "BC,A");
	check_zones(&w, 0, "BC,A");
	finish(&w);
}

/* Deterministic packets go by the order, whatever zone they name. */
static void zones_are_for_dynamic_packets(void **state)
{
	char letters[MOST_HOPS];
	struct walker w;

	start(&w, (struct hint_how){ .shape = "4x4x4", .order = "ABC" });
	program(&w, 2, "C,B,A");
	for (int i = 0; i < TRIES; i++) {
		walk(&w, any_packet(&w, PACKET_DETERMINISTIC, 2), letters);
		assert_true(is_grouped(letters, "A,B,C"));
	}
	finish(&w);
}

/* BGQ-F35: inside a zone, and without zones, all ways are used: of packets
 * that have to go two hops in each of three dimensions, by first hop. */
static uint32_t first_hops(struct walker *w, uint8_t set)
{
	char letters[MOST_HOPS];
	uint32_t seen = 0;

	for (int i = 0; i < TRIES; i++) {
		struct packet p = any_packet(w, PACKET_DYNAMIC, set);

		p.dst = (p.src % 4 + 2) % 4 + (p.src / 4 % 4 + 2) % 4 * 4 +
			(p.src / 16 + 2) % 4 * 16;
		walk(w, p, letters);
		assert_int_equal(strlen(letters), 6);
		seen |= 1u << (letters[0] - 'A');
	}
	return seen;
}

/* BGQ-F35, BGQ-F36 */
static void inside_a_zone_all_ways_are_used(void **state)
{
	struct walker w;

	start(&w, (struct hint_how){ .shape = "4x4x4" });
	program(&w, 0, "none");
	program(&w, 1, "BC,A");
	program(&w, 2, "AC,B");
	assert_int_equal(first_hops(&w, 0), 7);
	assert_int_equal(first_hops(&w, 1), 6);
	assert_int_equal(first_hops(&w, 2), 5);
	finish(&w);
}

/*
 * Design, section 9: of the free links, the one with the most tokens.  Node
 * (1,0) does not take what comes, and n packets stand before it; a packet of
 * (0,0) that may go by A+ or by B+ goes by B+.  And the same with A and B
 * swapped.
 */
static void check_most_tokens(uint32_t n, bool is_swapped, bool is_staged)
{
	struct rig_how how = {
		.is_staged = is_staged,
		.way = { .shape = "4x4", .wrap = "mesh", .zones = "none" },
		.fills = true,
	};
	struct rig *r = rig_new(&how);
	site_id full = is_swapped ? 4 : 1;
	port_id in = is_swapped ? 3 : 1;
	sim_time t = 5000 * SIM_NS;

	rig_close(r, full, FIFO_USER + in);
	rig_flood(r, 0, 0, 2 + n, (struct packet){ .dst = full, .bytes = 512 });
	rig_send(r, t, 1, (struct packet){ .dst = 5, .bytes = 512 });
	rig_run_until(r, 2 * t);
	assert_int_equal(rig_standing(r, full, in, CHANNEL_DYNAMIC), n);
	assert_int_equal(
		rig_sent_bytes(r, 0, in ^ 1, ALL_CHANNELS), (2 + n) * 552);
	assert_int_equal(
		rig_sent_bytes(r, 0, is_swapped ? 0 : 2, ALL_CHANNELS), 552);
	rig_open(r, full, FIFO_USER + in, 3 * t);
	rig_run(r);
	rig_free(r);
}

static void a_dynamic_packet_takes_the_link_with_most_tokens(void **state)
{
	for (uint32_t n = 1; n <= 8; n++) {
		check_most_tokens(n, false, false);
		check_most_tokens(n, true, false);
	}
}

/* BGQ-F64: also where senders tell receivers and FIFOs what they have. */
static void a_fifo_asks_the_sender_with_most_tokens_in_stages(void **state)
{
	for (uint32_t n = 1; n <= 8; n++) {
		check_most_tokens(n, false, true);
		check_most_tokens(n, true, true);
	}
}

TESTS(TEST(deterministic_packets_follow_the_order),
	TEST(the_longest_dimension_can_go_first),
	TEST(dynamic_packets_finish_a_zone_before_the_next),
	TEST(zones_can_be_programmed_between_packets),
	TEST(zones_are_for_dynamic_packets),
	TEST(inside_a_zone_all_ways_are_used),
	TEST(a_dynamic_packet_takes_the_link_with_most_tokens),
	TEST(a_fifo_asks_the_sender_with_most_tokens_in_stages))
