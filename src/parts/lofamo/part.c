/* LO|FA|MO as a part of a machine. */
#include "host/host.h"
#include "link/link.h"
#include "parts/lofamo/inside.h"
#include "parts/gpus/gpus.h"
#include "parts/lofamo/history.h"

bool lofamo_setup(const struct part_place *at, struct lofamo_setup *s)
{
	const struct lofamo_params *p = part_params(at->parts, &part_lofamo);

	*s = (struct lofamo_setup){
		.params = p,
		.topo = at->topo,
		.latency = at->topo->wire[0].latency,
		.slot = link_control_slot(at->link),
		.n_gpus = gpus_count(at->parts),
		.seed = at->seed,
	};
	return p && p->is_on;
}

struct lofamo_history *lofamo_of(const struct host *h)
{
	return part_state(host_parts(h), &part_lofamo);
}

static int check(const void *params, const struct part_place *at, struct err *e)
{
	const struct lofamo_params *p = params;

	if (p->is_on && lofamo_check(p, at->topo, e))
		return -1;
	if (p->is_on && !link_control_slot(at->link))
		return err_set(e, "lofamo.on: diagnostics travel in control "
				  "words, but links send none (want "
				  "link.control.words of 1 or more)");
	return lofamo_check_plan(at->plan, gpus_count(at->parts), e);
}

static void *open_history(
	const void *params, const struct part_place *at, struct err *e)
{
	struct lofamo_setup s;

	(void)params;
	(void)e;
	return lofamo_setup(at, &s) ? lofamo_history_new(&s, at->plan) : NULL;
}

static void close_history(void *state)
{
	lofamo_history_free(state);
}

static const struct part_block blocks[] = {
	{ "lofamo", lofamo_params_table, LOFAMO_PARAMS, 0 },
	{ 0 },
};

const struct part_ops part_lofamo = {
	.name = "lofamo",
	.needs = "watchdogs",
	.blocks = blocks,
	.params_size = sizeof(struct lofamo_params),
	.words = lofamo_parts,
	.check = check,
	.open = open_history,
	.close = close_history,
	.facts = lofamo_facts,
};
