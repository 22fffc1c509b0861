/*
 * A core's write buffer, in which its stores are combined.  As a rule it drains
 * when it is full, or at the end of a call, in one burst.  An interrupt or a
 * miss of the instruction cache drains it early, in parts and in any order
 * (QSN-F18); the card puts the words together (QSN-F19).  How often that
 * happens is a parameter; which buffers it happens to is a function of the
 * seed, the node, the queue and the buffer's place in it.
 */
#include "api/elan/queue.h"

#include "host/program.h"
#include "sim/random.h"

static struct random_bits draw(const struct elan_cq *q, uint64_t position)
{
	return random_draw(cq_card()->net->seed, program_node(), RANDOM_DRAIN,
		(uint64_t)q->id << 48 | position / 8);
}

/* Whether the buffer whose words begin at a position is disturbed. */
static bool is_relaxed(const struct random_bits *r)
{
	return (int64_t)random_below(r->a, 100) < cq_host()->relaxed;
}

bool cq_is_early(const struct elan_cq *q)
{
	uint32_t most = (uint32_t)cq_host()->pio_burst / 8;
	uint32_t in = q->n % most; /* words of the last buffer; 0: full */
	struct random_bits r;

	if (!in)
		return false;
	r = draw(q, q->stored + 8 * (uint64_t)(q->n - in));
	return is_relaxed(&r) && in == 1 + random_below(r.b, most - 1);
}

static void hand_over(struct nic *nic, struct elan_cq *q, const uint64_t *word,
	uint32_t first, uint32_t n)
{
	uint32_t offset = (uint32_t)((q->stored + 8 * first) % ELAN_PAGE);

	q->free_at = elan_store(nic, program_worker(), program_node(),
		q->free_at, q->id, offset, word + first, n);
}

/* Words [first, last), of which those with a bit begin a part. */
static void in_parts(struct nic *nic, struct elan_cq *q, const uint64_t *word,
	uint32_t first, uint32_t last, uint64_t begins)
{
	uint32_t n;

	for (; first < last; first += n) {
		n = 1;
		while (first + n < last && !(begins >> (first + n) & 1))
			n++;
		hand_over(nic, q, word, first, n);
	}
}

void cq_drain(
	struct nic *nic, struct elan_cq *q, const uint64_t *word, uint32_t n)
{
	struct random_bits r = { 0, 0 };

	if (q->is_relaxed)
		r = draw(q, q->stored);
	if (n > 1 && q->is_relaxed && is_relaxed(&r)) {
		/* the words from this one on leave first */
		uint32_t from = 1 + (uint32_t)random_below(r.b << 32, n - 1);

		in_parts(nic, q, word, from, n, r.a);
		in_parts(nic, q, word, 0, from, r.a);
	} else {
		hand_over(nic, q, word, 0, n);
	}
	q->stored += 8 * n;
}
