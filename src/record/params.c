#include "record/params.h"

#include <stdio.h>

int record_block_write(
	struct db_query *q, const struct param_block *b, struct err *e)
{
	char path[2 * PARAM_TEXT_MAX], value[PARAM_TEXT_MAX];
	size_t i;

	for (i = 0; i < b->n_rows; i++) {
		const struct param_origin *o =
			b->origins ? &b->origins[i] : NULL;
		const struct param *row = &b->rows[i];
		bool is_set = o && *o->place;

		snprintf(path, sizeof(path), "%s%s%s", b->section,
			*b->section ? "." : "", row->name);
		param_format(b, row, value, sizeof(value));
		db_bind_text(q, 1, path);
		db_bind_text(q, 2, value);
		db_bind_text(q, 3,
			is_set	      ? o->source
			: row->source ? row->source
				      : "choice");
		db_bind_text(q, 4, is_set ? o->place : "default");
		if (db_run(q, e))
			return -1;
	}
	return 0;
}

int record_params_write(
	struct db_query *q, const struct machine *m, struct err *e)
{
	size_t i;

	for (i = 0; i < m->n_blocks; i++)
		if (machine_uses(m, i) &&
			record_block_write(q, &m->block[i], e))
			return -1;
	return 0;
}
