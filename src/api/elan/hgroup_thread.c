/*
 * The thread of a group on the card: see hgroup.h.  It waits for a record, and
 * then for the messages of that round.
 *
 * Time.  A record or message takes HGROUP_CYCLES, its words a cycle each to be
 * combined, and what loading and sending them takes.
 */
#include <errno.h>
#include <string.h>

#include "api/elan/hgroup.h"

enum { HELD = HGROUP_UP_SLOTS + HGROUP_DOWN_SLOTS };

/* A message that is ahead, in its slot. */
struct held {
	uint32_t queue, slot;
	uint64_t round;
};

struct worker {
	uint32_t input, rank, ranks;
	uint64_t page, at;
	uint64_t round;
	struct held held[HELD];
	uint32_t n_held;
	uint32_t code; /* an error of the round */
	bool is_broken; /* its memory cannot be read */
};

/* --- messages --- */

static void hold(struct worker *x, const struct elan_message *m)
{
	bool is_early = m->tag > x->round && x->n_held < HELD;

	if (is_early)
		x->held[x->n_held++] =
			(struct held){ m->queue, m->slot, m->tag };
	else
		elan_thread_free(m->queue, m->slot); /* nobody's */
}

static bool find_held(struct worker *x, uint32_t queue, struct elan_message *m)
{
	for (uint32_t i = 0; i < x->n_held; i++) {
		struct held h = x->held[i];

		if (h.queue != queue || h.round != x->round)
			continue;
		x->held[i] = x->held[--x->n_held];
		return !elan_thread_look(h.queue, h.slot, m);
	}
	return false;
}

/* The next message of the round in a queue; false: there will be none. */
static bool take(struct worker *x, uint32_t queue, struct elan_message *m)
{
	queue += x->input;
	if (find_held(x, queue, m))
		return true;
	while (!x->is_broken) {
		x->is_broken = elan_thread_wait_queue(queue, 1, m);
		if (!x->is_broken && m->tag == x->round)
			return true;
		if (!x->is_broken)
			hold(x, m);
	}
	return false;
}

/* All of a round are equally long. */
static uint32_t length(struct worker *x, const struct elan_message *m,
	const struct hgroup_record *r)
{
	if (m->bytes != r->bytes)
		x->code = EMSGSIZE;
	return m->bytes < r->bytes ? m->bytes : r->bytes;
}

static void tell(const struct worker *x)
{
	elan_thread_write(x->at + HGROUP_DONE, x->round << 8 | x->code);
}

/* --- broadcasts --- */

static void take_broadcast(struct worker *x, const struct hgroup_record *r)
{
	struct elan_message m;
	uint32_t n, skip = r->skip;

	if (!take(x, HGROUP_DOWN, &m))
		return;
	elan_thread_work(HGROUP_CYCLES);
	n = length(x, &m, r);
	n = n > skip ? n - skip : 0;
	n = n < r->part ? n : r->part;
	if (n && !(r->flags & HGROUP_IS_ROOT))
		elan_thread_copy(r->to, m.at + skip, n);
	if (r->flags & HGROUP_IS_AWAITED)
		tell(x);
	elan_thread_free(m.queue, m.slot);
}

/* --- reductions --- */

static uint64_t combine(enum elan_reduction op, uint64_t a, uint64_t b)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case ELAN_SUM:
		return a + b;
	case ELAN_MIN:
		return x < y ? a : b;
	case ELAN_MAX:
		return x > y ? a : b;
	case ELAN_MIN_UNSIGNED:
		return a < b ? a : b;
	case ELAN_MAX_UNSIGNED:
		return a > b ? a : b;
	case ELAN_AND:
		return a & b;
	case ELAN_OR:
		return a | b;
	case ELAN_XOR:
	case ELAN_REDUCTIONS:
		break;
	}
	return a ^ b;
}

/* The process's own contribution, from its record or from its memory. */
static void load_own(
	struct worker *x, const struct hgroup_record *r, uint64_t *word)
{
	struct elan_fetch f[ELAN_BLOCKS];
	uint32_t n = 0, at;

	if (r->flags & HGROUP_IS_HERE || !r->bytes) {
		memcpy(word, r->word, sizeof(r->word));
		return;
	}
	for (at = 0; at < r->bytes; at += f[n++].bytes)
		f[n] = (struct elan_fetch){
			.at = r->word[0] + at,
			.to = word + at / 8,
			.bytes = r->bytes - at < ELAN_BLOCK ? r->bytes - at
							    : ELAN_BLOCK,
		};
	if (elan_thread_fetch(f, n))
		x->code = EFAULT;
}

static void add_child(
	struct worker *x, const struct hgroup_record *r, uint64_t *word)
{
	uint64_t other[HGROUP_WORDS];
	struct elan_message m;
	uint32_t n;

	if (!take(x, HGROUP_UP, &m))
		return;
	n = length(x, &m, r) / 8;
	if (n && elan_thread_read_block(m.at, other, 8 * (uint64_t)n, 1))
		x->is_broken = true;
	elan_thread_work(HGROUP_CYCLES + n);
	for (uint32_t i = 0; i < n && !x->is_broken; i++)
		word[i] =
			combine((enum elan_reduction)r->op, word[i], other[i]);
	elan_thread_free(m.queue, m.slot);
}

/* To the parent, or to all. */
static void send(struct worker *x, const struct hgroup_record *r,
	const uint64_t *word, uint32_t parent, bool is_for_all)
{
	uint32_t queue = x->input + (is_for_all ? HGROUP_DOWN : HGROUP_UP);
	uint64_t words[4 + HGROUP_WORDS];
	uint32_t n = 0;

	words[n++] = elan_word(is_for_all ? ELAN_OPEN_RANGE : ELAN_OPEN,
		is_for_all ? 0 : parent, 0);
	if (is_for_all)
		words[n++] = x->ranks - 1;
	words[n++] = elan_word(ELAN_ENQUEUE, r->bytes,
			     queue | (x->round & UINT16_MAX) << 16) |
		     ELAN_IS_LAST;
	words[n++] = x->round;
	memcpy(words + n, word, r->bytes);
	elan_thread_append(x->page, words, n + r->bytes / 8);
}

static void end_at_root(
	struct worker *x, const struct hgroup_record *r, const uint64_t *word)
{
	if (r->bytes)
		elan_thread_write_block(r->to, word, r->bytes);
	tell(x);
}

static void reduce(struct worker *x, const struct hgroup_record *r)
{
	uint32_t place = (x->rank + x->ranks - r->root) % x->ranks;
	uint32_t parent = (place ? (place - 1) / HGROUP_FAN : 0) + r->root;
	bool is_for_all = r->flags & HGROUP_IS_FOR_ALL;
	uint64_t word[HGROUP_WORDS];

	load_own(x, r, word);
	if (!is_for_all && place && r->flags & HGROUP_IS_AWAITED)
		tell(x); /* it may change */
	for (uint64_t i = 1; i <= HGROUP_FAN; i++)
		if ((uint64_t)place * HGROUP_FAN + i < x->ranks)
			add_child(x, r, word);
	if (place || is_for_all)
		send(x, r, word, parent % x->ranks, !place);
	else
		end_at_root(x, r, word);
	if (is_for_all)
		take_broadcast(x, r);
}

/* --- gathering --- */

static void gather(struct worker *x, const struct hgroup_record *r)
{
	struct elan_message m;
	uint32_t n;

	for (uint32_t i = 1; i < x->ranks && take(x, HGROUP_UP, &m); i++) {
		elan_thread_work(HGROUP_CYCLES);
		n = length(x, &m, r);
		if (n)
			elan_thread_copy(
				r->to + m.source * (uint64_t)r->part, m.at, n);
		elan_thread_free(m.queue, m.slot);
	}
	tell(x);
}

/* --- records --- */

/* False: it was the last. */
static bool execute(struct worker *x, const struct elan_message *m)
{
	struct hgroup_record r;

	x->is_broken = elan_thread_read(m->at, &r, sizeof(r));
	if (x->is_broken)
		return true;
	elan_thread_free(m->queue, m->slot);
	x->round = m->tag;
	x->code = 0;
	elan_thread_work(HGROUP_CYCLES);
	if (m->kind == HGROUP_BROADCAST)
		take_broadcast(x, &r);
	else if (m->kind == HGROUP_REDUCE)
		reduce(x, &r);
	else if (m->kind == HGROUP_GATHER)
		gather(x, &r);
	else
		tell(x);
	return m->kind != HGROUP_END;
}

void hgroup_thread(const uint64_t reg[ELAN_REGISTERS])
{
	struct worker x = {
		.input = (uint32_t)reg[HGROUP_REG_INPUT],
		.page = reg[HGROUP_REG_PAGE],
		.at = reg[HGROUP_REG_AT],
		.rank = (uint32_t)reg[HGROUP_REG_RANKS],
		.ranks = (uint32_t)(reg[HGROUP_REG_RANKS] >> 32),
	};
	struct elan_message m;

	while (!x.is_broken &&
		!elan_thread_wait_queue(x.input + HGROUP_RECORDS, 1, &m)) {
		if (m.source != x.rank) /* another's: it has no rights here */
			elan_thread_free(m.queue, m.slot);
		else if (!execute(&x, &m))
			return;
	}
	x.code = EIO;
	tell(&x);
}
