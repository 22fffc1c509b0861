/*
 * Elan4's insides, shared by its files and by nobody else.
 *
 *	core --store--> command queues: order, depth        (queue.c)
 *	                   |
 *	     command processor: decodes, one queue's turn after the other
 *	       |            |                               (command.c)
 *	     STEN: short packets    DMA: reads memory by blocks, cuts packets
 *	       |  (sten.c)  |                               (dma.c)
 *	     sender: keeps a packet until it is acknowledged (send.c)
 *	       |
 *	     network -> input processor: executes transactions, acknowledges,
 *	                answers gets, writes memory, sets events (input.c),
 *	                tests words first (ask.c), nothing twice (seen.c)
 *	event processor: copies to memory or queues when events fire
 *	                                                    (event.c)
 *
 *	threads: started by commands, append commands       (thread.c)
 *
 * All that crosses the host's bus asks struct bus for a burst.
 */
#ifndef NIC_ELAN4_ELAN_H
#define NIC_ELAN4_ELAN_H

#include "base/list.h"
#include "base/ring.h"
#include "base/slots.h"
#include "nic/elan4/elan4.h"
#include "nic/elan4/pcix.h"

/* Numbers of events: ENGINE_CLIENT and above. */
enum elan_engine {
	/* before stores: what it appends has come at that instant */
	ELAN_ENGINE_EVENT = ENGINE_CLIENT, /* a copy's slot is over */
	ELAN_ENGINE_STORE, /* a core's store; data: queue */
	ELAN_ENGINE_HALF, /* a packet stays half built; data: queue */
	ELAN_ENGINE_LEAVE, /* data: a sending, whose packet is ready */
	ELAN_ENGINE_LATE, /* a first try is perhaps not answered in time */
	ELAN_ENGINE_LATER, /* data: a sending, one of its other tries is */
	ELAN_ENGINE_AGAIN, /* data: a sending, after its back-off */
	ELAN_ENGINE_READ, /* data: a read, whose data is at the bridge */
	ELAN_ENGINE_BLOCK, /* data: a read, whose data is in the card */
	ELAN_ENGINE_INPUT, /* data: packet; a write is ready for the bus */
	ELAN_ENGINE_WRITTEN, /* data: packet; it is in memory */
	ELAN_ENGINE_ACK, /* data: packet; it has been executed */
	ELAN_ENGINE_WORD_IN, /* data: a word that is in memory */
	ELAN_ENGINE_BUS, /* the bus is free for the next burst */
	ELAN_ENGINE_THREAD, /* data: a thread, which goes on */
	ELAN_ENGINE_GET, /* a get has waited for its answer long enough */
	ELAN_ENGINE_COPIED, /* data: a copy, a burst of it is in memory */
	/* after all that may give it work at the same instant */
	ELAN_ENGINE_COMMAND, /* the command processor is free */
};

/* Numbers of engines repeat after so many: see elan_post_late(). */
enum { ELAN_ENGINES = 64 };

/* Names of channels: those of the engines, then the queues'. */
enum {
	ELAN_DMA_CHANNEL,
	ELAN_ANSWER_CHANNEL,
	ELAN_GET_CHANNEL, /* gets that are asked again */
	ELAN_FIRST_QUEUE
};

/* Network FIFOs by use. */
enum elan_fifo {
	ELAN_FIFO_STEN = 0,
	ELAN_FIFO_DMA,
	ELAN_FIFO_ANSWER,
	ELAN_FIFO_CAST = 14, /* broadcasts */
	ELAN_FIFO_ACK,
	ELAN_FIFOS,
};

enum {
	ELAN_WINDOW_WORDS = ELAN_WINDOW / 8,
	ELAN_ENDS = 16, /* packets of a queue under way, at most */
	ELAN_MOST_PIECES = ELAN_BLOCKS + 2, /* of a packet; one is a test */
	ELAN_ROUTES = 64, /* stored for a destination */
	ELAN_TICKS = 1 << 15, /* events, before their numbers begin anew */
	ELAN_INPUTS = 4, /* packets that the input works on */
	ELAN_GROUP = 128, /* queues whose table is made together */
	/*
	 * From a channel's eldest packet that is not acknowledged to its
	 * newest; a receiver remembers twice as many.
	 */
	ELAN_SPAN = 32,
};

/* Packets of a channel under way: numbers from oldest to next - 1. */
struct elan_channel {
	uint32_t next, oldest;
	uint64_t done; /* a bit per number from oldest on */
};

static inline uint32_t elan_channel_span(const struct elan_channel *c)
{
	return c->next - c->oldest;
}

static inline void elan_channel_done(struct elan_channel *c, uint32_t number)
{
	c->done |= UINT64_C(1) << (number - c->oldest);
	for (; c->done & 1; c->done >>= 1)
		c->oldest++;
}

/* A store that is on its way: the bytes are in the ring already. */
struct elan_arrival {
	uint64_t end; /* position behind it */
	sim_time at;
	enum elan_error error; /* it stops the queue */
};

/* A message that a program has begun: its words begin at a position. */
struct elan_birth {
	uint64_t position;
	sim_time at;
	sim_time handed, came; /* its first word: to the bus, to the card */
};

/* Where a packet's time went before it first left, for the book. */
struct elan_account {
	struct book_message message;
	sim_time handed, came, asked; /* as above; decoded */
	sim_time reading, read, built; /* of DMAs */
	sim_time left; /* for the first time, or 0 */
	bool is_held; /* an answer: what the get has spent */
	struct book_held held;
};

struct elan_queue {
	struct list_link link; /* in the run queue, or of those blocked */
	uint8_t *ring; /* of depth bytes: the backing store */
	uint32_t depth;
	uint8_t rights;
	uint8_t error; /* an enum elan_error */
	uint8_t outstanding; /* packets not yet acknowledged */
	bool is_queued; /* in the run queue */
	bool is_guarded; /* waits for acknowledgements */
	uint8_t guard; /* an enum elan_guard: what follows then */
	bool was_denied; /* a packet since the last guard */
	bool skips; /* the next command */
	bool is_half; /* a time-out is on its way */
	bool is_blocked; /* waits until a thread can be started */
	uint16_t context;
	uint16_t id;
	/* positions: bytes since it was opened */
	uint64_t announced; /* stored without a gap, arrived or not */
	uint64_t arrived;
	uint64_t taken; /* decoded */
	uint64_t freed; /* may be written over */
	uint64_t ahead[ELAN_WINDOW_WORDS / 64]; /* words behind announced */
	struct ring arrivals; /* struct elan_arrival: not yet in */
	uint64_t half_at; /* position of the packet that is half built */
	sim_time half_since; /* its beginning was there */
	sim_time word_at; /* the last store came */
	uint32_t dmas; /* of it that wait or run */
	uint32_t gets; /* that are not answered */
	uint32_t name; /* of its channel: receivers know it by that */
	struct ring births; /* struct elan_birth, where there is a book */
	struct elan_channel channel;
	uint64_t ends[ELAN_ENDS]; /* positions behind its packets */
	uint32_t claimed; /* bytes of its room, by threads */
	uint64_t mapped; /* an address that units append at, or 0 */
	struct slot_list copies; /* that wait for room */
};

#define ELAN_NO_QUEUE 0xffffu

struct elan_event_cell {
	int64_t count; /* 0: not armed */
	uint64_t address, value;
	uint32_t context; /* that armed it; no other sets it */
	uint32_t copy; /* instead of a word; or 0 */
};

/* Bytes that an event copies when it fires. */
struct elan_copy {
	struct slot slot;
	uint64_t address;
	uint8_t *data;
	uint32_t context, bytes;
	uint32_t written; /* bytes in memory */
};

/* A piece of a packet: what one transaction says. */
struct elan_piece {
	uint64_t address; /* of a write: where to; of a get: where from */
	uint64_t back; /* of a get: where the answer goes; a test's value */
	uint32_t event, count; /* of a test: operation, none */
	uint16_t bytes;
	uint16_t at; /* of a write: in the data */
	uint8_t what; /* ELAN_WRITE, ELAN_GET, ELAN_SET, ELAN_TEST */
};

/* Which get of its sender's it is, or answers; place 0: none. */
struct elan_cookie {
	uint32_t place, number;
};

/* What flipped bits have done to a packet. */
enum elan_harm {
	ELAN_SOUND,
	ELAN_TORN, /* a transaction is wrong: its sender is told */
	ELAN_UNREADABLE, /* nobody knows whose it is: its sender waits */
};

enum {
	ELAN_FLIPS = 16, /* that a packet remembers */
	ELAN_NEXT_HOP = 0x8000, /* on another wire than the flip before */
	ELAN_DETOURS = 256, /* destinations share them */
};

/* Of those that answer a broadcast the greatest is what its sender hears. */
enum elan_kind {
	ELAN_DATA,
	ELAN_ACKED,
	ELAN_DENIED, /* its test said no: not executed, never try again */
	ELAN_NACKED, /* try again */
	ELAN_REFUSED, /* never try again */
	ELAN_ABORTED, /* a packet that was never finished */
};

/* How far a packet's test is, until it is decided. */
enum elan_ask {
	ELAN_ASK_NONE,
	ELAN_ASK_READS, /* or will, when its tail is here */
	ELAN_ASK_READ, /* waits for what came before in its queue */
};

/* What a packet has to do with broadcasts. */
enum elan_cast {
	ELAN_CAST_NONE,
	ELAN_CAST_OUT, /* it is one */
	ELAN_CAST_BACK, /* it answers one */
};

/* What a packet's load field points to. */
struct elan_buffer {
	uint8_t kind;
	uint8_t n_pieces;
	bool writes; /* it is in the list of those */
	uint32_t came; /* to the input, among all */
	uint8_t n_flips, harm; /* see frame.h */
	uint8_t code; /* its wires', of link_codes */
	bool violated; /* a symbol came that is none */
	uint16_t flip[ELAN_FLIPS]; /* bits of its frame; + ELAN_NEXT_HOP */
	sim_time hurt_at; /* the hop of the last flip: when it began */
	uint16_t context;
	uint32_t channel, sequence; /* the cookie: who sent it, which one */
	uint32_t sending; /* at the sender, or 0; its answer returns it */
	struct elan_cookie get;
	uint16_t data_bytes;
	uint8_t cast; /* an enum elan_cast: */
	uint16_t last; /* node of the range; its destination is the first */
	uint32_t number; /* of the broadcast that it answers */
	sim_time asked; /* its command, or its data, was in the card */
	/* when each block of data had left the source, and the packet's
	 * head; its receiver sees them as much later as its head */
	sim_time left_at, left[ELAN_MOST_PIECES];
	uint32_t answer; /* to a get: its sequence */
	uint8_t handed; /* pieces that the input has handed on */
	uint8_t todo; /* bursts and the tail that are to come */
	uint8_t bursts, granted, written; /* of its writes */
	uint8_t until[ELAN_MOST_PIECES]; /* pieces, up to each burst's end */
	uint32_t turn[ELAN_MOST_PIECES]; /* of each burst, among all */
	uint8_t ask; /* an enum elan_ask */
	uint8_t verdict; /* an enum elan_kind: its answer */
	uint8_t fifo; /* it came in by */
	bool streams; /* a burst may begin with its first block */
	bool is_first; /* not sent before */
	uint8_t route; /* it took; its answer takes the like */
	struct elan_piece piece[ELAN_MOST_PIECES];
	uint8_t data[ELAN_PACKET];
};

enum elan_owner {
	ELAN_OWNER_QUEUE,
	ELAN_OWNER_DMA,
	ELAN_OWNER_ANSWER,
	ELAN_OWNER_GET, /* asked again */
};

/* A packet that is sent until it is acknowledged. */
struct elan_sending {
	struct slot slot; /* of first tries that wait; see send.c */
	struct elan_buffer *copy; /* what is sent again */
	site_id dst;
	uint32_t owner_id; /* queue, DMA */
	uint32_t event; /* set by the acknowledgement */
	uint32_t no_event; /* or by a test's no */
	sim_time left_at; /* and has no answer yet, or 0 */
	sim_time again_at; /* it is sent again, or 0 */
	uint32_t number; /* of the packet that was sent last */
	uint16_t tries;
	uint8_t owner;
	uint8_t route; /* of the next try */
	uint8_t fifo;
	bool is_free; /* of any order with others to its node */
	struct elan_account account;
};

/* A DMA that is running or waiting.  One of no bytes is one packet. */
struct elan_run {
	struct elan_dma d;
	uint64_t read; /* bytes */
	sim_time ready; /* its descriptor is in the engine */
	uint32_t pending; /* packets that are read or sent */
	uint32_t queue, context; /* whose it is */
	bool is_used, has_failed;
	struct elan_account account;
};

struct elan_read {
	uint32_t dma;
	uint32_t bytes;
	uint64_t offset;
	uint32_t sequence; /* of its packet */
	sim_time from; /* it was asked for */
	bool is_used;
	bool is_built; /* its packet is */
	bool is_answer; /* to a get, or for a test: */
	packet_id packet; /* the get's, or the test's */
};

/* A packet of a DMA that waits for an assembler. */
struct elan_ready {
	uint32_t sending;
	sim_time since; /* its data comes; 0: is there */
};

/* A get whose answer has not come; see get.c. */
struct elan_get {
	struct slot slot; /* of those that wait */
	struct elan_cookie cookie;
	uint32_t queue;
	site_id dst;
	sim_time until; /* it waits */
	uint16_t context;
	uint8_t tries, n_pieces;
	bool is_waiting, is_answered;
	struct elan_piece piece[ELAN_MOST_PIECES];
	struct elan_account account;
};

/* A word to be written to memory. */
struct elan_word_out {
	struct slot slot; /* of those under way */
	uint64_t address, value;
};

/* What a receiver remembers of a sender's channel. */
struct elan_seen {
	uint32_t src, channel;
	uint32_t newest; /* sequence */
	uint64_t mask; /* bit i: newest - i has been executed, or: */
	uint64_t denied; /* its test said no */
	bool is_used; /* the place in the table */
};

struct elan_context {
	uint64_t first, last;
	uint32_t number;
	bool is_big; /* endian */
};

enum { ELAN_DMAS = 2, ELAN_ASSEMBLERS = 2, ELAN_READS = 16 };

struct elan_node {
	struct bus bus;
	/* by groups; NULL until opened */
	struct elan_queue **queues[ELAN_QUEUES / ELAN_GROUP];
	struct list run; /* the run queue */
	sim_time command_at; /* the command processor is free */
	bool is_command_posted;

	struct elan_run dma[ELAN_DMAS]; /* that the engine works on */
	struct ring waiting; /* struct elan_run: the DMA run queue */
	struct elan_read read[ELAN_READS];
	uint32_t reads; /* outstanding, those of gets included */
	uint32_t read_bytes; /* of DMAs, in the buffers */
	uint32_t next_dma; /* whose turn it is */
	struct elan_channel dma_channel;
	uint32_t assembling; /* packets, now */
	struct ring ready; /* struct elan_ready */

	struct slots sendings;
	struct slot_list late; /* first tries, the eldest first */
	bool is_late_posted;
	sim_time round_trip; /* the longest lately */
	struct packet_list out[ELAN_FIFOS]; /* wait for room */

	struct slots words;
	struct slot_list words_out; /* under way, in order */
	uint32_t words_asked, words_had; /* ever: for the bus, and had it */
	sim_time word_in; /* the last one that had the bus is in memory */

	struct elan_event_cell *events; /* [n_events], as many as used */
	uint32_t n_events;
	struct slots copies;
	uint32_t copies_inside; /* that events have fired, not done */
	uint64_t copies_bytes;
	struct slot_list firing; /* the event processor is at the first */

	struct elan_seen *seen; /* hashed, open addressing */
	uint32_t seen_room, seen_n;
	struct elan_channel answers; /* to gets */
	struct elan_channel get_channel;
	struct slots gets;
	uint32_t gets_made;
	struct slot_list late_gets; /* that wait, the longest first */
	bool is_get_posted;

	struct elan_context *contexts;
	uint32_t n_contexts;
	uint32_t number; /* of packets */
	uint8_t detour[ELAN_DETOURS]; /* routes that did not fail lately */
	uint8_t rotation; /* the next route's */
	uint32_t opened; /* queues, ever */
	uint16_t *maps; /* queues that are mapped */
	uint32_t n_maps;
	uint16_t tick; /* of events */
	sim_time tick_at; /* the last one was posted */
#ifdef WEFT_CHECK
	sim_time last_at; /* the last one was at, with its rank and data */
	uint64_t last_rank;
	uint32_t last_data;
#endif
	uint16_t inside; /* packets that the input is at work on */
	struct packet_list in; /* that wait for it */
	struct packet_list writers; /* inside, not all in memory */
	uint32_t came; /* packets, to the input */
	uint32_t turn; /* bursts of writes, to the bus */
	struct elan_threads *threads; /* NULL until there is code */
	struct elan_counts counts;
};

struct elan {
	struct nic nic;
	struct elan_params params;
	struct elan_host host;
	site_id n_nodes;
	sim_time least; /* serialisation of the least packet */
	bool rotates; /* routes of packets that need no order */
};

static inline struct elan *elan_of(const struct nic_at *a)
{
	return (struct elan *)a->nic;
}

static inline struct elan_node *elan_here(const struct nic_at *a)
{
	return a->node;
}

/* NULL: not open, or no such queue. */
struct elan_queue *elan_queue(const struct elan_node *n, uint32_t id);

/*
 * Posts an engine's event; those of one instant keep their order.  Ticks begin
 * anew between two instants, never among what is posted in one.
 */
static inline void elan_post(
	const struct nic_at *a, sim_time t, enum elan_engine e, uint32_t data)
{
	if (elan_here(a)->tick >= ELAN_TICKS && a->t != elan_here(a)->tick_at)
		elan_here(a)->tick = 0;
	elan_here(a)->tick_at = a->t;
	sim_post_self(a->w, a->s, t, SIM_KEY(PHASE_ENGINE, e),
		elan_here(a)->tick++, data);
}

/*
 * The same of a sending that there may be long waits for: a tick could come
 * round until then.  A sending has one such event of a kind that counts.
 */
static inline void elan_post_late(
	const struct nic_at *a, sim_time t, enum elan_engine e, uint32_t id)
{
	sim_post_self(a->w, a->s, t,
		SIM_KEY(PHASE_ENGINE, e + ELAN_ENGINES * ((id - 1) >> 16)),
		(uint16_t)(id - 1), id);
}

static inline const struct elan_buffer *elan_buffer_of(const struct packet *p)
{
	return payload_of_load(p->load);
}

static inline enum elan_engine elan_engine_of(const struct sim_event *e)
{
	return (enum elan_engine)(
		ENGINE_CLIENT + (sim_number(e) - ENGINE_CLIENT) % ELAN_ENGINES);
}

#endif
