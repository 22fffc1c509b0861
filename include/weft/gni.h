/*
 * Gemini's user-level interface, by the names that programs for it use: puts
 * and gets by fast memory access (FMA) and by the block transfer engine (BTE),
 * atomic operations, events in completion queues (CQs), and short messages.
 * The man page is weft-gni(7).
 *
 * Processes and nodes.  A process creates a communication domain and attaches
 * it to its node's interface; its address is the node's number (weft_node()).
 * What a call returns a handle of is the process's, shared by its threads; a
 * handle that has ended, or never was one, is refused by every call.  What a
 * process has not destroyed ends with the run.
 *
 * Memory.  Addresses are those of weft/msg.h: of the process's memory, from 0
 * on, which weft_msg_load() and weft_msg_store() read and write.  Others name
 * bytes by the handle of a registered segment and by their address in its
 * owner's memory.
 *
 * Completion.  A transaction that was posted ends with one event in a queue of
 * the poster, if its descriptor says so, and with one in a queue of the target,
 * if all of it is there.  What goes wrong under way is in the poster's event:
 * nothing else of it is told, and no other transaction is affected.  There is
 * no order between transactions, nor between a transaction's packets, but by
 * GNI_DLVMODE_IN_ORDER and GNI_RDMAMODE_FENCE.
 *
 * Time.  A line of up to 64 bytes that FMA stores takes nic.software.store,
 * what the kernel does nic.software.kernel: to create and destroy domains and
 * queues, to attach, to register memory and take it back, and to post a block
 * transfer.  A look at a queue or a mailbox takes
 * nic.software.poll-period where there is nothing, else nic.software.poll-load.
 * All else is free.
 *
 * Return codes.  GNI_RC_INVALID_PARAM: a handle that is none, a NULL pointer, a
 * value that there is not.  Where a call fails nothing is done, and it takes no
 * time.  Other codes stand beside the calls.
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
	GNI_RC_NOT_DONE, /* nothing is there yet, or no room */
	GNI_RC_INVALID_PARAM,
	GNI_RC_ERROR_RESOURCE, /* no more of these; events were lost */
	GNI_RC_TIMEOUT,
	GNI_RC_PERMISSION_ERROR, /* memory that is not open for that */
	GNI_RC_DESCRIPTOR_ERROR,
	GNI_RC_ALIGNMENT_ERROR,
	GNI_RC_INVALID_STATE, /* not now: not bound, attached already */
	GNI_RC_NO_MATCH,
	GNI_RC_SIZE_ERROR, /* too short, too long */
	GNI_RC_TRANSACTION_ERROR, /* the event says why */
	GNI_RC_ILLEGAL_OP, /* the interface cannot do that */
	GNI_RC_ERROR_NOMEM,
} gni_return_t;

/* What it is called; "unknown" for other numbers. */
const char *gni_return_name(gni_return_t code);

/* --- domains --- */

typedef struct gni_cdm *gni_cdm_handle_t;
typedef struct gni_nic *gni_nic_handle_t;

/*
 * A communication domain: its number, which others' events show, is the
 * caller's to choose.  Memory is open to domains of the same ptag only; the
 * cookie is not looked at.  There are no modes: 0.
 */
gni_return_t GNI_CdmCreate(uint32_t inst_id, uint8_t ptag, uint32_t cookie,
	uint32_t modes, gni_cdm_handle_t *cdm);
/* To the node's one interface, 0; *local_addr is the node.  Once:
 * GNI_RC_INVALID_STATE after that.  GNI_RC_NO_MATCH for another device. */
gni_return_t GNI_CdmAttach(gni_cdm_handle_t cdm, uint32_t device_id,
	uint32_t *local_addr, gni_nic_handle_t *nic);
/* Destroys what was made with it, too: queues, endpoints, registrations. */
gni_return_t GNI_CdmDestroy(gni_cdm_handle_t cdm);

/* --- completion queues --- */

typedef struct gni_cq *gni_cq_handle_t;
typedef uint64_t gni_cq_entry_t;

typedef enum gni_cq_mode { GNI_CQ_NOBLOCK, GNI_CQ_BLOCKING } gni_cq_mode_t;

enum { GNI_CQ_MAX_ENTRIES = 65536 };

/*
 * A queue of at least so many entries, 1 to GNI_CQ_MAX_ENTRIES, that both kinds
 * of events may go to.  No entry is taken without the program: delay_count is 0
 * and handler NULL.  GNI_RC_ERROR_RESOURCE: the node has no more queues.
 */
gni_return_t GNI_CqCreate(gni_nic_handle_t nic, uint32_t entry_count,
	uint32_t delay_count, gni_cq_mode_t mode,
	void (*handler)(gni_cq_entry_t *entry, void *context), void *context,
	gni_cq_handle_t *cq);
/*
 * Events that still come for it are dropped, and what was posted with it cannot
 * be had back by GNI_GetCompleted().  Endpoints that name it can no longer post
 * with events of their own; who puts into memory that names it with an event
 * gets an error.
 */
gni_return_t GNI_CqDestroy(gni_cq_handle_t cq);

/*
 * Takes the oldest event.  GNI_RC_NOT_DONE: there is none.
 * GNI_RC_TRANSACTION_ERROR: it tells of an error.  GNI_RC_ERROR_RESOURCE, once,
 * after the last of those before: the queue was full, and events were lost;
 * GNI_CQ_OVERRUN() of the entry.
 */
gni_return_t GNI_CqGetEvent(gni_cq_handle_t cq, gni_cq_entry_t *entry);
/* The same, but waits for it; GNI_RC_TIMEOUT after so many milliseconds,
 * UINT64_MAX: none.  The queue is of mode GNI_CQ_BLOCKING. */
gni_return_t GNI_CqWaitEvent(
	gni_cq_handle_t cq, uint64_t timeout, gni_cq_entry_t *entry);

/* What went wrong, in words; GNI_RC_SIZE_ERROR where they do not fit. */
gni_return_t GNI_CqErrorStr(
	gni_cq_entry_t entry, char *buffer, uint32_t length);
/* 1 where the same might succeed if it were tried again: what was not answered
 * in time.  It may have been done, or parts of it. */
gni_return_t GNI_CqErrorRecoverable(
	gni_cq_entry_t entry, uint32_t *recoverable);

/* Kinds of events: of a transaction, of a message; and at a target those of
 * another process's. */
enum {
	GNI_CQ_EVENT_TYPE_INVALID,
	GNI_CQ_EVENT_TYPE_POST,
	GNI_CQ_EVENT_TYPE_SMSG,
	GNI_CQ_EVENT_TYPE_REMOTE,
};

/* Bits of an entry: 32 of a number, 16 of a transaction, or 48 of a value. */
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

/* May be passed on to other processes as it is. */
typedef struct gni_mem_handle {
	uint64_t qword1, qword2;
} gni_mem_handle_t;

enum {
	GNI_MEM_READWRITE = 0,
	GNI_MEM_READ_ONLY = 1, /* for others */
	/* in which writes may be seen; the interface has but one */
	GNI_MEM_RELAXED_PI_ORDERING = 2,
	GNI_MEM_STRICT_PI_ORDERING = 4,
};

/*
 * Opens [address, address + length) to the domain's other processes; dst_cq
 * is the queue for events of what comes into it, NULL: none.  vmdh_index is
 * UINT32_MAX.  GNI_RC_ERROR_RESOURCE: a node has 3,840 registrations at most.
 */
gni_return_t GNI_MemRegister(gni_nic_handle_t nic, uint64_t address,
	uint64_t length, gni_cq_handle_t dst_cq, uint32_t flags,
	uint32_t vmdh_index, gni_mem_handle_t *mem);
/* What comes for it later ends with an error at its sender. */
gni_return_t GNI_MemDeregister(gni_nic_handle_t nic, gni_mem_handle_t *mem);

/* --- endpoints --- */

typedef struct gni_ep *gni_ep_handle_t;

/* src_cq is the queue of the poster's events; NULL: it wants none. */
gni_return_t GNI_EpCreate(
	gni_nic_handle_t nic, gni_cq_handle_t src_cq, gni_ep_handle_t *ep);
/*
 * To a domain of a node.  Until GNI_EpSetEventData() says otherwise, its
 * number is what events here show, and the own number those over there.
 * GNI_RC_INVALID_STATE where it is bound, or not.
 */
gni_return_t GNI_EpBind(
	gni_ep_handle_t ep, uint32_t remote_addr, uint32_t remote_id);
gni_return_t GNI_EpUnbind(gni_ep_handle_t ep);
gni_return_t GNI_EpSetEventData(
	gni_ep_handle_t ep, uint32_t local_event, uint32_t remote_event);
/* What was posted goes on; a mailbox ends. */
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

/* Where there are events; bits. */
enum {
	GNI_CQMODE_SILENT = 0,
	GNI_CQMODE_LOCAL_EVENT = 1, /* here, when the source may change */
	GNI_CQMODE_GLOBAL_EVENT = 2, /* here, when all is there */
	GNI_CQMODE_REMOTE_EVENT = 4, /* there, when all is */
	GNI_CQMODE_DUAL_EVENTS = 8, /* both of the first two, as one event */
};

/* How packets choose among parallel links; bits. */
enum {
	GNI_DLVMODE_PERFORMANCE = 0, /* each takes the emptiest one */
	GNI_DLVMODE_NO_ADAPT = 1, /* by a hash, the same for a line of memory */
	GNI_DLVMODE_NO_HASH = 2, /* without the address in it */
	GNI_DLVMODE_NO_RADAPT = 4, /* responses: as their requests */
	GNI_DLVMODE_IN_ORDER = 3, /* the packets to a node stay in order */
};

enum {
	/* A block transfer: those that the node posts later begin when this
	 * one, and all before it, are complete. */
	GNI_RDMAMODE_FENCE = 1,
};

/* What an atomic operation makes of a word; those that fetch return what it
 * was.  The last ones let the target keep the word in its cache. */
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
	GNI_FMA_ATOMIC_CSWAP, /* second, where the word is first */
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

/* The caller's.  Where there is an event here, it is left alone until
 * GNI_GetCompleted() has given it back; else it may change at once. */
typedef struct gni_post_descriptor {
	uint64_t post_id; /* the caller's; no call looks at it */
	gni_return_t status; /* set by GNI_GetCompleted() */
	gni_post_type_t type;
	uint16_t cq_mode, dlvr_mode, rdma_mode;
	uint64_t local_addr, remote_addr, length;
	gni_mem_handle_t local_mem_hndl, remote_mem_hndl;
	gni_cq_handle_t src_cq_hndl; /* in place of the endpoint's, or NULL */
	/* a word that is written, in the same segment, after the bytes */
	uint64_t sync_flag_value, sync_flag_addr;
	gni_fma_cmd_type_t amo_cmd;
	uint64_t first_operand, second_operand;
	uint64_t cqwrite_value; /* below 2^48 */
} gni_post_descriptor_t;

/*
 * Begins a put, a get or an atomic operation by FMA.
 *
 * A put's bytes are stored by the core, so that they may change when the call
 * returns; they need not be registered.  GNI_POST_FMA_PUT_W_SYNCFLAG writes its
 * word when the bytes are there; its packets are in order, whatever dlvr_mode
 * says.  A get's bytes come into a registered segment of the caller's, at
 * multiples of 4, as does the word that an atomic operation fetches, at a
 * multiple of 8; length is 8 then.
 *
 * GNI_RC_INVALID_STATE: the endpoint is not bound.  GNI_RC_SIZE_ERROR: no byte,
 * or more than 1 GiB.  GNI_RC_ALIGNMENT_ERROR.  GNI_RC_PERMISSION_ERROR:
 * local bytes that the process does not have, or outside of their segment.
 * GNI_RC_ERROR_RESOURCE: 65,535 transactions with an event are under way.
 * GNI_RC_ILLEGAL_OP: a type that is not FMA's, an event here without a queue.
 * What is wrong over there, a segment, its bounds, rights, or queue, is in the
 * event.
 */
gni_return_t GNI_PostFma(gni_ep_handle_t ep, gni_post_descriptor_t *d);
/*
 * Begins a block transfer, a put or get of up to 4 GiB (GNI_RC_SIZE_ERROR),
 * which the interface does by itself.  Its bytes are in a registered segment of
 * the caller's, which they must be until its end.  Otherwise as GNI_PostFma().
 */
gni_return_t GNI_PostRdma(gni_ep_handle_t ep, gni_post_descriptor_t *d);
/* Writes an event of the type GNI_CQ_EVENT_TYPE_REMOTE, whose data is
 * cqwrite_value, into the queue of the segment remote_mem_hndl. */
gni_return_t GNI_PostCqWrite(gni_ep_handle_t ep, gni_post_descriptor_t *d);

/*
 * The descriptor of a transaction whose event was taken from a queue; it is the
 * caller's again.  Returns its status: GNI_RC_SUCCESS or
 * GNI_RC_TRANSACTION_ERROR.  GNI_RC_NO_MATCH where the entry is none of that
 * queue's, or was asked for before.
 */
gni_return_t GNI_GetCompleted(
	gni_cq_handle_t cq, gni_cq_entry_t entry, gni_post_descriptor_t **d);

/* --- short messages --- */

/*
 * Two endpoints that are bound to each other have a mailbox each, in memory
 * that its owner has registered, with places for the other's messages.  A
 * message goes by FMA into the next place; when its receiver has released half
 * of them the sender is told.  So a sender needs nobody's software, and cannot
 * overrun a receiver.
 */
typedef enum gni_smsg_type {
	GNI_SMSG_TYPE_MBOX = 1,
	/* What ends with a time-out is sent again, by the calls that take
	 * events, until it is answered. */
	GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT,
} gni_smsg_type_t;

typedef struct gni_smsg_attr {
	gni_smsg_type_t msg_type;
	uint64_t msg_buffer; /* an address of its owner's, a multiple of 64 */
	uint32_t buff_size;
	gni_mem_handle_t mem_hndl;
	uint32_t mbox_offset; /* of the mailbox in the buffer: 64 * n */
	uint16_t mbox_maxcredit; /* messages that are not released: 2 to 1024 */
	uint32_t msg_maxsize; /* bytes, with their header: to 65536 */
} gni_smsg_attr_t;

#define GNI_SMSG_ANY_TAG 0xff

/* Bytes of a mailbox for so many messages of that size. */
gni_return_t GNI_SmsgBufferSizeNeeded(
	const gni_smsg_attr_t *attr, unsigned int *size);
/*
 * The own mailbox and the other's, which have the same type, credit and size.
 * The endpoint is bound and has a queue.  Both are all zeros before the first
 * of the two calls this.  Once: GNI_RC_INVALID_STATE.  GNI_RC_SIZE_ERROR: a
 * mailbox that is not in its buffer.  Where its segment names a queue, messages
 * make events there of the type GNI_CQ_EVENT_TYPE_REMOTE.
 */
gni_return_t GNI_SmsgInit(gni_ep_handle_t ep, const gni_smsg_attr_t *local,
	const gni_smsg_attr_t *remote);
/*
 * Sends a header and data as one message, from memory of the program itself,
 * which is its own again at once.  Its event is of the type
 * GNI_CQ_EVENT_TYPE_SMSG and shows msg_id.  GNI_RC_NOT_DONE: the receiver has
 * no place; it takes the time of a look.  GNI_RC_SIZE_ERROR.  A tag is below
 * GNI_SMSG_ANY_TAG.
 */
gni_return_t GNI_SmsgSendWTag(gni_ep_handle_t ep, const void *header,
	uint32_t header_length, const void *data, uint32_t data_length,
	uint32_t msg_id, uint8_t tag);
/*
 * The next message: *header is where its bytes are, until GNI_SmsgRelease().
 * *tag is the tag that it must have, or GNI_SMSG_ANY_TAG, and then that which
 * it has.  GNI_RC_NO_MATCH: it has another.  GNI_RC_NOT_DONE: there is none.
 * GNI_RC_INVALID_STATE: the one before was not released.
 */
gni_return_t GNI_SmsgGetNextWTag(
	gni_ep_handle_t ep, void **header, uint8_t *tag);
/* Its place is the sender's again.  GNI_RC_INVALID_STATE: there is none. */
gni_return_t GNI_SmsgRelease(gni_ep_handle_t ep);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
