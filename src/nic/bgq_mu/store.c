/*
 * Packets for FIFOs in memory: whole packets for reception FIFOs, and the
 * descriptors of remote gets for injection FIFOs.  Engines reserve places in
 * order, store in any order, and the tail moves in order (BGQ-F122).
 */
#include "nic/bgq_mu/units.h"

#include "base/mem.h"

/* --- order --- */

static bool is_order_full(const struct mu_order *o)
{
	return window_span(&o->window) == MU_ORDER;
}

static uint32_t enter(struct mu_order *o, uint32_t bytes)
{
	uint32_t number = o->window.next++;

	o->bytes[number % MU_ORDER] = (uint16_t)bytes;
	return number;
}

/* A packet is stored: returns the bytes that become visible, and whether one of
 * their packets is marked. */
static uint64_t complete(
	struct mu_order *o, uint32_t number, bool is_marked, bool *any)
{
	uint32_t i = o->window.oldest;
	uint64_t sum = 0;

	o->marked |= (uint64_t)is_marked << number % MU_ORDER;
	*any = false;
	for (window_done(&o->window, number); i != o->window.oldest; i++) {
		sum += o->bytes[i % MU_ORDER];
		*any |= o->marked >> i % MU_ORDER & 1;
		o->marked &= ~(UINT64_C(1) << i % MU_ORDER);
	}
	return sum;
}

/* --- the circle --- */

struct circle {
	uint64_t start, size;
};

/* The part of [at, at + bytes) up to the end of a circular buffer. */
static uint32_t first_part(struct circle c, uint64_t at, uint32_t bytes)
{
	uint64_t left = c.start + c.size - at;

	return left < bytes ? (uint32_t)left : bytes;
}

static bool allows(const struct nic_at *a, struct circle c, uint64_t at,
	uint32_t bytes, bool is_system)
{
	uint32_t n = first_part(c, at, bytes);

	return mu_port_allows(a, at, n, true, is_system) &&
	       mu_port_allows(a, c.start, bytes - n, true, is_system);
}

static sim_time ask(const struct nic_at *a, uint32_t requester, struct circle c,
	uint64_t at, uint32_t bytes)
{
	uint32_t n = first_part(c, at, bytes);
	sim_time one = mu_port_write(a, requester, at, n);
	sim_time two = mu_port_write(a, requester, c.start, bytes - n);

	return one > two ? one : two;
}

static void put(const struct nic_at *a, struct circle c, uint64_t at,
	const void *from, uint32_t bytes)
{
	struct host *h = a->nic->host;
	uint32_t n = first_part(c, at, bytes);

	host_write(h, a->w, a->s, a->t, at, from, n);
	if (bytes > n)
		host_write(h, a->w, a->s, a->t, c.start,
			(const uint8_t *)from + n, bytes - n);
}

/* --- reception FIFOs --- */

/* Of a packet, in whole chunks. */
static uint32_t stored_bytes(const struct packet *p)
{
	return MU_HEADER_BYTES +
	       (p->bytes + MU_CHUNK - 1u) / MU_CHUNK * MU_CHUNK;
}

static uint64_t rec_place(const struct mu_rec_fifo *f, uint64_t position)
{
	return f->start + position % f->size;
}

uint64_t mu_rec_free(const struct mu_rec_fifo *f)
{
	/* one chunk stays free: full must differ from empty */
	return f->size ? f->size - MU_CHUNK - (f->shadow - f->head) : 0;
}

static enum mu_room refuse(const struct nic_at *a, enum mu_interrupt why,
	uint32_t number, uint64_t address)
{
	mu_tell(a, why, number, address);
	return MU_REFUSED;
}

static enum mu_room reserve_rec(
	const struct nic_at *a, const struct packet *p, bool is_behind)
{
	struct mu_buffer *b = mu_buffer_of(p);
	uint32_t id = mu_rec_fifo(&b->header), bytes = stored_bytes(p);
	struct mu_rec_fifo *f = mu_rec(mu_here(a), id);
	bool is_system = mu_is_system_packet(p);
	uint64_t free;

	if (f && !is_system && id >= MU_SYSTEM_SUBGROUP * MU_REC_PER_SUBGROUP)
		return refuse(a, MU_ERROR_PERMISSION, id, UINT64_MAX);
	if (!f || !f->is_enabled || bytes > f->size - MU_CHUNK)
		return refuse(a, MU_ERROR_FIFO, id, UINT64_MAX);
	free = mu_rec_free(f);
	if (is_behind || free < bytes || is_order_full(&f->order)) {
		mu_tell(a, MU_INT_REC_FULL, id, UINT64_MAX);
		return MU_NO_ROOM;
	}
	b->place = rec_place(f, f->shadow);
	if (!allows(a, (struct circle){ f->start, f->size }, b->place, bytes,
		    is_system))
		return refuse(a, MU_ERROR_RANGE, id, b->place);
	b->number = enter(&f->order, bytes);
	f->shadow += bytes;
	if (free >= f->threshold && free - bytes < f->threshold) {
		mu_mark(mu_here(a), MU_REC_CROSSED, id, MU_REC_PER_SUBGROUP);
		mu_tell(a, MU_INT_REC_THRESHOLD, id, UINT64_MAX);
	}
	return MU_ROOM;
}

static void done_rec(const struct nic_at *a, const struct packet *p)
{
	const struct mu_buffer *b = mu_buffer_of(p);
	uint32_t id = mu_rec_fifo(&b->header);
	struct mu_rec_fifo *f = mu_rec(mu_here(a), id);
	bool was_full = is_order_full(&f->order), interrupts;

	put(a, (struct circle){ f->start, f->size }, b->place, &b->header,
		stored_bytes(p));
	f->tail += complete(&f->order, (uint32_t)b->number,
		mu_is_interrupt(&b->header), &interrupts);
	if (interrupts) {
		mu_mark(mu_here(a), MU_REC_ARRIVED, id, MU_REC_PER_SUBGROUP);
		mu_tell(a, MU_INT_ARRIVAL, id, UINT64_MAX);
	}
	host_poke(a->nic->host, a->w, a->s, a->t);
	if (was_full)
		mu_receive_retry(a, mu_wait_rec(id));
}

/* --- injection FIFOs that remote gets fill --- */

/*
 * A get waits for room, which comes from puts that are sent.  If nodes fill
 * each other's FIFOs with gets, these puts may be behind gets that wait for
 * them in turn: software must keep the number of gets within the size of its
 * FIFOs.
 */
static enum mu_room reserve_get(
	const struct nic_at *a, const struct packet *p, bool is_behind)
{
	struct mu_buffer *b = mu_buffer_of(p);
	uint32_t id = mu_get_fifo(&b->header);
	struct mu_inj_fifo *f = mu_inj(mu_here(a), id);
	bool is_system = mu_is_system_packet(p);
	struct circle c;

	if (f && !is_system && mu_is_system(id))
		return refuse(a, MU_ERROR_PERMISSION, id, UINT64_MAX);
	if (!f || !f->is_enabled || !(f->attributes & MU_INJ_REMOTE_GET))
		return refuse(a, MU_ERROR_FIFO, id, UINT64_MAX);
	if (!p->bytes || p->bytes % MU_DESCRIPTOR_BYTES ||
		p->bytes > f->size - MU_DESCRIPTOR_BYTES)
		return refuse(a, MU_ERROR_PACKET, id, UINT64_MAX);
	if (!f->gets)
		f->gets = mem_alloc(1, sizeof(*f->gets));
	if (is_behind || is_order_full(f->gets) ||
		mu_inj_room(f, f->get_tail) < p->bytes / MU_DESCRIPTOR_BYTES) {
		mu_tell(a, MU_INT_GET_FULL, id, UINT64_MAX);
		return MU_NO_ROOM;
	}
	c = (struct circle){ f->start, f->size };
	b->place = f->get_tail;
	if (!allows(a, c, b->place, p->bytes, is_system))
		return refuse(a, MU_ERROR_RANGE, id, b->place);
	b->number = enter(f->gets, p->bytes);
	f->get_tail = f->start + (f->get_tail - f->start + p->bytes) % f->size;
	return MU_ROOM;
}

static void done_get(const struct nic_at *a, const struct packet *p)
{
	const struct mu_buffer *b = mu_buffer_of(p);
	uint32_t id = mu_get_fifo(&b->header);
	struct mu_inj_fifo *f = mu_inj(mu_here(a), id);
	bool was_full = is_order_full(f->gets), none;

	put(a, (struct circle){ f->start, f->size }, b->place, b->payload,
		p->bytes);
	f->tail = f->start + (f->tail - f->start +
				     complete(f->gets, (uint32_t)b->number,
					     false, &none)) %
				     f->size;
	mu_fetch_want(a, id);
	if (was_full)
		mu_receive_retry(a, mu_wait_inj(id));
}

/* --- either --- */

enum mu_room mu_store_reserve(
	const struct nic_at *a, const struct packet *p, bool is_behind)
{
	if (mu_packet_type(&mu_buffer_of(p)->header) == MU_FIFO)
		return reserve_rec(a, p, is_behind);
	return reserve_get(a, p, is_behind);
}

sim_time mu_store_write(
	const struct nic_at *a, uint32_t requester, const struct packet *p)
{
	const struct mu_buffer *b = mu_buffer_of(p);
	const struct mu_inj_fifo *g;

	if (mu_packet_type(&b->header) == MU_FIFO) {
		const struct mu_rec_fifo *f =
			mu_rec(mu_here(a), mu_rec_fifo(&b->header));

		return ask(a, requester, (struct circle){ f->start, f->size },
			b->place, stored_bytes(p));
	}
	g = mu_inj(mu_here(a), mu_get_fifo(&b->header));
	return ask(a, requester, (struct circle){ g->start, g->size }, b->place,
		p->bytes);
}

void mu_store_done(const struct nic_at *a, const struct packet *p)
{
	if (mu_packet_type(&mu_buffer_of(p)->header) == MU_FIFO)
		done_rec(a, p);
	else
		done_get(a, p);
}
