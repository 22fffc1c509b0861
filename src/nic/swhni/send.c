/*
 * Messages become packets.  The bytes of each packet are one read over PCIe;
 * when they are here, and it is the message's turn, the packet is cut and goes
 * to a port.  Packets of a later try are those that were missing.
 */
#include "nic/swhni/card.h"

#include <stddef.h>
#include <string.h>

static bool is_asking(const struct sw_message *m)
{
	return m->role != SW_ANSWER &&
	       (m->d.type == SWHNI_READ || m->d.type == SWHNI_FSM_READ);
}

/* Whether its bytes are read over PCIe. */
static bool does_read(const struct sw_message *m)
{
	return m->d.bytes && !is_asking(m) && m->role != SW_OWN_SHORT &&
	       !(m->d.flags & SWHNI_ON_CHIP);
}

void sw_send_begin(struct sw_message *m, uint32_t n_packets)
{
	m->todo = n_packets;
	m->asked = m->here = m->cut = m->left = 0;
	m->next_asked = m->next_cut = 0;
	m->ports = 0;
}

/* The next packet of a try from a number on. */
static uint32_t next_of(const struct sw_message *m, uint32_t i)
{
	if (is_asking(m))
		return 0;
	while (m->map && i < m->n_packets && !sw_has(m->map, i))
		i++;
	return i;
}

/* --- reading --- */

static void on_data(const struct nic_at *a, const struct side_read *r)
{
	struct sw_engine *e = r->owner;
	uint32_t engine = (uint32_t)(e - sw_here(a)->engine);
	struct sw_message *m = sw_message(e, r->id);

	m->here++;
	m->account.read = a->t;
	if (m->is_over)
		sw_engine_settle(a, engine, r->id);
	else
		sw_engine_turn(a, engine);
}

/* Where the bytes of a message are. */
static enum swhni_error source(const struct nic_at *a, uint32_t engine,
	struct sw_message *m, const struct swhni_handle **h)
{
	bool is_answer = m->role == SW_ANSWER;
	enum swhni_error error = SWHNI_OK;

	if (!sw_is_known(a, m->handle, m->handles_life)) {
		m->handle = NULL;
		m->handles_life = sw_here(a)->handles_life;
		error = sw_look_up(a, engine, m->job,
			is_answer ? m->d.key : m->d.own_key,
			is_answer ? m->d.offset : m->d.own_offset, m->d.bytes,
			is_answer ? SWHNI_MAY_READ : 0, &m->handle);
	}
	*h = m->handle;
	return error;
}

static uint64_t offset_of(
	const struct nic_at *a, const struct sw_message *m, uint32_t number)
{
	uint64_t first = m->role == SW_ANSWER ? m->d.offset : m->d.own_offset;

	return first + (uint64_t)number * sw_of(a)->most;
}

/* The address of its next packet's bytes is known. */
static void fetch(const struct nic_at *a, uint32_t engine, uint32_t id,
	const struct swhni_handle *h, uint32_t number)
{
	struct sw_engine *e = sw_engine(a, engine);
	const struct sw_message *m = sw_message(e, id);
	uint32_t bytes = sw_bytes_of(a, m->d.bytes, number);

	sw_here(a)->memory_reads++;
	side_reads_begin(a, &e->reads,
		sw_address(a, h, offset_of(a, m, number)), bytes, on_data, e,
		id);
}

static void on_translated(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_message *m = sw_message(sw_engine(a, engine), id);
	const struct swhni_handle *h;
	enum swhni_error error;

	m->is_translating = false;
	if (m->is_over) {
		m->here++; /* or never */
		sw_engine_settle(a, engine, id);
		return;
	}
	error = source(a, engine, m, &h);
	if (error) {
		m->here++;
		sw_engine_fail(a, engine, id, error);
		return;
	}
	fetch(a, engine, id, h, m->next_asked - 1);
	sw_engine_turn(a, engine);
}

void sw_send_read(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_message *m = sw_message(sw_engine(a, engine), id);
	const struct swhni_handle *h;
	uint32_t number = next_of(m, m->next_asked);
	enum swhni_error error;

	m->next_asked = number + 1;
	m->asked++;
	if (!does_read(m)) {
		m->here++;
		sw_engine_turn(a, engine); /* once more */
		return;
	}
	error = source(a, engine, m, &h);
	if (error) {
		m->here++;
		sw_engine_fail(a, engine, id, error);
		return;
	}
	if (sw_translate(a, engine, h, offset_of(a, m, number),
		    sw_bytes_of(a, m->d.bytes, number), on_translated, id))
		fetch(a, engine, id, h, number);
	else
		m->is_translating = true;
}

/* --- budgets --- */

static void open_budget(const struct nic_at *a, uint32_t engine, packet_id id,
	const struct sw_message *m)
{
	struct book *k = a->nic->net->book;
	const struct workq_birth *b = &m->account.birth;

	if (!k)
		return;
	if (m->role == SW_ANSWER && m->account.held)
		book_resume(k, a->w->id, id, m->account.held);
	else if (m->role <= SW_OWN_SHORT)
		book_open(k, id, &m->account.message);
	else
		nic_account_none(a, id);
	book_at_one(k, id, a->s, "engine", engine);
	if (m->role <= SW_OWN_SHORT) {
		nic_charge(a, id, CAUSE_COPY, b->copied);
		nic_charge(a, id, CAUSE_SOFTWARE, b->handed);
		nic_charge(a, id, CAUSE_DESCRIPTOR, b->heard);
		nic_charge(a, id, CAUSE_CARD, b->asked);
		nic_charge(a, id, CAUSE_DESCRIPTOR, b->came);
	}
	nic_charge(a, id, CAUSE_ENGINE, m->account.taken);
	if (m->account.checked)
		nic_charge(a, id, CAUSE_TRANSLATION, m->account.checked);
	if (does_read(m))
		nic_charge(a, id, CAUSE_MEMORY_READ, m->account.read);
	nic_charge(a, id, m->item.tries ? CAUSE_RETRY : CAUSE_ENGINE, a->t);
}

/* --- packets --- */

packet_id sw_send_packet(const struct nic_at *a, uint32_t engine,
	enum sw_packet_type type, site_id dst, uint32_t bytes)
{
	static const uint8_t kinds[] = {
		[SW_PUT] = PACKET_DYNAMIC,
		[SW_MESSAGE] = PACKET_DYNAMIC,
		[SW_DATAGRAM] = PACKET_DYNAMIC,
		[SW_ASK] = PACKET_DYNAMIC,
		[SW_BYTES] = PACKET_DYNAMIC,
		[SW_ACK] = PACKET_HIGH,
		[SW_PROBE] = PACKET_HIGH,
		[SW_STATE] = PACKET_HIGH,
	};
	struct net *net = a->nic->net;
	packet_id id = packet_take(net->pool, a->w->id);
	struct sw_load *l = payload_take_for(
		a->nic->payloads, a->w->id, sizeof(*l) + bytes);

	/* what is not set later, in pieces that need no loop */
	l->h = (struct sw_header){ .type = (uint8_t)type,
		.own_engine = (uint8_t)engine,
		.bytes = bytes };
	l->flips.n = 0;
	memset(&l->handle, 0, sizeof(*l) - offsetof(struct sw_load, handle));
	net->packets[id] = (struct packet){
		.src = a->s,
		.dst = dst,
		.number = sw_here(a)->number++,
		.born = a->t,
		.kind = type < SW_GATHER ? kinds[type] : PACKET_SYSTEM,
		.bytes = (uint16_t)bytes,
		.load = payload_to_load(l),
	};
	return id;
}

static enum sw_packet_type type_of(const struct sw_message *m)
{
	if (m->role == SW_ANSWER)
		return SW_BYTES;
	return is_asking(m)		     ? SW_ASK
	       : m->d.type == SWHNI_SEND     ? SW_MESSAGE
	       : m->d.type == SWHNI_DATAGRAM ? SW_DATAGRAM
					     : SW_PUT;
}

/* What the receiver must know. */
static void fill(const struct nic_at *a, struct sw_header *h, uint32_t id,
	const struct sw_message *m, uint32_t number)
{
	bool is_answer = m->role == SW_ANSWER;

	h->offset = m->d.offset + (uint64_t)number * sw_of(a)->most;
	memcpy(h->word, m->d.word, sizeof(h->word));
	h->message = is_answer ? m->peer : id;
	h->generation = is_answer ? m->peer_generation : m->generation;
	h->engine = is_answer ? m->peer_engine : m->d.engine;
	h->number = number;
	h->n_packets = m->n_packets;
	h->total = m->d.bytes;
	h->key = m->d.key;
	h->job = m->job;
	h->interface = (uint16_t)m->d.interface;
	h->own_interface = (uint16_t)m->interface;
	h->flags = m->d.flags;
	h->is_short = m->is_short;
	h->is_again = m->item.tries > 0;
}

/* Bytes that are in the chip. */
static bool load_chip(const struct nic_at *a, uint32_t engine,
	const struct sw_message *m, struct sw_load *l)
{
	const struct sw_short *x =
		slots_find(&sw_engine(a, engine)->shorts, m->window);
	struct sw_interface *i = sw_interface(a->node, m->d.interface);
	const uint8_t *from = x ? x->data : NULL;

	if (m->role == SW_ANSWER)
		from = i && i->setup.job == m->job
			       ? sw_chip(i, m->d.offset, l->h.bytes)
			       : NULL;
	if (from)
		memcpy(l->data, from, l->h.bytes);
	return from;
}

/* Loads a packet's bytes, or their name. */
static bool load(const struct nic_at *a, uint32_t engine, struct sw_message *m,
	uint32_t number, struct sw_load *l)
{
	uint64_t offset = offset_of(a, m, number);
	uint32_t n = l->h.bytes;
	const struct swhni_handle *h;

	if (!does_read(m))
		return load_chip(a, engine, m, l);
	if (source(a, engine, m, &h))
		return false;
	if (sw_piece(h, offset, n) == n &&
		host_find_name(a->nic->host, a->s, sw_address(a, h, offset), n,
			&l->name)) {
		l->is_named = true;
		return true;
	}
	return sw_load_bytes(a, h, offset, l->data, n);
}

/* The port that a message's packets must take, or should. */
static uint32_t wanted(const struct nic_at *a, const struct sw_message *m)
{
	return m->d.port || !m->item.tries ? m->d.port
					   : sw_transport_port(a, m);
}

uint32_t sw_send_port(const struct nic_at *a, const struct sw_message *m)
{
	if (m->here <= m->cut)
		return SW_NO_PORT;
	if (m->item.dst == a->s)
		return 0;
	return sw_port_choose(a, m->is_short ? SW_ANSWERS : SW_DATA,
		wanted(a, m), m->d.port, sw_port_avoided(a, m->item.dst));
}

void sw_send_left(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_message *m = sw_message(e, id);

	m->left++;
	if (m->is_over) {
		sw_engine_settle(a, engine, id);
		return;
	}
	if (m->left < m->todo)
		return;
	if (m->role == SW_ANSWER || m->d.type == SWHNI_DATAGRAM)
		sw_engine_end(a, engine, id, SWHNI_OK);
	else if (!m->item.tries)
		sw_transport_left(a, engine, id);
}

/* All bytes of a read that are missing, or those that an earlier try lacks. */
static void ask_for(const struct sw_message *m, struct sw_load *l)
{
	uint32_t first = 0, n = 0;

	if (!m->map)
		return;
	memset(l->data, 0, SW_MISSING);
	while (first < m->n_packets && sw_has(m->map, first))
		first++;
	l->h.number = first;
	for (; n < SW_MISSING * 8 && first + n < m->n_packets; n++)
		if (!sw_has(m->map, first + n))
			l->data[n / 8] |= (uint8_t)(1u << n % 8);
	l->h.status = SW_PARTS;
}

/* The bytes of its next packet; or what is missing of a read. */
static uint32_t bytes_of(
	const struct nic_at *a, const struct sw_message *m, uint32_t number)
{
	if (is_asking(m))
		return m->map ? SW_MISSING : 0; /* some have come */
	return m->d.bytes ? sw_bytes_of(a, m->d.bytes, number) : 0;
}

static packet_id make(const struct nic_at *a, uint32_t engine, uint32_t id,
	struct sw_message *m, uint32_t number)
{
	packet_id p = sw_send_packet(
		a, engine, type_of(m), m->item.dst, bytes_of(a, m, number));
	struct sw_load *l = sw_load(a, p);

	fill(a, &l->h, id, m, number);
	l->own = id;
	l->is_bound = m->d.port != 0;
	l->is_fast = m->is_short;
	if (is_asking(m))
		ask_for(m, l);
	else if (l->h.bytes && !load(a, engine, m, number, l))
		memset(l->data, 0, l->h.bytes);
	open_budget(a, engine, p, m);
	return p;
}

void sw_send_cut(
	const struct nic_at *a, uint32_t engine, uint32_t id, uint32_t port)
{
	struct sw_message *m = sw_message(sw_engine(a, engine), id);
	uint32_t number = next_of(m, m->next_cut);
	packet_id p = make(a, engine, id, m, number);

	m->next_cut = number + 1;
	m->ports |= (uint8_t)(1u << port);
	sw_here(a)->resent += m->item.tries > 0;
	if (++m->cut == m->todo)
		sw_engine_unline(a, engine, id);
	sw_port_send(a, SW_DATA, port, p);
}
