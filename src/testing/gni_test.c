/* Gemini's user-level interface: what programs may ask of it, and get. */
#include <string.h>

#include "testing/gni_testing.h"
#include "weft/msg.h"

#define HALF (GNI_SEGMENT_BYTES / 2)

/* Node 0 runs a test, and node 2 its other half. */
static bool is_idle(void)
{
	return program_node() % 2;
}

static void run(void (*program)(struct gni_world *, struct gni_side *))
{
	struct gni_world g = { .run = program };

	gni_world_run(&g, NULL, false);
	kit_close(&g.world.kit);
}

/* --- puts and gets --- */

static void put_and_get(struct gni_side *mine, struct gni_world *g,
	gni_post_type_t put, gni_post_type_t get)
{
	gni_post_descriptor_t d = gni_descriptor(g, 2, put, 5000);

	world_fill(GNI_SEGMENT, 5000);
	d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
	assert_int_equal(gni_await(mine, &d), GNI_RC_SUCCESS);
	d = gni_descriptor(g, 2, get, 5000);
	d.local_addr += HALF;
	assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
	assert_int_equal(gni_await(mine, &d), GNI_RC_SUCCESS);
	assert_true(world_is_filled(
		program_host(), program_node(), GNI_SEGMENT + HALF, 5000));
}

static void both_ways(struct gni_world *g, struct gni_side *mine)
{
	gni_cq_entry_t entry;

	if (is_idle())
		return;
	for (uint32_t i = 0; i < 2 && program_node(); i++) {
		assert_int_equal(gni_wait(mine->came, &entry), GNI_RC_SUCCESS);
		assert_int_equal(
			GNI_CQ_GET_TYPE(entry), GNI_CQ_EVENT_TYPE_REMOTE);
		assert_int_equal(GNI_CQ_GET_REM_INST_ID(entry), 100);
		assert_true(
			world_is_filled(program_host(), 2, GNI_SEGMENT, 5000));
	}
	if (program_node())
		return;
	put_and_get(mine, g, GNI_POST_FMA_PUT, GNI_POST_FMA_GET);
	put_and_get(mine, g, GNI_POST_RDMA_PUT, GNI_POST_RDMA_GET);
}

/* GEM-F10, GEM-F11, GEM-F61. GEM-F60. */
static void bytes_go_there_and_back_by_fma_and_by_bte(void **state)
{
	run(both_ways);
}

static void event_data(struct gni_world *g, struct gni_side *mine)
{
	gni_post_descriptor_t d = gni_descriptor(g, 2, GNI_POST_FMA_PUT, 8);
	gni_post_descriptor_t *back;
	gni_cq_entry_t entry;

	d.cq_mode = GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
	if (program_node() == 2) {
		assert_int_equal(gni_wait(mine->came, &entry), GNI_RC_SUCCESS);
		assert_int_equal(GNI_CQ_GET_REM_INST_ID(entry), 100);
		assert_int_equal(gni_wait(mine->came, &entry), GNI_RC_SUCCESS);
		assert_int_equal(GNI_CQ_GET_REM_INST_ID(entry), 0x87654321);
	}
	if (program_node())
		return;
	assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
	assert_int_equal(gni_wait(mine->done, &entry), GNI_RC_SUCCESS);
	assert_int_equal(GNI_CQ_GET_INST_ID(entry), 102);
	GNI_GetCompleted(mine->done, entry, &back);
	GNI_EpSetEventData(mine->ep[2], 0x12345678, 0x87654321);
	assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
	assert_int_equal(gni_wait(mine->done, &entry), GNI_RC_SUCCESS);
	assert_int_equal(GNI_CQ_GET_INST_ID(entry), 0x12345678);
	assert_int_equal(
		GNI_GetCompleted(mine->done, entry, &back), GNI_RC_SUCCESS);
	assert_ptr_equal(back, &d);
	assert_int_equal(
		GNI_GetCompleted(mine->done, entry, &back), GNI_RC_NO_MATCH);
}

/* GEM-F28. */
static void events_show_what_endpoints_say(void **state)
{
	run(event_data);
}

static void silence(struct gni_world *g, struct gni_side *mine)
{
	gni_post_descriptor_t d = gni_descriptor(g, 2, GNI_POST_FMA_PUT, 8);
	gni_cq_entry_t entry;

	d.cq_mode = GNI_CQMODE_SILENT;
	if (!program_node())
		assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
	program_charge(10000 * SIM_NS);
	assert_int_equal(GNI_CqGetEvent(mine->done, &entry), GNI_RC_NOT_DONE);
	assert_int_equal(GNI_CqGetEvent(mine->came, &entry), GNI_RC_NOT_DONE);
}

static void what_is_silent_has_no_events(void **state)
{
	run(silence);
}

/* Three lines are stored; a descriptor is the kernel's affair. */
static void no_kernel(struct gni_world *g, struct gni_side *mine)
{
	const struct gemini_params *how = world_nic()->params;
	gni_post_descriptor_t d = gni_descriptor(g, 2, GNI_POST_FMA_PUT, 150);
	sim_time begin = program_now();

	if (program_node())
		return;
	assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
	assert_true(program_now() - begin == 3 * how->store);
	assert_int_equal(gni_await(mine, &d), GNI_RC_SUCCESS);
	d.type = GNI_POST_RDMA_PUT;
	begin = program_now();
	assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
	assert_true(program_now() - begin == how->kernel);
	assert_int_equal(gni_await(mine, &d), GNI_RC_SUCCESS);
}

/* GEM-F10. */
static void a_put_by_fma_needs_no_kernel(void **state)
{
	run(no_kernel);
}

/* --- flags, values, fences --- */

static void sync_flag(struct gni_world *g, struct gni_side *mine)
{
	gni_post_descriptor_t d =
		gni_descriptor(g, 2, GNI_POST_FMA_PUT_W_SYNCFLAG, 20000);
	struct poll_loop loop = { .period = 1 * SIM_NS };
	uint64_t seen;

	if (program_node() == 2) {
		program_poll(GNI_SEGMENT + HALF, WORD_IS, 99, loop, &seen);
		assert_true(
			world_is_filled(program_host(), 2, GNI_SEGMENT, 20000));
	}
	if (program_node())
		return;
	world_fill(GNI_SEGMENT, 20000);
	d.sync_flag_addr = GNI_SEGMENT + HALF;
	d.sync_flag_value = 99;
	assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
	assert_int_equal(gni_await(mine, &d), GNI_RC_SUCCESS);
	/* of either part */
	d.sync_flag_addr = GNI_SEGMENT + GNI_SEGMENT_BYTES;
	assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
	assert_int_equal(gni_await(mine, &d), GNI_RC_TRANSACTION_ERROR);
	d.sync_flag_addr = GNI_SEGMENT + HALF;
	d.remote_addr = GNI_SEGMENT + GNI_SEGMENT_BYTES - 8;
	assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
	assert_int_equal(gni_await(mine, &d), GNI_RC_TRANSACTION_ERROR);
}

static void a_flag_is_written_after_the_bytes(void **state)
{
	struct gni_world g = { .run = sync_flag };

	gni_world_run(&g, NULL, true);
	kit_close(&g.world.kit);
}

static void cq_write(struct gni_world *g, struct gni_side *mine)
{
	gni_post_descriptor_t d = gni_descriptor(g, 2, GNI_POST_CQWRITE, 0);
	gni_cq_entry_t entry;

	if (program_node() == 2) {
		assert_int_equal(gni_wait(mine->came, &entry), GNI_RC_SUCCESS);
		assert_true(GNI_CQ_GET_DATA(entry) == 0xabcdef123456);
	}
	if (program_node())
		return;
	d.cqwrite_value = 0xabcdef123456;
	assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
	assert_int_equal(gni_await(mine, &d), GNI_RC_SUCCESS);
}

/* GEM-F11. */
static void a_value_goes_into_anothers_queue(void **state)
{
	run(cq_write);
}

/* A long transfer with a fence, and a short one behind it, which would overtake
 * it. */
static void fence(struct gni_world *g, struct gni_side *mine)
{
	gni_post_descriptor_t d[2], *back;
	gni_cq_entry_t entry;

	if (program_node())
		return;
	for (uint32_t fenced = 0; fenced < 2; fenced++) {
		d[0] = gni_descriptor(g, 2, GNI_POST_RDMA_PUT, HALF);
		d[1] = gni_descriptor(g, 2, GNI_POST_RDMA_PUT, 8);
		d[0].rdma_mode = fenced ? GNI_RDMAMODE_FENCE : 0;
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(
				gni_post(mine, 2, &d[i]), GNI_RC_SUCCESS);
		for (uint32_t i = 0; i < 2; i++) {
			gni_wait(mine->done, &entry);
			GNI_GetCompleted(mine->done, entry, &back);
			assert_ptr_equal(back, &d[fenced ? i : 1 - i]);
		}
	}
}

static void a_fence_keeps_transfers_apart(void **state)
{
	run(fence);
}

/* --- processes --- */

enum { AT = 0x5000, RANKS = 4 };

/* The same addresses are of other memory in each process; each puts to the
 * other process of the other node. */
static void one_of_several(void *arg)
{
	uint32_t rank = 2 * program_node() + program_process(), node;
	gni_mem_handle_t *mem = arg;
	gni_post_descriptor_t d = { .type = GNI_POST_FMA_PUT,
		.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
		.local_addr = AT,
		.remote_addr = AT + 8,
		.length = 8 };
	struct gni_side s;
	uint64_t word = 70 + rank;

	assert_int_equal(GNI_CdmCreate(rank, 1, 1, 0, &s.cdm), 0);
	assert_int_equal(GNI_CdmAttach(s.cdm, 0, &node, &s.nic), 0);
	assert_int_equal(
		GNI_CqCreate(s.nic, 8, 0, GNI_CQ_BLOCKING, NULL, NULL, &s.done),
		0);
	assert_int_equal(GNI_MemRegister(s.nic, AT, 4096, NULL, 0, UINT32_MAX,
				 &mem[rank]),
		0);
	assert_int_equal(GNI_EpCreate(s.nic, s.done, &s.ep[0]), 0);
	assert_int_equal(GNI_EpBind(s.ep[0], 1 - node, 0), 0);
	weft_msg_store(AT, &word, 8);
	program_wait(20000 * SIM_NS);
	d.remote_mem_hndl = mem[RANKS - 1 - rank];
	assert_int_equal(GNI_PostFma(s.ep[0], &d), 0);
	assert_int_equal(gni_await(&s, &d), 0);
	program_wait(40000 * SIM_NS);
	weft_msg_load(AT + 8, &word, 8);
	assert_int_equal(word, 70 + RANKS - 1 - rank);
}

static void processes_have_memory_of_their_own(void **state)
{
	const struct kit_how how = { .machine = "gemini",
		.shape = "1x1x1",
		.needs = { .n_programs = RANKS, .n_processes = 2 } };
	gni_mem_handle_t mem[RANKS];
	struct kit k;

	kit_open(&k, &how);
	for (uint32_t i = 0; i < RANKS; i++)
		program_start(k.host, i / 2, i % 2 * host_threads_each(k.host),
			0, one_of_several, mem);
	kit_run(&k, false);
	kit_close(&k);
}

/* --- atomic operations --- */

/* What a command makes of a word. */
static uint64_t apply(uint32_t command, uint64_t word, uint64_t a, uint64_t b)
{
	switch (command) {
	case GNI_FMA_ATOMIC_ADD:
	case GNI_FMA_ATOMIC_FADD:
		return word + a;
	case GNI_FMA_ATOMIC_AND:
	case GNI_FMA_ATOMIC_FAND:
		return word & a;
	case GNI_FMA_ATOMIC_OR:
	case GNI_FMA_ATOMIC_FOR:
		return word | a;
	case GNI_FMA_ATOMIC_XOR:
	case GNI_FMA_ATOMIC_FXOR:
		return word ^ a;
	case GNI_FMA_ATOMIC_AX:
	case GNI_FMA_ATOMIC_FAX:
		return (word & a) ^ b;
	default:
		return word == a ? b : word;
	}
}

static uint64_t get_word(
	struct gni_world *g, struct gni_side *mine, uint64_t at)
{
	gni_post_descriptor_t d = gni_descriptor(g, 2, GNI_POST_FMA_GET, 8);
	uint64_t word = 0;

	d.remote_addr = at;
	d.local_addr += HALF;
	assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
	assert_int_equal(gni_await(mine, &d), GNI_RC_SUCCESS);
	program_read(d.local_addr, &word, 8);
	return word;
}

static void atomics(struct gni_world *g, struct gni_side *mine)
{
	gni_post_descriptor_t d = gni_descriptor(g, 2, GNI_POST_AMO, 8);
	uint64_t was = 0, old, throws = 0;
	uint32_t plain;

	for (uint32_t i = 0; i < 220 && !program_node(); i++) {
		d.amo_cmd = 1 + i % GNI_FMA_ATOMIC_CSWAP_C;
		plain = 1 + i % GNI_FMA_ATOMIC_CSWAP;
		d.first_operand =
			dice(1, &throws, 3) ? throws * throws * throws : was;
		d.second_operand = ~throws * 77;
		assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
		assert_int_equal(gni_await(mine, &d), GNI_RC_SUCCESS);
		program_read(GNI_SEGMENT, &old, 8);
		if (plain >= GNI_FMA_ATOMIC_FADD)
			assert_true(old == was);
		was = apply(plain, was, d.first_operand, d.second_operand);
		assert_true(get_word(g, mine, GNI_SEGMENT) == was);
	}
}

/* GEM-F11. */
static void atomic_operations_do_what_their_names_say(void **state)
{
	run(atomics);
}

/* --- queues --- */

static void overrun(struct gni_world *g, struct gni_side *mine)
{
	gni_post_descriptor_t d = gni_descriptor(g, 2, GNI_POST_FMA_PUT, 8);
	gni_cq_entry_t entry;
	char text[64];

	d.cq_mode = GNI_CQMODE_REMOTE_EVENT;
	for (uint32_t i = 0; i < GNI_ENTRIES + 3 && !program_node(); i++)
		assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
	program_charge(20000 * SIM_NS);
	for (uint32_t i = 0; i < GNI_ENTRIES && program_node() == 2; i++)
		assert_int_equal(
			GNI_CqGetEvent(mine->came, &entry), GNI_RC_SUCCESS);
	if (program_node() == 2) {
		assert_int_equal(GNI_CqGetEvent(mine->came, &entry),
			GNI_RC_ERROR_RESOURCE);
		assert_true(GNI_CQ_OVERRUN(entry));
		GNI_CqErrorStr(entry, text, sizeof(text));
		assert_string_equal(text, "completion queue overrun");
		/* and it goes on */
		assert_int_equal(
			GNI_CqGetEvent(mine->came, &entry), GNI_RC_NOT_DONE);
		assert_int_equal(gni_wait(mine->came, &entry), GNI_RC_SUCCESS);
	}
	program_charge(20000 * SIM_NS);
	if (!program_node())
		assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
}

/* GEM-F28. */
static void a_full_queue_says_so_once_and_goes_on(void **state)
{
	struct gni_world g = { .run = overrun };

	gni_world_run(&g, NULL, true);
	kit_close(&g.world.kit);
}

static void time_out(struct gni_world *g, struct gni_side *mine)
{
	sim_time begin = program_now();
	gni_cq_entry_t entry;

	assert_int_equal(
		GNI_CqWaitEvent(mine->done, 3, &entry), GNI_RC_TIMEOUT);
	assert_true(program_now() - begin == INT64_C(3000000) * SIM_NS);
	begin = program_now();
	assert_int_equal(GNI_CqGetEvent(mine->done, &entry), GNI_RC_NOT_DONE);
	assert_true(program_now() - begin == 20 * SIM_NS);
}

static void who_waits_too_long_is_told(void **state)
{
	run(time_out);
}

/* --- delivery modes --- */

/* Links of node 0's chip that requests have left by. */
static uint32_t n_links_used(const struct kit *k)
{
	uint32_t n = 0;

	for (port_id p = 0; p < k->net->n_ports - 2; p++)
		n += k->net->topo->ops->peer(k->net->topo, k->net->n_nodes, p)
				     .router != NO_ROUTER &&
		     net_counters(k->net, k->net->n_nodes, p, 1,
			     sim_now(k->net->sim))
			     .sent_bytes;
	return n;
}

struct delivery {
	uint32_t mode, lines, times;
};

static void deliver(struct gni_world *g, struct gni_side *mine)
{
	const struct delivery *x = g->arg;
	gni_post_descriptor_t d;

	for (uint32_t i = 0; i < x->times && !program_node(); i++) {
		d = gni_descriptor(g, 2, GNI_POST_FMA_PUT, 64 * x->lines);
		d.dlvr_mode = (uint16_t)x->mode;
		assert_int_equal(gni_post(mine, 2, &d), GNI_RC_SUCCESS);
		assert_int_equal(gni_await(mine, &d), GNI_RC_SUCCESS);
	}
}

static uint32_t links_of(struct delivery x, const char *routing)
{
	const char *const sets[] = { routing, NULL };
	struct gni_world g = { .run = deliver, .arg = &x };
	uint32_t n;

	gni_world_run(&g, sets, false);
	n = n_links_used(&g.world.kit);
	kit_close(&g.world.kit);
	return n;
}

/* With the h bit the line of the remote address is part of the hash, by a
 * post's mode or for all of a machine's.  GEM-F44. */
static void delivery_modes_choose_links(void **state)
{
	assert_true(
		links_of((struct delivery){ GNI_DLVMODE_PERFORMANCE, 60, 2 },
			"nic.routing=adaptive") >= 4);
	assert_int_equal(
		links_of((struct delivery){ GNI_DLVMODE_IN_ORDER, 60, 2 },
			"nic.routing=adaptive"),
		1);
	assert_true(links_of((struct delivery){ GNI_DLVMODE_NO_ADAPT, 60, 2 },
			    "nic.routing=adaptive") >= 4);
	assert_int_equal(
		links_of((struct delivery){ GNI_DLVMODE_NO_ADAPT, 1, 30 },
			"nic.routing=adaptive"),
		1);
	assert_true(
		links_of((struct delivery){ GNI_DLVMODE_PERFORMANCE, 60, 2 },
			"nic.routing=lines") >= 4);
	assert_int_equal(
		links_of((struct delivery){ GNI_DLVMODE_PERFORMANCE, 1, 30 },
			"nic.routing=lines"),
		1);
	assert_int_equal(
		links_of((struct delivery){ GNI_DLVMODE_PERFORMANCE, 60, 2 },
			"nic.routing=hashed"),
		1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_go_there_and_back_by_fma_and_by_bte),
		cmocka_unit_test(a_put_by_fma_needs_no_kernel),
		cmocka_unit_test(events_show_what_endpoints_say),
		cmocka_unit_test(what_is_silent_has_no_events),
		cmocka_unit_test(a_flag_is_written_after_the_bytes),
		cmocka_unit_test(a_value_goes_into_anothers_queue),
		cmocka_unit_test(a_fence_keeps_transfers_apart),
		cmocka_unit_test(processes_have_memory_of_their_own),
		cmocka_unit_test(atomic_operations_do_what_their_names_say),
		cmocka_unit_test(a_full_queue_says_so_once_and_goes_on),
		cmocka_unit_test(who_waits_too_long_is_told),
		cmocka_unit_test(delivery_modes_choose_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
