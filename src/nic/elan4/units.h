/* What the card's units do for each other, file by file. */
#ifndef NIC_ELAN4_UNITS_H
#define NIC_ELAN4_UNITS_H

#include <string.h>

#include "nic/elan4/elan.h"

/* --- context.c --- */

enum elan_order { ELAN_BIG_ENDIAN = 1 };

/* Whether a context may access [at, at + bytes). */
static inline bool elan_may(const struct elan_node *n, uint32_t context,
	uint64_t at, uint64_t bytes)
{
	return ranges_allow(&n->contexts, context, at, bytes);
}

/* A word in the byte order of a context's memory. */
uint64_t elan_word_order(
	const struct elan_node *n, uint32_t context, uint64_t word);

/* --- account.c: does nothing if there is no book --- */

/* A store of words that begin at a position leaves the core, and arrives. */
void elan_account_store(const struct nic_at *a, struct elan_queue *q,
	uint64_t position, uint32_t bytes, sim_time came);
/* The command at a position is decoded: a message of some packets. */
struct elan_account elan_account_begin(const struct nic_at *a,
	struct elan_queue *q, enum book_kind kind, uint64_t position,
	uint64_t n_packets);
/* NULL: the packet's time is charged to no message. */
void elan_account_packet(
	const struct nic_at *a, packet_id id, struct elan_account *c);
/* At the receiver: its last byte arrives. */
void elan_account_tail(const struct nic_at *a, packet_id id, sim_time tail);
/* A get has read: its answer continues its budget. */
void elan_account_answer(
	const struct nic_at *a, packet_id get, struct elan_account *c);
/* A packet's data is in memory. */
void elan_account_done(const struct nic_at *a, packet_id id);

/* --- pcix.c --- */

/* The bus of all nodes, as a machine file describes it. */
struct side *elan_bus_new(
	const struct elan_params *p, site_id n_nodes, struct err *e);

/* A burst is ready; granted() is called, now or later. */
void elan_bus_read(const struct nic_at *a, uint64_t at, uint32_t bytes,
	elan_granted *granted, uint32_t id);
void elan_bus_write(const struct nic_at *a, uint64_t at, uint32_t bytes,
	elan_granted *granted, uint32_t id);
void elan_bus_on_free(const struct nic_at *a, uint32_t none);

/* Writes a word to the node's memory; the second when it is there. */
void elan_word_write(const struct nic_at *a, uint64_t address, uint64_t value);
void elan_word_on_in(const struct nic_at *a, uint32_t id);
/* Reads the node's memory, including words on their way there: on the bus no
 * read overtakes a write. */
void elan_read(const struct nic_at *a, uint64_t at, void *to, uint32_t n);

/* Copies the part of a write that lies within n bytes read at an address over
 * them. */
static inline void elan_overlay(uint8_t *to, uint64_t at, uint32_t n,
	uint64_t written, const uint8_t *data, uint32_t bytes)
{
	uint64_t first = written > at ? written : at;
	uint64_t end = written + bytes < at + n ? written + bytes : at + n;

	if (first < end)
		memcpy(to + (first - at), data + (first - written),
			end - first);
}

/* --- queue.c --- */

/* Parts of a command's word. */
static inline uint32_t elan_low(uint64_t word)
{
	return (uint32_t)(word >> 16) & 0xffff;
}

static inline uint32_t elan_high(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

extern const struct nic_member_ops elan_queues_member;

/* NULL: not open, or no such queue. */
static inline struct elan_queue *elan_queue(
	const struct elan_node *n, uint32_t id)
{
	struct elan_queue *const *group =
		id < ELAN_QUEUES ? n->queues.group[id / ELAN_GROUP] : NULL;

	return group ? group[id % ELAN_GROUP] : NULL;
}

void elan_queue_on_store(const struct nic_at *a, uint32_t queue);
void elan_queue_stop(
	const struct nic_at *a, struct elan_queue *q, enum elan_error why);
/* The queue that a context's addresses [at, at + bytes) are mapped to: whole
 * words of one page.  NULL: none. */
struct elan_queue *elan_queue_mapped(const struct elan_node *n,
	uint32_t context, uint64_t at, uint64_t bytes);
/* Whether bytes could be appended, or would be dropped.  Copies of events that
 * wait go first. */
bool elan_queue_takes(const struct elan_queue *q, uint32_t bytes);
/*
 * Appends words, which are in the card at t, now or later: for all units of
 * the card, which ask elan_queue_takes() first.  A stopped queue drops them.
 */
void elan_queue_append(const struct nic_at *a, struct elan_queue *q,
	const uint8_t *words, uint32_t bytes, sim_time t);
/* When the bytes before a position arrive; SIM_NEVER: not announced. */
sim_time elan_queue_arrival(const struct elan_queue *q, uint64_t position);
uint64_t elan_queue_word(const struct elan_queue *q, uint64_t position);
/* The ring before a position may be overwritten. */
void elan_queue_freed(
	const struct nic_at *a, struct elan_queue *q, uint64_t until);

/* The queue may have work: it gets a turn. */
void elan_queue_wake(const struct nic_at *a, struct elan_queue *q);
/* Takes the next queue out of the run queue, or returns NULL. */
struct elan_queue *elan_queue_next(struct elan_node *n);
/* The queue gets no turn until all blocked queues are woken, in order. */
void elan_queue_block(struct elan_node *n, struct elan_queue *q);
void elan_queue_unblock_all(const struct nic_at *a);

/* A packet of the queue is acknowledged. */
void elan_queue_acked(
	const struct nic_at *a, struct elan_queue *q, uint32_t sequence);

/* --- event.c --- */

extern const struct nic_member_ops elan_events_member; /* without copies */

/* Subtracts from an event's count, and fires it at 0.  Does nothing if the
 * context has not armed it. */
void elan_event_set(const struct nic_at *a, uint32_t context, uint32_t event,
	uint64_t count);
/* ELAN_ARM, with the words after its first; or what is wrong with it. */
enum elan_error elan_event_arm(const struct nic_at *a, uint32_t context,
	uint32_t event, const uint64_t *word);
/* ELAN_ARM_COPY of a queue, with count and address; its bytes, of a valid
 * number, are the last ones taken out of the queue. */
enum elan_error elan_event_arm_copy(const struct nic_at *a,
	const struct elan_queue *q, uint32_t event, uint32_t bytes,
	const uint64_t *word);
/* The event processor has finished a copy; a burst of one is in memory. */
void elan_event_on_done(const struct nic_at *a, uint32_t none);
void elan_event_on_copied(const struct nic_at *a, uint32_t copy);
/* A queue has more room, or is stopped: copies that wait for it go on. */
void elan_event_on_room(const struct nic_at *a, struct elan_queue *q);
/* A queue took nothing out in its turn.  It is stopped if it never will,
 * because it lacks what a copy would bring that does not fit. */
void elan_event_on_idle(const struct nic_at *a, struct elan_queue *q);
/* Copies of fired events that are not finished, except for those whose queue
 * waits for the end of a thread, which may never come. */
uint32_t elan_events_left(const struct elan_node *n);

/* --- send.c --- */

void elan_send_set_up(struct elan *x);
struct elan_sending *elan_sending(const struct nic_at *a, uint32_t id);
/* A new one, with a buffer to fill; its packet leaves at t or later. */
uint32_t elan_send_new(const struct nic_at *a);
void elan_send_at(const struct nic_at *a, uint32_t sending, sim_time t);
/* Adds writes of at most a block each, whose ends are aligned at the target. */
void elan_send_cut(struct elan_buffer *b, uint64_t to, uint32_t bytes);
/* When blocks leave whose data comes at the rate of the bus from since on. */
void elan_send_set_times(const struct nic_at *a, struct elan_buffer *b,
	sim_time start, sim_time since);
void elan_send_on_answer(const struct nic_at *a, const struct elan_buffer *b);
/*
 * Puts a packet into the network, or in line for it.  Its time is charged to
 * an account's message; NULL: to none.
 */
void elan_send_packet(const struct nic_at *a, enum elan_fifo use, site_id dst,
	const struct elan_buffer *what, uint32_t route,
	struct elan_account *account);
/* The network's client. */
void elan_send_on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t);

/* --- get.c --- */

/* A queue's packet to dst is a get: returns the name for its answer. */
struct elan_cookie elan_get_new(const struct nic_at *a, struct elan_queue *q,
	site_id dst, const struct elan_buffer *b);
/* It is acknowledged: waits for its answer.  Or it is given up. */
void elan_get_acked(const struct nic_at *a, const struct elan_cookie *c,
	const struct elan_account *account);
void elan_get_failed(const struct nic_at *a, const struct elan_cookie *c,
	enum elan_error why);
/* Its answer arrives: false if nothing waits for it. */
bool elan_get_answered(const struct nic_at *a, const struct elan_cookie *c);
/* The answer is executed. */
void elan_get_done(const struct nic_at *a, const struct elan_cookie *c);
/* Answers to a queue's gets are ignored from now on. */
void elan_get_forget(struct elan_node *n, const struct elan_queue *q);
void elan_get_on_late(const struct nic_at *a, uint32_t none);

/* --- answer.c --- */

/* Whether one more get can be answered; the number of its answer. */
bool elan_answer_has_room(const struct nic_at *a);
uint32_t elan_answer_number(const struct nic_at *a);
/* Begins the answer to a get, with room for what it reads. */
uint32_t elan_answer_begin(const struct nic_at *a, packet_id get, void **data);
/* It has the data. */
void elan_answer_send(const struct nic_at *a, packet_id get, uint32_t sending);

/* --- ask.c --- */

/* Whether a packet is a duplicate; sets its verdict then. */
bool elan_ask_has_seen(
	const struct nic_at *a, const struct packet *p, struct elan_buffer *b);
/* It is executed, or denied: as its verdict says. */
void elan_ask_note(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b);

/* Whether a packet's test is valid and may read there, or it has none. */
bool elan_ask_is_allowed(const struct nic_at *a, const struct elan_buffer *b);
/*
 * A packet with a test arrives.  False, with its verdict set, if the test was
 * decided before, or cannot be now.
 */
bool elan_ask_begin(
	const struct nic_at *a, const struct packet *p, struct elan_buffer *b);
/*
 * Its word is read: sets its verdict; false if nothing is executed.  A yes is
 * ELAN_ACKED, or the reason why the rest cannot be executed now.  Writers are
 * packets whose writes may be on the bus, or in line for it.
 */
bool elan_ask_decide(const struct nic_at *a, packet_id id, enum elan_kind yes,
	packet_id writers);

/* --- dma.c --- */

/* DMAs that are not finished. */
uint32_t elan_dmas_left(const struct elan_dmas *x);
/* Takes a descriptor, or returns what is wrong with it. */
enum elan_error elan_dma_add(
	const struct nic_at *a, struct elan_queue *q, const struct elan_dma *d);
/* Another unit's read has ended and left a place. */
void elan_dma_go(const struct nic_at *a);
/* With cut-through: the data of a read has the bus, until end. */
void elan_dma_granted(const struct nic_at *a, uint32_t read, sim_time end);
/* A packet of so many bytes is in the network for the first time. */
void elan_dma_on_left(const struct nic_at *a, uint32_t bytes);

/* --- input.c --- */

/* The network's client. */
void elan_input_on_packet(struct net_client *me, struct sim_worker *w,
	site_id s, uint32_t fifo, packet_id id, sim_time t, sim_time tail);
void elan_input_on_write(const struct nic_at *a, packet_id id);
void elan_input_on_written(const struct nic_at *a, packet_id id);
void elan_input_on_tail(const struct nic_at *a, packet_id id);

/* --- sten.c --- */

/* Sends or skips the next packet of a queue.  Bytes taken, or 0 if the queue
 * has to wait or has stopped. */
uint32_t elan_sten_send(const struct nic_at *a, struct elan_queue *q);
uint32_t elan_sten_skip(const struct nic_at *a, struct elan_queue *q);
void elan_sten_on_half(const struct nic_at *a, uint32_t queue);

/* --- thread.c --- */

extern const struct nic_member_ops elan_threads_member; /* of the pointer */
/* Whether threads are ready or run. */
bool elan_threads_busy(const struct elan_threads *h);
/* Whether one more can be started; if not, the queue is blocked until then. */
bool elan_thread_has_room(const struct nic_at *a, struct elan_queue *q);
/* Starts a thread for a queue: a command's words, its own included. */
enum elan_error elan_thread_begin(const struct nic_at *a,
	const struct elan_queue *q, const uint64_t *word);
void elan_thread_on_go(const struct nic_at *a, uint32_t id);
/* A word has had the bus: a read that is in line after it goes on. */
void elan_thread_on_word(const struct nic_at *a);
/* A queue has room, or has stopped: threads that wait for it go on. */
void elan_thread_on_room(const struct nic_at *a, struct elan_queue *q);

/* --- command.c --- */

/* There is a queue with work. */
void elan_command_go(const struct nic_at *a);
void elan_command_on_free(const struct nic_at *a, uint32_t none);

#endif
