#include "nic/util/workq.h"

#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "base/mem.h"

struct doorbell {
	uint32_t queue, written, taken;
};

/* A completion on its way to memory. */
struct end {
	struct slot slot;
	uint32_t queue;
	bool is_entry;
	uint64_t at;
	struct workq_completion c;
};

void workqs_init(struct workqs *x, const struct workqs_how *how,
	struct side_reads *reads)
{
	x->how = how;
	x->reads = reads;
	ring_init(&x->doorbells, sizeof(struct doorbell));
	slots_init(&x->ends, sizeof(struct end));
}

void workqs_fini(struct workqs *x)
{
	for (uint32_t i = 0; i < x->n_queues; i++) {
		if (!x->queue[i])
			continue;
		ring_fini(&x->queue[i]->entries);
		ring_fini(&x->queue[i]->births);
		ring_fini(&x->queue[i]->fetches);
		mem_free(x->queue[i]);
	}
	mem_free(x->queue);
	ring_fini(&x->doorbells);
	slots_fini(&x->ends);
}

static uint64_t workqs_memory(const struct workqs *x)
{
	uint64_t sum = ring_memory(&x->doorbells) + slots_memory(&x->ends) +
		       x->n_queues * sizeof(*x->queue);

	for (uint32_t i = 0; i < x->n_queues; i++)
		if (x->queue[i])
			sum += x->how->size +
			       ring_memory(&x->queue[i]->entries) +
			       ring_memory(&x->queue[i]->births) +
			       ring_memory(&x->queue[i]->fetches);
	return sum;
}

NIC_MEMBER_OPS(workqs, NULL);

static bool is_busy(const struct workq *q)
{
	return q->n_rings || q->is_fetching || q->entries.n || q->n_out ||
	       q->fetched != q->written;
}

bool workqs_is_busy(const struct workqs *x)
{
	for (uint32_t i = 0; i < x->n_queues; i++)
		if (x->queue[i] && is_busy(x->queue[i]))
			return true;
	return false;
}

/* --- open and close --- */

static bool is_ring(uint32_t n)
{
	return n <= WORKQ_MOST && bits_is_power(n);
}

static struct workq *make(struct workqs *x, uint32_t queue)
{
	struct workq *q = mem_alloc(1, x->how->size);

	ring_init(&q->entries, x->how->entry);
	ring_init(&q->births, sizeof(struct workq_birth));
	ring_init(&q->fetches, sizeof(struct workq_fetch));
	for (; x->n_queues <= queue; x->n_queues++) {
		x->queue = mem_more(x->queue, x->n_queues, sizeof(q));
		x->queue[x->n_queues] = NULL;
	}
	x->queue[queue] = q;
	return q;
}

int workqs_open(const struct nic_at *a, struct workqs *x, uint32_t queue,
	const struct workq_rings *r)
{
	const uint32_t both =
		MEMORY_MAY_READ(MEMORY_NIC) | MEMORY_MAY_WRITE(MEMORY_NIC);
	struct workq *q;

	if (queue >= WORKQS || !is_ring(r->n_entries) ||
		!is_ring(r->n_completions) || r->entries_at % x->how->entry ||
		r->completions_at % sizeof(struct workq_completion))
		return EINVAL;
	if (memory_ask(host_at(a->nic->host, a->s), both, r->entries_at,
		    (uint64_t)r->n_entries * x->how->entry) ||
		memory_ask(host_at(a->nic->host, a->s), both, r->completions_at,
			r->n_completions * sizeof(struct workq_completion)))
		return EFAULT;
	q = queue < x->n_queues && x->queue[queue] ? x->queue[queue]
						   : make(x, queue);
	if (q->is_open || (q->is_dead && (is_busy(q) || q->n_ends)))
		return EBUSY;
	q->rings = *r;
	q->written = q->fetched = q->completed = q->taken = 0;
	q->is_stopped = q->is_dead = false;
	q->is_open = true;
	return 0;
}

int workqs_close(struct workqs *x, uint32_t queue)
{
	struct workq *q = workqs_find(x, queue);

	if (!q)
		return EINVAL;
	if (is_busy(q))
		return EBUSY;
	q->is_open = false;
	return 0;
}

void workqs_kill(struct workqs *x, uint32_t queue)
{
	struct workq *q = x->queue[queue];

	q->is_open = false;
	q->is_dead = true;
	q->entries.n = q->births.n = q->fetches.n = 0;
	q->fetched = q->written;
}

/* --- entries --- */

void workqs_ring(const struct nic_at *a, struct workqs *x, uint32_t queue,
	uint32_t written, uint32_t taken, sim_time birth, sim_time copied)
{
	struct side *side = x->reads->how->side;
	struct workq *q = workqs_find(x, queue);
	sim_time t;

	if (!q)
		return; /* that page is not mapped */
	q->n_rings++;
	*(struct doorbell *)ring_push(&x->doorbells) =
		(struct doorbell){ queue, written, taken };
	if (a->nic->net->book)
		*(struct workq_birth *)ring_push(&q->births) =
			(struct workq_birth){ written, birth, copied, a->t, 0,
				0, 0 };
	t = side->ops->store(side, side_reads_place(a, x->reads), a->t, 8);
	ticks_post(
		a, x->reads->ticks, t > a->t ? t : a->t + 1, x->how->first, 0);
}

static void on_entries(const struct nic_at *a, const struct side_read *r);

/* Asks for some of the entries that are written, not past the ring's end. */
static void fetch_some(const struct nic_at *a, struct workqs *x, uint32_t queue)
{
	struct workq *q = x->queue[queue];
	uint32_t n = q->written - q->fetched,
		 most = (uint32_t)x->how->params->prefetch;
	uint32_t first = q->fetched & (q->rings.n_entries - 1);

	if (q->entries.n >= most)
		return;
	n = n < most ? n : most;
	if (n > q->rings.n_entries - first)
		n = q->rings.n_entries - first;
	q->is_fetching = true;
	q->asked = a->t;
	x->fetches++;
	side_reads_begin(a, x->reads,
		q->rings.entries_at + (uint64_t)first * x->how->entry,
		n * x->how->entry, on_entries, x, queue);
}

static inline void fetch(
	const struct nic_at *a, struct workqs *x, uint32_t queue)
{
	const struct workq *q = x->queue[queue];

	if (q->written != q->fetched && !q->is_fetching)
		fetch_some(a, x, queue);
}

static void overrun(const struct nic_at *a, struct workqs *x, uint32_t queue)
{
	struct workq *q = x->queue[queue];

	if (q->is_stopped || q->is_dead)
		return;
	q->is_stopped = true;
	x->overruns++;
	x->how->fetched(a, queue);
}

/* Those that have not been heard before: of one queue in order. */
static void hear(struct workq *q, uint32_t written, sim_time t)
{
	uint32_t i = q->births.n;

	while (i--) {
		struct workq_birth *b = ring_at(&q->births, i);

		if (b->heard)
			return;
		if ((int32_t)(b->written - written) <= 0)
			b->heard = t;
	}
}

static void on_doorbell(const struct nic_at *a, struct workqs *x)
{
	struct doorbell d = *(struct doorbell *)ring_pop(&x->doorbells);
	struct workq *q = x->queue[d.queue];

	q->n_rings--;
	if (q->is_dead)
		return;
	if (a->nic->net->book)
		hear(q, d.written, a->t);
	q->taken = d.taken;
	/* Which of too many are whole? */
	if (d.written - q->fetched > q->rings.n_entries) {
		overrun(a, x, d.queue);
		return;
	}
	q->written = d.written;
	fetch(a, x, d.queue);
}

static void on_entries(const struct nic_at *a, const struct side_read *r)
{
	struct workqs *x = r->owner;
	struct workq *q = x->queue[r->id];
	uint32_t size = x->how->entry;
	const uint8_t *from = memory_stored(
		&host_node(a->nic->host, a->s)->memory, r->at, r->bytes);

	q->is_fetching = false;
	if (q->is_dead)
		return;
	for (uint32_t at = 0; at < r->bytes; at += size) {
		void *entry = ring_push(&q->entries);

		if (from)
			memcpy(entry, from + at, size);
		else if (!host_read(
				 a->nic->host, a->s, r->at + at, entry, size))
			memset(entry, 0xff, size);
	}
	q->fetched += r->bytes / size;
	if (a->nic->net->book)
		*(struct workq_fetch *)ring_push(&q->fetches) =
			(struct workq_fetch){ q->fetched, q->asked, a->t };
	fetch(a, x, r->id);
	x->how->fetched(a, r->id);
}

/* The times of the entry with a number, for a book. */
static __attribute__((noinline)) void take_times(
	struct workq *q, uint32_t number, sim_time t, struct workq_birth *b)
{
	for (; q->births.n; ring_pop(&q->births)) {
		*b = *(struct workq_birth *)ring_at(&q->births, 0);
		if ((int32_t)(b->written - number) > 0)
			break;
	}
	b->asked = b->came = t;
	for (; q->fetches.n; ring_pop(&q->fetches)) {
		const struct workq_fetch *f = ring_at(&q->fetches, 0);

		b->asked = f->asked;
		b->came = f->came;
		if ((int32_t)(f->fetched - number) > 0)
			break;
	}
}

const void *workqs_take(const struct nic_at *a, struct workqs *x,
	uint32_t queue, struct workq_birth *b)
{
	struct workq *q = x->queue[queue];
	uint32_t number = q->fetched - q->entries.n;
	const void *entry = ring_pop(&q->entries);

	*b = (struct workq_birth){ number, a->t, a->t, a->t, a->t, a->t, a->t };
	if (nic_has_book(a))
		take_times(q, number, a->t, b);
	q->n_out++;
	fetch(a, x, queue);
	return entry;
}

/* --- completions --- */

/* A completion is on its way, until *t; 0: there is no room for it. */
static uint32_t begin_telling(const struct nic_at *a, struct workqs *x,
	uint32_t queue, const struct workq_completion *c, sim_time *t)
{
	struct side *side = x->reads->how->side;
	struct workq *q = x->queue[queue];
	uint32_t place = q->completed & (q->rings.n_completions - 1), id;
	struct end *e;

	if (q->is_dead || q->completed - q->taken >= q->rings.n_completions) {
		overrun(a, x, queue);
		return 0;
	}
	id = slots_take_any(&x->ends);
	e = slots_at(&x->ends, id);
	e->queue = queue;
	e->is_entry = false;
	e->at = q->rings.completions_at + place * sizeof(*c);
	e->c = *c;
	e->c.number = ++q->completed;
	q->n_ends++;
	*t = side->ops->write(
		side, side_reads_place(a, x->reads), a->t, e->at, sizeof(*c));
	*t = *t > a->t ? *t : a->t + 1;
	return id;
}

/* The same with an event. */
static uint32_t tell(const struct nic_at *a, struct workqs *x, uint32_t queue,
	const struct workq_completion *c, sim_time *t)
{
	uint32_t id = begin_telling(a, x, queue, c, t);

	if (id)
		ticks_post(a, x->reads->ticks, *t, x->how->first + 1, id);
	return id;
}

void workqs_complete(const struct nic_at *a, struct workqs *x, uint32_t queue,
	const struct workq_completion *c)
{
	sim_time t;
	uint32_t id = tell(a, x, queue, c, &t);

	if (id)
		((struct end *)slots_at(&x->ends, id))->is_entry = true;
	else
		x->queue[queue]->n_out--;
}

void workqs_end(struct workqs *x, uint32_t queue)
{
	x->queue[queue]->n_out--;
}

sim_time workqs_tell(const struct nic_at *a, struct workqs *x, uint32_t queue,
	const struct workq_completion *c)
{
	sim_time t;

	return tell(a, x, queue, c, &t) ? t : 0;
}

uint32_t workqs_tell_with(const struct nic_at *a, struct workqs *x,
	uint32_t queue, const struct workq_completion *c, sim_time *t)
{
	return begin_telling(a, x, queue, c, t);
}

void workqs_told(const struct nic_at *a, struct workqs *x, uint32_t id)
{
	const struct end *e = slots_at(&x->ends, id);
	struct workq *q = x->queue[e->queue];

	if (!q->is_dead)
		host_write(a->nic->host, a->w, a->s, a->t, e->at, &e->c,
			sizeof(e->c));
	q->n_ends--;
	q->n_out -= e->is_entry;
	slots_give(&x->ends, id);
}

static void on_completed(const struct nic_at *a, struct workqs *x, uint32_t id)
{
	workqs_told(a, x, id);
	/* wakes programs that wait for anything */
	host_poke(a->nic->host, a->w, a->s, a->t);
}

bool workqs_on_event(const struct nic_at *a, struct workqs *x, uint32_t number,
	uint32_t data)
{
	if (number == x->how->first)
		on_doorbell(a, x);
	else if (number == x->how->first + 1)
		on_completed(a, x, data);
	else
		return false;
	return true;
}
