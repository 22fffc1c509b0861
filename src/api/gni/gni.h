/* Shared by the files of Gemini's user-level interface: the process's objects,
 * which are found by their handles. */
#ifndef API_GNI_GNI_H
#define API_GNI_GNI_H

#include "api/gni/queue.h"
#include "api/msg/mailbox.h"
#include "base/slots.h"
#include "weft/gni.h"

/* The start of every object.  A handle is its position and its serial number,
 * so that stale handles are recognised. */
struct gni_object {
	struct slot slot;
	uint32_t serial;
	uint32_t cdm; /* that it belongs to */
};

struct gni_domain {
	struct gni_object object;
	uint32_t inst_id;
	uint8_t ptag;
	bool is_attached;
};

struct gni_queue {
	struct gni_object object;
	struct gemini_queue queue;
	gni_cq_handle_t handle; /* its own */
	bool may_wait;
	uint32_t lost; /* events, as far as reported to the program */
};

/* A registration. */
struct gni_segment {
	struct gni_object object;
	gni_mem_handle_t handle; /* begins with its address */
	uint64_t bytes;
};

struct gni_smsg {
	struct mailbox mailbox;
	uint32_t type, max_size, n_slots;
	uint64_t here, there; /* mailboxes */
	gni_mem_handle_t mem; /* of the one there */
	uint8_t *message; /* the program's view of the current one */
	bool is_out; /* the program has it */
};

struct gni_end {
	struct gni_object object;
	gni_cq_handle_t cq;
	bool is_bound, has_data; /* GNI_EpSetEventData() was called */
	uint32_t node, tag;
	uint32_t local_event, remote_event;
	struct gni_smsg *smsg; /* NULL: none */
};

/* A transaction with an event for the process. */
struct gni_post {
	struct slot slot;
	gni_cq_handle_t cq;
	uint32_t left; /* events until its end */
	uint32_t status; /* of the first that failed */
	bool is_ended; /* the program has its event */
	gni_post_descriptor_t *d; /* NULL: a mailbox's: */
	gni_ep_handle_t ep;
	uint64_t number; /* of the message; 0: it returns credits */
	uint32_t msg_id;
	uint64_t to; /* address; then its bytes */
	uint8_t *bytes;
	uint32_t n;
};

struct gni_process {
	struct slots cdms, cqs, ends, segments, posts;
	uint32_t serial;
	bool is_open;
};

/* A segment's handle: an address, then its number at its node, whether it has a
 * queue, and its serial number. */
enum { GNI_HANDLES = 4096, GNI_MOST_POSTS = 65535 };
#define GNI_HANDLE(mem)	   ((uint32_t)((mem)->qword2 % GNI_HANDLES))
#define GNI_HAS_QUEUE(mem) ((mem)->qword2 / GNI_HANDLES & 1)

/* Types of events that only the library sees. */
enum { GNI_EVENT_CREDITS = 4 };

#define GNI_EVENT(type, tid, data)                                             \
	((uint64_t)(type) << 48 | (uint64_t)(tid) << 32 | (data))

/* Of the program that calls. */
struct gni_process *gni_process(void);
struct nic *gni_nic(void);
const struct gemini_params *gni_params(void);

/* The object of a handle, or NULL. */
struct gni_domain *gni_find_nic(gni_nic_handle_t nic);
struct gni_queue *gni_find_cq(gni_cq_handle_t cq);
struct gni_end *gni_find_ep(gni_ep_handle_t ep);
struct gni_segment *gni_find_mem(const gni_mem_handle_t *mem);

/* A new object of a domain, and its handle. */
void *gni_new(struct slots *s, uint32_t cdm, uintptr_t *handle);
void gni_give(struct slots *s, void *object);

/* Time that the kernel takes. */
void gni_charge_kernel(void);

/* --- queues --- */

/* Of a struct gni_queue. */
void gni_close_cq(void *queue);

/* --- posts --- */

/* Puts a record's bytes, in order, into a segment, with an event of a type.  A
 * message also has an event at the target, if there is a queue. */
void gni_put(uint32_t id, const struct gni_end *e, const gni_mem_handle_t *mem,
	uint32_t type);
/* A record, or 0 if there are too many. */
uint32_t gni_take_post(gni_cq_handle_t cq);
void gni_give_post(uint32_t id);

/* --- messages --- */

/* A put of a message or of credits has ended; returns whether to report it to
 * the program, and its status.  Unanswered puts are repeated if the mailbox is
 * of that type. */
bool gni_smsg_ended(uint32_t post, uint32_t *status);
void gni_close_smsg(struct gni_end *e);

/* Opens any free queue of the card, in the kernel's memory; false if there is
 * none. */
bool gni_open_queue(struct gemini_queue *q, uint32_t entries);

#endif
