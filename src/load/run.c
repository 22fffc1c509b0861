#include "load/load.h"

#include <string.h>

#include "base/mem.h"

enum { SLICES_PER_STALL = 2 };

uint64_t load_digest(const struct load *l)
{
	uint64_t d = 0;
	site_id i;

	for (i = 0; i < l->net->n_sites; i++)
		d = digest_mix(d + l->digest[i] + i);
	return d;
}

void load_figure(struct load_result *r, const char *name, double value)
{
	BUG_IF(r->n_figures == LOAD_MAX_FIGURES);
	r->figure[r->n_figures++] =
		(struct load_figure){ .name = name, .value = value };
}

/* Whether something waits that will never move. */
static bool is_stuck(struct load *l, struct load_result *r, bool idle)
{
	sim_time now = sim_now(l->net->sim);

	if (!idle && net_longest_wait(l->net, now) < l->net->params.stall)
		return false;
	return net_knot(l->net, now, r->knot, sizeof(r->knot)) != 0;
}

static enum load_ending run_slices(struct load *l, struct load_result *r)
{
	sim_time slice = l->net->params.stall / SLICES_PER_STALL, check = slice;

	for (;;) {
		sim_time until = l->ops->next(l);
		enum sim_ending e;

		if (until == SIM_NEVER)
			return LOAD_FINISHED;
		e = sim_run(l->net->sim, until);
		if (e == SIM_STOPPED)
			return LOAD_STOPPED;
		if (e == SIM_REACHED && sim_now(l->net->sim) < check)
			continue;
		check = sim_now(l->net->sim) + slice;
		if (is_stuck(l, r, e == SIM_IDLE))
			return LOAD_DEADLOCKED;
		if (e == SIM_IDLE && l->ops->next(l) != SIM_NEVER)
			BUG("nothing is left to do, and the workload waits");
	}
}

int load_run(struct load *l, struct load_result *r, struct err *e)
{
	memset(r, 0, sizeof(*r));
	r->via = "net";
	l->digest = mem_alloc(l->net->n_sites, sizeof(*l->digest));
	l->ops->start(l);
	r->ending = run_slices(l, r);
	r->end = sim_now(l->net->sim);
	if (net_audit(l->net, e))
		return -1;
	l->ops->report(l, r);
	return 0;
}
