/* What the card's units do for each other, file by file. */
#ifndef NIC_ELAN4_UNITS_H
#define NIC_ELAN4_UNITS_H

#include <string.h>

#include "nic/elan4/elan.h"
#include "nic/elan4/inputs.h"

/* --- sdram.c --- */

/* Adds the card's memory to the node's. */
void elan_sdram_open(
	struct elan_sdram *x, struct memory *memory, uint64_t bytes);
extern const struct nic_member_ops elan_sdram_member;

/* The lowest free place that is aligned, in whole grains; 0: none is left. */
uint64_t elan_sdram_take(struct elan_sdram *x, uint64_t bytes, uint64_t align);
void elan_sdram_give(struct elan_sdram *x, uint64_t at, uint64_t bytes);
uint64_t elan_sdram_left(const struct elan_sdram *x);

/* The part of card memory that a context has taken, with all of [at, at +
 * bytes); NULL: none. */
const struct elan_grant *elan_sdram_find(const struct elan_sdram *x,
	uint32_t context, uint64_t at, uint64_t bytes);

/* Where a byte of a page is, and those after it; makes the page. */
uint8_t *elan_sdram_place(struct elan_sdram *x, uint64_t at);

/* The same for bytes of one page that was looked for lately; else NULL. */
static inline uint8_t *elan_sdram_made(
	const struct elan_sdram *x, uint64_t at, uint32_t bytes)
{
	const struct elan_made *m = &x->made[at / MEMORY_PAGE % ELAN_MADE];

	return m->page == at / MEMORY_PAGE &&
			       bytes <= MEMORY_PAGE - at % MEMORY_PAGE
		       ? m->bytes + at % MEMORY_PAGE
		       : NULL;
}

/* A unit's bytes, which are the card's; takes no time. */
void elan_sdram_read(
	const struct nic_at *a, uint64_t at, void *to, uint32_t bytes);
/* t: when programs and threads that wait for a word notice. */
void elan_sdram_write(const struct nic_at *a, sim_time t, uint64_t at,
	const void *from, uint32_t bytes);

/* Some bits of a word go bad. */
void elan_sdram_flip(struct elan_sdram *x, uint64_t at, uint64_t bits);
bool elan_sdram_read_bad(const struct nic_at *a, uint64_t at, uint32_t bytes);

/* Whether words may have bad bits: otherwise nothing needs to be checked. */
static inline bool elan_sdram_may_err(const struct nic_at *a)
{
	const struct faults *f = a->nic->net->faults;

	return __builtin_expect(elan_here(a)->sdram.n_flips != 0, 0) ||
	       __builtin_expect(f && f->memory, 0);
}

/*
 * A unit reads card memory, in the cache or not.  A word with one bad bit is
 * mended.  False if one has two: whoever reads it stops.
 */
static inline bool elan_sdram_is_sound(
	const struct nic_at *a, uint64_t at, uint32_t bytes)
{
	return !elan_sdram_may_err(a) || elan_sdram_read_bad(a, at, bytes);
}

/* Whether an address is the card's. */
static inline bool elan_is_card(uint64_t at)
{
	return at >> MEMORY_DEVICE_SHIFT == 1;
}

/* --- cache.c --- */

extern const struct nic_member_ops elan_cache_member;
/* 0, or an error: the parameters do not fit together. */
int elan_cache_set_up(
	struct elan_cache_how *how, const struct elan_params *p, struct err *e);

sim_time elan_cache_read(const struct nic_at *a, enum elan_unit unit,
	uint64_t at, uint32_t bytes, sim_time t);
sim_time elan_cache_write(const struct nic_at *a, enum elan_unit unit,
	uint64_t at, uint32_t bytes, sim_time t);
/* Reads and changes a part of one line. */
sim_time elan_cache_change(const struct nic_at *a, enum elan_unit unit,
	uint64_t at, uint32_t bytes, sim_time t);
/* The end of a read by some ports. */
sim_time elan_cache_stream(const struct nic_at *a, enum elan_unit unit,
	uint64_t at, uint32_t bytes, enum elan_ports ports, sim_time t);
/* The time of bytes at a port after the first word, which fixed times
 * include. */
sim_time elan_cache_rest(const struct nic_at *a, uint32_t bytes);

/* For a context's input queue, or virtual memory, which give it back by
 * elan_memory_drop(): the context reads and writes it, but cannot give it back.
 * 0: there is no room. */
uint64_t elan_memory_keep(struct nic *nic, site_id s, uint32_t context,
	uint64_t bytes, uint64_t align);
void elan_memory_drop(struct nic *nic, site_id s, uint64_t at);

/* --- context.c --- */

extern const struct nic_member_ops elan_areas_member;

/* Whether a context has any memory here. */
bool elan_context_is(const struct elan_node *n, uint32_t context);
/* Adds one that overlaps with no other of its context. */
void elan_area_add(struct elan_areas *x, const struct elan_area *area);
/* The first address from at on that is not in the area of at; or at. */
uint64_t elan_area_end(
	const struct elan_node *n, uint32_t context, uint64_t at);
/* Whether the tables lack a page of an area; puts a page in, or takes it out.
 */
bool elan_area_lacks(const struct elan_area *x, uint32_t shift, uint64_t at);
void elan_area_set(struct elan_areas *all, struct elan_area *x, uint32_t shift,
	uint64_t at, bool is_out);
/* It lacks all of them. */
void elan_area_empty(
	struct elan_areas *all, struct elan_area *x, uint32_t shift);
/* An area in the list; NULL: there is none. */
struct elan_area *elan_area_at(
	const struct elan_node *n, uint32_t context, uint64_t at);
/* An area goes, with its pages. */
void elan_area_drop(struct elan_node *n, struct elan_area *x, uint32_t shift);
/* Where [at, at + bytes) is, without time; at: nowhere. */
uint64_t elan_where(const struct elan_node *n, uint32_t context, uint64_t at,
	uint64_t bytes);
/* The area of a context that has all of [at, at + bytes); NULL: none.  It may
 * be *made, of what is in no list. */
const struct elan_area *elan_area_find(const struct elan_node *n,
	uint32_t context, uint64_t at, uint64_t bytes, struct elan_area *made);
/* Whether a context has all of [at, at + bytes), and not as a queue. */
bool elan_may(const struct elan_node *n, uint32_t context, uint64_t at,
	uint64_t bytes);

/* A word that the context has read cannot be: all its queues stop, and packets
 * for it are refused. */
void elan_context_stop(const struct nic_at *a, uint32_t context);

/* --- mmu.c --- */

extern const struct nic_member_ops elan_mmu_member;
/* 0, or an error: the parameters do not fit together. */
int elan_mmu_set_up(
	struct elan_mmu_how *how, const struct elan_params *p, struct err *e);
void elan_mmu_init(struct elan_mmu *m, const struct elan_params *p);
/* What a context has changes: the last translation is not valid any more. */
void elan_mmu_forget(struct elan_mmu *m);
/* Pages of an area go, from the tables and the TLBs. */
void elan_mmu_drop(struct elan_node *n, const struct elan_area *x,
	uint32_t shift, uint64_t first, uint64_t last);

enum elan_use { ELAN_TO_READ, ELAN_TO_WRITE };

enum elan_sight {
	ELAN_SEEN,
	ELAN_MISSING, /* the tables lack a page: the driver will know */
	ELAN_NOWHERE, /* the context does not have it */
};

/* Where [at, at + bytes) of a context is. */
struct elan_view {
	/* in the host's memory, or the card's; of a queue, as it was; or an
	 * address of the page that is missing */
	uint64_t at;
	sim_time t; /* when this is known: now or later */
	uint8_t state; /* an enum elan_sight */
	uint8_t flags; /* of enum elan_area_flag */
};

struct elan_view elan_mmu_look(const struct nic_at *a, uint32_t context,
	uint64_t at, uint64_t bytes, enum elan_use use);

/* Translates; all units do so before they access memory. */
static inline struct elan_view elan_look(const struct nic_at *a,
	uint32_t context, uint64_t at, uint64_t bytes, enum elan_use use)
{
	const struct elan_recent *r = &elan_here(a)->mmu.recent;
	uint64_t offset = at - r->first;

	if (__builtin_expect(
		    offset > r->more || r->context != context ||
			    bytes - 1 > r->more - offset ||
			    (use == ELAN_TO_WRITE && r->flags & ELAN_READ_ONLY),
		    0))
		return elan_mmu_look(a, context, at, bytes, use);
	elan_count(a)->tlb_hits++;
	return (struct elan_view){
		.at = r->to + offset, .t = a->t, .flags = r->flags
	};
}

/* A word in the byte order of its page. */
static inline uint64_t elan_order(uint32_t flags, uint64_t word)
{
	return flags & ELAN_BIG_ENDIAN ? __builtin_bswap64(word) : word;
}

/* --- table.c --- */

enum {
	ELAN_PAGE_BLOCK = 64, /* of a page table, bytes */
};

/* A page of a context. */
struct elan_page {
	uint64_t at; /* its first address */
	uint32_t context;
	uint8_t tlb, shift; /* of its size */
	bool is_nowhere; /* the driver knows that the context does not have it
			  */
};

/* An entry of the tables. */
struct elan_found {
	uint64_t frame;
	uint32_t links; /* blocks after the first */
	bool has, is_bad; /* it is there; a word has two bad bits */
};

/* Card memory for both tables, once; false: there is no room. */
bool elan_table_open(struct elan_node *n);
struct elan_found elan_table_find(
	const struct nic_at *a, const struct elan_page *p);
void elan_table_add(
	struct elan_node *n, const struct elan_page *p, uint64_t frame);
void elan_table_remove(struct elan_node *n, const struct elan_page *p);
/* Removes what a context does not have, as the driver knew. */
void elan_table_clean(struct elan_node *n, uint32_t context);

/* The lowest address of the host's memory with an upper part. */
uint64_t elan_bank(uint32_t bank);
/* Words of entries that lead to a page, and back. */
uint64_t elan_frame(uint64_t to, bool is_queue);
uint64_t elan_frame_at(uint64_t frame);

/* --- fault.c --- */

void elan_card_then(
	const struct nic_at *a, sim_time t, elan_then *then, uint32_t id);

/* A page is missing, known at t: the driver looks for it, and then() follows,
 * which looks again.  NULL: nothing waits. */
void elan_fault(const struct nic_at *a, uint32_t context, uint64_t at,
	sim_time t, elan_then *then, uint32_t id);
/* The operation goes on when its translation is known, or its page is there. */
static inline void elan_look_again(const struct nic_at *a, uint32_t context,
	const struct elan_view *v, elan_then *then, uint32_t id)
{
	if (v->state == ELAN_MISSING)
		elan_fault(a, context, v->at, v->t, then, id);
	else
		elan_card_then(a, v->t, then, id);
}
/* A context gets more: what the driver did not find may be there now. */
void elan_fault_forget(struct elan_node *n, uint32_t context);

/* --- driver.c --- */

/* When the driver has done all that it was given before, it works for a time,
 * which the programs of CPU 0 lose (nic.cpus), and then() follows. */
void elan_driver_work(
	const struct nic_at *a, sim_time time, elan_then *then, uint32_t id);

/* --- account.c: does nothing if there is no book --- */

/* A store of words that begin at a position leaves the core, and arrives. */
void elan_account_store(const struct nic_at *a, struct elan_queue *q,
	uint64_t position, uint32_t bytes, sim_time came);
/* The command at a position is decoded: a message of some packets. */
struct elan_account elan_account_begin(const struct nic_at *a,
	struct elan_queue *q, enum book_kind kind, uint64_t position,
	uint64_t n_packets);
/* NULL: the packet's time is charged to no message. */
void elan_account_packet(
	const struct nic_at *a, packet_id id, struct elan_account *c);
/* At the receiver: its last byte arrives. */
void elan_account_tail(const struct nic_at *a, packet_id id, sim_time tail);
/* It is executed later than its tail is there: its addresses are translated. */
void elan_account_late(
	const struct nic_at *a, packet_id id, sim_time tail, sim_time late);
/* A get has read: its answer continues its budget. */
void elan_account_answer(
	const struct nic_at *a, packet_id get, struct elan_account *c);
/* A packet's data is in memory. */
void elan_account_done(const struct nic_at *a, packet_id id);
/* Or in a slot of an input queue, and goes on from there: a note of it, until
 * it ends. */
uint32_t elan_account_slot(const struct nic_at *a, packet_id id, uint32_t slot);
void elan_account_end(const struct nic_at *a, uint32_t note);
/* It was sent back: the packet that comes again has all of it. */
void elan_account_drop(const struct nic_at *a, uint32_t note);

static inline struct elan_note *elan_note(const struct nic_at *a, uint32_t note)
{
	return slots_at(&elan_here(a)->inputs.notes, note);
}

/* --- interrupt.c --- */

extern const struct nic_member_ops elan_interrupts_member; /* without items */
/* ELAN_INTERRUPT of a context's queue. */
void elan_interrupt(const struct nic_at *a, uint32_t context, uint64_t value);
/* Without a handler: a number of it; and whether it has been handled. */
uint32_t elan_interrupt_quietly(const struct nic_at *a);
bool elan_interrupt_is_over(const struct elan_node *n, uint32_t ticket);

/* --- pcix.c --- */

/* The bus of all nodes, as a machine file describes it. */
struct side *elan_bus_new(
	const struct elan_params *p, site_id n_nodes, struct err *e);

/* A burst is ready; granted() is called, now or later. */
void elan_bus_read(const struct nic_at *a, uint64_t at, uint32_t bytes,
	elan_granted *granted, uint32_t id);
void elan_bus_write(const struct nic_at *a, uint64_t at, uint32_t bytes,
	elan_granted *granted, uint32_t id);
void elan_bus_on_free(const struct nic_at *a, uint32_t none);

/* Writes a word to the node's memory; the last when it is there. */
void elan_word_write(const struct nic_at *a, uint64_t address, uint64_t value);
/* The same at an address of a context, when that is translated; in the byte
 * order of its page. */
void elan_word_to(
	const struct nic_at *a, uint32_t context, uint64_t at, uint64_t value);
/* The same for a block of the host's memory, one burst; returns its number. */
uint32_t elan_block_write(const struct nic_at *a, uint64_t address,
	const void *from, uint32_t bytes);
/* A message ends when a block is in memory: false if it is. */
bool elan_block_ends(
	const struct nic_at *a, uint32_t block, uint32_t turn, uint32_t note);
void elan_word_on_in(const struct nic_at *a, uint32_t id);
/* Reads the node's memory, including words on their way there: on the bus no
 * read overtakes a write. */
void elan_read(const struct nic_at *a, uint64_t at, void *to, uint32_t n);

/* Copies the part of a write that lies within n bytes read at an address over
 * them. */
static inline void elan_overlay(uint8_t *to, uint64_t at, uint32_t n,
	uint64_t written, const uint8_t *data, uint32_t bytes)
{
	uint64_t first = written > at ? written : at;
	uint64_t end = written + bytes < at + n ? written + bytes : at + n;

	if (first < end)
		memcpy(to + (first - at), data + (first - written),
			end - first);
}

/* --- card.c --- */

/* elan_card_then(), above, goes on at t, which is later than now. */
void elan_card_on_step(const struct nic_at *a, uint32_t step);
/* Reads memory of the host, over the bus, or of the card. */
void elan_read_begin(const struct nic_at *a, enum elan_unit unit, uint64_t at,
	uint32_t bytes, side_read_done *done, void *owner, uint32_t id);
/* A burst for memory of the host, which crosses the bus, or of the card. */
void elan_write_begin(const struct nic_at *a, enum elan_unit unit, uint64_t at,
	uint32_t bytes, elan_granted *granted, uint32_t id);
/* Bytes for memory of the host, or of the card, have come there; those for the
 * card are dropped if the context has given that memory back. */
void elan_write_end(const struct nic_at *a, uint32_t context, uint64_t at,
	const void *from, uint32_t bytes);

/* --- queue.c --- */

/* Parts of a command's word. */
static inline uint32_t elan_low(uint64_t word)
{
	return (uint32_t)(word >> 16) & 0xffff;
}

static inline uint32_t elan_high(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

extern const struct nic_member_ops elan_queues_member;

/* NULL: not open, or no such queue. */
static inline struct elan_queue *elan_queue(
	const struct elan_node *n, uint32_t id)
{
	struct elan_queue *const *group =
		id < ELAN_QUEUES ? n->queues.group[id / ELAN_GROUP] : NULL;

	return group ? group[id % ELAN_GROUP] : NULL;
}

void elan_queue_on_store(const struct nic_at *a, uint32_t queue);
void elan_queue_stop(
	const struct nic_at *a, struct elan_queue *q, enum elan_error why);
/* A packet or DMA of it was given up: it stops, or goes on without. */
void elan_queue_failed(
	const struct nic_at *a, struct elan_queue *q, enum elan_error why);
/* The queue that a context's addresses [at, at + bytes) are mapped to: whole
 * words of one page.  NULL: none. */
struct elan_queue *elan_queue_mapped(const struct elan_node *n,
	uint32_t context, uint64_t at, uint64_t bytes);
/* Whether bytes could be appended, or would be dropped.  Copies of events that
 * wait go first. */
bool elan_queue_takes(const struct elan_queue *q, uint32_t bytes);
/*
 * Appends words, which are in the card at t, now or later: for all units of
 * the card, which ask elan_queue_takes() first.  A stopped queue drops them.
 */
void elan_queue_append(const struct nic_at *a, struct elan_queue *q,
	const uint8_t *words, uint32_t bytes, sim_time t);
/* When the bytes before a position arrive; SIM_NEVER: not announced. */
sim_time elan_queue_arrival(const struct elan_queue *q, uint64_t position);
/* Where a position of the backing store is, and the rest of its page. */
uint8_t *elan_queue_page(const struct elan_queue *q, uint32_t page);

static inline uint8_t *elan_queue_place(
	const struct elan_queue *q, uint64_t position)
{
	uint32_t at = (uint32_t)position & (q->depth - 1);
	uint8_t *page = q->page[at / MEMORY_PAGE];

	if (__builtin_expect(!page, 0))
		page = elan_queue_page(q, at / MEMORY_PAGE);
	return page + at % MEMORY_PAGE;
}

/* Bytes from a position on that lie one after the other. */
static inline uint32_t elan_queue_piece(
	const struct elan_queue *q, uint64_t position)
{
	uint32_t piece = q->depth < MEMORY_PAGE ? q->depth : MEMORY_PAGE;

	return piece - ((uint32_t)position & (piece - 1));
}

static inline uint64_t elan_queue_word(
	const struct elan_queue *q, uint64_t position)
{
	uint64_t word;

	memcpy(&word, elan_queue_place(q, position), 8);
	return word;
}

/* Whether words of a queue can be read; if not, it stops. */
bool elan_queue_check(const struct nic_at *a, struct elan_queue *q,
	uint64_t position, uint32_t bytes);

static inline bool elan_queue_is_sound(const struct nic_at *a,
	struct elan_queue *q, uint64_t position, uint32_t bytes)
{
	return !elan_sdram_may_err(a) ||
	       elan_queue_check(a, q, position, bytes);
}

/* The words up to a position go to the backing store. */
void elan_queue_back(
	const struct nic_at *a, struct elan_queue *q, uint64_t until);
/* The ring before a position may be overwritten. */
void elan_queue_freed(
	const struct nic_at *a, struct elan_queue *q, uint64_t until);

/* The queue may have work: it gets a turn. */
void elan_queue_wake(const struct nic_at *a, struct elan_queue *q);
/* Takes the next queue out of the run queue, or returns NULL. */
struct elan_queue *elan_queue_next(struct elan_node *n);
/* The queue gets no turn until all blocked queues are woken, in order. */
void elan_queue_block(struct elan_node *n, struct elan_queue *q);
void elan_queue_unblock_all(const struct nic_at *a);

/* Whether nothing of it is in the card, or on its way there. */
bool elan_queue_is_idle(const struct elan_queue *q);
/* Stores that waited for the driver arrive, from now on. */
void elan_queue_arrive(const struct nic_at *a, struct elan_queue *q);

/* A packet of the queue is acknowledged. */
void elan_queue_acked(
	const struct nic_at *a, struct elan_queue *q, uint32_t sequence);

/* --- process.c --- */

extern const struct nic_member_ops elan_processes_member;

/* The place of a context's process, which is made if needed: an error number,
 * or 0. */
int elan_process_find(
	struct nic *nic, site_id s, uint32_t context, uint32_t *process);

/* What is wrong with a rank: there is no such process, or its entry cannot be
 * read.  Takes no time. */
/* Of a queue's process: its own rank. */
uint32_t elan_rank_of(const struct nic_at *a, const struct elan_queue *q);
enum elan_error elan_route_check(
	const struct nic_at *a, const struct elan_queue *q, uint64_t rank);
/*
 * Looks up a rank for a packet of a queue.  If a fixed time that begins at *t
 * has to wait for the entry, *t becomes later.  Or what is wrong.
 */
enum elan_error elan_route_find(const struct nic_at *a, enum elan_unit by,
	const struct elan_queue *q, uint64_t rank, struct elan_route *r,
	sim_time *t);
/* Whether all nodes from that of one rank to that of another are the job's. */
bool elan_range_is_own(const struct nic_at *a, const struct elan_queue *q,
	uint64_t first, uint64_t last);
/* A number counts those of an entry's routes; 0: all. */
uint32_t elan_route_pick_of(uint64_t routes, uint32_t number);

static inline uint32_t elan_route_pick(uint64_t routes, uint32_t number)
{
	return routes + 1 < 2 ? number : elan_route_pick_of(routes, number);
}

/* --- chip.c --- */

extern const struct nic_member_ops elan_chip_member;
void elan_chip_open(
	struct elan_chip *x, const struct elan_params *p, struct elan_queue *q);
void elan_chip_close(struct elan_chip *x, struct elan_queue *q);
/* Whether a queue can be served now; if not, it is woken when it can. */
bool elan_chip_has(const struct nic_at *a, struct elan_queue *q);
/* A store into a queue that is not resident arrives at t. */
void elan_chip_trap(const struct nic_at *a, struct elan_queue *q, sim_time t);

/* --- event.c --- */

/* Card memory for the driver's table, once; false: there is no room. */
bool elan_event_open(struct elan_node *n);

/* Whether a context may name an event: by number, or in its card memory. */
bool elan_event_may(
	const struct elan_node *n, uint32_t context, uint32_t event);
/* Subtracts from an event's count, and fires it at 0.  Does nothing if the
 * context has not armed it. */
void elan_event_set(const struct nic_at *a, uint32_t context, uint32_t event,
	uint64_t count);
/* ELAN_ARM, with the words after its first; or what is wrong with it. */
enum elan_error elan_event_arm(const struct nic_at *a, uint32_t context,
	uint32_t event, const uint64_t *word);
/* ELAN_ARM_FROM, with count, address and source. */
enum elan_error elan_event_arm_from(const struct nic_at *a, uint32_t context,
	uint32_t event, uint32_t bytes, const uint64_t *word);
/* ELAN_ARM_COPY of a queue, with count and address; its bytes, of a valid
 * number, are the last ones taken out of the queue. */
enum elan_error elan_event_arm_copy(const struct nic_at *a,
	const struct elan_queue *q, uint32_t event, uint32_t bytes,
	const uint64_t *word);
/* Bytes that the driver has kept for a copy go. */
void elan_event_give(struct elan_node *n, uint64_t at, uint32_t bytes);

/* --- copy.c --- */

extern const struct nic_member_ops elan_events_member; /* without copies */

/* Whether an event may copy so many bytes. */
static inline bool elan_copy_is_valid(uint32_t bytes)
{
	return bytes && bytes <= ELAN_COPY_MOST && bytes % 8 == 0;
}

/* An event has fired: addresses, context, bytes and whether they are kept. */
void elan_copy_begin(const struct nic_at *a, const struct elan_copy *what);
/* The event processor has finished a copy; a burst of one is in memory. */
void elan_copy_on_slot(const struct nic_at *a, uint32_t none);
void elan_copy_on_written(const struct nic_at *a, uint32_t copy);
/* A queue has more room, or is stopped: copies that wait for it go on. */
void elan_copy_on_room(const struct nic_at *a, struct elan_queue *q);
/* A queue took nothing out in its turn.  It is stopped if it never will,
 * because it lacks what a copy would bring that does not fit. */
void elan_copy_on_idle(const struct nic_at *a, struct elan_queue *q);
/* Copies of fired events that are not finished, except for those whose queue
 * waits for the end of a thread, which may never come. */
uint32_t elan_copies_left(const struct elan_node *n);

/* --- send.c --- */

void elan_send_set_up(struct elan *x);
struct elan_sending *elan_sending(const struct nic_at *a, uint32_t id);
/* A new one, with a buffer to fill; its packet leaves at t or later. */
uint32_t elan_send_new(const struct nic_at *a);
void elan_send_at(const struct nic_at *a, uint32_t sending, sim_time t);
/* Adds writes of at most a block each, whose ends are aligned at the target. */
void elan_send_cut(struct elan_buffer *b, uint64_t to, uint32_t bytes);
/* When blocks leave whose data comes at the rate of the bus from since on. */
void elan_send_set_times(const struct nic_at *a, struct elan_buffer *b,
	sim_time start, sim_time since);
void elan_send_on_answer(const struct nic_at *a, const struct elan_buffer *b);
/* Gives up a packet that has not left. */
void elan_send_fail(
	const struct nic_at *a, uint32_t sending, enum elan_error why);
/*
 * Puts a packet into the network, or in line for it.  Its time is charged to
 * an account's message; NULL: to none.
 */
void elan_send_packet(const struct nic_at *a, enum elan_fifo use, site_id dst,
	const struct elan_buffer *what, uint32_t route,
	struct elan_account *account);
/* The network's client. */
void elan_send_on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t);

/* --- get.c --- */

/* A queue's packet is a get: returns the name for its answer. */
struct elan_cookie elan_get_new(const struct nic_at *a, struct elan_queue *q,
	const struct elan_route *to, const struct elan_buffer *b);
/* It is acknowledged: waits for its answer.  Or it is given up. */
void elan_get_acked(const struct nic_at *a, const struct elan_cookie *c,
	const struct elan_account *account);
void elan_get_failed(const struct nic_at *a, const struct elan_cookie *c,
	enum elan_error why);
/* A test said no: gets behind it are not waited for.  The cookie has the number
 * of those before it, or one that is too great: those before any test. */
void elan_get_denied(const struct nic_at *a, const struct elan_cookie *c);
/* The context whose get an answer names; false: there is none. */
bool elan_get_context(
	const struct nic_at *a, const struct elan_cookie *c, uint16_t *context);
/* Its answer arrives: false if nothing waits for it. */
bool elan_get_answered(const struct nic_at *a, const struct elan_cookie *c);
/* The answer is executed. */
void elan_get_done(const struct nic_at *a, const struct elan_cookie *c);
/* Answers to a queue's gets are ignored from now on. */
void elan_get_forget(struct elan_node *n, const struct elan_queue *q);
void elan_get_on_late(const struct nic_at *a, uint32_t none);

/* --- answer.c --- */

/* Whether n more gets can be answered; the number of the first answer. */
bool elan_answer_has_room(const struct nic_at *a, uint32_t n);
uint32_t elan_answer_numbers(const struct nic_at *a, uint32_t n);
/* Begins the answer to a get, with room for what it reads. */
uint32_t elan_answer_begin(const struct nic_at *a, packet_id get,
	const struct elan_piece *want, uint32_t number, void **data);
/* It has the data. */
void elan_answer_send(const struct nic_at *a, packet_id get, uint32_t sending);
/* There will be none. */
void elan_answer_cancel(const struct nic_at *a, uint32_t number);

/* --- ask.c --- */

/* Whether a packet is a duplicate; sets its verdict then. */
bool elan_ask_has_seen(
	const struct nic_at *a, const struct packet *p, struct elan_buffer *b);
/* It is executed, or denied: as its verdict says. */
void elan_ask_note(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b);
/* The word of a test has been read. */
bool elan_ask_is_yes(const struct nic_at *a, const struct elan_piece *p);

/* --- writer.c --- */

/* The next write that may be handed on and is not, or stop. */
uint32_t elan_writer_next(const struct elan_buffer *b);

/* The writes before this one are in memory. */
static inline uint32_t elan_writer_done(const struct elan_buffer *b)
{
	return b->written ? b->until[b->written - 1] : 0;
}

/* Whether writes or tests of it are still to come. */
bool elan_writer_is_pending(const struct elan_buffer *b);
/* The first packet of the same queue in the list, from some place on, of which
 * that is so. */
packet_id elan_writer_before(
	const struct nic_at *a, packet_id from, packet_id than);
bool elan_writer_is_first(const struct nic_at *a, packet_id id);
/* Whether a copy of a packet is in the list. */
bool elan_writer_is_double(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b);
void elan_writer_join(const struct nic_at *a, packet_id id);
void elan_writer_leave(const struct nic_at *a, packet_id id);
/* Posts the next burst of a packet that is the first of its queue. */
void elan_writer_schedule(const struct nic_at *a, packet_id id);
/* Gives the bus the burst that was posted, or the next one; one is in memory.
 */
void elan_writer_on_ready(const struct nic_at *a, packet_id id);
void elan_writer_hand_on(const struct nic_at *a, packet_id id);
void elan_writer_on_written(const struct nic_at *a, packet_id id);
/* Copies writes of earlier packets that are not in memory over the bytes of a
 * packet's get: on the bus no read overtakes a write. */
void elan_writer_overlay(const struct nic_at *a, const struct elan_buffer *b,
	const struct elan_piece *get, uint8_t *data);

/* --- order.c --- */

/* The next transaction that reads memory, or n_pieces. */
uint32_t elan_order_next_read(const struct elan_buffer *b, uint32_t i);
/* Whether queues have room for all that it appends. */
bool elan_order_has_room(const struct nic_at *a, const struct elan_buffer *b);
/* A packet will be executed: sets aside what it needs. */
void elan_order_begin(const struct nic_at *a, struct elan_buffer *b);
/* Its tail has come, or a burst is in memory: goes on as far as it can. */
void elan_order_go(const struct nic_at *a, packet_id id);
/* It is the first of its queue; or none is. */
void elan_order_on_turn(const struct nic_at *a, packet_id id);

/* --- dma.c --- */

/* DMAs that are not finished. */
uint32_t elan_dmas_left(const struct elan_dmas *x);
/* Takes a descriptor, or returns what is wrong with it. */
enum elan_error elan_dma_add(
	const struct nic_at *a, struct elan_queue *q, const struct elan_dma *d);
/* Another unit's read has ended and left a place. */
void elan_dma_go(const struct nic_at *a);
/* With cut-through: the data of a read has the bus, until end. */
void elan_dma_granted(const struct nic_at *a, uint32_t read, sim_time end);
/* A packet of so many bytes is in the network for the first time. */
void elan_dma_on_left(const struct nic_at *a, uint32_t bytes);

/* --- input.c --- */

/* The network's client. */
void elan_input_on_packet(struct net_client *me, struct sim_worker *w,
	site_id s, uint32_t fifo, packet_id id, sim_time t, sim_time tail);
void elan_input_on_write(const struct nic_at *a, packet_id id);
void elan_input_on_written(const struct nic_at *a, packet_id id);
void elan_input_on_tail(const struct nic_at *a, packet_id id);
/* Answers a packet; ends one that was executed, or was not. */
void elan_input_answer(const struct nic_at *a, packet_id id);
void elan_input_end(const struct nic_at *a, packet_id id);
void elan_input_drop(const struct nic_at *a, packet_id id);
/* The route of its answer, by the same switches, which are alive. */
uint32_t elan_input_way_back(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b);

/* --- sten.c --- */

/* Sends or skips the next packet of a queue.  Bytes taken, or 0 if the queue
 * has to wait or has stopped. */
uint32_t elan_sten_send(const struct nic_at *a, struct elan_queue *q);
uint32_t elan_sten_skip(const struct nic_at *a, struct elan_queue *q);
void elan_sten_on_half(const struct nic_at *a, uint32_t queue);

/* --- code.c --- */

/* 0, or an error: the parameters do not fit together. */
int elan_code_set_up(const struct elan_params *p, struct err *e);

/* --- thread.c --- */

extern const struct nic_member_ops elan_threads_member; /* of the pointer */
/* Whether threads are ready or run. */
bool elan_threads_busy(const struct elan_threads *h);
/* Whether one more can be started; if not, the queue is blocked until then. */
bool elan_thread_has_room(const struct nic_at *a, struct elan_queue *q);
/* Starts a thread for a queue: a command's words, its own included. */
enum elan_error elan_thread_begin(const struct nic_at *a,
	const struct elan_queue *q, const uint64_t *word);
void elan_thread_on_go(const struct nic_at *a, uint32_t id);
/* Whether one that is ahead waits for messages from this time on. */
bool elan_thread_lingers_until(const struct elan_node *n, sim_time t);
/* Whether one waits for messages of an input queue. */
bool elan_thread_wants(const struct elan_node *n, const struct elan_iq *q);
/* A message is in an input queue. */
void elan_thread_on_message(const struct nic_at *a, const struct elan_iq *q);
/* An interrupt has been handled. */
void elan_thread_on_interrupt(const struct nic_at *a);
/* A word has had the bus: a read that is in line after it goes on. */
void elan_thread_on_word(const struct nic_at *a);
/* A queue has room, or has stopped: threads that wait for it go on. */
void elan_thread_on_room(const struct nic_at *a, struct elan_queue *q);

/* --- command.c --- */

/* There is a queue with work. */
void elan_command_go(const struct nic_at *a);
void elan_command_on_free(const struct nic_at *a, uint32_t none);
/* The same as the last thing that an event does: if the next one would be the
 * command processor's, at this instant, it needs none. */
void elan_command_go_now(const struct nic_at *a);

#endif
