/*
 * Latency and rate by size on QsNetII.  What has come is counted by an event,
 * at both ends, which is armed before what causes it and writes the number of
 * the transfer.  A get of more than a packet is many.
 */
#include "api/elan.h"
#include "load/sweep.h"

/* Addresses, the same on both nodes. */
#define EVENT_AT  UINT64_C(0x1000)
#define ANSWER_AT UINT64_C(0x2000)

enum { EVENT = 1 };

static bool open_end(struct sweep *s, uint32_t end, struct elan_cq *q)
{
	return sweep_add_regions(s, end) &&
	       programs_did(&s->programs, "elan_cq_open",
		       elan_cq_open(q, 0, ELAN_64K, ELAN_MAY_ALL));
}

/* --- puts --- */

static void put(const struct sweep *s, struct elan_cq *q, uint64_t bytes)
{
	struct elan_dma d = {
		.bytes = bytes,
		.destination = (uint64_t)s->to,
		.from = SWEEP_SOURCE_AT,
		.to = SWEEP_TARGET_AT,
		.target_event = EVENT,
	};

	if (s->by == SWEEP_DMA)
		elan_dma(q, &d);
	else if (s->by == SWEEP_STEN)
		elan_put_from(q, (uint32_t)s->to, SWEEP_TARGET_AT,
			SWEEP_SOURCE_AT, bytes, EVENT, 0);
	else
		elan_write(q, (uint32_t)s->to, SWEEP_TARGET_AT, SWEEP_SOURCE_AT,
			bytes, EVENT, 0, ELAN_FOR_LATENCY);
}

/* n puts of one size after the other, and the answer. */
static bool put_burst(const struct sweep *s, struct elan_cq *q, uint64_t bytes,
	int64_t n, uint64_t *k, sim_time *took)
{
	sim_time start = program_now();

	elan_arm(q, EVENT, SWEEP_ANSWER, EVENT_AT, ++*k);
	for (; n; n--)
		put(s, q, bytes);
	if (!elan_wait_word(EVENT_AT, *k))
		return false;
	*took += program_now() - start;
	return true;
}

/* What eight bytes take one way, as answers do. */
static bool measure_answer(struct sweep *s, struct elan_cq *q, uint64_t *k)
{
	sim_time start = program_now();
	int64_t i;

	for (i = 0; i < s->rounds; i++) {
		elan_arm(q, EVENT, SWEEP_ANSWER, EVENT_AT, ++*k);
		elan_put_from(q, (uint32_t)s->to, SWEEP_TARGET_AT,
			SWEEP_SOURCE_AT, SWEEP_ANSWER, EVENT, 0);
		if (!elan_wait_word(EVENT_AT, *k))
			return false;
	}
	s->answer = (program_now() - start) / (2 * s->rounds);
	return true;
}

void sweep_elan_put(void *arg)
{
	struct sweep *s = arg;
	struct elan_cq q;
	uint64_t number = 0;
	uint32_t i;
	int64_t k;

	if (!open_end(s, 0, &q))
		return;
	program_wait(PROGRAMS_START);
	if (!measure_answer(s, &q, &number))
		return;
	for (i = 0; i < s->n_sizes; i++) {
		struct sweep_size *z = &s->size[i];

		for (k = 0; k < s->rounds; k++)
			if (!put_burst(s, &q, z->bytes, 1, &number, &z->one))
				return;
		if (!put_burst(s, &q, z->bytes, s->burst, &number, &z->many))
			return;
		z->one = z->one / s->rounds - s->answer;
		z->many -= s->answer;
	}
}

void sweep_elan_answer(void *arg)
{
	struct sweep *s = arg;
	struct elan_cq q;
	uint64_t bytes, sum = 0, k;

	if (!open_end(s, 1, &q))
		return;
	elan_arm(&q, EVENT, sweep_expected(s, 0), EVENT_AT, 1);
	for (k = 1; (bytes = sweep_expected(s, k - 1)); k++) {
		uint64_t next = sweep_expected(s, k);

		if (!elan_wait_word(EVENT_AT, k))
			return;
		sum += bytes;
		if (next)
			elan_arm(&q, EVENT, next, EVENT_AT, k + 1);
		elan_put(&q, (uint32_t)s->from, ANSWER_AT, &k, SWEEP_ANSWER,
			EVENT, 0);
		if (!sweep_check(s, 1, sum))
			return;
	}
}

/* --- gets --- */

static bool get_burst(const struct sweep *s, struct elan_cq *q, uint64_t bytes,
	int64_t n, uint64_t *k, sim_time *took)
{
	sim_time start = program_now();
	uint64_t at;

	elan_arm(q, EVENT, (uint64_t)n * bytes, EVENT_AT, ++*k);
	for (; n; n--)
		for (at = 0; at < bytes; at += ELAN_PACKET) {
			uint64_t left = bytes - at;

			elan_get(q, (uint32_t)s->to, SWEEP_SOURCE_AT + at,
				SWEEP_TARGET_AT + at,
				left < ELAN_PACKET ? (uint32_t)left
						   : ELAN_PACKET,
				EVENT);
		}
	if (!elan_wait_word(EVENT_AT, *k))
		return false;
	*took += program_now() - start;
	return true;
}

void sweep_elan_get(void *arg)
{
	struct sweep *s = arg;
	struct elan_cq q;
	uint64_t number = 0, sum = 0;
	uint32_t i;
	int64_t k;

	if (!open_end(s, 0, &q))
		return;
	program_wait(PROGRAMS_START);
	for (i = 0; i < s->n_sizes; i++) {
		struct sweep_size *z = &s->size[i];

		for (k = 0; k < s->rounds; k++)
			if (!get_burst(s, &q, z->bytes, 1, &number, &z->one))
				return;
		if (!get_burst(s, &q, z->bytes, s->burst, &number, &z->many))
			return;
		z->one /= s->rounds;
		sum += z->bytes * (uint64_t)(s->rounds + s->burst);
		if (!sweep_check(s, 0, sum))
			return;
	}
}

/* The other end's card answers by itself; it needs the job's memory. */
void sweep_elan_give(void *arg)
{
	struct elan_cq q;

	open_end(arg, 1, &q);
}
