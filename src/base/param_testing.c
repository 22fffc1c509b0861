#include "base/param_testing.h"

void param_table_defaults(const struct param *rows, void *values)
{
	const struct param_block b = {
		.section = "",
		.rows = rows,
		.n_rows = param_count(rows),
		.values = values,
	};

	param_defaults(&b);
}
