/*
 * The thread processor (QSN-F64 to F66).  One thread has it at a time, until it
 * waits or ends: its calls take time, the C code between them takes none.
 * Threads that are ready are in the run queue: new ones, and those that have
 * got the word of memory or the room in a queue that they waited for.  If the
 * last thread to run goes on, it is not swapped; it goes on a cycle later.
 *
 * A thread may be ahead of its node, up to a microsecond: what it computes,
 * loads and stores in card memory takes time, but an event only when it does
 * something that others notice at its time: it asks for the bus, appends
 * commands, looks at a queue, waits or ends.  Its loads see card memory as it
 * was when the thread was last resumed, as if they had been executed early.
 *
 * The processor has one event posted while a thread has it, otherwise none; nor
 * where one that is ahead waits for messages, as long as nothing comes that the
 * processor's time matters to.
 * Events are for a later instant: a program's store may end a wait.
 */
#include "nic/elan4/thread.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

static struct elan_thread *thread(const struct elan_threads *h, uint32_t id)
{
	return elan_thread(h, id);
}

/* --- life --- */

struct elan_threads *elan_threads_of(struct elan_node *n)
{
	if (!n->threads) {
		n->threads = mem_alloc(1, sizeof(*n->threads));
		slots_init(&n->threads->all, sizeof(struct elan_thread));
		slots_init(&n->threads->images, sizeof(struct elan_image));
		slots_init(&n->threads->reads, sizeof(struct thread_read));
	}
	return n->threads;
}

static void elan_threads_fini(struct elan_threads **x)
{
	struct elan_threads *h = *x;

	if (!h)
		return;
	slots_fini(&h->all);
	slots_fini(&h->images);
	slots_fini(&h->reads);
	mem_free(h->codes);
	mem_free(h->tag);
	mem_free(h);
}

static uint64_t elan_threads_memory(struct elan_threads *const *x)
{
	const struct elan_threads *h = *x;

	return h ? sizeof(*h) + h->n_codes * sizeof(*h->codes) +
			       h->n_tags * sizeof(*h->tag) +
			       slots_memory(&h->all) +
			       slots_memory(&h->images) +
			       slots_memory(&h->reads)
		 : 0;
}

NIC_MEMBER_OPS(elan_threads, NULL);

bool elan_threads_busy(const struct elan_threads *h)
{
	return h && (h->running || h->ready.first);
}

/* Threads of a dead node stop. */
static bool is_dead(const struct nic_at *a)
{
	return a->t >= host_dies_at(a->nic->host, a->s);
}

static void bury(const struct nic_at *a)
{
	struct elan_threads *h = elan_here(a)->threads;

	for (uint32_t id = h->waiting.first; id; id = thread(h, id)->slot.next)
		if (thread(h, id)->waits == WAITS_ROOM)
			thread(h, id)->queue->wanted--;
	h->ready = h->waiting = (struct slot_list){ 0 };
	h->n_words = h->running = h->lingers = 0;
	card_watch(a->nic->host, a->s, NULL, NULL);
}

/* --- scheduling --- */

/* Whether a thread that waits for messages still has the processor: it would
 * have gone on, to look for them, later than what happens now. */
static bool is_lingering(const struct nic_at *a, const struct elan_threads *h)
{
	uint16_t key = (uint16_t)(a->w->at[-1].rank >> 16);

	return h->lingers &&
	       (a->t < h->until ||
		       (a->t == h->until && key < SIM_KEY(PHASE_ENGINE,
							  ELAN_ENGINE_THREAD)));
}

bool elan_thread_lingers_until(const struct elan_node *n, sim_time t)
{
	return n->threads && n->threads->lingers && n->threads->until == t;
}

/* It will look for them after all, when its time has come: there are some, or
 * another thread is ready. */
static void go_on(const struct nic_at *a)
{
	struct elan_threads *h = elan_here(a)->threads;
	struct elan_thread *x = thread(h, h->lingers);

	slots_remove(&h->all, x->waits ? &h->waiting : &h->ready, x->id);
	x->waits = WAITS_NOT;
	h->running = h->last = x->id;
	h->lingers = 0;
	elan_post(a, h->until, ELAN_ENGINE_THREAD, x->id);
}

static void dispatch_first(const struct nic_at *a)
{
	struct elan_threads *h = elan_here(a)->threads;
	const struct elan_params *p = elan_params(a);
	uint32_t id = h->ready.first;
	bool is_other = id != h->last;

	if (is_lingering(a, h)) {
		go_on(a);
		return;
	}
	h->lingers = 0;
	slots_pop(&h->all, &h->ready);
	h->running = id;
	h->last = id;
	h->since = a->t + (is_other ? p->thread_swap : p->thread_clock);
	if (is_other)
		h->since = elan_code_run(a, thread(h, id)->image, h->since);
	elan_count(a)->swaps += is_other;
	elan_post(a, h->since, ELAN_ENGINE_THREAD, id);
}

/* If the processor is free, the first one that is ready gets it. */
static inline void dispatch(const struct nic_at *a)
{
	const struct elan_threads *h = elan_here(a)->threads;

	if (!h->running && h->ready.first)
		dispatch_first(a);
}

/* A thread's wait is over. */
static void wake(const struct nic_at *a, struct elan_thread *x)
{
	struct elan_threads *h = elan_here(a)->threads;

	slots_remove(&h->all, &h->waiting, x->id);
	if (x->waits == WAITS_WORD && !--h->n_words)
		card_watch(a->nic->host, a->s, NULL, NULL);
	if (x->waits == WAITS_ROOM)
		x->queue->wanted--;
	x->waits = WAITS_NOT;
	slots_push(&h->all, &h->ready, x->id);
	dispatch(a);
}

bool elan_thread_has_word(const struct nic_at *a, const struct elan_thread *x)
{
	uint64_t word = 0;

	host_read(a->nic->host, a->s, x->at, &word, 8);
	return word == x->value;
}

void elan_thread_on_page(const struct nic_at *a, uint32_t id)
{
	struct elan_threads *h = elan_here(a)->threads;

	if (is_dead(a))
		bury(a);
	else if (elan_thread(h, id)->waits == WAITS_PAGE)
		wake(a, elan_thread(h, id));
}

static void on_write(void *arg, struct sim_worker *w, site_id s, sim_time t,
	uint64_t at, size_t n)
{
	struct nic_at a = nic_at(arg, w, s, t);
	struct elan_threads *h = elan_here(&a)->threads;
	uint32_t id = h->waiting.first, next;

	if (is_dead(&a)) {
		bury(&a);
		return;
	}
	for (; id; id = next) {
		struct elan_thread *y = thread(h, id);

		next = y->slot.next;
		if (y->waits == WAITS_WORD && y->at < at + n &&
			at < y->at + 8 && elan_thread_has_word(&a, y))
			wake(&a, y);
	}
}

/* The first one that waits for a queue goes on. */
void elan_thread_on_message(const struct nic_at *a, const struct elan_iq *q)
{
	struct elan_threads *h = elan_here(a)->threads;
	uint32_t id = h ? h->waiting.first : 0;

	for (; id; id = thread(h, id)->slot.next) {
		struct elan_thread *x = thread(h, id);

		if (x->waits == WAITS_MESSAGE && elan_thread_awaits(x, q)) {
			wake(a, x);
			return;
		}
	}
}

void elan_thread_on_interrupt(const struct nic_at *a)
{
	struct elan_threads *h = elan_here(a)->threads;
	uint32_t id = h ? h->waiting.first : 0, next;

	if (h && is_dead(a)) {
		bury(a);
		return;
	}
	for (; id; id = next) {
		struct elan_thread *x = thread(h, id);

		next = x->slot.next;
		if (x->waits == WAITS_INTERRUPT &&
			elan_interrupt_is_over(a->node, (uint32_t)x->value))
			wake(a, x);
	}
}

/* A woken thread has a claim on room until it runs, so that threads behind it
 * cannot take it, and are not woken in vain. */
void elan_thread_on_room(const struct nic_at *a, struct elan_queue *q)
{
	struct elan_threads *h = elan_here(a)->threads;
	uint32_t next;

	if (!q->wanted)
		return;
	for (uint32_t id = h->waiting.first; id; id = next) {
		struct elan_thread *x = thread(h, id);

		next = x->slot.next;
		if (x->waits != WAITS_ROOM || x->queue != q)
			continue;
		if (!elan_queue_takes(q, q->claimed + x->bytes))
			return;
		q->claimed += x->bytes;
		x->has_claim = true;
		wake(a, x);
	}
}

/* --- queues that start threads --- */

bool elan_thread_has_room(const struct nic_at *a, struct elan_queue *q)
{
	const struct elan_threads *h = elan_here(a)->threads;

	if (!h || h->all.used < (uint32_t)elan_params(a)->threads)
		return true;
	elan_queue_block(elan_here(a), q);
	return false;
}

enum elan_error elan_thread_begin(const struct nic_at *a,
	const struct elan_queue *q, const uint64_t *word)
{
	struct elan_threads *h = elan_here(a)->threads;
	uint32_t image, id;
	struct elan_thread *x;

	if (is_dead(a))
		return ELAN_FINE;
	image = elan_code_take(h, q->context, word[0] >> 16);
	if (!image)
		return ELAN_ERROR_COMMAND;
	id = slots_take(&h->all);
	x = thread(h, id);
	x->id = id;
	x->context = q->context;
	x->image = image;
	memcpy(x->reg, word + 1, sizeof(x->reg));
	elan_count(a)->threads++;
	slots_push(&h->all, &h->ready, id);
	dispatch(a);
	return ELAN_FINE;
}

/* --- running --- */

static void run(void *arg)
{
	const struct elan_threads *h = arg;
	const struct elan_thread *x = thread(h, h->running);
	uint64_t reg[ELAN_REGISTERS];
	struct nic_at a;

	memcpy(reg, x->reg, sizeof(reg));
	((struct elan_image *)slots_at(&h->images, x->image))->run(reg);
	elan_thread_self(&a);
	elan_thread_settle(&a);
}

static void end(const struct nic_at *a, uint32_t id)
{
	struct elan_threads *h = elan_here(a)->threads;

	h->running = h->last = 0;
	elan_code_give(elan_here(a), thread(h, id)->image);
	slots_give(&h->all, id);
	/* one more can be started, by the first queue that has its turn; the
	 * others wait again, in the same order */
	elan_queue_unblock_all(a);
}

static void resume(const struct nic_at *a, uint32_t id)
{
	struct elan_threads *h = elan_here(a)->threads;
	struct elan_thread *x = thread(h, id);

	h->at = a->t;
	h->now = *a;
	if (!x->card)
		x->card = card_start(a->nic->host, a->s, run, h);
	h->clock = card_clock(x->card);
	if (card_resume(x->card, a->w, a->t)) {
		end(a, id);
	} else if (thread(h, id)->waits || thread(h, id)->yields) {
		thread(h, id)->yields = false;
		h->running = 0;
	}
	dispatch(a);
}

void elan_thread_on_go(const struct nic_at *a, uint32_t id)
{
	if (is_dead(a))
		bury(a);
	else if (id & THREAD_READ)
		elan_thread_on_read(a, id & ~THREAD_READ);
	else
		resume(a, id);
}

/* --- for calls of threads --- */

/* Its slice is over: others that are ready run first. */
static void yield(struct nic_at *a)
{
	struct elan_thread *x = elan_thread_self(a);
	struct elan_threads *h = elan_here(a)->threads;

	if (!h->ready.first) {
		h->since = a->t;
		return;
	}
	x->yields = true;
	slots_push(&h->all, &h->ready, x->id);
	card_suspend();
	elan_thread_self(a);
}

static void hold_until(const struct nic_at *a, sim_time t)
{
	elan_post(a, t, ELAN_ENGINE_THREAD, elan_here(a)->threads->running);
	card_suspend();
}

void elan_thread_hold(
	const struct nic_at *a, const struct elan_thread *x, sim_time time)
{
	const struct elan_threads *h = elan_here(a)->threads;
	struct nic_at now = *a;
	sim_time slice = elan_params(a)->thread_slice;

	(void)x;
	while (now.t + time > h->since + slice) {
		sim_time part = h->since + slice - now.t;

		part = part > 0 ? part : 0;
		if (now.t + part > h->at)
			hold_until(&now, now.t + part);
		time -= part;
		yield(&now);
	}
	hold_until(&now, now.t + time);
}

struct elan_thread *elan_thread_settle(struct nic_at *a)
{
	if (a->t <= elan_here(a)->threads->at)
		return elan_thread_here(a);
	hold_until(a, a->t);
	return elan_thread_self(a);
}

void elan_thread_wait(
	const struct nic_at *a, struct elan_thread *x, enum thread_wait what)
{
	struct elan_threads *h = elan_here(a)->threads;

	x->waits = (uint8_t)what;
	slots_push(&h->all, &h->waiting, x->id);
	if (what == WAITS_ROOM)
		x->queue->wanted++;
	else if (what == WAITS_WORD && !h->n_words++)
		card_watch(a->nic->host, a->s, on_write, a->nic);
	/* the registers of one that waits for messages are not kept */
	if (what == WAITS_MESSAGE && h->last == x->id)
		h->last = 0;
	h->until = a->t;
	if (a->t > h->at)
		h->lingers = x->id;
	card_suspend();
}
