#include "cli/cli.h"

#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "facts/facts.h"
#include "load/load.h"
#include "machine/machine.h"

enum { MOST_NAMES = 320 };

/* A default without a source is a choice that a user is free to make. */
static const char *source_of(
	const struct param *row, const struct param_origin *o)
{
	if (o && *o->place)
		return *o->source ? o->source : "not given";
	return row->source ? row->source : "choice";
}

/* A parameter; defaults is NULL where b itself has them, and has no rows where
 * they are as the row says. */
static void add_row(struct facts *f, const char *needs,
	const struct param_block *b, const struct param_block *defaults,
	const struct param *row)
{
	const struct param_origin *o =
		b->origins ? &b->origins[row - b->rows] : NULL;
	char text[2 * PARAM_TEXT_MAX];

	facts_print(f, "name", "%s%s%s", b->section, *b->section ? "." : "",
		row->name);
	if (needs && *needs)
		facts_text(f, "needs", needs);
	param_format(b, row, text, PARAM_TEXT_MAX);
	if (defaults)
		facts_text(f, "value", text);
	if (!defaults || defaults->rows)
		param_format(
			defaults ? defaults : b, row, text, PARAM_TEXT_MAX);
	facts_text(f, "default", defaults && !defaults->rows ? row->def : text);
	facts_text(f, "type", param_type_name(row->type));
	param_range(row, text, sizeof(text));
	facts_text(f, "range", text);
	facts_text(f, "help", row->help);
	facts_text(f, "source", source_of(row, o));
	if (defaults)
		facts_text(f, "from", o && *o->place ? o->place : "default");
}

static void add_rows(struct facts *f, const char *workload, const char *needs,
	const struct param_block *b, const struct param_block *defaults)
{
	for (size_t i = 0; i < b->n_rows; i++) {
		facts_group(f, NULL);
		facts_text(f, "workload", workload);
		add_row(f, needs, b, defaults, &b->rows[i]);
		facts_end(f);
	}
}

/* The keys of a workload with their defaults. */
static void add_load(struct facts *f, const struct load_ops *ops)
{
	struct param_block b = {
		.section = "",
		.rows = ops->params,
		.n_rows = ops->n_params,
		.values = mem_alloc(1, ops->size),
	};

	param_defaults(&b);
	add_rows(f, ops->name, NULL, &b, NULL);
	mem_free(b.values);
}

/* Without rows where it is a plugin's. */
static const struct param_block *default_block(
	const struct machine *m, const struct machine *defaults, size_t i)
{
	static const struct param_block none;

	if (!defaults)
		return NULL;
	return i < defaults->n_blocks &&
			       defaults->block[i].rows == m->block[i].rows
		       ? &defaults->block[i]
		       : &none;
}

/* Those of a machine that it uses. */
static void add_machine(struct facts *f, const struct machine *m,
	const struct machine *defaults)
{
	for (size_t i = 0; i < m->n_blocks; i++)
		if (machine_uses(m, i))
			add_rows(f, NULL, m->use[i].needs, &m->block[i],
				default_block(m, defaults, i));
}

/* --- tables --- */

static const char machine_columns[] = "name|value|type|range|help|source|from";

static const char default_columns[] = "name|default|type|range|help|source";

/* Keys have no source. */
static const char key_columns[] = "name|default|type|range|help";

static bool has_same_keys(const struct load_ops *a, const struct load_ops *b)
{
	return a->params == b->params && a->n_params == b->n_params;
}

/* Workloads that share their keys share a table. */
static void add_keys(struct facts *f, size_t i)
{
	const struct load_ops *ops = load_registry[i];
	char names[512];
	size_t n, k = 0;

	while (!has_same_keys(load_registry[k], ops))
		k++;
	if (k < i)
		return; /* shown with an earlier one */
	n = (size_t)snprintf(names, sizeof(names), "%s", ops->name);
	for (k = i + 1; load_registry[k]; k++)
		if (has_same_keys(load_registry[k], ops) && n < sizeof(names))
			n += (size_t)snprintf(names + n, sizeof(names) - n,
				", %s", load_registry[k]->name);
	facts_group(f, ops->name);
	facts_say(f, NULL, "\nkeys of %s:", names);
	facts_list(f, "parameters");
	add_load(f, ops);
	facts_end(f);
	facts_table(f, "parameters", key_columns, 0);
	facts_end(f);
}

/* --- the command --- */

static int show_machine(
	const struct cli_args *a, struct facts *f, struct err *e)
{
	struct machine *m = cli_machine(a, e), *d;

	if (!m)
		return -1;
	d = machine_default();
	facts_text(f, "machine", m->header.name);
	facts_list(f, "parameters");
	add_machine(f, m, d);
	facts_end(f);
	facts_table(f, "parameters", machine_columns, 0);
	machine_free(d);
	machine_free(m);
	return 0;
}

static void show_load(struct facts *f, const struct load_ops *ops)
{
	facts_null(f, "machine");
	facts_list(f, "parameters");
	add_load(f, ops);
	facts_end(f);
	facts_table(f, "parameters", key_columns, 0);
}

/* In JSON one list with those of all machines; for people tables. */
static void show_all(const struct cli_args *a, struct facts *f)
{
	struct machine *m = machine_default();

	facts_null(f, "machine");
	facts_list(f, "parameters");
	if (!a->is_json)
		add_machine(f, m, NULL);
	for (size_t i = 0; a->is_json && i < m->n_blocks; i++)
		add_rows(f, NULL, m->use[i].needs, &m->block[i], NULL);
	for (size_t i = 0; a->is_json && load_registry[i]; i++)
		add_load(f, load_registry[i]);
	facts_end(f);
	facts_table(f, "parameters", default_columns, 0);
	for (size_t i = 0; !a->is_json && load_registry[i]; i++)
		add_keys(f, i);
	machine_free(m);
}

/* A parameter is looked for in the list. */
static int check_param(const char *name, struct err *e)
{
	struct machine *m = machine_default();
	const struct param_block *b;
	const struct param *row;
	struct err none = { 0 };
	bool is = !param_resolve(
		m->block, m->n_blocks, name, "parameter", &b, &row, &none);

	machine_free(m);
	return is ? err_set(e,
			    "%.60s is a parameter; `weft params` lists all "
			    "parameters, `weft params MACHINE` the values of a "
			    "machine",
			    name)
		  : 0;
}

/* Whether it is a machine's or a path; if not, says what is near. */
static int check_name(const char *name, struct err *e)
{
	struct machine_files *all = machine_files_all();
	const char *names[MOST_NAMES];
	char hint[NAME_HINT];
	size_t n = 0;

	while (n < MOST_NAMES - MACHINE_FILES && load_registry[n]) {
		names[n] = load_registry[n]->name;
		n++;
	}
	for (size_t i = 0; i < all->n; i++)
		names[n++] = all->name[i];
	if (!strpbrk(name, "/.") && !machine_files_find(all, name))
		err_set(e, "no machine or workload is called \"%.60s\"%s", name,
			name_hint(name, names, n,
				"; `weft machines` and `weft help run` list "
				"them",
				hint));
	machine_files_free(all);
	return e->code ? -1 : 0;
}

static int perform(const struct cli_args *a, struct facts *f, struct err *e)
{
	const struct load_ops *ops = a->n_words ? load_find(a->word[0]) : NULL;

	if ((!a->n_words || ops) && (a->n_sets || a->shape))
		return err_set(e, "--set and --shape need a machine, as in "
				  "`weft params bgq --shape 4x4`");
	if (!a->n_words)
		show_all(a, f);
	else if (ops)
		show_load(f, ops);
	else if (check_param(a->word[0], e) || check_name(a->word[0], e) ||
		 show_machine(a, f, e))
		return -1;
	return 0;
}

const struct cli_command cli_params = { .name = "params",
	.brief = "list parameters of machines and keys of workloads",
	.takes = CLI_MACHINE | CLI_JSON,
	.usage = "[MACHINE|WORKLOAD]",
	.help = "Lists all parameters of machines and keys of workloads, with "
		"default, range, meaning and source. With a machine, lists its "
		"values and where they were set; with a workload, lists its "
		"keys.",
	.words = { 0, 1 },
	.want = "(want at most one machine or workload)",
	.facts = perform };
