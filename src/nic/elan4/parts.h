/* What the files of the card do for each other. */
#ifndef NIC_ELAN4_PARTS_H
#define NIC_ELAN4_PARTS_H

#include <string.h>

#include "nic/elan4/elan.h"

/* --- elan.c --- */

/* Whether a context may touch [at, at + bytes). */
bool elan_may(const struct elan_node *n, uint32_t context, uint64_t at,
	uint64_t bytes);
/* After which a packet without an answer is sent again, at the soonest. */
static inline sim_time elan_timeout(const struct elan *x)
{
	return x->params.ack_timeout + x->params.per_node * x->n_nodes;
}

/* Puts what a write says over n bytes that were read at an address, where both
 * lie; addresses are of memory. */
static inline void elan_overlay(uint8_t *to, uint64_t at, uint32_t n,
	uint64_t written, const uint8_t *data, uint32_t bytes)
{
	uint64_t first = written > at ? written : at;
	uint64_t end = written + bytes < at + n ? written + bytes : at + n;

	if (first < end)
		memcpy(to + (first - at), data + (first - written),
			end - first);
}

/* Serialisation of a packet with so many bytes of data. */
sim_time elan_ser(const struct elan *x, uint32_t bytes);
/* A word as a context's memory has it. */
uint64_t elan_word_order(
	const struct elan_node *n, uint32_t context, uint64_t word);
/* Writes a word to the node's memory, over the bus. */
void elan_word_write(const struct nic_at *a, uint64_t address, uint64_t value);
void elan_word_granted(const struct nic_at *a, uint32_t word, sim_time end);
void elan_word_on_in(const struct nic_at *a, uint32_t word);
/* Reads the node's memory, with words that are on their way there: on the bus
 * no read passes a write. */
void elan_read(const struct nic_at *a, uint64_t at, void *to, uint32_t n);

/* --- event.c --- */

/*
 * Takes away from an event's count; fires it where none is left.  Does
 * nothing where the context has not armed it.
 */
void elan_event_set(const struct nic_at *a, uint32_t context, uint32_t event,
	uint64_t count);
/* ELAN_ARM with the words behind its first; or what is wrong with it. */
enum elan_error elan_event_arm(const struct nic_at *a, uint32_t context,
	uint32_t event, const uint64_t *word);
/*
 * ELAN_ARM_COPY of a queue, with the count and the address; its bytes, of a
 * number that may be, are the last ones that were taken out.
 */
enum elan_error elan_event_arm_copy(const struct nic_at *a, uint32_t queue,
	uint32_t event, uint32_t bytes, const uint64_t *word);
/* The event processor is through with a copy. */
void elan_event_on_done(const struct nic_at *a);
void elan_event_granted(const struct nic_at *a, uint32_t copy, sim_time end);
void elan_event_on_copied(const struct nic_at *a, uint32_t copy);
/* A queue has more room, or is stopped: copies that wait for it go on. */
void elan_event_on_room(const struct nic_at *a, uint32_t queue);
/*
 * A queue took nothing out in its turn.  Where it never will, because it lacks
 * what a copy would bring that does not fit, it is stopped.
 */
void elan_event_on_idle(const struct nic_at *a, uint32_t queue);
/*
 * Copies that events have fired and that are not done, but for those whose
 * queue waits for a thread's end, which may never come.
 */
uint32_t elan_event_inside(const struct elan_node *n);
void elan_event_free(struct elan_node *n);
uint64_t elan_event_memory(const struct elan_node *n);

/* --- queue.c --- */

void elan_queue_free(struct elan_queue *q);
void elan_queue_on_store(const struct nic_at *a, uint32_t queue);
void elan_queue_stop(
	const struct nic_at *a, uint32_t queue, enum elan_error why);
/*
 * The queue that a context's addresses [at, at + bytes) are mapped to, or
 * ELAN_NO_QUEUE: whole words of one page.
 */
uint32_t elan_queue_mapped(const struct elan_node *n, uint32_t context,
	uint64_t at, uint64_t bytes);
/*
 * Whether so many bytes could be appended, or would be dropped.  Behind copies
 * of events that wait there is no room.
 */
bool elan_queue_takes(
	const struct elan_node *n, uint32_t queue, uint32_t bytes);
/*
 * Appends words, which are in the card at t, now or later: for all units of
 * the card, which ask elan_queue_takes() first.  A queue that has stopped
 * drops them.
 */
void elan_queue_append(const struct nic_at *a, uint32_t queue,
	const uint8_t *words, uint32_t bytes, sim_time t);
/* When a position's bytes were or will be in; SIM_NEVER: not announced. */
sim_time elan_queue_arrival(const struct elan_queue *q, uint64_t position);
uint64_t elan_queue_word(const struct elan_queue *q, uint64_t position);
/* What lies before a position may be written over: tells all who wait. */
void elan_queue_freed(const struct nic_at *a, uint32_t queue, uint64_t until);
/* Has work, perhaps: gets a turn. */
void elan_queue_wake(const struct nic_at *a, uint32_t queue);
/* A packet of it is acknowledged. */
void elan_queue_acked(
	const struct nic_at *a, uint32_t queue, uint32_t sequence);

/* --- command.c --- */

void elan_command_go(const struct nic_at *a);
void elan_command_on_free(const struct nic_at *a);

/* --- sten.c --- */

/*
 * The packet that is next in a queue: sends it, or skips it.  Bytes taken, or
 * 0 where the queue has to wait or has stopped.
 */
uint32_t elan_sten_send(const struct nic_at *a, uint32_t queue);
uint32_t elan_sten_skip(const struct nic_at *a, uint32_t queue);
void elan_sten_on_half(const struct nic_at *a, uint32_t queue);

/* --- dma.c --- */

/* Takes a descriptor, or says what is wrong with it. */
enum elan_error elan_dma_add(
	const struct nic_at *a, uint32_t queue, const struct elan_dma *d);
void elan_dma_go(const struct nic_at *a);
void elan_dma_on_read(const struct nic_at *a, uint32_t read);
void elan_dma_granted(const struct nic_at *a, uint32_t read, sim_time end);
void elan_dma_on_block(const struct nic_at *a, uint32_t read);
/* A packet of so many bytes is in the network for the first time. */
void elan_dma_left(const struct nic_at *a, uint32_t bytes);
/* A packet is acknowledged, or given up. */
void elan_dma_done(const struct nic_at *a, uint32_t dma, uint32_t sequence);
void elan_dma_failed(const struct nic_at *a, uint32_t dma, uint32_t sequence,
	enum elan_error why);
/* Reads memory for a get or a test; n->reads counts it already. */
void elan_dma_read_for(const struct nic_at *a, packet_id get, uint32_t bytes);

/* --- send.c --- */

struct elan_sending *elan_sending(struct elan_node *n, uint32_t id);
/* A new one, with a buffer to fill; its packet leaves at t or later. */
uint32_t elan_send_new(const struct nic_at *a);
void elan_send_at(const struct nic_at *a, uint32_t sending, sim_time t);
void elan_send_on_leave(const struct nic_at *a, uint32_t sending);
void elan_send_on_again(const struct nic_at *a, uint32_t sending);
void elan_send_on_late(const struct nic_at *a);
void elan_send_on_later(const struct nic_at *a, uint32_t sending);
/* As nic_ops has it. */
bool elan_send_is_stale(const struct nic *nic, const struct sim_event *e);
void elan_send_on_answer(const struct nic_at *a, const struct elan_buffer *b);
/*
 * Puts a packet into the network, or in line for it.  Its time is charged to
 * an account's message; NULL: to none.
 */
void elan_send_packet(const struct nic_at *a, uint32_t fifo, site_id dst,
	const struct elan_buffer *what, uint32_t route,
	struct elan_account *account);
void elan_send_on_room(const struct nic_at *a, uint32_t fifo);

/* --- get.c --- */

/* A queue's packet to dst is a get: what its answer will name. */
struct elan_cookie elan_get_new(const struct nic_at *a, uint32_t queue,
	site_id dst, const struct elan_buffer *b);
/* It is acknowledged: its answer is waited for.  Or it is given up. */
void elan_get_acked(const struct nic_at *a, const struct elan_cookie *c,
	const struct elan_account *account);
void elan_get_failed(const struct nic_at *a, const struct elan_cookie *c,
	enum elan_error why);
/* Its answer is here: false where nobody waits for it. */
bool elan_get_answered(const struct nic_at *a, const struct elan_cookie *c);
/* And is executed. */
void elan_get_done(const struct nic_at *a, const struct elan_cookie *c);
/* An answer to one of a queue's gets is being executed. */
bool elan_get_is_answered(const struct elan_node *n, uint32_t queue);
/* Nobody waits for answers to a queue's gets any more. */
void elan_get_forget(struct elan_node *n, uint32_t queue);
void elan_get_on_late(const struct nic_at *a);

/* --- input.c --- */

void elan_input(
	const struct nic_at *a, uint32_t fifo, packet_id id, sim_time tail);
void elan_input_on_write(const struct nic_at *a, packet_id id);
void elan_input_granted(const struct nic_at *a, packet_id id, sim_time end);
void elan_input_on_written(const struct nic_at *a, packet_id id);
void elan_input_on_tail(const struct nic_at *a, packet_id id);
void elan_input_done_read(const struct nic_at *a, packet_id get);
/* What a packet's test needs has been read. */
void elan_input_on_asked(const struct nic_at *a, packet_id id);
/*
 * Puts writes that came before a get, and are not in memory yet, over what was
 * read for it: on the bus no read passes a write.
 */
void elan_input_overlay(const struct nic_at *a, packet_id get, uint8_t *data);

/* --- ask.c --- */

/* Whether a packet begins with a test. */
static inline bool elan_has_test(const struct elan_buffer *b)
{
	return b->n_pieces && b->piece[0].what == ELAN_TEST;
}

/* Whether the tests of a packet are as they may be, and it may read there. */
bool elan_ask_is_allowed(const struct nic_at *a, const struct elan_buffer *b);
/*
 * A packet with a test is here: false where that need not be decided, as it
 * was before, or cannot be now, and sets its verdict.
 */
bool elan_ask_begin(
	const struct nic_at *a, const struct packet *p, struct elan_buffer *b);
/*
 * Its word is read: sets its verdict, false where nothing is executed.  A yes
 * is ELAN_ACKED, or what keeps the rest from being executed now.
 */
bool elan_ask_decide(const struct nic_at *a, packet_id id, enum elan_kind yes);

/* --- seen.c: what has been executed, or denied --- */

/* Whether a sender's packet has been here; sets its verdict then. */
bool elan_seen_has(
	const struct elan_node *n, uint32_t src, struct elan_buffer *b);
/* It has: with its verdict, ELAN_ACKED or ELAN_DENIED. */
void elan_seen_add(
	struct elan_node *n, uint32_t src, const struct elan_buffer *b);

/* --- thread.c --- */

/* Whether one more can be started; if not, the queue is told when. */
bool elan_thread_has_room(const struct nic_at *a, uint32_t queue);
/* Starts a thread for a queue: a command's words, its own included. */
enum elan_error elan_thread_begin(
	const struct nic_at *a, uint32_t queue, const uint64_t *word);
void elan_thread_on_go(const struct nic_at *a, uint32_t id);
/* Its read has the bus, until end. */
void elan_thread_granted(const struct nic_at *a, uint32_t id, sim_time end);
/* A word has had the bus: a read that stands behind it goes on. */
void elan_thread_on_word(const struct nic_at *a);
/* A queue has room, or has stopped: those that wait for that go on. */
void elan_thread_on_room(const struct nic_at *a, uint32_t queue);
/* Whether one waits for room in it. */
bool elan_thread_wants(const struct elan_node *n, uint32_t queue);
/* A queue does not start one any more. */
void elan_thread_forget(struct elan_node *n, uint32_t queue);
/* Threads that are ready or run: none when all is done. */
uint32_t elan_threads_busy(const struct elan_node *n);
uint64_t elan_threads_memory(const struct elan_node *n);
void elan_threads_free(struct elan_node *n);

/* --- frame.c --- */

void elan_frame_on_hurt(struct net *net, struct sim_worker *w, packet_id id,
	uint32_t bit, uint32_t bits);
void elan_frame_on_lost(struct net *net, struct sim_worker *w, packet_id id);
/* A hurt packet is here: sets its harm. */
void elan_frame_on_arrival(
	const struct nic_at *a, const struct packet *p, struct elan_buffer *b);

/* --- account.c: see there; all do nothing where there is no book --- */

/* A store of words that begin at a position leaves the core, and comes. */
void elan_account_store(const struct nic_at *a, struct elan_queue *q,
	uint64_t position, uint32_t bytes, sim_time came);
/* The command at a position is decoded: a message of so many packets. */
struct elan_account elan_account_begin(const struct nic_at *a,
	struct elan_queue *q, uint64_t position, uint64_t n_packets);
void elan_account_packet(
	const struct nic_at *a, packet_id id, struct elan_account *c);
/* At the receiver: its last byte is there, its turn has come. */
void elan_account_tail(const struct nic_at *a, packet_id id, sim_time tail);
void elan_account_turn(const struct nic_at *a, packet_id id);
/* Its test is decided. */
void elan_account_tested(const struct nic_at *a, packet_id id);
/* A get has read: its answer goes on with what it has spent. */
void elan_account_answer(
	const struct nic_at *a, packet_id get, struct elan_account *c);
/* All is in memory; it is refused; it is nothing, or comes again. */
void elan_account_done(const struct nic_at *a, packet_id id);
void elan_account_refused(const struct nic_at *a, packet_id id);
void elan_account_nothing(const struct nic_at *a, packet_id id);

#endif
