#include <string.h>

#include "base/mem.h"
#include "nic/bgq_mu/mu_testing.h"
#include "nic/bgq_mu/units.h"
#include "testing/testing.h"

/* --- time --- */

struct timed {
	uint64_t length;
	sim_time sent, seen;
};

static void send_timed(void *arg)
{
	struct timed *t = arg;
	struct mu_descriptor d = sw_put(1, t->length);
	struct sw_fifo f = sw_open(17, 0);

	program_wait(1000 * SIM_NS);
	t->sent = program_now();
	sw_inject(&f, &d);
}

static void receive_timed(void *arg)
{
	struct timed *t = arg;

	sw_open_bases(t->length);
	sw_wait_counter(SW_COUNTER);
	t->seen = program_now();
}

/*
 * One packet on an idle machine, neighbours on a board: the sum of the
 * parameters, to the picosecond, with nothing before L2 (BGQ-F10).  To inject
 * a payload of one chunk takes
 *
 *	mmio-store 55, the descriptor's l2.read 80, arbitration 15,
 *	the payload's l2.read 80, header 34, fifo-write 20: 284 ns
 *
 * and to receive it
 *
 *	pull 30, l2.write 70, lookup 10, the counter's l2.atomic 70: 180 ns.
 *
 * A full one takes 15 ns more for three more lines on
 * the read data path, and three cycles more for three more writes.
 */
static void a_packet_takes_the_sum_of_its_stages(void **state)
{
	static const struct {
		uint64_t length;
		sim_time inside, wire;
	} cases[] = {
		{ 8, 464 * SIM_NS, 42000 + 36 * SIM_NS },
		{ 32, 464 * SIM_NS, 42000 + 36 * SIM_NS },
		{ 33, 464 * SIM_NS, 42000 + 52 * SIM_NS },
		{ 128, 464 * SIM_NS, 42000 + 84 * SIM_NS },
		{ 512, 482750, 42000 + 276 * SIM_NS },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct timed a = { .length = cases[i].length };
		struct timed b = a;
		const struct sw_program programs[] = {
			{ 0, send_timed, &a },
			{ 1, receive_timed, &b },
		};

		sw_run_on("2x2x2", 1, programs, 2);
		assert_int_equal(
			b.seen - a.sent, cases[i].inside + cases[i].wire);
	}
}

/* --- what it may be built on --- */

static void a_torus_that_headers_cannot_name_is_refused(void **state)
{
	struct nic_testing m;
	struct nic_setup s = { .ops = &bgq_mu_ops };
	struct err e = { 0 };

	nic_testing_machine(&m, "bgq", "64");
	nic_testing_start(&m, 1, 1);
	s.params = m.params;
	s.net = m.net;
	s.host = m.host;
	m.torus.dim[0] = 65;
	assert_null(nic_new(&s, &e));
	assert_non_null(strstr(e.text, "at most 64"));
	m.torus.dim[0] = 64;
	m.torus.n_dims = 6;
	e.code = 0;
	assert_null(nic_new(&s, &e));
	assert_non_null(strstr(e.text, "at most 5"));
	m.torus.n_dims = 1;
	nic_testing_fini(&m);
}

static uint64_t memory_of(const char *shape)
{
	struct nic_testing m;
	uint64_t bytes;

	nic_testing_machine(&m, "bgq", shape);
	nic_testing_start(&m, 1, 1);
	bytes = nic_memory(m.nic);
	nic_testing_fini(&m);
	return bytes;
}

static void an_unused_node_costs_a_pointer(void **state)
{
	assert_int_equal(
		memory_of("8x8") - memory_of("4x8"), 32 * sizeof(void *));
}

/* --- what an audit finds --- */

static void use_nodes(void *arg)
{
	sw_open(2, MU_INJ_REMOTE_GET);
	sw_open_rec(270, 1024);
}

static struct mu_node *node_3(struct nic_testing *m)
{
	return m->nic->nodes[3];
}

static void leave_held(struct nic_testing *m)
{
	node_3(m)->rme_held = 1 << 5;
	node_3(m)->rme[5].held_for = (uint16_t)mu_wait_rec(7);
}

static void leave_held_get(struct nic_testing *m)
{
	node_3(m)->rme_held = 1 << 5;
	node_3(m)->rme[5].held_for = (uint16_t)mu_wait_inj(7);
}

static void leave_unsent(struct nic_testing *m)
{
	mu_inj(node_3(m), 7)->state = MU_INJ_WAITING;
}

static void leave_unstored(struct nic_testing *m)
{
	mu_rec(node_3(m), 270)->order.window.next++;
}

static void leave_unstored_get(struct nic_testing *m)
{
	struct mu_order *o = mem_alloc(1, sizeof(*o));

	o->window.next = 1;
	mu_inj(node_3(m), 2)->gets = o;
}

static void leave_payload(struct nic_testing *m)
{
	payload_take(m->nic->payloads, 0);
}

/* Bytes of a node, as a number that is not 0; or what a function does. */
#define FIELD(field_, value_, says_)                                           \
	{                                                                      \
		.at = offsetof(struct mu_node, field_), .value = value_,       \
		.says = "node 3: " says_                                       \
	}

static const struct {
	size_t at;
	uint16_t value;
	void (*leave)(struct nic_testing *m);
	const char *says;
} left[] = {
	FIELD(busy, 1 << 7, "at work: injection engine 7"),
	FIELD(broken, 1 << 7, "stopped: injection engine 7"),
	FIELD(rme_broken, 1 << 7, "stopped: reception engine 7"),
	FIELD(rme[7].n_inside, 1, "at work: reception engine 7"),
	FIELD(rme[7].counts.first, 1, "at work: reception engine 7"),
	FIELD(port[2].asking, 1, "requests for master port 2"),
	FIELD(stores.n, 2, "stores under way: 2"),
	{ .leave = leave_held,
		.says = "node 3: a packet waits for reception FIFO 7" },
	{ .leave = leave_held_get,
		.says = "node 3: a packet waits for injection FIFO 7" },
	{ .leave = leave_unsent,
		.says = "node 3: not sent: of injection FIFO 7" },
	{ .leave = leave_unstored,
		.says = "node 3: not stored: in reception FIFO 270" },
	{ .leave = leave_unstored_get,
		.says = "node 3: not stored: in injection FIFO 2" },
	{ .leave = leave_payload,
		.says = "the bytes of 1 packets are still in flight" },
};

static void an_audit_tells_what_is_left_and_where(void **state)
{
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		const struct sw_program p = { 3, use_nodes, NULL };
		struct nic_testing m;
		struct err e = { 0 };

		nic_testing_machine(&m, "bgq", "4");
		sw_run(&m, 1, &p, 1); /* which audits, and finds nothing */
		if (left[i].leave)
			left[i].leave(&m);
		else
			memcpy((char *)node_3(&m) + left[i].at, &left[i].value,
				1 + (left[i].value > 255));
		assert_int_equal(nic_audit(m.nic, &e), -1);
		if (!strstr(e.text, left[i].says))
			fail_msg("%s", e.text);
		nic_testing_fini(&m);
	}
}

TESTS(TEST(a_packet_takes_the_sum_of_its_stages),
	TEST(a_torus_that_headers_cannot_name_is_refused),
	TEST(an_unused_node_costs_a_pointer),
	TEST(an_audit_tells_what_is_left_and_where))
