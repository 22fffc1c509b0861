/*
 * Writes of packets, on their way from the input to memory.  Adjacent ones that
 * arrive close together go as one burst.
 *
 * Packets with writes that are not in memory are in a list, by arrival.  Writes
 * of one sender's queue are executed in this order, or a message's last word
 * could be in memory before the rest.  Packets of other queues do not wait for
 * them.  A packet with an undecided test is in the list, too, and delays its
 * queue.
 */
#include "nic/elan4/units.h"

static struct elan_input *input_of(const struct nic_at *a)
{
	return &elan_here(a)->input;
}

/* --- bursts --- */

uint32_t elan_writer_next(const struct elan_buffer *b)
{
	uint32_t k = b->handed;

	while (k < b->stop && b->piece[k].what != ELAN_WRITE)
		k++;
	return k;
}

/* Whether two transactions can be one burst. */
static bool are_adjacent(const struct elan_piece *x, const struct elan_piece *y)
{
	return y->what == ELAN_WRITE && y->address == x->address + x->bytes &&
	       y->context == x->context;
}

/* The end of the next burst, in pieces, and when its data is ready; 0: none. */
static uint32_t next_burst(
	const struct nic_at *a, const struct elan_buffer *b, sim_time *ready)
{
	const struct elan_params *p = elan_params(a);
	uint32_t first = elan_writer_next(b), k = first, bytes;

	*ready = 0;
	if (k == b->stop)
		return 0;
	bytes = b->piece[k].bytes;
	*ready = b->left[k];
	for (; k + 1 < b->stop; k++) {
		const struct elan_piece *x = &b->piece[k], *y = x + 1;

		if (!are_adjacent(x, y) || bytes + y->bytes > p->merge ||
			b->left[k + 1] > *ready + p->merge_wait)
			break;
		bytes += y->bytes;
		if (!b->streams)
			*ready = b->left[k + 1];
	}
	/* A burst that streams begins with its first word. */
	if (b->streams)
		*ready -=
			elan_bus_time(a, b->piece[first].bytes) - p->bus.clock;
	*ready += p->input;
	return k + 1;
}

void elan_writer_schedule(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);
	sim_time ready;

	b->until[b->bursts] = (uint8_t)next_burst(a, b, &ready);
	elan_post(a, ready > a->t ? ready : a->t + 1, ELAN_ENGINE_INPUT, id);
}

static void granted(const struct nic_at *a, packet_id id, sim_time seen)
{
	struct elan_buffer *b = elan_buffer(a, id);
	uint32_t last = b->until[b->granted++] - 1u;
	sim_time least = b->left[last] + elan_params(a)->input;

	if (!elan_is_card(b->piece[last].address))
		least += elan_of(a)->host.see;
	/* One that streams ends when its last block does.  Card memory is
	 * faster than the bus, but a packet is executed in order. */
	seen = b->streams && seen < least ? least : seen;
	b->in = seen > b->in ? seen : b->in;
	elan_post(a, b->in, ELAN_ENGINE_WRITTEN, id);
}

/* The next burst, whose end is known, goes to the bus. */
static void hand_on(const struct nic_at *a, packet_id id, uint32_t until)
{
	struct elan_buffer *b = elan_buffer(a, id);
	uint32_t first = elan_writer_next(b), bytes = 0, i;

	for (i = first; i < until; i++)
		bytes += b->piece[i].bytes;
	b->handed = (uint8_t)until;
	b->turn[b->bursts] = input_of(a)->turn++;
	b->until[b->bursts++] = (uint8_t)until;
	elan_count(a)->writes++;
	elan_count(a)->merged += until - first - 1;
	if (elan_writer_next(b) == b->n_pieces) {
		elan_count(a)->network_ps += (uint64_t)(a->t - b->asked);
		elan_count(a)->networked++;
	}
	elan_write_begin(
		a, ELAN_BY_INPUT, b->piece[first].address, bytes, granted, id);
}

void elan_writer_hand_on(const struct nic_at *a, packet_id id)
{
	sim_time ready;

	hand_on(a, id, next_burst(a, elan_buffer(a, id), &ready));
}

void elan_writer_on_ready(const struct nic_at *a, packet_id id)
{
	const struct elan_buffer *b = elan_buffer(a, id);

	hand_on(a, id, b->until[b->bursts]);
}

/* The bytes of a write and of those before until that continue it, in the
 * host's memory and in the packet; *next is behind them. */
static uint32_t joined(
	const struct elan_buffer *b, uint32_t i, uint32_t until, uint32_t *next)
{
	const struct elan_piece *p = &b->piece[i++];
	uint32_t bytes = p->bytes;

	/* card memory may belong to others in between */
	for (; i < until && !elan_is_card(p->address); i++, p++) {
		if (!are_adjacent(p, p + 1) || p[1].at != p->at + p->bytes)
			break;
		bytes += p[1].bytes;
	}
	*next = i;
	return bytes;
}

void elan_writer_on_written(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);
	uint32_t i = elan_writer_done(b), until = b->until[b->written++];
	uint32_t next, bytes;

	for (; i < until; i = next) {
		const struct elan_piece *p = &b->piece[i];

		next = i + 1;
		if (p->what != ELAN_WRITE)
			continue;
		bytes = joined(b, i, until, &next);
		elan_write_end(
			a, p->context, p->address, b->data + p->at, bytes);
	}
}

/* --- the list --- */

bool elan_writer_is_pending(const struct elan_buffer *b)
{
	for (uint32_t k = b->handed; k < b->n_pieces; k++)
		if (b->piece[k].what == ELAN_WRITE ||
			b->piece[k].what == ELAN_TEST)
			return true;
	return false;
}

static bool is_before(const struct nic_at *a, packet_id x, packet_id y)
{
	const struct elan_buffer *b = elan_buffer(a, x), *c = elan_buffer(a, y);

	return elan_packet(a, x)->src == elan_packet(a, y)->src &&
	       b->channel == c->channel && elan_writer_is_pending(b);
}

packet_id elan_writer_before(
	const struct nic_at *a, packet_id from, packet_id than)
{
	while (from && !is_before(a, from, than))
		from = elan_packet(a, from)->next;
	return from;
}

bool elan_writer_is_first(const struct nic_at *a, packet_id id)
{
	return elan_writer_before(a, input_of(a)->writers.first, id) == id;
}

bool elan_writer_is_double(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b)
{
	packet_id id = input_of(a)->writers.first;

	for (; id; id = elan_packet(a, id)->next) {
		const struct elan_buffer *c = elan_buffer(a, id);

		if (elan_packet(a, id)->src == p->src &&
			c->channel == b->channel && c->sequence == b->sequence)
			return true;
	}
	return false;
}

void elan_writer_join(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);

	b->writes = elan_writer_is_pending(b);
	if (!b->writes)
		return;
	if (elan_writer_next(b) < b->stop &&
		!elan_writer_before(a, input_of(a)->writers.first, id))
		elan_writer_schedule(a, id);
	packet_push(a->nic->net->packets, &input_of(a)->writers, id);
}

void elan_writer_leave(const struct nic_at *a, packet_id id)
{
	packet_id next = elan_packet(a, id)->next, before = 0, at;

	if (!elan_buffer(a, id)->writes)
		return;
	for (at = input_of(a)->writers.first; at != id;
		at = elan_packet(a, at)->next)
		before = at;
	if (before)
		elan_packet(a, before)->next = next;
	else
		input_of(a)->writers.first = next;
	if (!next)
		input_of(a)->writers.last = before;
}

/* --- reads of what is not in memory yet --- */

/* Copies a packet's writes that are not in memory over the bytes of a get. */
static void overlay(const struct elan_buffer *b, const struct elan_piece *get,
	uint8_t *data)
{
	for (uint32_t i = elan_writer_done(b); i < b->stop; i++) {
		const struct elan_piece *p = &b->piece[i];

		if (p->what == ELAN_WRITE)
			elan_overlay(data, get->address, get->bytes, p->address,
				b->data + p->at, p->bytes);
	}
}

void elan_writer_overlay(const struct nic_at *a, const struct elan_buffer *b,
	const struct elan_piece *get, uint8_t *data)
{
	packet_id id = input_of(a)->writers.first;

	for (; id; id = elan_packet(a, id)->next) {
		const struct elan_buffer *c = elan_buffer(a, id);

		if ((int32_t)(c->came - b->came) > 0)
			return;
		overlay(c, get, data);
	}
}
