/*
 * Elan4's insides: what its units have in common.  Each unit has a header of
 * its own, and includes those of units below it:
 *
 *	command.c   command processor: decodes, one queue's turn after the
 *	            other
 *	sten.c      STEN: makes short packets of a queue's words
 *	thread.c    thread processor: appends commands
 *	input.c     input processor: executes transactions, acknowledges,
 *	            writes memory; ask.c tests words first, answer.c answers
 *	            gets
 *	dma.c       DMA: reads memory by blocks, makes packets of them
 *	get.c       gets that wait for their answers
 *	send.c      sender: keeps a packet until it is acknowledged
 *	event.c     event processor: words, copies to memory or queues
 *	queue.c     command queues: order, depth
 *	pcix.c      the host's bus: bursts in line for it, words
 *
 * Where a unit has something to say to one above it, it calls back: elan.c,
 * which alone knows all units, has set that up.
 */
#ifndef NIC_ELAN4_ELAN_H
#define NIC_ELAN4_ELAN_H

#include "base/ring.h"
#include "nic/elan4/elan4.h"
#include "nic/util/ranges.h"
#include "nic/util/seen.h"
#include "nic/util/side_reads.h"

/* Numbers of events: ENGINE_CLIENT and above. */
enum elan_engine {
	/* before stores: what it appends has come at that instant */
	ELAN_ENGINE_EVENT = ENGINE_CLIENT, /* a copy's slot is over */
	ELAN_ENGINE_STORE, /* a core's store; data: queue */
	ELAN_ENGINE_HALF, /* a packet stays half built; data: queue */
	/* the sender's, and reads': nic/util */
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

/* Numbers of engines repeat after so many: see ticks_post_late(). */
enum { ELAN_ENGINES = 64 };

/* Names of channels: those of the engines, then the queues'. */
enum {
	ELAN_DMA_CHANNEL,
	ELAN_ANSWER_CHANNEL,
	ELAN_GET_CHANNEL, /* gets that are asked again */
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
	/*
	 * From a channel's eldest packet that is not acknowledged to its
	 * newest; a receiver remembers twice as many.
	 */
	ELAN_SPAN = 32,
};

/* What asked for a burst has the bus: until then it is read, or from then on
 * loads can see what was written. */
typedef void elan_granted(const struct nic_at *a, uint32_t id, sim_time t);

/* What crosses the host's bus. */
struct elan_burst {
	elan_granted *granted;
	uint64_t at;
	uint32_t id, bytes;
	bool is_read;
};

/* Bursts of one direction that wait for it. */
struct elan_line {
	struct ring waiting; /* struct elan_burst */
	int64_t had; /* of the bus's time, while the other waited */
};

/* Words on their way to memory. */
struct elan_word {
	struct slot slot;
	uint64_t address, value;
};

struct elan_words {
	struct slots items; /* struct elan_word */
	struct slot_list out; /* in order */
	uint32_t asked, had; /* ever: for the bus, and had it */
	sim_time last_in; /* the last one that had the bus is in memory */
};

struct elan_node {
	struct ticks ticks;
	struct elan_counts counts;
	struct elan_line in, out; /* to memory, and from it */
	bool is_bus_posted;
	struct elan_words words;
	struct side_reads reads; /* of DMAs, gets and tests */
	uint32_t n_reads; /* of these, or a place is kept for them */
	struct ranges contexts; /* flags: enum elan_order */
	struct seen seen; /* packets that were executed, or denied */

	/* units, each known to itself and to those above it */
	struct elan_queues *queues;
	struct elan_events *events;
	struct elan_sender *sender;
	struct elan_gets *gets;
	struct elan_dmas *dmas;
	struct elan_answers *answers;
	struct elan_input *input;
	struct elan_commands *commands;
	struct elan_threads *threads; /* NULL until there is code */
};

struct elan {
	struct nic nic;
	struct elan_params params;
	struct elan_host host;
	sim_time least; /* serialisation of the least packet */
	bool rotates; /* routes of packets that need no order */
	struct side *side; /* the host's bus */
	uint8_t fifo[ELAN_FIFOS]; /* of the network, by use */
	/* A word has had the bus. */
	void (*on_word)(const struct nic_at *a);
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

/* Serialisation of a packet with so many bytes of data. */
static inline sim_time elan_ser(const struct nic_at *a, uint32_t bytes)
{
	const struct link_rules *l = &a->nic->net->link;

	return link_ser(l, bytes);
}

/* When a packet leaves whose command, or data, is in the card now. */
static inline sim_time elan_start(const struct nic_at *a)
{
	return a->t + elan_of(a)->params.command - elan_of(a)->least;
}

/* How long the bus takes for so many bytes, once they are on it. */
static inline sim_time elan_bus_time(const struct nic_at *a, uint32_t bytes)
{
	const struct bus_params *b = &elan_params(a)->bus;

	return (bytes + b->width - 1) / b->width * b->clock;
}

/* Whether one more may read by nic/util/side_reads.h, and so keep a place. */
static inline bool elan_can_read(const struct nic_at *a)
{
	return elan_here(a)->n_reads < (uint32_t)elan_params(a)->reads;
}

/* --- context.c --- */

enum elan_order { ELAN_BIG_ENDIAN = 1 };

/* Whether a context may touch [at, at + bytes). */
static inline bool elan_may(const struct elan_node *n, uint32_t context,
	uint64_t at, uint64_t bytes)
{
	return ranges_allow(&n->contexts, context, at, bytes);
}

/* A word as a context's memory has it. */
uint64_t elan_word_order(
	const struct elan_node *n, uint32_t context, uint64_t word);

#endif
