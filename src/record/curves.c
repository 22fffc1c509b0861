#include "record/curves.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "meas/batches.h"
#include "record/params.h"
#include "record/read.h"

static const char schema[] =
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value);"
	"CREATE TABLE param(path TEXT, value TEXT, source TEXT, place TEXT,"
	" machine TEXT);" RECORD_INPUTS_SCHEMA
	"CREATE TABLE point(id INTEGER PRIMARY KEY, name TEXT UNIQUE,"
	" grp TEXT, curve TEXT, x TEXT, seed TEXT, ending INTEGER, error TEXT,"
	" digest TEXT, wall_s REAL);"
	"CREATE TABLE value(point INTEGER, name TEXT, value REAL);"
	"CREATE INDEX value_point ON value(point);"
	"CREATE INDEX point_group ON point(grp);";

struct curves {
	struct db *db;
	struct db_query *find, *point, *value, *look;
};

static int prepare(struct curves *c, struct err *e)
{
	c->find = db_prepare(c->db,
		"SELECT ending FROM point WHERE name = ? AND error = ''", e);
	c->point = db_prepare(c->db,
		"INSERT OR REPLACE INTO point VALUES(NULL, ?, ?, ?, ?, ?, ?, "
		"?, ?, ?)",
		e);
	c->value = db_prepare(c->db,
		"INSERT INTO value SELECT id, ?, ? FROM point WHERE name = ?",
		e);
	c->look = db_prepare(c->db,
		"SELECT count(*), avg(v.value), sum(v.value * v.value) FROM "
		"point p JOIN value v ON v.point = p.id WHERE p.grp = ? AND "
		"v.name = ?",
		e);
	return c->find && c->point && c->value && c->look ? 0 : -1;
}

static int put_params(
	struct curves *c, const struct curves_about *a, struct err *e)
{
	struct db_query *q =
		db_prepare(c->db, "INSERT INTO param VALUES(?, ?, ?, ?, ?)", e);
	int failed = !q;
	size_t i;

	for (i = 0; i < a->n_machines && !failed; i++) {
		if (!a->machines[i])
			continue;
		db_bind_text(q, 5, a->machines[i]->header.name);
		failed = record_params_write(q, a->machines[i], e);
	}
	db_finish(q);
	return failed ? -1 : 0;
}

static int begin(struct curves *c, const struct curves_about *a, struct err *e)
{
	struct db_query *q;
	int failed;

	if (db_do(c->db, schema, e))
		return -1;
	q = db_prepare(c->db,
		"INSERT INTO meta VALUES('kind', 'sweep'), ('what', ?),"
		" ('command', ?), ('weft', ?)",
		e);
	if (!q)
		return -1;
	db_bind_text(q, 1, a->what);
	db_bind_text(q, 2, a->command);
	db_bind_text(q, 3, WEFT_VERSION);
	failed = db_run(q, e);
	db_finish(q);
	return failed || put_params(c, a, e) ||
			       record_inputs_write(a->inputs, c->db, e) ||
			       db_do(c->db, "COMMIT", e)
		       ? -1
		       : 0;
}

/* A point that is run now must be comparable with those that are there. */
static int check_inputs(struct curves *c, struct err *e)
{
	struct record_inputs in = { NULL, 0 };
	char hash[INPUT_HASH];
	size_t i;

	record_inputs_read(&in, c->db, e);
	for (i = 0; i < in.n && !e->code; i++) {
		record_hash_file(in.of[i].path, hash);
		if (strcmp(hash, in.of[i].hash) != 0)
			err_set(e,
				"%s: the sweep cannot go on: %.40s %.200s %s; "
				"take another file",
				db_path(c->db), in.of[i].kind, in.of[i].path,
				*hash ? "has changed" : "is gone");
	}
	record_inputs_free(&in);
	return e->code ? -1 : 0;
}

static int check_same(
	struct curves *c, const struct curves_about *a, struct err *e)
{
	char *what = record_meta(c->db, "what", e);
	char *weft = record_meta(c->db, "weft", e);

	if (!e->code && !*what)
		err_set(e, "%s: is not of a sweep", db_path(c->db));
	else if (!e->code && strcmp(what, a->what) != 0)
		err_set(e, "%s: is of another sweep: \"%.200s\"",
			db_path(c->db), what);
	else if (!e->code && *weft && strcmp(weft, WEFT_VERSION) != 0)
		err_set(e,
			"%s: the sweep was begun by weft %.20s, and this is "
			"%s; take another file",
			db_path(c->db), weft, WEFT_VERSION);
	mem_free(what);
	mem_free(weft);
	return e->code || check_inputs(c, e) ? -1 : 0;
}

struct curves *curves_open(
	const char *path, const struct curves_about *a, struct err *e)
{
	struct curves *c = mem_alloc(1, sizeof(*c));
	struct stat is;
	bool is_new = !path || stat(path, &is) || !is.st_size;
	int failed;

	c->db = is_new ? db_create(path, e) : db_reopen(path, e);
	failed = !c->db || (is_new ? begin(c, a, e) : check_same(c, a, e));
	if (!failed && !prepare(c, e))
		return c;
	if (is_new) {
		db_discard(c->db); /* it holds nothing */
		c->db = NULL;
	}
	curves_close(c);
	return NULL;
}

void curves_close(struct curves *c)
{
	if (!c)
		return;
	db_finish(c->find);
	db_finish(c->point);
	db_finish(c->value);
	db_finish(c->look);
	db_close(c->db);
	mem_free(c);
}

struct db *curves_db(struct curves *c)
{
	return c->db;
}

bool curves_has(struct curves *c, const struct curves_point *p,
	enum load_ending *ending)
{
	struct err e = { 0 };
	bool is;

	db_bind_text(c->find, 1, p->name);
	is = db_next(c->find, &e) > 0;
	if (is)
		*ending = (enum load_ending)db_int(c->find, 0);
	db_reset(c->find);
	return is;
}

static int put_values(struct curves *c, const struct curves_point *p,
	const struct batch_result *r, struct err *e)
{
	uint32_t i;

	for (i = 0; i < r->n_figures; i++) {
		db_bind_text(c->value, 1, r->figure[i].name);
		db_bind_real(c->value, 2, r->figure[i].value);
		db_bind_text(c->value, 3, p->name);
		if (db_run(c->value, e))
			return -1;
	}
	return 0;
}

int curves_put(struct curves *c, const struct curves_point *p,
	const struct batch_result *r, struct err *e)
{
	char digest[24];

	snprintf(digest, sizeof(digest), "%016" PRIx64, r->digest);
	db_bind_text(c->point, 1, p->name);
	db_bind_text(c->point, 2, p->group);
	db_bind_text(c->point, 3, p->curve);
	db_bind_text(c->point, 4, p->x);
	db_bind_text(c->point, 5, p->seed);
	db_bind_int(c->point, 6, r->ending);
	db_bind_text(c->point, 7, r->e.code ? r->e.text : "");
	db_bind_text(c->point, 8, digest);
	db_bind_real(c->point, 9, r->wall_s);
	return db_do(c->db, "BEGIN", e) || db_run(c->point, e) ||
			       put_values(c, p, r, e) ||
			       db_do(c->db, "COMMIT", e)
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

bool curves_get(struct curves *c, const char *group, const char *figure,
	struct curves_value *v)
{
	struct err e = { 0 };

	*v = (struct curves_value){ 0 };
	db_bind_text(c->look, 1, group);
	db_bind_text(c->look, 2, figure);
	if (db_next(c->look, &e) > 0 && db_int(c->look, 0) > 0)
		*v = curves_spread((uint64_t)db_int(c->look, 0),
			db_real(c->look, 1), db_real(c->look, 2));
	db_reset(c->look);
	return v->n > 0;
}
