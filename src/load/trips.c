#include "load/trips.h"

#include <stdio.h>

static sim_time part(const struct trip_sums *s, uint32_t border)
{
	return s->at[border] - s->at[border - 1];
}

static sim_time whole(const struct trip_sums *s)
{
	return s->at[TRIP_ENDED] - s->at[TRIP_CALLED];
}

static double each_ns(const struct trip_sums *s, sim_time t)
{
	return (double)t / SIM_NS / (double)s->n;
}

void load_trips(const struct trip_sums *s, struct load_result *r)
{
	if (!s->n)
		return;
	for (uint32_t b = 1; b < TRIP_BORDERS; b++)
		load_figure(r, trip_parts[b].figure, each_ns(s, part(s, b)));
	load_figure(r, "trip_ns", each_ns(s, whole(s)));
}

void load_trip_facts(const struct trip_sums *s, struct facts *f)
{
	char form[160];

	if (!s->n)
		return;
	facts_group(f, "trips");
	facts_count(f, "messages", s->n);
	facts_int(f, "ps", whole(s));
	facts_int(f, "longest_ps", s->longest);
	facts_real(f, "_each_ns", each_ns(s, whole(s)));
	facts_real(f, "_longest_ns", (double)s->longest / SIM_NS);
	facts_line(f, "trips",
		"average of {messages} message{messages|s} from call to end; "
		"longest {_longest_ns:u}");
	for (uint32_t b = 1; b < TRIP_BORDERS; b++) {
		facts_group(f, trip_parts[b].key);
		facts_int(f, "ps", part(s, b));
		facts_real(f, "_ns", each_ns(s, part(s, b)));
		facts_real(f, "_pct",
			whole(s) ? 100 * (double)part(s, b) / (double)whole(s)
				 : 0);
		snprintf(form, sizeof(form),
			"  %-17s {_ns:11.3f} ns  {_pct:5.1f} %%",
			trip_parts[b].name);
		if (part(s, b))
			facts_line(f, NULL, form);
		facts_end(f);
	}
	facts_line(f, NULL, "  sum               {_each_ns:11.3f} ns");
	facts_end(f);
}
