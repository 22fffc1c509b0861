/*
 * Packets come, in any order and by any port.  The bytes of a write are placed
 * at once; its message's entry counts packets, and has a bit for each, so that
 * none counts twice.  A message of one packet needs no entry.  What follows the
 * last packet's bytes over PCIe follows the bytes of all others, too.
 *
 * There are nic.entries of them.  A message that finds none is refused and
 * comes again; so does one whose bytes would wait too long for PCIe.  Entries
 * of senders that have given up are used again when no other is free.
 */
#include "nic/swhni/card.h"

#include <string.h>

#include "base/mem.h"

void sw_receive_finish(const struct nic_at *a, packet_id id, bool is_done)
{
	if (nic_has_book(a))
		nic_account_end(a, id, is_done);
	sw_here(a)->inside--;
	nic_give(a->nic, a->w, id);
}

sim_time sw_receive_write(
	const struct nic_at *a, uint32_t engine, uint64_t at, uint32_t bytes)
{
	struct side *side = sw_of(a)->side;
	sim_time t =
		side->ops->write(side, sw_place(a, engine), a->t, at, bytes);

	sw_engine(a, engine)->written_at = t;
	return t;
}

/* --- what was executed --- */

/* A message's number is new for its place there, and all older ones are over:
 * they are 64 or more behind. */
static uint32_t channel_of(const struct sw_header *h)
{
	return (uint32_t)h->own_engine << 16 | h->message;
}

enum seen_answer sw_receive_was(const struct nic_at *a, uint32_t engine,
	const struct sw_header *h, site_id src, uint32_t *status)
{
	const struct seen *seen = &sw_engine(a, engine)->seen;
	enum seen_answer was =
		seen_find(seen, src, channel_of(h), h->generation * 64);
	uint64_t word = 0;

	if (was == SEEN_NO)
		seen_noted(seen, src, channel_of(h), &word);
	*status = (uint32_t)word;
	return was;
}

void sw_receive_note(const struct nic_at *a, uint32_t engine,
	const struct sw_header *h, site_id src, uint32_t status)
{
	struct seen *seen = &sw_engine(a, engine)->seen;
	uint64_t word = status;

	seen_add(seen, src, channel_of(h), h->generation * 64, !status);
	if (status)
		seen_note(seen, src, channel_of(h), &word);
}

/* --- entries --- */

static uint64_t key_of(const struct sw_header *h, site_id src)
{
	return (uint64_t)src << 32 | channel_of(h);
}

static struct sw_entry *entry_at(const struct sw_engine *e, uint32_t id)
{
	return slots_at(&e->entries, id);
}

uint32_t sw_receive_entry(
	const struct sw_engine *e, const struct sw_header *h, site_id src)
{
	const struct sw_entry *x = slots_find(&e->entries, e->last_entry);

	return x && x->key == key_of(h, src)
		       ? e->last_entry
		       : index_find(&e->by_key, key_of(h, src));
}

void sw_receive_forget(struct sw_engine *e, uint32_t id)
{
	struct sw_entry *x = entry_at(e, id);

	index_remove(&e->by_key, x->key);
	mem_free(x->map);
	slots_give(&e->entries, id);
}

/* Frees an entry whose sender has long given up; true if there was one. */
static bool forget_oldest(const struct nic_at *a, struct sw_engine *e)
{
	sim_time old = a->t - 16 * sw_params(a)->retry.timeout;

	for (uint32_t i = 1; i <= e->entries.room; i++) {
		const struct sw_entry *x = slots_find(&e->entries, i);

		if (!x || x->at > old)
			continue;
		sw_here(a)->abandoned++;
		sw_receive_forget(e, i);
		return true;
	}
	return false;
}

/* A new entry; 0 if there is none. */
static uint32_t make_entry(const struct nic_at *a, struct sw_engine *e,
	const struct sw_header *h, site_id src)
{
	uint32_t id;
	struct sw_entry *x;

	if (e->entries.used >= (uint32_t)sw_params(a)->entries &&
		!forget_oldest(a, e))
		return 0;
	id = slots_take(&e->entries);
	x = entry_at(e, id);
	x->key = key_of(h, src);
	x->generation = h->generation;
	x->n_packets = h->n_packets;
	x->head = *h;
	x->src = src;
	x->map = mem_alloc((h->n_packets + 63) / 64, sizeof(*x->map));
	index_add(&e->by_key, x->key, id);
	return id;
}

/* The entry of a packet; 0: none is free, or it is of a message before. */
static uint32_t entry_for(const struct nic_at *a, struct sw_engine *e,
	const struct sw_header *h, site_id src)
{
	uint32_t id = sw_receive_entry(e, h, src);

	if (!id)
		return make_entry(a, e, h, src);
	e->last_entry = id;
	if (entry_at(e, id)->generation == h->generation)
		return id;
	if ((int32_t)(entry_at(e, id)->generation - h->generation) > 0)
		return 0;
	sw_here(a)->abandoned++;
	sw_receive_forget(e, id);
	return make_entry(a, e, h, src);
}

/* --- refusals --- */

void sw_receive_refuse(
	const struct nic_at *a, uint32_t engine, packet_id id, uint32_t status)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_header h = sw_load(a, id)->h;
	site_id src = a->nic->net->packets[id].src;
	uint32_t entry = sw_receive_entry(e, &h, src);

	if (entry && entry_at(e, entry)->generation == h.generation)
		sw_receive_forget(e, entry);
	if (status == SWHNI_WRONG_JOB || status == SWHNI_BAD_INTERFACE ||
		status == SWHNI_BAD_KEY)
		sw_drop(a, h.job);
	sw_receive_note(a, engine, &h, src, status);
	sw_transport_answer(a, engine, &h, src, status);
	sw_receive_finish(a, id, false);
}

/* For now: the sender tries again.  Of many packets one says so. */
static void put_off(const struct nic_at *a, uint32_t engine, packet_id id)
{
	const struct sw_load *l = sw_load(a, id);
	site_id src = a->nic->net->packets[id].src;

	sw_here(a)->refused++;
	if (!l->h.number)
		sw_transport_answer(a, engine, &l->h, src, SW_FULL);
	sw_receive_finish(a, id, false);
}

static void drop_double(const struct nic_at *a, packet_id id)
{
	sw_here(a)->doubles++;
	sw_receive_finish(a, id, false);
}

bool sw_receive_is_double(const struct nic_at *a, uint32_t engine, packet_id id)
{
	const struct sw_header *h = &sw_load(a, id)->h;
	site_id src = a->nic->net->packets[id].src;
	uint32_t status;

	if (!sw_receive_was(a, engine, h, src, &status))
		return false;
	/* the answer may have been lost; a longer message has probes */
	if (h->n_packets == 1)
		sw_transport_answer(a, engine, h, src, status);
	drop_double(a, id);
	return true;
}

/* --- writes --- */

/* Where a packet's bytes go: a handle, or (NULL) the chip's memory. */
static enum swhni_error target(
	const struct nic_at *a, uint32_t engine, struct sw_load *l)
{
	const struct sw_header *h = &l->h;
	struct sw_interface *x;

	if (sw_is_known(a, l->handle, l->handles_life))
		return SWHNI_OK;
	l->handle = NULL;
	l->handles_life = sw_here(a)->handles_life;
	if (!h->bytes)
		return SWHNI_OK;
	if (!(h->flags & SWHNI_ON_CHIP))
		return sw_look_up(a, engine, h->job, h->key, h->offset,
			h->bytes, SWHNI_MAY_WRITE, &l->handle);
	x = sw_interface(a->node, h->interface);
	if (!x)
		return SWHNI_BAD_INTERFACE;
	if (x->setup.job != h->job)
		return SWHNI_WRONG_JOB;
	return sw_chip(x, h->offset, h->bytes) ? SWHNI_OK : SWHNI_OUT_OF_BOUNDS;
}

/* Whether bytes would wait too long for PCIe. */
static bool is_behind(const struct nic_at *a, uint32_t engine)
{
	const struct side *side = sw_of(a)->side;
	sim_time wait = sw_engine(a, engine)->written_at - a->t;

	return side->rate && wait > 0 &&
	       wait / 1000 * (side->rate / 1000000) / 1000 >
		       sw_params(a)->backlog;
}

/* The last packet's bytes are on their way: what ends the message follows. */
static uint32_t end_message(const struct nic_at *a, uint32_t engine,
	packet_id id, uint32_t entry, sim_time *t)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_load *l = sw_load(a, id);
	site_id src = a->nic->net->packets[id].src;
	uint32_t status = sw_complete_begin(a, engine, l, src, t);

	if (status == SW_FULL)
		return status;
	l->is_last = true;
	l->h.status = (uint8_t)status;
	if (entry)
		sw_receive_forget(e, entry);
	sw_receive_note(a, engine, &l->h, src, status);
	return status;
}

/* A packet of a message with an entry; true: it is the last one. */
static bool count(struct sw_entry *x, const struct sw_header *h, sim_time t)
{
	sw_set(x->map, h->number);
	x->at = t;
	return ++x->n == x->n_packets;
}

static void place_bytes(
	const struct nic_at *a, uint32_t engine, packet_id id, sim_time *t)
{
	const struct sw_load *l = sw_load(a, id);

	*t = a->t;
	if (l->h.bytes && !(l->h.flags & SWHNI_ON_CHIP))
		*t = sw_receive_write(a, engine, l->at, l->h.bytes);
}

/* A packet's address is known, and its pages. */
static void place(const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_load *l = sw_load(a, id);
	site_id src = a->nic->net->packets[id].src;
	uint32_t entry = 0;
	bool is_last = true;
	sim_time t;

	if (l->h.n_packets > 1) {
		entry = entry_for(a, e, &l->h, src);
		if (!entry) {
			put_off(a, engine, id);
			return;
		}
		if (sw_has(entry_at(e, entry)->map, l->h.number)) {
			drop_double(a, id);
			return;
		}
		is_last = count(entry_at(e, entry), &l->h, a->t);
	}
	place_bytes(a, engine, id, &t);
	l->ready = t;
	if (is_last && end_message(a, engine, id, entry, &t) == SW_FULL) {
		if (entry)
			entry_at(e, entry)->is_whole = true;
		sw_transport_answer(a, engine, &l->h, src, SW_FULL);
		sw_here(a)->refused++;
	}
	sw_post(a, t, engine, SW_WRITTEN, id);
}

static void on_translated(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	uint32_t status = target(a, engine, sw_load(a, id));

	nic_charge(a, id, CAUSE_TRANSLATION, a->t);
	if (status)
		sw_receive_refuse(a, engine, id, status);
	else
		place(a, engine, id);
}

static void on_put(const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct sw_load *l = sw_load(a, id);
	const struct swhni_handle *h;
	uint32_t status;

	if (sw_receive_is_double(a, engine, id))
		return;
	status = target(a, engine, l);
	h = l->handle;
	if (status) {
		sw_receive_refuse(a, engine, id, status);
	} else if (h && is_behind(a, engine)) {
		sw_here(a)->overflows++;
		put_off(a, engine, id);
	} else if (!h) {
		place(a, engine, id);
	} else {
		l->at = sw_address(a, h, l->h.offset);
		if (sw_translate(a, engine, h, l->h.offset, l->h.bytes,
			    on_translated, id))
			place(a, engine, id);
	}
}

/* --- arrival --- */

static bool is_possible(const struct nic_at *a, const struct sw_header *h)
{
	return h->type < SW_TYPES && h->own_engine < SWHNI_ENGINES &&
	       h->message < 1 << 16 &&
	       (h->type > SW_PUT ||
		       (h->n_packets == sw_n_packets(a, h->total) &&
			       h->number < h->n_packets));
}

bool sw_receive_misses(const struct sw_load *l)
{
	struct sw_header h = l->h;
	struct flips f = l->flips;
	uint8_t data[SWHNI_MESSAGE];

	if (l->is_named)
		memory_fill(&l->name, data, h.bytes);
	else
		memcpy(data, l->data, h.bytes);
	return flips_judge(&f, &h, sizeof(h), data, h.bytes) != FLIPS_FOUND;
}

/* The CRC of a packet with flipped bits has found nothing, and its length is
 * what it was. */
static __attribute__((noinline)) bool passes_crc(
	const struct nic_at *a, struct sw_load *l)
{
	uint32_t bytes = l->h.bytes;
	enum flips_harm harm;

	if (l->is_named) {
		memory_fill(&l->name, l->data, bytes);
		l->is_named = false;
	}
	harm = flips_judge(&l->flips, &l->h, sizeof(l->h), l->data, bytes);
	sw_here(a)->escapes += harm == FLIPS_ESCAPED;
	return harm != FLIPS_FOUND && l->h.bytes == bytes;
}

/* What has changed unseen is at least possible. */
static bool is_sound(const struct nic_at *a, struct sw_load *l)
{
	return (!l->flips.n || passes_crc(a, l)) && is_possible(a, &l->h);
}

static void (*const on_type[])(
	const struct nic_at *a, uint32_t engine, packet_id id) = {
	[SW_PUT] = on_put,
	[SW_MESSAGE] = sw_complete_message,
	[SW_DATAGRAM] = sw_complete_message,
	[SW_ASK] = sw_read_asked,
	[SW_BYTES] = sw_read_came,
	[SW_ACK] = sw_transport_on_ack,
	[SW_PROBE] = sw_transport_on_probe,
	[SW_STATE] = sw_transport_on_state,
};

void sw_receive_on_in(const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct sw_load *l = sw_load(a, id);

	nic_charge(a, id, CAUSE_INPUT, a->t);
	book_at_one(a->nic->net->book, id, a->s, "engine", engine);
	if (!is_sound(a, l)) {
		sw_here(a)->torn++;
		sw_receive_finish(a, id, false);
	} else if (l->h.type >= SW_GATHER) {
		sw_of(a)->unit->on_packet(a, engine, id);
	} else {
		on_type[l->h.type](a, engine, id);
	}
}

/* --- in memory --- */

/* Unless its job has left meanwhile. */
static bool store(const struct nic_at *a, uint32_t engine, struct sw_load *l)
{
	if (target(a, engine, l))
		return false;
	if (!l->h.bytes)
		return true;
	if (!l->handle) {
		memcpy(sw_chip(sw_interface(a->node, l->h.interface),
			       l->h.offset, l->h.bytes),
			l->data, l->h.bytes);
		host_poke(a->nic->host, a->w, a->s, a->t);
		return true;
	}
	return sw_store_load(a, l->handle, l);
}

void sw_delivered(const struct nic_at *a, packet_id id)
{
	sw_here(a)->delivered++;
	if (a->nic->on_delivered)
		a->nic->on_delivered(
			a->nic->arg, a->s, &a->nic->net->packets[id], a->t);
}

static void put_written(const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct sw_load *l = sw_load(a, id);
	site_id src = a->nic->net->packets[id].src;
	bool is_stored = store(a, engine, l);

	if (!is_stored) {
		sw_drop(a, l->h.job);
		sw_receive_finish(a, id, false);
		return;
	}
	sw_delivered(a, id);
	if (l->is_last && !l->h.status)
		sw_complete_end(a, l, src);
	if (l->is_last)
		sw_transport_answer(a, engine, &l->h, src, l->h.status);
	sw_receive_finish(a, id, true);
}

void sw_receive_on_written(
	const struct nic_at *a, uint32_t engine, packet_id id)
{
	uint8_t type = sw_load(a, id)->h.type;
	bool is_last = sw_load(a, id)->is_last;

	nic_charge(a, id, CAUSE_MEMORY_WRITE, sw_load(a, id)->ready);
	nic_charge(a, id, CAUSE_COMPLETION, a->t);
	if (sw_load(a, id)->end)
		workqs_told(
			a, &sw_engine(a, engine)->queues, sw_load(a, id)->end);
	if (type == SW_PUT)
		put_written(a, engine, id);
	else if (type == SW_BYTES)
		sw_read_written(a, engine, id);
	else
		sw_complete_written(a, engine, id);
	/* for programs that wait for a reply word, among other things */
	if (is_last)
		host_poke(a->nic->host, a->w, a->s, a->t);
}
