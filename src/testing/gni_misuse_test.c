/* Programs that ask Gemini's user-level interface for what cannot be: each gets
 * the code, or the error event, that weft/gni.h promises, and nobody else
 * notices. */
#include <string.h>

#include "testing/gni_testing.h"

static void run(
	void (*program)(struct gni_world *, struct gni_side *), bool may_err)
{
	struct gni_world g = { .run = program };

	gni_world_run(&g, NULL, may_err);
	kit_close(&g.world.kit);
}

#define BAD(call)  assert_int_equal(call, GNI_RC_INVALID_PARAM)
#define FINE(call) assert_int_equal(call, GNI_RC_SUCCESS)

/* --- handles --- */

static void no_cdm(gni_cdm_handle_t cdm, gni_nic_handle_t nic)
{
	gni_mem_handle_t mem;
	gni_nic_handle_t other;
	gni_cq_handle_t cq;
	gni_ep_handle_t ep;
	uint32_t node;

	BAD(GNI_CdmAttach(cdm, 0, &node, &other));
	BAD(GNI_CdmDestroy(cdm));
	BAD(GNI_CqCreate(nic, 4, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	BAD(GNI_MemRegister(nic, 0, 64, NULL, 0, UINT32_MAX, &mem));
	BAD(GNI_EpCreate(nic, NULL, &ep));
}

static void no_cq(const struct gni_side *mine, gni_cq_handle_t cq)
{
	gni_post_descriptor_t *d;
	gni_cq_entry_t entry;
	gni_mem_handle_t mem;
	gni_ep_handle_t ep;

	BAD(GNI_CqGetEvent(cq, &entry));
	BAD(GNI_CqWaitEvent(cq, 1, &entry));
	BAD(GNI_GetCompleted(cq, 0, &d));
	BAD(GNI_CqDestroy(cq));
	if (!cq)
		return;
	BAD(GNI_EpCreate(mine->nic, cq, &ep));
	BAD(GNI_MemRegister(mine->nic, 0, 64, cq, 0, UINT32_MAX, &mem));
}

static void no_ep(const struct gni_world *g, gni_ep_handle_t ep)
{
	gni_post_descriptor_t d = gni_descriptor(g, 2, GNI_POST_FMA_PUT, 8);
	uint8_t tag = GNI_SMSG_ANY_TAG;
	void *got;

	BAD(GNI_EpBind(ep, 0, 0));
	BAD(GNI_EpUnbind(ep));
	BAD(GNI_EpSetEventData(ep, 0, 0));
	BAD(GNI_PostFma(ep, &d));
	d.type = GNI_POST_RDMA_PUT;
	BAD(GNI_PostRdma(ep, &d));
	d.type = GNI_POST_CQWRITE;
	BAD(GNI_PostCqWrite(ep, &d));
	BAD(GNI_SmsgSendWTag(ep, &d, 8, NULL, 0, 0, 0));
	BAD(GNI_SmsgGetNextWTag(ep, &got, &tag));
	BAD(GNI_SmsgRelease(ep));
	BAD(GNI_EpDestroy(ep));
}

static void old_handles(struct gni_world *g, struct gni_side *mine)
{
	struct gni_side old = *mine;
	gni_cdm_handle_t none;
	sim_time begin;

	if (program_node())
		return;
	FINE(GNI_EpDestroy(mine->ep[0]));
	FINE(GNI_CqDestroy(mine->came));
	FINE(GNI_MemDeregister(mine->nic, &mine->mem));
	begin = program_now();
	no_ep(g, old.ep[0]);
	no_ep(g, NULL);
	no_cq(mine, old.came);
	no_cq(mine, NULL);
	BAD(GNI_MemDeregister(mine->nic, &old.mem));
	assert_true(program_now() == begin);
	/* what is new has the place of the old, not its handle */
	FINE(GNI_EpCreate(mine->nic, NULL, &mine->ep[0]));
	FINE(GNI_CqCreate(
		mine->nic, 4, 0, GNI_CQ_NOBLOCK, NULL, NULL, &mine->came));
	no_ep(g, old.ep[0]);
	no_cq(mine, old.came);
	/* all that belongs to a domain goes with it */
	FINE(GNI_CdmDestroy(mine->cdm));
	no_cdm(old.cdm, old.nic);
	no_ep(g, old.ep[1]);
	no_cq(mine, old.done);
	FINE(GNI_CdmCreate(1, 1, 1, 0, &none));
	no_cdm(old.cdm, old.nic);
	no_cdm(NULL, (gni_nic_handle_t)none); /* not attached */
}

static void a_handle_after_its_end_is_refused(void **state)
{
	run(old_handles, false);
}

/* --- arguments --- */

static void bad_arguments(struct gni_world *g, struct gni_side *mine)
{
	uint64_t end = host_memory(program_host());
	gni_cq_handle_t cq = NULL;
	gni_nic_handle_t nic;
	gni_mem_handle_t mem;
	gni_ep_handle_t ep;
	gni_cdm_handle_t cdm;
	uint32_t node;
	char text[8];

	BAD(GNI_CdmCreate(0, 0, 0, 1, &cdm));
	BAD(GNI_CdmCreate(0, 0, 0, 0, NULL));
	BAD(GNI_CdmAttach(mine->cdm, 0, NULL, &nic));
	assert_int_equal(
		GNI_CdmAttach(mine->cdm, 1, &node, &nic), GNI_RC_NO_MATCH);
	assert_int_equal(
		GNI_CdmAttach(mine->cdm, 0, &node, &nic), GNI_RC_INVALID_STATE);
	BAD(GNI_CqCreate(mine->nic, 0, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	BAD(GNI_CqCreate(mine->nic, GNI_CQ_MAX_ENTRIES + 1, 0, GNI_CQ_NOBLOCK,
		NULL, NULL, &cq));
	BAD(GNI_CqCreate(mine->nic, 4, 1, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	BAD(GNI_CqCreate(mine->nic, 4, 0, 2, NULL, NULL, &cq));
	BAD(GNI_CqCreate(mine->nic, 4, 0, GNI_CQ_NOBLOCK, NULL, NULL, NULL));
	BAD(GNI_MemRegister(mine->nic, 0, 0, NULL, 0, UINT32_MAX, &mem));
	BAD(GNI_MemRegister(mine->nic, 0, end + 1, NULL, 0, UINT32_MAX, &mem));
	BAD(GNI_MemRegister(mine->nic, end, 1, NULL, 0, UINT32_MAX, &mem));
	BAD(GNI_MemRegister(
		mine->nic, UINT64_MAX, 8, NULL, 0, UINT32_MAX, &mem));
	BAD(GNI_MemRegister(mine->nic, 0, 8, NULL, 0, 0, &mem));
	BAD(GNI_MemRegister(mine->nic, 0, 8, NULL, 8, UINT32_MAX, &mem));
	BAD(GNI_MemRegister(mine->nic, 0, 8, NULL, 0, UINT32_MAX, NULL));
	BAD(GNI_EpCreate(mine->nic, NULL, NULL));
	FINE(GNI_EpCreate(mine->nic, NULL, &ep));
	assert_int_equal(GNI_EpUnbind(ep), GNI_RC_INVALID_STATE);
	BAD(GNI_EpBind(ep, GNI_NODES, 0));
	FINE(GNI_EpBind(ep, 0, 0));
	assert_int_equal(GNI_EpBind(ep, 0, 0), GNI_RC_INVALID_STATE);
	BAD(GNI_CqErrorStr(0, NULL, 8));
	assert_int_equal(GNI_CqErrorStr(0, text, 8), GNI_RC_SIZE_ERROR);
	BAD(GNI_CqErrorRecoverable(0, NULL));
}

static void arguments_that_cannot_be_are_refused(void **state)
{
	run(bad_arguments, false);
}

static void use_up(struct gni_world *g, struct gni_side *mine)
{
	gni_return_t code = GNI_RC_SUCCESS;
	gni_cq_handle_t cq, last = NULL;
	gni_mem_handle_t mem;
	uint32_t n;

	if (program_node())
		return;
	for (n = 0; !code && n < 100; n++, last = cq)
		code = GNI_CqCreate(
			mine->nic, 4, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq);
	assert_int_equal(code, GNI_RC_ERROR_RESOURCE);
	FINE(GNI_CqDestroy(last));
	FINE(GNI_CqCreate(mine->nic, 4, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	code = GNI_RC_SUCCESS;
	for (n = 0; !code && n < 5000; n++)
		code = GNI_MemRegister(
			mine->nic, 0, 8, NULL, 0, UINT32_MAX, &mem);
	assert_int_equal(code, GNI_RC_ERROR_RESOURCE);
	assert_int_equal(n, 3840); /* one is the side's own */
	FINE(GNI_MemDeregister(mine->nic, &mem));
	FINE(GNI_MemRegister(mine->nic, 0, 8, NULL, 0, UINT32_MAX, &mem));
}

static void queues_and_segments_can_run_out(void **state)
{
	run(use_up, false);
}

/* --- descriptors --- */

static void bad_descriptors(struct gni_world *g, struct gni_side *mine)
{
	const gni_mem_handle_t none = { 1, 2 };
	gni_post_descriptor_t d;
	gni_ep_handle_t ep;
	sim_time begin = program_now();

	if (program_node())
		return;
#define TRY(type, bytes, field, value, code)                                   \
	d = gni_descriptor(g, 2, type, bytes);                                 \
	d.amo_cmd = GNI_FMA_ATOMIC_FADD;                                       \
	d.field = value;                                                       \
	assert_int_equal(gni_post(mine, 2, &d), code)
	TRY(GNI_POST_FMA_PUT, 0, post_id, 0, GNI_RC_SIZE_ERROR);
	TRY(GNI_POST_FMA_PUT, (1 << 30) + 1, post_id, 0, GNI_RC_SIZE_ERROR);
	TRY(GNI_POST_RDMA_PUT, UINT64_C(0x100000001), post_id, 0,
		GNI_RC_SIZE_ERROR);
	TRY(GNI_POST_RDMA_PUT, GNI_SEGMENT_BYTES + 8, post_id, 0,
		GNI_RC_PERMISSION_ERROR);
	TRY(GNI_POST_RDMA_PUT, 8, local_addr, 0, GNI_RC_PERMISSION_ERROR);
	TRY(GNI_POST_RDMA_PUT, 8, local_mem_hndl, none, GNI_RC_INVALID_PARAM);
	TRY(GNI_POST_RDMA_GET, 8, local_addr, GNI_SEGMENT + 2,
		GNI_RC_ALIGNMENT_ERROR);
	TRY(GNI_POST_FMA_PUT, 8, local_addr, UINT64_MAX,
		GNI_RC_PERMISSION_ERROR);
	TRY(GNI_POST_FMA_GET, 8, local_addr, 0, GNI_RC_PERMISSION_ERROR);
	TRY(GNI_POST_FMA_GET, 8, local_mem_hndl, none, GNI_RC_INVALID_PARAM);
	TRY(GNI_POST_FMA_GET, 8, remote_addr, 1, GNI_RC_ALIGNMENT_ERROR);
	TRY(GNI_POST_FMA_GET, 6, post_id, 1, GNI_RC_ALIGNMENT_ERROR);
	TRY(GNI_POST_FMA_PUT_W_SYNCFLAG, 8, sync_flag_addr, 4,
		GNI_RC_ALIGNMENT_ERROR);
	TRY(GNI_POST_AMO, 8, amo_cmd, 0, GNI_RC_INVALID_PARAM);
	TRY(GNI_POST_AMO, 8, amo_cmd, 23, GNI_RC_INVALID_PARAM);
	TRY(GNI_POST_AMO, 4, amo_cmd, GNI_FMA_ATOMIC_ADD, GNI_RC_SIZE_ERROR);
	TRY(GNI_POST_AMO, 8, remote_addr, 4, GNI_RC_ALIGNMENT_ERROR);
	TRY(GNI_POST_AMO, 8, local_addr, 4, GNI_RC_ALIGNMENT_ERROR);
	TRY(GNI_POST_AMO, 8, local_addr, 0, GNI_RC_PERMISSION_ERROR);
	TRY(GNI_POST_AMO, 8, local_mem_hndl, none, GNI_RC_INVALID_PARAM);
	TRY(GNI_POST_FMA_PUT, 8, cq_mode, 16, GNI_RC_INVALID_PARAM);
	TRY(GNI_POST_FMA_PUT, 8, dlvr_mode, 8, GNI_RC_INVALID_PARAM);
	TRY(GNI_POST_RDMA_PUT, 8, rdma_mode, 2, GNI_RC_INVALID_PARAM);
	TRY(GNI_POST_CQWRITE, 8, cqwrite_value, UINT64_C(1) << 48,
		GNI_RC_INVALID_PARAM);
	TRY(GNI_POST_FMA_PUT, 8, type, 0, GNI_RC_ILLEGAL_OP);
	TRY(GNI_POST_FMA_PUT, 8, type, 8, GNI_RC_ILLEGAL_OP);
#undef TRY
	d = gni_descriptor(g, 2, GNI_POST_FMA_PUT, 8);
	assert_int_equal(GNI_PostRdma(mine->ep[2], &d), GNI_RC_ILLEGAL_OP);
	assert_int_equal(GNI_PostCqWrite(mine->ep[2], &d), GNI_RC_ILLEGAL_OP);
	BAD(GNI_PostFma(mine->ep[2], NULL));
	FINE(GNI_EpCreate(mine->nic, NULL, &ep));
	assert_int_equal(GNI_PostFma(ep, &d), GNI_RC_INVALID_STATE);
	FINE(GNI_EpBind(ep, 2, 2));
	assert_int_equal(GNI_PostFma(ep, &d), GNI_RC_ILLEGAL_OP);
	assert_true(program_now() == begin);
	FINE(GNI_CqDestroy(mine->done));
	assert_int_equal(GNI_PostFma(mine->ep[2], &d), GNI_RC_ILLEGAL_OP);
}

static void descriptors_that_cannot_be_are_refused(void **state)
{
	run(bad_descriptors, false);
}

/* --- under way --- */

static void expect(
	struct gni_side *mine, gni_post_descriptor_t *d, const char *text)
{
	gni_post_descriptor_t *back;
	gni_cq_entry_t entry;
	uint32_t again;
	char says[64];

	FINE(gni_post(mine, 2, d));
	assert_int_equal(
		gni_wait(mine->done, &entry), GNI_RC_TRANSACTION_ERROR);
	FINE(GNI_CqErrorStr(entry, says, sizeof(says)));
	assert_string_equal(says, text);
	FINE(GNI_CqErrorRecoverable(entry, &again));
	assert_int_equal(again, 0);
	assert_int_equal(GNI_GetCompleted(mine->done, entry, &back),
		GNI_RC_TRANSACTION_ERROR);
	assert_ptr_equal(back, d);
}

/* Another segment of node 2's, read only; and its queue goes. */
static void open_more(struct gni_world *g, struct gni_side *mine)
{
	FINE(GNI_MemRegister(mine->nic, GNI_SEGMENT, 4096, NULL,
		GNI_MEM_READ_ONLY, UINT32_MAX, &g->side[1].mem));
	FINE(GNI_CqDestroy(mine->came));
}

static gni_ep_handle_t foreign(gni_cq_handle_t *cq)
{
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_ep_handle_t ep;
	uint32_t node;

	FINE(GNI_CdmCreate(9, GNI_PTAG + 1, 1, 0, &cdm));
	FINE(GNI_CdmAttach(cdm, 0, &node, &nic));
	FINE(GNI_CqCreate(nic, 4, 0, GNI_CQ_BLOCKING, NULL, NULL, cq));
	FINE(GNI_EpCreate(nic, *cq, &ep));
	FINE(GNI_EpBind(ep, 2, 2));
	return ep;
}

static void error_events(struct gni_world *g, struct gni_side *mine)
{
	gni_post_descriptor_t d = gni_descriptor(g, 2, GNI_POST_FMA_PUT, 64);
	struct gni_side other = *mine;

	if (program_node() == 2)
		open_more(g, mine);
	if (program_node())
		return;
	program_charge(10000 * SIM_NS);
	d.remote_mem_hndl.qword2 ^= 4000;
	expect(mine, &d, "no such memory segment");
	d = gni_descriptor(g, 2, GNI_POST_FMA_GET, 64);
	d.remote_addr = GNI_SEGMENT + GNI_SEGMENT_BYTES - 32;
	expect(mine, &d, "address outside the memory segment");
	d.type = GNI_POST_RDMA_PUT;
	d.length = 5000;
	d.remote_addr = GNI_SEGMENT - 8;
	expect(mine, &d, "address outside the memory segment");
	d = gni_descriptor(g, 2, GNI_POST_FMA_PUT, 64);
	d.remote_mem_hndl = g->side[1].mem;
	expect(mine, &d, "memory segment not open to this access");
	d = gni_descriptor(g, 2, GNI_POST_RDMA_PUT, 64);
	d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	expect(mine, &d, "no completion queue at the target");
	d.type = GNI_POST_CQWRITE;
	expect(mine, &d, "no completion queue at the target");
	d = gni_descriptor(g, 2, GNI_POST_FMA_PUT, 64);
	other.ep[2] = foreign(&other.done);
	expect(&other, &d, "memory segment not open to this access");
	/* and all that is right goes on */
	FINE(gni_post(mine, 2, &d));
	FINE(gni_await(mine, &d));
}

/* GEM-F28. */
static void what_goes_wrong_under_way_is_in_the_event(void **state)
{
	run(error_events, true);
}

/* A registration that ends while a transfer is under way. */
static void pull_away(struct gni_world *g, struct gni_side *mine)
{
	gni_post_descriptor_t d =
		gni_descriptor(g, 2, GNI_POST_RDMA_PUT, GNI_SEGMENT_BYTES);

	if (program_node() == 2) {
		program_charge(10000 * SIM_NS);
		FINE(GNI_MemDeregister(mine->nic, &mine->mem));
		program_charge(5000 * SIM_NS); /* of what was let in */
		world_fill(GNI_SEGMENT, GNI_SEGMENT_BYTES);
		program_charge(100000 * SIM_NS);
		assert_true(world_is_filled(
			program_host(), 2, GNI_SEGMENT, GNI_SEGMENT_BYTES));
	}
	if (program_node())
		return;
	FINE(gni_post(mine, 2, &d));
	assert_int_equal(gni_await(mine, &d), GNI_RC_TRANSACTION_ERROR);
}

static void memory_that_is_taken_back_is_left_alone(void **state)
{
	run(pull_away, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handle_after_its_end_is_refused),
		cmocka_unit_test(arguments_that_cannot_be_are_refused),
		cmocka_unit_test(queues_and_segments_can_run_out),
		cmocka_unit_test(descriptors_that_cannot_be_are_refused),
		cmocka_unit_test(what_goes_wrong_under_way_is_in_the_event),
		cmocka_unit_test(memory_that_is_taken_back_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
