/* Groups: their life, rounds, and how a process talks to its thread. */
#include "api/elan/hgroup.h"

#include <errno.h>

#include "host/program.h"

/* --- rounds --- */

static int check(struct elan_hgroup *g, uint32_t root)
{
	int code = cq_may_use(&g->queue);

	if (code || g->failed)
		return code ? code : g->failed;
	return root < elan_ranks() ? 0 : EINVAL;
}

int hgroup_begin(struct elan_hgroup *g, uint32_t root)
{
	int code = check(g, root);

	g->round += !code;
	return code;
}

int hgroup_begin_alone(struct elan_hgroup *g, uint32_t root)
{
	int code = check(g, root);

	if (!code && g->ahead == HGROUP_AHEAD)
		code = hgroup_agree(g, ELAN_OR, NULL, 0, 0);
	if (code)
		return code;
	g->ahead++;
	return hgroup_begin(g, root);
}

int hgroup_tell(struct elan_hgroup *g, enum hgroup_what what,
	const struct hgroup_record *r)
{
	const struct elan_letter l = {
		.queue = g->input + HGROUP_RECORDS,
		.tag = g->round,
		.data = r,
		.bytes = sizeof(*r),
		.number = (uint16_t)g->round,
		.kind = (uint8_t)what,
	};

	return elan_enqueue(&g->queue, elan_rank(), &l);
}

int hgroup_await(struct elan_hgroup *g, uint32_t word)
{
	uint64_t least = g->round << 8;
	uint64_t seen =
		cq_await(g->at + word, least, &g->queue, &g->sender, &g->wait);

	if (seen >= least)
		return (int)(seen & 0xff);
	g->failed = EIO;
	return EIO;
}

int hgroup_agree(struct elan_hgroup *g, enum elan_reduction op,
	const uint64_t *words, uint32_t n, uint64_t to)
{
	struct hgroup_record r = {
		.bytes = 8 * n,
		.part = 8 * n,
		.op = (uint8_t)op,
		.flags = HGROUP_IS_FOR_ALL | HGROUP_IS_HERE | HGROUP_IS_AWAITED,
		.to = to,
	};
	int code = hgroup_begin(g, 0);

	for (uint32_t i = 0; i < n; i++)
		r.word[i] = words[i];
	if (!code)
		code = hgroup_tell(g, HGROUP_REDUCE, &r);
	if (!code)
		code = hgroup_await(g, HGROUP_DONE);
	g->ahead = 0;
	return code;
}

void hgroup_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
	uint8_t block[ELAN_SLOT_MOST];
	uint64_t n;

	for (uint64_t i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(block) ? bytes - i : sizeof(block);
		elan_load_bytes(from + i, block, n);
		elan_store_bytes(to + i, block, n);
	}
}

/* --- life --- */

static int open_inputs(const struct elan_hgroup *g)
{
	static const struct elan_iq_options o[HGROUP_INPUTS] = {
		[HGROUP_RECORDS] = { .slots = 4,
			.bytes = sizeof(struct hgroup_record) },
		[HGROUP_UP] = { .slots = HGROUP_UP_SLOTS,
			.bytes = ELAN_PACKET },
		[HGROUP_DOWN] = { .slots = HGROUP_DOWN_SLOTS,
			.bytes = ELAN_SLOT_MOST },
	};
	uint32_t i = 0;
	int code = 0;

	while (i < HGROUP_INPUTS && !code) {
		struct elan_iq_options one = o[i];

		one.id = g->input + i;
		code = elan_iq_open(&one);
		i += !code;
	}
	while (code && i)
		elan_iq_close(g->input + --i);
	return code;
}

static int close_inputs(const struct elan_hgroup *g)
{
	int code = 0;

	for (uint32_t i = 0; i < HGROUP_INPUTS && !code; i++)
		code = elan_iq_close(g->input + i);
	return code;
}

static int open_queues(struct elan_hgroup *g, uint32_t id)
{
	int code = elan_cq_open(&g->queue, id, ELAN_8K, ELAN_MAY_ALL);

	if (code)
		return code;
	code = elan_cq_open(&g->sender, id + 1, ELAN_8K,
		ELAN_MAY_STEN | ELAN_MAY_BROADCAST);
	if (!code)
		code = elan_cq_map(&g->sender, cq_page(g->sender.id));
	return code;
}

static int start_thread(struct elan_hgroup *g)
{
	const uint64_t reg[ELAN_REGISTERS] = {
		[HGROUP_REG_INPUT] = g->input,
		[HGROUP_REG_PAGE] = cq_page(g->sender.id),
		[HGROUP_REG_AT] = g->at,
		[HGROUP_REG_RANKS] = elan_rank() | (uint64_t)elan_ranks() << 32,
	};
	int code = elan_thread_load(g->code, hgroup_thread);

	if (!code)
		code = elan_thread_start(&g->queue, g->code, reg);
	if (code)
		close_inputs(g);
	return code;
}

/* Gives back what was opened; what is not open stays closed. */
static int shut(struct elan_hgroup *g)
{
	int code = 0;

	if (g->sender.id < ELAN_QUEUES)
		code = cq_close_later(&g->sender);
	if (!code)
		g->sender.id = ELAN_QUEUES;
	if (!code && g->queue.id < ELAN_QUEUES)
		code = cq_close_later(&g->queue);
	if (!code)
		g->queue.id = ELAN_QUEUES;
	return code;
}

int elan_hgroup_open(struct elan_hgroup *g, const struct elan_hgroup_options *o)
{
	const uint64_t none[ELAN_HGROUP_BYTES / 8] = { 0 };
	int code;

	*g = (struct elan_hgroup){
		.queue = { .id = ELAN_QUEUES },
		.sender = { .id = ELAN_QUEUES },
		.at = o->at,
		.input = o->input,
		.code = o->code,
		.event = o->event,
	};
	if (!cq_can_cast() || o->at % 8 || !o->event ||
		o->event >= ELAN_EVENTS ||
		o->input > ELAN_INPUTS - HGROUP_INPUTS)
		return EINVAL;
	if (!cq_is_own(o->at, ELAN_HGROUP_BYTES))
		return EFAULT;
	elan_store_bytes(o->at, none, sizeof(none));
	code = open_queues(g, o->queue);
	if (!code)
		code = open_inputs(g);
	if (!code)
		code = start_thread(g);
	if (code)
		shut(g);
	return code;
}

/* The thread ends, when all its rounds are over. */
static int end_thread(struct elan_hgroup *g)
{
	const struct hgroup_record none = { 0 };
	int code = hgroup_begin(g, 0);

	if (!code)
		code = hgroup_tell(g, HGROUP_END, &none);
	return code ? code : hgroup_await(g, HGROUP_DONE);
}

int elan_hgroup_close(struct elan_hgroup *g)
{
	int code = cq_may_use(&g->queue);

	if (!code)
		code = g->failed ? EBUSY : end_thread(g);
	if (!code)
		code = close_inputs(g);
	if (!code)
		code = shut(g);
	if (!code)
		code = elan_thread_load(g->code, NULL);
	return code;
}
