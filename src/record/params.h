/* Parameters with their values, as rows of a table param. */
#ifndef RECORD_PARAMS_H
#define RECORD_PARAMS_H

#include "machine/machine.h"
#include "record/bulk.h"

/* Of a run, or of a sweep, which names the machine: NULL of a run. */
void record_block_write(struct bulk *rows, const char *machine,
	const struct param_block *b, struct err *e);
/* All that a machine uses. */
void record_params_write(struct bulk *rows, const char *name,
	const struct machine *m, struct err *e);

#endif
