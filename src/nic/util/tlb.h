/*
 * A set-associative cache of translations, which replaces the least recently
 * used.  It takes no time; after a miss the owner finds the translation at its
 * own cost and puts it in.  A page is named by its number; pages of different
 * sizes, or of different owners, are in different spaces.
 */
#ifndef NIC_UTIL_TLB_H
#define NIC_UTIL_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/nic.h"

struct tlb_entry {
	uint64_t page, frame;
	uint64_t used; /* a stamp; 0: empty */
	uint32_t space;
};

struct tlb {
	struct tlb_entry **set; /* [set][way]; NULL until used, each of them */
	uint32_t n_used; /* sets */
	uint32_t sets, ways; /* sets: a power of two, or 0: it is off */
	uint64_t uses; /* ever: stamps of entries */
	uint64_t hits, misses;
};

/* The number of entries: a power of two times the ways, or 0. */
void tlb_init(struct tlb *t, uint32_t entries, uint32_t ways);
void tlb_fini(struct tlb *t);
uint64_t tlb_memory(const struct tlb *t);
extern const struct nic_member_ops tlb_member;

/* Looks a page up; counts hits and misses. */
bool tlb_look(struct tlb *t, uint32_t space, uint64_t page, uint64_t *frame);
/* The place of a page, which it keeps until another one takes it, or NULL; and
 * a use of a page that was there: false if it is not there any more. */
struct tlb_entry *tlb_place(const struct tlb *t, uint32_t space, uint64_t page);
static inline bool tlb_touch(
	struct tlb *t, struct tlb_entry *x, uint32_t space, uint64_t page)
{
	if (!x->used || x->page != page || x->space != space)
		return false;
	t->hits++;
	x->used = ++t->uses;
	return true;
}

/* The same as looking, for one who only wants to know: it counts as no use. */
bool tlb_has(const struct tlb *t, uint32_t space, uint64_t page);
/* Adds or replaces a page. */
void tlb_put(struct tlb *t, uint32_t space, uint64_t page, uint64_t frame);
/* Drops n pages of a space from first on; returns how many there were. */
uint32_t tlb_drop(struct tlb *t, uint32_t space, uint64_t first, uint64_t n);

#endif
