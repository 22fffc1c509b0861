/*
 * QsNetII's programming interface: puts, gets, tests, DMAs and broadcasts by
 * command queues, and events that tell of completion.  The functions are
 * called from a program (weft/program.h) and work on the node that it runs
 * on.
 *
 * Addresses are of the nodes' memories, and a program names another process
 * by its node.  A program has no pointers into that memory: it reads and
 * writes it by the functions at the end.  What another node writes to, its
 * program has opened by opening a queue; packets for one that has not yet are
 * refused.
 *
 * Time.  A call that says nothing of it takes none.  One that sends commands
 * takes as long as its stores need on the host's bus, after what waits there,
 * and waits while the queue is full; puts, gets, tests, DMAs and broadcasts
 * take nic.software.command before, DMAs also nic.software.dma before and
 * nic.software.dma-after afterwards.  It returns when the bus has taken all.
 * A further CPU's stores and loads have a longer way (nic.cpus, nic.*.hop): a
 * thread n runs on CPU n % nic.cpus.
 *
 * Errors.  Where a call returns int that is 0, or the error number of what
 * was wrong, and then nothing was sent: EBADF for a queue that is not open,
 * EINVAL for a number that does not fit its command, an event from
 * ELAN_EVENTS on say, EFAULT for bytes to be read that this node does not
 * have.  All else the card judges, later: a command that cannot be, a node
 * that there is not, an address that the other side does not have, stop the
 * queue (elan_cq_error()) and no other.  What is sent to a stopped queue is
 * lost, and events that it would have set do not fire: who waits for one by
 * elan_wait_event() learns of it.
 *
 * Ownership.  Structs are the caller's, and no call keeps a pointer.  A queue's
 * was filled in by elan_cq_open() before anything else is done with it.  What a
 * put is given may change when it returns; a DMA reads memory later, until
 * its source event has fired.  Threads that share a queue lock it.
 *
 * Called from outside a program, or on a machine without an Elan4, any of
 * these is an internal error, see weft/program.h.
 */
#ifndef WEFT_ELAN_H
#define WEFT_ELAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/elan4.h"
#include "weft/program.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- command queues --- */

enum { ELAN_CQ_WORDS = 80 }; /* more than a packet takes */

/* A command queue, as its owner knows it: left alone between calls. */
struct elan_cq {
	uint32_t id;
	uint64_t stored; /* bytes, ever */
	weft_time free_at; /* the bus has taken what was stored */
	uint32_t n; /* words that wait to be stored */
	uint64_t word[ELAN_CQ_WORDS];
};

/*
 * Opens queue id, below ELAN_QUEUES, for the program's job: context 1, all of
 * memory.  rights are bits of enum elan_right.  EINVAL for what cannot be,
 * EBUSY for a queue that is open; *q is then no queue, for which all calls
 * return EBADF or, those that close, restart or map one, EINVAL.
 */
int elan_cq_open(
	struct elan_cq *q, uint32_t id, enum elan_depth depth, uint32_t rights);
/* EINVAL where it is not open, EBUSY while the card is at work on it. */
int elan_cq_close(struct elan_cq *q);
/*
 * Lets a queue go on, with nothing in it, that the card has stopped.  EINVAL
 * where it is not open, EBUSY where it is not stopped, or where the card still
 * is at work on what was sent.
 */
int elan_cq_restart(struct elan_cq *q);
/*
 * Why the card has stopped a queue; ELAN_FINE where it has not, or the queue
 * is not open.  What was sent just now may yet stop it.
 */
enum elan_error elan_cq_error(const struct elan_cq *q);
/* In a few words; "unknown" where there is no such error.  Static. */
const char *elan_error_name(enum elan_error error);

/*
 * Lets packets and events append to the queue: what nodes put into the page at
 * an address, or events copy there, whole words, is taken for commands,
 * wherever in the page it goes.
 * The address is a multiple of ELAN_PAGE, beyond the memory
 * (elan_memory_bytes()).  EINVAL where it is not, or the queue is not open;
 * EBUSY where the queue or the address has another.  Closing ends it.  Who has
 * mapped a queue sends nothing through it: its own stores would not know where
 * the end is, and stop it.
 */
int elan_cq_map(struct elan_cq *q, uint64_t address);

/*
 * Sends words as they are, up to ELAN_CQ_WORDS (EINVAL beyond): any commands
 * of weft/elan4.h, whole, or parts of a packet in several calls.  The card
 * judges.
 */
int elan_issue(struct elan_cq *q, const uint64_t *words, uint32_t n);

/* --- events --- */

/*
 * Arms an event, 1 or above: after count has been taken away from it, value
 * is written to the word at address, a multiple of eight.  A count of 0
 * disarms it.  What else there is to be said of events is in weft/elan4.h.
 */
int elan_arm(struct elan_cq *q, uint32_t event, uint64_t count,
	uint64_t address, uint64_t value);

/*
 * Arms an event to copy bytes instead, 8 to ELAN_COPY_MOST, whole words, which
 * the card keeps until it fires.  They go to memory, or, where an address is
 * of a page that elan_cq_map() has given to a queue, are commands that the card
 * appends to that queue: so one operation's end starts others, and no CPU has
 * to see it.  EINVAL also for other lengths, and for more than fit into q,
 * with 24 bytes besides.
 */
int elan_arm_copy(struct elan_cq *q, uint32_t event, uint64_t count,
	uint64_t to, const void *data, uint32_t bytes);

/* Takes count away from an event of the node's own; of 0 and of one that is
 * not armed, nothing. */
int elan_set(struct elan_cq *q, uint32_t event, uint32_t count);

/* --- puts, broadcasts, gets --- */

/*
 * Writes bytes into another node's memory by short packets.  Where they are
 * not 0, target_event of that node is set by the bytes that have come, and
 * source_event of this one by 1 for each packet acknowledged.  Without bytes a
 * packet goes, too, and sets target_event by 1.  Needs ELAN_MAY_STEN.
 */
int elan_put(struct elan_cq *q, uint32_t node, uint64_t to, const void *data,
	uint64_t bytes, uint32_t target_event, uint32_t source_event);
/* The same of bytes in this node's memory. */
int elan_put_from(struct elan_cq *q, uint32_t node, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t target_event, uint32_t source_event);
/* How many packets that takes. */
uint64_t elan_put_packets(uint64_t bytes);

/*
 * Writes bytes to the same address of all nodes from first to last, which may
 * be this one, too, by short packets that the network copies on their way.
 * Where they are not 0, target_event of each of these nodes is set by the bytes
 * that have come, and source_event of this one by 1 for each packet that all
 * have acknowledged.  Needs a queue with ELAN_MAY_BROADCAST, which stops where
 * there are no such nodes, or where one of them refuses.
 */
int elan_broadcast(struct elan_cq *q, uint32_t first, uint32_t last,
	uint64_t to, const void *data, uint64_t bytes, uint32_t target_event,
	uint32_t source_event);
/* The same of bytes in this node's memory. */
int elan_broadcast_from(struct elan_cq *q, uint32_t first, uint32_t last,
	uint64_t to, uint64_t from, uint64_t bytes, uint32_t target_event,
	uint32_t source_event);

/*
 * Reads 1 to ELAN_PACKET bytes of another node's memory into this one's; event
 * is set by the bytes that have come.  None and more stop the queue, and from
 * 64 KiB on are EINVAL.  Needs ELAN_MAY_STEN.
 */
int elan_get(struct elan_cq *q, uint32_t node, uint64_t from, uint64_t to,
	uint32_t bytes, uint32_t event);

/* --- tests --- */

/*
 * What is asked of another node: whether the word at an address of its memory,
 * a multiple of eight, is to a value as an operation says.  An event of this
 * node is set by 1 when the answer is there: yes_event or no_event, or none
 * where that is 0.
 *
 * A node answers when it is asked.  Where the network loses a question or an
 * answer, or a node has no time for it, all are asked again, but each tests
 * once.  A node that refuses, as the address is none of its, stops the queue,
 * and neither event is set.
 */
struct elan_question {
	uint64_t at, value;
	enum elan_operation operation;
	uint32_t yes_event, no_event;
};

/* Asks a node, by one short packet.  EINVAL for an operation that there is
 * not.  Needs ELAN_MAY_STEN. */
int elan_test(
	struct elan_cq *q, uint32_t node, const struct elan_question *ask);
/*
 * The global query: asks all nodes from first to last, which may be this one,
 * too, and has one answer for all: yes where all say yes.  Needs
 * ELAN_MAY_BROADCAST.
 */
int elan_query(struct elan_cq *q, uint32_t first, uint32_t last,
	const struct elan_question *ask);
/*
 * Asks, and where the answer is yes writes up to ELAN_PACKET bytes (EINVAL
 * beyond) into that node's memory and sets its target_event as elan_put() does.
 * No other packet's write comes between: a test for 0 and a write of 1 to the
 * same word takes a lock.
 */
int elan_put_if(struct elan_cq *q, uint32_t node,
	const struct elan_question *ask, uint64_t to, const void *data,
	uint32_t bytes, uint32_t target_event);
/* The same of a range of nodes: those that say yes are written to, whatever
 * the others say. */
int elan_broadcast_if(struct elan_cq *q, uint32_t first, uint32_t last,
	const struct elan_question *ask, uint64_t to, const void *data,
	uint32_t bytes, uint32_t target_event);

/* --- DMAs --- */

/*
 * Starts a DMA, of any length; its source event is set by 1, its target event
 * by bytes.  Needs ELAN_MAY_DMA.  The card looks at all of it: no EINVAL, no
 * EFAULT.
 */
int elan_dma(struct elan_cq *q, const struct elan_dma *d);

/*
 * What a choice between puts and a DMA should save: time until the bytes are
 * there, or the CPU's.  A put takes the CPU as long as its stores do, a DMA
 * always the same (QSN-F83).
 */
enum elan_goal { ELAN_FOR_LATENCY, ELAN_FOR_CPU };

/* What calls take the CPU, where the bus is free; ps.  INT64_MAX for puts of
 * more than 4 GiB. */
weft_time elan_put_time(uint64_t bytes);
weft_time elan_dma_time(void);
/* Whether elan_write() would take the DMA engine: by what both would take on an
 * idle machine of these parameters. */
bool elan_write_is_dma(uint64_t bytes, enum elan_goal goal);
/* How often it sets its source event. */
uint64_t elan_write_acks(uint64_t bytes, enum elan_goal goal);
/* Writes bytes of this node's memory, by elan_put_from() or elan_dma(), with
 * the same errors in both cases. */
int elan_write(struct elan_cq *q, uint32_t node, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t target_event, uint32_t source_event,
	enum elan_goal goal);

/* --- commands as words --- */

/*
 * What elan_dma() and elan_put(), of up to ELAN_PACKET bytes, would send: for
 * elan_arm_copy(), elan_issue(), or a put into a page that is mapped.  Each
 * returns how many words it has written, 1 + ELAN_DMA_WORDS and up to
 * ELAN_PUT_WORDS; 0, and nothing written, for what does not fit.  Callers may
 * be outside of programs.
 */
enum { ELAN_PUT_WORDS = 5 + ELAN_PACKET / 8 };

uint32_t elan_dma_words(uint64_t *words, const struct elan_dma *d);
uint32_t elan_put_words(uint64_t *words, uint32_t node, uint64_t to,
	const void *data, uint32_t bytes, uint32_t target_event,
	uint32_t source_event);

/* --- waiting --- */

/*
 * A loop that loads the word at an address until it is a value: it looks every
 * nic.software.poll-period and goes on nic.software.poll-load after the look
 * that saw it.  When it first looks is random, within one period.  False, at
 * once, where there is no word at that address.
 */
bool elan_wait_word(uint64_t at, uint64_t value);
/* The same of one that an event writes, or until the card has stopped the
 * queue: false then, and where the queue is not open. */
bool elan_wait_event(const struct elan_cq *q, uint64_t at, uint64_t value);

/* --- threads on the card --- */

/*
 * The card runs threads beside the node's programs.  A thread is a C function
 * that a program has loaded under a number; a command starts it, of whoever
 * appends that to a queue: a program, a packet that comes to a mapped queue,
 * another thread.  It belongs to the job of that queue.  One thread runs at a
 * time, until it waits or ends; the next one is the one that has been ready
 * for longest, and runs nic.thread.swap later.
 *
 * Its C code takes no time but by the calls below, which are for threads alone
 * and hold the processor while they take it; nic.thread.clock is a cycle.  Of
 * other calls a thread may use weft_node(), weft_nodes() and weft_now(): those
 * for programs, and those below called by a program, end the run as an
 * internal error.  A thread has a stack as programs do, and knows what its
 * registers and its node's memory tell it.
 *
 * A thread that waits for ever does not keep the run from ending, and no
 * report tells of it.
 */

/*
 * For programs: loads a function for this node's threads under a number below
 * ELAN_CODES, in place of what was there; NULL takes that away.  Threads that
 * have been started keep theirs.  EINVAL.
 */
int elan_thread_load(uint32_t code, elan_code *run);
/* For programs: starts one by a command.  Needs ELAN_MAY_THREAD. */
int elan_thread_start(
	struct elan_cq *q, uint32_t code, const uint64_t reg[ELAN_REGISTERS]);

/* Computes for so many cycles. */
void elan_thread_work(uint32_t cycles);

/*
 * Appends commands to the queue that is mapped at an address (elan_cq_map()):
 * n words, a word a cycle, all in that page; the card begins with them when
 * the last one is there.  So a thread sends packets, starts DMAs and threads,
 * and sets events.  Waits, and lets others run, while the queue has no room.
 * EINVAL for no words and for more than it could ever have room for, EFAULT
 * where the job has no queue there.  The queue can not be closed while
 * somebody waits for it.  A stopped queue takes all, and drops it.
 */
int elan_thread_append(uint64_t address, const uint64_t *words, uint32_t n);

/*
 * Until a word of the node's memory, at a multiple of eight, has a value: a
 * cycle where it has, else others run until it is written.  Who is woken stands
 * behind those that are ready.  EFAULT.
 */
int elan_thread_wait_word(uint64_t at, uint64_t value);

/*
 * Reads 1 to ELAN_BLOCK bytes of the node's memory, which takes
 * nic.dma.read-latency and then the host's bus; writes a word to a multiple
 * of eight, which takes a cycle, and its way over the bus after that.  EINVAL
 * for other numbers, EFAULT where there is no such memory.
 */
int elan_thread_read(uint64_t at, void *to, uint32_t bytes);
int elan_thread_write(uint64_t at, uint64_t value);

/* --- the node's memory --- */

uint64_t elan_memory_bytes(void);
/* Bytes; false, and nothing done, where it does not have all of them. */
bool elan_load_bytes(uint64_t at, void *to, size_t n);
bool elan_store_bytes(uint64_t at, const void *from, size_t n);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
