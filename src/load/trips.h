/* Where the time of messages went, from call to end (meas/trips.h). */
#ifndef LOAD_TRIPS_H
#define LOAD_TRIPS_H

#include "facts/facts.h"
#include "load/load.h"
#include "meas/trips.h"

/* The parts of a message on average, as figures; none if there is none. */
void load_trips(const struct trip_sums *s, struct load_result *r);
/* Their sums, exact, as facts. */
void load_trip_facts(const struct trip_sums *s, struct facts *f);

#endif
