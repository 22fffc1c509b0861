#include "record/exposed.h"

#include <math.h>

#include "facts/facts.h"
#include "load/jobs.h"
#include "record/tables.h"

/* Messages have neither members nor a length. */
static int64_t number(const struct fact *row, const char *key, int64_t times)
{
	const struct fact *x = facts_find(row, key);
	double value;

	return x && fact_number(x, &value) ? llround(value * (double)times)
					   : ROW_NULL;
}

static void put_rows(
	struct db *d, const char *job, const struct load *l, struct err *e)
{
	const struct fact *list, *x;
	struct facts f;

	facts_init(&f);
	if (l->ops->facts)
		l->ops->facts(l, &f);
	list = facts_find(&f.root, "exposed");
	for (x = list ? list->first : NULL; x; x = x->next) {
		const struct fact *algo = facts_find(x, "algorithm");

		row_put_exposed(d,
			&(struct row_exposed){ .job = job,
				.operation = fact_text(x, "operation"),
				.algorithm = algo ? algo->is.text : NULL,
				.members = number(x, "members", 1),
				.bytes = number(x, "bytes", 1),
				.mean_ps = number(x, "mean_ns", SIM_NS),
				.max_ps = number(x, "max_ns", SIM_NS) },
			e);
	}
	facts_fini(&f);
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
