/*
 * Elan4's insides: what its units are made of.  What they do for each other is
 * in units.h.
 *
 *	command.c   command processor: decodes, one queue's turn after the
 *	            other
 *	sten.c      STEN: makes short packets of a queue's words
 *	thread.c    thread processor: whose turn it is; thread_calls.c,
 *	            thread_read.c and thread_queue.c have what threads call
 *	code.c      their code, and the instruction cache
 *	input.c     input processor: takes packets, acknowledges
 *	order.c     executes their transactions in order; writer.c writes
 *	            memory, ask.c tests words, answer.c answers gets
 *	dma.c       DMA: reads memory by blocks, makes packets of them
 *	get.c       gets that wait for their answers
 *	send.c      sender: keeps a packet until it is acknowledged
 *	event.c     events, which write words or
 *	copy.c      have the event processor copy to memory or queues
 *	interrupt.c interrupts of the host by commands
 *	queue.c     command queues: order, depth
 *	iqueue.c    input queues: messages for threads
 *	question.c  messages that threads accept, or send back
 *	chip.c      command queues that are on chip, or known to the hardware
 *	process.c   from the ranks of a process to nodes, contexts and routes
 *	sdram.c     the card's memory, and who has which part of it
 *	cache.c     the cache in front of it: the time of an access
 *	card.c      accesses to the host's memory or the card's
 *	pcix.c      the host's bus: bursts in line for it, words
 *	context.c   the addresses that a context has, as the driver knows them
 *	mmu.c       from these to memory: two TLBs, and their fills
 *	table.c     page tables in card memory
 *	fault.c     pages that these lack
 *	driver.c    the time of the host's driver
 *	vm.c        the driver's calls for virtual memory
 *
 * elan_of() is the card of all nodes, and elan_here() the part of the node that
 * is visited.
 */
#ifndef NIC_ELAN4_ELAN_H
#define NIC_ELAN4_ELAN_H

#include "base/list.h"
#include "base/ring.h"
#include "base/slots.h"
#include "nic/elan4/buffer.h"
#include "nic/elan4/room.h"
#include "nic/elan4/slot.h"
#include "nic/util/outbox.h"
#include "nic/util/seen.h"
#include "nic/util/side_reads.h"
#include "nic/util/window.h"

/* Numbers of events: ENGINE_CLIENT and above. */
enum elan_engine {
	/* before stores: words that it appends arrive at that instant */
	ELAN_ENGINE_EVENT = ENGINE_CLIENT, /* a copy's slot is over */
	ELAN_ENGINE_STORE, /* a core's store; data: queue */
	ELAN_ENGINE_HALF, /* a packet stays incomplete; data: queue */
	/* the sender's, and reads': nic/util */
	ELAN_ENGINE_LEAVE, /* data: a sending, whose packet is ready */
	ELAN_ENGINE_LATE, /* a first try may have timed out */
	ELAN_ENGINE_LATER, /* data: a sending, another try may have */
	ELAN_ENGINE_AGAIN, /* data: a sending, after its back-off */
	ELAN_ENGINE_READ, /* data: a read, whose data is at the bridge */
	ELAN_ENGINE_BLOCK, /* data: a read, whose data is in the card */
	ELAN_ENGINE_INPUT, /* data: packet; a write is ready for the bus */
	ELAN_ENGINE_WRITTEN, /* data: packet; it is in memory */
	ELAN_ENGINE_ACK, /* data: packet; it has been executed */
	ELAN_ENGINE_WORD_IN, /* data: a word that is in memory */
	ELAN_ENGINE_BUS, /* the bus is free for the next burst */
	ELAN_ENGINE_THREAD, /* data: a thread, which goes on */
	ELAN_ENGINE_GET, /* a get may have timed out */
	ELAN_ENGINE_COPIED, /* data: a copy, a burst of it is in memory */
	ELAN_ENGINE_CARD, /* data: a step that waited for card memory */
	/* after all engines that may give it work at the same instant */
	ELAN_ENGINE_COMMAND, /* the command processor is free */
};

/* Numbers of engines repeat modulo this: see ticks_post_late(). */
enum { ELAN_ENGINES = 64 };

/* Names of channels: those of the engines, then the queues'. */
enum {
	ELAN_DMA_CHANNEL,
	ELAN_ANSWER_CHANNEL,
	ELAN_GET_CHANNEL, /* repeated gets */
	ELAN_FIRST_QUEUE
};

/* Uses of the network's FIFOs. */
enum elan_fifo {
	ELAN_FIFO_STEN,
	ELAN_FIFO_DMA,
	ELAN_FIFO_ANSWER,
	ELAN_FIFO_CAST, /* broadcasts */
	ELAN_FIFO_ACK,
	ELAN_FIFOS,
};

enum {
	ELAN_ROUTES = 64, /* stored for a destination */
	/* From a channel's oldest unacknowledged packet to its newest; a
	 * receiver remembers twice as many. */
	ELAN_SPAN = 32,
};

/* --- account.c --- */

/* A message begun by a program: its words begin at a position. */
struct elan_birth {
	uint64_t position;
	sim_time at;
	sim_time handed, came; /* its first word: to the bus, to the card */
};

/* A packet's time before it first left, for the book. */
struct elan_account {
	struct book_message message;
	sim_time handed, came, asked; /* as above; decoded */
	sim_time looked, reading, read, built; /* of DMAs */
	sim_time left; /* for the first time, or 0 */
	bool was_missing; /* a page at its target */
	bool is_dma;
	bool is_none; /* it is charged to no message */
	bool is_held; /* an answer, which continues the get's budget: */
	struct book_held held;
};

/* --- driver.c --- */

/* Work for the driver: its time, and what follows. */
struct elan_duty {
	struct slot slot;
	sim_time time;
	elan_then *then;
	uint32_t id;
};

struct elan_driver {
	struct slots duties; /* struct elan_duty */
	struct slot_list line; /* it is at the first */
};

/* --- interrupt.c --- */

/* The handler of a context. */
struct elan_handling {
	uint32_t context;
	elan_handler *run;
	void *arg;
};

/* An interrupt that the driver has not handled. */
struct elan_pending {
	struct slot slot;
	uint32_t context;
	uint64_t value;
	bool is_quiet; /* no handler is told */
};

struct elan_interrupts {
	struct slots items; /* struct elan_pending */
	uint32_t asked, handled; /* ever, one after the other */
	struct elan_handling *handler;
	uint32_t n;
};

/* --- pcix.c --- */

/* A burst has the bus: t is the end of a read, or the time from which loads see
 * a write. */
typedef void elan_granted(const struct nic_at *a, uint32_t id, sim_time t);

/* A burst on the host's bus. */
struct elan_burst {
	elan_granted *granted;
	uint64_t at;
	uint32_t id, bytes;
	bool is_read;
};

/* Waiting bursts of one direction. */
struct elan_line {
	struct ring waiting; /* struct elan_burst */
	int64_t had; /* bus time, while the other direction waited */
};

struct elan_step {
	struct slot slot;
	elan_then *then;
	uint32_t id;
};

/* A read of the card's memory. */
struct elan_card_read {
	struct slot slot;
	side_read_done *done;
	uint32_t id;
};

enum { ELAN_FEW_BYTES = 32 };

/* A word or a block on its way to memory. */
struct elan_word {
	struct slot slot;
	uint64_t address;
	uint32_t bytes;
	uint32_t note; /* of a message that ends with it, or 0 */
	uint8_t few[ELAN_FEW_BYTES];
	struct elan_buffer *many; /* or NULL */
	uint32_t turn; /* among all */
	uint32_t context; /* of one that waits for its translation */
};

struct elan_words {
	struct slots items; /* struct elan_word */
	struct slot_list out; /* in order */
	uint32_t asked, had; /* the bus, ever */
	sim_time last_in; /* the last granted one is in memory */
};

/* --- queue.c --- */

enum {
	ELAN_WINDOW_WORDS = ELAN_WINDOW / 8,
	ELAN_ENDS = 16, /* packets of a queue under way, at most */
	ELAN_DESCRIPTOR = 64, /* bytes of a queue's descriptor */
	ELAN_GROUP = 256, /* queues whose table is made together */
};

struct elan_queue {
	struct list_link link; /* in the run queue, or of those blocked */
	uint64_t ring; /* in card memory, of depth bytes: the backing store */
	uint64_t descriptor; /* in card memory, too */
	uint8_t **page; /* of the ring: where they are, or NULL */
	struct elan_sdram *sdram;
	uint32_t depth;
	uint8_t rights;
	uint8_t error; /* an enum elan_error */
	uint8_t outstanding; /* packets not yet acknowledged */
	bool is_queued; /* in the run queue */
	bool is_guarded; /* waits for acknowledgements */
	uint8_t guard; /* an enum elan_guard */
	bool was_denied; /* a packet since the last guard */
	bool skips; /* the next command */
	bool is_half; /* a time-out is posted */
	bool is_blocked; /* waits until a thread can be started */
	uint8_t copying; /* bytes of ELAN_COPY, until they are read: */
	bool is_fetching; /* to the chip */
	bool is_looking; /* waits for a translation */
	bool is_away, is_trapped; /* not resident; the driver knows */
	uint64_t used; /* on chip, the last time; 0: it is not there */
	uint16_t context;
	uint16_t id;
	uint32_t process; /* whose ranks its commands name */
	/* positions: bytes since it was opened */
	uint64_t announced; /* stored without gaps, arrived or not */
	uint64_t arrived;
	uint64_t backed; /* in the backing store */
	uint64_t taken; /* decoded */
	uint64_t freed; /* may be written over */
	uint64_t ahead[ELAN_WINDOW_WORDS / 64]; /* words after a gap */
	struct ring arrivals; /* of stores on their way */
	uint64_t half_at; /* position of an incomplete packet */
	sim_time half_since; /* its beginning arrived */
	sim_time word_at; /* the last store arrived */
	uint32_t dmas; /* waiting or running */
	uint32_t gets; /* unanswered */
	uint32_t answered; /* gets whose answer is being executed */
	uint32_t name; /* of its channel, for receivers */
	struct ring births; /* struct elan_birth, if there is a book */
	struct window channel;
	uint64_t ends[ELAN_ENDS]; /* positions after its packets */
	uint32_t claimed; /* bytes of room, by threads */
	uint64_t copied[2]; /* from there to there */
	uint32_t promised; /* bytes of room, to packets that wait for a test */
	uint32_t wanted; /* threads that wait for room */
	uint64_t mapped; /* address at which units append, or 0 */
	struct slot_list copies; /* of events that wait for room */
};

struct elan_queues {
	/* by groups; NULL until opened */
	struct elan_queue **group[ELAN_QUEUES / ELAN_GROUP];
	struct list run, blocked;
	uint32_t opened; /* ever */
	uint16_t *maps; /* queues that are mapped */
	uint32_t n_maps;
};

/* --- process.c --- */

/* Of a node. */
struct elan_process {
	uint64_t at; /* of its table in card memory: struct elan_route */
	uint32_t n; /* ranks */
	uint32_t context;
	uint32_t rank; /* its own */
	struct elan_job job;
	/* where entries of a page are, the last that was used */
	uint32_t first;
	struct elan_route *entry;
};

struct elan_processes {
	struct elan_process *process;
	uint32_t n;
};

/* --- chip.c --- */

struct elan_chip {
	struct elan_queue **queue; /* on chip */
	uint32_t n;
	uint32_t resident; /* queues */
	uint64_t uses; /* ever, of queues on chip */
};

/* --- event.c --- */

_Static_assert(sizeof(struct elan_event) == ELAN_EVENT_BYTES, "QSN-G11");

/* An event that has fired, and whose line is on its way. */
struct elan_firing {
	struct slot slot;
	struct elan_event event;
};

/* --- copy.c --- */

/* Bytes that an event copies. */
struct elan_copy {
	struct slot slot;
	uint64_t address, from;
	uint8_t *data; /* while they are on their way to memory, or NULL */
	uint32_t context, bytes;
	uint32_t written; /* bytes in memory */
	sim_time ready, late; /* its source is read; that much too late */
	bool is_kept; /* the source is the driver's, until then */
	bool is_known; /* its source is translated */
	bool is_command; /* its target is a queue */
	bool is_fetched, is_reading; /* the source; over the bus */
	bool is_awaited; /* its slot is over */
};

struct elan_events {
	struct slots fired; /* struct elan_firing */
	uint64_t table; /* in card memory; 0: no queue was opened */
	/* where events of a page are, the last that was used */
	uint32_t first;
	struct elan_event *cell;
	struct slots copies; /* struct elan_copy */
	uint32_t inside; /* fired events that wait, or copy */
	uint64_t bytes; /* on their way to memory */
	struct slot_list firing; /* the event processor is at the first */
};

/* --- send.c --- */

/* A packet that is finished, for its owner. */
struct elan_sent {
	uint32_t owner_id; /* queue, DMA */
	uint32_t sequence;
	struct elan_cookie get;
	struct elan_account account;
};

struct elan_sending;

struct elan_owner {
	/* It is acknowledged, by a yes, or by a test's no. */
	void (*done)(
		const struct nic_at *a, const struct elan_sent *s, bool is_yes);
	/* It is about to be sent again: takes its content from where it is
	 * kept.  False: that cannot be read.  NULL: the copy will do. */
	bool (*again)(const struct nic_at *a, struct elan_sending *s);
	/* It is given up. */
	void (*failed)(const struct nic_at *a, const struct elan_sent *s,
		enum elan_error why);
};

/* A packet that is kept until it is acknowledged. */
struct elan_sending {
	struct resend_item item;
	struct elan_buffer *copy; /* for retransmission */
	const struct elan_owner *owner;
	uint32_t owner_id; /* queue, DMA */
	uint64_t position; /* of a queue's packet: its words */
	uint32_t context; /* of its process, which has these events: */
	uint32_t event; /* set by the acknowledgement */
	uint32_t no_event; /* or by a test's no */
	uint64_t routes; /* of struct elan_route; 0: all */
	uint32_t number; /* of the packet that was sent last */
	enum elan_fifo fifo;
	bool is_free; /* needs no order with others to its node */
	struct elan_account account;
};

struct elan_sender {
	struct resend resend; /* of struct elan_sending */
	struct outbox outbox;
	uint32_t number; /* of packets */
	uint8_t rotation; /* the next route's */
};

/* --- get.c, dma.c --- */

struct elan_get {
	struct slot slot; /* of those that wait */
	struct elan_cookie cookie;
	struct elan_queue *queue;
	struct elan_route to;
	sim_time until; /* its time-out */
	uint8_t tries, n_pieces;
	uint8_t left, sure; /* bits: not answered; behind no test */
	uint8_t running; /* answers that are being executed */
	bool is_waiting;
	struct elan_piece piece[ELAN_MOST_PIECES];
	struct elan_account account;
};

struct elan_gets {
	struct slots items; /* struct elan_get */
	uint32_t made;
	struct slot_list late; /* that wait, the oldest first */
	bool is_posted;
	struct window channel; /* of repeated ones */
};

enum { ELAN_DMAS = 2 };

/* A running or waiting DMA.  One of no bytes is one packet. */
struct elan_run {
	struct elan_dma d;
	uint64_t read; /* bytes */
	sim_time ready; /* its descriptor is in the engine */
	uint32_t pending; /* packets being read or sent */
	struct elan_queue *queue;
	uint32_t context;
	bool is_used, has_failed;
	bool is_missing; /* a page of its source; the driver finds it */
	uint32_t number; /* of all DMAs */
	sim_time looked; /* since when it is looked for, or 0 */
	struct elan_account account;
};

/* A DMA's read, for a packet. */
struct elan_read {
	struct slot slot;
	uint32_t dma, bytes;
	uint64_t offset, at; /* in the DMA; in memory */
	uint32_t sequence; /* of its packet */
	sim_time looked, from; /* its translation's start, and its own */
	bool is_built; /* its packet is */
};

/* A packet that waits for an assembler. */
struct elan_ready {
	uint32_t sending;
	sim_time since; /* its data comes; 0: it is complete */
};

struct elan_dmas {
	struct elan_run run[ELAN_DMAS]; /* in the engine */
	struct ring waiting; /* struct elan_run */
	struct ring parked; /* the same, while the driver finds their pages */
	struct ring again; /* the same, when it has */
	uint32_t begun; /* ever */
	struct slots reads; /* struct elan_read */
	uint32_t read_bytes; /* in the buffers */
	uint32_t next; /* whose turn it is */
	struct window channel;
	uint32_t assembling; /* packets, now */
	struct ring ready; /* struct elan_ready */
};

/* --- input.c, command.c --- */

struct elan_input {
	uint16_t inside; /* packets in work */
	struct packet_list in; /* waiting */
	struct packet_list writers; /* inside, with writes not in memory */
	uint32_t came; /* packets, ever */
	uint32_t turn; /* bursts of writes, to the bus */
};

struct elan_commands {
	sim_time free_at;
	bool is_posted;
};

/* --- on the wire --- */

/* Words of a transaction behind its head, which has its address, or what a
 * message or an event is named by. */
static inline uint32_t elan_words(const struct elan_piece *p)
{
	switch (p->what) {
	case ELAN_WRITE:
		return (p->bytes + 7u) / 8;
	case ELAN_ENQUEUE: /* that of a long message says where it belongs */
		return (p->bytes + 7u) / 8 + (p->back >> 32 > ELAN_PACKET);
	case ELAN_GET:
		return 2; /* where to, and its event */
	default:
		return 1; /* an event's count, a test's value */
	}
}

/* Whether a network counts transactions and their operands.  Where it does not,
 * its buffers hold packets with their data, and operands are in the header. */
static inline bool elan_counts_words(const struct link_rules *l)
{
	return l->n_formats > 1;
}

/* The format of a packet with so many transactions; networks without them send
 * only words. */
static inline uint32_t elan_format(const struct link_rules *l, uint32_t heads)
{
	return l->n_formats > heads ? heads : 0;
}

/* --- the card --- */

struct elan_node {
	struct ticks ticks;
	struct elan_counts counts;
	struct elan_line in, out; /* to memory, and from it */
	bool is_bus_posted;
	struct elan_words words;
	struct elan_sdram sdram;
	struct elan_cache cache;
	struct slots steps; /* struct elan_step */
	struct slots card_reads; /* struct elan_card_read */
	struct side_reads reads; /* of DMAs, gets and tests */
	uint32_t n_reads; /* of these, with reserved places */
	struct elan_areas areas;
	struct elan_mmu mmu;
	struct elan_driver driver;
	struct elan_faults faults;
	struct seen seen; /* packets that were executed, or denied */

	struct elan_queues queues;
	struct elan_processes processes;
	struct elan_interrupts interrupts;
	struct elan_chip chip;
	struct elan_events events;
	struct elan_sender sender;
	struct elan_gets gets;
	struct elan_dmas dmas;
	struct window answers; /* to gets */
	struct elan_input input;
	struct elan_iqs inputs;
	struct elan_commands commands;
	struct elan_threads *threads; /* NULL until there is code */
};

struct elan {
	struct nic nic;
	struct elan_params params;
	struct elan_host host;
	sim_time least; /* serialisation of the shortest packet */
	bool rotates; /* routes of packets that need no order */
	struct side *side; /* the host's bus */
	uint8_t fifo[ELAN_FIFOS]; /* of the network, by use */
	struct resend_how resend;
	struct side_reads_how reads;
	struct elan_cache_how cache;
	struct elan_mmu_how mmu;
};

static inline struct elan *elan_of(const struct nic_at *a)
{
	return (struct elan *)a->nic;
}

static inline const struct elan_params *elan_params(const struct nic_at *a)
{
	return &elan_of(a)->params;
}

static inline struct elan_node *elan_here(const struct nic_at *a)
{
	return a->node;
}

static inline struct elan_counts *elan_count(const struct nic_at *a)
{
	return &elan_here(a)->counts;
}

/* Posts an engine's event; those of one instant keep their order. */
static inline void elan_post(
	const struct nic_at *a, sim_time t, enum elan_engine e, uint32_t data)
{
	ticks_post(a, &elan_here(a)->ticks, t, e, data);
}

/* Serialisation of a packet up to the end of a transaction: so many of them,
 * and words. */
static inline sim_time elan_ser(
	const struct nic_at *a, uint32_t heads, uint32_t words)
{
	const struct link_rules *l = &a->nic->net->link;

	uint32_t most = l->max_payload / 8;

	if (__builtin_expect(!elan_counts_words(l), 0))
		return link_ser_on(
			l, ELAN_FIRST_WIRE, 8 * (words < most ? words : most));
	return l->ser[link_row(l, ELAN_FIRST_WIRE, 0) * l->row +
		      l->first[elan_format(l, heads)] + words];
}

/* When a packet leaves whose command or data is in the card now. */
static inline sim_time elan_start(const struct nic_at *a)
{
	return a->t + elan_of(a)->params.command - elan_of(a)->least;
}

/* Time of bytes on the bus, without overhead. */
static inline sim_time elan_bus_time(const struct nic_at *a, uint32_t bytes)
{
	const struct bus_params *b = &elan_params(a)->bus;

	return (bytes + b->width - 1) / b->width * b->clock;
}

/* Whether there is a place for one more read. */
static inline bool elan_can_read(const struct nic_at *a)
{
	return elan_here(a)->n_reads < (uint32_t)elan_params(a)->reads;
}

#endif
