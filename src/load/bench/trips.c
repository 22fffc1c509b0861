/* Where the time of messages went, from call to end (meas/trips.h). */
#include "api/msg/msg.h"
#include "load/bench/bench.h"
#include "load/trips.h"

void bench_report_trips(const struct bench *b, struct load_result *r,
	struct msg_trip *(*trip_of)(const struct bench_end *x))
{
	const struct sim *sim = b->programs.load.net->sim;
	struct trip_sums all = { 0 };

	for (uint32_t i = 0; i < b->needs.n_programs; i++)
		if (sim_has(sim, b->ends[i].node))
			trips_add(&all, &trip_of(&b->ends[i])->sums);
	trips_gather(&all, sim);
	load_trips(&all, r);
}

void bench_warm_trips(struct msg_trip *t)
{
	t->sums = (struct trip_sums){ 0 };
}
