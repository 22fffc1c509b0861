/*
 * Messages are acknowledged as a whole, and kept until they are.  After a
 * time-out the sender asks the receiver what it has of a message (a probe), by
 * another port, and sends what is missing again.  So nothing is sent again if
 * only the acknowledgement was lost, or if packets still arrive.  A message of
 * one packet is its own probe.
 *
 * A receiver that does not answer is tried nic.retry.limit times; then the
 * message ends with an error.  One that answers is alive, and gets more time.
 * A read whose answer waits behind others' is asked for again from time to
 * time, and waits for as long as that takes.
 */
#include "nic/swhni/card.h"

#include "base/mem.h"

/* Of a message; of a read whose packets still come. */
enum { MOST_EXCUSES = 16, MOST_OF_READ = UINT16_MAX / 2 };

/* The message that an answer is for, or NULL. */
static struct sw_message *sent(
	const struct nic_at *a, uint32_t engine, const struct sw_header *h)
{
	struct sw_message *m =
		slots_find(&sw_engine(a, engine)->messages.items, h->message);

	return m && m->generation == h->generation && !m->is_over &&
			       m->role != SW_ANSWER
		       ? m
		       : NULL;
}

/* --- answers --- */

/* By the port that the packet came by, which works. */
static void send_answer(const struct nic_at *a, packet_id id, uint32_t port)
{
	uint32_t wanted = port < sw_of(a)->n_ports ? 1 + port : 0;

	if (a->nic->net->book)
		nic_account_none(a, id);
	sw_port_send(a, SW_ANSWERS,
		a->nic->net->packets[id].dst == a->s
			? 0
			: sw_port_choose(a, SW_ANSWERS, wanted, false, 0),
		id);
}

static packet_id make_answer(const struct nic_at *a, uint32_t engine,
	enum sw_packet_type type, const struct sw_header *h, site_id to,
	uint32_t bytes)
{
	packet_id id = sw_send_packet(a, engine, type, to, bytes);
	struct sw_load *l = sw_load(a, id);

	l->h.message = h->message;
	l->h.generation = h->generation;
	l->h.engine = h->own_engine;
	l->h.job = h->job;
	return id;
}

void sw_transport_answer(const struct nic_at *a, uint32_t engine,
	const struct sw_header *h, site_id to, uint32_t status)
{
	uint32_t port = h->port;
	packet_id id = make_answer(a, engine, SW_ACK, h, to, 0);

	sw_load(a, id)->h.status = (uint8_t)status;
	sw_here(a)->acks++;
	send_answer(a, id, port);
}

/* --- tries --- */

/* Nothing of it is on its way to a port. */
static bool is_resting(const struct sw_message *m)
{
	return !m->is_lined && m->cut == m->left;
}

static bool is_read(const struct sw_message *m)
{
	return m->d.type == SWHNI_READ || m->d.type == SWHNI_FSM_READ;
}

/* Packets of a message are sent again: those of a map, or all. */
static void relaunch(const struct nic_at *a, uint32_t engine, uint32_t id,
	uint64_t *map, uint32_t n)
{
	struct sw_message *m = sw_message(sw_engine(a, engine), id);

	if (!is_read(m)) {
		mem_free(m->map);
		m->map = map;
	}
	if (m->role == SW_OWN_SHORT) {
		sw_fsm_again(a, engine, id);
		return;
	}
	sw_send_begin(m, n);
	sw_engine_line(a, engine, id);
	sw_engine_turn(a, engine);
}

static void excuse(struct sw_message *m, uint32_t most)
{
	if (m->item.excused < most)
		m->item.excused++;
}

/* Tries take the ports in turn, first one that the first try did not use. */
uint32_t sw_transport_port(const struct nic_at *a, const struct sw_message *m)
{
	uint32_t n = sw_of(a)->n_ports, first = m->first_ports == 2 ? 1 : 0;

	return 1 + (first + m->item.route) % n;
}

static void probe(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	const struct sw_message *m = sw_message(sw_engine(a, engine), id);
	packet_id p = sw_send_packet(a, engine, SW_PROBE, m->item.dst, 0);
	struct sw_load *l = sw_load(a, p);
	uint32_t wanted = m->d.port;

	l->h.message = id;
	l->h.generation = m->generation;
	l->h.n_packets = m->n_packets;
	l->h.engine = m->d.engine;
	l->h.job = m->job;
	l->is_bound = wanted != 0;
	if (!wanted)
		wanted = sw_transport_port(a, m);
	if (a->nic->net->book)
		nic_account_none(a, p);
	sw_here(a)->probes++;
	sw_port_send(a, SW_ANSWERS,
		m->item.dst == a->s
			? 0
			: sw_port_choose(a, SW_ANSWERS, wanted, m->d.port, 0),
		p);
}

void sw_transport_again(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_message *m = sw_message(sw_engine(a, engine), id);

	if (m->is_kept) {
		sw_engine_end(a, engine, id, SWHNI_NO_ANSWER);
	} else if (!is_resting(m)) {
		excuse(m, MOST_EXCUSES);
	} else if (is_read(m) && m->came != m->seen) {
		m->seen = m->came;
		excuse(m, MOST_OF_READ);
	} else if (is_read(m) || m->n_packets == 1) {
		relaunch(a, engine, id, NULL, 1);
	} else {
		probe(a, engine, id);
	}
}

/* Its program decides within this many time-outs. */
enum { MOST_KEPT = 20 };

void sw_transport_give_up(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_message *m = sw_message(e, id);

	if (!(m->d.flags & SWHNI_KEEP) || !sw_engine_tell_kept(a, engine, m)) {
		sw_engine_end(a, engine, id, SWHNI_NO_ANSWER);
		return;
	}
	sw_here(a)->kept++;
	m->is_kept = true;
	resend_pause(a, &e->messages, id,
		a->t + MOST_KEPT * sw_params(a)->retry.timeout);
}

void sw_transport_go_on(
	const struct nic_at *a, uint32_t engine, uint32_t queue, uint64_t id)
{
	struct sw_engine *e = sw_engine(a, engine);

	for (uint32_t i = 1; i <= e->messages.items.room; i++) {
		struct sw_message *m = slots_find(&e->messages.items, i);

		if (!m || !m->is_kept || m->is_over || m->d.id != id ||
			sw_engine_queue(a, m) != queue)
			continue;
		m->is_kept = false;
		resend_pause(a, &e->messages, i, a->t + 1);
	}
}

void sw_transport_late(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_message *m = sw_message(sw_engine(a, engine), id);

	sw_here(a)->timeouts++;
	if (!m->item.tries)
		m->first_ports = m->ports;
}

/* A later try has arrived: its port is better than the others. */
static void note_port(const struct nic_at *a, const struct sw_message *m)
{
	uint32_t all = (1u << sw_of(a)->n_ports) - 1;
	uint32_t port = sw_transport_port(a, m) - 1;

	if (m->item.tries && m->first_ports && !m->d.port && all > 1 &&
		m->item.dst != a->s)
		sw_port_avoid(a, m->item.dst, all & ~(1u << port));
}

/* --- what a receiver says --- */

/* It had no place, and is asked again when it may have one; not for ever. */
static void put_off(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_message *m = sw_message(e, id);

	if (m->item.tries >= sw_params(a)->patience)
		sw_engine_end(a, engine, id, SWHNI_FULL);
	else if (m->item.left_at)
		resend_excused(a, &e->messages, id);
	else if (!m->item.tries)
		m->is_refused = true;
}

void sw_transport_left(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_message *m = sw_message(e, id);

	resend_left(a, &e->messages, id);
	if (!m->is_refused)
		return;
	m->is_refused = false;
	resend_excused(a, &e->messages, id);
}

void sw_transport_on_ack(const struct nic_at *a, uint32_t engine, packet_id id)
{
	const struct sw_load *l = sw_load(a, id);
	const struct sw_message *m = sent(a, engine, &l->h);
	uint32_t status = l->h.status, message = l->h.message;

	sw_receive_finish(a, id, false);
	if (!m || status >= SWHNI_ERRORS)
		return;
	resend_answered(a, &sw_engine(a, engine)->messages, message);
	if (status == SW_FULL) {
		put_off(a, engine, message);
		return;
	}
	note_port(a, m);
	sw_engine_end(a, engine, message, status);
}

/* Packets that the receiver lacks, as far as it says. */
static uint64_t *missing(
	const struct sw_message *m, const struct sw_load *l, uint32_t *n)
{
	uint64_t *map = mem_alloc((m->n_packets + 63) / 64, sizeof(*map));

	*n = 0;
	for (uint32_t i = 0; i < l->h.bytes * 8; i++)
		if (l->data[i / 8] >> i % 8 & 1 &&
			l->h.number + i < m->n_packets) {
			sw_set(map, l->h.number + i);
			++*n;
		}
	return map;
}

/* Packets that came a moment ago show that others are on their way. */
static bool is_coming(const struct nic_at *a, const struct sw_message *m,
	const struct sw_load *l)
{
	return l->h.total != m->seen &&
	       l->h.offset < (uint64_t)sw_params(a)->retry.timeout / 2;
}

static void on_parts(const struct nic_at *a, uint32_t engine,
	struct sw_message *m, const struct sw_load *l)
{
	uint64_t *map;
	uint32_t n;
	bool is_waiting = is_coming(a, m, l);

	m->seen = l->h.total;
	if (is_waiting)
		return;
	map = missing(m, l, &n);
	if (n)
		relaunch(a, engine, l->h.message, map, n);
	else
		mem_free(map);
}

/* Its last try has been heard. */
static void heard(const struct nic_at *a, uint32_t engine, struct sw_message *m,
	const struct sw_load *l)
{
	uint32_t status = l->h.status, id = l->h.message;

	if (is_read(m)) {
		if (status == SW_QUEUED)
			resend_excused(a, &sw_engine(a, engine)->messages, id);
		return;
	}
	excuse(m, MOST_EXCUSES);
	if (status == SW_UNKNOWN)
		relaunch(a, engine, id, NULL, m->n_packets);
	else if (status == SW_PARTS)
		on_parts(a, engine, m, l);
}

void sw_transport_on_state(
	const struct nic_at *a, uint32_t engine, packet_id id)
{
	const struct sw_load *l = sw_load(a, id);
	struct sw_message *m = sent(a, engine, &l->h);

	if (m && is_resting(m) && m->item.left_at)
		heard(a, engine, m, l);
	sw_receive_finish(a, id, false);
}

/* --- probes --- */

static void show_parts(const struct nic_at *a, uint32_t engine,
	const struct sw_header *h, site_id to, const struct sw_entry *x)
{
	packet_id id = make_answer(a, engine, SW_STATE, h, to, SW_MISSING);
	struct sw_load *l = sw_load(a, id);
	uint32_t first = 0, n = 0;

	while (first < x->n_packets && sw_has(x->map, first))
		first++;
	for (; n < SW_MISSING; n++)
		l->data[n] = 0;
	for (n = 0; n < SW_MISSING * 8 && first + n < x->n_packets; n++)
		if (!sw_has(x->map, first + n))
			l->data[n / 8] |= (uint8_t)(1u << n % 8);
	l->h.number = first;
	l->h.total = x->n;
	l->h.offset = (uint64_t)(a->t - x->at);
	l->h.status = SW_PARTS;
	send_answer(a, id, h->port);
}

/* All bytes are there, and the message can end now, as if its last packet had
 * just come; the probe takes its place. */
static void end_whole(
	const struct nic_at *a, uint32_t engine, packet_id id, uint32_t entry)
{
	struct sw_engine *e = sw_engine(a, engine);
	const struct sw_entry *x = slots_at(&e->entries, entry);
	struct sw_load *l = sw_load(a, id);
	site_id src = a->nic->net->packets[id].src;
	uint8_t port = l->h.port;
	sim_time t = a->t;
	uint32_t status;

	l->h = x->head;
	l->h.bytes = 0;
	l->h.port = port;
	status = sw_complete_begin(a, engine, l, src, &t);
	if (status == SW_FULL) {
		sw_transport_answer(a, engine, &l->h, src, SW_FULL);
		sw_receive_finish(a, id, false);
		return;
	}
	l->is_last = true;
	l->h.status = (uint8_t)status;
	l->ready = t;
	sw_receive_forget(e, entry);
	sw_receive_note(a, engine, &l->h, src, status);
	sw_post(a, t, engine, SW_WRITTEN, id);
}

void sw_transport_show(const struct nic_at *a, uint32_t engine,
	const struct sw_header *h, site_id to, uint32_t status)
{
	packet_id id = make_answer(a, engine, SW_STATE, h, to, 0);

	sw_load(a, id)->h.status = (uint8_t)status;
	send_answer(a, id, h->port);
}

void sw_transport_on_probe(
	const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_header h = sw_load(a, id)->h;
	site_id src = a->nic->net->packets[id].src;
	uint32_t entry = sw_receive_entry(e, &h, src), status;
	const struct sw_entry *x = entry ? slots_at(&e->entries, entry) : NULL;

	if (sw_receive_was(a, engine, &h, src, &status)) {
		sw_transport_answer(a, engine, &h, src, status);
	} else if (!x || x->generation != h.generation) {
		sw_transport_show(a, engine, &h, src, SW_UNKNOWN);
	} else if (x->is_whole) {
		end_whole(a, engine, id, entry);
		return;
	} else {
		show_parts(a, engine, &h, src, x);
	}
	sw_receive_finish(a, id, false);
}
