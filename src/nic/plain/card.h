/*
 * What the card's files share.  The way of a put:
 *
 *	queue.c    doorbell, fetch of entries, and at last its completion
 *	send.c     an engine cuts packets, one each turn, reads their bytes,
 *	           and keeps a copy of each until it is answered
 *	receive.c  at the other node: checks, writes, answers; and the answer
 *
 * Every request has one answer, which is not answered itself.  Requests and
 * answers are packets of different kinds, which never wait for each other in
 * the network.  A request keeps its place in the reception FIFO until its
 * answer has left, and an answer waits for nothing but memory: so answers
 * always drain, and then requests do.
 */
#ifndef NIC_PLAIN_CARD_H
#define NIC_PLAIN_CARD_H

#include "base/ring.h"
#include "nic/plain/plain.h"
#include "nic/util/flips.h"
#include "nic/util/outbox.h"
#include "nic/util/ranges.h"
#include "nic/util/resend.h"
#include "nic/util/seen.h"
#include "nic/util/side_reads.h"
#include "nic/util/window.h"

enum plain_engine {
	ENGINE_DOORBELL = ENGINE_CLIENT,
	ENGINE_TURN, /* of the engine that cuts packets */
	ENGINE_READY, /* of reads over the side */
	ENGINE_HERE,
	ENGINE_LEAVE, /* of resends */
	ENGINE_LATE,
	ENGINE_LATER,
	ENGINE_AGAIN,
	ENGINE_INPUT, /* a packet is in the card */
	ENGINE_WRITTEN, /* its bytes are in memory */
	ENGINE_COMPLETED, /* so is a completion */
	ENGINE_END,
	PLAIN_ENGINES = ENGINE_END - ENGINE_CLIENT,
};

/* What is read: ids are a queue, a sending, a packet. */
enum plain_read { READ_ENTRIES, READ_PAYLOAD, READ_ANSWER, READ_WORD };

/* What a packet says beside its data; of this its CRC is. */
struct plain_header {
	uint64_t offset; /* in its key's range; of an answer to a get: here */
	uint64_t operand, compare; /* of an answer: the value */
	uint32_t key, bytes;
	uint32_t channel, number; /* the sender's queue, and packets of it */
	uint32_t sending;
	uint8_t op, status;
	uint8_t is_answer, unused;
};

/* Behind a packet's load. */
struct plain_buffer {
	struct plain_header h;
	struct flips flips;
	uint32_t fifo, chunks; /* that it holds of reception */
	bool is_first; /* try */
	bool is_again; /* it has been executed before */
	uint8_t data[];
};

/* An entry under way. */
struct plain_work {
	struct slot slot;
	uint32_t queue, out; /* packets without an answer */
	struct plain_entry e;
	uint64_t from, made; /* its bytes' address; those that were cut */
	struct plain_completion end;
	struct book_message message;
	sim_time handed, came; /* its entry */
};

/* A packet until it is answered. */
struct plain_sending {
	struct resend_item item;
	struct plain_buffer *copy;
	uint32_t work;
	bool is_read; /* its bytes are here */
	sim_time begun, read, left;
};

struct plain_birth {
	uint32_t written;
	sim_time at, handed;
};

struct plain_doorbell {
	uint32_t queue, written, taken;
};

struct plain_queue {
	struct plain_rings rings;
	struct ring entries, births; /* fetched; posted */
	struct window window;
	uint32_t written, fetched, completed, taken;
	uint32_t work; /* that packets are cut from, or 0 */
	uint32_t n_works;
	enum plain_status why; /* it has stopped */
	bool is_open, is_fetching, is_running, has_atomic;
};

struct plain_node {
	struct ticks ticks;
	struct plain_queue *queue[PLAIN_QUEUES];
	struct ranges keys;
	struct ring doorbells, run; /* run: queues, in turn */
	struct side_reads reads;
	struct slots works;
	struct resend resend; /* struct plain_sending */
	struct slot_list leaving; /* of these, in order */
	struct outbox out;
	struct seen seen;
	uint32_t n_made; /* packets that have not left */
	uint32_t inside; /* packets that have come */
	uint32_t number; /* of packets */
	sim_time next_turn;
	bool is_turn_posted;
	uint64_t status[PLAIN_STATUSES]; /* completions, or queues stopped */
	uint64_t packets, answers, resent, timeouts, torn, escapes, fetches;
};

struct plain {
	struct nic nic;
	struct plain_params params;
	struct side *side;
	struct side_reads_how reads;
	struct resend_how resend;
};

static inline struct plain *plain_of(const struct nic_at *a)
{
	return (struct plain *)a->nic;
}

static inline struct plain_node *plain_here(const struct nic_at *a)
{
	return a->node;
}

static inline struct book *plain_book(const struct nic_at *a)
{
	return a->nic->net->book;
}

static inline struct plain_buffer *plain_buffer(const struct packet *p)
{
	return payload_of_load(p->load);
}

/* Bytes of data that a packet carries. */
static inline uint32_t plain_data(const struct plain_header *h)
{
	if (h->is_answer)
		return h->op == PLAIN_GET && !h->status ? h->bytes : 0;
	return h->op == PLAIN_PUT ? h->bytes : 0;
}

static inline void plain_charge(
	const struct nic_at *a, packet_id id, enum cause c, sim_time t)
{
	struct book *k = plain_book(a);

	if (k && book_has(k, id) && t > book_at(k, id))
		book_until(k, id, c, t);
}

/* Posts, later than now. */
static inline void plain_post(const struct nic_at *a, sim_time t,
	enum plain_engine number, uint32_t data)
{
	ticks_post(a, &plain_here(a)->ticks, t > a->t ? t : a->t + 1, number,
		data);
}

/* --- queue.c --- */

/* Whether a key's range has bytes at an offset; *at is where. */
enum plain_status plain_look_up(const struct plain_node *n, uint32_t key,
	uint64_t offset, uint64_t bytes, uint32_t right, uint32_t process,
	uint64_t *at);
void plain_queue_on_doorbell(const struct nic_at *a);
void plain_queue_on_entries(const struct nic_at *a, const struct side_read *x);
void plain_queue_stop(
	struct plain_node *n, struct plain_queue *q, enum plain_status why);
/* An entry has ended, as its end says. */
void plain_queue_complete(const struct nic_at *a, uint32_t work);
void plain_queue_on_completed(const struct nic_at *a, uint32_t work);
void plain_queue_fini(struct plain_queue *q);

/* --- send.c --- */

/* A queue may have got something to do. */
void plain_send_wake(const struct nic_at *a, uint32_t queue);
void plain_send_on_turn(const struct nic_at *a);
void plain_send_on_payload(const struct nic_at *a, const struct side_read *x);
void plain_send_try(const struct nic_at *a, uint32_t sending);
void plain_send_on_late(const struct nic_at *a, uint32_t sending);
void plain_send_give_up(const struct nic_at *a, uint32_t sending);
/* A packet is answered, and needs no copy; then, its part of an entry is
 * done. */
void plain_send_answered(const struct nic_at *a, uint32_t sending);
void plain_send_done(const struct nic_at *a, uint32_t work,
	enum plain_status status, uint64_t value);
/* A packet goes into the network. */
void plain_send_leave(const struct nic_at *a, uint32_t fifo, packet_id id);

/* --- receive.c --- */

void plain_receive(
	const struct nic_at *a, uint32_t fifo, packet_id id, sim_time tail);
void plain_receive_on_input(const struct nic_at *a, packet_id id);
void plain_receive_on_read(const struct nic_at *a, const struct side_read *x);
void plain_receive_on_written(const struct nic_at *a, packet_id id);
void plain_receive_on_hurt(struct net *net, struct sim_worker *w, packet_id id,
	uint32_t bit, uint32_t bits);

#endif
