/* `weft compare`: what two runs have done differently, and with what result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "out/figure.h"
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
	int more = -1;

	while (q && (more = db_next(q, e)) > 0) {
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
	db_finish(q);
	return more;
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

	if (!q)
		return -1;
	if (db_next(q, e) > 0)
		fprintf(f,
			"The throughputs of two such runs differ by up to %.2f "
			"%% by chance (95 %% confidence).\n",
			db_real(q, 0));
	db_finish(q);
	return e->code ? -1 : 0;
}

static int compare(struct db *d, struct err *e)
{
	size_t set_up, results = 0;
	struct cli_out out;
	int failed;

	cli_out_open(&out);
	failed = tell(d, "Set up differently:", "Set up alike.", setup_query,
			 out.file, &set_up, e) ||
		 tell(d, "Results that differ:", "All results are the same.",
			 result_query, out.file, &results, e) ||
		 (results && tell_noise(d, out.file, e));
	if (failed) {
		fclose(out.file);
		mem_free(out.text);
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
	int code = cli_parse(&a, argc, argv, 0, "FILE FILE",
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
		code = compare(first, e);
	db_close(first);
	return code;
}
