/* What processes of nodes did: calls, and messages from one to another. */
#ifndef RECORD_CALLS_H
#define RECORD_CALLS_H

#include "host/log.h"
#include "machine/run.h"
#include "record/db.h"

void record_calls_write(
	const struct machine_run *r, struct db *d, struct err *e);

#endif
