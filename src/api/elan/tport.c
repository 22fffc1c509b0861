/*
 * Tagged ports, in the manner of MPI: a receive names a process or any, and a
 * tag of which a mask selects the bits that count.  A thread on the card
 * matches messages with receives (tport_match.c); this is what programs call.
 *
 * A message of up to nic.match.eager bytes goes into a slot of the receiver's
 * port with its bytes, a longer one with a descriptor.  A receive is a record
 * in another input queue of the node's own card.  Its end is a status in host
 * memory, which the program polls.  See tport.h for all of these.
 *
 * Numbers are for the order of messages: a packet may be sent again and a later
 * one be faster.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "api/elan/queue.h"
#include "api/elan/tport.h"
#include "host/program.h"

enum {
	PAGES = 2, /* to which queues are mapped, of each port */
	PATIENCE = 1000, /* us, until a queue can be closed */
};

/* Where these pages begin: beyond any memory. */
#define PAGES_AT UINT64_C(0xfffff00000000000)

/* --- memory --- */

static uint64_t whole_lines(uint64_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

static uint64_t numbers_offset(uint32_t handles)
{
	return sizeof(struct tport_plan) +
	       whole_lines(handles * sizeof(struct tport_status));
}

static uint64_t cells_offset(uint32_t handles)
{
	return numbers_offset(handles) +
	       whole_lines(elan_ranks() * sizeof(uint16_t));
}

uint64_t elan_tport_bytes(uint32_t handles)
{
	return cells_offset(handles + 1) + (uint64_t)cq_params()->match.spill;
}

static uint64_t page_at(uint32_t port, uint32_t i)
{
	return PAGES_AT + (uint64_t)(port * PAGES + i) * ELAN_PAGE;
}

static uint32_t slot_bytes(void)
{
	uint32_t eager = (uint32_t)cq_params()->match.eager;

	return eager < sizeof(struct tport_long) ? sizeof(struct tport_long)
						 : (eager + 7) / 8 * 8;
}

/* Bytes of a block copy in a cycle of the thread processor. */
static uint32_t block(const struct elan_params *p)
{
	int64_t n =
		p->thread_block / 1000 * p->thread_clock / (PS_PER_S / 1000);

	return n > 0 ? (uint32_t)n : 1;
}

static bool rejects(void)
{
	return cq_params()->match.by == ELAN_MATCH_REJECT;
}

/* Messages that are kept outside of slots.  Of those that are sent back only
 * names are kept: of as many as senders can have under way. */
static uint32_t count_cells(void)
{
	const struct elan_params *p = cq_params();

	if (rejects())
		return elan_ranks() * (uint32_t)p->outstanding;
	return (uint32_t)p->match.spill / slot_bytes();
}

static struct tport_plan plan_of(const struct elan_tport *t)
{
	const struct elan_params *p = cq_params();

	return (struct tport_plan){
		.queues = 2 * t->port,
		.rank = elan_rank(),
		.card = t->card,
		.statuses = t->statuses,
		.cells = t->at + cells_offset(t->handles),
		.handles = t->handles,
		.slots = (uint32_t)p->match.slots,
		.n_cells = count_cells(),
		.cell = slot_bytes(),
		.page = page_at(t->port, 0),
		.cycles = (uint32_t)p->match.cycles,
		.element = (uint32_t)p->match.element,
		.block = block(p),
		.by = (uint32_t)p->match.by,
	};
}

/* --- handles --- */

static uint64_t status_at(const struct elan_tport *t, uint32_t h)
{
	return t->statuses + (h - 1) * sizeof(struct tport_status);
}

static uint64_t done_at(const struct elan_tport *t, uint32_t h)
{
	return status_at(t, h) + offsetof(struct tport_status, is_done);
}

static struct tport_status status_of(const struct elan_tport *t, uint32_t h)
{
	struct tport_status s;

	elan_load_bytes(status_at(t, h), &s, sizeof(s));
	return s;
}

static void set_status(
	const struct elan_tport *t, uint32_t h, const struct tport_status *s)
{
	elan_store_bytes(status_at(t, h), s, sizeof(*s));
}

static void free_handle(struct elan_tport *t, uint32_t h)
{
	const struct tport_status s = { .bytes = t->free };

	set_status(t, h, &s);
	t->free = h;
}

/* For a message to or from a rank; 0: all are taken. */
static uint32_t take_handle(struct elan_tport *t, uint32_t rank, uint64_t tag)
{
	const struct tport_status s = { .tag = tag, .source = rank };
	uint32_t h = t->free;

	if (!h)
		return 0;
	t->free = (uint32_t)status_of(t, h).bytes;
	set_status(t, h, &s);
	return h;
}

/* Of calls that return when it is free again. */
static uint32_t spare_handle(const struct elan_tport *t)
{
	const struct tport_status none = { 0 };

	set_status(t, t->handles, &none);
	return t->handles;
}

static uint16_t next_number(const struct elan_tport *t, uint32_t rank)
{
	uint64_t at = t->numbers + 2 * (uint64_t)rank;
	uint16_t number = 0, next;

	elan_load_bytes(at, &number, sizeof(number));
	next = (uint16_t)(number + 1);
	elan_store_bytes(at, &next, sizeof(next));
	return number;
}

/* --- its life --- */

static uint32_t code_of(const struct elan_tport *t)
{
	return ELAN_CODES - 1 - t->port;
}

static int open_inputs(const struct elan_tport *t)
{
	struct elan_iq_options o = {
		.id = 2 * t->port,
		.slots = TPORT_RECORDS,
		.bytes = sizeof(struct tport_record),
	};
	int code = elan_iq_open(&o);

	if (code)
		return code;
	o.id++;
	o.slots = (uint32_t)cq_params()->match.slots;
	o.bytes = slot_bytes();
	o.asks = rejects();
	code = elan_iq_open(&o);
	if (code)
		elan_iq_close(2 * t->port);
	return code;
}

static int open_card(struct elan_tport *t)
{
	struct tport_plan p = plan_of(t);
	int code;

	p.card = 0;
	code = elan_card_alloc(tport_number_at(&p, elan_ranks()), &t->card);
	if (code)
		return code;
	code = open_inputs(t);
	if (code)
		elan_card_free(t->card);
	return code;
}

static int open_mapped(struct elan_cq *q, uint32_t id, enum elan_depth depth,
	uint32_t rights, uint64_t at)
{
	int code = elan_cq_open(q, id, depth, rights);

	if (code)
		return code;
	code = elan_cq_map(q, at);
	if (code)
		elan_cq_close(q);
	return code;
}

/* Its last packets may not have been acknowledged yet.  What is not open stays
 * closed. */
static int close_queue(struct elan_cq *q)
{
	int code = elan_cq_close(q);

	for (uint32_t i = 0; i < PATIENCE && code == EBUSY; i++) {
		program_charge(1000 * (sim_time)SIM_NS);
		code = elan_cq_close(q);
	}
	return code;
}

static int close_queues(struct elan_tport *t)
{
	int code = close_queue(&t->dmas);

	if (!code)
		code = close_queue(&t->packets);
	return code ? code : close_queue(&t->queue);
}

static int open_parts(struct elan_tport *t, uint32_t queue)
{
	int code = elan_cq_open(&t->queue, queue, ELAN_64K, ELAN_MAY_ALL);

	if (!code)
		code = open_mapped(&t->packets, queue + 1, ELAN_8K,
			ELAN_MAY_STEN, page_at(t->port, 0));
	if (!code)
		code = open_mapped(&t->dmas, queue + 2, ELAN_64K, ELAN_MAY_DMA,
			page_at(t->port, 1));
	if (!code)
		code = open_card(t);
	if (code) {
		close_queue(&t->dmas);
		close_queue(&t->packets);
		close_queue(&t->queue);
	}
	return code;
}

static int start(struct elan_tport *t)
{
	const uint64_t reg[ELAN_REGISTERS] = { t->at };
	struct tport_plan p = plan_of(t);
	int code = elan_thread_load(code_of(t), tport_match);

	elan_store_bytes(t->at, &p, sizeof(p));
	return code ? code : elan_thread_start(&t->queue, code_of(t), reg);
}

/* Gives everything back. */
static int shut(struct elan_tport *t)
{
	int code = elan_iq_close(2 * t->port);

	t->is_open = false;
	if (!code)
		code = elan_iq_close(2 * t->port + 1);
	if (!code)
		code = close_queues(t);
	if (code)
		return code;
	elan_thread_load(code_of(t), NULL);
	return elan_card_free(t->card);
}

static void clear_numbers(const struct elan_tport *t)
{
	const uint16_t none = 0;

	for (uint32_t i = 0; i < elan_ranks(); i++)
		elan_store_bytes(t->numbers + 2 * (uint64_t)i, &none, 2);
}

int elan_tport_open(struct elan_tport *t, const struct elan_tport_options *o)
{
	int code;

	*t = (struct elan_tport){
		.queue.id = ELAN_QUEUES,
		.packets.id = ELAN_QUEUES,
		.dmas.id = ELAN_QUEUES,
		.port = o->port,
		.at = o->at,
		.handles = o->handles + 1,
	};
	if (o->port >= ELAN_TPORTS || !o->handles ||
		o->handles >= ELAN_TPORT_HANDLES || o->at % 64)
		return EINVAL;
	if (!cq_is_own(o->at, elan_tport_bytes(o->handles)))
		return EFAULT;
	t->statuses = t->at + sizeof(struct tport_plan);
	t->numbers = t->at + numbers_offset(t->handles);
	code = open_parts(t, o->queue);
	if (code)
		return code;
	clear_numbers(t);
	for (uint32_t h = o->handles; h; h--)
		free_handle(t, h);
	t->is_open = true;
	code = start(t);
	if (code)
		shut(t);
	return code;
}

/* --- messages --- */

static int send_record(struct elan_tport *t, enum tport_kind kind, uint64_t tag,
	const struct tport_record *r)
{
	const struct elan_letter l = {
		.queue = 2 * t->port,
		.tag = tag,
		.data = r,
		.bytes = sizeof(*r),
		.number = t->records++,
		.kind = (uint8_t)kind,
	};

	return elan_enqueue(&t->queue, elan_rank(), &l);
}

static bool is_rank(uint32_t rank)
{
	return rank < elan_ranks() || rank == ELAN_TPORT_ANY;
}

/* The library's part of both calls is divided evenly. */
static sim_time half_mpi(void)
{
	return cq_host()->mpi / 2;
}

static int send_short(struct elan_tport *t, uint32_t rank, uint64_t tag,
	uint64_t from, uint64_t bytes)
{
	const struct elan_letter l = {
		.queue = 2 * t->port + 1,
		.tag = tag,
		.from = from,
		.bytes = (uint32_t)bytes,
		.number = next_number(t, rank),
		.kind = TPORT_SHORT,
	};

	return cq_enqueue(&t->queue, rank, &l, half_mpi());
}

static int send_long(struct elan_tport *t, uint32_t rank, uint64_t tag,
	uint64_t from, uint64_t bytes, uint32_t handle)
{
	const struct tport_long d = {
		.bytes = bytes,
		.from = from,
		.page = page_at(t->port, 1),
		.event = t->card + (handle - 1) * sizeof(struct tport_posted),
		.done = done_at(t, handle),
	};
	const struct elan_letter l = {
		.queue = 2 * t->port + 1,
		.tag = tag,
		.data = &d,
		.bytes = sizeof(d),
		.number = next_number(t, rank),
		.kind = TPORT_LONG,
	};

	return cq_enqueue(&t->queue, rank, &l, half_mpi());
}

int elan_tport_tx_start(struct elan_tport *t, uint32_t rank, uint64_t tag,
	uint64_t from, uint64_t bytes, uint32_t *handle)
{
	*handle = 0;
	if (!t->is_open)
		return EBADF;
	if (rank >= elan_ranks())
		return EINVAL;
	if (!cq_has(from, bytes))
		return EFAULT;
	if (bytes <= (uint64_t)cq_params()->match.eager)
		return send_short(t, rank, tag, from, bytes);
	*handle = take_handle(t, rank, tag);
	if (!*handle)
		return EAGAIN;
	return send_long(t, rank, tag, from, bytes, *handle);
}

int elan_tport_rx_start(struct elan_tport *t, uint32_t rank, uint64_t tag,
	uint64_t mask, uint64_t to, uint64_t bytes, uint32_t *handle)
{
	struct tport_record r = {
		.mask = mask, .source = rank, .to = to, .bytes = bytes
	};

	if (!t->is_open)
		return EBADF;
	if (!is_rank(rank))
		return EINVAL;
	if (!cq_has(to, bytes))
		return EFAULT;
	r.handle = *handle = take_handle(t, rank, tag);
	return r.handle ? send_record(t, TPORT_RECEIVE, tag, &r) : EAGAIN;
}

/* --- their ends --- */

static bool is_handle(const struct elan_tport *t, uint32_t handle)
{
	return t->is_open && handle && handle < t->handles;
}

static int result(
	const struct tport_status *s, struct elan_tport_status *status)
{
	if (status)
		*status = (struct elan_tport_status){
			.tag = s->tag, .source = s->source, .bytes = s->bytes
		};
	return (int)s->code;
}

/* What a receive that has ended got; its handle is free. */
static int finish(
	struct elan_tport *t, uint32_t handle, struct elan_tport_status *status)
{
	struct tport_status s = status_of(t, handle);

	program_charge(half_mpi());
	free_handle(t, handle);
	return result(&s, status);
}

/* For a program that waits forever. */
struct awaited {
	uint64_t tag;
	uint32_t rank;
};

static void explain(void *arg, char *text, size_t size)
{
	const struct awaited *a = arg;

	if (a->rank == ELAN_TPORT_ANY)
		snprintf(text, size,
			"elan_tport_wait for a message from any, tag %" PRIu64,
			a->tag);
	else
		snprintf(text, size,
			"elan_tport_wait for a message from or to %" PRIu32
			", tag %" PRIu64,
			a->rank, a->tag);
}

int elan_tport_wait(
	struct elan_tport *t, uint32_t handle, struct elan_tport_status *status)
{
	struct awaited what;
	struct tport_status s;
	bool is_done;

	if (!handle)
		return 0;
	if (!is_handle(t, handle))
		return EINVAL;
	s = status_of(t, handle);
	what = (struct awaited){ s.tag, s.source };
	program_explain(explain, &what);
	is_done = elan_wait_event(&t->queue, done_at(t, handle), 1);
	program_explain(NULL, NULL);
	return is_done ? finish(t, handle, status) : EIO;
}

int elan_tport_test(
	struct elan_tport *t, uint32_t handle, struct elan_tport_status *status)
{
	if (!handle)
		return 0;
	if (!is_handle(t, handle))
		return EINVAL;
	program_charge(cq_params()->poll_load + cq_way());
	return status_of(t, handle).is_done ? finish(t, handle, status)
					    : EINPROGRESS;
}

int elan_tport_cancel(struct elan_tport *t, uint32_t handle)
{
	const struct tport_record r = { .handle = handle };

	if (!t->is_open)
		return EBADF;
	return is_handle(t, handle) ? send_record(t, TPORT_CANCEL, 0, &r)
				    : EINVAL;
}

/* A record that the thread answers at once. */
static int ask(struct elan_tport *t, enum tport_kind kind, uint64_t tag,
	struct tport_record *r, struct tport_status *s)
{
	int code;

	r->handle = spare_handle(t);
	code = send_record(t, kind, tag, r);
	if (code)
		return code;
	if (!elan_wait_event(&t->queue, done_at(t, r->handle), 1))
		return EIO;
	*s = status_of(t, r->handle);
	return 0;
}

int elan_tport_probe(struct elan_tport *t, uint32_t rank, uint64_t tag,
	uint64_t mask, struct elan_tport_status *status)
{
	struct tport_record r = { .mask = mask, .source = rank };
	struct tport_status s;
	int code;

	if (!t->is_open)
		return EBADF;
	if (!is_rank(rank))
		return EINVAL;
	code = ask(t, TPORT_PROBE, tag, &r, &s);
	return code ? code : result(&s, s.code ? NULL : status);
}

int elan_tport_close(struct elan_tport *t)
{
	struct tport_record r = { 0 };
	struct tport_status s;
	int code;

	if (!t->is_open)
		return EBADF;
	code = ask(t, TPORT_CLOSE, 0, &r, &s);
	return code ? code : shut(t);
}
