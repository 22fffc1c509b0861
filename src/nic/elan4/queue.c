/*
 * Command queues.  Stores arrive in bursts, in any order within a window;
 * what is contiguous is taken out in order.  The ring is the backing store:
 * room comes back only when a packet has been acknowledged.  Whoever breaks
 * a queue's rules stops that queue, and no other (QSN-F26).
 */
#include "nic/elan4/elan.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

static const uint32_t depths[ELAN_DEPTHS] = {
	[ELAN_1K] = 1 << 10,
	[ELAN_8K] = 8 << 10,
	[ELAN_64K] = 64 << 10,
	[ELAN_512K] = 512 << 10,
};

struct elan_queue *elan_queue(struct elan_node *n, uint32_t id)
{
	return n->queues && id < ELAN_QUEUES ? n->queues[id] : NULL;
}

/* --- the driver --- */

int elan_queue_open(struct nic *nic, site_id s, uint32_t queue,
	enum elan_depth depth, uint32_t rights, uint32_t context)
{
	struct elan_node *n = elan_node((struct elan *)nic, s);
	struct elan_queue *q;

	if (queue >= ELAN_QUEUES || depth >= ELAN_DEPTHS ||
		rights > ELAN_MAY_ALL || context >= ELAN_CONTEXTS)
		return EINVAL;
	if (!n->queues)
		n->queues = mem_alloc(ELAN_QUEUES, sizeof(*n->queues));
	if (n->queues[queue])
		return EBUSY;
	q = mem_alloc(1, sizeof(*q));
	q->depth = depths[depth];
	q->ring = mem_alloc(1, q->depth);
	q->rights = (uint8_t)rights;
	q->context = (uint16_t)context;
	q->next = ELAN_NO_QUEUE;
	q->channel = 2 + n->opened++;
	n->queues[queue] = q;
	return 0;
}

/* Nothing of it is in the card or on its way there. */
static bool is_quiet(const struct elan_queue *q)
{
	return !q->outstanding && !q->arrivals_n && !q->is_queued &&
	       !q->is_half && (q->error || q->taken == q->announced);
}

int elan_queue_close(struct nic *nic, site_id s, uint32_t queue)
{
	struct elan_node *n = elan_node((struct elan *)nic, s);
	struct elan_queue *q = elan_queue(n, queue);

	if (!q)
		return EINVAL;
	if (!is_quiet(q))
		return EBUSY;
	mem_free(q->ring);
	mem_free(q->arrivals);
	mem_free(q);
	n->queues[queue] = NULL;
	return 0;
}

int elan_queue_restart(struct nic *nic, site_id s, uint32_t queue)
{
	struct elan_queue *q =
		elan_queue(elan_node((struct elan *)nic, s), queue);

	if (!q)
		return EINVAL;
	if (!q->error || !is_quiet(q))
		return EBUSY;
	q->error = ELAN_FINE;
	q->announced = q->arrived = q->taken = q->freed = 0;
	memset(q->ahead, 0, sizeof(q->ahead));
	return 0;
}

enum elan_error elan_queue_error(
	const struct nic *nic, site_id s, uint32_t queue)
{
	const struct elan_node *n = ((const struct elan *)nic)->nodes[s];

	return n && n->queues && queue < ELAN_QUEUES && n->queues[queue]
		       ? (enum elan_error)n->queues[queue]->error
		       : ELAN_FINE;
}

uint64_t elan_queue_room(const struct nic *nic, site_id s, uint32_t queue)
{
	const struct elan_node *n = ((const struct elan *)nic)->nodes[s];
	const struct elan_queue *q = n && n->queues ? n->queues[queue] : NULL;

	return q ? q->depth - (q->announced - q->freed) : 0;
}

void elan_queue_stop(
	const struct elan_at *a, uint32_t queue, enum elan_error why)
{
	struct elan_queue *q = elan_queue(a->n, queue);

	if (q->error)
		return;
	q->error = (uint8_t)why;
	a->n->counts.errors[why]++;
	host_poke(a->x->nic.host, a->w, a->s, a->t);
}

/* --- stores --- */

static void copy_in(struct elan_queue *q, uint64_t position,
	const uint64_t *words, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint64_t at = position + 8 * i;

		memcpy(q->ring + at % q->depth, &words[i], 8);
		q->ahead[at / 8 % ELAN_WINDOW_WORDS / 64] |= UINT64_C(1)
							     << at / 8 % 64;
	}
	/* what has no gap any more */
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

static void note_arrival(struct elan_queue *q, sim_time at)
{
	uint32_t room = q->arrivals_room, i;

	if (q->arrivals_n == room) {
		q->arrivals_room = room ? 2 * room : 8;
		q->arrivals = mem_grow(
			q->arrivals, q->arrivals_room, sizeof(*q->arrivals));
		for (i = 0; i < q->arrivals_first; i++)
			q->arrivals[room + i] = q->arrivals[i];
	}
	i = (q->arrivals_first + q->arrivals_n++) % q->arrivals_room;
	q->arrivals[i] = (struct elan_arrival){ .end = q->announced, .at = at };
}

/* Whether a queue takes these words; else it stops. */
static bool takes(const struct elan_at *a, uint32_t queue, uint32_t offset,
	uint32_t n, uint64_t *position)
{
	struct elan_queue *q = elan_queue(a->n, queue);
	uint64_t ahead = (offset - q->announced) % ELAN_PAGE;

	if (q->error)
		return false;
	*position = q->announced + ahead;
	if (offset % 8 || ahead + 8 * n > ELAN_WINDOW) {
		elan_queue_stop(a, queue, ELAN_ERROR_WINDOW);
		return false;
	}
	if (*position + 8 * n - q->freed > q->depth) {
		elan_queue_stop(a, queue, ELAN_ERROR_OVERFLOW);
		return false;
	}
	return true;
}

sim_time elan_store(struct nic *nic, struct sim_worker *w, site_id s,
	sim_time t, uint32_t queue, uint32_t offset, const uint64_t *words,
	uint32_t n)
{
	struct elan *x = (struct elan *)nic;
	struct elan_at a = { x, elan_node(x, s), w, s, t };
	struct elan_queue *q = elan_queue(a.n, queue);
	sim_time end = bus_burst(&a.n->bus, &x->params.bus, t, 8 * n,
		x->host.pio_overhead, BUS_OUT);
	uint64_t position;

	if (!q || !takes(&a, queue, offset, n, &position))
		return end;
	copy_in(q, position, words, n);
	note_arrival(q, end + x->host.store);
	elan_post(&a, end + x->host.store, ELAN_ENGINE_STORE, queue);
	return end;
}

void elan_queue_on_store(const struct elan_at *a, uint32_t queue)
{
	struct elan_queue *q = elan_queue(a->n, queue);

	q->arrived = q->arrivals[q->arrivals_first].end;
	q->arrivals_first = (q->arrivals_first + 1) % q->arrivals_room;
	q->arrivals_n--;
	elan_queue_wake(a, queue);
}

/* --- what is in it --- */

sim_time elan_queue_arrival(const struct elan_queue *q, uint64_t position)
{
	uint32_t k;

	if (position <= q->arrived)
		return 0;
	if (position > q->announced)
		return SIM_NEVER;
	for (k = q->arrivals_n; k; k--) {
		uint32_t i = (q->arrivals_first + k - 1) % q->arrivals_room;
		uint32_t before =
			(q->arrivals_first + k - 2) % q->arrivals_room;

		if (k == 1 || q->arrivals[before].end < position)
			return q->arrivals[i].at;
	}
	return 0;
}

uint64_t elan_queue_word(const struct elan_queue *q, uint64_t position)
{
	uint64_t word;

	memcpy(&word, q->ring + position % q->depth, 8);
	return word;
}

void elan_queue_wake(const struct elan_at *a, uint32_t queue)
{
	struct elan_node *n = a->n;
	struct elan_queue *q = elan_queue(n, queue);

	if (q->is_queued || q->error || q->taken == q->announced)
		return;
	q->is_queued = true;
	q->next = ELAN_NO_QUEUE;
	if (n->run_first == ELAN_NO_QUEUE)
		n->run_first = (uint16_t)queue;
	else
		n->queues[n->run_last]->next = (uint16_t)queue;
	n->run_last = (uint16_t)queue;
	elan_command_go(a);
}

void elan_queue_acked(
	const struct elan_at *a, uint32_t queue, uint32_t sequence)
{
	struct elan_queue *q = elan_queue(a->n, queue);

	q->outstanding--;
	q->acked |= UINT64_C(1) << (sequence - q->oldest);
	while (q->acked & 1) {
		q->acked >>= 1;
		q->freed = q->ends[q->oldest % ELAN_ENDS];
		q->oldest++;
	}
	if (q->oldest == q->sequence)
		q->freed = q->taken;
	host_poke(a->x->nic.host, a->w, a->s, a->t);
	elan_queue_wake(a, queue);
}
