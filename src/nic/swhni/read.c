/*
 * Reads.  The request goes to the other node, whose engine sends the bytes as a
 * message of its own, for the message that asked (R2W).  The asking engine
 * counts them as a receiver counts a write, with a bit for each packet. Nothing
 * is acknowledged: who misses packets asks for them again, and learns if the
 * answer still waits behind others.
 */
#include "nic/swhni/card.h"

#include "base/mem.h"

enum { MOST_WAITING = 256 };

/* --- where the bytes are --- */

/* Packets that are asked for once more. */
static uint32_t take_map(struct sw_message *m, const struct sw_load *l)
{
	uint32_t n = 0;

	m->map = mem_alloc((m->n_packets + 63) / 64, sizeof(*m->map));
	for (uint32_t i = 0; i < SW_MISSING * 8; i++)
		if (l->data[i / 8] >> i % 8 & 1 &&
			l->h.number + i < m->n_packets) {
			sw_set(m->map, l->h.number + i);
			n++;
		}
	return n;
}

static void hold_budget(
	const struct nic_at *a, packet_id id, struct sw_message *m)
{
	struct book *k = a->nic->net->book;

	if (!k || !book_has(k, id))
		return;
	m->account.held = mem_alloc(1, sizeof(*m->account.held));
	*m->account.held = book_hold(k, a->w->id, id);
}

static void answer(
	const struct nic_at *a, uint32_t engine, packet_id id, uint32_t message)
{
	struct sw_message *m = sw_message(sw_engine(a, engine), message);
	const struct sw_load *l = sw_load(a, id);
	uint32_t n;

	m->d = (struct swhni_descriptor){
		.type = SWHNI_READ,
		.flags = (uint8_t)(l->h.flags & SWHNI_ON_CHIP),
		.node = a->nic->net->packets[id].src,
		.bytes = l->h.total,
		.key = l->h.key,
		.offset = l->h.offset,
		.interface = l->h.interface,
	};
	m->item.dst = m->d.node;
	/* some packets were lost; by this port one has come */
	if (l->h.is_again && l->h.port < sw_of(a)->n_ports &&
		!(sw_here(a)->down >> l->h.port & 1))
		m->d.port = (uint8_t)(1 + l->h.port);
	m->interface = SWHNI_INTERFACES;
	m->job = l->h.job;
	m->peer = l->h.message;
	m->peer_generation = l->h.generation;
	m->peer_engine = l->h.own_engine;
	m->n_packets = sw_n_packets(a, m->d.bytes);
	m->class = l->h.is_short || l->h.flags & SWHNI_FAST ? 0
		   : m->d.bytes <= SWHNI_MESSAGE	    ? 1
							    : 2;
	m->is_short = m->is_issued = l->h.is_short;
	n = l->h.status == SW_PARTS ? take_map(m, l) : m->n_packets;
	sw_send_begin(m, n);
	hold_budget(a, id, m);
	sw_here(a)->answers++;
	if (n)
		sw_engine_line(a, engine, message);
	else
		sw_engine_end(a, engine, message, SWHNI_OK);
	sw_receive_finish(a, id, false);
}

void sw_read_next(const struct nic_at *a, uint32_t engine)
{
	struct sw_engine *e = sw_engine(a, engine);

	while (e->asks.n && e->answers.n_uncut < SW_UNCUT) {
		uint32_t message = sw_engine_place(a, engine, SW_ANSWER);

		if (!message)
			return;
		answer(a, engine, *(packet_id *)ring_pop(&e->asks), message);
	}
}

/* The chip's memory of an interface, which a fast short message reads. */
static enum swhni_error check_chip(
	const struct nic_at *a, const struct sw_header *h)
{
	struct sw_interface *x = sw_interface(a->node, h->interface);

	if (!x)
		return SWHNI_BAD_INTERFACE;
	if (x->setup.job != h->job)
		return SWHNI_WRONG_JOB;
	return sw_chip(x, h->offset, h->total) ? SWHNI_OK : SWHNI_OUT_OF_BOUNDS;
}

/* Whether a packet or an answer is for the same read. */
static bool is_ask(const struct nic_at *a, packet_id id,
	const struct sw_header *h, site_id src)
{
	const struct sw_header *x = &sw_load(a, id)->h;

	return a->nic->net->packets[id].src == src &&
	       x->message == h->message && x->generation == h->generation &&
	       x->own_engine == h->own_engine;
}

static bool is_answer(
	const struct sw_message *m, const struct sw_header *h, site_id src)
{
	return m && m->role == SW_ANSWER && !m->is_over && m->item.dst == src &&
	       m->peer == h->message && m->peer_generation == h->generation &&
	       m->peer_engine == h->own_engine;
}

/* Whether an earlier try is not all answered: a second answer would only keep
 * others waiting, who would then ask again, too. */
static bool is_queued(const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct sw_engine *e = sw_engine(a, engine);
	const struct sw_header *h = &sw_load(a, id)->h;
	site_id src = a->nic->net->packets[id].src;

	if (!h->is_again)
		return false;
	for (uint32_t i = 0; i < e->asks.n; i++)
		if (is_ask(a, *(packet_id *)ring_at(&e->asks, i), h, src))
			return true;
	for (uint32_t i = 1; i <= e->messages.items.room; i++)
		if (is_answer(slots_find(&e->messages.items, i), h, src))
			return true;
	return false;
}

void sw_read_asked(const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct sw_engine *e = sw_engine(a, engine);
	const struct sw_load *l = sw_load(a, id);
	const struct swhni_handle *h;
	uint32_t status =
		l->h.flags & SWHNI_ON_CHIP
			? check_chip(a, &l->h)
			: sw_look_up(a, engine, l->h.job, l->h.key, l->h.offset,
				  l->h.total, SWHNI_MAY_READ, &h);

	if (!l->h.total)
		status = SWHNI_BAD_ENTRY;
	else if (!status && e->asks.n >= MOST_WAITING)
		status = SW_FULL;
	if (status) {
		sw_here(a)->refused += status == SW_FULL;
		if (status != SW_FULL)
			sw_drop(a, l->h.job);
		sw_transport_answer(
			a, engine, &l->h, a->nic->net->packets[id].src, status);
		sw_receive_finish(a, id, false);
		return;
	}
	if (is_queued(a, engine, id)) {
		sw_transport_show(a, engine, &l->h,
			a->nic->net->packets[id].src, SW_QUEUED);
		sw_receive_finish(a, id, false);
		return;
	}
	sw_here(a)->asks++;
	*(packet_id *)ring_push(&e->asks) = id;
	sw_engine_turn(a, engine);
}

/* --- where they come to --- */

/* The read that a packet is for; NULL: it is over, or has this packet. */
static struct sw_message *asking(
	const struct nic_at *a, uint32_t engine, const struct sw_header *h)
{
	struct sw_message *m =
		slots_find(&sw_engine(a, engine)->messages.items, h->message);

	return m && m->generation == h->generation && !m->is_over &&
			       (m->d.type == SWHNI_READ ||
				       m->d.type == SWHNI_FSM_READ) &&
			       m->role != SW_ANSWER && h->number < m->n_packets
		       ? m
		       : NULL;
}

static bool has_come(const struct sw_message *m, uint32_t number)
{
	return m->map ? sw_has(m->map, number) : m->came;
}

static void count(struct sw_message *m, uint32_t number)
{
	if (!m->map && m->n_packets > 1)
		m->map = mem_alloc((m->n_packets + 63) / 64, sizeof(*m->map));
	if (m->map)
		sw_set(m->map, number);
	m->came++;
}

/* From now on the packet is as a write's to own memory. */
static void turn_round(
	const struct nic_at *a, const struct sw_message *m, struct sw_load *l)
{
	l->h.key = m->d.own_key;
	l->h.offset = m->d.own_offset + (uint64_t)l->h.number * sw_of(a)->most;
	l->h.flags = m->d.flags;
	l->h.interface = (uint16_t)m->d.interface;
	l->h.own_interface = (uint16_t)m->interface;
	l->h.total = m->d.bytes;
	l->h.job = m->job;
	l->h.word[0] = m->d.word[0];
	l->h.word[1] = m->d.word[1];
}

/* Its address is known, and its pages. */
static void place(const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct sw_load *l = sw_load(a, id);
	struct sw_message *m = asking(a, engine, &l->h);
	const struct swhni_handle *h;
	uint32_t status;
	sim_time t;

	if (!m || has_come(m, l->h.number)) {
		sw_here(a)->doubles++;
		sw_receive_finish(a, id, false);
		return;
	}
	status = sw_look_up(
		a, engine, m->job, l->h.key, l->h.offset, l->h.bytes, 0, &h);
	if (status) { /* deregistered meanwhile, by a job that is gone */
		sw_drop(a, l->h.job);
		sw_receive_finish(a, id, false);
		return;
	}
	count(m, l->h.number);
	t = sw_receive_write(
		a, engine, sw_address(a, h, l->h.offset), l->h.bytes);
	l->ready = t;
	l->is_last = m->came == m->n_packets;
	if (l->is_last) /* all that is left to wait for is memory */
		resend_stop(&sw_engine(a, engine)->messages, l->h.message);
	if (l->is_last)
		l->h.status = (uint8_t)sw_complete_begin(
			a, engine, l, a->nic->net->packets[id].src, &t);
	if (l->is_last && !l->h.status)
		sw_engine_tell(a, engine, l->h.message);
	sw_post(a, t, engine, SW_WRITTEN, id);
}

void sw_read_came(const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct sw_load *l = sw_load(a, id);
	const struct sw_message *m = asking(a, engine, &l->h);
	const struct swhni_handle *h;

	if (!m || has_come(m, l->h.number) ||
		l->h.bytes != sw_bytes_of(a, m->d.bytes, l->h.number)) {
		if (sw_has_job(a->node, l->h.job))
			sw_here(a)->doubles++;
		else
			sw_drop(a, l->h.job);
		sw_receive_finish(a, id, false);
		return;
	}
	turn_round(a, m, l);
	if (sw_look_up(a, engine, m->job, l->h.key, l->h.offset, l->h.bytes, 0,
		    &h) ||
		sw_translate(a, engine, h, l->h.offset, l->h.bytes, place, id))
		place(a, engine, id);
}

void sw_read_written(const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct sw_load *l = sw_load(a, id);
	site_id src = a->nic->net->packets[id].src;
	const struct sw_message *m = asking(a, engine, &l->h);
	const struct swhni_handle *h;

	if (!m || sw_look_up(a, engine, m->job, l->h.key, l->h.offset,
			  l->h.bytes, 0, &h)) {
		sw_drop(a, l->h.job);
		sw_receive_finish(a, id, false);
		return;
	}
	sw_store_load(a, h, l);
	sw_delivered(a, id);
	if (l->is_last) {
		if (!l->h.status)
			sw_complete_end(a, l, src);
		sw_engine_end(a, engine, l->h.message,
			l->h.status == SW_FULL ? SWHNI_BAD_INTERFACE
					       : l->h.status);
	}
	sw_receive_finish(a, id, true);
}
