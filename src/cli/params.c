#include "cli/cli.h"

#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "load/load.h"
#include "machine/machine.h"
#include "out/json.h"
#include "out/table.h"

enum { MOST_NAMES = 320 };

/* The text of one row, whichever way it is printed. */
struct row {
	char name[PARAM_TEXT_MAX];
	char value[PARAM_TEXT_MAX];
	char range[2 * PARAM_TEXT_MAX];
	char source[2 * PARAM_TEXT_MAX];
	const char *place;
};

/* A default without a source is a choice that a user is free to make. */
static void read_row(
	struct row *r, const struct param_block *b, const struct param *row)
{
	const struct param_origin *o =
		b->origins ? &b->origins[row - b->rows] : NULL;
	const char *source = row->source ? row->source : "choice";

	if (o && *o->place)
		source = *o->source ? o->source : "not given";
	snprintf(r->name, sizeof(r->name), "%s%s%s", b->section,
		*b->section ? "." : "", row->name);
	param_format(b, row, r->value, sizeof(r->value));
	param_range(row, r->range, sizeof(r->range));
	snprintf(r->source, sizeof(r->source), "%s", source);
	r->place = o && *o->place ? o->place : "default";
}

/* --- as text --- */

static const struct table_column machine_columns[] = {
	{ "name", false },
	{ "value", false },
	{ "type", false },
	{ "range", false },
	{ "help", false },
	{ "source", false },
	{ "from", false },
};

static const struct table_column default_columns[] = {
	{ "name", false },
	{ "default", false },
	{ "type", false },
	{ "range", false },
	{ "help", false },
	{ "source", false },
};

static void add_rows(struct table *t, const struct param_block *b)
{
	struct row r;

	for (size_t i = 0; i < b->n_rows; i++) {
		read_row(&r, b, &b->rows[i]);
		table_add(t, (const char *[]){ r.name, r.value,
				     param_type_name(b->rows[i].type), r.range,
				     b->rows[i].help, r.source, r.place });
	}
}

static void print_table(struct table *t, FILE *f)
{
	table_print(t, f, cli_width(stdout), cli_colour(stdout));
	table_fini(t);
}

static void print_machine(const struct machine *m, bool is_loaded, FILE *f)
{
	struct table t;

	if (is_loaded)
		table_init(&t, machine_columns, 7);
	else
		table_init(&t, default_columns, 6);
	for (size_t i = 0; i < m->n_blocks; i++)
		if (machine_uses(m, i))
			add_rows(&t, &m->block[i]);
	print_table(&t, f);
}

/* The keys of a workload with their defaults; to be freed. */
static struct param_block keys_of(const struct load_ops *ops)
{
	struct param_block b = {
		.section = "",
		.rows = ops->params,
		.n_rows = ops->n_params,
		.values = mem_alloc(1, ops->size),
	};

	param_defaults(&b);
	return b;
}

static void print_load(const struct load_ops *ops, FILE *f)
{
	struct param_block b = keys_of(ops);
	struct table t;

	table_init(&t, default_columns, 5); /* keys have no source */
	add_rows(&t, &b);
	print_table(&t, f);
	mem_free(b.values);
}

static bool has_same_keys(const struct load_ops *a, const struct load_ops *b)
{
	return a->params == b->params && a->n_params == b->n_params;
}

/* Workloads that share their keys share a table. */
static void print_loads(FILE *f)
{
	for (size_t i = 0; load_registry[i]; i++) {
		const struct load_ops *ops = load_registry[i];
		size_t j = 0, k;

		while (!has_same_keys(load_registry[j], ops))
			j++;
		if (j < i)
			continue; /* printed with an earlier one */
		fprintf(f, "\nkeys of %s", ops->name);
		for (k = i + 1; load_registry[k]; k++)
			if (has_same_keys(load_registry[k], ops))
				fprintf(f, ", %s", load_registry[k]->name);
		fputs(":\n", f);
		print_load(ops, f);
	}
}

/* --- as JSON --- */

/* defaults is NULL where b itself has them. */
static void json_rows(struct json *j, const char *workload, const char *needs,
	const struct param_block *b, const struct param_block *defaults)
{
	char text[PARAM_TEXT_MAX];
	struct row r;

	for (size_t i = 0; i < b->n_rows; i++) {
		read_row(&r, b, &b->rows[i]);
		json_object(j, NULL);
		json_text(j, "workload", workload);
		json_text(j, "name", r.name);
		if (needs && *needs)
			json_text(j, "needs", needs);
		if (defaults)
			json_text(j, "value", r.value);
		param_format(defaults ? defaults : b, &b->rows[i], text,
			sizeof(text));
		json_text(j, "default", text);
		json_text(j, "type", param_type_name(b->rows[i].type));
		json_text(j, "range", r.range);
		json_text(j, "help", b->rows[i].help);
		json_text(j, "source", r.source);
		if (defaults)
			json_text(j, "from", r.place);
		json_end(j, '}');
	}
}

static void json_load(struct json *j, const struct load_ops *ops)
{
	struct param_block b = keys_of(ops);

	json_rows(j, ops->name, NULL, &b, NULL);
	mem_free(b.values);
}

static void begin_json(struct json *j, FILE *f, const char *machine)
{
	json_init(j, f);
	json_object(j, NULL);
	json_text(j, "machine", machine);
	json_array(j, "parameters");
}

static void end_json(struct json *j)
{
	json_end(j, ']');
	json_end(j, '}');
}

static void json_machine(const struct machine *m, FILE *f)
{
	struct machine *d = machine_default();
	struct json j;

	begin_json(&j, f, m->header.name);
	for (size_t i = 0; i < m->n_blocks; i++)
		if (machine_uses(m, i))
			json_rows(&j, NULL, m->use[i].needs, &m->block[i],
				&d->block[i]);
	end_json(&j);
	machine_free(d);
}

static void json_all(const struct machine *m, FILE *f)
{
	struct json j;

	begin_json(&j, f, NULL);
	for (size_t i = 0; i < m->n_blocks; i++)
		json_rows(&j, NULL, m->use[i].needs, &m->block[i], NULL);
	for (size_t i = 0; load_registry[i]; i++)
		json_load(&j, load_registry[i]);
	end_json(&j);
}

/* --- the command --- */

static int show_machine(const struct cli_args *a, FILE *f, struct err *e)
{
	struct machine *m = cli_machine(a, e);

	if (!m)
		return -1;
	if (a->is_json)
		json_machine(m, f);
	else
		print_machine(m, true, f);
	machine_free(m);
	return 0;
}

static void show_load(
	const struct cli_args *a, const struct load_ops *ops, FILE *f)
{
	struct json j;

	if (!a->is_json) {
		print_load(ops, f);
		return;
	}
	begin_json(&j, f, NULL);
	json_load(&j, ops);
	end_json(&j);
}

static void show_all(const struct cli_args *a, FILE *f)
{
	struct machine *m = machine_default();

	if (a->is_json) {
		json_all(m, f);
	} else {
		print_machine(m, false, f);
		print_loads(f);
	}
	machine_free(m);
}

struct names {
	char *name[MOST_NAMES];
	size_t n;
};

static void on_name(void *arg, const char *name, const char *path)
{
	struct names *all = arg;

	(void)path;
	if (all->n < MOST_NAMES)
		all->name[all->n++] = mem_text(name);
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
			    "%.60s is a parameter; `weft params` lists all, "
			    "and "
			    "`weft params MACHINE` a machine's with their "
			    "values",
			    name)
		  : 0;
}

/* Whether it is a machine's or a path; if not, says what is near. */
static int check_name(const char *name, struct err *e)
{
	struct names all = { 0 };
	struct err none = { 0 };
	char hint[NAME_HINT];
	bool found = strpbrk(name, "/.");

	for (size_t i = 0; load_registry[i]; i++)
		on_name(&all, load_registry[i]->name, NULL);
	machine_list(on_name, &all, &none);
	for (size_t i = 0; i < all.n && !found; i++)
		found = !strcmp(all.name[i], name);
	if (!found)
		err_set(e, "no machine or workload is called \"%.60s\"%s", name,
			name_hint(name, (const char *const *)all.name, all.n,
				"; `weft machines` and `weft help run` list "
				"them",
				hint));
	for (size_t i = 0; i < all.n; i++)
		mem_free(all.name[i]);
	return found ? 0 : -1;
}

static int perform(const struct cli_args *a, FILE *f, struct err *e)
{
	const struct load_ops *ops = a->n_words ? load_find(a->word[0]) : NULL;

	if (a->n_words > 1)
		return err_set(e,
			"unexpected argument \"%.60s\" (want at most one "
			"machine or workload)",
			a->word[1]);
	if ((!a->n_words || ops) && (a->n_sets || a->shape))
		return err_set(e, "--set and --shape need a machine, as in "
				  "`weft params bgq --shape 4x4`");
	if (!a->n_words)
		show_all(a, f);
	else if (ops)
		show_load(a, ops, f);
	else if (check_param(a->word[0], e) || check_name(a->word[0], e) ||
		 show_machine(a, f, e))
		return -1;
	return 0;
}

int cli_params(int argc, char **argv, struct err *e)
{
	struct cli_args args;
	int code = cli_parse(&args, argc, argv, CLI_MACHINE | CLI_JSON,
		"[MACHINE|WORKLOAD]",
		"Lists every parameter with its default, range, meaning and "
		"source. With a machine, lists the machine's values and where "
		"they come from; with a workload, the workload's keys.",
		e);

	if (code)
		return code < 0 ? -1 : 0;
	return cli_print(&args, perform, e);
}
