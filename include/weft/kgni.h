/*
 * Gemini's kernel interface, for programs that are system software (is_system
 * of struct weft_app), such as file systems and IP.  It includes weft/gni.h:
 * kernels use its messages (GNI_SmsgInit() and others) and RDMA
 * (GNI_PostRdma()) like processes.  In addition it has sends that name no
 * address of the receiver.
 *
 * A node has KGNI_PORTS ports, to which its kernel posts buffers.  When the
 * first packet of a send to a port arrives, the send takes the first posted
 * buffer and uses it up.  If no buffer is posted, nothing is written, and the
 * sender's event reports it.  A send that is longer than its buffer fills it;
 * the events of both sides report it.  Sends that are in flight at the same
 * time may take buffers, and end, in any order.
 *
 * Time, handles and return codes are as in weft/gni.h: each call takes
 * nic.software.kernel, or no time if it fails.  GNI_RC_INVALID_PARAM: an
 * invalid handle, a NULL pointer, a port of KGNI_PORTS or above;
 * GNI_RC_PERMISSION_ERROR: the program is not system software, or the bytes are
 * not its own.
 */
#ifndef WEFT_KGNI_H
#define WEFT_KGNI_H

#include "weft/gni.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
	KGNI_PORTS = 8,
	/* Type of an event (GNI_CQ_GET_TYPE()): a buffer was used. */
	KGNI_EVENT_TYPE_BUFFER = 5,
};

/* Contents of this event: the number of the buffer, and the number of bytes
 * written. */
#define KGNI_GET_BUFFER(entry) GNI_CQ_GET_TID(entry)
#define KGNI_GET_BYTES(entry)  ((uint32_t)(entry))

/* Type of the descriptor of a send. */
#define KGNI_POST_SEND ((gni_post_type_t)64)

/*
 * Posts [address, address + bytes) of the process's memory, which need not be
 * registered, to a port of its node.  It belongs to the interface until an
 * event in the queue cq shows its number.  The status of the event is
 * GNI_RC_TRANSACTION_ERROR if the send was too long or lost a packet.
 */
gni_return_t kgni_post_buffer(gni_nic_handle_t nic, uint32_t port,
	gni_cq_handle_t cq, uint64_t address, uint32_t bytes, uint16_t number);
/*
 * Withdraws the buffers of a port that no send has started to use, without
 * events; *n is their number.
 */
gni_return_t kgni_withdraw_buffers(
	gni_nic_handle_t nic, uint32_t port, uint32_t *n);

/*
 * Sends length bytes, 1 to 4 GiB (otherwise GNI_RC_SIZE_ERROR), from
 * local_addr, which need not be registered, to a port of the endpoint's node.
 * They are read later, and must not change until the local event.  The type of
 * the descriptor is KGNI_POST_SEND (otherwise GNI_RC_ILLEGAL_OP).  Besides
 * these fields, only rdma_mode, cq_mode and src_cq_hndl matter.  A sender
 * cannot request remote events (GNI_RC_ILLEGAL_OP).  Otherwise as
 * GNI_PostRdma().
 */
gni_return_t kgni_send(
	gni_ep_handle_t ep, uint32_t port, gni_post_descriptor_t *d);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
