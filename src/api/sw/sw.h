/*
 * Shared by the files of SWverbs: a process's devices, their queues and
 * descriptors.  device.c opens devices and registers memory, queue.c makes
 * queues, post.c hands descriptors to the card, done.c takes what comes back,
 * again.c continues where the card has given up, silent.c remembers nodes that
 * do not answer.
 */
#ifndef API_SW_SW_H
#define API_SW_SW_H

#include "api/sw/silent.h"
#include "api/sw/user.h"
#include "api/sw/windows.h"
#include "base/slots.h"
#include "weft/swverbs.h"

enum {
	SW_QUEUES = 256, /* virtual RQs of a device */
	SW_RING = 64, /* slots of the ring that they share */
	SW_EARLY = 8, /* messages of an RQ that wait for a buffer elsewhere */
	SW_OWN_ENTRIES = 16, /* descriptors of the library itself */
	SW_TRIES = 16, /* of a message, by the library */
	SW_TREES = 8, /* of a send queue */
	/* Keys from here on are those of other libraries. */
	SW_KEYS = SWHNI_KEYS - 2 * HOST_THREADS - SWHNI_INTERFACES,
	SW_LISTS = SWHNI_KEYS - SWHNI_INTERFACES, /* those of trees' lists */
};

/* --- objects; a program has handles of them --- */

enum swv_kind { SW_DEVICE = 1, SW_CQ, SW_SQ, SW_RQ, SW_TREE };

/* Each begins with it. */
struct swv_object {
	uintptr_t handle;
	struct swv_device *dev; /* that it belongs to; a device to itself */
};

/* A virtual interface of a device. */
struct swv_interface {
	struct swv_interface *next;
	struct swv_device *dev;
	struct swv_user user;
	struct swv_sq *sq; /* NULL: none, but maybe the library's own */
	struct swv_rq *raw; /* NULL: it is not a raw RQ's */
	bool has_virtual; /* the ring of the virtual RQs */
	bool is_blocked; /* the next message there has no buffer */
	struct swv_known known; /* messages that came */
};

struct swv_device {
	struct swv_object object;
	struct swv_device *next;
	uint32_t job, process;
	struct swv_interface *interfaces;
	struct slots works; /* struct swv_work */
	struct swv_windows windows;
	struct swv_silent silent;
	struct swv_rq **queue; /* [n_queues], virtual RQs */
	uint32_t n_queues;
	struct swv_key *keys;
	uint32_t n_keys; /* registered, ever */
	struct swv_cq *cqs;
	bool is_up[WEFT_SW_PORTS], has_news[WEFT_SW_PORTS]; /* of ports */
	uint64_t resent, probed, doubles;
	sim_time looked_at; /* all that had come by then is taken */
};

struct swv_key {
	struct swv_key *next;
	uint32_t key;
};

struct swv_cq {
	struct swv_object object;
	struct swv_cq *next;
	struct ring done; /* struct weft_sw_completion */
	uint32_t depth, users;
	bool has_lost, has_events, is_out; /* the program has an event */
};

struct swv_sq {
	struct swv_object object;
	struct swv_interface *in;
	struct swv_cq *cq;
	uint32_t depth, used, failed;
	struct swv_tree *trees[SW_TREES];
};

/* A member of a tree. */
struct swv_tree {
	struct swv_object object;
	struct swv_sq *sq;
	struct swhni_collective work; /* what all rounds have in common */
	uint32_t used;
};

/* A buffer of a virtual RQ. */
struct swv_buffer {
	uint64_t id, at;
	uint32_t bytes;
};

/* A message that came before its buffer. */
struct swv_early {
	struct swhni_slot head;
	uint8_t bytes[SWHNI_MESSAGE];
};

struct swv_rq {
	struct swv_object object;
	struct swv_interface *in;
	struct swv_cq *cq;
	uint32_t depth;
	uint16_t queue;
	bool is_raw;
	struct ring buffers, early; /* struct swv_buffer, struct swv_early */
	struct ring slots; /* of a raw one, in use: bool, the program has it */
};

/* A descriptor that has not completed. */
struct swv_work {
	struct slot slot;
	struct swhni_descriptor d;
	struct swv_sq *sq; /* NULL: the library's own */
	struct swv_tree *tree; /* of a collective, or NULL */
	struct swv_interface *in;
	uint64_t id;
	uint32_t flags;
	uint32_t peer, number; /* of those in a window */
	bool has_number, is_fsm, is_again;
	bool awaits; /* the receiver's library will answer, before: */
	uint32_t tries;
	sim_time first, deadline;
	uint8_t data[SWHNI_SHORT]; /* of a fast short message */
};

struct swv_process {
	struct slots handles; /* struct swv_handle */
	uint32_t serial;
	struct swv_device *devices;
	bool is_open;
};

/* Of the program that calls. */
struct swv_process *swv_process(void);
struct nic *swv_nic(void);

/* The object of a handle, or NULL; a new handle; its end. */
void *swv_find(enum swv_kind kind, const void *handle);
void *swv_handle(
	enum swv_kind kind, struct swv_object *object, struct swv_device *dev);
void swv_drop(const struct swv_object *object);

/* --- device.c --- */

/* A device for a process that need not be the program's: experiments have
 * several on threads of one. */
struct swv_device *swv_open(uint32_t job, uint32_t process);

/* Whether a key names bytes that are this device's. */
bool swv_has_bytes(const struct swv_device *dev, uint32_t key, uint64_t offset,
	uint64_t bytes);

/* --- vm.c --- */

/* The program's process belongs to a virtual machine from now on. */
int swv_join_vm(uint32_t vm);

/* --- queue.c --- */

/* A new interface, a certain one or, with 0, any; NULL: there is none left. */
struct swv_interface *swv_new_interface(
	struct swv_device *dev, uint32_t wanted);
/* An interface with a queue of the library's own to send by; NULL: there is
 * none left. */
struct swv_interface *swv_own_sender(struct swv_device *dev);
/* Lets the library of a peer answer to an interface; false: it cannot. */
bool swv_let_answer(struct swv_interface *in);
void swv_free_cq(struct swv_cq *cq);
void swv_free_rq(struct swv_rq *rq);

/* Frees the trees of an SQ. */
void swv_free_trees(struct swv_sq *sq);

/* --- post.c --- */

/* Whether a queue has room, after a look at what has completed. */
bool swv_has_room(struct swv_sq *sq);

/* What the words of a message or notice hold. */
#define SW_NUMBERED	(UINT64_C(1) << 48) /* word 1 has a number */
#define SW_AGAIN	(UINT64_C(1) << 49) /* and the time of the first try */
#define SW_ANSWER	(UINT64_C(1) << 50) /* to a message sent again */
#define SW_TAG(word)	((uint32_t)(word))
#define SW_QUEUE(word)	((uint16_t)((word) >> 32))
#define SW_NUMBER(word) ((uint32_t)(word))
enum { SW_TIME_SHIFT = 16 }; /* of the time in word 1, above the number */

/* What the card must know of a program's descriptor, but for its end. */
struct swhni_descriptor swv_descriptor(
	const struct weft_sw_work *w, enum swhni_type type);
/* Hands a descriptor to the card, first or again. */
int swv_post(struct swv_device *dev, uint32_t work, sim_time begun);
/* As weft_sw_post_fsm(), of bytes that are gathered. */
int swv_post_short(struct swv_sq *q, const struct weft_sw_work *w,
	const void *data, uint32_t bytes, uint32_t more);

/* --- done.c --- */

/* Does everything that can be done now; when it must be called next. */
sim_time swv_progress(struct swv_device *dev);
/* Whether there is anything to do; also outside of the program. */
bool swv_has_news(const struct swv_device *dev);
/* Sleeps until there is, or until a time; or, if value is not 0, until a word
 * of the node's memory is at least value: then the ends of quiet descriptors
 * are no reason to wake. */
void swv_sleep(struct swv_device *dev, uint64_t at, uint64_t value, sim_time t);
/* A descriptor has ended. */
void swv_end(struct swv_device *dev, uint32_t work, uint32_t status);
/* A completion of an interface's queue. */
void swv_on_done(void *interface, const struct workq_completion *c);
void swv_push(struct swv_cq *cq, const struct weft_sw_completion *c);
/* Fills the buffers of a virtual RQ with what came early. */
void swv_fill(struct swv_rq *rq);

/* --- again.c --- */

enum swv_why { SW_NO_ANSWER, SW_REFUSED, SW_NO_LIBRARY };

/* The card has given a descriptor up, without an answer or because its receive
 * queue was full, or the peer's library has not answered: tries again, or ends
 * it. */
void swv_again(struct swv_device *dev, uint32_t work, enum swv_why why);
/* Ends a new descriptor if its target is known not to answer. */
bool swv_ends_at_once(struct swv_device *dev, uint32_t work);
/* The card has sent one that was sent again. */
void swv_sent_again(struct swv_device *dev, uint32_t work);
/* A message that was sent again has come; whether it is to be taken. */
bool swv_take_again(struct swv_interface *in, const struct swhni_slot *head);
/* A peer's library has answered. */
void swv_answered(struct swv_device *dev, const struct swhni_slot *head);
/* Tries again what has waited too long; the next time. */
sim_time swv_look_after(struct swv_device *dev);

#endif
