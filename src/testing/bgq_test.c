/* Blue Gene/Q as its machine file has it. */
#include "host/program.h"
#include "nic/bgq_mu/mu_testing.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"

enum { MANY = 60, REC = 5, SYSTEM_REC = 260 };

/* --- how much a channel holds --- */

/* By one channel, more than there is room for. */
static void send_many(void *arg)
{
	enum mu_channel channel = *(const enum mu_channel *)arg;
	bool is_system = channel == MU_SYSTEM;
	struct sw_fifo f = sw_open(is_system ? 512 : 0, 0);
	struct mu_descriptor d = sw_fifo_message(
		1, is_system ? SYSTEM_REC : REC, MANY * MU_PAYLOAD);

	if (is_system)
		sw_make_system(&d);
	else if (channel == MU_HIGH)
		mu_set_fifo_map(&d, MU_MAP_HIGH);
	sw_set_channel(&d, channel);
	program_wait(1000 * SIM_NS);
	sw_inject(&f, &d);
}

/* Room for one packet, and nobody reads. */
static void receive_one(void *arg)
{
	(void)arg;
	sw_open_rec(REC, MU_HEADER_BYTES + MU_PAYLOAD + MU_CHUNK);
	sw_open_rec(SYSTEM_REC, MU_HEADER_BYTES + MU_PAYLOAD + MU_CHUNK);
}

/* The full packets that stand in a channel of a site's receivers. */
static uint32_t n_waiting(const struct net *n, site_id s, uint32_t channel)
{
	const struct router *r = n->router[NET_NODES];
	uint32_t sum = 0, i;

	for (i = 0; i < r->ops->n_buffers(r, s); i++) {
		struct net_buffer b = r->ops->buffer(r, s, i);

		if (b.channel != channel || !b.count)
			continue;
		assert_int_equal(n->packets[b.head].bytes, MU_PAYLOAD);
		sum += b.count;
	}
	return sum;
}

/* Blue Gene/L's channels held 1 KiB, four of its packets. */
static void bgq_f28_channels_hold_more_packets_than_blue_gene_ls(void **state)
{
	static const struct kit_how how = {
		.machine = "bgq",
		.shape = "4x2x2x2x2",
		.needs = { .n_programs = 2 },
	};
	uint32_t c;

	(void)state;
	for (c = MU_DYNAMIC; c <= MU_SYSTEM; c++) {
		enum mu_channel channel = c;
		struct kit k;

		kit_open(&k, &how);
		program_start(k.host, 0, 0, 0, send_many, &channel);
		program_start(k.host, 1, 0, 0, receive_one, NULL);
		assert_int_equal(sim_run(k.net->sim, SIM_NEVER - 1), SIM_IDLE);
		assert_true(n_waiting(k.net, 1, c) > 4);
		assert_true(n_waiting(k.net, 1, c) * MU_PAYLOAD > 1024);
		kit_close(&k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			bgq_f28_channels_hold_more_packets_than_blue_gene_ls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
