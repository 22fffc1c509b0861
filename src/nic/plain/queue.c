#include <errno.h>

#include "base/mem.h"
#include "nic/plain/card.h"

/* Of a range's flags, beside its rights. */
enum { IS_KNOWN = 8, PROCESS_SHIFT = 8 };

static struct plain_queue *find(const struct plain_node *n, uint32_t queue)
{
	return n && queue < PLAIN_QUEUES ? n->queue[queue] : NULL;
}

/* --- what a kernel does --- */

static bool is_ring(uint32_t n)
{
	return n && n <= PLAIN_MOST_ENTRIES && !(n & (n - 1));
}

int plain_open(
	struct nic *nic, site_id s, uint32_t queue, const struct plain_rings *r)
{
	struct plain_node *n = nic_node(nic, s);
	struct plain_queue *q = find(n, queue);
	const uint32_t both =
		MEMORY_MAY_READ(MEMORY_NIC) | MEMORY_MAY_WRITE(MEMORY_NIC);

	if (queue >= PLAIN_QUEUES || !is_ring(r->n_entries) ||
		!is_ring(r->n_completions) || r->entries_at % 64 ||
		r->completions_at % sizeof(struct plain_completion))
		return EINVAL;
	if (host_ask(nic->host, s, both, r->entries_at,
		    r->n_entries * sizeof(struct plain_entry)) ||
		host_ask(nic->host, s, both, r->completions_at,
			r->n_completions * sizeof(struct plain_completion)))
		return EFAULT;
	if (q && q->is_open)
		return EBUSY;
	if (!q) {
		q = n->queue[queue] = mem_alloc(1, sizeof(*q));
		ring_init(&q->entries, sizeof(struct plain_entry));
		ring_init(&q->births, sizeof(struct plain_birth));
	}
	q->rings = *r;
	q->written = q->fetched = q->completed = q->taken = 0;
	q->why = PLAIN_OK;
	q->is_open = true;
	return 0;
}

int plain_close(struct nic *nic, site_id s, uint32_t queue)
{
	struct plain_queue *q = find(nic->nodes[s], queue);

	if (!q || !q->is_open)
		return EINVAL;
	if (q->fetched != q->written || q->entries.n || q->n_works ||
		q->is_fetching)
		return EBUSY;
	q->is_open = false;
	return 0;
}

int plain_register(struct nic *nic, site_id s, uint32_t process, uint32_t key,
	uint64_t at, uint64_t bytes, uint32_t rights)
{
	struct plain_node *n = nic_node(nic, s);
	const struct range *x = ranges_find(&n->keys, key);

	if (!bytes || rights >= IS_KNOWN || process >> (32 - PROCESS_SHIFT))
		return EINVAL;
	if (x && x->flags)
		return EBUSY;
	if (host_ask(nic->host, s, MEMORY_MAY_READ(MEMORY_NIC), at, bytes))
		return EFAULT;
	ranges_set(&n->keys, key, at, at + bytes - 1);
	ranges_find(&n->keys, key)->flags =
		process << PROCESS_SHIFT | IS_KNOWN | rights;
	return 0;
}

int plain_forget(struct nic *nic, site_id s, uint32_t key)
{
	struct plain_node *n = nic_node(nic, s);
	struct range *x = ranges_find(&n->keys, key);

	if (!x || !x->flags)
		return EINVAL;
	x->flags = 0;
	return 0;
}

enum plain_status plain_state(const struct nic *nic, site_id s, uint32_t queue)
{
	const struct plain_queue *q = find(nic->nodes[s], queue);

	return q && q->is_open ? q->why : PLAIN_STOPPED;
}

enum plain_status plain_look_up(const struct plain_node *n, uint32_t key,
	uint64_t offset, uint64_t bytes, uint32_t right, uint32_t process,
	uint64_t *at)
{
	const struct range *x = ranges_find(&n->keys, key);
	uint64_t last;

	/* one's own bytes must be one's own, those there need a right */
	if (!x || !x->flags || (!right && x->flags >> PROCESS_SHIFT != process))
		return PLAIN_BAD_KEY;
	if (right & ~x->flags)
		return PLAIN_NO_RIGHT;
	last = x->last - x->first;
	if (bytes && (offset > last || bytes - 1 > last - offset))
		return PLAIN_OUT_OF_BOUNDS;
	*at = x->first + offset;
	return PLAIN_OK;
}

void plain_queue_fini(struct plain_queue *q)
{
	if (!q)
		return;
	ring_fini(&q->entries);
	ring_fini(&q->births);
	mem_free(q);
}

/* --- entries --- */

void plain_ring(struct nic *nic, struct sim_worker *w, site_id s, sim_time t,
	uint32_t queue, uint32_t written, uint32_t taken, sim_time birth)
{
	struct nic_at a = nic_at(nic, w, s, t);
	struct plain_node *n = a.node;
	struct side *side = plain_of(&a)->side;
	struct plain_queue *q = find(n, queue);

	if (!q || !q->is_open)
		return; /* a page that is not mapped */
	*(struct plain_doorbell *)ring_push(&n->doorbells) =
		(struct plain_doorbell){ queue, written, taken };
	if (nic->net->book)
		*(struct plain_birth *)ring_push(&q->births) =
			(struct plain_birth){ written, birth, t };
	plain_post(&a, side->ops->store(side, s, t, 8), ENGINE_DOORBELL, 0);
}

/* Asks for some of the entries that are written; not past the ring's end. */
static void fetch(const struct nic_at *a, uint32_t queue)
{
	struct plain_queue *q = find(a->node, queue);
	uint32_t n = q->written - q->fetched;
	uint32_t first = q->fetched & (q->rings.n_entries - 1);
	uint32_t most = (uint32_t)plain_of(a)->params.prefetch;

	if (!n || q->is_fetching || q->entries.n >= most)
		return;
	n = n < most ? n : most;
	if (n > q->rings.n_entries - first)
		n = q->rings.n_entries - first;
	q->is_fetching = true;
	plain_here(a)->fetches++;
	side_reads_begin(a, &plain_here(a)->reads,
		q->rings.entries_at + first * sizeof(struct plain_entry),
		n * (uint32_t)sizeof(struct plain_entry), READ_ENTRIES, queue);
}

void plain_queue_on_doorbell(const struct nic_at *a)
{
	struct plain_doorbell d =
		*(struct plain_doorbell *)ring_pop(&plain_here(a)->doorbells);
	struct plain_queue *q = find(a->node, d.queue);

	q->taken = d.taken;
	if (d.written - q->fetched > q->rings.n_entries) {
		/* who can say which of them are whole */
		plain_queue_stop(a->node, q, PLAIN_OVERRUN);
		return;
	}
	q->written = d.written;
	fetch(a, d.queue);
}

void plain_queue_on_entries(const struct nic_at *a, const struct side_read *x)
{
	struct plain_queue *q = find(a->node, x->id);
	struct plain_entry e;
	uint64_t at;

	q->is_fetching = false;
	for (at = x->at; at < x->at + x->bytes; at += sizeof(e)) {
		if (!host_read(a->nic->host, a->s, at, &e, sizeof(e)))
			e = (struct plain_entry){ .op = PLAIN_OPS };
		*(struct plain_entry *)ring_push(&q->entries) = e;
		q->fetched++;
	}
	fetch(a, x->id);
	plain_send_wake(a, x->id);
}

/* --- completions --- */

void plain_queue_stop(
	struct plain_node *n, struct plain_queue *q, enum plain_status why)
{
	if (q->why)
		return;
	q->why = why;
	if (why == PLAIN_OVERRUN)
		n->status[why]++;
}

void plain_queue_complete(const struct nic_at *a, uint32_t work)
{
	struct plain_node *n = a->node;
	struct plain_work *x = slots_at(&n->works, work);
	struct plain_queue *q = find(n, x->queue);
	struct side *side = plain_of(a)->side;
	uint32_t place = q->completed & (q->rings.n_completions - 1);

	n->status[x->end.status]++;
	if (q->completed - q->taken == q->rings.n_completions) {
		plain_queue_stop(n, q, PLAIN_OVERRUN);
		x->end.number = 0;
		plain_queue_on_completed(a, work);
		return;
	}
	x->end.id = x->e.id;
	x->end.number = ++q->completed;
	x->from = q->rings.completions_at + place * sizeof(x->end);
	plain_post(a,
		side->ops->write(side, a->s, a->t, x->from, sizeof(x->end)),
		ENGINE_COMPLETED, work);
}

void plain_queue_on_completed(const struct nic_at *a, uint32_t work)
{
	struct plain_node *n = a->node;
	struct plain_work *x = slots_at(&n->works, work);
	uint32_t queue = x->queue;

	if (x->end.number)
		host_write(a->nic->host, a->w, a->s, a->t, x->from, &x->end,
			sizeof(x->end));
	host_poke(a->nic->host, a->w, a->s, a->t);
	find(n, queue)->n_works--;
	slots_give(&n->works, work);
	fetch(a, queue);
}
