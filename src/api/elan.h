/*
 * QsNetII's programming interface, first part: puts, gets and DMAs through
 * command queues, and events that tell of completion.  Called from a program
 * (host/program.h); works on the node that it runs on.
 *
 * A put's data is copied into the command queue by the core, so it is the
 * caller's again when the call returns; a DMA reads memory later, until its
 * source event has fired.  Addresses are of the nodes' memories, and a
 * program names another process by its node.
 *
 * Time: a call takes nic.software.*, and as long as its stores need on the
 * host's bus; where the queue is full it waits.  A further CPU's stores and
 * loads have a longer way (nic.cpus, nic.*.hop).
 */
#ifndef API_ELAN_H
#define API_ELAN_H

#include "nic/elan4/elan4.h"

enum { ELAN_CQ_WORDS = 80 }; /* more than a packet takes */

/* A command queue, as its owner knows it: the caller's. */
struct elan_cq {
	uint32_t id;
	uint64_t stored; /* bytes, ever */
	sim_time free_at; /* the bus has taken what was stored */
	uint32_t n; /* words that wait to be stored */
	uint64_t word[ELAN_CQ_WORDS];
};

/*
 * Opens a queue for the program's job: context 1, all of memory.  0, or an
 * error number: EINVAL, EBUSY.
 */
int elan_cq_open(
	struct elan_cq *q, uint32_t id, enum elan_depth depth, uint32_t rights);
/* EBUSY while the card is at work on it. */
int elan_cq_close(struct elan_cq *q);
/*
 * Lets a queue go on, with nothing in it, that the card has stopped.  EBUSY
 * where it has not, or still is at work on what was sent.
 */
int elan_cq_restart(struct elan_cq *q);

/*
 * Arms an event: after count has been taken away from it, value is written
 * to the word at address.
 */
void elan_arm(struct elan_cq *q, uint32_t event, uint64_t count,
	uint64_t address, uint64_t value);

/* Takes away from an event of the node's own. */
void elan_set(struct elan_cq *q, uint32_t event, uint32_t count);

/*
 * Writes bytes into another node's memory by short packets.  Where they are
 * not 0, target_event of that node is set by the bytes that have come, and
 * source_event of this one by 1 for each packet acknowledged.
 */
void elan_put(struct elan_cq *q, uint32_t node, uint64_t to, const void *data,
	uint64_t bytes, uint32_t target_event, uint32_t source_event);
/* The same of bytes in this node's memory. */
void elan_put_from(struct elan_cq *q, uint32_t node, uint64_t to, uint64_t from,
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
void elan_broadcast(struct elan_cq *q, uint32_t first, uint32_t last,
	uint64_t to, const void *data, uint64_t bytes, uint32_t target_event,
	uint32_t source_event);
/* The same of bytes in this node's memory. */
void elan_broadcast_from(struct elan_cq *q, uint32_t first, uint32_t last,
	uint64_t to, uint64_t from, uint64_t bytes, uint32_t target_event,
	uint32_t source_event);

/*
 * Reads up to 512 bytes of another node's memory into this one's; event is
 * set by the bytes that have come.
 */
void elan_get(struct elan_cq *q, uint32_t node, uint64_t from, uint64_t to,
	uint32_t bytes, uint32_t event);

/* Starts a DMA; its source event is set by 1, its target event by bytes. */
void elan_dma(struct elan_cq *q, const struct elan_dma *d);

/*
 * What a choice between puts and a DMA should save: time until the bytes are
 * there, or the CPU's.  A put takes the CPU as long as its stores do, a DMA
 * always the same (QSN-F83).
 */
enum elan_goal { ELAN_FOR_LATENCY, ELAN_FOR_CPU };

/* What calls take the CPU, where the bus is free; ps. */
sim_time elan_put_time(uint64_t bytes);
sim_time elan_dma_time(void);
/* Whether elan_write() would take the DMA engine. */
bool elan_write_is_dma(uint64_t bytes, enum elan_goal goal);
/* How often it sets its source event. */
uint64_t elan_write_acks(uint64_t bytes, enum elan_goal goal);
/* Writes bytes of this node's memory, by elan_put_from() or elan_dma(). */
void elan_write(struct elan_cq *q, uint32_t node, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t target_event, uint32_t source_event,
	enum elan_goal goal);

/* How this program's CPU polls a word that the card writes. */
struct poll_loop elan_poll_loop(void);

/* Stores what waits, in bursts; calls above do it themselves. */
void elan_flush(struct elan_cq *q);

/* Until the word at an address is a value. */
bool elan_wait_word(uint64_t at, uint64_t value);
/* The same of one that an event writes, or until the card has stopped the
 * queue: false then. */
bool elan_wait_event(const struct elan_cq *q, uint64_t at, uint64_t value);

#endif
