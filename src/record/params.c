#include "record/params.h"

#include <stdio.h>

void record_block_write(struct bulk *rows, const char *machine,
	const struct param_block *b, struct err *e)
{
	char path[2 * PARAM_TEXT_MAX], value[PARAM_TEXT_MAX];

	for (size_t i = 0; i < b->n_rows; i++) {
		const struct param_origin *o =
			b->origins ? &b->origins[i] : NULL;
		const struct param *row = &b->rows[i];
		const char *source = row->source ? row->source : "choice";
		bool is_set = o && *o->place;
		/* a run's begins as it does */
		struct row_swept_param p = {
			.path = path,
			.value = value,
			.source = is_set ? o->source : source,
			.place = is_set ? o->place : "default",
			.machine = machine,
		};

		snprintf(path, sizeof(path), "%s%s%s", b->section,
			*b->section ? "." : "", row->name);
		param_format(b, row, value, sizeof(value));
		bulk_put(rows, &p, e);
	}
}

void record_params_write(struct bulk *rows, const char *name,
	const struct machine *m, struct err *e)
{
	for (size_t i = 0; i < m->n_blocks; i++)
		if (machine_uses(m, i))
			record_block_write(rows, name, &m->block[i], e);
}
