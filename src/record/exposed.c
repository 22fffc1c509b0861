#include "record/exposed.h"

#include "base/mem.h"
#include "load/jobs.h"
#include "load/replay/exposed.h"
#include "record/tables.h"

/* Messages have neither members nor a length. */
static void put_row(struct db *d, const char *job, const struct exposed_row *r,
	struct err *e)
{
	bool is_coll = *r->algorithm;

	row_put_exposed(d,
		&(struct row_exposed){ .job = job,
			.operation = r->operation,
			.algorithm = is_coll ? r->algorithm : NULL,
			.members = is_coll ? (int64_t)r->members : ROW_NULL,
			.bytes = is_coll ? (int64_t)r->bytes : ROW_NULL,
			.mean_ps = r->mean,
			.max_ps = r->most },
		e);
}

static void put_rows(
	struct db *d, const char *job, const struct load *l, struct err *e)
{
	struct exposed_rows x = exposed_rows(l);

	for (uint32_t i = 0; i < x.n; i++)
		put_row(d, job, &x.row[i], e);
	mem_free(x.row);
}

void record_exposed_write(
	const struct machine_run *r, struct db *d, struct err *e)
{
	const struct jobs *j = jobs_of(r->load);

	if (!j)
		put_rows(d, NULL, r->load, e);
	for (uint32_t i = 0; j && i < j->n; i++)
		put_rows(d, j->part[i].name, j->part[i].load, e);
}
