/*
 * Random calls of Gemini's user-level interface, right ones and wrong ones.
 * Rogues on nodes 1 and 3 post whatever comes to their mind; on nodes 0 and 2
 * honest programs of another job go on meanwhile.  What a call accepts ends
 * with an event, and memory that is not registered for the rogues' job stays as
 * it was.
 */
#include <string.h>

#include "testing/gni_testing.h"

enum { POSTS = 400, ROUNDS = 60, BYTES = 3000, HONEST_PTAG = 99 };

#define HONEST_AT UINT64_C(0x800000)

/* --- rogues --- */

struct rogue {
	struct gni_world *g;
	struct gni_side *mine;
	uint64_t seed, throws;
	uint32_t accepted, ended, refused;
};

static uint64_t any(struct rogue *r, uint64_t below)
{
	struct random_bits x =
		random_draw(r->seed, program_node(), RANDOM_TEST, r->throws++);

	return below ? x.a % below : x.a;
}

static uint64_t any_of(struct rogue *r, const uint64_t *list, uint32_t n)
{
	return list[any(r, n)];
}

static uint64_t any_address(struct rogue *r)
{
	const uint64_t list[] = { 0, GNI_SEGMENT - 8, GNI_SEGMENT,
		GNI_SEGMENT + 4, GNI_SEGMENT + GNI_SEGMENT_BYTES - 16,
		GNI_SEGMENT + GNI_SEGMENT_BYTES, HONEST_AT, UINT64_MAX - 7,
		any(r, 0), GNI_SEGMENT + any(r, GNI_SEGMENT_BYTES) };

	return any_of(r, list, 10);
}

static uint64_t any_length(struct rogue *r)
{
	const uint64_t list[] = { 0, 1, 4, 8, 64, 65, 1000, 5000,
		GNI_SEGMENT_BYTES + 1, (UINT64_C(1) << 30) + 1,
		(UINT64_C(1) << 32) + 1, UINT64_MAX, 8 * any(r, 500) };

	return any_of(r, list, 13);
}

/* Handles of the job's, of others', and made up. */
static gni_mem_handle_t any_mem(struct rogue *r)
{
	gni_mem_handle_t mem = r->g->side[any(r, GNI_NODES)].mem;

	if (!any(r, 4))
		mem.qword1 = any_address(r);
	if (!any(r, 4))
		mem.qword2 = any(r, 2) ? 256 + any(r, 4) : any(r, 0);
	return mem;
}

static gni_post_descriptor_t any_post(struct rogue *r)
{
	gni_post_descriptor_t d = gni_descriptor(r->g,
		(uint32_t)any(r, GNI_NODES), (gni_post_type_t)any(r, 9), 8);

	d.cq_mode = (uint16_t)any(r, any(r, 8) ? 16 : 32);
	d.dlvr_mode = (uint16_t)any(r, any(r, 8) ? 8 : 16);
	d.rdma_mode = (uint16_t)any(r, any(r, 8) ? 2 : 4);
	if (!any(r, 3))
		d.local_addr = any_address(r);
	d.remote_addr = any_address(r);
	d.length = any(r, 3) ? d.length : any_length(r);
	d.remote_mem_hndl = any_mem(r);
	if (!any(r, 4))
		d.local_mem_hndl = any_mem(r);
	d.sync_flag_addr = any_address(r);
	d.amo_cmd = (gni_fma_cmd_type_t)any(r, 24);
	d.first_operand = any(r, 0);
	d.cqwrite_value = any(r, any(r, 2) ? 0 : 1000);
	return d;
}

/* Mostly an endpoint; else anything. */
static gni_ep_handle_t any_end(struct rogue *r)
{
	return any(r, 8) ? r->mine->ep[any(r, GNI_NODES)]
			 : (gni_ep_handle_t)(uintptr_t)any(r, any(r, 2) * 99);
}

/* Mostly by the right call. */
static gni_return_t post_any(struct rogue *r, gni_post_descriptor_t *d)
{
	if (any(r, 4))
		return gni_post(r->mine, (uint32_t)any(r, GNI_NODES), d);
	switch (any(r, 3)) {
	case 0:
		return GNI_PostRdma(any_end(r), d);
	case 1:
		return GNI_PostCqWrite(any_end(r), d);
	default:
		return GNI_PostFma(any_end(r), d);
	}
}

/* Events that have come, or until all have. */
static void drain(struct rogue *r, bool is_last)
{
	gni_post_descriptor_t *back;
	gni_cq_entry_t entry;
	gni_return_t code;

	for (;;) {
		code = is_last && r->ended < r->accepted
			       ? gni_wait(r->mine->done, &entry)
			       : GNI_CqGetEvent(r->mine->done, &entry);
		if (code == GNI_RC_NOT_DONE)
			break;
		assert_true(code == GNI_RC_SUCCESS ||
			    code == GNI_RC_TRANSACTION_ERROR);
		assert_int_equal(
			GNI_GetCompleted(r->mine->done, entry, &back), code);
		assert_int_equal(GNI_GetCompleted(r->mine->done, entry, &back),
			GNI_RC_NO_MATCH);
		r->ended++;
	}
	while (GNI_CqGetEvent(r->mine->came, &entry) != GNI_RC_NOT_DONE)
		;
}

static void be_rogue(struct gni_world *g, struct gni_side *mine)
{
	static gni_post_descriptor_t posts[2][POSTS];
	gni_post_descriptor_t *d = posts[program_node() / 2];
	struct rogue r = { .g = g, .mine = mine, .seed = g->n };

	for (uint32_t i = 0; i < POSTS; i++) {
		d[i] = any_post(&r);
		if (post_any(&r, &d[i]))
			r.refused++;
		else
			r.accepted += (d[i].cq_mode & 11) != 0;
		drain(&r, false);
	}
	drain(&r, true);
	assert_int_equal(r.ended, r.accepted);
	assert_true(r.accepted > POSTS / 20 && r.refused > POSTS / 20);
}

/* --- others --- */

static void be_honest(struct gni_world *g)
{
	static const uint8_t zeros[BYTES];
	struct gni_side *mine = g->arg;
	uint32_t other = 2 - program_node(), i;

	mine += program_node() / 2;
	for (i = 0; i < ROUNDS; i++) {
		gni_post_descriptor_t d = { .type = i % 2 ? GNI_POST_FMA_PUT
							  : GNI_POST_RDMA_PUT,
			.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
			.local_addr = HONEST_AT,
			.local_mem_hndl = mine->mem,
			.remote_addr = HONEST_AT + 2 * BYTES,
			.length = BYTES };

		d.remote_mem_hndl = ((struct gni_side *)g->arg)[other / 2].mem;
		world_fill(HONEST_AT, BYTES);
		program_write(HONEST_AT + 4 * BYTES, zeros, BYTES);
		assert_int_equal(gni_post(mine, other, &d), GNI_RC_SUCCESS);
		assert_int_equal(gni_await(mine, &d), GNI_RC_SUCCESS);
		d.type = i % 2 ? GNI_POST_RDMA_GET : GNI_POST_FMA_GET;
		d.local_addr += 4 * BYTES;
		assert_int_equal(gni_post(mine, other, &d), GNI_RC_SUCCESS);
		assert_int_equal(gni_await(mine, &d), GNI_RC_SUCCESS);
		assert_true(world_is_filled(program_host(), program_node(),
			HONEST_AT + 4 * BYTES, BYTES));
	}
}

static void open_honest(struct gni_side *s)
{
	uint32_t node, other = 2 - program_node();

	assert_int_equal(
		GNI_CdmCreate(5, HONEST_PTAG, 1, 0, &s->cdm), GNI_RC_SUCCESS);
	assert_int_equal(
		GNI_CdmAttach(s->cdm, 0, &node, &s->nic), GNI_RC_SUCCESS);
	assert_int_equal(GNI_CqCreate(s->nic, 8, 0, GNI_CQ_BLOCKING, NULL, NULL,
				 &s->done),
		GNI_RC_SUCCESS);
	assert_int_equal(GNI_MemRegister(s->nic, HONEST_AT, 6 * BYTES, NULL, 0,
				 UINT32_MAX, &s->mem),
		GNI_RC_SUCCESS);
	assert_int_equal(
		GNI_EpCreate(s->nic, s->done, &s->ep[other]), GNI_RC_SUCCESS);
	assert_int_equal(GNI_EpBind(s->ep[other], other, 5), GNI_RC_SUCCESS);
}

/* Bytes around the segment that is open to rogues. */
static void look(bool is_before)
{
	const uint64_t at[] = { GNI_SEGMENT - GNI_GUARD,
		GNI_SEGMENT + GNI_SEGMENT_BYTES, 0, HONEST_AT + 6 * BYTES };

	for (uint32_t i = 0; i < 4; i++)
		if (is_before)
			world_fill(at[i], GNI_GUARD);
		else
			assert_true(world_is_filled(program_host(),
				program_node(), at[i], GNI_GUARD));
}

static void go(struct gni_world *g, struct gni_side *mine)
{
	bool is_rogue = program_node() % 2;

	look(true);
	if (!is_rogue)
		open_honest((struct gni_side *)g->arg + program_node() / 2);
	program_wait(20000 * SIM_NS);
	if (is_rogue)
		be_rogue(g, mine);
	else
		be_honest(g);
	program_wait(INT64_C(2000000) * SIM_NS);
	look(false);
}

static void rogues_harm_nobody(void **state)
{
	struct gni_side honest[2];
	struct gni_world g = { .run = go, .arg = honest };

	for (g.n = 1; g.n <= 4; g.n++) {
		gni_world_run(&g, NULL, true);
		kit_close(&g.world.kit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rogues_harm_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
