/*
 * Gemini's kernel interface, for programs that are system software (is_system
 * of struct weft_app): file systems, IP.  It is that of weft/gni.h, whose
 * messages (GNI_SmsgInit() and so on) and RDMA (GNI_PostRdma()) kernels use
 * between each other as processes do, and channels besides: sends that name no
 * address of the receiver.
 *
 * A node has KGNI_PORTS ports.  Its kernel posts buffers to them; a send to a
 * port is written into the first buffer that is there when its first packet
 * comes, and uses it up.  Where there is none the sender's event says so, and
 * nothing was written.  A send that is longer than its buffer fills it; both
 * sides' events say so.  Sends that are under way at the same time may take
 * buffers, and end, in any order.
 *
 * Time, handles and return codes are as in weft/gni.h: each call takes
 * nic.software.kernel, or no time where it fails.  GNI_RC_INVALID_PARAM: a
 * handle that is none, a NULL pointer, a port from KGNI_PORTS on;
 * GNI_RC_PERMISSION_ERROR: the program is no system software, or does not have
 * the bytes.
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
	/* Of an event (GNI_CQ_GET_TYPE()): a buffer was used. */
	KGNI_EVENT_TYPE_BUFFER = 5,
};

/* Of that event: the buffer's number, and the bytes that were written. */
#define KGNI_GET_BUFFER(entry) GNI_CQ_GET_TID(entry)
#define KGNI_GET_BYTES(entry)  ((uint32_t)(entry))

/* The type of a send's descriptor. */
#define KGNI_POST_SEND ((gni_post_type_t)64)

/*
 * Posts [address, address + bytes) of the process's memory, which need not be
 * registered, to a port of its node.  It is the interface's until an event in
 * the queue cq shows its number; that event's status is
 * GNI_RC_TRANSACTION_ERROR where the send was too long, or lost a packet.
 */
gni_return_t kgni_post_buffer(gni_nic_handle_t nic, uint32_t port,
	gni_cq_handle_t cq, uint64_t address, uint32_t bytes, uint16_t number);
/*
 * Takes back the buffers of a port that no send has begun to use; *n is how
 * many these were.  They have no events.
 */
gni_return_t kgni_withdraw_buffers(
	gni_nic_handle_t nic, uint32_t port, uint32_t *n);

/*
 * Sends length bytes, up to 4 GiB (GNI_RC_SIZE_ERROR; none at all, too), from
 * local_addr, which need not be registered, to a port of the endpoint's node.
 * They are read later, and must not change until the event here.  Of the
 * descriptor, whose type is KGNI_POST_SEND (GNI_RC_ILLEGAL_OP), rdma_mode,
 * cq_mode and src_cq_hndl count besides; remote events are not the sender's to
 * ask for (GNI_RC_ILLEGAL_OP).  Otherwise as GNI_PostRdma().
 */
gni_return_t kgni_send(
	gni_ep_handle_t ep, uint32_t port, gni_post_descriptor_t *d);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
