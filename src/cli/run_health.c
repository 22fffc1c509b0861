#include "cli/run.h"

#include "parts/lofamo/lofamo.h"

/* The Master's picture at the end of a run; NULL where there is none. */
static struct lofamo *watch(const struct machine_run *r)
{
	const struct machine *m = r->machine;
	const struct part_place at = machine_place(m, r->setup.seed);
	struct lofamo_setup s;
	struct lofamo *l;

	if (!lofamo_setup(&at, &s) || !m->faults.n_events)
		return NULL;
	l = lofamo_new(&s);
	lofamo_add_plan(l, &m->faults);
	lofamo_run(l, r->result.end);
	return l;
}

static double ms(sim_time t)
{
	return (double)t / 1e9;
}

void run_health_text(FILE *f, const struct machine_run *r)
{
	struct lofamo *l = watch(r);
	struct lofamo_part p;
	char name[64];
	size_t i;

	for (i = 0; l && lofamo_part(l, i, &p); i++) {
		lofamo_name(r->machine->topo, p.kind, p.site, p.unit, name,
			sizeof(name));
		fprintf(f, "%s %-14s %-8s since %.3f ms, known at %.3f ms, ",
			i ? "           " : "health     ", name,
			health_names[p.state], ms(p.since), ms(p.known));
		if (p.by == NO_ROUTER)
			fprintf(f, "by a roll call\n");
		else
			fprintf(f, "by node %u\n", p.by);
	}
	if (l && !i)
		fprintf(f, "health      all parts are taken to be normal\n");
	lofamo_free(l);
}

void run_health_json(struct json *j, const struct machine_run *r)
{
	struct lofamo *l = watch(r);
	struct lofamo_part p;
	char name[64];
	size_t i;

	if (!l)
		return;
	json_array(j, "health");
	for (i = 0; lofamo_part(l, i, &p); i++) {
		lofamo_name(r->machine->topo, p.kind, p.site, p.unit, name,
			sizeof(name));
		json_object(j, NULL);
		json_text(j, "part", name);
		json_text(j, "state", health_names[p.state]);
		json_real(j, "since_ms", ms(p.since));
		json_real(j, "known_ms", ms(p.known));
		if (p.by == NO_ROUTER)
			json_null(j, "by");
		else
			json_count(j, "by", p.by);
		json_end(j, '}');
	}
	json_end(j, ']');
	lofamo_free(l);
}
