/* A sweep's points: means over seeds, with their confidence. */
#include "base/units.h"
#include "record/axes.h"
#include "record/curves.h"
#include "record/read.h"
#include "report/report.h"

/* As a number, where it is one; of a load, its unit is for each node. */
static void write_x(const char *x, struct json *j)
{
	double number;
	enum axis_unit unit = axes_number(x, &number);
	bool is_bits = units_are_bits(x);

	json_text(j, "x", x);
	if (unit == AXIS_WORD)
		json_null(j, "number");
	else
		json_real(j, "number", is_bits ? 8 * number : number);
	json_text(j, "unit", is_bits ? "Gb/s" : axes_unit_name(unit));
}

static double number(const struct db_query *q, const char *name)
{
	return db_real(q, db_find(q, name));
}

static void write_point(struct db_query *q, struct json *j)
{
	struct curves_value v = curves_spread((uint64_t)number(q, "n"),
		number(q, "mean"), number(q, "squares"));

	json_object(j, NULL);
	db_json(j, "curve", q, db_find(q, "curve"));
	write_x(db_text(q, db_find(q, "x")), j);
	db_json(j, "group", q, db_find(q, "grp"));
	db_json(j, "figure", q, db_find(q, "name"));
	json_count(j, "n", v.n);
	json_real(j, "mean", v.mean);
	json_real(j, "half", v.half);
	json_flag(j, "finished", number(q, "worst") == LOAD_FINISHED);
	json_flag(j, "saturated", number(q, "saturated") != 0);
	json_end(j, '}');
}

int report_sweep(struct db *d, struct json *j, struct err *e)
{
	struct db_query *q = db_prepare(d,
		"SELECT p.curve, p.x, p.grp, v.name, count(*) n,"
		" avg(v.value) mean, sum(v.value * v.value) squares,"
		" max(p.ending) worst, max(p.ending = ?) saturated"
		" FROM point p JOIN value v ON v.point = p.id"
		" GROUP BY p.grp, v.name ORDER BY min(p.id), min(v.rowid)",
		e);

	json_text(j, "what", record_meta(d, "what", e));
	json_text(j, "currency", record_meta(d, "currency", e));
	db_bind_int(q, 1, LOAD_SATURATED);
	json_array(j, "points");
	while (db_next(q))
		write_point(q, j);
	json_end(j, ']');
	return db_finish(q);
}
