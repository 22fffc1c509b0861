/* The thread processor's insides: its threads, and what their calls do with
 * them. */
#ifndef NIC_ELAN4_THREAD_H
#define NIC_ELAN4_THREAD_H

#include <errno.h>

#include "host/card.h"
#include "nic/elan4/units.h"
#include "weft/elan.h"

enum thread_wait {
	WAITS_NOT, /* it is ready or runs */
	WAITS_WORD, /* at an address, for a value */
	WAITS_ROOM, /* in a queue, for bytes */
	WAITS_MESSAGE, /* in some input queues */
	WAITS_PAGE, /* that is missing */
	WAITS_INTERRUPT, /* until one of its own has been handled */
};

struct elan_thread {
	struct slot slot; /* in the run queue, or of those that wait */
	uint32_t id;
	uint16_t context;
	uint8_t waits; /* an enum thread_wait */
	bool yields; /* after its slice */
	bool has_claim; /* on room for its bytes, since it was woken */
	struct elan_queue *queue;
	uint32_t bytes;
	uint64_t at, value;
	uint32_t image; /* its code */
	uint64_t reg[ELAN_REGISTERS];
	struct card_thread *card; /* NULL until it runs */
	uint32_t first_queue, n_queues; /* input queues: it awaits them */
	/* the message that it works on, or 0: input queue, 1 + slot */
	uint32_t message_queue, message;
	sim_time taken; /* since when it works on what came last */
	uint32_t last_write, last_turn; /* of it: a block, or 0 */
	/* host memory that it reads: which, and how far it is */
	const struct elan_fetch *fetch;
	uint32_t n_fetches, begun, ended;
};

/* Of numbers of events: a read's, not a thread's. */
#define THREAD_READ (UINT32_C(1) << 31)

/* A read of host memory by the thread that runs. */
struct thread_read {
	struct slot slot; /* in the list of those that are due */
	struct elan_fetch what;
	uint32_t after; /* so many words of the card, ever */
	bool is_here;
};

/* Code in card memory. */
struct elan_image {
	struct slot slot;
	elan_code *run;
	uint64_t at;
	uint32_t bytes;
	uint32_t users; /* threads */
	bool is_loaded; /* it has a number */
};

struct thread_code {
	uint32_t context, number;
	uint32_t image; /* or 0 */
};

struct elan_threads {
	struct slots all;
	struct slot_list ready, waiting;
	uint32_t n_words; /* of those that wait */
	uint32_t running, last; /* it has the processor; it had it last */
	/* one that is ahead and waits for messages has it until then; or 0 */
	uint32_t lingers;
	sim_time until;
	sim_time since; /* it began to run, or its slice did */
	sim_time at; /* it was resumed; it may be ahead: */
	struct nic_at now;
	sim_time *clock; /* the same time, for programs */
	struct thread_code *codes;
	uint32_t n_codes;
	struct slots images; /* struct elan_image */
	/* the instruction cache: [set][way], addresses of lines, the most
	 * recently used first */
	uint64_t *tag;
	uint32_t n_tags;
	uint32_t hot; /* the image that ran last, and is all there; or 0 */
	struct slots reads; /* struct thread_read */
	struct slot_list due; /* on the bus, when words before them were */
};

static inline struct elan_thread *elan_thread(
	const struct elan_threads *h, uint32_t id)
{
	return slots_at(&h->all, id);
}

static inline bool elan_thread_awaits(
	const struct elan_thread *x, const struct elan_iq *q)
{
	return x->context == q->context && q->id - x->first_queue < x->n_queues;
}

/* Of a node, made when first needed. */
struct elan_threads *elan_threads_of(struct elan_node *n);

/* --- code.c --- */

/* The image of a number, for a thread that gives it back; 0: there is none. */
uint32_t elan_code_take(
	struct elan_threads *h, uint32_t context, uint64_t number);
void elan_code_give(struct elan_node *n, uint32_t image);
/* A thread gets the processor: when its code is in the instruction cache. */
sim_time elan_code_run(const struct nic_at *a, uint32_t image, sim_time t);

/* --- thread_read.c --- */

/* A read is due, or has ended. */
void elan_thread_on_read(const struct nic_at *a, uint32_t read);

/* --- for calls of threads --- */

/* The thread that calls, which may have moved after a wait. */
static inline struct elan_thread *elan_thread_self(struct nic_at *a)
{
	const struct elan_threads *h = card_current();

	BUG_IF(!h);
	*a = h->now;
	return elan_thread(h, h->running);
}

/* The same where its time and node are known. */
static inline struct elan_thread *elan_thread_here(const struct nic_at *a)
{
	const struct elan_threads *h = elan_here(a)->threads;

	return elan_thread(h, h->running);
}
/* Holds the processor for some time; other threads may run after a slice. */
void elan_thread_hold(
	const struct nic_at *a, const struct elan_thread *x, sim_time time);
/* The same, but it may only be ahead then, so much at most: *a is its time. */
#define ELAN_MOST_AHEAD (1000 * (sim_time)SIM_NS)
static inline void elan_thread_spend(
	struct nic_at *a, const struct elan_thread *x, sim_time time)
{
	struct elan_threads *h = elan_here(a)->threads;
	sim_time t = a->t + time;

	if (__builtin_expect(
		    t - h->at <= ELAN_MOST_AHEAD &&
			    t <= h->since + elan_params(a)->thread_slice,
		    1)) {
		a->t = h->now.t = *h->clock = t;
		return;
	}
	elan_thread_hold(a, x, time);
	elan_thread_self(a);
}

/* It is ahead no more. */
struct elan_thread *elan_thread_settle(struct nic_at *a);
/* Gives the processor up until it is woken.  Only one that waits for messages
 * may be ahead then, if no other is ready. */
void elan_thread_wait(
	const struct nic_at *a, struct elan_thread *x, enum thread_wait what);
/* So long it waited for a page, for its message. */
void elan_thread_was_late(const struct nic_at *a, sim_time time);
/* Its page is there. */
void elan_thread_on_page(const struct nic_at *a, uint32_t id);
/* Translates for the thread, which waits for that, until *a.  0, or EFAULT: not
 * memory, or not a queue. */
int elan_thread_look_longer(struct nic_at *a, uint64_t at, uint64_t bytes,
	enum elan_use use, struct elan_view *v); /* what is not seen at once */
static inline int elan_thread_look_up(struct nic_at *a, uint64_t at,
	uint64_t bytes, enum elan_use use, struct elan_view *v)
{
	*v = elan_look(a, elan_thread_here(a)->context, at, bytes, use);
	return v->state == ELAN_SEEN && v->t <= a->t
		       ? 0
		       : elan_thread_look_longer(a, at, bytes, use, v);
}

static inline int elan_thread_see(struct nic_at *a, uint64_t at, uint64_t bytes,
	enum elan_use use, struct elan_view *v)
{
	int code = elan_thread_look_up(a, at, bytes, use, v);

	return !code && v->flags & ELAN_TO_QUEUE ? EFAULT : code;
}

int elan_thread_see_queue(struct nic_at *a, uint64_t at, uint64_t bytes);
/* False: words of card memory cannot be read, and its context ends. */
bool elan_thread_is_sound(const struct nic_at *a, const struct elan_thread *x,
	uint64_t at, uint32_t bytes);
/* It writes to memory, for its message.  Returns how long it has to wait, if
 * that is the card's, and neither write buffer nor port were free. */
sim_time elan_thread_out(struct nic_at *a, struct elan_thread *x, uint64_t to,
	const void *from, uint32_t bytes);
/* Whether a word has the value that it waits for. */
bool elan_thread_has_word(const struct nic_at *a, const struct elan_thread *x);

#endif
