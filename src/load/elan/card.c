/*
 * A thread on an Elan4 reads a part of the card's memory by one or both read
 * ports of the cache.  Rounds that are not counted go first: they find the
 * cache cold.
 */
#include "api/elan/elan.h"
#include "load/keys.h"
#include "load/programs.h"
#include "load/registry.h"

#define AT(field) offsetof(struct card, field)
#define FLAG_AT	  UINT64_C(0x1000)
#define MEMORY	  (UINT64_C(1) << 20)
#define OTHERS	  (INT64_C(3) << 20) /* of card memory: queues, events */

struct card {
	struct programs programs;
	/* keys */
	int64_t node, bytes, ports, rounds, warm;

	uint64_t at;
	sim_time start, end;
	int code; /* of the thread's calls */
};

static const struct param params[] = {
	KEY_NODE("node", AT(node), "0", "node whose card is used"),
	KEY_BYTES("bytes", AT(bytes), "1 MiB", 1, 1 << 30,
		"number of bytes that are read in a round"),
	KEY_COUNT("ports", AT(ports), "1", 1, 2,
		"number of read ports of the cache"),
	KEY_COUNT("rounds", AT(rounds), "1", 1, 1000000,
		"number of rounds, of the same bytes"),
	KEY_WARM(AT(warm)),
};

static struct card *of(struct load *l)
{
	return (struct card *)l;
}

/* --- the programs --- */

static void read_all(const uint64_t reg[ELAN_REGISTERS])
{
	struct card *g = (struct card *)(uintptr_t)reg[0];

	for (int64_t i = 0; i < g->warm + g->rounds && !g->code; i++) {
		if (i == g->warm)
			g->start = program_now();
		g->code = elan_thread_read_block(
			g->at, NULL, (uint64_t)g->bytes, (uint32_t)g->ports);
	}
	g->end = program_now();
	elan_thread_write(FLAG_AT, 1);
}

static void run(void *arg)
{
	struct card *g = arg;
	struct programs *p = &g->programs;
	const uint64_t reg[ELAN_REGISTERS] = { (uintptr_t)g };
	struct elan_cq q;

	if (!programs_did(p, "elan_cq_open",
		    elan_cq_open(&q, 0, ELAN_1K, ELAN_MAY_ALL)) ||
		!programs_did(p, "elan_card_alloc",
			elan_card_alloc((uint64_t)g->bytes, &g->at)) ||
		!programs_did(
			p, "elan_thread_load", elan_thread_load(0, read_all)) ||
		!programs_did(
			p, "elan_thread_start", elan_thread_start(&q, 0, reg)))
		return;
	if (!elan_wait_event(&q, FLAG_AT, 1))
		programs_note_stop(p);
	else
		programs_did(p, "elan_thread_read_block", g->code);
}

/* --- the course of a run --- */

static int card_init(struct load *l, struct err *e)
{
	const struct elan_params *p;
	struct card *g = of(l);

	l->needs.n_programs = 1;
	if (programs_need(&g->programs, "elan4", MEMORY, e))
		return -1;
	p = l->nic_params;
	if (g->bytes > p->memory.size - OTHERS)
		return err_set(e,
			"bytes: more than the %lld that nic.memory.size leaves",
			(long long)(p->memory.size - OTHERS));
	return load_check_node(l, "node", g->node, e);
}

static void card_start_load(struct load *l)
{
	struct card *g = of(l);

	programs_open(&g->programs);
	program_start(g->programs.load.host, (site_id)g->node, 0, 0, run, g);
}

static void card_report(struct load *l, struct load_result *r)
{
	struct card *g = of(l);
	const struct sim *sim = l->net->sim;
	double took;

	sim_tell(sim, (site_id)g->node, &g->start, sizeof(g->start));
	sim_tell(sim, (site_id)g->node, &g->end, sizeof(g->end));
	sim_tell(sim, (site_id)g->node, &g->code, sizeof(g->code));
	took = (double)(g->end - g->start);
	programs_report(&g->programs, r);
	if (r->ending != LOAD_FINISHED || took <= 0 || g->code)
		return;
	load_figure(r, "rate_MBps",
		(double)g->bytes * (double)g->rounds * 1e6 / took);
}

const struct load_ops load_card = {
	.name = "card",
	.help = "a thread that reads the card's memory, on QsNetII",
	.size = sizeof(struct card),
	PARAMS(params),
	.init = card_init,
	.start = card_start_load,
	.report = card_report,
	.check = programs_check,
	.fini = programs_fini,
	.on_delivered = programs_delivered,
	.next = programs_next,
};
