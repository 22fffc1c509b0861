/* A sweep's points: means over seeds, with their confidence. */
#include <string.h>

#include "record/axes.h"
#include "record/curves.h"
#include "report/report.h"

static const char query[] =
	"SELECT p.curve, p.x, p.grp, v.name, count(*), avg(v.value),"
	" sum(v.value * v.value), max(p.ending), max(p.ending = ?)"
	" FROM point p"
	" JOIN value v ON v.point = p.id GROUP BY p.grp, v.name"
	" ORDER BY min(p.id), min(v.rowid)";

/* As a number, where it is one; of a load, its unit is for each node. */
static void write_x(const char *x, struct json *j)
{
	double number;
	enum axis_unit unit = axes_number(x, &number);

	json_text(j, "x", x);
	if (unit == AXIS_WORD)
		json_null(j, "number");
	else
		json_real(j, "number", number);
	json_text(j, "unit", axes_unit_name(unit));
}

static void write_point(struct db_query *q, struct json *j)
{
	struct curves_value v = curves_spread(
		(uint64_t)db_int(q, 4), db_real(q, 5), db_real(q, 6));

	json_object(j, NULL);
	json_text(j, "curve", db_text(q, 0));
	write_x(db_text(q, 1), j);
	json_text(j, "group", db_text(q, 2));
	json_text(j, "figure", db_text(q, 3));
	json_count(j, "n", v.n);
	json_real(j, "mean", v.mean);
	json_real(j, "half", v.half);
	json_flag(j, "finished", db_int(q, 7) == LOAD_FINISHED);
	json_flag(j, "saturated", db_int(q, 8));
	json_end(j, '}');
}

int report_sweep(struct db *d, struct json *j, struct err *e)
{
	struct db_query *q =
		db_prepare(d, "SELECT value FROM meta WHERE key = 'what'", e);
	int more = -1;

	if (!q)
		return -1;
	json_text(j, "what", db_next(q, e) > 0 ? db_text(q, 0) : "");
	db_finish(q);
	q = db_prepare(d, query, e);
	if (q)
		db_bind_int(q, 1, LOAD_SATURATED);
	json_array(j, "points");
	while (q && (more = db_next(q, e)) > 0)
		write_point(q, j);
	json_end(j, ']');
	db_finish(q);
	return more;
}
