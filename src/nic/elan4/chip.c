/*
 * Command queues that the chip knows (QSN-F22, QSN-F28).
 *
 *	opened     any number, as long as card memory has room
 *	resident   a store arrives at once; the first one into another queue
 *	           is a trap: the driver exchanges it for an idle one
 *	on chip    pointers and head are in RAM: a command needs no memory;
 *	           for another queue both lines are read first
 *
 * Queues of the second and third kind go when they have not been used for
 * longest.  If nic.cache.on is no, all queues are on chip.
 */
#include "nic/elan4/units.h"

#include <string.h>

#include "base/mem.h"

/* A queue in card memory. */
struct descriptor {
	uint64_t ring, announced, arrived, taken, freed;
	uint64_t mapped;
	uint32_t depth, name;
	uint16_t context, id;
	uint8_t rights, error, guard, is_guarded;
};

_Static_assert(sizeof(struct descriptor) == ELAN_DESCRIPTOR, "one line");

static struct elan_chip *chip_of(const struct nic_at *a)
{
	return &elan_here(a)->chip;
}

static void elan_chip_fini(struct elan_chip *x)
{
	mem_free(x->queue);
}

static uint64_t elan_chip_memory(const struct elan_chip *x)
{
	return x->n * sizeof(*x->queue);
}

NIC_MEMBER_OPS(elan_chip, NULL);

static void save(const struct elan_queue *q)
{
	const struct descriptor d = {
		.ring = q->ring,
		.announced = q->announced,
		.arrived = q->arrived,
		.taken = q->taken,
		.freed = q->freed,
		.mapped = q->mapped,
		.depth = q->depth,
		.name = q->name,
		.context = q->context,
		.id = q->id,
		.rights = q->rights,
		.error = q->error,
		.guard = q->guard,
		.is_guarded = q->is_guarded,
	};

	memcpy(elan_sdram_place(q->sdram, q->descriptor), &d, sizeof(d));
}

/* --- on chip --- */

/* The place of a queue that goes there: a new one, or that of the queue that
 * has not been used for longest. */
static struct elan_queue **make_room(const struct nic_at *a)
{
	struct elan_chip *x = chip_of(a);
	struct elan_queue **place = x->queue;

	if (x->n < (uint32_t)elan_params(a)->cached) {
		x->queue = mem_grow(x->queue, x->n + 1, sizeof(*x->queue));
		return &x->queue[x->n++];
	}
	for (uint32_t i = 1; i < x->n; i++)
		if (x->queue[i]->used < (*place)->used)
			place = &x->queue[i];
	(*place)->used = 0;
	elan_queue_back(a, *place, (*place)->arrived);
	save(*place);
	elan_cache_write(a, ELAN_BY_COMMAND, (*place)->descriptor,
		ELAN_DESCRIPTOR, a->t);
	return place;
}

static void on_fetched(const struct nic_at *a, uint32_t queue)
{
	struct elan_queue *q = elan_queue(elan_here(a), queue);

	q->is_fetching = false;
	*make_room(a) = q;
	q->used = ++chip_of(a)->uses;
	if (!elan_sdram_is_sound(a, q->descriptor, ELAN_DESCRIPTOR))
		elan_queue_stop(a, q, ELAN_ERROR_MEMORY);
	elan_queue_wake(a, q);
}

/* Reads the lines of its descriptor and of its next command. */
static void fetch(const struct nic_at *a, struct elan_queue *q)
{
	uint32_t line = elan_of(a)->cache.line;
	uint64_t head = q->ring + q->taken % q->depth;
	sim_time t = elan_cache_stream(a, ELAN_BY_COMMAND, q->descriptor,
		ELAN_DESCRIPTOR, ELAN_ANY_PORT, a->t);
	sim_time end = elan_cache_stream(a, ELAN_BY_COMMAND, head - head % line,
		line, ELAN_ANY_PORT, a->t);

	q->is_fetching = true;
	elan_count(a)->fetched++;
	elan_card_then(a, t > end ? t : end, on_fetched, q->id);
}

bool elan_chip_has(const struct nic_at *a, struct elan_queue *q)
{
	if (q->used) {
		q->used = ++chip_of(a)->uses;
		return true;
	}
	if (!elan_of(a)->cache.is_on)
		return true;
	if (!q->is_fetching)
		fetch(a, q);
	return false;
}

static void drop(struct elan_chip *x, struct elan_queue *q)
{
	q->used = 0;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->queue[i] == q)
			x->queue[i] = x->queue[--x->n];
}

/* --- resident --- */

void elan_chip_open(
	struct elan_chip *x, const struct elan_params *p, struct elan_queue *q)
{
	q->is_away = x->resident == (uint32_t)p->resident;
	x->resident += !q->is_away;
	save(q);
}

void elan_chip_close(struct elan_chip *x, struct elan_queue *q)
{
	x->resident -= !q->is_away;
	drop(x, q);
}

/* The idle queue whose last store is oldest; NULL: all are busy. */
static struct elan_queue *find_idle(const struct elan_node *n)
{
	struct elan_queue *found = NULL;

	for (uint32_t i = 0; i < ELAN_QUEUES; i++) {
		struct elan_queue *q = elan_queue(n, i);

		if (q && !q->is_away && elan_queue_is_idle(q) &&
			(!found || q->word_at < found->word_at))
			found = q;
	}
	return found;
}

/* Its stores arrive. */
static void let_in(const struct nic_at *a, struct elan_queue *q)
{
	q->is_away = q->is_trapped = false;
	elan_count(a)->exchanged++;
	elan_queue_arrive(a, q);
}

static void on_trap(const struct nic_at *a, uint32_t queue);

static void trap(const struct nic_at *a, uint32_t queue)
{
	elan_driver_work(a, elan_params(a)->interrupt, on_trap, queue);
}

static void on_trap(const struct nic_at *a, uint32_t queue)
{
	struct elan_queue *q = elan_queue(elan_here(a), queue), *old;
	struct elan_chip *x = chip_of(a);

	if (x->resident < (uint32_t)elan_params(a)->resident) {
		x->resident++;
		let_in(a, q);
		return;
	}
	old = find_idle(elan_here(a));
	if (!old) { /* one of them will be; programs run meanwhile */
		elan_card_then(
			a, a->t + elan_params(a)->interrupt, trap, queue);
		return;
	}
	drop(x, old);
	save(old);
	old->is_away = true;
	let_in(a, q);
}

void elan_chip_trap(const struct nic_at *a, struct elan_queue *q, sim_time t)
{
	if (q->is_trapped)
		return;
	q->is_trapped = true;
	elan_card_then(a, t, trap, q->id);
}
