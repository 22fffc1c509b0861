/* `weft compare`: what two runs have done differently, and with what result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "facts/figure.h"
#include "out/json.h"
#include "out/table.h"
#include "record/read.h"

static const struct table_column columns[] = {
	{ "what", false },
	{ "first", true },
	{ "second", true },
	{ "change", true },
};

/* Names and values of both files, of any table that has them. */
static const char setup_query[] =
	"SELECT path, a.value, b.value FROM main.param a"
	" JOIN other.param b USING(path) WHERE a.value IS NOT b.value"
	" UNION ALL SELECT path, value, NULL FROM main.param"
	" WHERE path NOT IN (SELECT path FROM other.param)"
	" UNION ALL SELECT path, NULL, value FROM other.param"
	" WHERE path NOT IN (SELECT path FROM main.param)"
	" UNION ALL SELECT key, a.value, b.value FROM main.meta a"
	" JOIN other.meta b USING(key) WHERE a.value IS NOT b.value AND key IN"
	" ('weft', 'machine', 'workload', 'seed', 'faults_file')";

static const char result_query[] =
	"SELECT name, a.value, b.value FROM main.figure a"
	" JOIN other.figure b USING(name) WHERE a.value IS NOT b.value"
	" UNION ALL SELECT name, value, NULL FROM main.figure"
	" WHERE name NOT IN (SELECT name FROM other.figure)"
	" UNION ALL SELECT name, NULL, value FROM other.figure"
	" WHERE name NOT IN (SELECT name FROM main.figure)"
	" UNION ALL SELECT key, a.value, b.value FROM main.meta a"
	" JOIN other.meta b USING(key) WHERE a.value IS NOT b.value AND key IN"
	" ('ending', 'digest', 'end_ps', 'packets', 'packet_hops')";

/* How far the throughput of both may be off by chance, in %; 0: not known. */
static const char noise_query[] =
	"SELECT sqrt(a.value * a.value + b.value * b.value)"
	" FROM main.figure a JOIN other.figure b USING(name)"
	" WHERE name = 'confidence_95_half_width_pct'";

struct comparison {
	struct table table;
	size_t n;
};

/* A value as it is, or, of a figure with a unit, with four digits in the unit
 * that fits the larger of both. */
static void format(struct db_query *q, int i, char text[FIGURE_TEXT + 80])
{
	struct figure_scale s = figure_scale(
		db_text(q, 0), fmax(fabs(db_real(q, 1)), fabs(db_real(q, 2))));

	if (!*s.unit || !db_is_number(q, i)) {
		snprintf(text, FIGURE_TEXT + 80, "%s", db_text(q, i));
		return;
	}
	figure_scaled(db_real(q, i), s, text);
	snprintf(text + strlen(text), 16, " %s", s.unit);
}

static int collect(
	struct comparison *c, struct db *d, const char *sql, struct err *e)
{
	struct db_query *q = db_prepare(d, sql, e);

	while (db_next(q)) {
		char change[32] = "";
		const char *cells[] = { db_text(q, 0), NULL, NULL, change };
		char first[128], second[128];
		double a = db_real(q, 1), b = db_real(q, 2);

		format(q, 1, first);
		format(q, 2, second);
		if (!db_is_null(q, 1))
			cells[1] = first;
		if (!db_is_null(q, 2))
			cells[2] = second;
		if (db_is_number(q, 1) && db_is_number(q, 2) && a != 0)
			snprintf(change, sizeof(change), "%+.2f %%",
				(b - a) / fabs(a) * 100);
		table_add(&c->table, cells);
		c->n++;
	}
	return db_finish(q);
}

/* An array of what differs. */
static int json_rows(struct db *d, const char *key, const char *sql,
	struct json *j, size_t *n, struct err *e)
{
	struct db_query *q = db_prepare(d, sql, e);

	json_array(j, key);
	for (*n = 0; db_next(q); ++*n) {
		double a = db_real(q, 1), b = db_real(q, 2);

		json_object(j, NULL);
		json_text(j, "name", db_text(q, 0));
		db_json(j, "first", q, 1);
		db_json(j, "second", q, 2);
		if (db_is_number(q, 1) && db_is_number(q, 2) && a != 0)
			json_real(j, "change_pct", (b - a) / fabs(a) * 100);
		json_end(j, '}');
	}
	json_end(j, ']');
	return db_finish(q);
}

static int json_noise(struct db *d, struct json *j, struct err *e)
{
	struct db_query *q = db_prepare(d, noise_query, e);

	if (db_next(q))
		json_real(j, "throughput_by_chance_pct", db_real(q, 0));
	return db_finish(q);
}

static int compare_json(struct db *d, const struct cli_args *a, FILE *f,
	size_t *n, struct err *e)
{
	struct json j;
	size_t set_up;
	int failed;

	json_init(&j, f);
	json_object(&j, NULL);
	json_text(&j, "weft", WEFT_VERSION);
	json_text(&j, "first", a->word[0]);
	json_text(&j, "second", a->word[1]);
	failed = json_rows(d, "set_up", setup_query, &j, &set_up, e) ||
		 json_rows(d, "results", result_query, &j, n, e) ||
		 json_noise(d, &j, e);
	json_flag(&j, "same_results", !*n);
	json_end(&j, '}');
	return failed ? -1 : 0;
}

static int tell(struct db *d, const char *title, const char *same,
	const char *sql, FILE *f, size_t *n, struct err *e)
{
	struct comparison c = { .n = 0 };
	int failed;

	table_init(&c.table, columns, 4);
	failed = collect(&c, d, sql, e);
	if (!failed && !c.n)
		fprintf(f, "%s\n", same);
	if (!failed && c.n) {
		fprintf(f, "%s\n", title);
		table_print(&c.table, f, cli_width(stdout), cli_colour(stdout));
	}
	table_fini(&c.table);
	*n = c.n;
	return failed;
}

static int tell_noise(struct db *d, FILE *f, struct err *e)
{
	struct db_query *q = db_prepare(d, noise_query, e);

	if (db_next(q))
		fprintf(f,
			"The throughputs of two such runs differ by up to %.2f "
			"%% by chance (95 %% confidence).\n",
			db_real(q, 0));
	return db_finish(q);
}

static int compare_text(struct db *d, FILE *f, size_t *n, struct err *e)
{
	size_t set_up;

	return tell(d, "Set up differently:", "Set up alike.", setup_query, f,
		       &set_up, e) ||
			       tell(d, "Results that differ:",
				       "All results are the same.",
				       result_query, f, n, e) ||
			       (*n && tell_noise(d, f, e))
		       ? -1
		       : 0;
}

static int compare(struct db *d, const struct cli_args *a, struct err *e)
{
	size_t results = 0;
	struct cli_out out;
	int failed;

	cli_out_open(&out);
	failed = a->is_json ? compare_json(d, a, out.file, &results, e)
			    : compare_text(d, out.file, &results, e);
	if (failed) {
		cli_out_drop(&out);
		return -1;
	}
	if (cli_out_close(&out, e))
		return -1;
	return results ? EXIT_ANSWER_NO : EXIT_FINISHED;
}

int cli_compare(int argc, char **argv, struct err *e)
{
	struct db *first = NULL, *second = NULL;
	struct cli_args a;
	int code = cli_parse(&a, argc, argv, CLI_JSON, "FILE FILE",
		"Compares two run files: what was set up differently, and "
		"which results differ.\vThe exit code is 0 if all results are "
		"the same, and 1 if some differ.",
		e);

	if (code)
		return code < 0 ? -1 : 0;
	if (a.n_words != 2)
		return err_set(e, "want two run files, as in `weft compare "
				  "a.db b.db`");
	code = -1;
	second = record_open(a.word[1], e);
	first = second ? record_open(a.word[0], e) : NULL;
	db_close(second);
	if (first && !db_attach(first, a.word[1], "other", e))
		code = compare(first, &a, e);
	db_close(first);
	return code;
}
