/*
 * Page tables in card memory (QSN-F56): one for each active page size, with
 * real bytes.  A table is hashed by context and page; a place of it is the
 * first block of a chain:
 *
 *	entry 0, 1, 2   page: its address, ENTRY_... in the lowest bits
 *	                frame: context << 50 | where it is, TO_... below
 *	link            the next block, or 0
 *
 * A frame is 31 bits of card memory, 50 bits of the host's with one of four
 * upper parts, or a page of command queues (QSN-F54).  Pages have 4 KiB at
 * least, so the lowest 12 bits of both words are free.
 *
 * The driver's memory is the truth: a page that it has given to the card, and
 * which was never looked at, gets its entry at the first look.  So an entry may
 * be lost where card memory is full.
 */
#include "nic/elan4/units.h"

enum {
	BLOCKS = 1024, /* of a table, without links */
	ENTRIES = 3, /* of a block */
	UPPER_SHIFT = 50,
};

enum { ENTRY_VALID = 1, ENTRY_NOWHERE = 2 };

enum {
	TO_HOST = 1,
	TO_CARD = 2,
	TO_QUEUE = 3,
	TO_MASK = 3,
	SELECT_SHIFT = 2,
	SELECT_MASK = 3 << SELECT_SHIFT,
};

static const uint64_t low = (UINT64_C(1) << UPPER_SHIFT) - 1;

struct entry {
	uint64_t page, frame;
};

struct block {
	struct entry entry[ENTRIES];
	uint64_t link, unused;
};

_Static_assert(sizeof(struct block) == ELAN_PAGE_BLOCK, "one line");

/* --- frames --- */

/* The upper parts of the host's addresses that a page can select. */
static const uint64_t upper[ELAN_BANKS] = { 0, 0x1000, 0x2000, 0x3000 };

uint64_t elan_bank(uint32_t bank)
{
	return upper[bank] << UPPER_SHIFT;
}

uint64_t elan_frame(uint64_t to, bool is_queue)
{
	uint64_t select = 0;

	if (is_queue)
		return (to & low) | TO_QUEUE;
	if (elan_is_card(to))
		return (to - ELAN_CARD_AT) | TO_CARD;
	while (upper[select] != to >> UPPER_SHIFT)
		select++;
	return (to & low) | select << SELECT_SHIFT | TO_HOST;
}

uint64_t elan_frame_at(uint64_t frame)
{
	uint64_t at = frame & low & ~UINT64_C(0xfff);

	if ((frame & TO_MASK) == TO_CARD)
		return at + ELAN_CARD_AT;
	return at | upper[(frame & SELECT_MASK) >> SELECT_SHIFT] << UPPER_SHIFT;
}

/* --- chains --- */

bool elan_table_open(struct elan_node *n)
{
	struct elan_mmu *m = &n->mmu;

	for (uint32_t i = 0; i < ELAN_TLBS; i++)
		if (!m->table[i])
			m->table[i] = elan_sdram_take(&n->sdram,
				BLOCKS * sizeof(struct block), MEMORY_PAGE);
	return m->table[0] && m->table[ELAN_TLBS - 1];
}

static uint64_t first_block(
	const struct elan_node *n, const struct elan_page *p)
{
	uint64_t hash = (p->at >> p->shift) ^ p->context;

	return n->mmu.table[p->tlb] + hash % BLOCKS * sizeof(struct block);
}

static struct block *block_at(struct elan_node *n, uint64_t at)
{
	return (void *)elan_sdram_place(&n->sdram, at);
}

static uint64_t name_of(const struct elan_page *p)
{
	return p->at | ENTRY_VALID | (p->is_nowhere ? ENTRY_NOWHERE : 0);
}

static struct entry *find(struct block *b, const struct elan_page *p)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		if (b->entry[i].page == name_of(p) &&
			b->entry[i].frame >> UPPER_SHIFT == p->context)
			return &b->entry[i];
	return NULL;
}

struct elan_found elan_table_find(
	const struct nic_at *a, const struct elan_page *p)
{
	struct elan_node *n = a->node;
	struct elan_found f = { 0 };
	uint64_t at = first_block(n, p);

	for (;;) {
		struct block *b = block_at(n, at);
		const struct entry *e;

		f.is_bad = !elan_sdram_is_sound(a, at, sizeof(*b));
		e = f.is_bad ? NULL : find(b, p);
		f.has = e;
		f.frame = e ? e->frame & low : 0;
		if (e || f.is_bad || !b->link)
			return f;
		at = b->link;
		f.links++;
	}
}

/* A new block at the end of a chain; NULL: card memory is full. */
static struct block *lengthen(struct elan_node *n, struct block *last)
{
	uint64_t at =
		elan_sdram_take(&n->sdram, sizeof(struct block), ELAN_GRAIN);

	if (!at)
		return NULL;
	*block_at(n, at) = (struct block){ 0 };
	last->link = at;
	return block_at(n, at);
}

void elan_table_add(
	struct elan_node *n, const struct elan_page *p, uint64_t frame)
{
	struct block *b = block_at(n, first_block(n, p)), *next;
	struct entry *e = NULL;

	while (!e) {
		for (uint32_t i = 0; !e && i < ENTRIES; i++)
			if (!b->entry[i].page)
				e = &b->entry[i];
		if (e)
			break;
		next = b->link ? block_at(n, b->link) : lengthen(n, b);
		if (!next)
			e = &b->entry[ENTRIES - 1]; /* it can be made again */
		else
			b = next;
	}
	*e = (struct entry){ name_of(p),
		(uint64_t)p->context << UPPER_SHIFT | frame };
}

static void clean(struct block *b, uint32_t context)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		if (b->entry[i].page & ENTRY_NOWHERE &&
			b->entry[i].frame >> UPPER_SHIFT == context)
			b->entry[i] = (struct entry){ 0 };
}

void elan_table_clean(struct elan_node *n, uint32_t context)
{
	uint64_t at = n->mmu.table[0], next;

	for (uint32_t i = 0; i < BLOCKS; i++, at += sizeof(struct block))
		for (next = at; next; next = block_at(n, next)->link)
			clean(block_at(n, next), context);
}

void elan_table_remove(struct elan_node *n, const struct elan_page *p)
{
	uint64_t at = first_block(n, p);
	struct entry *e;

	for (; at; at = block_at(n, at)->link) {
		e = find(block_at(n, at), p);
		if (e)
			*e = (struct entry){ 0 };
	}
}
