/* Exposed communication of schedules in run files. */
#ifndef RECORD_EXPOSED_H
#define RECORD_EXPOSED_H

#include "machine/run.h"
#include "record/db.h"

/* Of the workload, or of each of its jobs, as their facts have it. */
void record_exposed_write(
	const struct machine_run *r, struct db *d, struct err *e);

#endif
