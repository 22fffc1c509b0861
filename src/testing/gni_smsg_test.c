/* Short messages of Gemini's user-level interface. */
#include <string.h>

#include "sim/random.h"
#include "testing/gni_testing.h"

enum { CREDIT = 4, SIZE = 200, MESSAGES = 300, BOX = 0x4000 };

static gni_smsg_attr_t attributes(
	const struct gni_world *g, uint32_t owner, uint32_t other)
{
	return (gni_smsg_attr_t){
		.msg_type = g->n ? GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT
				 : GNI_SMSG_TYPE_MBOX,
		.msg_buffer = GNI_SEGMENT,
		.buff_size = GNI_NODES * BOX,
		.mem_hndl = g->side[owner].mem,
		.mbox_offset = other * BOX,
		.mbox_maxcredit = CREDIT,
		.msg_maxsize = SIZE,
	};
}

static void open_box(struct gni_world *g, struct gni_side *mine, uint32_t other)
{
	gni_smsg_attr_t here = attributes(g, program_node(), other);
	gni_smsg_attr_t there = attributes(g, other, program_node());

	assert_int_equal(
		GNI_SmsgInit(mine->ep[other], &here, &there), GNI_RC_SUCCESS);
}

/* --- traffic --- */

static uint32_t length(uint32_t from, uint32_t to, uint32_t i)
{
	uint64_t n = (from * 16 + to) * UINT64_C(100000) + i;

	return dice(5, &n, SIZE + 1);
}

static void fill(uint8_t *bytes, uint32_t from, uint32_t to, uint32_t i)
{
	memory_fill_by(3, from * 16 + to, i, bytes, SIZE);
}

/* Sends the i-th message where there is room. */
static bool send(struct gni_side *mine, uint32_t to, uint32_t i)
{
	uint32_t n = length(program_node(), to, i);
	uint8_t bytes[SIZE];

	fill(bytes, program_node(), to, i);
	return GNI_SmsgSendWTag(mine->ep[to], bytes, n / 3, bytes + n / 3,
		       n - n / 3, i, (uint8_t)(i % 200)) == GNI_RC_SUCCESS;
}

/* Takes one where there is any, which must be the i-th. */
static bool receive(struct gni_side *mine, uint32_t from, uint32_t i)
{
	uint8_t tag = GNI_SMSG_ANY_TAG, bytes[SIZE];
	void *got;

	if (GNI_SmsgGetNextWTag(mine->ep[from], &got, &tag) != GNI_RC_SUCCESS)
		return false;
	fill(bytes, from, program_node(), i);
	assert_int_equal(tag, i % 200);
	assert_memory_equal(got, bytes, length(from, program_node(), i));
	assert_int_equal(GNI_SmsgRelease(mine->ep[from]), GNI_RC_SUCCESS);
	return true;
}

/* Events, until there are none; how many messages have ended. */
static uint32_t drain(struct gni_side *mine)
{
	gni_cq_entry_t entry;
	uint32_t n = 0;

	while (GNI_CqGetEvent(mine->done, &entry) == GNI_RC_SUCCESS) {
		assert_int_equal(
			GNI_CQ_GET_TYPE(entry), GNI_CQ_EVENT_TYPE_SMSG);
		n++;
	}
	while (GNI_CqGetEvent(mine->came, &entry) == GNI_RC_SUCCESS)
		assert_in_range(GNI_CQ_GET_REM_INST_ID(entry), 100, 103);
	return n;
}

static void all_to_all(struct gni_world *g, struct gni_side *mine)
{
	uint32_t sent[GNI_NODES] = { 0 }, got[GNI_NODES] = { 0 };
	uint32_t i, left = 2 * GNI_NODES * MESSAGES, ended = 0;
	uint64_t throws = program_node();

	for (i = 0; i < GNI_NODES; i++)
		open_box(g, mine, i);
	program_wait(20000 * SIM_NS);
	while (left || ended < GNI_NODES * MESSAGES) {
		i = dice(9, &throws, GNI_NODES);
		if (sent[i] < MESSAGES && send(mine, i, sent[i]))
			sent[i]++, left--;
		if (got[i] < MESSAGES && receive(mine, i, got[i]))
			got[i]++, left--;
		ended += drain(mine);
	}
	/* others may still wait for credits that were not answered */
	program_wait(program_now() + 100000 * SIM_NS);
	drain(mine);
}

/* To itself, to the chip's other node, and to the other chip. GEM-F11, GEM-F61.
 */
static void messages_arrive_in_order_and_whole(void **state)
{
	struct gni_world g = { .run = all_to_all };

	gni_world_run(&g, NULL, false);
	kit_close(&g.world.kit);
}

/* Responses of the busiest times come too late. */
static void what_is_not_answered_is_sent_again(void **state)
{
	static const char *const sets[] = { "nic.timeout=1 us",
		"nic.input=400 ns", NULL };
	struct gni_world g = { .run = all_to_all, .n = 1 };

	gni_world_run(&g, sets, true);
	assert_true(nic_sum(g.world.kit.nic, "timeouts") > 0);
	kit_close(&g.world.kit);
}

/* --- credits --- */

static void too_many(struct gni_world *g, struct gni_side *mine)
{
	uint8_t tag = GNI_SMSG_ANY_TAG;
	uint32_t i;
	void *got;

	if (program_node() % 2)
		return;
	open_box(g, mine, 2 - program_node());
	program_wait(20000 * SIM_NS);
	for (i = 0; i < CREDIT && !program_node(); i++)
		assert_true(send(mine, 2, i));
	program_charge(10000 * SIM_NS);
	if (!program_node()) {
		assert_false(send(mine, 2, i));
		program_charge(10000 * SIM_NS);
		assert_true(send(mine, 2, i));
		drain(mine);
		return;
	}
	assert_int_equal(
		GNI_SmsgGetNextWTag(mine->ep[0], &got, &(uint8_t){ 7 }),
		GNI_RC_NO_MATCH);
	assert_int_equal(
		GNI_SmsgGetNextWTag(mine->ep[0], &got, &tag), GNI_RC_SUCCESS);
	assert_int_equal(GNI_SmsgGetNextWTag(mine->ep[0], &got, &tag),
		GNI_RC_INVALID_STATE);
	assert_int_equal(GNI_SmsgRelease(mine->ep[0]), GNI_RC_SUCCESS);
	assert_int_equal(GNI_SmsgRelease(mine->ep[0]), GNI_RC_INVALID_STATE);
	program_charge(1000 * SIM_NS);
	for (i = 1; i <= CREDIT; i++)
		while (!receive(mine, 0, i))
			;
}

static void a_sender_waits_for_places(void **state)
{
	struct gni_world g = { .run = too_many };

	gni_world_run(&g, NULL, false);
	kit_close(&g.world.kit);
}

/* --- misuse --- */

static void bad_attributes(struct gni_world *g, struct gni_side *mine)
{
	gni_smsg_attr_t here = attributes(g, program_node(), 1);
	gni_smsg_attr_t there = attributes(g, 1, program_node()), bad;
	gni_ep_handle_t ep = mine->ep[1], none;
	unsigned int size;

	assert_int_equal(GNI_SmsgBufferSizeNeeded(&here, &size), 0);
	assert_in_range(size, CREDIT * SIZE, BOX);
#define BAD(field, value, code)                                                \
	bad = here;                                                            \
	bad.field = value;                                                     \
	assert_int_equal(GNI_SmsgInit(ep, &bad, &there), code)
	BAD(msg_type, 0, GNI_RC_INVALID_PARAM);
	BAD(mbox_maxcredit, 1, GNI_RC_INVALID_PARAM);
	BAD(mbox_maxcredit, CREDIT + 1, GNI_RC_INVALID_PARAM);
	BAD(msg_maxsize, 0, GNI_RC_INVALID_PARAM);
	BAD(msg_maxsize, 65537, GNI_RC_INVALID_PARAM);
	BAD(msg_buffer, GNI_SEGMENT + 8, GNI_RC_INVALID_PARAM);
	BAD(msg_buffer, 0, GNI_RC_INVALID_PARAM);
	BAD(mem_hndl, there.mem_hndl, GNI_RC_INVALID_PARAM);
	BAD(mbox_offset, GNI_NODES * BOX, GNI_RC_SIZE_ERROR);
	BAD(buff_size, size - 1, GNI_RC_SIZE_ERROR);
	BAD(mbox_offset, 0xffffffc0, GNI_RC_SIZE_ERROR);
#undef BAD
	assert_int_equal(GNI_SmsgInit(ep, NULL, &there), GNI_RC_INVALID_PARAM);
	GNI_EpCreate(mine->nic, NULL, &none);
	GNI_EpBind(none, 1, 1);
	assert_int_equal(
		GNI_SmsgInit(none, &here, &there), GNI_RC_INVALID_PARAM);
	GNI_EpUnbind(ep);
	assert_int_equal(GNI_SmsgInit(ep, &here, &there), GNI_RC_INVALID_STATE);
}

static void bad_calls(struct gni_world *g, struct gni_side *mine)
{
	uint8_t bytes[SIZE + 1] = { 0 }, tag = GNI_SMSG_ANY_TAG;
	gni_smsg_attr_t here = attributes(g, program_node(), 2);
	void *got;

	assert_int_equal(GNI_SmsgSendWTag(mine->ep[2], bytes, 8, NULL, 0, 1, 1),
		GNI_RC_INVALID_PARAM);
	assert_int_equal(GNI_SmsgGetNextWTag(mine->ep[2], &got, &tag),
		GNI_RC_INVALID_PARAM);
	assert_int_equal(GNI_SmsgRelease(mine->ep[2]), GNI_RC_INVALID_PARAM);
	open_box(g, mine, 2);
	assert_int_equal(
		GNI_SmsgInit(mine->ep[2], &here, &here), GNI_RC_INVALID_STATE);
	assert_int_equal(
		GNI_SmsgSendWTag(mine->ep[2], bytes, SIZE, bytes, 1, 1, 1),
		GNI_RC_SIZE_ERROR);
	assert_int_equal(GNI_SmsgSendWTag(mine->ep[2], bytes, 2, bytes,
				 UINT32_MAX, 1, 1),
		GNI_RC_SIZE_ERROR);
	assert_int_equal(GNI_SmsgSendWTag(mine->ep[2], NULL, 1, NULL, 0, 1, 1),
		GNI_RC_INVALID_PARAM);
	assert_int_equal(GNI_SmsgSendWTag(mine->ep[2], bytes, 1, NULL, 0, 1,
				 GNI_SMSG_ANY_TAG),
		GNI_RC_INVALID_PARAM);
	assert_int_equal(GNI_SmsgGetNextWTag(mine->ep[2], NULL, &tag),
		GNI_RC_INVALID_PARAM);
	assert_int_equal(
		GNI_SmsgGetNextWTag(mine->ep[2], &got, &tag), GNI_RC_NOT_DONE);
}

static void misuse(struct gni_world *g, struct gni_side *mine)
{
	if (program_node())
		return;
	bad_attributes(g, mine);
	bad_calls(g, mine);
}

static void mailboxes_that_cannot_be_are_refused(void **state)
{
	struct gni_world g = { .run = misuse };

	gni_world_run(&g, NULL, false);
	kit_close(&g.world.kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_arrive_in_order_and_whole),
		cmocka_unit_test(what_is_not_answered_is_sent_again),
		cmocka_unit_test(a_sender_waits_for_places),
		cmocka_unit_test(mailboxes_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
