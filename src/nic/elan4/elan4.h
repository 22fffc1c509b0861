/*
 * Elan4, the network interface of QsNetII, as its driver sees it, and its
 * times. weft/elan4.h has what programs see, too.
 */
#ifndef NIC_ELAN4_ELAN4_H
#define NIC_ELAN4_ELAN4_H

#include "base/param.h"
#include "host/bus.h"
#include "nic/nic.h"
#include "nic/util/resend.h"
#include "weft/elan4.h"

/* The class of a node's own wire: the first of a tree. */
enum { ELAN_FIRST_WIRE = 0 };

enum elan_platform { ELAN_OPTERON, ELAN_XEON, ELAN_ITANIUM2, ELAN_PLATFORMS };

/* Properties of a host (QSN-F84). */
struct elan_host {
	int64_t store; /* a core's store, until it is on the bus */
	int64_t see; /* a write of the card, until a load can see it */
	int64_t pio_burst; /* bytes that stores are combined to */
	int64_t pio_overhead, dma_overhead; /* of a burst, ps */
	int64_t hop; /* from each further CPU to the bridge, ps */
	int64_t relaxed; /* per cent of write buffers that drain in disorder */
	int64_t mpi; /* of a tagged message: its sender's call, its receiver's
		      */
};

/* Who accesses card memory. */
enum elan_unit {
	ELAN_BY_QUEUE, /* stores into command queues */
	ELAN_BY_COMMAND,
	ELAN_BY_EVENT,
	ELAN_BY_INPUT,
	ELAN_BY_DMA,
	ELAN_BY_THREAD,
	ELAN_BY_CORE, /* loads over the bus, and stores of code */
	ELAN_BY_CODE, /* the thread processor's instructions */
	ELAN_UNITS,
};

enum { ELAN_MOST_FILLS = 16 }; /* of lines, at a time */

/* The card's memory. */
struct elan_memory_params {
	int64_t size;
	int64_t latency, rate; /* of its chips */
};

struct elan_cache_params {
	int64_t on; /* flag; no: all accesses are hits */
	int64_t size, ways, line;
	int64_t port; /* rate */
	int64_t fills; /* under way */
};

/* Translation of addresses. */
struct elan_mmu_params {
	int64_t on; /* flag; no: it takes no time, and no page is missing */
	int64_t entries; /* of each TLB */
	struct param_list sizes; /* the active ones, of enum elan_page_size */
	int64_t fill, link;
	int64_t fault;
	int64_t demand; /* flag: no page is there before its first use */
};

/* What becomes of a tagged message whose receive is not there (QSN-F61,
 * QSN-F62). */
enum elan_match_by {
	ELAN_MATCH_CARD, /* a thread on the card keeps it */
	ELAN_MATCH_REJECT, /* its sender keeps it, and tries again */
	ELAN_MATCH_INTERRUPT, /* an interrupt lets the host keep it */
	ELAN_MATCH_HOST, /* programs match in their calls: of messages */
};

/* Of tagged ports. */
struct elan_match_params {
	int64_t by; /* an enum elan_match_by */
	int64_t cycles; /* from a message to the first request for the bus */
	int64_t element; /* more, of each element of a list but the first */
	int64_t eager; /* bytes of a message that is sent at once */
	int64_t slots; /* of a process, for messages */
	int64_t spill; /* bytes of host memory for more messages */
};

struct elan_params {
	int64_t platform;
	int64_t command, input; /* ps */
	int64_t command_rate; /* bytes a second */
	int64_t outstanding; /* packets of a queue */
	int64_t half_packet; /* time-out */
	int64_t dispatch; /* of a DMA */
	int64_t read_latency, reads, read_buffer, read_block;
	int64_t dma_window; /* packets under way */
	int64_t cut_through; /* flag: of DMA packets */
	int64_t merge, merge_wait; /* bytes of a merged write; how long */
	struct resend_params retry;
	int64_t get_timeout, get_retries;
	int64_t event_slot, event_rate; /* of a copy */
	int64_t software, dma_software, dma_after; /* of the library's calls */
	int64_t cpus; /* of a node: thread n runs on CPU n % cpus */
	int64_t poll_period, poll_load;
	struct bus_params bus;
	int64_t bus_reads; /* per cent of the time, while writes wait; or 0 */
	int64_t thread_clock, thread_swap; /* ps */
	int64_t threads; /* of a node */
	int64_t thread_block; /* rate of block loads and stores */
	int64_t thread_icache, thread_reads, thread_slice;
	struct elan_match_params match;
	int64_t hgsync; /* an enum elan_hgsync_by */
	struct elan_memory_params memory;
	struct elan_cache_params cache;
	struct elan_mmu_params mmu;
	int64_t resident, cached; /* command queues: in hardware, on chip */
	int64_t interrupt; /* until the driver has handled it */
	struct elan_host host[ELAN_PLATFORMS];
};

extern const struct nic_ops elan4_ops;

static inline const struct elan_params *elan_params_of(const struct nic *nic)
{
	return nic->params;
}

/* The CPU of a process's thread.  A process begins on a CPU of its own, where
 * there are so many. */
static inline uint32_t elan_cpu(
	const struct elan_params *p, uint32_t process, uint32_t thread)
{
	return (process + thread) % (uint32_t)p->cpus;
}

const char *elan_error_text(enum elan_error e);

/* --- the driver's: only before the run, or from a program of the node --- */

/*
 * Makes a queue for a context; 0, or an error number: EINVAL, EBUSY, or ENOMEM
 * if the card's memory has no room for it.
 */
int elan_queue_open(struct nic *nic, site_id s, uint32_t queue,
	enum elan_depth depth, uint32_t rights, uint32_t context);
/* EBUSY while packets, DMAs, gets or stores of it are under way. */
int elan_queue_close(struct nic *nic, site_id s, uint32_t queue);
/*
 * Empties a stopped queue and restarts it.  EBUSY as above, and if it is not
 * stopped.  Work under way when it stopped goes on to its end, but answers to
 * earlier gets are ignored.
 */
int elan_queue_restart(struct nic *nic, site_id s, uint32_t queue);
enum elan_error elan_queue_error(
	const struct nic *nic, site_id s, uint32_t queue);

/* Memory that queues and packets of a context may access at this node: [first,
 * last].  0, or EINVAL. */
int elan_context_set(struct nic *nic, site_id s, uint32_t context,
	uint64_t first, uint64_t last);

/*
 * Lets units of the card, and packets for the queue's context, append to a
 * queue (QSN-F29): words that they write anywhere in the page at an address of
 * that context are appended.  The address is a page's, beyond the node's
 * memory.  0, or EINVAL, EBUSY if it is taken.  A queue has one such page until
 * it is closed.
 *
 * Units and a core must not both append: the core would not know the queue's
 * end, and stop it.
 */
int elan_queue_map(
	struct nic *nic, site_id s, uint32_t queue, uint64_t address);

/* Whether words that the card itself writes to that memory, for events and
 * ELAN_STORE, are big-endian.  Transferred bytes are unchanged.  0, or EINVAL
 * if the context has no memory here. */
int elan_context_order(
	struct nic *nic, site_id s, uint32_t context, bool is_big);

/*
 * Card memory for a context: its queues and packets may access it.  It begins
 * as zeros, at a multiple of 64 bytes.  0, or EINVAL, ENOMEM.
 */
int elan_memory_take(struct nic *nic, site_id s, uint32_t context,
	uint64_t bytes, uint64_t *at);
/* Gives back what was taken at an address.  0, or EINVAL. */
int elan_memory_give(struct nic *nic, site_id s, uint32_t context, uint64_t at);
/*
 * A word that a core loads at t: *late is what it takes beyond the bus.  0, or
 * EFAULT, EIO for bad bits.
 */
int elan_memory_load(const struct nic_at *a, uint32_t context, uint64_t at,
	uint64_t *word, sim_time *late);

/* --- processes --- */

/* The processes that a process names by ranks. */
struct elan_job {
	const struct host_world *world; /* its nodes, borrowed; NULL: all */
	uint32_t each; /* processes of a node */
	uint32_t first; /* context of the first one; those of others follow */
};

enum elan_route_state {
	ELAN_ROUTE_NEW, /* as the job says */
	ELAN_ROUTE_VALID,
	ELAN_ROUTE_NONE, /* there is no such process */
};

/* An entry of a process's table, as it is in card memory. */
struct elan_route {
	uint32_t node;
	uint16_t context;
	uint8_t state; /* an enum elan_route_state */
	uint8_t unused;
	uint64_t routes; /* bits: routes that packets take */
};

/*
 * Makes the table of a process, once, in card memory.  0, or EINVAL, ENOMEM.
 * Without it a context's first queue makes one: rank i is the same context at
 * node i.
 */
int elan_process_open(struct nic *nic, site_id s, uint32_t context,
	const struct elan_job *job);
/* Changes an entry.  0, or EINVAL: the process has no such rank, or there is no
 * such node, context or route. */
int elan_route_set(struct nic *nic, site_id s, uint32_t context, uint32_t rank,
	const struct elan_route *to);

/*
 * Virtual memory of a context: see weft/elan.h.  0, or EINVAL, EBUSY if some of
 * it is in use, ENOMEM.
 */
int elan_vm_take(struct nic *nic, site_id s, uint32_t context,
	const struct elan_vm *how, uint64_t *at);
/* Gives back what begins at an address.  0, or EINVAL. */
int elan_vm_give(struct nic *nic, site_id s, uint32_t context, uint64_t at);
/* The tables lose all pages of [at, at + bytes), which are in one piece of
 * memory and keep their bytes.  0, or EINVAL, EFAULT. */
int elan_vm_lose(struct nic *nic, site_id s, uint32_t context, uint64_t at,
	uint64_t bytes);
/* Where virtual memory is; false: the context does not have it. */
bool elan_vm_find(const struct nic *nic, site_id s, uint32_t context,
	uint64_t at, uint64_t bytes, uint64_t *to);

/* --- interrupts --- */

/* Sets the handler of a context's ELAN_INTERRUPT; NULL: none.  0, or EINVAL. */
int elan_handler_set(struct nic *nic, site_id s, uint32_t context,
	elan_handler *run, void *arg);

/* --- threads on the card --- */

/*
 * Loads or replaces code for threads of a context, which takes so many bytes of
 * card memory, in whole words: *at is their address, for stores; NULL unloads
 * it.  Code of 0 bytes takes no memory, and never misses.  Started threads go
 * on.  0, or EINVAL, ENOMEM.  Threads themselves call elan_thread_work() and
 * others of weft/elan.h, which the thread processor defines.
 */
int elan_code_load(struct nic *nic, site_id s, uint32_t context, uint32_t code,
	elan_code *run, uint32_t bytes, uint64_t *at);
/* A core's store of 8 to 128 bytes of code, whole words; like elan_store(). */
sim_time elan_code_store(struct nic *nic, struct sim_worker *w, site_id s,
	sim_time t, uint64_t at, const uint64_t *words, uint32_t n);

/* Called by threads, which may match messages: their trips if time is budgeted,
 * or NULL. */
struct trips *elan_thread_trips(void);

/* --- input queues --- */

/* Makes an input queue for a context; 0, or EINVAL, EBUSY, or ENOMEM if the
 * card's memory has no room for it. */
int elan_input_open(struct nic *nic, site_id s, uint32_t context,
	const struct elan_iq_options *i);
/* EINVAL, or EBUSY while messages are in it, or threads wait for it. */
int elan_input_close(struct nic *nic, site_id s, uint32_t context, uint32_t id);

/* --- stores into a queue's page --- */

/*
 * A core's store of 8 to 128 bytes, whole words, handed to the bus at t, which
 * may be later than now.  Returns when the bus has taken it: the core can store
 * no faster.  If it does not fit into the queue's room of now, the queue stops
 * when it arrives.
 */
sim_time elan_store(struct nic *nic, struct sim_worker *w, site_id s,
	sim_time t, uint32_t queue, uint32_t offset, const uint64_t *words,
	uint32_t n);

/* For the time budget: the message whose words begin at a position, bytes since
 * the queue was opened, began at t; SIM_NEVER: when its first word is stored.
 */
void elan_note_birth(struct nic *nic, site_id s, uint32_t queue,
	uint64_t position, sim_time t);

/* Its depth in bytes; 0: not open. */
uint32_t elan_queue_depth(const struct nic *nic, site_id s, uint32_t queue);
/* The context whose it is; ELAN_CONTEXTS: not open. */
uint32_t elan_queue_context(const struct nic *nic, site_id s, uint32_t queue);
/* Bytes for which a queue certainly has room. */
uint64_t elan_queue_room(const struct nic *nic, site_id s, uint32_t queue);

/* --- counts, for tests and reports; only while nothing runs --- */

struct elan_counts {
	uint64_t commands, packets, acks, nacks, resent, duplicates, timeouts;
	uint64_t dropped, aborted, dmas, gets, reads, writes, merged;
	uint64_t interrupts, fired;
	uint64_t copied; /* bytes, to memory or queues by events */
	uint64_t threads, swaps; /* started; from one to another */
	uint64_t asked_again; /* gets that were not answered in time */
	uint64_t appended; /* words, to queues by units of the card */
	uint64_t denied; /* packets whose test said no, at their sender */
	/* of packets that bits were flipped in: a transaction wrong, the
	 * header wrong, and those that no CRC has seen */
	uint64_t torn, unreadable, escapes;
	uint64_t violations; /* of these, seen by the wire's code */
	/* packets with data, and their time from the sender's card to the
	 * receiver's bus */
	uint64_t networked, network_ps;
	/* of the cache in front of card memory, by enum elan_unit */
	uint64_t hits[ELAN_UNITS], misses[ELAN_UNITS], written_back;
	uint64_t all_hits, all_misses; /* their sums */
	/* of TLBs: pages that were there, or came; blocks after the first */
	uint64_t tlb_hits, tlb_fills, tlb_links;
	uint64_t faults; /* pages that the driver was asked for */
	uint64_t fetched, exchanged; /* queues: to the chip; by the driver */
	uint64_t corrected, uncorrectable; /* words of card memory */
	uint64_t messages; /* in input queues */
	uint64_t lost; /* packets and DMAs that their queue went on without */
	uint64_t forsaken; /* slots whose message stayed a part of one */
	uint64_t noted[ELAN_FIGURES]; /* by threads */
	uint64_t errors[ELAN_ERRORS];
};

struct elan_counts elan_counts(const struct nic *nic, site_id s);
/* The rest of an event's count. */
int64_t elan_event_count(const struct nic *nic, site_id s, uint32_t event);

#endif
