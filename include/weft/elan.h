/*
 * QsNetII's programming interface: puts, gets, tests, DMAs and broadcasts by
 * command queues, and events that report completion.  The functions are called
 * from a program (weft/program.h) and work on the node that it runs on.  The
 * man page is weft-elan(7).
 *
 * Addresses are virtual, of 64 bits: a process has its part of the node's
 * memory at its own addresses, card memory (elan_card_alloc()), and what it
 * takes at others (elan_vm_alloc()).  A program has no pointers into that
 * memory: it reads and writes it with the functions at the end of this file.  A
 * process opens its memory to others by opening a queue; packets that arrive
 * before are refused.
 *
 * Processes.  A program names another process of its job by a rank: process p
 * of the job's i-th node is rank i * weft_n_processes() + p.  With one process
 * per node, and one job, ranks are nodes.  Process p of a node has context
 * 1 + p, an equal part of the node's memory (elan_memory_at()), and its own
 * queues and code.  The card looks up a packet's rank in a table in its memory,
 * which only the driver writes, and which leads to a node and a context there.
 * So no process can reach the memory of another job, and packets cannot reach
 * memory that the process at their rank does not have.
 *
 * Time.  A call takes no time unless its description says so.  A call that
 * sends commands takes the time of its stores on the host's bus, after earlier
 * stores, and waits while the queue is full.  Puts, gets, tests, DMAs and
 * broadcasts take nic.software.command before, DMAs also nic.software.dma
 * before and nic.software.dma-after afterwards.  A call returns when the bus
 * has taken all its stores.  Thread n runs on CPU n % nic.cpus; stores and
 * loads of CPUs other than the first have a longer path (nic.*.hop).
 *
 * Errors.  A call that returns int returns 0, or an error number, and then
 * nothing was sent: EBADF for a queue that is not open, EACCES for a queue that
 * another process has opened, whose page is not mapped here, EINVAL for a
 * number that does not fit the command, for example an event that has no name,
 * EFAULT for bytes to be read that are not in this process's memory.  The card
 * detects other errors later: an invalid command, a rank that does not
 * exist, an address outside of the other process's memory.  They stop the queue
 * (elan_cq_error()) and no other.  Commands to a stopped queue are lost, and
 * events that they would have set do not fire: elan_wait_event() reports this.
 *
 * Ownership.  Structs belong to the caller, and no call keeps a pointer.  A
 * queue must have been opened by elan_cq_open() before any other use.  The data
 * of a put may change when the call returns; a DMA reads memory later, until
 * its source event has fired.  Threads that share a queue must lock it.
 *
 * Calling any of these from outside a program, or on a machine without an
 * Elan4, is an internal error, see weft/program.h.
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

/* --- processes --- */

/* The rank of the program's process, and the number of ranks of its job. */
uint32_t elan_rank(void);
uint32_t elan_ranks(void);

/* --- command queues --- */

enum { ELAN_CQ_WORDS = 80 }; /* more than a packet needs */

/* A command queue.  Programs must not change it. */
struct elan_cq {
	uint32_t id;
	uint64_t stored; /* bytes, since it was opened */
	weft_time free_at; /* when the bus has taken all stores */
	uint32_t n; /* number of words not yet stored */
	bool is_relaxed; /* some of them may leave early */
	uint64_t word[ELAN_CQ_WORDS];
};

/*
 * Opens queue id, below ELAN_QUEUES, for the program's process and its memory.
 * The processes of a node share these numbers.  rights are bits of enum
 * elan_right.  It takes its depth of the card's memory, and a process's first
 * queue 16 bytes for each rank.  EINVAL for invalid arguments, ENOMEM if the
 * card's memory is full, EBUSY for a queue that is open; *q is then not a
 * queue: calls that close, restart or map it return EINVAL, all others EBADF.
 */
int elan_cq_open(
	struct elan_cq *q, uint32_t id, enum elan_depth depth, uint32_t rights);
/* EINVAL if it is not open, EACCES, EBUSY while the card works on it. */
int elan_cq_close(struct elan_cq *q);
/*
 * Restarts a queue that the card has stopped, with nothing in it.  EINVAL if it
 * is not open, EBUSY if it is not stopped, or if the card still works on
 * earlier commands.
 */
int elan_cq_restart(struct elan_cq *q);
/*
 * Returns the reason for which the card has stopped a queue; ELAN_FINE if it
 * has not, or if the queue is not this process's.  Commands that were just sent
 * may still stop it.
 */
enum elan_error elan_cq_error(const struct elan_cq *q);
/* Describes an error; "unknown" for other numbers.  A static string. */
const char *elan_error_name(enum elan_error error);

/*
 * Maps a queue to the page at an address, so that packets and events can append
 * to it: whole words that nodes put into the page, or that events copy there,
 * are commands, whatever their position in the page.  The address is a multiple
 * of ELAN_PAGE, beyond the memory (elan_memory_bytes()).  EINVAL if it is not,
 * or if the queue is not open; EBUSY if the queue has another address, or the
 * address another queue.  Closing the queue ends the mapping.  The program that
 * has mapped a queue must not send through it: its own stores would not know
 * the end of the queue, and would stop it.
 */
int elan_cq_map(struct elan_cq *q, uint64_t address);

/*
 * Sends words as they are, up to ELAN_CQ_WORDS (EINVAL beyond): any commands of
 * weft/elan4.h, whole, or parts of a packet in several calls.  The card checks
 * them.
 */
int elan_issue(struct elan_cq *q, const uint64_t *words, uint32_t n);

/* --- events --- */

/*
 * Arms an event, 1 or above: when count has been subtracted from it, value is
 * written to the word at address, a multiple of eight.  A count of 0 disarms
 * it.  An event is a number below ELAN_EVENTS, or elan_event_at() of an address
 * in card memory that the program has taken: see weft/elan4.h for their rules.
 */
int elan_arm(struct elan_cq *q, uint32_t event, uint64_t count,
	uint64_t address, uint64_t value);

/*
 * Arms an event that copies 8 to ELAN_COPY_MOST bytes instead, in whole words,
 * which the card keeps until the event fires.  They go to memory or, if the
 * address is in a page to which elan_cq_map() has mapped a queue, are commands
 * that the card appends to that queue.  So the end of one operation can start
 * others without a CPU.  EINVAL also for other lengths, and for more bytes than
 * fit into q together with 24 others, and for an event without a number.
 */
int elan_arm_copy(struct elan_cq *q, uint32_t event, uint64_t count,
	uint64_t to, const void *data, uint32_t bytes);
/*
 * Arms an event that copies as many bytes from an address of this node's or its
 * card's memory, a multiple of eight; they are read when the event fires.  So
 * other nodes can put data into commands that a program has prepared in card
 * memory, and the last put has the card execute them.  EINVAL also for other
 * lengths and addresses.
 */
int elan_arm_copy_from(struct elan_cq *q, uint32_t event, uint64_t count,
	uint64_t to, uint64_t from, uint32_t bytes);

/* Subtracts count from an event of this node.  No effect if count is 0 or the
 * event is not armed. */
int elan_set(struct elan_cq *q, uint32_t event, uint32_t count);

/* --- puts, broadcasts, gets --- */

/*
 * Writes bytes into another process's memory by short packets.  Unless they are
 * 0, target_event of that node is set by the number of bytes that have arrived,
 * and source_event of this node by 1 for each acknowledged packet.  Without
 * bytes a packet is sent, too, and sets target_event by 1.  Needs
 * ELAN_MAY_STEN.
 */
int elan_put(struct elan_cq *q, uint32_t rank, uint64_t to, const void *data,
	uint64_t bytes, uint32_t target_event, uint32_t source_event);
/* The same for bytes in this node's memory. */
int elan_put_from(struct elan_cq *q, uint32_t rank, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t target_event, uint32_t source_event);
/* Number of packets of such a put. */
uint64_t elan_put_packets(uint64_t bytes);

/*
 * Writes bytes to the same address of one process of each node from that of
 * rank first to that of rank last, which may include this one, by short packets
 * that the network copies.  Both ranks must have the same context, which all
 * these packets have: with several processes per node they differ by a multiple
 * of weft_n_processes(), and processes in between with other contexts get
 * nothing. Unless they are 0, target_event of each of these nodes is set by the
 * number of bytes that have arrived, and source_event of this node by 1 for
 * each packet that all have acknowledged.  Needs a queue with
 * ELAN_MAY_BROADCAST, which stops if these ranks do not exist, if nodes of
 * other jobs are between them, or if one of the nodes refuses.
 */
int elan_broadcast(struct elan_cq *q, uint32_t first, uint32_t last,
	uint64_t to, const void *data, uint64_t bytes, uint32_t target_event,
	uint32_t source_event);
/* The same for bytes in this node's memory. */
int elan_broadcast_from(struct elan_cq *q, uint32_t first, uint32_t last,
	uint64_t to, uint64_t from, uint64_t bytes, uint32_t target_event,
	uint32_t source_event);

/*
 * Reads 1 to ELAN_PACKET bytes of another process's memory into this one's;
 * event is set by the number of bytes that have arrived. 0 bytes, or more, stop
 * the queue; from 64 KiB they return EINVAL.  Needs ELAN_MAY_STEN.
 */
int elan_get(struct elan_cq *q, uint32_t rank, uint64_t from, uint64_t to,
	uint32_t bytes, uint32_t event);

/* --- tests --- */

/*
 * A test of a word at an address of another node's memory, a multiple of eight:
 * an operation compares it with a value.  When the answer arrives, an event of
 * this node is set by 1: yes_event or no_event; 0: none.
 *
 * A node answers at once.  If the network loses a question or an answer, or a
 * node is busy, all nodes are asked again, but each tests only once.  A node
 * that refuses, because the address is not in its memory, stops the queue, and
 * neither event is set.
 */
struct elan_question {
	uint64_t at, value;
	enum elan_operation operation;
	uint32_t yes_event, no_event;
};

/* Tests a word of one node, by one short packet.  EINVAL for an invalid
 * operation.  Needs ELAN_MAY_STEN. */
int elan_test(
	struct elan_cq *q, uint32_t rank, const struct elan_question *ask);
/*
 * The global query: tests a word of all nodes from first to last, which may
 * include this one, with one answer for all: yes if all tests succeed.  Needs
 * ELAN_MAY_BROADCAST.
 */
int elan_query(struct elan_cq *q, uint32_t first, uint32_t last,
	const struct elan_question *ask);
/*
 * Tests a word; if the test succeeds, writes up to ELAN_PACKET bytes (EINVAL
 * beyond) into that node's memory and sets its target_event like elan_put().
 * No other packet writes in between: a test for 0 and a write of 1 to the same
 * word take a lock.
 */
int elan_put_if(struct elan_cq *q, uint32_t rank,
	const struct elan_question *ask, uint64_t to, const void *data,
	uint32_t bytes, uint32_t target_event);
/* The same for a range of nodes: the bytes are written to those whose test
 * succeeds, whatever the result of the others. */
int elan_broadcast_if(struct elan_cq *q, uint32_t first, uint32_t last,
	const struct elan_question *ask, uint64_t to, const void *data,
	uint32_t bytes, uint32_t target_event);

/* --- DMAs --- */

/*
 * Starts a DMA of any length.  Its source event is set by 1, its target event
 * by the number of bytes.  Needs ELAN_MAY_DMA.  The card checks all of it: no
 * EINVAL, no EFAULT.
 */
int elan_dma(struct elan_cq *q, const struct elan_dma *d);

/*
 * The goal of a choice between puts and a DMA: to minimise the time until the
 * bytes have arrived, or the time of the CPU.  A put takes the CPU as long as
 * its stores do; a DMA always takes the same time (QSN-F83).
 */
enum elan_goal { ELAN_FOR_LATENCY, ELAN_FOR_CPU };

/* CPU time of the calls on an idle bus, ps.  INT64_MAX for puts of more than 4
 * GiB. */
weft_time elan_put_time(uint64_t bytes);
weft_time elan_dma_time(void);
/* Whether elan_write() would use a DMA: computed from the times of both on an
 * idle machine with these parameters. */
bool elan_write_is_dma(uint64_t bytes, enum elan_goal goal);
/* Number of times that elan_write() sets its source event. */
uint64_t elan_write_acks(uint64_t bytes, enum elan_goal goal);
/* Writes bytes of this node's memory by elan_put_from() or elan_dma(), with the
 * same errors in both cases. */
int elan_write(struct elan_cq *q, uint32_t rank, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t target_event, uint32_t source_event,
	enum elan_goal goal);

/* --- input queues --- */

/*
 * Opens an input queue of this process, whose numbers are its own.  Any process
 * of the job can then append messages to it, without an address.  Threads take
 * them out (elan_thread_wait_queue()).  It takes card memory: slots * (bytes +
 * 32), in units of 64.  EINVAL, EBUSY if it is open, ENOMEM.
 */
int elan_iq_open(const struct elan_iq_options *o);
/* EINVAL if it is not open, EBUSY while it holds messages or threads wait for
 * it. */
int elan_iq_close(uint32_t id);

/* A message for an input queue. */
struct elan_letter {
	uint32_t queue;
	uint64_t tag;
	const void *data; /* or NULL: */
	uint64_t from; /* an address in this node's memory */
	uint32_t bytes; /* up to ELAN_SLOT_MOST */
	uint16_t number; /* of the sender's messages */
	uint8_t kind; /* 0 to 15 */
	uint32_t source_event; /* set by 1 for each acknowledged packet */
};

/*
 * Appends a message to an input queue of another process, by short packets like
 * elan_put().  EINVAL, EFAULT as there, and EINVAL for other numbers.  If the
 * receiver has no such queue, or its slots are shorter, this queue stops.
 * Needs ELAN_MAY_STEN.  A message of up to ELAN_HERE_MOST bytes for the own
 * process, without an event, does not leave the card.
 */
int elan_enqueue(struct elan_cq *q, uint32_t rank, const struct elan_letter *l);
/* The same to the processes that elan_broadcast() would reach; needs
 * ELAN_MAY_BROADCAST. */
int elan_enqueue_all(struct elan_cq *q, uint32_t first, uint32_t last,
	const struct elan_letter *l);

/* --- commands as words --- */

/*
 * The words that elan_dma(), and elan_put() of up to ELAN_PACKET bytes, would
 * send: for elan_arm_copy(), elan_issue(), or a put into a mapped page.  Each
 * returns the number of words that it has written, 1 + ELAN_DMA_WORDS and up to
 * ELAN_PUT_WORDS; 0 if the arguments do not fit, with nothing written.  They
 * may be called from outside of programs.
 */
enum { ELAN_PUT_WORDS = 7 + ELAN_PACKET / 8 };

uint32_t elan_dma_words(uint64_t *words, const struct elan_dma *d);
uint32_t elan_put_words(uint64_t *words, uint32_t rank, uint64_t to,
	const void *data, uint32_t bytes, uint32_t target_event,
	uint32_t source_event);

/* --- waiting --- */

/*
 * Waits until the word at an address has a value, in a loop: it polls every
 * nic.software.poll-period, and the program continues nic.software.poll-load
 * after the poll that sees the value.  The first poll is at a random time
 * within one period.  False, at once, if there is no word at that address.
 */
bool elan_wait_word(uint64_t at, uint64_t value);
/* The same for a word that an event writes.  False if the card has stopped the
 * queue, or if the queue is not open. */
bool elan_wait_event(const struct elan_cq *q, uint64_t at, uint64_t value);

/* --- interrupts --- */

/*
 * Sets the handler for ELAN_INTERRUPT commands of this process on this node;
 * NULL removes it.  An interrupt takes nic.interrupt of CPU 0, whose programs
 * lose that time, one after the other; then the handler runs, and can write
 * words of the node's memory for which programs wait.  It takes no more time,
 * and must not make other calls: it is no program.  Without a handler the
 * interrupt takes the same time.  arg is borrowed until the end of the run.
 */
int elan_handle(elan_handler *run, void *arg);
/* For handlers: writes a word; false if there is none at that address. */
bool elan_handler_write(
	const struct elan_interrupt *i, uint64_t at, uint64_t word);

/* --- threads on the card --- */

/*
 * The card runs threads in addition to the node's programs.  A thread is a C
 * function that a program has loaded under a number.  A command starts it,
 * appended to a queue by a program, a packet to a mapped queue, or another
 * thread.  It belongs to the job of that queue.  One thread runs at a time,
 * until it waits or ends; the next one is the thread that has been ready for
 * longest, and runs nic.thread.swap later.
 *
 * Its C code takes time only in the calls below, which are for threads only and
 * occupy the processor meanwhile; nic.thread.clock is a cycle.  Of other calls
 * a thread may use only weft_node(), weft_nodes() and weft_now(): calls for
 * programs in a thread, and the calls below in a program, are internal errors
 * and end the run.  A thread has a stack like programs, and gets its data from
 * its registers and its node's memory.
 *
 * A run can end while threads wait, and no report mentions them.
 */

/*
 * For programs: loads a function for this process's threads under a number
 * below ELAN_CODES, and replaces the previous one; NULL removes it.  Threads
 * that have been started keep their function.  Its code has ELAN_CODE_BYTES,
 * which take card memory; the call takes the time of their stores on the host's
 * bus.  EINVAL, ENOMEM.
 */
int elan_thread_load(uint32_t code, elan_code *run);
/* The same for code of a length: whole words, up to ELAN_CODE_MOST. */
int elan_thread_load_code(uint32_t code, elan_code *run, uint32_t bytes);
/* For programs: starts a thread by a command.  Needs ELAN_MAY_THREAD. */
int elan_thread_start(
	struct elan_cq *q, uint32_t code, const uint64_t reg[ELAN_REGISTERS]);

/* Computes for a number of cycles. */
void elan_thread_work(uint32_t cycles);

/*
 * Appends commands to the queue that is mapped at an address (elan_cq_map()): n
 * words, one per cycle, all in that page.  The card executes them when the last
 * one is in the queue.  So a thread can send packets, start DMAs and threads,
 * and set events.  While the queue has no room, the call waits and lets other
 * threads run.  EINVAL for no words and for more than the queue can ever hold,
 * EFAULT if the job has no queue there.  The queue cannot be closed while a
 * thread waits for it.  A stopped queue accepts all words and drops them.
 */
int elan_thread_append(uint64_t address, const uint64_t *words, uint32_t n);

/*
 * Waits until a word of the node's memory, at a multiple of eight, has a value.
 * Takes a cycle if it has; otherwise other threads run until it is written.  A
 * thread that is woken queues behind those that are ready.  EFAULT.
 */
int elan_thread_wait_word(uint64_t at, uint64_t value);

/*
 * Interrupts the host: nic.interrupt, on CPU 0, whose programs lose that time,
 * one after the other.  Takes a cycle, and returns a number with which a thread
 * can wait until the driver has handled it.  No handler is told.
 */
uint32_t elan_thread_interrupt(void);
void elan_thread_wait_interrupt(uint32_t number);

/*
 * Waits for a message in one of the n input queues from first on, and takes it
 * out of the first of these that has one; *m describes it.  It stays in its
 * slot until it is freed.  Takes two loads of the card's memory if one is
 * there; otherwise other threads run, and the thread goes on nic.thread.swap
 * after the arrival of a message.  EINVAL if the job does not have all of these
 * queues; EIO for two bad bits in the slot.
 */
int elan_thread_wait_queue(uint32_t first, uint32_t n, struct elan_message *m);
/* Whether it would not have to wait.  Takes no time. */
bool elan_thread_has_message(uint32_t first, uint32_t n);
/* Describes a message that was taken earlier, and is not freed.  Takes no time.
 * EINVAL if there is none. */
int elan_thread_look(uint32_t queue, uint32_t slot, struct elan_message *m);
/* Frees a message's slot.  What the thread has written since it took or looked
 * at this message is the delivery, in time budgets.  Takes no time.  EINVAL. */
int elan_thread_free(uint32_t queue, uint32_t slot);
/*
 * Decide about a message of a queue that asks (struct elan_iq_options): accept
 * it, so that it is acknowledged, or send it back and free its slot, so that
 * its sender tries again by its back-off, for as long as it takes.  Of a
 * message of several packets the first one asks, and m->left are the bytes that
 * have not come; when it is accepted, it is in the queue once more as soon as
 * it is whole.  To free a message accepts it if it is whole, and sends it back
 * if not.  Take no time.  EINVAL if there is none that asks.
 */
int elan_thread_accept(uint32_t queue, uint32_t slot);
int elan_thread_reject(uint32_t queue, uint32_t slot);
/* Adds to a number that reports show.  Takes no time. */
void elan_thread_note(enum elan_figure what, uint32_t n);

/*
 * Copies bytes of the card's memory to the node's memory or the card's, at
 * nic.thread.block and in whole cycles, and longer if they are not in the
 * cache; the bus is asked for as soon as the first 64 bytes have been loaded,
 * and then for each 512.  The processor does not wait for the bus.  EINVAL for
 * no bytes, EFAULT for addresses outside of the job's memory, EIO for two bad
 * bits.
 */
int elan_thread_copy(uint64_t to, uint64_t from, uint32_t bytes);
/* The same for 1 to 512 bytes that the thread has itself: one burst. */
int elan_thread_write_block(uint64_t to, const void *from, uint32_t bytes);

/*
 * Read 1 to ELAN_BLOCK bytes of the node's memory, which takes
 * nic.dma.read-latency and then the host's bus; write a word to a multiple of
 * eight, which takes a cycle, and then crosses the bus.  Of the card's memory,
 * a word takes a cycle, and longer if it is not in the cache; two bad bits are
 * EIO.  EINVAL for other
 * numbers, EFAULT for addresses outside of the memory.
 */
int elan_thread_read(uint64_t at, void *to, uint32_t bytes);
int elan_thread_write(uint64_t at, uint64_t value);

/* Bytes of the node's memory, 1 to ELAN_BLOCK, and where they go. */
struct elan_fetch {
	uint64_t at;
	void *to;
	uint32_t bytes;
};

/*
 * Reads several parts of the node's memory, of which nic.thread.reads are under
 * way at a time; one begins in each cycle.  Returns when all are here, and
 * occupies the processor until then.  EINVAL for none and for other lengths,
 * EFAULT for addresses outside of the process's part of the node's memory, and
 * then nothing is read.
 */
int elan_thread_fetch(const struct elan_fetch *f, uint32_t n);

/*
 * Reads a block of the card's memory by one or both read ports of its cache, at
 * nic.cache.port each where it hits, and occupies the processor meanwhile.  The
 * bytes go to to, or nowhere if that is NULL.  EINVAL for no bytes and other
 * numbers of ports, EFAULT for addresses outside of the job's card memory, EIO
 * for a word with two bad bits.
 */
int elan_thread_read_block(
	uint64_t at, void *to, uint64_t bytes, uint32_t ports);

/* --- tagged ports --- */

/*
 * Messages with tags, which a thread on the receiver's card matches with
 * receives; no CPU has a part in that.  A process has a port, with the same
 * number for all of its job.  A receive names the sender's rank, or any, and a
 * tag; the bits of its mask must be equal in the message's tag.  Messages of
 * one sender match in the order in which they were sent.
 *
 * Up to nic.match.eager bytes are sent at once.  Messages that come before
 * their receive wait on the card, in nic.match.slots slots.  When three
 * quarters of these are taken, the oldest messages are moved to nic.match.spill
 * bytes of the node's memory; when that is full, too, senders have to wait.  Of
 * longer messages only a descriptor is sent; when it is matched, the sender's
 * card writes all bytes into the receiver's memory by a DMA.
 *
 * A message may have a data word, which its receiver gets beside its bytes.
 *
 * A port takes four command queues, input queues 2 * port and 2 * port + 1,
 * code ELAN_CODES - 1 - port, two pages of addresses, memory of the card, and a
 * part of the node's memory, which the program must not change.
 *
 * Calls take time like elan_put(), and half of nic.*.mpi each for a send, and
 * for the end of a receive.
 */
enum {
	ELAN_TPORTS = 64,
	ELAN_TPORT_QUEUES = 4, /* command queues of each */
	ELAN_TPORT_HANDLES = 65535, /* at most */
};

#define ELAN_TPORT_ANY UINT32_MAX /* as a rank */

enum elan_tport_flag {
	ELAN_TPORT_SYNC = 1, /* a send ends when it is matched, or later */
	ELAN_TPORT_CLAIM = 2, /* see elan_tport_peek() */
	ELAN_TPORT_DISCARD = 4,
	ELAN_TPORT_DATA = 8, /* there is a data word */
	ELAN_TPORT_LASTS = 16, /* a peek waits for a message */
};

/* A tagged port.  Programs must not change it. */
struct elan_tport {
	struct elan_cq queue, own, packets, dmas;
	uint32_t port, handles;
	uint64_t at, card; /* its memory, and the card's */
	uint64_t statuses, datas, numbers;
	uint32_t rank, n_ranks; /* the process's own; of its job */
	uint32_t made, free; /* handles: used ever, a free one */
	uint16_t records; /* number of the next one */
	bool is_open;
};

struct elan_tport_options {
	uint32_t port; /* below ELAN_TPORTS */
	uint32_t queue; /* the first of its command queues: none is open */
	/* Receives, peeks, and sends that are long or to be matched, which have
	 * not been waited for, at most; one more is taken. */
	uint32_t handles;
	uint64_t at; /* elan_tport_bytes() of memory, at a multiple of 64 */
};

/* What was received. */
struct elan_tport_status {
	uint64_t tag, bytes;
	uint32_t source;
	uint32_t flags; /* ELAN_TPORT_DATA */
	uint64_t data;
	uint32_t space;
};

/* What is sent, or to be received or found. */
struct elan_tport_message {
	uint64_t tag, mask, data;
	uint32_t rank, flags;
	/* Messages and receives of different spaces do not match: below 65536,
	 * EINVAL beyond.  A receive from 65024 on takes messages of all spaces
	 * that differ from it by a multiple of 512. */
	uint32_t space;
	uint64_t at, bytes;
};

uint64_t elan_tport_bytes(uint32_t handles);
/* EINVAL, EFAULT for invalid options; errors of elan_cq_open(),
 * elan_iq_open(), elan_card_alloc(). */
int elan_tport_open(struct elan_tport *t, const struct elan_tport_options *o);
/* Drops messages that have not been received.  EBADF; EBUSY if others still
 * send to it. */
int elan_tport_close(struct elan_tport *t);

/*
 * Sends bytes of this node's memory.  If *handle is 0 then, they may change
 * when the call returns; if not, when the handle has been waited for, which
 * takes until the receive has all of them.  EBADF if the port is not open,
 * EINVAL for a rank that does not exist, EFAULT, EAGAIN if all handles are
 * taken.
 */
int elan_tport_tx_start(struct elan_tport *t, uint32_t rank, uint64_t tag,
	uint64_t from, uint64_t bytes, uint32_t *handle);
/*
 * Begins a receive into this node's memory; *handle names it until it has been
 * waited for.  EBADF, EINVAL, EFAULT, EAGAIN as above.
 */
int elan_tport_rx_start(struct elan_tport *t, uint32_t rank, uint64_t tag,
	uint64_t mask, uint64_t to, uint64_t bytes, uint32_t *handle);
/*
 * Waits for the end of a receive or send, like elan_wait_word(); status may be
 * NULL.  0 at once for handle 0.  EMSGSIZE if the message was longer than the
 * receive: the first bytes are there, and status has its length.  ECANCELED.
 * EINVAL for no such handle, EIO if the port's queue has stopped.
 */
int elan_tport_wait(struct elan_tport *t, uint32_t handle,
	struct elan_tport_status *status);
/* The same by one look, which takes nic.software.poll-load: EINPROGRESS if it
 * has not ended. */
int elan_tport_test(struct elan_tport *t, uint32_t handle,
	struct elan_tport_status *status);
/* Begins to cancel a receive: the wait for it returns ECANCELED, or the message
 * if it was faster.  Without effect for sends.  EBADF, EINVAL. */
int elan_tport_cancel(struct elan_tport *t, uint32_t handle);
/* Describes the message that such a receive would get, and leaves it.  ENOMSG
 * if it has not come.  Waits for the card's answer.  EBADF, EINVAL, EAGAIN,
 * EIO. */
int elan_tport_probe(struct elan_tport *t, uint32_t rank, uint64_t tag,
	uint64_t mask, struct elan_tport_status *status);

/*
 * The same with flags.  elan_tport_send() is elan_tport_tx_start() for messages
 * with a data word, which takes 8 more bytes, for those whose sender is to know
 * that they are matched, with 16 more bytes, and for those of another space
 * than 0, with 8 more bytes.  The second have a handle.  Messages of space 2
 * whose data word is their sender's rank take no more bytes.
 * elan_tport_receive() is elan_tport_rx_start().
 *
 * elan_tport_peek() begins what elan_tport_probe() does: the wait for *handle
 * tells of the message, or returns ENOMSG.  If it has found one, then
 *
 *	ELAN_TPORT_CLAIM    no other receive gets the message.  The handle is
 *	                    still taken: it must be given once to
 *	                    elan_tport_receive(), with this flag, which then
 *	                    receives this message.
 *	ELAN_TPORT_DISCARD  the message is dropped.  Its sender is told that it
 *	                    is matched.  elan_tport_receive() with both flags
 *	                    drops what was claimed.
 *
 * With ELAN_TPORT_LASTS a peek that finds no message ends when the next one
 * comes that it fits and that no receive takes; ENOMSG if another peek claims
 * that message.
 */
int elan_tport_send(struct elan_tport *t, const struct elan_tport_message *m,
	uint32_t *handle);
int elan_tport_receive(struct elan_tport *t, const struct elan_tport_message *m,
	uint32_t *handle);
int elan_tport_peek(struct elan_tport *t, const struct elan_tport_message *m,
	uint32_t *handle);

/* --- the card's memory --- */

/*
 * Takes bytes of this node's card memory for the job; *at is their address,
 * ELAN_CARD_AT or above and a multiple of 64.  They are zeros.  Queues,
 * packets, events and threads of the job use such addresses like those of the
 * node's memory, without the host's bus.  EINVAL for no bytes, ENOMEM if there
 * is no room, EFAULT if at is NULL.
 */
int elan_card_alloc(uint64_t bytes, uint64_t *at);
/* Gives back what was taken at an address: packets for it are refused from now
 * on.  EINVAL if nothing was. */
int elan_card_free(uint64_t at);
/*
 * Loads whole words of card memory over the bus: nic.dma.read-latency each.
 * EINVAL for other addresses and lengths, EFAULT if they are not in memory that
 * the job has taken, EIO if a word has two bad bits.
 */
int elan_card_read(uint64_t at, void *to, uint32_t bytes);

/* --- virtual memory --- */

/*
 * Takes memory at an address that the process chooses, any of 64 bits that is
 * not in use; it is the same for CPU and card.  *at becomes the address:
 * how->at or, if that is 0, one above 2^63.  The memory is zeros, in the host's
 * memory, of which each bank has as much as the node (elan_memory_bytes()), or
 * in the card's.  An access of the card must lie within one such piece.  EINVAL
 * for invalid arguments, EBUSY if some of the addresses are in use, ENOMEM if
 * there is no room, EFAULT for NULL.
 *
 * Pages are in the card's tables at once, or one by one when they are first
 * used: then the operation waits for the driver, which takes nic.mmu.fault, and
 * no call notices it.  The CPU has all of them at once.
 *
 * In a big-endian page, words that the card itself writes or compares, those of
 * events, ELAN_STORE, tests and threads, are in that byte order; bytes that are
 * transferred stay as they are.
 */
int elan_vm_alloc(const struct elan_vm *how, uint64_t *at);
/* Gives back all that begins at an address; packets for it are refused from now
 * on.  EINVAL if nothing was taken there. */
int elan_vm_free(uint64_t at);
/*
 * The host takes the pages of some bytes from the card, and keeps their
 * contents: the card's next access waits for the driver again.  They may be of
 * any memory of the process but not of two pieces.  EINVAL for no bytes, EFAULT
 * for others.
 */
int elan_vm_drop(uint64_t at, uint64_t bytes);

/* --- the node's memory --- */

/* Of the node, of which each process has an equal part, in whole pages of 4
 * KiB; and where this process's part begins. */
uint64_t elan_memory_bytes(void);
uint64_t elan_memory_at(void);
/* Copy bytes from or to the process's memory.  False, with nothing done, if
 * some of them are outside of it. */
bool elan_load_bytes(uint64_t at, void *to, size_t n);
bool elan_store_bytes(uint64_t at, const void *from, size_t n);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#include "weft/elan_coll.h"

#endif
