/* The Master's picture at the end of a run. */
#include "facts/facts.h"
#include "parts/lofamo/inside.h"

static double ms(sim_time t)
{
	return (double)t / 1e9;
}

static void add(
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

void lofamo_facts(const void *params, const struct part_place *at, sim_time end,
	struct facts *f)
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
		add(f, at->topo, &p);
	facts_end(f);
	facts_each(f, "health", 0, "health",
		"{part:-14} {state:-8} since {since_ms:.3f} ms, known at "
		"{known_ms:.3f} ms, by {_how}[{by}]");
	if (!i)
		facts_line(f, "health", "all parts are reported as normal");
	lofamo_free(l);
}
