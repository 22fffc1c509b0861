/*
 * Code of threads.  It has a length, lies in card memory, where the core that
 * loads it stores it (QSN-F12), and runs through the instruction cache
 * (QSN-F64).  What it does is a C function; the bytes in card memory stand for
 * its instructions.
 *
 * Which instructions a thread executes is not known.  The model is that it runs
 * through all of its code whenever it gets the processor: each line that is not
 * in the instruction cache is then read, through the data cache, one after the
 * other.  So threads whose code fits into it together only miss once.
 *
 * An *image* is code in card memory.  Threads that were started keep it when
 * their number gets other code.
 */
#include "nic/elan4/thread.h"

#include <errno.h>

#include "base/bits.h"
#include "base/mem.h"

enum { WAYS = 4 };

/* --- images --- */

static struct elan_image *image(const struct elan_threads *h, uint32_t id)
{
	return slots_at(&h->images, id);
}

/* Its lines are no longer in the instruction cache. */
static void forget(struct elan_threads *h, const struct elan_image *i)
{
	h->hot = 0;
	for (uint32_t k = 0; k < h->n_tags; k++)
		if (h->tag[k] - i->at < i->bytes)
			h->tag[k] = 0;
}

static void drop(struct elan_node *n, uint32_t id)
{
	struct elan_threads *h = n->threads;
	const struct elan_image *i = image(h, id);

	if (i->is_loaded || i->users)
		return;
	forget(h, i);
	if (i->bytes)
		elan_sdram_give(&n->sdram, i->at, i->bytes);
	slots_give(&h->images, id);
}

/* 0: card memory is full. */
static uint32_t new_image(struct elan_node *n, elan_code *run, uint32_t bytes)
{
	struct elan_threads *h = n->threads;
	uint64_t at = bytes ? elan_sdram_take(&n->sdram, bytes, ELAN_GRAIN) : 0;
	struct elan_image *i;
	uint32_t id;

	if (bytes && !at)
		return 0;
	id = slots_take(&h->images);
	i = image(h, id);
	i->run = run;
	i->at = at;
	i->bytes = bytes;
	i->is_loaded = true;
	return id;
}

/* --- numbers --- */

static struct thread_code *find(
	const struct elan_threads *h, uint32_t context, uint64_t number)
{
	for (uint32_t i = 0; h && i < h->n_codes; i++)
		if (h->codes[i].context == context &&
			h->codes[i].number == number)
			return &h->codes[i];
	return NULL;
}

static struct thread_code *find_or_add(
	struct elan_threads *h, uint32_t context, uint32_t number)
{
	struct thread_code *c = find(h, context, number);

	if (c)
		return c;
	h->codes = mem_grow(h->codes, h->n_codes + 1, sizeof(*h->codes));
	c = &h->codes[h->n_codes++];
	*c = (struct thread_code){ context, number, 0 };
	return c;
}

int elan_code_load(struct nic *nic, site_id s, uint32_t context, uint32_t code,
	elan_code *run, uint32_t bytes, uint64_t *at)
{
	struct elan_node *n = nic_node(nic, s);
	struct elan_threads *h = elan_threads_of(n);
	struct thread_code *c;
	uint32_t id = 0;

	if (context >= ELAN_CONTEXTS || code >= ELAN_CODES ||
		bytes > ELAN_CODE_MOST || bytes % 8)
		return EINVAL;
	if (run) {
		id = new_image(n, run, bytes);
		if (!id)
			return ENOMEM;
		if (at)
			*at = image(h, id)->at;
	}
	c = find_or_add(h, context, code);
	if (c->image) {
		image(h, c->image)->is_loaded = false;
		drop(n, c->image);
	}
	c->image = id;
	return 0;
}

sim_time elan_code_store(struct nic *nic, struct sim_worker *w, site_id s,
	sim_time t, uint64_t at, const uint64_t *words, uint32_t n)
{
	struct elan *x = (struct elan *)nic;
	struct nic_at a = nic_at(nic, w, s, t);
	sim_time came = x->side->ops->store(x->side, s, t, 8 * n);

	host_write(nic->host, w, s, t, at, words, 8 * (size_t)n);
	elan_cache_write(&a, ELAN_BY_CORE, at, 8 * n, came);
	return came - x->host.store;
}

/* --- threads --- */

uint32_t elan_code_take(
	struct elan_threads *h, uint32_t context, uint64_t number)
{
	const struct thread_code *c = find(h, context, number);

	if (!c || !c->image)
		return 0;
	image(h, c->image)->users++;
	return c->image;
}

void elan_code_give(struct elan_node *n, uint32_t id)
{
	image(n->threads, id)->users--;
	drop(n, id);
}

/* --- the instruction cache --- */

int elan_code_set_up(const struct elan_params *p, struct err *e)
{
	int64_t set = WAYS * p->cache.line;

	if (p->thread_icache % set || !bits_is_power(p->thread_icache / set))
		return err_set(e,
			"nic.thread.icache: %lld bytes are not a power of two "
			"times %d lines of %lld bytes",
			(long long)p->thread_icache, WAYS,
			(long long)p->cache.line);
	return 0;
}

static uint64_t *set_of(const struct nic_at *a, uint64_t line)
{
	struct elan_threads *h = elan_here(a)->threads;
	uint32_t bytes = elan_of(a)->cache.line;

	if (!h->tag) {
		h->n_tags = (uint32_t)elan_params(a)->thread_icache / bytes;
		h->tag = mem_alloc(h->n_tags, sizeof(*h->tag));
	}
	return h->tag + line / bytes % (h->n_tags / WAYS) * WAYS;
}

/* Whether a line was there; it is the most recently used one now. */
static bool touch(uint64_t *set, uint64_t line)
{
	uint32_t way = 0;
	bool is_there;

	while (way < WAYS - 1 && set[way] != line)
		way++;
	is_there = set[way] == line;
	for (; way; way--)
		set[way] = set[way - 1];
	set[0] = line;
	return is_there;
}

sim_time elan_code_run(const struct nic_at *a, uint32_t id, sim_time t)
{
	struct elan_threads *h = elan_here(a)->threads;
	const struct elan_image *i = image(h, id);
	uint32_t bytes = elan_of(a)->cache.line;

	if (!elan_of(a)->cache.is_on || id == h->hot)
		return t;
	h->hot = i->bytes <= (uint64_t)elan_params(a)->thread_icache ? id : 0;
	for (uint64_t at = i->at; at < i->at + i->bytes; at += bytes) {
		if (touch(set_of(a, at), at))
			continue;
		t = elan_cache_stream(
			a, ELAN_BY_CODE, at, bytes, ELAN_ANY_PORT, t);
	}
	return t;
}
