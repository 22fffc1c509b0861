#include "load/bench/drivers/elan_rogue.h"

#include <errno.h>

#include "sim/random.h"

enum {
	ROGUE_QUEUE = 4000,
	DEEDS = 5, /* kinds of misdeeds */
};

void rogue_restart(struct programs *p, struct elan_cq *q)
{
	int code;

	while ((code = elan_queue_restart(
			p->load.nic, program_node(), q->id)) == EBUSY)
		program_wait(program_now() + 5000 * (sim_time)SIM_NS);
	programs_did(p, "elan_queue_restart", code);
	q->stored = 0;
	q->n = 0;
}

static void store(const struct bench_rogue *r, uint64_t at,
	const uint64_t *word, uint32_t n)
{
	elan_store(r->programs->load.nic, program_worker(), program_node(),
		program_now(), ROGUE_QUEUE, (uint32_t)(at % ELAN_PAGE), word,
		n);
}

/* Breaks a rule of a queue of 1 KB that is empty. */
static void misbehave(const struct bench_rogue *r, uint64_t k)
{
	uint64_t word[16] = { 0 }, i;
	struct random_bits x;

	switch (k % DEEDS) {
	case 0: /* more than fits, at once */
		for (i = 0; i < 9; i++)
			store(r, 128 * i, word, 16);
		break;
	case 1: /* no such command */
		word[0] = 0xff;
		store(r, 0, word, 1);
		break;
	case 2: /* too far ahead */
		store(r, 2048, word, 1);
		break;
	case 3: /* to nobody */
		word[0] = elan_word(ELAN_RUN_DMA, 0, 0);
		word[1] = 8;
		word[3] = UINT32_MAX;
		store(r, 0, word, 8);
		break;
	default: /* anything, that cannot be a packet */
		for (i = 0; i < 16; i++) {
			x = random_draw(r->programs->load.seed, r->stream,
				RANDOM_DATA, 16 * k + i);
			word[i] = x.a | 0x80;
		}
		store(r, 0, word, 16);
	}
}

void rogue_run(void *arg)
{
	struct bench_rogue *r = arg;
	struct elan_cq q;
	uint64_t k, tries;

	if (!programs_did(r->programs, "elan_cq_open",
		    elan_cq_open(&q, ROGUE_QUEUE, ELAN_1K, ELAN_MAY_ALL)))
		return;
	program_wait(PROGRAMS_START);
	for (k = 0; k < r->deeds; k++) {
		misbehave(r, k);
		for (tries = 0; tries < 1000; tries++) {
			if (elan_queue_error(r->programs->load.nic,
				    program_node(), ROGUE_QUEUE) != ELAN_FINE)
				break;
			program_wait(program_now() + 1000 * (sim_time)SIM_NS);
		}
		if (tries == 1000) {
			programs_complain(r->programs,
				"violation %llu did not stop its queue",
				(unsigned long long)k);
			return;
		}
		r->done++;
		rogue_restart(r->programs, &q);
	}
}
