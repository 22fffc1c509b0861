/* Where the time of messages went, from call to end (api/msg/trip.h). */
#include "api/msg/trip.h"
#include "load/bench/bench.h"

/* The parts end at the borders behind the first. */
static const char *const name[TRIP_BORDERS] = {
	[TRIP_READY] = "trip_library_ns",
	[TRIP_SLOTS] = "trip_slots_ns",
	[TRIP_TAKEN] = "trip_legs_ns",
	[TRIP_POSTED] = "trip_unposted_ns",
	[TRIP_MATCHED] = "trip_matching_ns",
	[TRIP_HERE] = "trip_data_ns",
	[TRIP_ENDED] = "trip_end_ns",
};

void bench_report_trips(const struct bench *b, struct load_result *r,
	struct msg_trip *(*trip_of)(const struct bench_end *x))
{
	struct msg_trip all = { 0 };

	for (uint32_t i = 0; i < b->needs.n_programs; i++) {
		const struct msg_trip *t = trip_of(&b->ends[i]);

		all.n_sent += t->n_sent;
		all.n_ended += t->n_ended;
		for (uint32_t k = 0; k < TRIP_BORDERS; k++)
			all.sum[k] += t->sum[k];
	}
	/* of machines that match themselves none is known */
	if (!all.n_sent || all.n_sent != all.n_ended)
		return;
	for (uint32_t k = 1; k < TRIP_BORDERS; k++)
		load_figure(r, name[k],
			(double)(all.sum[k] - all.sum[k - 1]) / SIM_NS /
				(double)all.n_sent);
	load_figure(r, "trip_ns",
		(double)(all.sum[TRIP_ENDED] - all.sum[TRIP_CALLED]) / SIM_NS /
			(double)all.n_sent);
}

void bench_warm_trips(struct msg_trip *t)
{
	*t = (struct msg_trip){
		.is_on = t->is_on, .called = t->called, .ready = t->ready
	};
}
