#include "record/curves.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "meas/batches.h"
#include "record/params.h"
#include "record/read.h"
#include "record/tables.h"

static int put_params(struct db *d, const struct curves_about *a, struct err *e)
{
	struct bulk *b;

	if (db_pages_begin(d, e))
		return -1;
	b = bulk_new(d, TABLE_swept_param, e);
	for (size_t i = 0; i < a->n_machines; i++)
		if (a->machines[i])
			record_params_write(b, a->machines[i]->header.name,
				a->machines[i], e);
	bulk_end(b, e);
	return db_pages_end(d, e);
}

static int begin(struct db *d, const struct curves_about *a, struct err *e)
{
	if (put_params(d, a, e) || db_begin(d, e))
		return -1;
	record_put_text(d, "kind", "sweep", e);
	record_put_text(d, "what", a->what, e);
	record_put_text(d, "command", a->command, e);
	record_put_text(d, "weft", WEFT_VERSION, e);
	record_put_text(d, "currency", a->currency, e);
	record_put_text(d, "faults", a->faults, e);
	record_put_file(d, "faults_file", a->faults, e);
	return record_inputs_write(a->inputs, d, e) || db_do(d, "COMMIT", e);
}

/* A point that is run now must be comparable with those that are there. */
static int check_inputs(struct db *d, struct err *e)
{
	struct db_query *q = row_select(d, TABLE_input, "", e);
	char hash[INPUT_HASH];
	struct row_input row;

	while (row_next_input(q, &row)) {
		record_hash_file(row.path, hash);
		if (strcmp(hash, row.hash) != 0)
			err_set(e,
				"%s: the sweep cannot continue: %.40s %.200s "
				"%s; use another file",
				db_path(d), row.kind, row.path,
				*hash ? "has changed" : "is gone");
	}
	return db_finish(q);
}

static int check_same(struct db *d, const struct curves_about *a, struct err *e)
{
	const char *what = record_meta(d, "what", e);
	const char *weft = record_meta(d, "weft", e);

	if (!e->code && !*what)
		err_set(e, "%s: is not the file of a sweep", db_path(d));
	else if (!e->code && strcmp(what, a->what) != 0)
		err_set(e,
			"%s: belongs to another sweep, \"%.200s\", but this is "
			"\"%.200s\"; remove it, or name another file",
			db_path(d), what, a->what);
	else if (!e->code && *weft && strcmp(weft, WEFT_VERSION) != 0)
		err_set(e,
			"%s: the sweep was started by weft %.20s, but this is "
			"weft %s; use another file",
			db_path(d), weft, WEFT_VERSION);
	return e->code || check_inputs(d, e) ? -1 : 0;
}

/* Whether a sweep has no result yet, as if a key was wrong in all runs. */
static bool is_hollow(const char *path)
{
	struct err why = { 0 };
	struct db *d = db_open(path, &why);
	struct db_query *q =
		d ? db_prepare(d, "SELECT 1 FROM value", &why) : NULL;
	bool is = q && !db_next(q);

	db_finish(q);
	db_close(d);
	return is && !why.code;
}

struct db *curves_open(
	const char *path, const struct curves_about *a, struct err *e)
{
	bool is_new = !path || access(path, F_OK) || db_is_empty(path) ||
		      is_hollow(path);
	struct db *d =
		is_new ? db_create(path, IN_SWEEPS, e) : db_reopen(path, e);

	if (d && !(is_new ? begin(d, a, e) : check_same(d, a, e)))
		return d;
	if (is_new)
		db_discard(d); /* it holds nothing */
	else
		db_close(d);
	return NULL;
}

bool curves_has(
	struct db *d, const struct curves_point *p, enum load_ending *ending)
{
	struct err e = { 0 };
	struct db_query *q =
		row_select(d, TABLE_point, "WHERE name = ? AND error = ''", &e);
	struct row_point row;
	bool is;

	db_bind_text(q, 1, p->name);
	is = row_next_point(q, &row);
	if (is)
		*ending = (enum load_ending)row.ending;
	db_finish(q);
	return is;
}

/* The first number that a query finds, or 0. */
static int64_t find_number(struct db_query *q)
{
	int64_t n = db_next(q) ? db_int(q, 0) : 0;

	db_finish(q);
	return n;
}

int64_t curves_id(struct db *d, const struct curves_point *p)
{
	struct err e = { 0 };
	struct db_query *q =
		db_prepare(d, "SELECT id FROM point WHERE name = ?", &e);

	db_bind_text(q, 1, p->name);
	return find_number(q);
}

bool curves_has_id(struct db *d, int64_t id)
{
	struct err e = { 0 };
	struct db_query *q =
		db_prepare(d, "SELECT id FROM point WHERE id = ?", &e);

	db_bind_int(q, 1, id);
	return find_number(q) == id;
}

int64_t curves_last_id(struct db *d)
{
	struct err e = { 0 };

	return find_number(db_prepare(d, "SELECT max(id) FROM point", &e));
}

static int put_values(struct db *d, int64_t point, const struct batch_result *r,
	struct err *e)
{
	struct row_value row = { .point = point };

	for (uint32_t i = 0; i < r->n_figures; i++) {
		row.name = r->figure[i].name;
		row.value = r->figure[i].value;
		row_put_value(d, &row, e);
	}
	return e->code ? -1 : 0;
}

int curves_put(struct db *d, const struct curves_point *p, int64_t id,
	const struct batch_result *r, struct err *e)
{
	char digest[24];
	struct row_point row = {
		.id = id,
		.name = p->name,
		.grp = p->group,
		.curve = p->curve,
		.x = p->x,
		.seed = p->seed,
		.ending = r->ending,
		.error = r->e.code ? r->e.text : "",
		.digest = digest,
		.wall_s = r->wall_s,
		.outcome = r->e.code ? "failed" : load_ending_name(r->ending),
	};

	snprintf(digest, sizeof(digest), "%016" PRIx64, r->digest);
	return db_do(d, "BEGIN", e) || row_put_point(d, &row, e) ||
			       put_values(d, id, r, e) || db_do(d, "COMMIT", e)
		       ? -1
		       : 0;
}

static int drop_from(
	struct db *d, const char *sql, const char *name, struct err *e)
{
	struct db_query *q = db_prepare(d, sql, e);

	db_bind_text(q, 1, name);
	db_next(q);
	return db_finish(q);
}

int curves_drop(struct db *d, const struct curves_point *p, struct err *e)
{
	return db_do(d, "BEGIN", e) ||
			       drop_from(d,
				       "DELETE FROM value WHERE point IN "
				       "(SELECT id FROM point WHERE name = ?)",
				       p->name, e) ||
			       drop_from(d, "DELETE FROM point WHERE name = ?",
				       p->name, e) ||
			       db_do(d, "COMMIT", e)
		       ? -1
		       : 0;
}

struct curves_value curves_spread(uint64_t n, double mean, double squares)
{
	struct curves_value v = { .n = n, .mean = mean };
	double rest = squares - (double)n * mean * mean;

	/* what is less than that is lost in the difference */
	if (n > 1 && rest > 1e-9 * mean * mean)
		v.half = batches_student((uint32_t)n - 1) *
			 sqrt(rest / (double)(n - 1) / (double)n);
	return v;
}

void curves_facts(
	struct facts *f, struct db *d, const char *group, struct err *e)
{
	struct db_query *q = db_prepare(d,
		"SELECT v.name, count(*), avg(v.value), sum(v.value * v.value) "
		"FROM point p JOIN value v ON v.point = p.id WHERE p.grp = ? "
		"GROUP BY v.name ORDER BY min(v.rowid)",
		e);
	struct curves_value v;

	db_bind_text(q, 1, group);
	while (db_next(q)) {
		v = curves_spread(
			(uint64_t)db_int(q, 1), db_real(q, 2), db_real(q, 3));
		facts_group(f, db_text(q, 0));
		facts_real(f, "mean", v.mean);
		facts_real_if(f, "half_width_95", v.n > 1, v.half);
		facts_count(f, "seeds", v.n);
		facts_end(f);
	}
	db_finish(q);
}
