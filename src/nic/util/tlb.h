/*
 * A cache of translations: sets of so many ways, of which the one that was
 * used least recently goes.  It takes no time and walks no tables: whoever
 * misses finds the translation at its own cost and puts it in.  Pages of any
 * size may be in it at once; the owner names a page by its number, and numbers
 * of pages of different sizes, or of different owners, apart by a space.
 */
#ifndef NIC_UTIL_TLB_H
#define NIC_UTIL_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/nic.h"

struct tlb {
	struct tlb_entry **set; /* [set][way]; NULL until used, each of them */
	uint32_t n_used; /* sets */
	uint32_t sets, ways; /* sets: a power of two, or 0: it is off */
	uint64_t uses; /* ever: stamps of entries */
	uint64_t hits, misses;
};

/* Entries in all: a power of two times the ways, or 0. */
void tlb_init(struct tlb *t, uint32_t entries, uint32_t ways);
void tlb_fini(struct tlb *t);
uint64_t tlb_memory(const struct tlb *t);
extern const struct nic_member_ops tlb_member;

/* Whether a page is in it, and what it is; counted, and used most recently. */
bool tlb_look(struct tlb *t, uint32_t space, uint64_t page, uint64_t *frame);
/* Puts a page in, in place of what it was or of another one. */
void tlb_put(struct tlb *t, uint32_t space, uint64_t page, uint64_t frame);
/* Takes out the pages of a space from first on; returns how many were in. */
uint32_t tlb_drop(struct tlb *t, uint32_t space, uint64_t first, uint64_t n);

#endif
