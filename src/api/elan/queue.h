/* Shared by the files of QsNetII's interface: the calling program's card, and
 * stores into queues. */
#ifndef API_ELAN_QUEUE_H
#define API_ELAN_QUEUE_H

#include "api/elan/elan.h"

/* The card of the program's node; a BUG if there is none, or in a thread of the
 * card. */
struct nic *cq_card(void);
const struct elan_params *cq_params(void);
const struct elan_host *cq_host(void);
/* Additional latency from the bridge to the program's CPU, beyond that of the
 * first CPU. */
sim_time cq_way(void);

/* The context of the program's process. */
uint32_t cq_context(void);
/* Whether these bytes are in the process's part of the node's memory; or there
 * or in its virtual memory: *at becomes their place in the node's memory. */
bool cq_is_own(uint64_t at, uint64_t bytes);
bool cq_find(uint64_t *at, uint64_t bytes);
bool cq_has(uint64_t at, uint64_t bytes);
/* Opens the process's own memory to its card: 0, or ENOMEM. */
int cq_open_memory(void);

/* Whether the program may use a queue: EBADF if it is not open, EACCES if it is
 * another process's, or 0. */
int cq_may_use(const struct elan_cq *q);
/* Checks a queue and the events of a command: an error number, or 0. */
int cq_check(const struct elan_cq *q, uint64_t event, uint64_t other);
/* Waits until this number of bytes fits after the waiting words. */
void cq_need_room(struct elan_cq *q, uint32_t bytes);
/* Adds a waiting word, for which there is room. */
void cq_add_and_store(struct elan_cq *q, uint64_t word);
static inline void cq_add(struct elan_cq *q, uint64_t word)
{
	if (q->n == ELAN_CQ_WORDS || q->is_relaxed)
		cq_add_and_store(q, word);
	else
		q->word[q->n++] = word;
}

/* Adds bytes, in whole words; the last one's rest is zeros. */
void cq_add_bytes(struct elan_cq *q, const uint8_t *data, uint32_t bytes);
/* The program computes for some time before its next stores, and waits when
 * they are flushed; and it has stored all words, but must wait for so long
 * until the bus has taken them. */
void cq_compute(struct elan_cq *q, sim_time time);
sim_time cq_hand_over(struct elan_cq *q);
/* Waits for room: the next word begins a packet or a DMA of a program that was
 * begun at some time; SIM_NEVER: when it is stored. */
void cq_begin(struct elan_cq *q, uint32_t bytes, sim_time born);

/* Waits until a word of the process's memory is at least a number, or one of
 * two queues has stopped; or by wait() (struct elan_wait), if it is not NULL.
 * Returns the word. */
uint64_t cq_await(uint64_t at, uint64_t least, const struct elan_cq *a,
	const struct elan_cq *b, const struct elan_wait *how);
/* Whether nodes have one process each, and the network can copy packets to all
 * of the job's nodes, which lie side by side. */
bool cq_can_cast(void);
/* Closes a queue whose last packets may not have been acknowledged yet. */
int cq_close_later(struct elan_cq *q);

/* A page of addresses for a queue of a library, by its number: beyond any
 * memory, and the pages of tagged ports. */
static inline uint64_t cq_page(uint32_t queue)
{
	return UINT64_C(0xffffe00000000000) + (uint64_t)queue * ELAN_PAGE;
}

/* --- elan.c --- */

/* elan_wait_event() of a library, for a word that the card sets to 1 and that
 * only the library clears; it computes for some time after that. */
bool cq_wait_done(const struct elan_cq *q, uint64_t at, sim_time after);

/* --- input.c --- */

/* elan_enqueue() of a library that knows its own rank, and whose own call takes
 * some more time. */
int cq_enqueue(struct elan_cq *q, uint32_t rank, uint32_t own,
	const struct elan_letter *l, sim_time software);

/* --- drain.c --- */

/* Whether the last word makes its write buffer drain before it is full. */
bool cq_is_early(const struct elan_cq *q);
/* A write buffer with the next n words to be stored drains to the card. */
void cq_drain(
	struct nic *nic, struct elan_cq *q, const uint64_t *word, uint32_t n);

/* Words of a command about one event, without its operands, and of the end of a
 * packet; they return how many. */
uint32_t words_set(
	uint64_t words[2], enum elan_command c, uint32_t event, uint32_t high);
uint32_t words_close(uint64_t words[2], uint32_t event, uint32_t other);

#endif
