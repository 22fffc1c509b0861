/*
 * Command queues.  Stores arrive in bursts, in any order within a window; words
 * are taken out in order.  The ring, in card memory, is the backing store: room
 * is freed only when a packet is acknowledged.  A mistake stops its queue, and
 * no other (QSN-F26).
 */
#include "nic/elan4/units.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

/* A store that is on its way: the bytes are in the ring already. */
struct elan_arrival {
	uint64_t end; /* position behind it */
	sim_time at;
	enum elan_error error; /* it stops the queue */
};

static const uint32_t depths[ELAN_DEPTHS] = {
	[ELAN_1K] = 1 << 10,
	[ELAN_8K] = 8 << 10,
	[ELAN_64K] = 64 << 10,
	[ELAN_512K] = 512 << 10,
};

static void set_queue(struct elan_node *n, uint32_t id, struct elan_queue *q)
{
	struct elan_queue ***group = &n->queues.group[id / ELAN_GROUP];

	if (!*group)
		*group = mem_alloc(ELAN_GROUP, sizeof(**group));
	(*group)[id % ELAN_GROUP] = q;
}

static void queue_free(struct elan_queue *q)
{
	if (!q)
		return;
	mem_free(q->page);
	ring_fini(&q->arrivals);
	ring_fini(&q->births);
	mem_free(q);
}

static void elan_queues_fini(struct elan_queues *x)
{
	for (uint32_t i = 0; i < ELAN_QUEUES / ELAN_GROUP; i++) {
		for (uint32_t k = 0; x->group[i] && k < ELAN_GROUP; k++)
			queue_free(x->group[i][k]);
		mem_free(x->group[i]);
	}
	mem_free(x->maps);
}

static uint32_t n_pages(const struct elan_queue *q)
{
	return (q->depth - 1) / MEMORY_PAGE + 1;
}

static uint64_t queue_memory(const struct elan_queue *q)
{
	return q ? sizeof(*q) + n_pages(q) * sizeof(*q->page) +
			       ring_memory(&q->arrivals) +
			       ring_memory(&q->births)
		 : 0;
}

static uint64_t elan_queues_memory(const struct elan_queues *x)
{
	uint64_t sum = x->n_maps * sizeof(*x->maps);

	for (uint32_t i = 0; i < ELAN_QUEUES / ELAN_GROUP; i++) {
		sum += x->group[i] ? ELAN_GROUP * sizeof(*x->group[i]) : 0;
		for (uint32_t k = 0; x->group[i] && k < ELAN_GROUP; k++)
			sum += queue_memory(x->group[i][k]);
	}
	return sum;
}

NIC_MEMBER_OPS(elan_queues, NULL);

/* --- the driver --- */

static void give_memory(struct elan_sdram *x, const struct elan_queue *q)
{
	if (q->ring)
		elan_sdram_give(x, q->ring, q->depth);
	if (q->descriptor)
		elan_sdram_give(x, q->descriptor, ELAN_DESCRIPTOR);
}

/* Its part of card memory: false, with nothing taken, if that is full. */
static bool take_memory(struct elan_sdram *x, struct elan_queue *q)
{
	uint32_t align = q->depth < MEMORY_PAGE ? q->depth : MEMORY_PAGE;

	q->descriptor = elan_sdram_take(x, ELAN_DESCRIPTOR, ELAN_DESCRIPTOR);
	q->ring = elan_sdram_take(x, q->depth, align);
	if (q->descriptor && q->ring)
		return true;
	give_memory(x, q);
	return false;
}

static struct elan_queue *queue_new(
	struct elan_node *n, uint32_t id, enum elan_depth depth)
{
	struct elan_queue *q = mem_alloc(1, sizeof(*q));

	q->id = (uint16_t)id;
	q->depth = depths[depth];
	q->sdram = &n->sdram;
	if (!elan_event_open(n) || !take_memory(&n->sdram, q)) {
		mem_free(q);
		return NULL;
	}
	q->page = mem_alloc(n_pages(q), sizeof(*q->page));
	ring_init(&q->arrivals, sizeof(struct elan_arrival));
	ring_init(&q->births, sizeof(struct elan_birth));
	q->name = ELAN_FIRST_QUEUE + n->queues.opened++;
	return q;
}

int elan_queue_open(struct nic *nic, site_id s, uint32_t queue,
	enum elan_depth depth, uint32_t rights, uint32_t context)
{
	struct elan_node *n = nic_node(nic, s);
	struct elan_queue *q;
	uint32_t process;
	int code;

	if (queue >= ELAN_QUEUES || depth >= ELAN_DEPTHS ||
		rights > (ELAN_MAY_ALL | ELAN_GOES_ON) ||
		context >= ELAN_CONTEXTS)
		return EINVAL;
	if (elan_queue(n, queue))
		return EBUSY;
	code = elan_process_find(nic, s, context, &process);
	if (code)
		return code;
	q = queue_new(n, queue, depth);
	if (!q)
		return ENOMEM;
	q->process = process;
	q->rights = (uint8_t)rights;
	q->context = (uint16_t)context;
	elan_chip_open(&n->chip, elan_params_of(nic), q);
	set_queue(n, queue, q);
	return 0;
}

/* Nothing of it is in the card or on its way there.  The rest, an aborted
 * packet or half a command, is dropped. */
static bool is_quiet(const struct elan_queue *q)
{
	bool is_waiting = q->is_half && q->half_at == q->taken;

	return !q->outstanding && !q->arrivals.n && !q->is_queued && !q->dmas &&
	       !q->copies.first && !q->is_fetching && !q->is_looking &&
	       !q->copying && (q->error || (!is_waiting && !q->is_blocked));
}

static bool is_needed(const struct elan_queue *q)
{
	return !is_quiet(q) || q->gets || q->claimed || q->wanted ||
	       q->promised;
}

bool elan_queue_is_idle(const struct elan_queue *q)
{
	return !is_needed(q) && !q->is_half && !q->is_blocked &&
	       (q->error || q->taken == q->announced);
}

int elan_queue_map(struct nic *nic, site_id s, uint32_t queue, uint64_t address)
{
	struct elan_node *n = nic_node(nic, s);
	struct elan_queue *q = elan_queue(n, queue);
	struct elan_queues *x = &n->queues;

	if (!q || address % ELAN_PAGE || address < host_memory(nic->host) ||
		elan_is_card(address))
		return EINVAL;
	if (q->mapped || elan_queue_mapped(n, q->context, address, 8) ||
		elan_area_at(n, q->context, address))
		return EBUSY;
	x->maps = mem_grow(x->maps, x->n_maps + 1, sizeof(*x->maps));
	x->maps[x->n_maps++] = (uint16_t)queue;
	q->mapped = address;
	elan_fault_forget(n, q->context);
	return 0;
}

static void unmap(struct elan_queues *x, uint32_t queue)
{
	for (uint32_t i = 0; i < x->n_maps; i++)
		if (x->maps[i] == queue)
			x->maps[i] = x->maps[--x->n_maps];
}

static void unblock(struct elan_node *n, struct elan_queue *q)
{
	if (q->is_blocked)
		list_remove(&n->queues.blocked, &q->link);
	q->is_blocked = false;
}

int elan_queue_close(struct nic *nic, site_id s, uint32_t queue)
{
	struct elan_node *n = nic_node(nic, s);
	struct elan_queue *q = elan_queue(n, queue);

	if (!q)
		return EINVAL;
	if (is_needed(q))
		return EBUSY;
	unblock(n, q);
	elan_chip_close(&n->chip, q);
	unmap(&n->queues, queue);
	give_memory(&n->sdram, q);
	queue_free(q);
	set_queue(n, queue, NULL);
	return 0;
}

int elan_queue_restart(struct nic *nic, site_id s, uint32_t queue)
{
	struct elan_node *n = nic_node(nic, s);
	struct elan_queue *q = elan_queue(n, queue);

	if (!q)
		return EINVAL;
	if (!q->error || !is_quiet(q) || q->answered)
		return EBUSY;
	elan_get_forget(n, q);
	unblock(n, q);
	q->error = ELAN_FINE;
	q->is_guarded = q->is_half = false;
	q->was_denied = q->skips = false;
	q->announced = q->arrived = q->taken = q->freed = q->backed = 0;
	q->births.n = 0;
	memset(q->ahead, 0, sizeof(q->ahead));
	return 0;
}

/* NULL: not open. */
static const struct elan_queue *find(
	const struct nic *nic, site_id s, uint32_t queue)
{
	const struct elan_node *n = nic->nodes[s];

	return n ? elan_queue(n, queue) : NULL;
}

enum elan_error elan_queue_error(
	const struct nic *nic, site_id s, uint32_t queue)
{
	const struct elan_queue *q = find(nic, s, queue);

	return q ? (enum elan_error)q->error : ELAN_FINE;
}

uint32_t elan_queue_depth(const struct nic *nic, site_id s, uint32_t queue)
{
	const struct elan_queue *q = find(nic, s, queue);

	return q ? q->depth : 0;
}

uint32_t elan_queue_context(const struct nic *nic, site_id s, uint32_t queue)
{
	const struct elan_queue *q = find(nic, s, queue);

	return q ? q->context : ELAN_CONTEXTS;
}

uint64_t elan_queue_room(const struct nic *nic, site_id s, uint32_t queue)
{
	const struct elan_queue *q = find(nic, s, queue);

	return q ? q->depth - (q->announced - q->freed) : 0;
}

/* Copies of events, cores and threads wait for room. */
static void tell_room(const struct nic_at *a, struct elan_queue *q)
{
	elan_copy_on_room(a, q);
	host_poke_at(a->nic->host, a->w, a->s, a->t, 0, 0);
	elan_thread_on_room(a, q);
}

void elan_queue_freed(
	const struct nic_at *a, struct elan_queue *q, uint64_t until)
{
	q->freed = until;
	tell_room(a, q);
}

void elan_queue_stop(
	const struct nic_at *a, struct elan_queue *q, enum elan_error why)
{
	if (q->error)
		return;
	q->error = (uint8_t)why;
	elan_count(a)->errors[why]++;
	host_poke(a->nic->host, a->w, a->s, a->t);
	tell_room(a, q);
}

void elan_queue_failed(
	const struct nic_at *a, struct elan_queue *q, enum elan_error why)
{
	bool is_others = why == ELAN_ERROR_REFUSED || why == ELAN_ERROR_RETRIES;

	if (is_others && q->rights & ELAN_GOES_ON)
		elan_count(a)->lost++;
	else
		elan_queue_stop(a, q, why);
}

/* --- the backing store --- */

uint8_t *elan_queue_page(const struct elan_queue *q, uint32_t page)
{
	q->page[page] = elan_sdram_place(
		q->sdram, q->ring + (uint64_t)page * MEMORY_PAGE);
	return q->page[page];
}

/* --- stores --- */

/* Whether a core has stored ahead of the end. */
static bool has_gap(const struct elan_queue *q)
{
	for (uint32_t i = 0; i < ELAN_WINDOW_WORDS / 64; i++)
		if (q->ahead[i])
			return true;
	return false;
}

/* Words that follow without a gap, in one piece of the ring. */
static bool copy_on(struct elan_queue *q, uint64_t position,
	const uint64_t *words, uint32_t n)
{
	if (position != q->announced || has_gap(q) ||
		8 * n > elan_queue_piece(q, position))
		return false;
	memcpy(elan_queue_place(q, position), words, 8 * (size_t)n);
	q->announced += 8 * n;
	return true;
}

static void copy_in(struct elan_queue *q, uint64_t position,
	const uint64_t *words, uint32_t n)
{
	if (copy_on(q, position, words, n))
		return;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t at = position + 8 * i;

		memcpy(elan_queue_place(q, at), &words[i], 8);
		q->ahead[at / 8 % ELAN_WINDOW_WORDS / 64] |= UINT64_C(1)
							     << at / 8 % 64;
	}
	/* words without a gap */
	for (;;) {
		uint64_t at = q->announced / 8;
		uint64_t bit = UINT64_C(1) << at % 64;
		uint64_t *word = &q->ahead[at % ELAN_WINDOW_WORDS / 64];

		if (!(*word & bit))
			break;
		*word &= ~bit;
		q->announced += 8;
	}
}

/* What was announced arrives at some time, or when the queue is resident. */
static void arrive(const struct nic_at *a, struct elan_queue *q, sim_time at,
	enum elan_error error)
{
	struct elan_arrival *x = ring_push(&q->arrivals);

	*x = (struct elan_arrival){ q->announced, at, error };
	if (q->is_away)
		elan_chip_trap(a, q, at);
	else
		elan_post(a, at, ELAN_ENGINE_STORE, q->id);
}

void elan_queue_arrive(const struct nic_at *a, struct elan_queue *q)
{
	for (uint32_t i = 0; i < q->arrivals.n; i++) {
		struct elan_arrival *x = ring_at(&q->arrivals, i);

		x->at = x->at > a->t ? x->at : a->t + 1;
		elan_post(a, x->at, ELAN_ENGINE_STORE, q->id);
	}
}

/* Returns an error of a store, or sets its position. */
static enum elan_error misuse(const struct elan_queue *q, uint32_t offset,
	uint32_t n, uint64_t *position)
{
	uint64_t ahead = (offset - q->announced) % ELAN_PAGE;

	*position = q->announced + ahead;
	if (offset % 8 || ahead + 8 * n > ELAN_WINDOW)
		return ELAN_ERROR_WINDOW;
	if (*position + 8 * n - q->freed > q->depth)
		return ELAN_ERROR_OVERFLOW;
	return ELAN_FINE;
}

sim_time elan_store(struct nic *nic, struct sim_worker *w, site_id s,
	sim_time t, uint32_t queue, uint32_t offset, const uint64_t *words,
	uint32_t n)
{
	struct elan *x = (struct elan *)nic;
	struct nic_at a = nic_at(nic, w, s, t);
	struct elan_queue *q = elan_queue(elan_here(&a), queue);
	sim_time came = x->side->ops->store(x->side, s, t, 8 * n);
	sim_time end = came - x->host.store;
	enum elan_error wrong;
	uint64_t position;

	BUG_IF(!n || 8 * n > ELAN_BLOCK);
	/* a store does not arrive if the node dies first */
	if (!q || q->error || came >= host_dies_at(nic->host, s))
		return end;
	wrong = misuse(q, offset, n, &position);
	if (wrong == ELAN_FINE) {
		copy_in(q, position, words, n);
		elan_account_store(&a, q, position, 8 * n, came);
	}
	arrive(&a, q, came, wrong);
	return end;
}

void elan_note_birth(struct nic *nic, site_id s, uint32_t queue,
	uint64_t position, sim_time t)
{
	struct elan_queue *q = elan_queue(nic_node(nic, s), queue);
	struct elan_birth *b;

	if (!nic->net->book || !q)
		return;
	b = ring_push(&q->births);
	*b = (struct elan_birth){
		.position = position, .at = t, .handed = t, .came = t
	};
}

/* --- appending by units of the card --- */

struct elan_queue *elan_queue_mapped(const struct elan_node *n,
	uint32_t context, uint64_t at, uint64_t bytes)
{
	const struct elan_queues *x = &n->queues;

	if (at % 8 || bytes % 8 || at % ELAN_PAGE + bytes > ELAN_PAGE)
		return NULL;
	for (uint32_t i = 0; i < x->n_maps; i++) {
		struct elan_queue *q = elan_queue(n, x->maps[i]);

		if (q->context == context && q->mapped == at - at % ELAN_PAGE)
			return q;
	}
	return NULL;
}

bool elan_queue_takes(const struct elan_queue *q, uint32_t bytes)
{
	return q->error ||
	       (!q->copies.first &&
		       q->announced + q->promised + bytes - q->freed <=
			       q->depth);
}

void elan_queue_append(const struct nic_at *a, struct elan_queue *q,
	const uint8_t *words, uint32_t bytes, sim_time t)
{
	enum elan_error wrong = ELAN_FINE;
	uint64_t word;

	if (q->error)
		return;
	if (has_gap(q))
		wrong = ELAN_ERROR_WINDOW;
	for (uint32_t i = 0; i < bytes && !wrong; i += 8) {
		memcpy(&word, words + i, 8);
		copy_in(q, q->announced, &word, 1);
	}
	/* not before earlier ones */
	if (q->arrivals.n) {
		const struct elan_arrival *last =
			ring_at(&q->arrivals, q->arrivals.n - 1);

		t = t > last->at ? t : last->at;
	}
	elan_count(a)->appended += bytes / 8;
	arrive(a, q, t, wrong);
}

void elan_queue_back(
	const struct nic_at *a, struct elan_queue *q, uint64_t until)
{
	uint32_t n;

	for (; q->backed < until; q->backed += n) {
		uint32_t from = (uint32_t)q->backed & (q->depth - 1);

		n = q->depth - from;
		n = until - q->backed < n ? (uint32_t)(until - q->backed) : n;
		elan_cache_write(a, ELAN_BY_QUEUE, q->ring + from, n, a->t);
	}
}

/* The end of a queue that is on chip is there, too, until a line is full. */
static void keep(const struct nic_at *a, struct elan_queue *q)
{
	uint64_t until = q->arrived;

	if (q->used)
		until -= until % elan_of(a)->cache.line;
	if (q->backed < until)
		elan_queue_back(a, q, until);
}

/* A queue with work joins the run queue: false if it is there, or cannot. */
static bool join(const struct nic_at *a, struct elan_queue *q)
{
	if (q->is_queued || q->is_blocked || q->error ||
		q->taken == q->announced)
		return false;
	q->is_queued = true;
	list_push(&elan_here(a)->queues.run, &q->link);
	return true;
}

void elan_queue_on_store(const struct nic_at *a, uint32_t queue)
{
	struct elan_queue *q = elan_queue(elan_here(a), queue);
	struct elan_arrival came =
		*(const struct elan_arrival *)ring_pop(&q->arrivals);

	q->arrived = came.end;
	if (elan_of(a)->cache.is_on)
		keep(a, q);
	q->word_at = a->t;
	if (came.error)
		elan_queue_stop(a, q, came.error);
	if (join(a, q))
		elan_command_go_now(a);
}

/* --- content --- */

sim_time elan_queue_arrival(const struct elan_queue *q, uint64_t position)
{
	const struct elan_arrival *x, *before;

	if (position <= q->arrived)
		return 0;
	if (position > q->announced || q->is_away)
		return SIM_NEVER;
	for (uint32_t k = q->arrivals.n; k; k--) {
		x = ring_at(&q->arrivals, k - 1);
		before = k > 1 ? ring_at(&q->arrivals, k - 2) : NULL;
		if (!before || before->end < position)
			return x->at;
	}
	return 0;
}

bool elan_queue_check(const struct nic_at *a, struct elan_queue *q,
	uint64_t position, uint32_t bytes)
{
	bool is_sound = true;
	uint32_t n;

	for (uint32_t at = 0; at < bytes && is_sound; at += n) {
		uint32_t from = (uint32_t)((position + at) % q->depth);

		n = q->depth - from;
		n = n < bytes - at ? n : bytes - at;
		is_sound = elan_sdram_is_sound(a, q->ring + from, n);
	}
	if (!is_sound)
		elan_queue_stop(a, q, ELAN_ERROR_MEMORY);
	return is_sound;
}

void elan_queue_wake(const struct nic_at *a, struct elan_queue *q)
{
	if (join(a, q))
		elan_command_go(a);
}

struct elan_queue *elan_queue_next(struct elan_node *n)
{
	struct elan_queue *q;

	if (!n->queues.run.first)
		return NULL;
	q = LIST_ITEM(list_pop(&n->queues.run), struct elan_queue, link);
	q->is_queued = false;
	return q;
}

void elan_queue_block(struct elan_node *n, struct elan_queue *q)
{
	q->is_blocked = true;
	list_push(&n->queues.blocked, &q->link);
}

void elan_queue_unblock_all(const struct nic_at *a)
{
	struct list *blocked = &elan_here(a)->queues.blocked;

	while (blocked->first) {
		struct elan_queue *q =
			LIST_ITEM(blocked->first, struct elan_queue, link);

		unblock(elan_here(a), q);
		elan_queue_wake(a, q);
	}
}

void elan_queue_acked(
	const struct nic_at *a, struct elan_queue *q, uint32_t sequence)
{
	uint32_t oldest = q->channel.oldest;
	uint64_t until = q->freed;

	q->outstanding--;
	window_done(&q->channel, sequence);
	if (!window_span(&q->channel))
		until = q->taken;
	else if (q->channel.oldest != oldest)
		until = q->ends[(q->channel.oldest - 1) % ELAN_ENDS];
	elan_queue_freed(a, q, until);
	elan_queue_wake(a, q);
}
