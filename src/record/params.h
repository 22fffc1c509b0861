/* Parameters with their values, as rows of a table param. */
#ifndef RECORD_PARAMS_H
#define RECORD_PARAMS_H

#include "machine/machine.h"
#include "record/db.h"

/* Runs a statement for each: 1 is the path, 2 the value, 3 its source, 4 where
 * it was set. */
int record_block_write(
	struct db_query *q, const struct param_block *b, struct err *e);
/* All that a machine uses. */
int record_params_write(
	struct db_query *q, const struct machine *m, struct err *e);

#endif
