/*
 * Tagged ports, in the manner of MPI: a receive names a process or any, and a
 * tag of which a mask selects the bits that count.  A thread on the card
 * matches messages with receives (tport_match.c); this is what programs call.
 *
 * A message of up to nic.match.eager bytes goes into a slot of the receiver's
 * port with its bytes.  A receive is a record in another input queue of the
 * node's own card.  Its end is a status in host memory, which the program
 * polls.  See tport.h for all of these.
 *
 * Memory of a port, from the address that the program names:
 *
 *	statuses    32 bytes for each handle
 *	numbers     2 bytes for each node: of the next message to it
 *
 * Numbers are for the order of messages: a packet may be sent again and a later
 * one be faster.
 */
#include <errno.h>

#include "api/elan/queue.h"
#include "api/elan/tport.h"
#include "host/program.h"

enum { RECORD_SLOTS = 64 };

/* --- memory --- */

static uint64_t numbers_at(const struct elan_tport *t)
{
	return tport_status_at(t->at, t->handles + 1);
}

uint64_t elan_tport_bytes(uint32_t handles)
{
	return handles * sizeof(struct tport_status) +
	       (2 * (uint64_t)weft_nodes() + 63) / 64 * 64;
}

static struct tport_status status_of(const struct elan_tport *t, uint32_t h)
{
	struct tport_status s;

	program_read(tport_status_at(t->at, h), &s, sizeof(s));
	return s;
}

static void free_handle(struct elan_tport *t, uint32_t h)
{
	const struct tport_status s = { .next = t->free };

	program_write(tport_status_at(t->at, h), &s, sizeof(s));
	t->free = h;
}

/* 0: all are taken. */
static uint32_t take_handle(struct elan_tport *t)
{
	const struct tport_status none = { 0 };
	uint32_t h = t->free;

	if (!h)
		return 0;
	t->free = status_of(t, h).next;
	program_write(tport_status_at(t->at, h), &none, sizeof(none));
	return h;
}

static uint16_t next_number(const struct elan_tport *t, uint32_t node)
{
	uint64_t at = numbers_at(t) + 2 * (uint64_t)node;
	uint16_t number = 0, next;

	program_read(at, &number, sizeof(number));
	next = (uint16_t)(number + 1);
	program_write(at, &next, sizeof(next));
	return number;
}

/* --- its life --- */

static uint32_t code_of(const struct elan_tport *t)
{
	return ELAN_CODES - 1 - t->port;
}

static int open_queues(const struct elan_tport *t)
{
	const struct elan_match_params *p = &cq_params()->match;
	struct elan_iq_options o = {
		.id = 2 * t->port,
		.slots = RECORD_SLOTS,
		.bytes = sizeof(struct tport_record),
	};
	int code = elan_iq_open(&o);

	if (code)
		return code;
	o.id++;
	o.slots = (uint32_t)p->slots;
	o.bytes = ((uint32_t)p->eager + 7) / 8 * 8;
	code = elan_iq_open(&o);
	if (code)
		elan_iq_close(2 * t->port);
	return code;
}

static uint64_t counts(const struct elan_tport *t)
{
	return t->handles | (uint64_t)cq_params()->match.slots << 32;
}

static uint64_t card_bytes(const struct elan_tport *t)
{
	return tport_number_at(0, counts(t), weft_nodes());
}

static int start(struct elan_tport *t)
{
	const struct elan_params *p = cq_params();
	const uint64_t reg[ELAN_REGISTERS] = {
		[TPORT_QUEUES] = 2 * t->port,
		[TPORT_CARD] = t->card,
		[TPORT_HOST] = t->at,
		[TPORT_CYCLES] = (uint64_t)p->match.cycles |
				 (uint64_t)p->match.element << 32,
		[TPORT_BLOCK] = (uint64_t)(p->thread_block / 1000 *
					   p->thread_clock / (PS_PER_S / 1000)),
		[TPORT_COUNTS] = counts(t),
	};
	int code = elan_thread_load(code_of(t), tport_match);

	return code ? code : elan_thread_start(&t->queue, code_of(t), reg);
}

static int open_parts(struct elan_tport *t, uint32_t queue)
{
	int code = elan_cq_open(&t->queue, queue, ELAN_64K, ELAN_MAY_ALL);

	if (code)
		return code;
	code = elan_card_alloc(card_bytes(t), &t->card);
	if (!code) {
		code = open_queues(t);
		if (code)
			elan_card_free(t->card);
	}
	if (code)
		elan_cq_close(&t->queue);
	return code;
}

int elan_tport_open(struct elan_tport *t, const struct elan_tport_options *o)
{
	uint64_t memory = elan_memory_bytes();
	int code;

	*t = (struct elan_tport){
		.port = o->port, .at = o->at, .handles = o->handles
	};
	if (o->port >= ELAN_TPORTS || !o->handles ||
		o->handles > ELAN_TPORT_HANDLES || o->at % 64)
		return EINVAL;
	if (o->at > memory || elan_tport_bytes(o->handles) > memory - o->at)
		return EFAULT;
	code = open_parts(t, o->queue);
	if (code)
		return code;
	for (uint32_t h = o->handles; h; h--)
		free_handle(t, h);
	t->is_open = true;
	return start(t);
}

/* --- messages --- */

int elan_tport_tx_start(struct elan_tport *t, uint32_t node, uint64_t tag,
	uint64_t from, uint64_t bytes)
{
	struct elan_letter l = {
		.queue = 2 * t->port + 1,
		.tag = tag,
		.from = from,
		.bytes = (uint32_t)bytes,
		.kind = TPORT_SHORT,
	};

	if (!t->is_open)
		return EBADF;
	if (node >= weft_nodes())
		return EINVAL;
	if (bytes > (uint64_t)cq_params()->match.eager)
		return EMSGSIZE;
	l.number = next_number(t, node);
	return elan_enqueue(&t->queue, node, &l);
}

int elan_tport_rx_start(struct elan_tport *t, uint32_t node, uint64_t tag,
	uint64_t mask, uint64_t to, uint64_t bytes, uint32_t *handle)
{
	uint64_t memory = elan_memory_bytes();
	struct tport_record r = {
		.mask = mask, .source = node, .to = to, .bytes = bytes
	};
	const struct elan_letter l = {
		.queue = 2 * t->port,
		.tag = tag,
		.data = &r,
		.bytes = sizeof(r),
		.number = t->records,
		.kind = TPORT_RECEIVE,
	};

	if (!t->is_open)
		return EBADF;
	if (node >= weft_nodes() && node != ELAN_TPORT_ANY)
		return EINVAL;
	if (to > memory || bytes > memory - to)
		return EFAULT;
	r.handle = take_handle(t);
	if (!r.handle)
		return EAGAIN;
	*handle = r.handle;
	t->records++;
	return elan_enqueue(&t->queue, weft_node(), &l);
}

static bool is_handle(const struct elan_tport *t, uint32_t handle)
{
	return t->is_open && handle && handle <= t->handles;
}

/* What a receive that has ended got; its handle is free. */
static int finish(
	struct elan_tport *t, uint32_t handle, struct elan_tport_status *status)
{
	struct tport_status s = status_of(t, handle);

	if (status)
		*status = (struct elan_tport_status){
			.tag = s.tag, .source = s.source, .bytes = s.bytes
		};
	free_handle(t, handle);
	return (int)s.code;
}

static uint64_t done_at(const struct elan_tport *t, uint32_t handle)
{
	return tport_status_at(t->at, handle) +
	       offsetof(struct tport_status, is_done);
}

int elan_tport_wait(
	struct elan_tport *t, uint32_t handle, struct elan_tport_status *status)
{
	if (!is_handle(t, handle))
		return EINVAL;
	if (!elan_wait_event(&t->queue, done_at(t, handle), 1))
		return EIO;
	return finish(t, handle, status);
}

int elan_tport_test(
	struct elan_tport *t, uint32_t handle, struct elan_tport_status *status)
{
	if (!is_handle(t, handle))
		return EINVAL;
	program_charge(cq_params()->poll_load + cq_way());
	return status_of(t, handle).is_done ? finish(t, handle, status)
					    : EINPROGRESS;
}
