/*
 * The thread processor (QSN-F64 to F66).  One thread has it at a time, until it
 * waits or ends: its calls take time, the C code between them takes none.
 * Threads that are ready are in the run queue: new ones, and those that have
 * got the word of memory or the room in a queue that they waited for.  If the
 * last thread to run goes on, it is not swapped; it goes on a cycle later.
 *
 * The processor has one event posted while a thread has it, otherwise none.
 * Events are for a later instant: a program's store may end a wait.
 */
#include "nic/elan4/units.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "host/card.h"
#include "weft/elan.h"

enum thread_wait {
	WAITS_NOT, /* it is ready or runs */
	WAITS_WORD, /* at an address, for a value */
	WAITS_ROOM, /* in a queue, for bytes */
};

struct elan_thread {
	struct slot slot; /* in the run queue, or of those that wait */
	uint32_t id;
	uint16_t context;
	uint8_t waits; /* an enum thread_wait */
	bool is_reading; /* of bytes: its read is not due on the bus yet */
	bool is_behind; /* it is due, behind words of the card: */
	uint32_t after; /* so many, ever */
	bool has_claim; /* on room for its bytes, since it was woken */
	struct elan_queue *queue;
	uint32_t bytes;
	uint64_t at, value; /* or where it reads */
	elan_code *run;
	uint64_t reg[ELAN_REGISTERS];
	struct card_thread *card; /* NULL until it runs */
};

struct thread_code {
	uint32_t context, number;
	elan_code *run;
};

struct elan_threads {
	struct slots all;
	struct slot_list ready, waiting;
	uint32_t n_words; /* of those that wait */
	uint32_t running, last; /* it has the processor; it had it last */
	struct thread_code *codes;
	uint32_t n_codes;
};

static struct elan_thread *thread(const struct elan_threads *h, uint32_t id)
{
	return slots_at(&h->all, id);
}

/* --- life --- */

static struct elan_threads *threads_of(struct elan_node *n)
{
	if (!n->threads) {
		n->threads = mem_alloc(1, sizeof(*n->threads));
		slots_init(&n->threads->all, sizeof(struct elan_thread));
	}
	return n->threads;
}

static void elan_threads_fini(struct elan_threads **x)
{
	struct elan_threads *h = *x;

	if (!h)
		return;
	slots_fini(&h->all);
	mem_free(h->codes);
	mem_free(h);
}

static uint64_t elan_threads_memory(struct elan_threads *const *x)
{
	const struct elan_threads *h = *x;

	return h ? sizeof(*h) + h->n_codes * sizeof(*h->codes) +
			       slots_memory(&h->all)
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
	h->n_words = h->running = 0;
	card_watch(a->nic->host, a->s, NULL, NULL);
}

/* --- code --- */

static struct thread_code *find_code(
	const struct elan_threads *h, uint32_t context, uint64_t number)
{
	for (uint32_t i = 0; h && i < h->n_codes; i++)
		if (h->codes[i].context == context &&
			h->codes[i].number == number)
			return &h->codes[i];
	return NULL;
}

int elan_code_load(struct nic *nic, site_id s, uint32_t context, uint32_t code,
	elan_code *run)
{
	struct elan_threads *h = threads_of(nic_node(nic, s));
	struct thread_code *c = find_code(h, context, code);

	if (context >= ELAN_CONTEXTS || code >= ELAN_CODES)
		return EINVAL;
	if (!c) {
		h->codes =
			mem_grow(h->codes, h->n_codes + 1, sizeof(*h->codes));
		c = &h->codes[h->n_codes++];
	}
	*c = (struct thread_code){ context, code, run };
	return 0;
}

/* --- scheduling --- */

static void dispatch(const struct nic_at *a)
{
	struct elan_threads *h = elan_here(a)->threads;
	const struct elan_params *p = elan_params(a);
	uint32_t id = h->ready.first;
	bool is_other = id != h->last;

	if (h->running || !id)
		return;
	slots_pop(&h->all, &h->ready);
	h->running = id;
	h->last = id;
	elan_count(a)->swaps += is_other;
	elan_post(a, a->t + (is_other ? p->thread_swap : p->thread_clock),
		ELAN_ENGINE_THREAD, id);
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

static bool has_word(const struct nic_at *a, const struct elan_thread *x)
{
	uint64_t word = 0;

	host_read(a->nic->host, a->s, x->at, &word, 8);
	return word == x->value;
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
			at < y->at + 8 && has_word(&a, y))
			wake(&a, y);
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
	const struct thread_code *c = find_code(h, q->context, word[0] >> 16);
	struct elan_thread *x;
	uint32_t id;

	if (!c || !c->run)
		return ELAN_ERROR_COMMAND;
	if (is_dead(a))
		return ELAN_FINE;
	id = slots_take(&h->all);
	x = thread(h, id);
	x->id = id;
	x->context = q->context;
	x->run = c->run;
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

	memcpy(reg, x->reg, sizeof(reg));
	x->run(reg);
}

static void end(const struct nic_at *a, uint32_t id)
{
	struct elan_threads *h = elan_here(a)->threads;

	h->running = h->last = 0;
	slots_give(&h->all, id);
	/* one more can be started, by the first queue that has its turn; the
	 * others wait again, in the same order */
	elan_queue_unblock_all(a);
}

void elan_thread_on_go(const struct nic_at *a, uint32_t id)
{
	struct elan_threads *h = elan_here(a)->threads;
	struct elan_thread *x = thread(h, id);

	if (is_dead(a)) {
		bury(a);
		return;
	}
	if (x->is_reading) {
		x->is_reading = false;
		x->is_behind = true;
		elan_thread_on_word(a);
		return;
	}
	if (!x->card)
		x->card = card_start(a->nic->host, a->s, run, h);
	if (card_resume(x->card, a->w, a->t))
		end(a, id);
	else if (thread(h, id)->waits)
		h->running = 0;
	dispatch(a);
}

static void granted(const struct nic_at *a, uint32_t id, sim_time end)
{
	if (end < elan_here(a)->words.last_in)
		end = elan_here(a)->words.last_in;
	elan_post(a, end, ELAN_ENGINE_THREAD, id);
}

/* No read overtakes a write, such as one of the thread's own: neither in line
 * for the bus, nor behind it. */
void elan_thread_on_word(const struct nic_at *a)
{
	const struct elan_threads *h = elan_here(a)->threads;
	struct elan_thread *x = h && h->running ? thread(h, h->running) : NULL;

	if (!x || !x->is_behind ||
		(int32_t)(elan_here(a)->words.had - x->after) < 0)
		return;
	x->is_behind = false;
	elan_bus_read(a, x->at, x->bytes, granted, x->id);
}

/* --- calls of threads --- */

/* The running thread, which may have moved after a wait. */
static struct elan_thread *self(struct nic_at *a)
{
	const struct elan_threads *h = card_current();

	BUG_IF(!h);
	*a = nic_now(nic_check(host_nic(program_host()), &elan4_ops));
	return thread(h, h->running);
}

/* Holds the processor for some time. */
static void hold(
	const struct nic_at *a, const struct elan_thread *x, sim_time time)
{
	elan_post(a, a->t + time, ELAN_ENGINE_THREAD, x->id);
	card_suspend();
}

void elan_thread_work(uint32_t cycles)
{
	struct nic_at a;
	const struct elan_thread *x = self(&a);

	if (cycles)
		hold(&a, x, cycles * elan_params(&a)->thread_clock);
}

/* Gives the processor up until it is woken. */
static void wait(
	const struct nic_at *a, struct elan_thread *x, enum thread_wait what)
{
	struct elan_threads *h = elan_here(a)->threads;

	x->waits = (uint8_t)what;
	slots_push(&h->all, &h->waiting, x->id);
	if (what == WAITS_ROOM)
		x->queue->wanted++;
	else if (!h->n_words++)
		card_watch(a->nic->host, a->s, on_write, a->nic);
	card_suspend();
}

/* Translates for the running thread, which waits for that; EFAULT. */
static int look(
	uint64_t at, uint64_t bytes, enum elan_use use, struct elan_view *v)
{
	struct nic_at a;
	const struct elan_thread *x = self(&a);

	*v = elan_look(&a, x->context, at, bytes, use);
	if (v->state != ELAN_SEEN || v->flags & ELAN_TO_QUEUE)
		return EFAULT;
	if (v->t > a.t)
		hold(&a, x, v->t - a.t);
	return 0;
}

int elan_thread_wait_word(uint64_t at, uint64_t value)
{
	struct nic_at a;
	struct elan_thread *x;
	struct elan_view v;

	if (at % 8 || look(at, 8, ELAN_TO_READ, &v))
		return EFAULT;
	elan_thread_work(1);
	x = self(&a);
	x->at = v.at;
	x->value = elan_order(v.flags, value);
	if (!has_word(&a, x))
		wait(&a, x, WAITS_WORD);
	return 0;
}

/* Whether its words can be appended now; a claim is used up. */
static bool has_room(struct elan_thread *x)
{
	struct elan_queue *q = x->queue;

	if (!x->has_claim)
		return !q->wanted && elan_queue_takes(q, q->claimed + x->bytes);
	x->has_claim = false;
	q->claimed -= x->bytes;
	/* a packet may have come in between */
	return elan_queue_takes(q, x->bytes);
}

int elan_thread_append(uint64_t to, const uint64_t *words, uint32_t n)
{
	struct nic_at a;
	struct elan_thread *x = self(&a);

	if (!n || n > ELAN_PAGE / 8)
		return EINVAL;
	x->bytes = 8 * n;
	x->queue = elan_queue_mapped(elan_here(&a), x->context, to, x->bytes);
	if (!x->queue)
		return EFAULT;
	if (x->bytes > x->queue->depth)
		return EINVAL;
	while (!has_room(x)) {
		wait(&a, x, WAITS_ROOM);
		x = self(&a); /* it is later */
	}
	elan_queue_append(&a, x->queue, (const uint8_t *)words, x->bytes,
		a.t + n * elan_params(&a)->thread_clock);
	elan_thread_work(n);
	return 0;
}

/* Words that cannot be read end the context. */
static bool is_sound(const struct nic_at *a, const struct elan_thread *x,
	uint64_t at, uint32_t bytes)
{
	if (elan_sdram_is_sound(a, at, bytes))
		return true;
	elan_context_stop(a, x->context);
	return false;
}

/* Words of card memory, a cycle each where they hit. */
static int read_card(uint64_t at, void *to, uint32_t bytes)
{
	struct nic_at a;
	const struct elan_thread *x = self(&a);
	sim_time t = elan_cache_read(&a, ELAN_BY_THREAD, at, bytes, a.t);

	if (!is_sound(&a, x, at, bytes))
		return EIO;
	hold(&a, x, t - a.t + (bytes + 7) / 8 * elan_params(&a)->thread_clock);
	host_read(a.nic->host, a.s, at, to, bytes);
	return 0;
}

/* A block is read in parts, so that other units have their turn at the ports.
 * The next part is asked for while the last lines of the one before come. */
enum { BLOCK_PART = 512 };

int elan_thread_read_block(
	uint64_t at, void *to, uint64_t bytes, uint32_t ports)
{
	const struct elan_cache_how *how;
	const struct elan_thread *x;
	struct elan_view v;
	struct nic_at a;
	sim_time ahead, end;
	uint32_t n;

	if (!bytes || !ports || ports > ELAN_READ_PORTS)
		return EINVAL;
	if (look(at, bytes, ELAN_TO_READ, &v) || !elan_is_card(v.at))
		return EFAULT;
	at = v.at;
	x = self(&a);
	how = &elan_of(&a)->cache;
	ahead = how->latency + how->sdram;
	end = a.t;
	for (uint64_t k = 0; k < bytes; k += n) {
		n = bytes - k < BLOCK_PART ? (uint32_t)(bytes - k) : BLOCK_PART;
		if (end - ahead > a.t)
			hold(&a, x, end - ahead - a.t);
		x = self(&a);
		if (!is_sound(&a, x, at + k, n))
			return EIO;
		end = elan_cache_stream(&a, ELAN_BY_THREAD, at + k, n,
			(enum elan_ports)ports, a.t);
		if (to)
			host_read(
				a.nic->host, a.s, at + k, (uint8_t *)to + k, n);
	}
	hold(&a, x, end - a.t);
	return 0;
}

int elan_thread_read(uint64_t at, void *to, uint32_t bytes)
{
	struct nic_at a;
	struct elan_thread *x;
	struct elan_view v;

	if (!bytes || bytes > ELAN_BLOCK)
		return EINVAL;
	if (look(at, bytes, ELAN_TO_READ, &v))
		return EFAULT;
	at = v.at;
	if (elan_is_card(at))
		return read_card(at, to, bytes);
	x = self(&a);
	x->is_reading = true;
	x->at = at;
	x->after = elan_here(&a)->words.asked;
	x->bytes = bytes;
	elan_count(&a)->reads++;
	hold(&a, x, elan_params(&a)->read_latency);
	host_read(a.nic->host, a.s, at, to, bytes);
	return 0;
}

int elan_thread_write(uint64_t at, uint64_t value)
{
	struct elan_view v;
	struct nic_at a;

	if (at % 8 || look(at, 8, ELAN_TO_WRITE, &v))
		return EFAULT;
	self(&a);
	elan_word_write(&a, v.at, elan_order(v.flags, value));
	elan_thread_work(1);
	return 0;
}
