/* `weft compare`: what two runs have done differently, and with what result. */
#include <math.h>
#include <string.h>

#include "base/name.h"
#include "cli/cli.h"
#include "facts/facts.h"
#include "facts/figure.h"
#include "record/read.h"

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

/* A value as it is, or, of a figure with a unit, with four digits in the unit
 * that fits the larger of both. */
static void add_text(
	struct facts *f, const char *key, struct db_query *q, int i)
{
	struct figure_scale s = figure_scale(
		db_text(q, 0), fmax(fabs(db_real(q, 1)), fabs(db_real(q, 2))));
	char text[FIGURE_TEXT];

	if (!*s.unit || !db_is_number(q, i)) {
		facts_text(f, key, db_is_null(q, i) ? NULL : db_text(q, i));
		return;
	}
	figure_scaled(db_real(q, i), s, text);
	facts_print(f, key, "%s %s", text, s.unit);
}

static void add_value(
	struct facts *f, const char *key, struct db_query *q, int i)
{
	if (db_is_null(q, i))
		facts_null(f, key);
	else if (db_is_whole(q, i))
		facts_int(f, key, db_int(q, i));
	else if (db_is_number(q, i))
		facts_real(f, key, db_real(q, i));
	else
		facts_text(f, key, db_text(q, i));
}

static void add_difference(struct facts *f, struct db_query *q)
{
	double a = db_real(q, 1), b = db_real(q, 2);
	double change = (b - a) / fabs(a) * 100;

	facts_group(f, NULL);
	facts_text(f, "name", db_text(q, 0));
	add_value(f, "first", q, 1);
	add_value(f, "second", q, 2);
	add_text(f, "_first", q, 1);
	add_text(f, "_second", q, 2);
	if (db_is_number(q, 1) && db_is_number(q, 2) && a != 0) {
		facts_real(f, "change_pct", change);
		facts_print(f, "_change", "%+.2f %%", change);
	} else {
		facts_text(f, "_change", "");
	}
	facts_end(f);
}

/* What a query finds, behind a title; whether that is anything. */
static bool add_differences(struct facts *f, struct db *d, const char *key,
	const char *sql, const char *title, const char *same, struct err *e)
{
	struct db_query *q = db_prepare(d, sql, e);
	const struct fact *list = facts_list(f, key);

	while (db_next(q))
		add_difference(f, q);
	db_finish(q);
	facts_end(f);
	facts_line(f, NULL, list->first ? title : same);
	facts_table(f, key,
		"what=name|>first=_first|>second=_second|>change=_change", 0);
	return list->first;
}

static void add_noise(
	struct facts *f, struct db *d, bool differs, struct err *e)
{
	struct db_query *q = db_prepare(d, noise_query, e);

	if (db_next(q))
		facts_real(f, "throughput_by_chance_pct", db_real(q, 0));
	db_finish(q);
	if (differs)
		facts_line(f, NULL,
			"[A difference in throughput of up to "
			"{throughput_by_chance_pct:.2f} % can be due to chance "
			"(95 % confidence).]");
}

static int compare(struct db *d, const struct cli_args *a, struct err *e)
{
	struct facts f;
	bool differs;

	facts_init(&f);
	facts_text(&f, "weft", WEFT_VERSION);
	facts_text(&f, "first", a->word[0]);
	facts_text(&f, "second", a->word[1]);
	add_differences(&f, d, "set_up", setup_query,
		"Differences in the set-up:", "The set-up is the same.", e);
	differs = add_differences(&f, d, "results", result_query,
		"Differences in the results:", "All results are the same.", e);
	add_noise(&f, d, differs, e);
	facts_flag(&f, "same_results", !differs);
	if (!e->code)
		cli_tell(a, &f, CLI_FITTED, e);
	else
		facts_fini(&f);
	return e->code ? -1 : differs ? EXIT_ANSWER_NO : EXIT_FINISHED;
}

static void add_error(struct err *e, const struct err *other)
{
	name_add(e->text, sizeof(e->text), "; ");
	name_add(e->text, sizeof(e->text), other->text);
}

static int perform(const struct cli_args *a, struct err *e)
{
	struct err other = { 0 };
	struct db *first = record_open(a->word[0], e);
	struct db *second = record_open(a->word[1], &other);
	int code = -1;

	db_close(second);
	if (first && other.code)
		*e = other;
	else if (other.code)
		add_error(e, &other);
	else if (first && !db_attach(first, a->word[1], "other", e))
		code = compare(first, a, e);
	db_close(first);
	return code;
}

const struct cli_command cli_compare = { .name = "compare",
	.brief = "compare two run files",
	.takes = CLI_JSON,
	.usage = "FILE FILE",
	.help = "Prints the differences between two run files, in their set-up "
		"and in their results.\vThe exit code is 0 if all results are "
		"the same, and 1 if some differ.",
	.words = { 2, 2 },
	.want = "want two run files, as in `weft compare a.db b.db`",
	.run = perform };
