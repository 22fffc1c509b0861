#include "testing/gni_testing.h"

static void open_side(struct gni_side *s)
{
	uint32_t node;

	assert_int_equal(
		GNI_CdmCreate(100 + program_node(), GNI_PTAG, 1, 0, &s->cdm),
		GNI_RC_SUCCESS);
	assert_int_equal(
		GNI_CdmAttach(s->cdm, 0, &node, &s->nic), GNI_RC_SUCCESS);
	assert_int_equal(node, program_node());
	assert_int_equal(GNI_CqCreate(s->nic, GNI_ENTRIES, 0, GNI_CQ_BLOCKING,
				 NULL, NULL, &s->done),
		GNI_RC_SUCCESS);
	assert_int_equal(GNI_CqCreate(s->nic, GNI_ENTRIES, 0, GNI_CQ_BLOCKING,
				 NULL, NULL, &s->came),
		GNI_RC_SUCCESS);
	assert_int_equal(
		GNI_MemRegister(s->nic, GNI_SEGMENT, GNI_SEGMENT_BYTES, s->came,
			GNI_MEM_READWRITE, UINT32_MAX, &s->mem),
		GNI_RC_SUCCESS);
	for (uint32_t i = 0; i < GNI_NODES; i++) {
		assert_int_equal(GNI_EpCreate(s->nic, s->done, &s->ep[i]),
			GNI_RC_SUCCESS);
		assert_int_equal(
			GNI_EpBind(s->ep[i], i, 100 + i), GNI_RC_SUCCESS);
	}
}

static void program(void *arg)
{
	struct gni_world *g = arg;
	struct gni_side *mine = &g->side[program_node()];

	open_side(mine);
	program_wait(10000 * SIM_NS); /* until all have */
	g->run(g, mine);
}

void gni_world_run(struct gni_world *g, const char *const *sets, bool may_err)
{
	world_run(&g->world, sets, may_err, program);
}

gni_return_t gni_wait(gni_cq_handle_t cq, gni_cq_entry_t *entry)
{
	return GNI_CqWaitEvent(cq, UINT64_MAX, entry);
}

gni_return_t gni_await(struct gni_side *mine, gni_post_descriptor_t *d)
{
	gni_post_descriptor_t *back = NULL;
	gni_cq_entry_t entry;
	gni_return_t code = gni_wait(mine->done, &entry);

	assert_int_equal(GNI_CQ_GET_TYPE(entry), GNI_CQ_EVENT_TYPE_POST);
	assert_int_equal(GNI_GetCompleted(mine->done, entry, &back), code);
	assert_ptr_equal(back, d);
	assert_int_equal(d->status, code);
	return code;
}

gni_post_descriptor_t gni_descriptor(const struct gni_world *g, uint32_t node,
	gni_post_type_t type, uint64_t bytes)
{
	return (gni_post_descriptor_t){
		.type = type,
		.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
		.local_addr = GNI_SEGMENT,
		.local_mem_hndl = g->side[program_node()].mem,
		.remote_addr = GNI_SEGMENT,
		.remote_mem_hndl = g->side[node].mem,
		.length = bytes,
	};
}

gni_return_t gni_post(
	struct gni_side *mine, uint32_t node, gni_post_descriptor_t *d)
{
	if (d->type == GNI_POST_CQWRITE)
		return GNI_PostCqWrite(mine->ep[node], d);
	if (d->type == GNI_POST_RDMA_PUT || d->type == GNI_POST_RDMA_GET)
		return GNI_PostRdma(mine->ep[node], d);
	return GNI_PostFma(mine->ep[node], d);
}
