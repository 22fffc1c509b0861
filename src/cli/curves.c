#include "cli/curves.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "base/units.h"
#include "record/axes.h"
#include "record/curves.h"
#include "record/read.h"

enum { MOST_CURVES = 256 };

const char *const *curves_usual(bool is_collective)
{
	static const char *const usual[] = { "throughput_GBps_per_node",
		"price_per_Gbps", "latency_mean_ns", "latency_p99_ns",
		"fraction_of_peak", "one_way_ns", "total_MBps", "rate_Mps",
		"time_ns", "rate_GBps", "sim_time_ns", NULL };
	static const char *const collective[] = { "time_ns", "algbw_GBps",
		"busbw_GBps", NULL };

	return is_collective ? collective : usual;
}

bool curves_has_figure(struct db *d, const char *figure)
{
	struct err none = { 0 };
	struct db_query *q = db_prepare(
		d, "SELECT 1 FROM value WHERE name = ? LIMIT 1", &none);
	bool has;

	db_bind_text(q, 1, figure);
	has = db_next(q);
	db_finish(q);
	return has;
}

/* --- names --- */

/* The curves of a file: their names in the file, and titles for readers. */
struct names {
	struct name {
		char *curve, *title;
	} * name;
	size_t n;
};

static const char faults[] = " faults=";

/* "dead.yaml" in "./tree.yaml faults=plans/dead.yaml seed=1": its part after
 * the folder, and its length without the ending. */
static const char *plan_of(const char *curve, size_t *length)
{
	const char *at = strstr(curve, faults), *slash;

	if (!at)
		return NULL;
	at += strlen(faults);
	*length = strcspn(at, " ");
	while ((slash = memchr(at, '/', *length))) {
		*length -= (size_t)(slash + 1 - at);
		at = slash + 1;
	}
	if (*length > 5 && !strncmp(at + *length - 5, ".yaml", 5))
		*length -= 5;
	return at;
}

/* The machine without its folder and ending, and plans in words: "tree, dead".
 */
static char *make_title(const char *curve)
{
	size_t n = strcspn(curve, " "), plan_length = 0, room;
	const char *rest = curve + n, *start = curve, *plan, *at;
	char *title;

	for (at = curve; at < curve + n; at++)
		if (*at == '/')
			start = at + 1;
	n -= (size_t)(start - curve);
	if (n > 5 && !strncmp(start + n - 5, ".yaml", 5))
		n -= 5;
	room = strlen(curve) + 3;
	title = mem_alloc(room, 1);
	snprintf(title, room, "%.*s", (int)n, start);
	plan = plan_of(curve, &plan_length);
	at = plan ? strstr(rest, faults) : rest + strlen(rest);
	n = strlen(title);
	n += (size_t)snprintf(
		title + n, room - n, "%.*s", (int)(at - rest), rest);
	if (!plan)
		return title;
	if (plan_length != 4 || strncmp(plan, "none", 4) != 0)
		n += (size_t)snprintf(
			title + n, room - n, ", %.*s", (int)plan_length, plan);
	at += strlen(faults);
	snprintf(title + n, room - n, "%s", at + strcspn(at, " "));
	return title;
}

static int read_names(struct names *m, struct db *d, struct err *e)
{
	struct db_query *q = db_prepare(d,
		"SELECT curve FROM point GROUP BY curve ORDER BY min(id)", e);

	while (db_next(q)) {
		if (m->n == MOST_CURVES) {
			err_set(e,
				"%s: has more than %d curves, too many for a "
				"picture",
				db_path(d), MOST_CURVES);
			break;
		}
		m->name = mem_more(m->name, m->n, sizeof(*m->name));
		m->name[m->n++] = (struct name){
			.curve = mem_text(db_text(q, 0)),
			.title = make_title(db_text(q, 0)),
		};
	}
	return db_finish(q);
}

static void free_names(struct names *m)
{
	for (size_t i = 0; i < m->n; i++) {
		mem_free(m->name[i].curve);
		mem_free(m->name[i].title);
	}
	mem_free(m->name);
}

/* If two curves share a title, all curves keep their names. */
static void keep_apart(struct names *m)
{
	bool is_shared = false;

	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < i; k++)
			is_shared |=
				!strcmp(m->name[i].title, m->name[k].title);
	for (size_t i = 0; is_shared && i < m->n; i++) {
		mem_free(m->name[i].title);
		m->name[i].title = mem_text(m->name[i].curve);
	}
}

static const struct name *find_name(const struct names *m, const char *curve)
{
	size_t i = 0;

	while (i < m->n && strcmp(m->name[i].curve, curve) != 0)
		i++;
	return i < m->n ? &m->name[i] : NULL;
}

/* Whether two curves differ by their plans of faults only. */
static bool is_pair(const char *a, const char *b)
{
	const char *x = strstr(a, faults), *y = strstr(b, faults);

	if (!x || !y || x - a != y - b || strncmp(a, b, (size_t)(x - a)) != 0)
		return false;
	x += strlen(faults);
	y += strlen(faults);
	return !strcmp(x + strcspn(x, " "), y + strcspn(y, " "));
}

/* Each curve is drawn like the first one with the same machine and values. */
static void pair_curves(struct plot *p, const struct names *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const char *first = NULL;
		unsigned before = 0;

		for (size_t k = 0; k < i; k++) {
			if (!is_pair(m->name[i].curve, m->name[k].curve))
				continue;
			first = first ? first : m->name[k].title;
			before++;
		}
		if (first)
			plot_pair(p, m->name[i].title, first, before);
	}
}

/* --- units --- */

/* "load" of "torus load=50Gb/s", whose curve is "torus". */
static void name_axis(
	const char *group, const char *curve, char *name, size_t size)
{
	size_t n = strlen(curve);
	/* a file from elsewhere may have any group */
	const char *at = strncmp(group, curve, n) ? "" : group + n;

	at += strspn(at, " ");
	snprintf(name, size, "%.*s", (int)strcspn(at, "="), at);
}

/* Whether the loads of a sweep are given in bits. */
static bool is_in_bits(struct db *d)
{
	struct err none = { 0 };
	struct db_query *q = db_prepare(d,
		"SELECT x FROM point WHERE grp LIKE curve || ' load=%' "
		"ORDER BY id",
		&none);
	bool is = db_next(q) && units_are_bits(db_text(q, 0));

	db_finish(q);
	return is;
}

struct figure_scale curves_scale(struct db *d, const char *figure, double most)
{
	struct figure_scale s = figure_scale(figure, most);
	struct err none = { 0 };

	if (strstr(figure, "GBps") && is_in_bits(d))
		s = (struct figure_scale){ 8, "Gb/s" };
	if (!strncmp(figure, "price", 5))
		s.unit = record_meta(d, "currency", &none);
	return s;
}

/* --- points --- */

struct drawing {
	struct plot *plot;
	struct names names;
	bool is_in_bits, is_numeric;
	enum axis_unit unit; /* of x */
	struct figure_scale scale;
	size_t n;
};

static struct db_query *find_points(
	struct db *d, const char *figure, struct err *e)
{
	struct db_query *q = db_prepare(d,
		"SELECT p.curve, p.x, count(*), avg(v.value),"
		" sum(v.value * v.value), p.grp FROM point p JOIN value v"
		" ON v.point = p.id WHERE v.name = ? AND"
		" typeof(v.value) IN ('real', 'integer') GROUP BY p.grp"
		" ORDER BY min(p.id)",
		e);

	db_bind_text(q, 1, figure);
	return q;
}

/* Labels the axes: the first pass over all points. */
static int begin_drawing(
	struct drawing *w, struct db *d, const char *figure, struct err *e)
{
	struct db_query *q = find_points(d, figure, e);
	char axis[64] = "", x[128], y[FIGURE_NAME + 16], title[FIGURE_NAME];
	double number, most = 0;
	const char *unit;

	w->is_in_bits = is_in_bits(d);
	w->unit = AXIS_PLAIN;
	for (; db_next(q); w->n++) {
		enum axis_unit u = axes_number(db_text(q, 1), &number);

		if (u != AXIS_WORD && *db_text(q, 1)) {
			w->is_numeric = true;
			w->unit = u != AXIS_PLAIN ? u : w->unit;
		}
		most = fmax(most, fabs(db_real(q, 3)));
		if (*db_text(q, 1))
			name_axis(db_text(q, 5), db_text(q, 0), axis,
				sizeof(axis));
	}
	if (db_finish(q))
		return -1;
	w->scale = curves_scale(d, figure, most);
	figure_title(figure, title);
	snprintf(y, sizeof(y), "%s%s%s", title, *w->scale.unit ? ", " : "",
		w->scale.unit);
	unit = w->unit == AXIS_RATE && w->is_in_bits ? "Gb/s"
						     : axes_unit_name(w->unit);
	if (!strcmp(axis, "load") && w->unit == AXIS_PLAIN)
		unit = "fraction of the peak";
	snprintf(x, sizeof(x), "%s%s%s%s", *axis ? axis : "point",
		*unit && w->unit != AXIS_BYTES ? ", " : "",
		w->unit != AXIS_BYTES ? unit : "",
		w->unit == AXIS_RATE ? " per node" : "");
	w->plot = plot_new(x, y);
	if (w->unit == AXIS_BYTES || !strcmp(axis, "bytes"))
		plot_set_bytes(w->plot);
	return 0;
}

/* Words among numbers have no place along the axis and are left out. */
static void add_point(struct drawing *w, struct db_query *q, size_t i)
{
	struct curves_value v = curves_spread(
		(uint64_t)db_int(q, 2), db_real(q, 3), db_real(q, 4));
	const struct name *name = find_name(&w->names, db_text(q, 0));
	double x = (double)i;

	if (w->is_numeric && axes_number(db_text(q, 1), &x) == AXIS_WORD)
		return;
	if (w->unit == AXIS_RATE && w->is_in_bits)
		x *= 8;
	if (name)
		plot_add(w->plot, name->title, x, v.mean * w->scale.by,
			v.half * w->scale.by);
}

static int draw_points(
	struct drawing *w, struct db *d, const char *figure, struct err *e)
{
	struct db_query *q;

	if (begin_drawing(w, d, figure, e) || read_names(&w->names, d, e))
		return -1;
	keep_apart(&w->names);
	q = find_points(d, figure, e);
	for (size_t i = 0; db_next(q); i++)
		add_point(w, q, i);
	if (db_finish(q))
		return -1;
	pair_curves(w->plot, &w->names);
	return w->n ? 0
		    : err_set(e,
			      "no point has a figure \"%.40s\"; `weft run "
			      "--json` prints the names of figures",
			      figure);
}

struct plot *curves_plot(struct db *d, const char *figure, struct err *e)
{
	struct drawing w = { .unit = AXIS_PLAIN };
	int failed = draw_points(&w, d, figure, e);

	free_names(&w.names);
	if (!failed)
		return w.plot;
	if (w.plot)
		plot_free(w.plot);
	return NULL;
}
