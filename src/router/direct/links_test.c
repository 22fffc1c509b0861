/* Networks of made-up links: large packets, formats, rates. */
#include "router/direct/net_testing.h"
#include "link/link_testing.h"
#include "testing/testing.h"

/* Of packets of so many chunks of 16 B, 16 GB/s. */
static struct link_params large(uint32_t chunks)
{
	struct link_params p;

	p = link_test_defaults();
	p.rate = INT64_C(16000000000);
	p.header = p.chunk = 16;
	p.payload = (chunks - 1) * 16;
	return p;
}

/* Everything arrives and is accounted for, however many tokens it takes; a
 * lone packet takes its wires and its bytes. */
static void packets_of_many_chunks_pass(void **state)
{
	static const uint32_t chunks[] = { 255, 256, 257, 4095 };

	for (uint32_t i = 0; i < 4; i++) {
		struct link_params link = large(chunks[i]);
		struct rig *r =
			rig_new(&(struct rig_how){ .way = { .shape = "4x4" },
				.link = &link,
				.packets = 3,
				.fills = true });
		uint32_t bytes = (uint32_t)link.payload, lone;

		for (uint32_t k = 0; k < 16 * 4; k++) {
			struct packet p = { .src = k % 16,
				.dst = (k * 7 + 5) % 16,
				.kind = (uint8_t)(k / 16),
				.bytes =
					(uint16_t)(k % 3 ? bytes : bytes / 2) };

			if (p.src != p.dst)
				rig_flood(r, 0, rig_fifo(r, &p), 3, p);
		}
		lone = rig_send(r, (sim_time)100000000 * SIM_NS, 0,
			(struct packet){
				.src = 0, .dst = 1, .bytes = (uint16_t)bytes });
		rig_run(r);
		for (uint32_t k = 0; k < r->n_sent; k++) {
			assert_non_null(r->got[k]);
			assert_int_equal(r->got[k]->packet.chunks,
				1 + (r->got[k]->packet.bytes + 15) / 16);
		}
		assert_int_equal(r->got[lone]->tail - r->got[lone]->head,
			link_ser(&r->net->link, bytes));
		rig_free(r);
	}
}

/* --- rates --- */

enum { FULL_NS = 1000, NARROW_NS = 1500 };

/* Three lanes of 1 GB/s, packets of 3,000 B, nothing else on the wire. */
static struct link_params three_lanes(void)
{
	struct link_params p;

	p = link_test_defaults();
	p.rate = INT64_C(3000000000);
	p.lanes = 3;
	p.header = p.chunk = 30;
	p.trailer = p.gap = p.protocol = 0;
	p.payload = 2970;
	return p;
}

/* A lane of a link of a line of nodes is away from 10 to 20 us. */
static struct rig *narrow(site_id site, struct fault_event e[2],
	struct fault_plan *plan, const struct link_params *link)
{
	e[0] = (struct fault_event){ .at = 10000 * SIM_NS,
		.kind = &fault_lane,
		.site = site,
		.place = "" };
	e[1] = e[0];
	e[1].at = 20000 * SIM_NS;
	e[1].returns = true;
	*plan = (struct fault_plan){ .event = e, .n_events = 2, .lanes = 3 };
	return rig_new(
		&(struct rig_how){ .way = { .shape = "4", .wrap = "mesh" },
			.link = link,
			.faults = plan });
}

/* How long a packet from 0 to 3, alone, is in coming in. */
static sim_time stretched(struct rig *r, sim_time us)
{
	uint32_t n = rig_send(r, us * 1000 * SIM_NS, 0,
		(struct packet){ .dst = 3, .bytes = 2970 });

	rig_run(r);
	assert_int_equal(
		r->got[n]->head - r->sent[n], 2 * BOARD_PS + BOARDS_PS);
	return r->got[n]->tail - r->got[n]->head;
}

/* On whichever of its links, a lane less makes a packet half as long again;
 * before and afterwards nothing is different. */
static void a_lane_less_makes_a_packet_longer(void **state)
{
	struct link_params link = three_lanes();
	struct fault_event e[2];
	struct fault_plan plan;

	for (site_id s = 0; s < 3; s++) {
		struct rig *r = narrow(s, e, &plan, &link);

		assert_int_equal(stretched(r, 5), FULL_NS * SIM_NS);
		assert_int_equal(stretched(r, 15), NARROW_NS * SIM_NS);
		assert_int_equal(stretched(r, 25), FULL_NS * SIM_NS);
		rig_free(r);
	}
}

/* A stream is as fast as its slowest link. */
static void a_narrow_link_carries_less(void **state)
{
	struct link_params link = three_lanes();
	struct fault_event e[2];
	struct fault_plan plan;
	struct rig *r = narrow(1, e, &plan, &link);
	uint32_t before = 0, narrow_ones = 0;

	rig_flood(r, 0, 0, 40,
		(struct packet){ .dst = 3,
			.kind = PACKET_DETERMINISTIC,
			.bytes = 2970 });
	rig_run(r);
	for (uint32_t i = 1; i < r->n_sent; i++) {
		sim_time t = r->got[i]->head, apart = t - r->got[i - 1]->head;

		before += t < 9000 * SIM_NS && apart == FULL_NS * SIM_NS;
		narrow_ones += t > 12000 * SIM_NS && t < 19000 * SIM_NS &&
			       apart == NARROW_NS * SIM_NS;
	}
	assert_in_range(before, 7, 9);
	assert_in_range(narrow_ones, 4, 5);
	rig_free(r);
}

/* Board and boards have a rate each: no faults are needed for that. */
static void classes_of_wires_run_at_their_own_rates(void **state)
{
	static const int64_t rates[N_WIRE_CLASSES] = { [WIRE_BOARDS] =
							       1500000000 };
	struct link_params link = three_lanes();
	struct rig *r = rig_new(
		&(struct rig_how){ .way = { .shape = "4", .wrap = "mesh" },
			.link = &link,
			.rates = rates });
	uint32_t near, far;

	near = rig_send(r, 0, 0, (struct packet){ .dst = 1, .bytes = 2970 });
	far = rig_send(r, 10000 * SIM_NS, 0,
		(struct packet){ .dst = 3, .bytes = 2970 });
	rig_run(r);
	assert_int_equal(
		r->got[near]->tail - r->got[near]->head, FULL_NS * SIM_NS);
	assert_int_equal(
		r->got[far]->tail - r->got[far]->head, 2 * FULL_NS * SIM_NS);
	rig_free(r);
}

/* Storms on links that lose lanes and flip bits, and replay: all arrives, and
 * threads change nothing. */
static void narrow_links_replay_too(void **state)
{
	struct link_params link = three_lanes();
	struct fault_event e[3];
	struct fault_plan p = { .event = e, .n_events = 3, .lanes = 3 };
	struct rig *r[2];

	link.payload = 510;
	link.retry.kind = RETRY_REPLAY;
	for (uint32_t i = 0; i < 3; i++)
		e[i] = (struct fault_event){ .at = 3000 * (i + 1) * SIM_NS,
			.kind = &fault_lane,
			.site = 2 * i,
			.place = "" };
	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
		p.rate[i] = UINT64_C(10000000000000);
	for (uint32_t k = 0; k < 2; k++) {
		uint64_t series = 6;

		r[k] = rig_new(&(struct rig_how){ .way = { .shape = "4x3" },
			.link = &link,
			.faults = &p,
			.n_workers = k ? 3 : 1 });
		rig_storm(r[k], &series, 60, 15, false);
		rig_run(r[k]);
	}
	for (uint32_t i = 0; i < r[0]->n_sent; i++) {
		assert_non_null(r[0]->got[i]);
		assert_int_equal(r[0]->got[i]->tail, r[1]->got[i]->tail);
	}
	assert_int_equal(r[0]->net->faults->n_narrow, 6);
	rig_free(r[0]);
	rig_free(r[1]);
}

/* --- formats --- */

/* Phits of 3 B and 1,280 ps, as Gemini's. */
static void formats_share_a_link(void **state)
{
	static const struct link_format format[] = {
		{ "request", 7 * 3, 3, 9 },
		{ "response", 2 * 3, 0, 9 },
	};
	struct link_params link = three_lanes();
	struct rig *r;
	uint32_t put, twice, answer;

	link.rate = 3 * INT64_C(781250000);
	link.chunk = 3;
	link.word = 8;
	link.payload = 64;
	link.formats = format;
	link.n_formats = 2;
	r = rig_new(&(struct rig_how){
		.way = { .shape = "2", .wrap = "mesh" }, .link = &link });
	put = rig_send(r, 0, 0, (struct packet){ .dst = 1, .bytes = 64 });
	twice = rig_send(r, 1000 * SIM_NS, 0,
		(struct packet){ .dst = 1, .bytes = 64, .size = 2 });
	answer = rig_send(
		r, 2000 * SIM_NS, 0, (struct packet){ .dst = 1, .format = 1 });
	rig_run(r);
	assert_int_equal(r->got[put]->tail - r->got[put]->head, 32 * 1280);
	assert_int_equal(r->got[put]->packet.chunks, 32);
	/* two words that are sent twice: longer, but no more in a buffer */
	assert_int_equal(r->got[twice]->tail - r->got[twice]->head, 38 * 1280);
	assert_int_equal(r->got[twice]->packet.chunks, 32);
	assert_int_equal(r->got[answer]->tail - r->got[answer]->head, 2 * 1280);
	assert_int_equal(r->got[answer]->packet.chunks, 2);
	rig_free(r);
}

/* --- who is told of links --- */

enum { MOST_NEWS = 16 };

static struct news {
	site_id site;
	port_id port;
	bool is_up;
	sim_time t;
} news[MOST_NEWS];
static uint32_t n_news;

static void on_link(struct net_client *me, struct sim_worker *w, site_id s,
	port_id p, bool is_up, sim_time t)
{
	assert_true(n_news < MOST_NEWS);
	news[n_news++] = (struct news){ s, p, is_up, t };
}

static void both_ends_are_told_when_it_happens(void **state)
{
	struct fault_event e[] = {
		{ .at = 3000 * SIM_NS, .site = 1, .place = "" },
		{ .at = 9000 * SIM_NS,
			.site = 1,
			.returns = true,
			.place = "" },
	};
	struct fault_plan p = { .event = e, .n_events = 2 };
	struct rig *r = rig_new(&(struct rig_how){
		.way = { .shape = "4", .wrap = "mesh" }, .faults = &p });
	const struct net_client_faults faults = { .on_link = on_link };
	struct net_client_ops ops = *r->net->client[0]->from;

	assert_false(r->net->is_announced); /* nobody has asked */
	ops.faults = &faults;
	net_attach(r->net, &ops, r);
	net_attach(r->net, &ops, r);
	n_news = 0;
	rig_send(r, 5000 * SIM_NS, 0, (struct packet){ .dst = 3, .bytes = 64 });
	rig_run(r);
	assert_int_equal(n_news, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(news[i].is_up, i >= 2);
		assert_int_equal(
			news[i].t, i < 2 ? 3000 * SIM_NS : 9000 * SIM_NS);
		assert_int_equal(news[i].site, 1 + i % 2);
		assert_int_equal(news[i].port, i % 2);
	}
	assert_null(r->got[0]); /* the direct router loses it, as ever */
	rig_free(r);
}

TESTS(TEST(packets_of_many_chunks_pass),
	TEST(a_lane_less_makes_a_packet_longer),
	TEST(a_narrow_link_carries_less),
	TEST(classes_of_wires_run_at_their_own_rates),
	TEST(narrow_links_replay_too), TEST(formats_share_a_link),
	TEST(both_ends_are_told_when_it_happens))
