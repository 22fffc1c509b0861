/*
 * Tagged ports, in the manner of MPI: a receive names a process or any, and a
 * tag of which a mask selects the bits that count.  A thread on the card
 * matches messages with receives (tport_match.c); programs call the functions
 * of tport_calls.c.  This file opens and closes ports.
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
#include <string.h>

#include "api/elan/tport_lib.h"
#include "host/program.h"

enum {
	PATIENCE = 1000, /* us, until a queue can be closed */
};

/* Where these pages begin: beyond any memory. */
#define PAGES_AT UINT64_C(0xfffff00000000000)

/* --- memory --- */

static uint64_t whole_lines(uint64_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

static uint64_t datas_offset(uint32_t handles)
{
	return sizeof(struct tport_plan) +
	       whole_lines(handles * sizeof(struct tport_status));
}

static uint64_t numbers_offset(uint32_t handles)
{
	return datas_offset(handles) + whole_lines(handles * sizeof(uint64_t));
}

static uint64_t cells_offset(uint32_t handles, uint32_t n_ranks)
{
	return numbers_offset(handles) +
	       whole_lines(n_ranks * sizeof(uint16_t));
}

uint64_t tport_bytes(
	const struct elan_params *p, uint32_t handles, uint32_t n_ranks)
{
	return cells_offset(handles + 1, n_ranks) +
	       whole_lines((uint64_t)p->match.spill);
}

uint64_t elan_tport_bytes(uint32_t handles)
{
	return tport_bytes(cq_params(), handles, elan_ranks());
}

uint64_t tport_page_at(uint32_t port, uint32_t i)
{
	return PAGES_AT + (uint64_t)(port * TPORT_PAGES + i) * ELAN_PAGE;
}

static uint32_t slot_bytes(const struct elan_params *p)
{
	uint32_t eager = (uint32_t)p->match.eager;
	uint32_t least = sizeof(struct tport_long) + sizeof(struct tport_front);

	return eager < least ? least : (eager + 7) / 8 * 8;
}

uint32_t tport_slot_bytes(void)
{
	return slot_bytes(cq_params());
}

/* Bytes of a block copy in a cycle of the thread processor. */
static uint32_t block(const struct elan_params *p)
{
	int64_t n =
		p->thread_block / 1000 * p->thread_clock / (PS_PER_S / 1000);

	return n > 0 ? (uint32_t)n : 1;
}

static bool rejects(const struct elan_params *p)
{
	return p->match.by == ELAN_MATCH_REJECT;
}

/* Messages that are kept outside of slots.  Of those that are sent back only
 * names are kept: of as many as senders can have under way. */
static uint32_t count_cells(const struct elan_params *p, uint32_t n_ranks)
{
	if (rejects(p))
		return n_ranks * (uint32_t)p->outstanding;
	return (uint32_t)p->match.spill / slot_bytes(p);
}

/* Of card memory, for elements, places, numbers and names. */
static uint64_t card_bytes(
	const struct elan_params *p, uint32_t handles, uint32_t n_ranks)
{
	const struct tport_plan plan = {
		.handles = handles,
		.slots = (uint32_t)p->match.slots,
		.n_cells = count_cells(p, n_ranks),
	};

	return rejects(p) ? tport_name_at(
				    &plan, n_ranks, plan.slots + plan.n_cells)
			  : tport_number_at(&plan, n_ranks);
}

/* Without what is in front of each slot. */
uint64_t tport_card_least(
	const struct elan_params *p, uint32_t handles, uint32_t n_ranks)
{
	return card_bytes(p, handles + 1, n_ranks) +
	       TPORT_RECORDS * sizeof(struct tport_record) +
	       (uint64_t)p->match.slots * slot_bytes(p);
}

static struct tport_plan plan_of(const struct elan_tport *t)
{
	const struct elan_params *p = cq_params();

	return (struct tport_plan){
		.queues = 2 * t->port,
		.rank = elan_rank(),
		.n_ranks = elan_ranks(),
		.card = t->card,
		.statuses = t->statuses,
		.datas = t->datas,
		.cells = t->at + cells_offset(t->handles, elan_ranks()),
		.handles = t->handles,
		.slots = (uint32_t)p->match.slots,
		.n_cells = count_cells(p, elan_ranks()),
		.cell = tport_slot_bytes(),
		.page = tport_page_at(t->port, TPORT_PAGE_PACKETS),
		.cycles = (uint32_t)p->match.cycles,
		.element = (uint32_t)p->match.element,
		.block = block(p),
		.by = (uint32_t)p->match.by,
	};
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
	o.bytes = tport_slot_bytes();
	o.asks = rejects(cq_params());
	code = elan_iq_open(&o);
	if (code)
		elan_iq_close(2 * t->port);
	return code;
}

static int open_card(struct elan_tport *t)
{
	uint64_t bytes = card_bytes(cq_params(), t->handles, elan_ranks());
	int code = elan_card_alloc(bytes, &t->card);

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

/* Those that are open. */
static int close_queues(struct elan_tport *t)
{
	struct elan_cq *q[] = { &t->dmas, &t->packets, &t->own, &t->queue };
	int code = 0;

	for (uint32_t i = 0; i < 4 && !code; i++)
		if (q[i]->id != ELAN_QUEUES)
			code = close_queue(q[i]);
	return code;
}

static int open_parts(struct elan_tport *t, uint32_t queue)
{
	int code = elan_cq_open(&t->queue, queue, ELAN_64K, ELAN_MAY_ALL);

	if (!code)
		code = open_mapped(&t->packets, queue + 1, ELAN_8K,
			ELAN_MAY_STEN | ELAN_GOES_ON,
			tport_page_at(t->port, TPORT_PAGE_PACKETS));
	if (!code)
		code = open_mapped(&t->dmas, queue + 2, ELAN_64K,
			ELAN_MAY_DMA | ELAN_GOES_ON,
			tport_page_at(t->port, TPORT_PAGE_DMAS));
	if (!code)
		code = elan_cq_open(&t->own, queue + 3, ELAN_8K, ELAN_MAY_ALL);
	if (!code)
		code = open_card(t);
	if (code)
		close_queues(t);
	return code;
}

static int start(struct elan_tport *t)
{
	const uint64_t reg[ELAN_REGISTERS] = { t->at };
	struct tport_plan p = plan_of(t);
	int code = elan_thread_load(code_of(t), tport_match);

	elan_store_bytes(t->at, &p, sizeof(p));
	return code ? code : elan_thread_start(&t->own, code_of(t), reg);
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

/* Of many ranks, most have none: their memory is not touched. */
static void clear_numbers(const struct elan_tport *t)
{
	const struct {
		uint8_t byte[512];
	} none = { 0 };
	uint64_t n = whole_lines(elan_ranks() * sizeof(uint16_t)), part;
	uint8_t was[sizeof(none)];

	for (uint64_t i = 0; i < n; i += part) {
		part = n - i < sizeof(none) ? n - i : sizeof(none);
		elan_load_bytes(t->numbers + i, was, part);
		if (memcmp(was, &none, part) != 0)
			elan_store_bytes(t->numbers + i, &none, part);
	}
}

int elan_tport_open(struct elan_tport *t, const struct elan_tport_options *o)
{
	int code;

	*t = (struct elan_tport){
		.queue.id = ELAN_QUEUES,
		.own.id = ELAN_QUEUES,
		.packets.id = ELAN_QUEUES,
		.dmas.id = ELAN_QUEUES,
		.port = o->port,
		.at = o->at,
		.handles = o->handles + 1,
		.rank = elan_rank(),
		.n_ranks = elan_ranks(),
	};
	if (o->port >= ELAN_TPORTS || !o->handles ||
		o->handles >= ELAN_TPORT_HANDLES || o->at % 64)
		return EINVAL;
	if (!cq_is_own(o->at, elan_tport_bytes(o->handles)))
		return EFAULT;
	t->statuses = t->at + sizeof(struct tport_plan);
	t->datas = t->at + datas_offset(t->handles);
	t->numbers = t->at + numbers_offset(t->handles);
	code = open_parts(t, o->queue);
	if (code)
		return code;
	clear_numbers(t);
	t->is_open = true;
	code = start(t);
	if (code)
		shut(t);
	return code;
}

int elan_tport_close(struct elan_tport *t)
{
	struct tport_record r = { 0 };
	struct tport_status s;
	int code;

	if (!t->is_open)
		return EBADF;
	code = tport_ask(t, TPORT_CLOSE, 0, &r, &s);
	return code ? code : shut(t);
}
