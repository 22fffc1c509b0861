/*
 * What threads call, for memory and command queues: each call holds the
 * processor for its time, or gives it up.  thread_queue.c has their calls for
 * messages and blocks.
 */
#include "nic/elan4/thread.h"

#include <errno.h>

#define self elan_thread_self
#define hold elan_thread_hold

void elan_thread_work(uint32_t cycles)
{
	struct nic_at a;
	const struct elan_thread *x = self(&a);

	elan_thread_spend(&a, x, cycles * elan_params(&a)->thread_clock);
}

int elan_thread_look_longer(struct nic_at *a, uint64_t at, uint64_t bytes,
	enum elan_use use, struct elan_view *v)
{
	struct elan_thread *x = elan_thread_here(a);
	sim_time since = a->t;

	while (v->state == ELAN_MISSING) {
		x = elan_thread_settle(a);
		elan_fault(
			a, x->context, v->at, v->t, elan_thread_on_page, x->id);
		elan_thread_wait(a, x, WAITS_PAGE);
		x = self(a);
		*v = elan_look(a, x->context, at, bytes, use);
	}
	if (v->state == ELAN_NOWHERE)
		return EFAULT;
	if (v->t > a->t) {
		hold(a, x, v->t - a->t);
		self(a);
	}
	elan_thread_was_late(a, a->t - since);
	return 0;
}

int elan_thread_see_queue(struct nic_at *a, uint64_t at, uint64_t bytes)
{
	struct elan_view v;
	int code = elan_thread_look_up(a, at, bytes, ELAN_TO_WRITE, &v);

	return !code && !(v.flags & ELAN_TO_QUEUE) ? EFAULT : code;
}

int elan_thread_wait_word(uint64_t at, uint64_t value)
{
	struct elan_thread *x;
	struct elan_view v;
	struct nic_at a;

	self(&a);
	if (at % 8 || elan_thread_see(&a, at, 8, ELAN_TO_READ, &v))
		return EFAULT;
	x = elan_thread_here(&a);
	hold(&a, x, elan_params(&a)->thread_clock);
	x = self(&a);
	x->at = v.at;
	x->value = elan_order(v.flags, value);
	if (!elan_thread_has_word(&a, x))
		elan_thread_wait(&a, x, WAITS_WORD);
	return 0;
}

uint32_t elan_thread_interrupt(void)
{
	struct elan_thread *x;
	struct nic_at a;

	x = self(&a);
	hold(&a, x, elan_params(&a)->thread_clock);
	self(&a);
	elan_thread_settle(&a);
	return elan_interrupt_quietly(&a);
}

void elan_thread_wait_interrupt(uint32_t ticket)
{
	struct elan_thread *x;
	struct nic_at a;

	self(&a);
	x = elan_thread_settle(&a);
	x->value = ticket;
	if (!elan_interrupt_is_over(elan_here(&a), ticket))
		elan_thread_wait(&a, x, WAITS_INTERRUPT);
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
	struct elan_thread *x;
	struct nic_at a;

	if (!n || n > ELAN_PAGE / 8)
		return EINVAL;
	self(&a);
	if (elan_thread_see_queue(&a, to, 8 * n))
		return EFAULT;
	x = elan_thread_settle(&a); /* before the queue, which may go */
	x->bytes = 8 * n;
	x->queue = elan_queue_mapped(elan_here(&a), x->context, to, x->bytes);
	if (!x->queue)
		return EFAULT;
	if (x->bytes > x->queue->depth)
		return EINVAL;
	while (!has_room(x)) {
		elan_thread_wait(&a, x, WAITS_ROOM);
		x = self(&a); /* it is later */
	}
	elan_queue_append(&a, x->queue, (const uint8_t *)words, x->bytes,
		a.t + n * elan_params(&a)->thread_clock);
	elan_thread_work(n);
	return 0;
}

/* Words of card memory, a cycle each where they hit. */
static int read_card(struct nic_at *a, uint64_t at, void *to, uint32_t bytes)
{
	const struct elan_thread *x = elan_thread_here(a);
	sim_time t = elan_cache_read(a, ELAN_BY_THREAD, at, bytes, a->t);

	if (!elan_thread_is_sound(a, x, at, bytes))
		return EIO;
	elan_thread_spend(a, x,
		t - a->t + (bytes + 7) / 8 * elan_params(a)->thread_clock);
	elan_sdram_read(a, at, to, bytes);
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
	self(&a);
	if (elan_thread_see(&a, at, bytes, ELAN_TO_READ, &v) ||
		!elan_is_card(v.at))
		return EFAULT;
	at = v.at;
	x = elan_thread_here(&a);
	how = &elan_of(&a)->cache;
	ahead = how->latency + how->sdram;
	end = a.t;
	for (uint64_t k = 0; k < bytes; k += n) {
		n = bytes - k < BLOCK_PART ? (uint32_t)(bytes - k) : BLOCK_PART;
		if (end - ahead > a.t)
			hold(&a, x, end - ahead - a.t);
		x = self(&a);
		if (!elan_thread_is_sound(&a, x, at + k, n))
			return EIO;
		end = elan_cache_stream(&a, ELAN_BY_THREAD, at + k, n,
			(enum elan_ports)ports, a.t);
		if (to)
			elan_sdram_read(&a, at + k, (uint8_t *)to + k, n);
	}
	hold(&a, x, end - a.t);
	return 0;
}

int elan_thread_read(uint64_t at, void *to, uint32_t bytes)
{
	const struct elan_fetch f = { at, to, bytes };
	struct elan_view v;
	struct nic_at a;

	if (!bytes || bytes > ELAN_BLOCK)
		return EINVAL;
	self(&a);
	if (elan_thread_see(&a, at, bytes, ELAN_TO_READ, &v))
		return EFAULT;
	return elan_is_card(v.at) ? read_card(&a, v.at, to, bytes)
				  : elan_thread_fetch(&f, 1);
}

int elan_thread_write(uint64_t at, uint64_t value)
{
	struct elan_thread *x;
	struct elan_view v;
	struct nic_at a;
	sim_time late;

	self(&a);
	if (at % 8 || elan_thread_see(&a, at, 8, ELAN_TO_WRITE, &v))
		return EFAULT;
	value = elan_order(v.flags, value);
	x = elan_thread_here(&a);
	late = elan_thread_out(&a, x, v.at, &value, sizeof(value));
	elan_thread_spend(&a, x, elan_params(&a)->thread_clock + late);
	return 0;
}
