/*
 * Elan4, the network interface of QsNetII, as software sees it: command
 * queues, the words that are written into them, descriptors and events.  The
 * layer below weft/elan.h, whose functions write most of these words.
 *
 * A program owns command queues.  A queue is a page of the card's address
 * space: what is stored there, in any order, is taken out in order.  Words
 * are of 64 bits; the lowest eight are the command, the rest its operands:
 *
 *	ELAN_OPEN       destination << 16 | route << 48: a packet begins
 *	ELAN_OPEN_RANGE first << 16 | route << 48; last: one that is broadcast
 *	                to all nodes from first to last, and has no get
 *	 ELAN_TEST      operation << 16; address; value: of a word there, see
 *	                below
 *	 ELAN_WRITE     bytes << 16; address; data: 1 to 512 bytes, whole words;
 *	                with ELAN_CLOSES the packet ends here
 *	 ELAN_GET       bytes << 16 | event << 32; from there; to here
 *	 ELAN_SET       event << 16 | count << 32: of the receiver's events
 *	ELAN_CLOSE      event << 16 | other << 32: it ends; the event is set
 *	                by its acknowledgement, the other by a test's no
 *	ELAN_RUN_DMA    then the seven words of a descriptor
 *	ELAN_STORE      address; value: a word of the node's own memory
 *	ELAN_COPY       bytes << 16; from; to: up to 64 bytes of it
 *	ELAN_ADD        event << 16 | count << 32: of the node's own events
 *	ELAN_ARM        event << 16; count; address; value: see below
 *	ELAN_ARM_COPY   event << 16 | bytes << 32; count; address; data: 8 to
 *	                2,048 bytes, whole words: see below
 *	ELAN_GUARD      which << 16: waits until all packets of the queue are
 *	                acknowledged, and may skip the next command; see below
 *	ELAN_INTERRUPT  value << 16: tells the driver
 *	ELAN_RUN_THREAD code << 16; six words: starts a thread on the card with
 *	                these in its registers; see below
 *	ELAN_NOP
 *
 * An event has a count.  What sets it takes away from the count; when none is
 * left it fires: a value is written to an address, and programs poll that.
 * It is then not armed, and what sets it is lost.  It belongs to the context
 * that armed it, and packets and queues of no other set it.  Event 0 is none.
 *
 * One that was armed by ELAN_ARM_COPY copies bytes instead, which the card
 * keeps until then; arming it anew, by either command, replaces them.  They
 * are written to memory, as they are and in order, so that the last word can
 * be polled; or, where the address is of a page that a queue of the context is
 * mapped to, and all of them are in that page, appended to that queue, and are
 * commands.  The address is judged when the event is armed: one that is
 * neither stops the queue.  If it is neither any more when the event fires,
 * nothing is copied, and the card counts an error.
 *
 * The card's event processor does one copy after the other, as their events
 * fire; it takes nic.event.slot and the bytes at nic.event.rate for each.  (The
 * word of ELAN_ARM does not wait for it.)  A copy that its queue has no room
 * for waits, as do those to this queue that come after it, and packets that
 * would append there are turned away; copies to other places go on.  One that
 * can never fit stops that queue: it is longer than the queue is deep, or the
 * queue cannot go on without what the copy brings.  A stopped queue drops what
 * is copied to it.  A command that is longer than its queue is deep stops it.
 *
 * A broadcast is acknowledged once, when all its receivers have executed it;
 * if one of them turns it away, it is sent to all again, and those that have
 * executed it do not do so twice.
 *
 * In a packet a get stands alone, but for events; these are set when all its
 * writes are in memory, wherever they stand.
 *
 * A test stands before all else in its packet, which has no other one, and no
 * get.  The receiver compares the word at the address, a multiple of eight in
 * the packet's context, with the value.  Where that holds, the rest is executed
 * and acknowledged.  Where not, nothing of it is, and never will be: the sender
 * is told so, and does not try again.  From the test to the last write no
 * other packet's write comes between, so a test and a write of the same word
 * are one step; what the node's own cores and events write may.  A packet that
 * is sent again is not tested again where its node has done that before.
 *
 * Of a broadcast with a test each node judges for itself and executes it or
 * not; the sender is told yes where all say so, and no where one says no.
 *
 * A guard looks at what became of the queue's packets since the last one.
 * After ELAN_IF_YES the next command, a packet as a whole, is skipped where a
 * test of them said no; after ELAN_IF_NO where none did.
 *
 * The card's thread processor runs one thread at a time, of code that the
 * queue's context has loaded (weft/elan.h); one that is not loaded stops the
 * queue.  A thread that is started stands behind those that are ready.  Where
 * there are too many, the command waits in its queue.
 */
#ifndef WEFT_ELAN4_H
#define WEFT_ELAN4_H

#include <stdint.h>

enum {
	ELAN_QUEUES = 8192,
	ELAN_EVENTS = 65536,
	ELAN_CONTEXTS = 16384, /* QSN-N39 */
	ELAN_BLOCK = 128, /* bytes of data in a transaction, at most */
	ELAN_BLOCKS = 4, /* such transactions in a packet */
	ELAN_PACKET = ELAN_BLOCK * ELAN_BLOCKS,
	ELAN_PAGE = 4096, /* of a command queue */
	ELAN_WINDOW = 1024, /* how far writes may run ahead (QSN-G23) */
	ELAN_DMA_WORDS = 7,
	ELAN_COPY_MOST = 2048, /* bytes that an event copies (QSN-N37) */
	ELAN_REGISTERS = 6, /* that a thread is started with */
	ELAN_CODES = 1024, /* numbers of code, of each context */
};

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
	ELAN_COMMANDS,
};

/* What a test says of a word and a value; numbers without a sign. */
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

/* What a queue may do (QSN-G10). */
enum elan_right {
	ELAN_MAY_STEN = 1,
	ELAN_MAY_DMA = 2,
	ELAN_MAY_STORE = 4,
	ELAN_MAY_EVENT = 8,
	ELAN_MAY_INTERRUPT = 16,
	ELAN_MAY_BROADCAST = 32,
	ELAN_MAY_THREAD = 64,
	ELAN_MAY_ALL = 127,
};

/* Depths of a queue: 1, 8, 64 and 512 KB (QSN-G9). */
enum elan_depth { ELAN_1K, ELAN_8K, ELAN_64K, ELAN_512K, ELAN_DEPTHS };

/* Why a queue is stopped. */
enum elan_error {
	ELAN_FINE,
	ELAN_ERROR_OVERFLOW, /* written beyond its depth */
	ELAN_ERROR_WINDOW, /* written too far ahead */
	ELAN_ERROR_COMMAND, /* one that cannot be */
	ELAN_ERROR_RIGHT, /* one that it may not use */
	ELAN_ERROR_ADDRESS, /* outside its context's memory */
	ELAN_ERROR_REFUSED, /* the receiver has no such context or address */
	ELAN_ERROR_RETRIES, /* too many */
	ELAN_ERRORS,
};

/* A DMA's descriptor: with its command 64 bytes, one burst (QSN-G12). */
struct elan_dma {
	uint64_t bytes;
	uint64_t cookie; /* software's own */
	uint64_t destination; /* node, as a process number */
	uint64_t from, to; /* addresses */
	uint64_t source_event, target_event; /* or 0 */
};

/* What a thread on the card runs, with what its registers are at first. */
typedef void elan_code(const uint64_t reg[ELAN_REGISTERS]);

static inline uint64_t elan_word(
	enum elan_command c, uint64_t low, uint64_t high)
{
	return (uint64_t)c | low << 16 | high << 32;
}

#endif
