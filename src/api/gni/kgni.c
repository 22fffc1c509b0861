/* Buffers that Gemini's kernel interface posts; sends are in gni_post.c. */
#include "api/gni/gni.h"
#include "host/program.h"
#include "weft/kgni.h"

_Static_assert((uint32_t)KGNI_PORTS == GEMINI_PORTS, "ports");

static gni_return_t check(gni_nic_handle_t nic, uint32_t port)
{
	if (!gni_find_nic(nic) || port >= KGNI_PORTS)
		return GNI_RC_INVALID_PARAM;
	return program_is_system() ? GNI_RC_SUCCESS : GNI_RC_PERMISSION_ERROR;
}

gni_return_t kgni_post_buffer(gni_nic_handle_t nic, uint32_t port,
	gni_cq_handle_t cq, uint64_t address, uint32_t bytes, uint16_t number)
{
	const struct gni_queue *q = gni_find_cq(cq);
	struct gemini_buffer b = {
		.port = port,
		.at = program_base() + address,
		.bytes = bytes,
		.data = GNI_EVENT(KGNI_EVENT_TYPE_BUFFER, number, 0) >> 32,
	};
	gni_return_t code = check(nic, port);

	if (!code && !q)
		code = GNI_RC_INVALID_PARAM;
	if (!code && !program_has(address, bytes))
		code = GNI_RC_PERMISSION_ERROR;
	if (code)
		return code;
	b.cq = q->queue.cq;
	BUG_IF(gemini_bte_receive(gni_nic(), &b));
	return GNI_RC_SUCCESS;
}

gni_return_t kgni_withdraw_buffers(
	gni_nic_handle_t nic, uint32_t port, uint32_t *n)
{
	gni_return_t code = n ? check(nic, port) : GNI_RC_INVALID_PARAM;

	if (code)
		return code;
	gni_charge_kernel();
	*n = gemini_bte_withdraw(gni_nic(), program_node(), port);
	return GNI_RC_SUCCESS;
}
