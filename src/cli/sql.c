/* `weft sql`: a question to a run file, or a list of what one can ask for. */
#include <string.h>

#include "cli/cli.h"
#include "facts/facts.h"
#include "out/json.h"
#include "out/table.h"
#include "record/tables.h"

static const char *cell(const struct db_query *q, int i, char *text, size_t n)
{
	size_t bytes;

	if (db_is_null(q, i))
		return NULL;
	if (!db_is_bytes(q, i))
		return db_text(q, i);
	db_bytes(q, i, &bytes);
	snprintf(text, n, "(%zu bytes)", bytes);
	return text;
}

static int print_table(struct db_query *q, FILE *f, struct err *e)
{
	struct table_column column[TABLE_MAX_COLUMNS] = { 0 };
	const char *cells[TABLE_MAX_COLUMNS];
	char text[TABLE_MAX_COLUMNS][32];
	int n = db_n_columns(q), i;
	struct table t;
	bool more;

	if (n > TABLE_MAX_COLUMNS)
		return err_set(e,
			"%d columns do not fit into a table (at most %d); use "
			"--json",
			n, TABLE_MAX_COLUMNS);
	more = db_next(q);
	for (i = 0; i < n; i++)
		column[i] = (struct table_column){ db_column(q, i),
			more && db_is_number(q, i) };
	table_init(&t, column, (size_t)n);
	for (; more; more = db_next(q)) {
		for (i = 0; i < n; i++)
			cells[i] = cell(q, i, text[i], sizeof(text[i]));
		table_add(&t, cells);
	}
	if (!e->code)
		table_print(&t, f, cli_width(stdout), cli_colour(stdout));
	table_fini(&t);
	return e->code ? -1 : 0;
}

static int print_json(struct db_query *q, FILE *f, const struct err *e)
{
	struct json j;

	json_init(&j, f);
	json_array(&j, NULL);
	while (db_next(q)) {
		json_object(&j, NULL);
		for (int i = 0; i < db_n_columns(q); i++) {
			const char *name = db_column(q, i);
			char text[32];

			if (db_is_bytes(q, i))
				json_text(&j, name,
					cell(q, i, text, sizeof(text)));
			else
				db_json(&j, name, q, i);
		}
		json_end(&j, '}');
	}
	json_end(&j, ']');
	return e->code ? -1 : 0;
}

static int ask(const struct cli_args *a, FILE *f, struct err *e)
{
	struct db *d = db_open(a->word[0], e);
	struct db_query *q = d ? db_prepare(d, a->word[1], e) : NULL;
	int failed = -1;

	if (d)
		db_be_patient(d);
	if (q)
		failed =
			a->is_json ? print_json(q, f, e) : print_table(q, f, e);
	db_finish(q);
	db_close(d);
	return failed;
}

/* --- the columns that there are --- */

static void add_column(struct facts *f, const struct record_table *t,
	const struct record_column *c)
{
	static const char *const files[] = {
		[IN_RUNS] = "runs",
		[IN_SWEEPS] = "sweeps",
		[IN_BOTH] = "both",
	};

	facts_group(f, NULL);
	facts_text(f, "table", t->name);
	facts_text(f, "files", files[t->files]);
	facts_text(f, "column", c->name);
	facts_text(f, "type", column_type_name(c->type));
	facts_text(f, "unit", c->unit);
	facts_int(f, "schema", c->since);
	facts_text(f, "meaning", c->meaning);
	facts_end(f);
}

static int list(const struct cli_args *a, FILE *out)
{
	struct facts f;

	facts_init(&f);
	facts_list(&f, "columns");
	for (size_t i = 0; i < N_TABLES; i++)
		for (size_t k = 0; k < record_tables[i].n; k++)
			add_column(&f, &record_tables[i],
				&record_tables[i].column[k]);
	facts_end(&f);
	facts_table(&f, "columns", "table|files|column|unit|meaning", 0);
	cli_write(a, &f, CLI_FITTED, out);
	facts_fini(&f);
	return 0;
}

static int perform(const struct cli_args *a, FILE *f, struct err *e)
{
	if (a->n_words == 1)
		return err_set(e, "%s", cli_sql.want);
	return a->n_words ? ask(a, f, e) : list(a, f);
}

const struct cli_command cli_sql = { .name = "sql",
	.brief = "run an SQL query on a run file",
	.takes = CLI_JSON,
	.usage = "[FILE QUERY]",
	.help = "Runs an SQL query on a run file (see weft-runfile(5)) and "
		"prints the rows.\vWithout a file it lists the tables and "
		"columns of run files.  Example:\n  weft sql run.db \"select "
		"name, use from link order by use desc limit 5\"",
	.words = { 0, 2 },
	.want = "want a run file and a query, as in `weft sql run.db \"select "
		"* from figure\"`",
	.print = perform };
