/* LO|FA|MO as a part of a machine. */
#include "facts/facts.h"
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

static void plan(
	const void *params, const struct part_place *at, struct fault_plan *x)
{
	const struct lofamo_params *p = params;

	lofamo_set_plan(x, p->is_on, gpus_count(at->parts));
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

/* --- the Master's picture at the end of a run --- */

static double ms(sim_time t)
{
	return (double)t / 1e9;
}

static void add_part(
	struct facts *f, const struct topo *t, const struct lofamo_part *p)
{
	char name[64];

	lofamo_name(t, p->kind, p->site, p->unit, name, sizeof(name));
	facts_group(f, NULL);
	facts_text(f, "part", name);
	facts_text(f, "state", health_names[p->state]);
	facts_real(f, "since_ms", ms(p->since));
	facts_real(f, "known_ms", ms(p->known));
	if (p->by == NO_ROUTER)
		facts_null(f, "by");
	else
		facts_count(f, "by", p->by);
	facts_text(f, "_how", p->by == NO_ROUTER ? "a roll call" : "node ");
	facts_end(f);
}

static void add_facts(const void *params, const struct part_place *at,
	sim_time end, struct facts *f)
{
	struct lofamo_setup s;
	struct lofamo_part p;
	struct lofamo *l;
	size_t i;

	(void)params;
	if (!lofamo_setup(at, &s) || !at->plan->n_events)
		return;
	l = lofamo_new(&s);
	lofamo_add_plan(l, at->plan);
	lofamo_run(l, end);
	facts_list(f, "health");
	for (i = 0; lofamo_part(l, i, &p); i++)
		add_part(f, at->topo, &p);
	facts_end(f);
	facts_each(f, "health", 0, "health",
		"{part:-14} {state:-8} since {since_ms:.3f} ms, known at "
		"{known_ms:.3f} ms, by {_how}[{by}]");
	if (!i)
		facts_line(f, "health", "all parts are reported as normal");
	lofamo_free(l);
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
	.plan = plan,
	.check = check,
	.open = open_history,
	.close = close_history,
	.facts = add_facts,
};
