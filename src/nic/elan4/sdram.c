/*
 * The card's own memory (QSN-F15): a device's range of the node's memory, with
 * real bytes, from ELAN_CARD_AT on.  Command queues, their descriptors and
 * events lie there, and what programs take of it.  Cores have no right to it:
 * they reach it by commands, or by slow loads over the bus.
 *
 * It takes no time: cache.c says how long an access takes.
 */
#include "nic/elan4/units.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/secded.h"
#include "link/faults.h"

_Static_assert(ELAN_CARD_AT == UINT64_C(1) << MEMORY_DEVICE_SHIFT,
	"the card is device 0");

/* --- life --- */

static void insert(struct elan_sdram *x, uint32_t i, struct elan_extent e)
{
	x->free = mem_grow(x->free, x->n_free + 1, sizeof(*x->free));
	memmove(x->free + i + 1, x->free + i,
		(x->n_free - i) * sizeof(*x->free));
	x->free[i] = e;
	x->n_free++;
}

void elan_sdram_open(
	struct elan_sdram *x, struct memory *memory, uint64_t bytes)
{
	const struct memory_range r = {
		.at = ELAN_CARD_AT,
		.bytes = bytes,
		.kind = MEMORY_OF_DEVICE,
		.rights = MEMORY_MAY_READ(MEMORY_NIC) |
			  MEMORY_MAY_WRITE(MEMORY_NIC),
	};

	BUG_IF(!memory_add_range(memory, &r));
	x->memory = memory;
	insert(x, 0, (struct elan_extent){ r.at, r.bytes });
}

static void elan_sdram_fini(struct elan_sdram *x)
{
	mem_free(x->free);
	mem_free(x->grant);
	mem_free(x->flip);
}

static uint64_t elan_sdram_memory(const struct elan_sdram *x)
{
	return x->n_free * sizeof(*x->free) + x->n_grants * sizeof(*x->grant) +
	       x->n_flips * sizeof(*x->flip);
}

NIC_MEMBER_OPS(elan_sdram, NULL);

/* --- bytes --- */

static struct elan_made *made_at(struct elan_sdram *x, uint64_t at)
{
	return &x->made[at / MEMORY_PAGE % ELAN_MADE];
}

uint8_t *elan_sdram_place(struct elan_sdram *x, uint64_t at)
{
	struct elan_made *m = made_at(x, at);

	if (m->page != at / MEMORY_PAGE) {
		m->bytes = memory_device_page(x->memory, at);
		m->page = at / MEMORY_PAGE;
		BUG_IF(!m->bytes);
	}
	return m->bytes + at % MEMORY_PAGE;
}

/* Finds a page, unless it was never written. */
static __attribute__((noinline)) void look(struct elan_sdram *x, uint64_t at)
{
	if (memory_has_page(x->memory, at))
		elan_sdram_place(x, at);
}

/* Most are a word, or four. */
static inline void copy(void *to, const void *from, uint32_t bytes)
{
	if (bytes == 8)
		memcpy(to, from, 8);
	else if (bytes == 32)
		memcpy(to, from, 32);
	else
		memcpy(to, from, bytes);
}

void elan_sdram_read(
	const struct nic_at *a, uint64_t at, void *to, uint32_t bytes)
{
	const uint8_t *from = elan_sdram_made(&elan_here(a)->sdram, at, bytes);

	if (__builtin_expect(!from, 0)) {
		look(&elan_here(a)->sdram, at);
		host_read(a->nic->host, a->s, at, to, bytes);
		return;
	}
	copy(to, from, bytes);
}

void elan_sdram_write(const struct nic_at *a, sim_time t, uint64_t at,
	const void *from, uint32_t bytes)
{
	uint8_t *to = elan_sdram_made(&elan_here(a)->sdram, at, bytes);

	if (__builtin_expect(!to, 0)) {
		host_write(a->nic->host, a->w, a->s, t, at, from, bytes);
		look(&elan_here(a)->sdram, at);
		return;
	}
	copy(to, from, bytes);
	host_tell(a->nic->host, a->w, a->s, t, at, bytes);
}

/* --- check bits --- */

void elan_sdram_flip(struct elan_sdram *x, uint64_t at, uint64_t bits)
{
	struct elan_flip *f;
	uint64_t word;

	memcpy(&word, elan_sdram_place(x, at), 8);
	x->flip = mem_grow(x->flip, x->n_flips + 1, sizeof(*x->flip));
	f = &x->flip[x->n_flips++];
	*f = (struct elan_flip){ at, word ^ bits, secded_encode(word) };
	memcpy(elan_sdram_place(x, at), &f->word, 8);
}

/* Reads a word with bad bits: puts back what can be mended. */
static enum secded_state read_flip(
	struct elan_sdram *x, const struct elan_flip *f)
{
	enum secded_state state = SECDED_CLEAN;
	uint64_t word;

	memcpy(&word, elan_sdram_place(x, f->at), 8);
	if (word == f->word)
		state = secded_decode(&word, f->check);
	if (state == SECDED_CORRECTED)
		memcpy(elan_sdram_place(x, f->at), &word, 8);
	return state;
}

bool elan_sdram_read_bad(const struct nic_at *a, uint64_t at, uint32_t bytes)
{
	struct elan_sdram *x = &elan_here(a)->sdram;
	struct faults *f = a->nic->net->faults;
	struct fault_words w = { 0 };
	uint64_t first = at / 8 * 8, word;

	if (f && f->memory) {
		memory_read(x->memory, MEMORY_NIC, first, &word, 8);
		w = faults_words(f, a->s,
			(uint32_t)((at + bytes - first + 7) / 8), word);
	}
	for (uint32_t i = 0; i < x->n_flips;) {
		enum secded_state state = SECDED_CLEAN;

		if (x->flip[i].at < first || x->flip[i].at >= at + bytes) {
			i++;
			continue;
		}
		state = read_flip(x, &x->flip[i]);
		w.mended += state == SECDED_CORRECTED;
		w.bad += state == SECDED_BAD;
		if (state == SECDED_BAD)
			i++;
		else
			x->flip[i] = x->flip[--x->n_flips];
	}
	elan_count(a)->corrected += w.mended;
	elan_count(a)->uncorrectable += w.bad;
	return !w.bad;
}

/* --- the driver's allocator --- */

static uint64_t whole(uint64_t bytes)
{
	return (bytes + ELAN_GRAIN - 1) / ELAN_GRAIN * ELAN_GRAIN;
}

static void erase(struct elan_sdram *x, uint32_t i)
{
	x->n_free--;
	memmove(x->free + i, x->free + i + 1,
		(x->n_free - i) * sizeof(*x->free));
}

/* Cuts [at, at + bytes) out of the i-th free extent. */
static void cut(struct elan_sdram *x, uint32_t i, uint64_t at, uint64_t bytes)
{
	struct elan_extent old = x->free[i];
	uint64_t end = at + bytes;

	x->free[i].bytes = at - old.at;
	if (old.at + old.bytes > end)
		insert(x, i + 1,
			(struct elan_extent){ end, old.at + old.bytes - end });
	if (!x->free[i].bytes)
		erase(x, i);
}

uint64_t elan_sdram_take(struct elan_sdram *x, uint64_t bytes, uint64_t align)
{
	bytes = whole(bytes);
	for (uint32_t i = 0; bytes && i < x->n_free; i++) {
		const struct elan_extent *e = &x->free[i];
		uint64_t at = (e->at + align - 1) / align * align;

		if (at - e->at > e->bytes || bytes > e->bytes - (at - e->at))
			continue;
		cut(x, i, at, bytes);
		return at;
	}
	return 0;
}

/* The next owner finds zeros; pages that were never written are not made. */
static void clear(struct elan_sdram *x, uint64_t at, uint64_t bytes)
{
	static const uint8_t zeros[MEMORY_PAGE];
	uint8_t page[MEMORY_PAGE];
	uint64_t n, end = at + bytes;

	for (; at < end; at += n) {
		n = end - at < sizeof(page) ? end - at : sizeof(page);
		memory_read(x->memory, MEMORY_NIC, at, page, n);
		if (memcmp(page, zeros, n) != 0)
			memory_write(x->memory, MEMORY_NIC, at, zeros, n);
	}
}

void elan_sdram_give(struct elan_sdram *x, uint64_t at, uint64_t bytes)
{
	uint32_t i = 0;

	bytes = whole(bytes);
	clear(x, at, bytes);
	while (i < x->n_free && x->free[i].at < at)
		i++;
	insert(x, i, (struct elan_extent){ at, bytes });
	if (i + 1 < x->n_free && at + bytes == x->free[i + 1].at) {
		x->free[i].bytes += x->free[i + 1].bytes;
		erase(x, i + 1);
	}
	if (i && x->free[i - 1].at + x->free[i - 1].bytes == at) {
		x->free[i - 1].bytes += x->free[i].bytes;
		erase(x, i);
	}
}

uint64_t elan_sdram_left(const struct elan_sdram *x)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < x->n_free; i++)
		sum += x->free[i].bytes;
	return sum;
}

/* --- of contexts --- */

const struct elan_grant *elan_sdram_find(const struct elan_sdram *x,
	uint32_t context, uint64_t at, uint64_t bytes)
{
	for (uint32_t i = 0; i < x->n_grants; i++) {
		const struct elan_grant *g = &x->grant[i];

		if (g->context == context && at >= g->at &&
			at - g->at <= g->bytes &&
			bytes <= g->bytes - (at - g->at))
			return g;
	}
	return NULL;
}

static struct elan_sdram *sdram_of(struct nic *nic, site_id s)
{
	struct elan_node *n = nic_node(nic, s);

	return &n->sdram;
}

static int take(struct nic *nic, site_id s, uint32_t context, uint64_t bytes,
	uint64_t align, bool is_kept, uint64_t *at)
{
	struct elan_sdram *x = sdram_of(nic, s);

	if (!bytes || context >= ELAN_CONTEXTS)
		return EINVAL;
	if (bytes > (uint64_t)elan_params_of(nic)->memory.size)
		return ENOMEM;
	*at = elan_sdram_take(x, bytes, align);
	if (!*at)
		return ENOMEM;
	x->grant = mem_grow(x->grant, x->n_grants + 1, sizeof(*x->grant));
	x->grant[x->n_grants++] =
		(struct elan_grant){ *at, whole(bytes), context, is_kept };
	elan_fault_forget(nic_node(nic, s), context);
	return 0;
}

int elan_memory_take(struct nic *nic, site_id s, uint32_t context,
	uint64_t bytes, uint64_t *at)
{
	return take(nic, s, context, bytes, ELAN_GRAIN, false, at);
}

uint64_t elan_memory_keep(struct nic *nic, site_id s, uint32_t context,
	uint64_t bytes, uint64_t align)
{
	uint64_t at;

	return take(nic, s, context, bytes, align, true, &at) ? 0 : at;
}

int elan_memory_load(const struct nic_at *a, uint32_t context, uint64_t at,
	uint64_t *word, sim_time *late)
{
	if (!elan_sdram_find(&elan_here(a)->sdram, context, at, 8))
		return EFAULT;
	if (!elan_sdram_is_sound(a, at, 8))
		return EIO;
	host_read(a->nic->host, a->s, at, word, 8);
	*late = elan_cache_read(a, ELAN_BY_CORE, at, 8, a->t) - a->t;
	return 0;
}

static void forget(struct nic *nic, site_id s)
{
	struct elan_node *n = nic_node(nic, s);

	elan_mmu_forget(&n->mmu);
}

static void give(struct elan_sdram *x, struct elan_grant *grant)
{
	struct elan_grant g = *grant;

	*grant = x->grant[--x->n_grants];
	elan_sdram_give(x, g.at, g.bytes);
}

/* NULL: nothing was taken there. */
static struct elan_grant *find(struct elan_sdram *x, uint64_t at)
{
	for (uint32_t i = 0; i < x->n_grants; i++)
		if (x->grant[i].at == at)
			return &x->grant[i];
	return NULL;
}

int elan_memory_give(struct nic *nic, site_id s, uint32_t context, uint64_t at)
{
	struct elan_sdram *x = sdram_of(nic, s);
	struct elan_grant *g = find(x, at);

	if (!g || g->context != context || g->is_kept)
		return EINVAL;
	forget(nic, s);
	give(x, g);
	return 0;
}

void elan_memory_drop(struct nic *nic, site_id s, uint64_t at)
{
	struct elan_sdram *x = sdram_of(nic, s);

	forget(nic, s);
	give(x, find(x, at));
}
