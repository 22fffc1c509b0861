/*
 * Elan4, the network interface of QsNetII, as software sees it: command queues,
 * their words, descriptors and events.  It is the layer below weft/elan.h,
 * whose functions write most of these words.
 *
 * A program owns command queues.  A queue is a page of the card's address
 * space: words stored there, in any order, are read in order.  Words have 64
 * bits; the lowest eight are the command, the rest are its operands:
 *
 *	ELAN_OPEN       destination << 16 | route << 48: starts a packet
 *	ELAN_OPEN_RANGE first << 16 | route << 48; last: starts a broadcast
 *	                to all nodes from first's to last's, without gets
 *	 ELAN_TEST      operation << 16; address; value: of a word there, see
 *	                below
 *	 ELAN_WRITE     bytes << 16; address; data: 1 to 512 bytes, whole words;
 *	                with ELAN_CLOSES the packet ends here
 *	 ELAN_ENQUEUE   bytes << 16 | queue << 32 | number << 48; tag; data: a
 *	                message for an input queue, see below
 *	 ELAN_GET       bytes << 16 | event << 32; from there; to here
 *	 ELAN_SET       event << 16 | count << 32: an event of the receiver
 *	 ELAN_FOR       rank << 16: transactions after it are for this process
 *	ELAN_CLOSE      event << 16 | other << 32: ends the packet; its
 *	                acknowledgement sets event, a test's no sets other
 *	ELAN_RUN_DMA    then the seven words of a descriptor
 *	ELAN_STORE      address; value: a word of the node's own memory
 *	ELAN_COPY       bytes << 16; from; to: up to 64 bytes of it, in whole
 *	                words; the queue waits until they are read
 *	ELAN_ADD        event << 16 | count << 32: an event of the node itself
 *	ELAN_ARM        event << 16; count; address; value: see below
 *	ELAN_ARM_COPY   event << 16 | bytes << 32; count; address; data: 8 to
 *	                2,048 bytes, whole words: see below
 *	ELAN_ARM_FROM   event << 16 | bytes << 32; count; address; source: see
 *	                below
 *	ELAN_GUARD      which << 16: waits until all packets of the queue are
 *	                acknowledged, and may skip the next command; see below
 *	ELAN_INTERRUPT  value << 16: interrupts the host, where the handler
 *	                of elan_handle() gets the value
 *	ELAN_RUN_THREAD code << 16; six words: starts a thread on the card with
 *	                these in its registers; see below
 *	ELAN_NOP
 *
 * Destinations are ranks: process numbers of the queue's job.  A table in card
 * memory that only the driver writes has 16 bytes for each: node, context
 * there, and bits of the routes that lead to it, among which a route's number
 * counts.  A rank that the table does not have stops the queue as an invalid
 * command, an entry with two bad bits as an error of memory; one that leads to
 * a context that the node does not have is refused there.
 *
 * An event has a count.  Setting an event subtracts from its count; at zero it
 * fires: it writes a value to an address, which programs poll.  The event is
 * then not armed, and setting it has no effect.
 *
 * An event is 32 bytes of card memory, struct elan_event.  Events from 1 to
 * ELAN_EVENTS - 1 are in a table of the card's driver.  Such an event belongs
 * to the context that armed it; only packets and queues of this context set
 * it.  Event 0 is none.  Others are in the context's own card memory, at a
 * multiple of 32, and are named by their address: elan_event_at().  A name does
 * not fit into the 16 bits that most commands have for an event.  With
 * ELAN_NAMED in their first word, ELAN_SET, ELAN_ADD, ELAN_ARM and
 * ELAN_ARM_FROM have it in a word of its own after the first, and so has
 * ELAN_CLOSE: event | other << 32.  Packets may read and write such events like
 * any memory, and arm them so.  The context of the packet or queue that sets
 * one must have that memory, or the packet is refused and the queue stops; what
 * the event does is allowed to the extent that it is to that context.  If the
 * memory is given back before the event is set, the card counts an error.
 *
 * An event that was armed by ELAN_ARM_FROM copies bytes instead, from a source
 * in the context's memory, on the card or not, which is read when the event
 * fires.  So packets can fill in the data of commands that have been prepared
 * in card memory, and the last packet has them executed.  ELAN_ARM_COPY has the
 * bytes with it: they are in card memory that the driver takes for them, until
 * the copy is made or the event is armed again, by any command; the queue stops
 * if there is no room.  It is for events with numbers only.  If the address is
 * in memory, the bytes are written there, as they are and in order, so that the
 * last word can be polled.  If the address is in a page to which a queue of the
 * context is mapped, and all bytes are in that page, they are appended to that
 * queue as commands.  Addresses are multiples of eight, and are checked when
 * the event is armed; an address of neither kind stops the queue.  They are
 * checked again when the event fires: if one is wrong then, nothing is copied,
 * and the card counts an error.
 *
 * The card's event processor makes one copy after the other, as their events
 * fire; each takes nic.event.slot and the bytes at nic.event.rate.  Meanwhile
 * the processor reads the source of the next copy.  A copy whose source takes
 * longer, because it is not in the card's cache or in the host's memory, is
 * late by that, and the next copies pass it.  The word of ELAN_ARM does not
 * wait for the processor.  If a queue has no room for a copy, the copy waits,
 * and reads its source when there is room; so do later copies to this queue,
 * and packets that would append there are refused; copies to other addresses
 * continue.  A copy that can never fit stops the queue: it is longer than the
 * depth of the queue, or the queue cannot continue without the words of the
 * copy.  A stopped queue drops copies.  A command that is longer than the depth
 * of its queue stops it.
 *
 * A broadcast is acknowledged once, when all its receivers have executed it.
 * If one of them refuses it, it is sent to all again; receivers that have
 * executed it do not execute it twice.
 *
 * A packet is a list of up to six transactions in any order, with up to 512
 * bytes of data: ELAN_WRITE, which is one transaction for each 128 bytes that
 * it begins, ELAN_GET, ELAN_SET, ELAN_TEST and ELAN_ENQUEUE.  On the wire each
 * has a head and its data or operands in whole words.  They are for the
 * destination of the packet.  ELAN_FOR names another process, on the same node:
 * transactions after it are in that process's context; not in broadcasts.
 *
 * The receiver checks all transactions first.  If one of them is not allowed,
 * it refuses the packet, and nothing is executed.  If there is no room for what
 * one of them needs, the packet is sent again later.  Otherwise they are
 * executed in order.  An event is set when all writes before it are in memory.
 * A get or a test begins when all before it is done, and all after it waits for
 * what it reads.  Gets and tests next to each other read at the same time.
 *
 * A test compares the word at an address, a multiple of eight, with a value.
 * If a test fails, the packet ends there: what stands before it has been
 * executed, the rest is not.  The sender learns it, and does not try again.
 * From a test to the last write before the next get or test no other packet
 * writes, so a test and a write of the same word are one step; writes of the
 * node's own cores and events may come in between.  If a packet is sent again,
 * a node that has executed it, or ended it, does not do so again.
 *
 * For a broadcast with tests, each node decides for itself how much of the
 * packet it executes.  The sender gets yes if all tests succeed, and no if one
 * fails.
 *
 * An input queue of the receiver has slots for messages.  ELAN_ENQUEUE names it
 * by its number, and has a tag of 64 bits where a write has its address; 0 to
 * 512 bytes follow, in whole words.  With ELAN_IS_LAST the packet ends here;
 * with ELAN_IS_PART the message has several packets: after the tag comes a
 * word, total bytes | offset << 32 of these bytes.  The packets of a message
 * have the same number, and a sender's messages under way have different ones;
 * a kind, 0 to 15, at ELAN_KIND, is for software.  Threads see a message when
 * all its bytes have come; one that lacks a part, because a test failed before
 * it, keeps its slot.  If all slots are taken, the packet is sent again later,
 * for as long as it takes; a queue that does not exist, or has shorter slots,
 * refuses it.
 *
 * Outside of a packet, ELAN_ENQUEUE is a message of up to 48 bytes for a queue
 * of the own process, which does not leave the card.  If all slots are taken,
 * it waits in its command queue.
 *
 * A guard refers to the packets of the queue since the previous guard.  After
 * ELAN_IF_YES the next command, or a whole packet, is skipped if one of their
 * tests failed; after ELAN_IF_NO if none failed.
 *
 * The card's thread processor runs one thread at a time, with code that the
 * context of the queue has loaded (weft/elan.h); a number without code stops
 * the queue.  A new thread queues behind those that are ready.  If there are
 * too many threads, the command waits in its queue.
 */
#ifndef WEFT_ELAN4_H
#define WEFT_ELAN4_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ELAN_QUEUES = 65536,
	ELAN_EVENTS = 65536,
	ELAN_CONTEXTS = 16384, /* QSN-N39 */
	ELAN_BLOCK = 128, /* most bytes of data in a transaction */
	ELAN_BLOCKS = 4, /* of these transactions in a packet */
	ELAN_PACKET = ELAN_BLOCK * ELAN_BLOCKS,
	ELAN_PAGE = 4096, /* of a command queue */
	ELAN_WINDOW = 1024, /* bytes that writes may run ahead */
	ELAN_DMA_WORDS = 7,
	ELAN_COPY_MOST = 2048, /* most bytes that an event copies */
	ELAN_REGISTERS = 6, /* initial values for a thread */
	ELAN_CODES = 1024, /* numbers of code per context */
	ELAN_CODE_BYTES = 1024, /* of code, unless its length is given */
	ELAN_CODE_MOST = 1 << 20,
	ELAN_EVENT_BYTES = 32, /* of card memory */
	/* Names of events: numbers, and addresses of up to 31 bits. */
	ELAN_EVENT_NAMES = ELAN_EVENTS + (1 << 26),
	ELAN_INPUTS = 4096, /* input queues of a node */
	ELAN_SLOT_MOST = 2048, /* bytes of a message in one */
	ELAN_HERE_MOST = 48, /* of a message for the own process */
	ELAN_SLOTS_MOST = 4096, /* slots of one */
	ELAN_KIND = 12, /* bits above ELAN_ENQUEUE: its kind */
};

/* Addresses from here on are those of the card's own memory. */
#define ELAN_CARD_AT (UINT64_C(1) << 44)

enum elan_command {
	ELAN_NOP,
	ELAN_OPEN,
	ELAN_WRITE,
	ELAN_GET,
	ELAN_SET,
	ELAN_CLOSE,
	ELAN_RUN_DMA,
	ELAN_STORE,
	ELAN_COPY,
	ELAN_ADD,
	ELAN_ARM,
	ELAN_GUARD,
	ELAN_INTERRUPT,
	ELAN_RUN_THREAD,
	ELAN_OPEN_RANGE,
	ELAN_TEST,
	ELAN_ARM_COPY,
	ELAN_ARM_FROM,
	ELAN_ENQUEUE,
	ELAN_FOR,
	ELAN_COMMANDS,
};

/* Comparisons of a word with a value, both unsigned. */
enum elan_operation {
	ELAN_EQUAL,
	ELAN_NOT_EQUAL,
	ELAN_LESS, /* than the value */
	ELAN_AT_LEAST,
	ELAN_HAS_ALL, /* of the value's bits */
	ELAN_HAS_NONE,
	ELAN_OPERATIONS,
};

/* Of ELAN_GUARD. */
enum elan_guard { ELAN_ALWAYS, ELAN_IF_YES, ELAN_IF_NO, ELAN_GUARDS };

#define ELAN_CLOSES (UINT64_C(1) << 32) /* of ELAN_WRITE */
/* The next word has the names of events, which stand nowhere else. */
#define ELAN_NAMED   (UINT64_C(1) << 8)
#define ELAN_IS_LAST (UINT64_C(1) << 8) /* of ELAN_ENQUEUE */
#define ELAN_IS_PART (UINT64_C(1) << 9) /* of ELAN_ENQUEUE */

/* Rights of a queue (QSN-G10). */
enum elan_right {
	ELAN_MAY_STEN = 1,
	ELAN_MAY_DMA = 2,
	ELAN_MAY_STORE = 4,
	ELAN_MAY_EVENT = 8,
	ELAN_MAY_INTERRUPT = 16,
	ELAN_MAY_BROADCAST = 32,
	ELAN_MAY_THREAD = 64,
	ELAN_MAY_ALL = 127,
	/* It goes on without packets and DMAs that their receivers refuse, or
	 * do not answer: they are dropped. */
	ELAN_GOES_ON = 128,
};

/* Depths of a queue: 1, 8, 64 and 512 KB (QSN-G9). */
enum elan_depth { ELAN_1K, ELAN_8K, ELAN_64K, ELAN_512K, ELAN_DEPTHS };

/* Reasons for which a queue is stopped. */
enum elan_error {
	ELAN_FINE,
	ELAN_ERROR_OVERFLOW, /* written beyond its depth */
	ELAN_ERROR_WINDOW, /* written too far ahead */
	ELAN_ERROR_COMMAND, /* invalid command */
	ELAN_ERROR_RIGHT, /* command without the right for it */
	ELAN_ERROR_ADDRESS, /* outside its context's memory */
	ELAN_ERROR_REFUSED, /* the receiver has no such context or address */
	ELAN_ERROR_RETRIES, /* too many */
	ELAN_ERROR_MEMORY, /* two bad bits in a word of card memory */
	ELAN_ERROR_ROOM, /* no room for a copy's bytes in card memory */
	ELAN_ERRORS,
};

/* A DMA's descriptor: with its command 64 bytes, one burst (QSN-G12). */
struct elan_dma {
	uint64_t bytes;
	uint64_t cookie; /* for software */
	uint64_t destination; /* process number, a rank */
	uint64_t from, to; /* addresses */
	uint64_t source_event, target_event; /* or 0 */
};

/* An event (QSN-G11). */
struct elan_event {
	int64_t count; /* 0 or less: it is not armed */
	uint64_t to; /* address */
	uint64_t from; /* a word's value, or the source of a copy */
	uint32_t bytes; /* of a copy; 0: it writes a word */
	uint32_t context; /* the card's, if it has a number */
};

/* The name of the event at an address of card memory; 0: there can be none. */
static inline uint32_t elan_event_at(uint64_t address)
{
	uint64_t at = address - ELAN_CARD_AT;

	if (at >> 31 || at % ELAN_EVENT_BYTES)
		return 0;
	return ELAN_EVENTS + (uint32_t)(at / ELAN_EVENT_BYTES);
}

/* An input queue. */
struct elan_iq_options {
	uint32_t id; /* below ELAN_INPUTS */
	uint32_t slots; /* up to ELAN_SLOTS_MOST */
	uint32_t bytes; /* of a slot: 8 to ELAN_SLOT_MOST, whole words */
	uint32_t event; /* set by 1 for each message, or 0 */
	bool asks; /* a thread accepts a message, or sends it back */
};

/* Of messages in queues that ask. */
enum elan_asks {
	ELAN_ASKS_NOT,
	ELAN_ASKS, /* nobody has decided yet */
	ELAN_ASKED, /* it was accepted */
};

/* What threads count for reports. */
enum elan_figure {
	ELAN_MATCHED, /* messages */
	ELAN_EARLY, /* messages that came before their receive */
	ELAN_ELEMENTS, /* of lists, that were looked at */
	ELAN_MOVED, /* messages, to host memory */
	ELAN_FIGURES,
};

/* A message in a slot of an input queue. */
struct elan_message {
	uint64_t at; /* its bytes, in the card's memory */
	uint64_t tag;
	uint32_t source; /* its sender's rank */
	uint32_t bytes;
	uint32_t queue, slot;
	uint16_t number;
	uint8_t kind;
	uint8_t asks; /* an enum elan_asks */
	uint32_t left; /* of its bytes, that have not come */
	uint32_t note; /* 0; for what the thread itself knows of it */
};

enum { ELAN_BANKS = 4 }; /* of a host's memory */

enum elan_vm_flag {
	ELAN_VM_CARD = 1, /* in the card's memory, not in the host's */
	ELAN_VM_DEMAND = 2, /* the card learns of a page at its first access */
	ELAN_VM_BIG_ENDIAN = 4, /* words that the card itself writes there */
	ELAN_VM_READ_ONLY = 8, /* for the card */
	ELAN_VM_ALL = 15,
};

/* Virtual memory: see elan_vm_alloc(). */
struct elan_vm {
	uint64_t at; /* address, a multiple of the page size; 0: any */
	uint64_t bytes; /* in whole pages: rounded up */
	uint64_t page; /* size: one of nic.mmu.sizes; 0: the smaller one */
	uint32_t flags; /* of enum elan_vm_flag */
	uint32_t bank; /* of the host's memory, below ELAN_BANKS */
};

/* An interrupt, for its handler. */
struct elan_interrupt {
	uint32_t node;
	uint64_t value; /* 48 bits */
	int64_t at; /* time, ps */
	const void *inside; /* the simulator's */
};

typedef void elan_handler(void *arg, const struct elan_interrupt *i);

/* Code of a thread on the card; reg has the initial values of its registers. */
typedef void elan_code(const uint64_t reg[ELAN_REGISTERS]);

static inline uint64_t elan_word(
	enum elan_command c, uint64_t low, uint64_t high)
{
	return (uint64_t)c | low << 16 | high << 32;
}

#endif
