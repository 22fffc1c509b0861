/*
 * BGQ-F71, BGQ-F72, datasheet M9: bytes that a sender sent, by any group of
 * channels; packets that left a receiver and the time integral of those in
 * it, against the time stamps of each packet.
 */
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { A_PLUS, A_MINUS, SOME = 40, PERIOD = FULL_PS + GAP_PS };

static uint64_t wire_bytes(uint32_t payload)
{
	return 40 + (payload + 31) / 32 * 32;
}

/* --- senders --- */

/* BGQ-F71 */
/* Each kind its own number of packets and its own size; every grouping of
 * channels counts the sum of its members, and protocol bytes are in none. */
static void senders_count_by_any_group_of_channels(void **state)
{
	static const uint16_t bytes[] = { 512, 100, 0, 33 };
	struct rig_how how = { .way = { .shape = "8", .wrap = "mesh" } };
	struct rig *r = rig_new(&how);
	uint64_t sum[N_CHANNELS];

	for (uint32_t i = 0; i < N_PACKET_KINDS; i++) {
		struct packet p = {
			.dst = 3,
			.kind = (uint8_t)i,
			.bytes = bytes[i],
		};

		sum[direct_channel_of(&p)] = (5 + i) * wire_bytes(bytes[i]);
		rig_flood(
			r, 0, i < PACKET_HIGH ? i : rig_fifo(r, &p), 5 + i, p);
	}
	rig_run(r);
	for (uint32_t mask = 0; mask <= ALL_CHANNELS; mask++) {
		uint64_t want = 0;

		for (uint32_t i = 0; i < N_CHANNELS; i++)
			want += mask >> i & 1 ? sum[i] : 0;
		for (site_id s = 0; s < 8; s++) {
			assert_int_equal(rig_sent_bytes(r, s, A_PLUS, mask),
				s < 3 ? want : 0);
			assert_int_equal(
				rig_sent_bytes(r, s, A_MINUS, mask), 0);
		}
	}
	rig_free(r);
}

/* What all senders sent is what all packets weigh times their hops, and what
 * one end of a wire sent the other received. */
static void both_ends_of_a_wire_agree(void **state)
{
	struct rig_how how = { .way = { .shape = "4x3x2" } };
	struct rig *r = rig_new(&how);
	uint64_t series = 7, sent = 0;

	rig_storm(r, &series, 80, 15, false);
	rig_run(r);
	for (site_id s = 0; s < r->net->n_sites; s++) {
		for (port_id p = 0; p < r->net->n_ports; p++) {
			const struct link_sender *l =
				&direct_site(r->net, s)->port[p].sender;

			for (uint32_t c = 0; c < N_CHANNELS; c++) {
				uint64_t b = rig_sent_bytes(r, s, p, 1u << c);

				assert_int_equal(b,
					552 * net_counters(r->net, l->peer,
						      l->peer_port, 1u << c, 0)
							.packets);
				sent += b;
			}
		}
	}
	assert_int_equal(sent, 552 * net_hops(r->net));
	rig_free(r);
}

/* --- receivers --- */

/*
 * A stream leaves node 0 with a packet every period, so it is known when each
 * comes to node 1; it is known when each leaves node 1, because node 2 is one
 * wire away.  System packets of node 1's own make them wait there.
 */
struct wait {
	sim_time from, to;
};

static void waits(const struct rig *r, uint32_t first, struct wait *w)
{
	for (uint32_t i = 0; i < SOME; i++)
		w[i] = (struct wait){
			.from = i * (sim_time)PERIOD + BOARD_PS,
			.to = r->got[first + i]->head - BOARDS_PS,
		};
}

/* The integral up to now of the packets that stand in the receiver. */
static sim_time integral(const struct wait *w, sim_time now)
{
	sim_time sum = 0;

	for (uint32_t i = 0; i < SOME; i++) {
		sim_time to = w[i].to < now ? w[i].to : now;

		if (to > w[i].from)
			sum += to - w[i].from;
	}
	return sum;
}

static uint64_t departed(const struct wait *w, sim_time now)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < SOME; i++)
		n += w[i].to < now;
	return n;
}

/* Looks at the counters now and then, and afterwards at the stamps. */
static void check_integral(uint8_t kind, uint32_t channel)
{
	enum { LOOKS = 30 };
	struct rig_how how = {
		.way = { .shape = "8", .wrap = "mesh" },
		.packets = 2 * SOME, /* so that none waits for tokens */
	};
	struct rig *r = rig_new(&how);
	struct packet p = { .dst = 2, .kind = kind, .bytes = 512 };
	struct packet sys = { .src = 1, .dst = 2, .kind = PACKET_SYSTEM };
	struct net_counters look[LOOKS], last;
	struct wait w[SOME];
	sim_time now[LOOKS];
	uint32_t k;

	k = rig_flood(r, 0, rig_fifo(r, &p), SOME, p);
	for (uint32_t i = 0; i < 25; i++) {
		sys.bytes = (uint16_t)(20 * i);
		rig_send(r, i * 390 * (sim_time)SIM_NS, FIFO_SYSTEM, sys);
	}
	for (uint32_t i = 0; i < LOOKS; i++) {
		rig_run_until(r, i * 450 * (sim_time)SIM_NS);
		now[i] = sim_now(r->net->sim);
		look[i] =
			net_counters(r->net, 1, A_MINUS, 1u << channel, now[i]);
	}
	rig_run(r);
	waits(r, k, w);
	assert_true(integral(w, SIM_NEVER) > 10 * FULL_PS);
	last = net_counters(r->net, 1, A_MINUS, 1u << channel, 0);
	assert_true(last.waited == integral(w, SIM_NEVER));
	assert_int_equal(last.packets, SOME);
	for (uint32_t i = 0; i < LOOKS; i++) {
		assert_true(look[i].waited == integral(w, now[i]));
		assert_int_equal(look[i].packets, departed(w, now[i]));
	}
	rig_free(r);
}

/* BGQ-F72 */
/* M9: from empty to empty, integral / packets is the mean wait, exactly; and
 * at any time in between the integral is what the stamps say. */
static void the_integral_is_what_the_packets_waited(void **state)
{
	check_integral(PACKET_DYNAMIC, CHANNEL_DYNAMIC);
	check_integral(PACKET_DETERMINISTIC, CHANNEL_DETERMINISTIC);
	check_integral(PACKET_HIGH, CHANNEL_HIGH);
}

/* BGQ-F72: the same in the last receiver, where packets wait for a FIFO. */
static void waiting_for_reception_counts_too(void **state)
{
	struct rig_how how = {
		.way = { .shape = "8", .wrap = "mesh" },
		.fills = true,
		.drain = 300 * SIM_NS,
		.reception = 1,
	};
	struct rig *r = rig_new(&how);
	struct packet p = { .dst = 1, .kind = PACKET_HIGH, .bytes = 512 };
	struct net_counters c;
	sim_time sum = 0;

	/* so few that none waits for tokens */
	rig_flood(r, 0, FIFO_HIGH, 7, p);
	rig_run(r);
	for (uint32_t k = 0; k < 7; k++)
		sum += r->got[k]->head - (k * (sim_time)PERIOD + BOARD_PS);
	c = net_counters(r->net, 1, A_MINUS, CHANNELS(CHANNEL_HIGH), 0);
	assert_int_equal(c.packets, 7);
	assert_true(c.waited == sum);
	assert_true(sum == 21 * (FULL_PS + how.drain - PERIOD));
	rig_free(r);
}

/* Without contention nobody waits. */
static void an_empty_network_counts_no_waiting(void **state)
{
	struct rig_how how = { .way = { .shape = "4x4" } };
	struct rig *r = rig_new(&how);

	rig_flood(r, 0, 0, SOME,
		(struct packet){ .dst = 10,
			.kind = PACKET_DETERMINISTIC,
			.bytes = 512 });
	rig_run(r);
	for (site_id s = 0; s < r->net->n_sites; s++)
		for (port_id p = 0; p < r->net->n_ports; p++)
			assert_int_equal(
				net_counters(r->net, s, p, ALL_CHANNELS, 0)
					.waited,
				0);
	rig_free(r);
}

/* A site's buffers, one by one, against those that it lists. */
static uint32_t check_in_use(const struct net *n, site_id s, uint32_t *list)
{
	const struct router *r = net_router(n, s);
	uint32_t used = net_in_use(n, s, list), next = 0;

	for (uint32_t i = 0; i < r->ops->n_buffers(r, s); i++)
		if (r->ops->buffer(r, s, i).count) {
			assert_true(next < used);
			assert_int_equal(list[next++], i);
		}
	assert_int_equal(next, used);
	return used;
}

static void a_site_knows_which_buffers_hold_packets(void **state)
{
	struct rig_how how = { .way = { .shape = "4x3x2" } };
	struct rig *r = rig_new(&how);
	uint32_t list[256], used, most = 0;
	uint64_t series = 3;

	assert_true(net_most_buffers(r->net) <= 256);
	rig_storm(r, &series, 80, 15, false);
	for (sim_time t = 1; t < 40; t++) {
		sim_run(r->net->sim, t * PERIOD);
		for (site_id s = 0; s < r->net->n_sites; s++) {
			used = check_in_use(r->net, s, list);
			most = used > most ? used : most;
		}
	}
	assert_true(most > 4);
	rig_run(r);
	for (site_id s = 0; s < r->net->n_sites; s++)
		assert_int_equal(check_in_use(r->net, s, list), 0);
	rig_free(r);
}

TESTS(TEST(senders_count_by_any_group_of_channels),
	TEST(both_ends_of_a_wire_agree),
	TEST(the_integral_is_what_the_packets_waited),
	TEST(waiting_for_reception_counts_too),
	TEST(an_empty_network_counts_no_waiting),
	TEST(a_site_knows_which_buffers_hold_packets))
