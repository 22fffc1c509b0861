/*
 * Gemini's user-level interface, with the names of the real machine: puts and
 * gets by fast memory access (FMA) and by the block transfer engine (BTE),
 * atomic operations, events in completion queues (CQs), and short messages.
 * The man page is weft-gni(7).
 *
 * Processes and nodes.  A process creates a communication domain and attaches
 * it to its node's interface; its address is the number of the node
 * (weft_node()).  Handles belong to the process and are shared by its threads.
 * Every call refuses a handle that has ended or never existed.  Everything that
 * a process has not destroyed ends with the run.
 *
 * Memory.  Addresses are those of weft/msg.h: in the process's memory, from 0,
 * which weft_msg_load() and weft_msg_store() read and write.  Other processes
 * name bytes by the handle of a registered segment and by their address in its
 * owner's memory.
 *
 * Completion.  A transaction ends with one event in a queue of the poster, if
 * its descriptor requests it, and with one in a queue of the target, if all of
 * it has arrived.  The poster's event is the only report of errors on the way;
 * other transactions are not affected.  Neither transactions nor the packets of
 * a transaction are ordered, except by GNI_DLVMODE_IN_ORDER and
 * GNI_RDMAMODE_FENCE.
 *
 * Time.  A line of up to 64 bytes that FMA stores takes nic.software.store.
 * Work of the kernel takes nic.software.kernel: creating and destroying domains
 * and queues, attaching, registering and deregistering memory, and posting a
 * block transfer.  Polling a queue or a mailbox takes nic.software.poll-period
 * if it is empty, else nic.software.poll-load.  Everything else takes no time.
 *
 * Return codes.  GNI_RC_INVALID_PARAM: an invalid handle, a NULL pointer, or an
 * invalid value.  A call that fails does nothing and takes no time.  Other
 * codes are described with the calls.
 */
#ifndef WEFT_GNI_H
#define WEFT_GNI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum gni_return {
	GNI_RC_SUCCESS,
	GNI_RC_NOT_DONE, /* nothing has arrived yet, or no room */
	GNI_RC_INVALID_PARAM,
	GNI_RC_ERROR_RESOURCE, /* no more resources; or events were lost */
	GNI_RC_TIMEOUT,
	GNI_RC_PERMISSION_ERROR, /* memory that does not allow this access */
	GNI_RC_DESCRIPTOR_ERROR,
	GNI_RC_ALIGNMENT_ERROR,
	GNI_RC_INVALID_STATE, /* not bound, or already attached */
	GNI_RC_NO_MATCH,
	GNI_RC_SIZE_ERROR, /* too short, too long */
	GNI_RC_TRANSACTION_ERROR, /* see the event */
	GNI_RC_ILLEGAL_OP, /* the interface cannot do that */
	GNI_RC_ERROR_NOMEM,
} gni_return_t;

/* Name of a return code; "unknown" for other numbers. */
const char *gni_return_name(gni_return_t code);

/* --- domains --- */

typedef struct gni_cdm *gni_cdm_handle_t;
typedef struct gni_nic *gni_nic_handle_t;

/*
 * Creates a communication domain.  The caller chooses its number, which appears
 * in the events of others.  Memory is open only to domains with the same ptag;
 * the cookie is ignored.  There are no modes: 0.
 */
gni_return_t GNI_CdmCreate(uint32_t inst_id, uint8_t ptag, uint32_t cookie,
	uint32_t modes, gni_cdm_handle_t *cdm);
/* Attaches the domain to the only interface of the node, 0; *local_addr is the
 * node.  GNI_RC_INVALID_STATE: already attached.  GNI_RC_NO_MATCH: another
 * device. */
gni_return_t GNI_CdmAttach(gni_cdm_handle_t cdm, uint32_t device_id,
	uint32_t *local_addr, gni_nic_handle_t *nic);
/* Also destroys its queues, endpoints and registrations. */
gni_return_t GNI_CdmDestroy(gni_cdm_handle_t cdm);

/* --- completion queues --- */

typedef struct gni_cq *gni_cq_handle_t;
typedef uint64_t gni_cq_entry_t;

typedef enum gni_cq_mode { GNI_CQ_NOBLOCK, GNI_CQ_BLOCKING } gni_cq_mode_t;

enum { GNI_CQ_MAX_ENTRIES = 65536 };

/*
 * Creates a queue of at least entry_count entries, 1 to GNI_CQ_MAX_ENTRIES, for
 * local and remote events.  Only the program reads entries: delay_count must be
 * 0 and handler NULL.  GNI_RC_ERROR_RESOURCE: the node has no more queues.
 */
gni_return_t GNI_CqCreate(gni_nic_handle_t nic, uint32_t entry_count,
	uint32_t delay_count, gni_cq_mode_t mode,
	void (*handler)(gni_cq_entry_t *entry, void *context), void *context,
	gni_cq_handle_t *cq);
/*
 * Later events for the queue are dropped, and GNI_GetCompleted() cannot return
 * descriptors that were posted with it.  Endpoints with this queue can no
 * longer post with local events.  Puts with an event into memory that names it
 * give their sender an error.
 */
gni_return_t GNI_CqDestroy(gni_cq_handle_t cq);

/*
 * Reads the oldest event.  GNI_RC_NOT_DONE: there is none.
 * GNI_RC_TRANSACTION_ERROR: the event reports an error.  GNI_RC_ERROR_RESOURCE,
 * once, after the last event before the loss: the queue was full, and events
 * were lost; GNI_CQ_OVERRUN() of the entry is set.
 */
gni_return_t GNI_CqGetEvent(gni_cq_handle_t cq, gni_cq_entry_t *entry);
/* Waits for an event.  GNI_RC_TIMEOUT: timeout milliseconds have passed;
 * UINT64_MAX: no time-out.  The mode of the queue must be GNI_CQ_BLOCKING. */
gni_return_t GNI_CqWaitEvent(
	gni_cq_handle_t cq, uint64_t timeout, gni_cq_entry_t *entry);

/* Describes the error in words.  GNI_RC_SIZE_ERROR: the buffer is too short. */
gni_return_t GNI_CqErrorStr(
	gni_cq_entry_t entry, char *buffer, uint32_t length);
/* Sets *recoverable to 1 if the transaction might succeed when repeated: it was
 * not answered in time.  All or part of it may have been executed. */
gni_return_t GNI_CqErrorRecoverable(
	gni_cq_entry_t entry, uint32_t *recoverable);

/* Types of events: a local transaction, a local message, a remote event at the
 * target. */
enum {
	GNI_CQ_EVENT_TYPE_INVALID,
	GNI_CQ_EVENT_TYPE_POST,
	GNI_CQ_EVENT_TYPE_SMSG,
	GNI_CQ_EVENT_TYPE_REMOTE,
};

/* Bits of an entry: 32 for a number and 16 for a transaction, or 48 for a
 * value. */
#define GNI_CQ_GET_DATA(entry)	      ((entry)&UINT64_C(0xffffffffffff))
#define GNI_CQ_GET_INST_ID(entry)     ((uint32_t)(entry))
#define GNI_CQ_GET_REM_INST_ID(entry) ((uint32_t)(entry))
#define GNI_CQ_GET_MSG_ID(entry)      ((uint32_t)(entry))
#define GNI_CQ_GET_TID(entry)	      ((uint32_t)((entry) >> 32 & 0xffff))
#define GNI_CQ_GET_TYPE(entry)	      ((uint32_t)((entry) >> 48 & 0xf))
#define GNI_CQ_GET_STATUS(entry)      ((uint32_t)((entry) >> 52 & 0xff))
#define GNI_CQ_STATUS_OK(entry)	      (!GNI_CQ_GET_STATUS(entry))
#define GNI_CQ_OVERRUN(entry)	      ((uint32_t)((entry) >> 63))

/* --- memory --- */

/* May be passed to other processes. */
typedef struct gni_mem_handle {
	uint64_t qword1, qword2;
} gni_mem_handle_t;

enum {
	GNI_MEM_READWRITE = 0,
	GNI_MEM_READ_ONLY = 1, /* for others */
	/* accepted; ordering is the same for both */
	GNI_MEM_RELAXED_PI_ORDERING = 2,
	GNI_MEM_STRICT_PI_ORDERING = 4,
};

/*
 * Opens [address, address + length) to the other processes of the domain.
 * dst_cq is the queue for events of arriving data; NULL: none. vmdh_index must
 * be UINT32_MAX.  GNI_RC_ERROR_RESOURCE: a node has at most 3,840
 * registrations.
 */
gni_return_t GNI_MemRegister(gni_nic_handle_t nic, uint64_t address,
	uint64_t length, gni_cq_handle_t dst_cq, uint32_t flags,
	uint32_t vmdh_index, gni_mem_handle_t *mem);
/* Later accesses to the segment end with an error at their sender. */
gni_return_t GNI_MemDeregister(gni_nic_handle_t nic, gni_mem_handle_t *mem);

/* --- endpoints --- */

typedef struct gni_ep *gni_ep_handle_t;

/* src_cq is the queue for local events; NULL: none. */
gni_return_t GNI_EpCreate(
	gni_nic_handle_t nic, gni_cq_handle_t src_cq, gni_ep_handle_t *ep);
/*
 * Binds an endpoint to a domain of a node.  By default local events show the
 * number of that domain, and remote events show the local one;
 * GNI_EpSetEventData() changes this.  GNI_RC_INVALID_STATE: already bound, or
 * not bound.
 */
gni_return_t GNI_EpBind(
	gni_ep_handle_t ep, uint32_t remote_addr, uint32_t remote_id);
gni_return_t GNI_EpUnbind(gni_ep_handle_t ep);
gni_return_t GNI_EpSetEventData(
	gni_ep_handle_t ep, uint32_t local_event, uint32_t remote_event);
/* Posted transactions continue; the mailbox ends. */
gni_return_t GNI_EpDestroy(gni_ep_handle_t ep);

/* --- transactions --- */

typedef enum gni_post_type {
	GNI_POST_RDMA_PUT = 1,
	GNI_POST_RDMA_GET,
	GNI_POST_FMA_PUT,
	GNI_POST_FMA_PUT_W_SYNCFLAG,
	GNI_POST_FMA_GET,
	GNI_POST_AMO,
	GNI_POST_CQWRITE,
} gni_post_type_t;

/* Events that are written; bits. */
enum {
	GNI_CQMODE_SILENT = 0,
	GNI_CQMODE_LOCAL_EVENT =
		1, /* local, when the source buffer may be reused */
	GNI_CQMODE_GLOBAL_EVENT = 2, /* local, when all bytes have arrived */
	GNI_CQMODE_REMOTE_EVENT = 4, /* remote, when all bytes have arrived */
	GNI_CQMODE_DUAL_EVENTS = 8, /* the first two, as one event */
};

/* Choice among parallel links; bits. */
enum {
	GNI_DLVMODE_PERFORMANCE = 0, /* each packet takes the emptiest link */
	GNI_DLVMODE_NO_ADAPT = 1, /* by a hash, constant for a line of memory */
	GNI_DLVMODE_NO_HASH = 2, /* a hash without the address */
	GNI_DLVMODE_NO_RADAPT = 4, /* for responses, like their requests */
	GNI_DLVMODE_IN_ORDER = 3, /* packets to a node stay in order */
};

enum {
	/* For a block transfer: transfers that the node posts later start when
	 * this one, and all before it, are complete. */
	GNI_RDMAMODE_FENCE = 1,
};

/* Atomic operations.  The ones with F also return the old value.  The ones with
 * _C let the target keep the word in its cache. */
typedef enum gni_fma_cmd_type {
	GNI_FMA_ATOMIC_ADD = 1,
	GNI_FMA_ATOMIC_AND,
	GNI_FMA_ATOMIC_OR,
	GNI_FMA_ATOMIC_XOR,
	GNI_FMA_ATOMIC_AX, /* (word & first) ^ second */
	GNI_FMA_ATOMIC_FADD,
	GNI_FMA_ATOMIC_FAND,
	GNI_FMA_ATOMIC_FOR,
	GNI_FMA_ATOMIC_FXOR,
	GNI_FMA_ATOMIC_FAX,
	GNI_FMA_ATOMIC_CSWAP, /* second, if the word equals first */
	GNI_FMA_ATOMIC_ADD_C,
	GNI_FMA_ATOMIC_AND_C,
	GNI_FMA_ATOMIC_OR_C,
	GNI_FMA_ATOMIC_XOR_C,
	GNI_FMA_ATOMIC_AX_C,
	GNI_FMA_ATOMIC_FADD_C,
	GNI_FMA_ATOMIC_FAND_C,
	GNI_FMA_ATOMIC_FOR_C,
	GNI_FMA_ATOMIC_FXOR_C,
	GNI_FMA_ATOMIC_FAX_C,
	GNI_FMA_ATOMIC_CSWAP_C,
} gni_fma_cmd_type_t;

/* Owned by the caller.  With a local event, it must not change until
 * GNI_GetCompleted() has returned it; without one, it may change at once. */
typedef struct gni_post_descriptor {
	uint64_t post_id; /* for the caller; ignored by all calls */
	gni_return_t status; /* set by GNI_GetCompleted() */
	gni_post_type_t type;
	uint16_t cq_mode, dlvr_mode, rdma_mode;
	uint64_t local_addr, remote_addr, length;
	gni_mem_handle_t local_mem_hndl, remote_mem_hndl;
	gni_cq_handle_t
		src_cq_hndl; /* instead of the endpoint's queue, or NULL */
	/* a word in the same segment, written after the bytes */
	uint64_t sync_flag_value, sync_flag_addr;
	gni_fma_cmd_type_t amo_cmd;
	uint64_t first_operand, second_operand;
	uint64_t cqwrite_value; /* below 2^48 */
} gni_post_descriptor_t;

/*
 * Starts a put, a get or an atomic operation by FMA.
 *
 * The core stores the bytes of a put, so they may change when the call returns;
 * they need not be registered.  GNI_POST_FMA_PUT_W_SYNCFLAG writes its word
 * after the bytes have arrived; its packets stay in order, whatever the value
 * of dlvr_mode.  The bytes of a get go into a registered segment of the caller,
 * at multiples of 4; the word that an atomic operation fetches goes there, too,
 * at a multiple of 8, with a length of 8.
 *
 * GNI_RC_INVALID_STATE: the endpoint is not bound.  GNI_RC_SIZE_ERROR: no byte,
 * or more than 1 GiB.  GNI_RC_ALIGNMENT_ERROR.  GNI_RC_PERMISSION_ERROR: the
 * local bytes do not belong to the process, or are outside of their segment.
 * GNI_RC_ERROR_RESOURCE: 65,535 transactions with an event are in flight.
 * GNI_RC_ILLEGAL_OP: the type is not an FMA type, or a local event has no
 * queue.  The event reports errors at the target: the segment, its bounds, its
 * rights, or its queue.
 */
gni_return_t GNI_PostFma(gni_ep_handle_t ep, gni_post_descriptor_t *d);
/*
 * Starts a block transfer: a put or get of up to 4 GiB (GNI_RC_SIZE_ERROR),
 * which the interface executes.  Its bytes must be in a registered segment of
 * the caller until its end.  Otherwise as GNI_PostFma().
 */
gni_return_t GNI_PostRdma(gni_ep_handle_t ep, gni_post_descriptor_t *d);
/* Writes an event of the type GNI_CQ_EVENT_TYPE_REMOTE, whose data is
 * cqwrite_value, into the queue of the segment remote_mem_hndl. */
gni_return_t GNI_PostCqWrite(gni_ep_handle_t ep, gni_post_descriptor_t *d);

/*
 * Returns the descriptor of a transaction whose event was read from a queue; it
 * belongs to the caller again.  The return code is its status: GNI_RC_SUCCESS
 * or GNI_RC_TRANSACTION_ERROR.  GNI_RC_NO_MATCH: the entry is not from this
 * queue, or its descriptor was returned before.
 */
gni_return_t GNI_GetCompleted(
	gni_cq_handle_t cq, gni_cq_entry_t entry, gni_post_descriptor_t **d);

/* --- short messages --- */

/*
 * Two endpoints that are bound to each other have a mailbox each, in memory
 * that its owner has registered, with slots for messages from the other.  FMA
 * writes a message into the next slot.  When the receiver has released half of
 * the slots, the sender is notified.  So a sender needs no software at the
 * receiver, and cannot overrun it.
 */
typedef enum gni_smsg_type {
	GNI_SMSG_TYPE_MBOX = 1,
	/* Messages that time out are retransmitted, by the calls that read
	 * events, until they are answered. */
	GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT,
} gni_smsg_type_t;

typedef struct gni_smsg_attr {
	gni_smsg_type_t msg_type;
	uint64_t msg_buffer; /* in its owner's memory, a multiple of 64 */
	uint32_t buff_size;
	gni_mem_handle_t mem_hndl;
	uint32_t mbox_offset; /* of the mailbox, a multiple of 64 */
	uint16_t mbox_maxcredit; /* number of slots, 2 to 1024 */
	uint32_t msg_maxsize; /* bytes including the header, up to 65536 */
} gni_smsg_attr_t;

#define GNI_SMSG_ANY_TAG 0xff

/* Size of a mailbox with these attributes, in bytes. */
gni_return_t GNI_SmsgBufferSizeNeeded(
	const gni_smsg_attr_t *attr, unsigned int *size);
/*
 * Sets up the local mailbox and the remote one, which must have the same type,
 * credit and size.  The endpoint must be bound and have a queue.  Both
 * mailboxes must be all zeros before the first of the two processes calls this.
 * It may be called once: GNI_RC_INVALID_STATE.  GNI_RC_SIZE_ERROR: a mailbox is
 * not in its buffer.  If the segment of a mailbox names a queue, messages give
 * events of the type GNI_CQ_EVENT_TYPE_REMOTE there.
 */
gni_return_t GNI_SmsgInit(gni_ep_handle_t ep, const gni_smsg_attr_t *local,
	const gni_smsg_attr_t *remote);
/*
 * Sends a header and data as one message, from the program's own memory, which
 * may be reused at once.  The event has the type GNI_CQ_EVENT_TYPE_SMSG and
 * shows msg_id.  GNI_RC_NOT_DONE: the receiver has no free slot; the call then
 * takes the time of a poll.  GNI_RC_SIZE_ERROR.  A tag is below
 * GNI_SMSG_ANY_TAG.
 */
gni_return_t GNI_SmsgSendWTag(gni_ep_handle_t ep, const void *header,
	uint32_t header_length, const void *data, uint32_t data_length,
	uint32_t msg_id, uint8_t tag);
/*
 * Returns the next message: *header points to its bytes until
 * GNI_SmsgRelease(). *tag is the required tag, or GNI_SMSG_ANY_TAG, and is set
 * to the tag of the message.  GNI_RC_NO_MATCH: it has another tag.
 * GNI_RC_NOT_DONE: there is none.  GNI_RC_INVALID_STATE: the previous message
 * was not released.
 */
gni_return_t GNI_SmsgGetNextWTag(
	gni_ep_handle_t ep, void **header, uint8_t *tag);
/* Frees the slot of the message.  GNI_RC_INVALID_STATE: there is none. */
gni_return_t GNI_SmsgRelease(gni_ep_handle_t ep);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
