/* Parameters with their values, as rows of a table param. */
#ifndef RECORD_PARAMS_H
#define RECORD_PARAMS_H

#include "machine/machine.h"
#include "record/db.h"

/* Of a run, or of a sweep, which names the machine: NULL of a run. */
int record_block_write(struct db *d, const char *machine,
	const struct param_block *b, struct err *e);
/* All that a machine uses. */
int record_params_write(
	struct db *d, const char *name, const struct machine *m, struct err *e);

#endif
