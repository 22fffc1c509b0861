/*
 * What the matching thread does with a message and its receive.
 *
 *	in a slot    its bytes are copied to the receiver's memory, then the
 *	             status is written
 *	in a cell    the same, by reads of host memory
 *	long         the status is written, except for its last word.  Then one
 *	             packet goes to the sender's card (QSN-F63): it arms the
 *	             send's event there and appends a DMA to a queue, which
 *	             writes into the receiver's memory and sets events at both
 *	             ends.  Each event writes the last word of a status.
 */
#include "api/elan/tport_thread.h"

#include <errno.h>
#include <string.h>

static bool is_slot(const struct tport_matcher *x, const struct elan_message *m)
{
	return m->slot < x->plan.slots;
}

void tport_tell(
	struct tport_matcher *x, uint32_t handle, const struct tport_status *s)
{
	elan_thread_write_block(
		tport_status_at(&x->plan, handle), s, sizeof(*s));
}

static struct tport_status status_of(
	const struct elan_message *m, uint64_t sent, uint64_t room)
{
	return (struct tport_status){
		.tag = m->tag,
		.source = m->source,
		.bytes = sent,
		.code = (sent > room ? EMSGSIZE : 0) |
			m->note << TPORT_SPACE_SHIFT,
		.is_done = 1,
	};
}

/* --- what a message adds --- */

/* Loads it; one that is too short for it has none. */
static struct tport_front front_of(
	struct tport_matcher *x, const struct elan_message *m)
{
	uint32_t skip = m->kind & TPORT_LONG ? sizeof(struct tport_long) : 0;
	uint32_t n = tport_front_bytes(m->kind), i = 0;
	struct tport_front f = { 0 };
	uint64_t word[sizeof(f) / 8] = { 0 };

	if (!n || skip + n > m->bytes)
		return f;
	tport_load(x, m->at + skip, word, n);
	if (m->kind & TPORT_SPACE)
		f.space = word[i++];
	if (m->kind & TPORT_DATA)
		f.data = word[i++];
	if (m->kind & TPORT_SYNC) {
		f.event = word[i];
		f.done = word[i + 1];
	}
	return f;
}

/* Writes its data word, and returns the bit that says so. */
static uint32_t write_data(struct tport_matcher *x,
	const struct elan_message *m, const struct tport_front *f,
	uint32_t handle)
{
	if (m->kind & TPORT_USUAL)
		return TPORT_HAS_RANK;
	if (!(m->kind & TPORT_DATA))
		return 0;
	elan_thread_write(tport_data_at(&x->plan, handle), f->data);
	return TPORT_HAS_DATA;
}

/* --- ends of sends --- */

/* Words of an event that writes 1 when it is set by a count. */
static struct elan_event event(uint64_t count, uint64_t done)
{
	return (struct elan_event){
		.count = (int64_t)count, .to = done, .from = 1
	};
}

static uint32_t add_write(uint64_t *word, uint64_t flags, uint64_t to,
	const void *data, uint32_t bytes)
{
	word[0] = elan_word(ELAN_WRITE, bytes, 0) | flags;
	word[1] = to;
	memcpy(word + 2, data, bytes);
	return 2 + bytes / 8;
}

/* The sender's event is armed and set. */
static void end_send(struct tport_matcher *x, const struct elan_message *m,
	uint64_t at, uint64_t done)
{
	const struct elan_event at_sender = event(1, done);
	uint64_t word[16] = { elan_word(ELAN_OPEN, m->source, 0) };
	uint32_t k = 1;

	k += add_write(word + k, 0, at, &at_sender, sizeof(at_sender));
	word[k++] = elan_word(ELAN_SET, 0, 1) | ELAN_NAMED;
	word[k++] = elan_event_at(at);
	word[k++] = elan_word(ELAN_CLOSE, 0, 0);
	elan_thread_append(x->plan.page, word, k);
}

/* --- short ones --- */

/* Reads of host memory, as many at a time as a thread can have under way. */
static void copy_cell(
	struct tport_matcher *x, uint64_t from, uint64_t to, uint32_t bytes)
{
	uint8_t block[ELAN_SLOT_MOST];
	struct elan_fetch f[ELAN_SLOT_MOST / ELAN_BLOCK] = { 0 };
	uint32_t n = 0, k, part;

	for (k = 0; k < bytes; k += part) {
		part = bytes - k < ELAN_BLOCK ? bytes - k : ELAN_BLOCK;
		f[n++] = (struct elan_fetch){ from + k, block + k, part };
	}
	x->is_broken |= elan_thread_fetch(f, n) != 0;
	for (k = 0; k < bytes; k += part) {
		part = bytes - k < ELAN_PACKET ? bytes - k : ELAN_PACKET;
		elan_thread_write_block(to + k, block + k, part);
	}
}

static void deliver_short(struct tport_matcher *x, const struct elan_message *m,
	uint32_t handle, uint64_t to, uint64_t room)
{
	const struct tport_front f = front_of(x, m);
	uint32_t front = tport_front_bytes(m->kind);
	uint32_t sent = m->bytes < front ? 0 : m->bytes - front;
	struct tport_status s = status_of(m, sent, room);
	uint32_t n = sent < room ? sent : (uint32_t)room;
	uint32_t first = n < 64 ? n : 64;

	tport_compute(x, tport_block_cycles(x, n ? first : sizeof(s)));
	tport_time_match(x, m, handle);
	if (n && is_slot(x, m))
		elan_thread_copy(to, m->at + front, n);
	else if (n)
		copy_cell(x, m->at + front, to, n);
	s.code |= write_data(x, m, &f, handle);
	tport_tell(x, handle, &s);
	if (f.event)
		end_send(x, m, f.event, f.done);
}

/* --- long ones --- */

/* Has the sender's card write n bytes, and tell both ends. */
static void start_dma(struct tport_matcher *x, const struct elan_message *m,
	const struct tport_long *l, uint32_t handle, uint64_t to, uint64_t n)
{
	const uint64_t here = tport_element_at(&x->plan, handle);
	const struct elan_event at_end =
		event(n, tport_done_at(&x->plan, handle));
	const struct elan_event at_sender = event(1, l->done);
	const struct elan_dma d = {
		.bytes = n,
		.destination = x->plan.rank,
		.from = l->from,
		.to = to,
		.source_event = elan_event_at(l->event),
		.target_event = elan_event_at(here),
	};
	uint64_t word[32] = { elan_word(ELAN_OPEN, m->source, 0) };
	uint64_t dma[1 + ELAN_DMA_WORDS];
	uint32_t k = 1;

	elan_dma_words(dma, &d);
	tport_store(x, here, &at_end, sizeof(at_end));
	k += add_write(word + k, 0, l->event, &at_sender, sizeof(at_sender));
	k += add_write(word + k, ELAN_CLOSES, l->page, dma, sizeof(dma));
	elan_thread_append(x->plan.page, word, k);
}

static void deliver_long(struct tport_matcher *x, const struct elan_message *m,
	uint32_t handle, uint64_t to, uint64_t room)
{
	const struct tport_front f = front_of(x, m);
	struct tport_status s;
	struct tport_long l;
	uint64_t n;

	tport_load(x, m->at, &l, sizeof(l));
	n = l.bytes < room ? l.bytes : room;
	s = status_of(m, l.bytes, room);
	s.is_done = !n;
	tport_compute(x, tport_block_cycles(x, sizeof(s)));
	tport_time_match(x, m, handle);
	s.code |= write_data(x, m, &f, handle);
	tport_tell(x, handle, &s);
	if (n)
		start_dma(x, m, &l, handle, to, n);
	else
		end_send(x, m, l.event, l.done);
}

void tport_deliver(struct tport_matcher *x, const struct elan_message *m,
	uint32_t handle, uint64_t to, uint64_t bytes)
{
	if (m->kind & TPORT_LONG)
		deliver_long(x, m, handle, to, bytes);
	else
		deliver_short(x, m, handle, to, bytes);
	elan_thread_note(ELAN_MATCHED, 1);
	tport_drop(x, m);
}

/* --- peeks --- */

void tport_describe(struct tport_matcher *x, const struct elan_message *m,
	uint64_t length, uint32_t handle, uint32_t bits)
{
	const struct tport_front f = front_of(x, m);
	struct tport_status s = status_of(m, length, UINT64_MAX);

	tport_compute(x, tport_block_cycles(x, sizeof(s)));
	s.code |= bits | write_data(x, m, &f, handle);
	tport_tell(x, handle, &s);
}

void tport_discard(struct tport_matcher *x, struct elan_message *m)
{
	const struct tport_front f = front_of(x, m);
	struct tport_long l;

	if (m->kind & TPORT_LONG) {
		tport_load(x, m->at, &l, sizeof(l));
		end_send(x, m, l.event, l.done);
	} else if (f.event) {
		end_send(x, m, f.event, f.done);
	}
	if (tport_is_name(x, m))
		tport_forget(x, m);
	else
		tport_drop(x, m);
}
