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
		.code = sent > room ? EMSGSIZE : 0,
		.is_done = 1,
	};
}

/* --- short ones --- */

static void copy_cell(struct tport_matcher *x, const struct elan_message *m,
	uint64_t to, uint32_t bytes)
{
	uint8_t block[ELAN_BLOCK];
	uint32_t n;

	for (uint32_t k = 0; k < bytes; k += n) {
		n = bytes - k < ELAN_BLOCK ? bytes - k : ELAN_BLOCK;
		tport_load(x, m->at + k, block, n);
		elan_thread_write_block(to + k, block, n);
	}
}

static void deliver_short(struct tport_matcher *x, const struct elan_message *m,
	uint32_t handle, uint64_t to, uint64_t room)
{
	const struct tport_status s = status_of(m, m->bytes, room);
	uint32_t n = m->bytes < room ? m->bytes : (uint32_t)room;
	uint32_t first = n < 64 ? n : 64;

	tport_compute(x, tport_block_cycles(x, n ? first : sizeof(s)));
	if (n && is_slot(x, m))
		elan_thread_copy(to, m->at, n);
	else if (n)
		copy_cell(x, m, to, n);
	tport_tell(x, handle, &s);
}

/* --- long ones --- */

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

/* No byte is wanted: the sender's event is armed and set. */
static void end_send(struct tport_matcher *x, const struct elan_message *m,
	const struct tport_long *l)
{
	const struct elan_event at_sender = event(1, l->done);
	uint64_t word[16] = { elan_word(ELAN_OPEN, m->source, 0) };
	uint32_t k = 1;

	k += add_write(word + k, 0, l->event, &at_sender, sizeof(at_sender));
	word[k++] = elan_word(ELAN_SET, 0, 1) | ELAN_NAMED;
	word[k++] = elan_event_at(l->event);
	word[k++] = elan_word(ELAN_CLOSE, 0, 0);
	elan_thread_append(x->plan.page, word, k);
}

static void deliver_long(struct tport_matcher *x, const struct elan_message *m,
	uint32_t handle, uint64_t to, uint64_t room)
{
	struct tport_status s;
	struct tport_long l;
	uint64_t n;

	tport_load(x, m->at, &l, sizeof(l));
	n = l.bytes < room ? l.bytes : room;
	s = status_of(m, l.bytes, room);
	s.is_done = !n;
	tport_compute(x, tport_block_cycles(x, sizeof(s)));
	tport_tell(x, handle, &s);
	if (n)
		start_dma(x, m, &l, handle, to, n);
	else
		end_send(x, m, &l);
}

void tport_deliver(struct tport_matcher *x, const struct elan_message *m,
	uint32_t handle, uint64_t to, uint64_t bytes)
{
	if (m->kind == TPORT_LONG)
		deliver_long(x, m, handle, to, bytes);
	else
		deliver_short(x, m, handle, to, bytes);
	elan_thread_note(ELAN_MATCHED, 1);
	tport_drop(x, m);
}
