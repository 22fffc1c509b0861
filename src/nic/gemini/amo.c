/*
 * Atomic memory operations (AMOs).  The unit begins one after the other, an
 * interval apart.  If the word is in its cache, it is changed there; otherwise
 * memory is read, while operations on other words go on.  Changes are written
 * to memory at once, or, lazily, when a word leaves the cache.
 *
 * The unit has an item for each word that is in the cache, is being read, or
 * has writes on their way.  A read that begins after a write returns the
 * written value: on the bus reads do not overtake writes.
 *
 * The node's own loads and stores bypass the cache (GEM-F31).  Puts and gets
 * through the interface take words out of it.
 */
#include <errno.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "nic/gemini/card.h"

struct word {
	struct slot slot; /* of those in the cache, least recently used first */
	uint64_t at, value;
	uint32_t writes; /* on their way */
	bool is_cached, is_dirty;
	bool is_read; /* being read, for: */
	struct packet_list waiting;
};

struct write {
	uint32_t word;
	uint64_t value;
};

struct gem_amo {
	struct slots words;
	struct index index; /* of them, by address */
	struct slot_list used;
	uint32_t n_cached, n_reads;
	struct packet_list again; /* waited for a word, which is here */
	struct packet_list in; /* in front of the unit */
	struct ring writes; /* in the order in which they end */
	sim_time free_at;
	bool is_posted, is_stuck; /* too many reads */
};

/* --- life --- */

static struct gem_amo *amo_of(const struct nic_at *a)
{
	struct gem_node *n = a->node;

	if (n->amo)
		return n->amo;
	n->amo = mem_alloc(1, sizeof(*n->amo));
	slots_init(&n->amo->words, sizeof(struct word));
	ring_init(&n->amo->writes, sizeof(struct write));
	return n->amo;
}

static void gem_amo_fini(struct gem_amo **a)
{
	struct gem_amo *x = *a;

	if (!x)
		return;
	slots_fini(&x->words);
	index_fini(&x->index);
	ring_fini(&x->writes);
	mem_free(x);
}

static uint64_t gem_amo_memory(struct gem_amo *const *a)
{
	const struct gem_amo *x = *a;

	return x ? sizeof(*x) + slots_memory(&x->words) +
			       index_memory(&x->index) + ring_memory(&x->writes)
		 : 0;
}

NIC_MEMBER_OPS(gem_amo, NULL);

/* --- words --- */

static uint32_t find(struct gem_amo *x, uint64_t at)
{
	uint32_t id = index_find(&x->index, at);
	struct word *w;

	if (id)
		return id;
	id = slots_take(&x->words);
	w = slots_at(&x->words, id);
	w->at = at;
	index_add(&x->index, at, id);
	return id;
}

static void forget_idle(struct gem_amo *x, uint32_t id)
{
	const struct word *w = slots_at(&x->words, id);

	if (w->is_cached || w->is_read || w->writes)
		return;
	index_remove(&x->index, w->at);
	slots_give(&x->words, id);
}

static void write_out(const struct nic_at *a, struct gem_amo *x, uint32_t id)
{
	struct word *w = slots_at(&x->words, id);
	struct side *side = gem_of(a)->side;

	w->is_dirty = false;
	w->writes++;
	*(struct write *)ring_push(&x->writes) = (struct write){ id, w->value };
	gem_here(a)->amo_writes++;
	gem_post(a, side->ops->write(side, a->s, a->t, w->at, 8),
		GEM_AMO_WRITTEN, 0);
}

void gem_amo_on_written(const struct nic_at *a, uint32_t none)
{
	struct gem_amo *x = amo_of(a);
	struct write done = *(struct write *)ring_pop(&x->writes);
	struct word *w = slots_at(&x->words, done.word);

	(void)none;
	host_write(a->nic->host, a->w, a->s, a->t, w->at, &done.value, 8);
	w->writes--;
	forget_idle(x, done.word);
}

/* --- the cache --- */

static void drop(const struct nic_at *a, struct gem_amo *x, uint32_t id)
{
	struct word *w = slots_at(&x->words, id);

	if (w->is_dirty)
		write_out(a, x, id);
	slots_remove(&x->words, &x->used, id);
	x->n_cached--;
	w->is_cached = false;
	forget_idle(x, id);
}

static void use(struct gem_amo *x, uint32_t id)
{
	slots_remove(&x->words, &x->used, id);
	slots_push(&x->words, &x->used, id);
}

/* A line for a word, in place of the least recently used one. */
static void take_line(const struct nic_at *a, struct gem_amo *x, uint32_t id)
{
	uint32_t lines = (uint32_t)gem_params(a)->amo_lines;

	if (!lines)
		return;
	if (x->n_cached == lines)
		drop(a, x, x->used.first);
	((struct word *)slots_at(&x->words, id))->is_cached = true;
	x->n_cached++;
	slots_push(&x->words, &x->used, id);
}

void gem_amo_touch(const struct nic_at *a, uint64_t at, uint32_t bytes)
{
	struct gem_amo *x = gem_here(a)->amo;
	uint64_t first = at - at % 8;
	uint32_t id;

	if (!x)
		return;
	for (; first < at + bytes; first += 8) {
		const struct word *w;

		id = index_find(&x->index, first);
		w = id ? slots_at(&x->words, id) : NULL;
		if (w && w->is_cached)
			drop(a, x, id);
	}
}

/* --- the unit --- */

static const enum atomic_op ops[GEMINI_AMOS] = {
	[GEMINI_ADD] = ATOMIC_STORE_ADD,
	[GEMINI_AND] = ATOMIC_STORE_AND,
	[GEMINI_OR] = ATOMIC_STORE_OR,
	[GEMINI_XOR] = ATOMIC_STORE_XOR,
	[GEMINI_AND_XOR] = ATOMIC_STORE_AND_XOR,
	[GEMINI_SWAP_IF] = ATOMIC_STORE_IF,
};

/* Does what a packet asks for with a word that is here. */
static void change(const struct nic_at *a, struct gem_amo *x, uint32_t id,
	packet_id packet)
{
	struct word *w = slots_at(&x->words, id);
	struct gem_load *l = gem_load(a, packet);
	uint64_t operand[2], old;
	bool has_two = a->nic->net->packets[packet].bytes > 8;

	memcpy(operand, l->data, sizeof(operand));
	w->value = atomic_apply(
		ops[l->amo], w->value, operand[has_two], operand[0], &old);
	memcpy(l->data, &old, 8);
	w->is_dirty = true;
	if (!w->is_cached || !gem_params(a)->amo_update)
		write_out(a, x, id);
	gem_target_done(a, packet);
}

static void go_on(const struct nic_at *a, struct gem_amo *x)
{
	if (x->is_posted || x->is_stuck || (!x->in.first && !x->again.first))
		return;
	x->is_posted = true;
	gem_post(a, x->free_at > a->t ? x->free_at : a->t + 1, GEM_AMO, 0);
}

static void read_word(const struct nic_at *a, uint32_t id);

static bool may_touch(const struct nic_at *a, uint64_t at)
{
	return !memory_ask(host_at(a->nic->host, a->s),
		MEMORY_MAY_READ(MEMORY_NIC) | MEMORY_MAY_WRITE(MEMORY_NIC), at,
		8);
}

/* The word is here for the first that waits; without a line it is read again
 * for the next one. */
static void on_read(const struct nic_at *a, const struct side_read *r)
{
	struct packet *packets = a->nic->net->packets;
	struct gem_amo *x = amo_of(a);
	struct word *w = slots_at(&x->words, r->id);

	if (!w->writes)
		host_read(a->nic->host, a->s, w->at, &w->value, 8);
	x->n_reads--;
	w->is_read = x->is_stuck = false;
	change(a, x, r->id, packet_pop(packets, &w->waiting));
	if (w->waiting.first && !w->is_cached)
		read_word(a, r->id);
	while (w->waiting.first && w->is_cached)
		packet_push(
			packets, &x->again, packet_pop(packets, &w->waiting));
	go_on(a, x);
}

static void read_word(const struct nic_at *a, uint32_t id)
{
	struct gem_amo *x = amo_of(a);
	struct word *w = slots_at(&x->words, id);

	x->n_reads++;
	w->is_read = true;
	side_reads_begin(a, &gem_here(a)->reads, w->at, 8, on_read, NULL, id);
}

/* False where it needs a read too many. */
static bool begin(const struct nic_at *a, struct gem_amo *x, packet_id packet)
{
	struct gem_load *l = gem_load(a, packet);
	uint32_t id = index_find(&x->index, l->offset);
	struct word *w = id ? slots_at(&x->words, id) : NULL;

	if (w && w->is_read) {
		packet_push(a->nic->net->packets, &w->waiting, packet);
	} else if (w && w->is_cached) {
		use(x, id);
		change(a, x, id, packet);
	} else if (!may_touch(a, l->offset)) {
		l->status = GEMINI_OUT_OF_BOUNDS;
		gem_target_done(a, packet);
	} else if (x->n_reads == (uint32_t)gem_params(a)->amo_reads) {
		return false;
	} else {
		id = find(x, l->offset);
		w = slots_at(&x->words, id);
		packet_push(a->nic->net->packets, &w->waiting, packet);
		gem_here(a)->amo_misses++;
		read_word(a, id);
		if (l->is_cached)
			take_line(a, x, id);
	}
	return true;
}

void gem_amo_on_free(const struct nic_at *a, uint32_t none)
{
	struct gem_amo *x = amo_of(a);
	struct packet_list *from = x->again.first ? &x->again : &x->in;
	struct packet *packets = a->nic->net->packets;
	packet_id packet = packet_pop(packets, from);

	(void)none;
	x->is_posted = false;
	x->free_at = a->t + gem_params(a)->amo_interval;
	if (!begin(a, x, packet)) {
		/* it stays in front */
		x->is_stuck = true;
		packets[packet].next = from->first;
		from->last = from->first ? from->last : packet;
		from->first = packet;
	}
	go_on(a, x);
}

void gem_amo_execute(const struct nic_at *a, packet_id id)
{
	struct gem_amo *x = amo_of(a);

	gem_here(a)->amos++;
	packet_push(a->nic->net->packets, &x->in, id);
	go_on(a, x);
}

/* --- flushes --- */

int gemini_amo_flush(struct nic *nic, uint32_t cq, uint64_t data)
{
	struct nic_at a = nic_now(nic);
	struct gem_node *n = a.node;
	struct side *side = gem_of(&a)->side;
	struct gem_event *x;
	uint32_t id;
	sim_time t;

	if (cq >= GEMINI_CQS || !n->cq[cq].entries)
		return EINVAL;
	id = slots_take(&n->events);
	x = slots_at(&n->events, id);
	x->cq = cq;
	x->e.data = data;
	program_charge(gem_params(&a)->store);
	a.t = program_now();
	t = side->ops->store(side, a.s, a.t, 8);
	gem_post(&a, t > a.t ? t : a.t + 1, GEM_FLUSH, id);
	return 0;
}

/* The event follows the words on the bus. */
void gem_amo_on_flush(const struct nic_at *a, uint32_t event)
{
	struct gem_node *n = a->node;
	struct gem_event *e = slots_at(&n->events, event);
	struct gem_amo *x = n->amo;

	while (x && x->used.first)
		drop(a, x, x->used.first);
	gem_cq_write(a, e->cq, e->e.data, GEMINI_OK);
	slots_give(&n->events, event);
}
