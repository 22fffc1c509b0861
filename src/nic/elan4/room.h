/*
 * What the card's memory is made of: its bytes and who has them, the cache in
 * front of it, and the translation of addresses.
 */
#ifndef NIC_ELAN4_ROOM_H
#define NIC_ELAN4_ROOM_H

#include "base/slots.h"
#include "nic/elan4/elan4.h"
#include "nic/nic.h"
#include "nic/util/tlb.h"

/* What goes on when memory, or the driver, has answered. */
typedef void elan_then(const struct nic_at *a, uint32_t id);

/* --- sdram.c --- */

enum {
	ELAN_GRAIN = 64, /* of allocations, bytes */
	ELAN_MADE = 16, /* pages that are found without a search */
};

/* Free bytes. */
struct elan_extent {
	uint64_t at, bytes;
};

/* What a context has taken. */
struct elan_grant {
	uint64_t at, bytes;
	uint32_t context;
	bool is_kept; /* by an input queue */
};

/* A word that differs from its check bits, unless it was written since. */
struct elan_flip {
	uint64_t at, word;
	uint8_t check;
};

/* A page that has been made, and where it is. */
struct elan_made {
	uint64_t page;
	uint8_t *bytes;
};

struct elan_sdram {
	struct memory *memory; /* the node's */
	struct elan_made made[ELAN_MADE]; /* by number: the last one */
	struct elan_flip *flip;
	uint32_t n_flips;
	struct elan_extent *free; /* by address, with gaps between them */
	uint32_t n_free;
	struct elan_grant *grant;
	uint32_t n_grants;
};

/* --- cache.c --- */

enum {
	ELAN_READ_PORTS = 2,
	ELAN_BUFFERED = 2, /* lines of the read buffer, and the write buffer */
};

/* Read ports of an access. */
enum elan_ports {
	ELAN_ANY_PORT, /* that is free first */
	ELAN_FIRST_PORT,
	ELAN_BOTH_PORTS,
};

/* Of all cards: what follows from the parameters. */
struct elan_cache_how {
	uint32_t line; /* bytes: a power of two, of so many bits */
	uint32_t bits;
	uint32_t sets, ways, fills;
	sim_time latency; /* of the SDRAM */
	sim_time sdram, port; /* a line's time there */
	sim_time word; /* eight bytes through a port */
	bool is_on;
};

struct elan_fill {
	uint32_t line;
	sim_time ready;
};

struct elan_cache {
	/* [set][way], the most recently used first: 1 + line, and whether it
	 * was changed; 0: none.  NULL until used. */
	uint64_t *tag;
	uint32_t n_tags;
	sim_time read[ELAN_READ_PORTS], write, filling; /* ports: free at */
	sim_time sdram; /* free at */
	sim_time drained[ELAN_BUFFERED], cleaned[ELAN_BUFFERED];
	uint32_t next_drained, next_cleaned;
	struct elan_fill fill[ELAN_MOST_FILLS];
	sim_time filled; /* all fills are over */
};

/* --- context.c --- */

enum elan_area_flag {
	ELAN_BIG_ENDIAN = 1, /* of words that the card itself writes */
	ELAN_READ_ONLY = 2,
	ELAN_TO_QUEUE = 4, /* its bytes are commands */
	ELAN_ITS_OWN = 8, /* the context's memory, at its own addresses */
};

/* Addresses of a context, [first, last], that follow each other in memory. */
struct elan_area {
	uint64_t first, last;
	uint64_t
		to; /* where the first is: in the host's memory or the card's */
	uint32_t context;
	uint8_t tlb; /* by its page size */
	uint8_t flags; /* of enum elan_area_flag */
	uint64_t *out; /* a bit for each page that the tables lack; or NULL */
	uint64_t n_pages;
};

struct elan_areas {
	struct elan_area *area; /* by context, then by address */
	uint32_t n;
	uint64_t bits; /* of pages, in words */
	/* the host's memory for them, by bank: ever taken, and now, bytes */
	uint64_t taken[ELAN_BANKS], used[ELAN_BANKS];
};

/* --- mmu.c, table.c --- */

enum {
	ELAN_TLBS = 2, /* one for each active page size */
	ELAN_TLB_WAYS = 4,
	ELAN_WALKS = 4, /* fills of TLBs at a time */
	ELAN_RECENT = 32, /* translations that are found without a search */
};

/* Of all cards: what follows from the parameters. */
struct elan_mmu_how {
	uint8_t shift[ELAN_TLBS]; /* of page sizes, the smaller one first */
	bool is_on, is_demand;
	sim_time fill, link;
};

/* A page on its way into a TLB. */
struct elan_walk {
	uint64_t page; /* its address */
	sim_time ready;
	uint32_t context;
};

/* A translation that was used: [first, first + more] of a context, in one
 * page. */
struct elan_recent {
	uint64_t first, more;
	uint64_t to;
	uint32_t context;
	uint8_t flags; /* of enum elan_area_flag */
	uint8_t tlb;
	struct tlb_entry *entry; /* in it, or NULL: its page there is */
	uint64_t page;
};

struct elan_mmu {
	struct elan_recent recent; /* the last one */
	/* others, by address, of which only the TLB knows whether it still has
	 * them */
	struct elan_recent before[ELAN_RECENT];
	struct tlb tlb[ELAN_TLBS];
	uint64_t table[ELAN_TLBS]; /* in card memory; 0: none yet */
	struct elan_walk *walk; /* some of them are over */
	uint32_t n_walks, walk_room;
	sim_time walked[ELAN_WALKS]; /* engines: free at */
	sim_time filled; /* all fills are over */
};

/* --- fault.c --- */

/* What waits for the driver. */
struct elan_waiter {
	struct slot slot;
	elan_then *then;
	uint32_t id;
};

/* A page that the driver is to find. */
struct elan_fault {
	struct slot slot;
	uint64_t at;
	uint32_t context;
	struct slot_list waiters;
};

struct elan_faults {
	struct slots items; /* struct elan_fault */
	struct slots waiters; /* struct elan_waiter */
	uint32_t n_nowhere; /* entries of the tables: see elan_fault_forget() */
};

#endif
