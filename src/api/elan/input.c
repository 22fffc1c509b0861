/* Input queues of the program's node, and messages for those of others. */
#include <errno.h>

#include "api/elan/queue.h"
#include "host/program.h"

int elan_iq_open(const struct elan_iq_options *o)
{
	return elan_input_open(cq_card(), program_node(), cq_context(), o);
}

int elan_iq_close(uint32_t id)
{
	return elan_input_close(cq_card(), program_node(), cq_context(), id);
}

/* --- messages --- */

enum { BURST_WORDS = 8 };

/* Where a message goes. */
struct range {
	bool is_all; /* from first to last */
	uint32_t first, last;
	uint32_t own; /* rank */
};

/* And where its bytes are. */
static int check(
	const struct elan_cq *q, const struct elan_letter *l, uint64_t *from)
{
	int code = cq_check(q, l->source_event, 0);

	if (!code && (l->queue >= ELAN_INPUTS || l->bytes > ELAN_SLOT_MOST ||
			     l->kind > 15))
		code = EINVAL;
	*from = l->from;
	if (!code && !l->data && !cq_find(from, l->bytes))
		code = EFAULT;
	return code;
}

/* The part of n bytes of a message that begins at some byte. */
static void add_packet(struct elan_cq *q, const struct range *to,
	const struct elan_letter *l, uint32_t at, const uint8_t *data,
	uint32_t n)
{
	uint64_t word = elan_word(
		ELAN_ENQUEUE, n, l->queue | (uint64_t)l->number << 16);
	bool is_part = n < l->bytes;

	word |= (uint64_t)l->kind << ELAN_KIND;
	word |= is_part ? ELAN_IS_PART : 0;
	word |= l->source_event ? 0 : ELAN_IS_LAST;
	cq_add(q, elan_word(to->is_all ? ELAN_OPEN_RANGE : ELAN_OPEN, to->first,
			  0));
	if (to->is_all)
		cq_add(q, to->last);
	cq_add(q, word);
	cq_add(q, l->tag);
	if (is_part)
		cq_add(q, l->bytes | (uint64_t)at << 32);
	cq_add_bytes(q, data, n);
	if (l->source_event)
		cq_add(q, elan_word(ELAN_CLOSE, l->source_event, 0));
}

/* A message for the own process is a command.  Its burst is filled up, or a
 * core's write buffer would keep it for some time. */
static void add_here(
	struct elan_cq *q, const struct elan_letter *l, const uint8_t *data)
{
	uint32_t n = 2 + (l->bytes + 7) / 8;

	cq_add(q, elan_word(ELAN_ENQUEUE, l->bytes,
			  l->queue | (uint64_t)l->number << 16) |
			  (uint64_t)l->kind << ELAN_KIND);
	cq_add(q, l->tag);
	cq_add_bytes(q, data, l->bytes);
	for (; n < BURST_WORDS; n++)
		cq_add(q, ELAN_NOP);
}

static bool is_here(const struct range *to, const struct elan_letter *l)
{
	return !to->is_all && to->first == to->own && !l->source_event &&
	       l->bytes <= ELAN_HERE_MOST;
}

static int enqueue(struct elan_cq *q, const struct range *to,
	const struct elan_letter *l, sim_time software)
{
	uint64_t from;
	int code = check(q, l, &from);
	uint8_t block[ELAN_PACKET];
	const uint8_t *data;
	sim_time born = program_now();
	uint32_t at = 0;

	if (code)
		return code;
	program_charge(cq_params()->software + software);
	do {
		uint32_t left = l->bytes - at;
		uint32_t n = left < ELAN_PACKET ? left : ELAN_PACKET;

		if (!l->data && n)
			program_read(from + at, block, n);
		cq_begin(q, ELAN_PACKET + 64, born);
		data = l->data ? (const uint8_t *)l->data + at : block;
		if (is_here(to, l))
			add_here(q, l, data);
		else
			add_packet(q, to, l, at, data, n);
		born = SIM_NEVER;
		at += n;
	} while (at < l->bytes);
	elan_flush(q);
	return 0;
}

int cq_enqueue(struct elan_cq *q, uint32_t rank, uint32_t own,
	const struct elan_letter *l, sim_time software)
{
	return enqueue(
		q, &(struct range){ false, rank, rank, own }, l, software);
}

int elan_enqueue(struct elan_cq *q, uint32_t rank, const struct elan_letter *l)
{
	return cq_enqueue(q, rank, elan_rank(), l, 0);
}

int elan_enqueue_all(struct elan_cq *q, uint32_t first, uint32_t last,
	const struct elan_letter *l)
{
	return enqueue(q, &(struct range){ true, first, last, 0 }, l, 0);
}
