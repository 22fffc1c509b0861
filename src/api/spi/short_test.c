/* Barrier packets between data packets, on one link. */
#include <string.h>

#include "api/spi/spi_testing.h"
#include "testing/testing.h"

enum { ROUNDS = 40, BYTES = 256 << 10 };

#define NS	 ((sim_time)SIM_NS)
#define BEGIN_AT (20000 * NS)

struct world {
	struct nic_testing m;
	bool has_stream, has_barriers;
	sim_time came[ROUNDS], left[ROUNDS];
	sim_time sent, full; /* the stream took; a full packet takes */
};

/* Node 0, whose packets go by A+ to node 1, the root. */
static void stream(void *arg)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(1, BYTES, 0);
	MUSPI_InjFifoSubGroup_t g;

	spi_test_inj(&g, 0, 0, 4, NULL);
	program_wait(BEGIN_AT);
	assert_int_equal(spi_test_send_put(&g.fifo[0], &i), 0);
}

static void take_stream(void *arg)
{
	struct world *x = arg;

	spi_test_bases(BYTES);
	spi_poll(SPI_TEST_COUNTER, 0);
	x->sent = program_now() - BEGIN_AT;
}

static void enter(void *arg)
{
	struct world *x = arg;
	MUSPI_GIBarrier_t b;
	uint64_t n = 0;

	MUSPI_GIBarrierInit(&b, 0);
	program_wait(BEGIN_AT + 2000 * NS);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		program_charge((1000 + dice(1, &n, 900)) * NS);
		x->came[i] = program_now();
		MUSPI_GIBarrierEnterAndWait(&b);
	}
}

static void follow(void *arg)
{
	struct world *x = arg;
	MUSPI_GIBarrier_t b;

	MUSPI_GIBarrierInit(&b, 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		MUSPI_GIBarrierEnterAndWait(&b);
		if (program_node() == 1)
			x->left[i] = program_now();
	}
}

static void run(struct world *x)
{
	struct mu_params *p;

	nic_testing_machine(&x->m, "bgq", "3");
	p = x->m.params;
	p->mmio_load = 2 * NS; /* so that a look is soon after what it sees */
	p->mmio_store = 1 * NS;
	nic_testing_start(&x->m, 1, 8);
	if (x->has_stream) {
		program_start(x->m.host, 0, 0, 0, stream, x);
		program_start(x->m.host, 1, 0, 0, take_stream, x);
	}
	if (x->has_barriers) {
		program_start(x->m.host, 0, 1, 0, enter, x);
		program_start(x->m.host, 1, 1, 0, follow, x);
		program_start(x->m.host, 2, 1, 0, follow, x);
	}
	nic_testing_run(&x->m);
	x->full = link_ser(&x->m.net->link, 512) + x->m.net->link.gap;
	nic_testing_fini(&x->m);
}

static void bgq_f70_a_barrier_packet_waits_for_one_packet_at_most(void **state)
{
	struct world idle = { .has_barriers = true };
	struct world busy = { .has_barriers = true, .has_stream = true };
	sim_time most = 0, all = 0;

	run(&idle);
	run(&busy);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		sim_time wait = busy.left[i] - busy.came[i] -
				(idle.left[i] - idle.came[i]);

		assert_true(wait > -3 * NS);
		most = wait > most ? wait : most;
		all += wait;
	}
	assert_true(busy.sent > busy.left[ROUNDS - 1] - BEGIN_AT);
	/* a packet's rest, which is half of it on average */
	assert_true(most <= busy.full + 8 * NS);
	assert_true(all > ROUNDS * busy.full / 3);
}

static void bgq_f15_data_packets_make_way_for_barrier_packets(void **state)
{
	struct world alone = { .has_stream = true };
	struct world both = { .has_barriers = true, .has_stream = true };
	sim_time more;

	run(&alone);
	run(&both);
	/* 16 B for each barrier at 2 GB/s, and where the last look was */
	more = both.sent - alone.sent;
	assert_true(more >= ROUNDS * 8 * NS - 60 * NS);
	assert_true(more <= ROUNDS * 8 * NS + 60 * NS);
}

TESTS(TEST(bgq_f70_a_barrier_packet_waits_for_one_packet_at_most),
	TEST(bgq_f15_data_packets_make_way_for_barrier_packets))
