#include "cli/cli.h"

#include "machine/machine.h"
#include "out/json.h"
#include "out/table.h"

/* One of the two is in use. */
struct listing {
	struct json *json;
	struct table *table;
};

static const char *sketch(const struct machine *m, char *text, size_t size)
{
	text[0] = '\0';
	if (m->topo->ops->sketch)
		m->topo->ops->sketch(m->topo, text, size);
	return text;
}

static void add_json(struct json *j, const char *name, const char *path,
	const struct machine *m, const struct err *e)
{
	char shape[PARAM_TEXT_MAX], picture[PARAM_TEXT_MAX];

	json_object(j, NULL);
	json_text(j, "name", name);
	json_text(j, "file", path);
	if (m) {
		machine_shape(m, shape, sizeof(shape));
		json_count(j, "nodes", m->topo->n_nodes);
		json_text(j, "shape", shape);
		json_text(j, "picture", sketch(m, picture, sizeof(picture)));
		json_text(j, "title", m->header.title);
	} else {
		json_text(j, "error", e->text);
	}
	json_end(j, '}');
}

static void add_row(struct table *t, const char *name, const struct machine *m,
	const struct err *e)
{
	char nodes[24], shape[PARAM_TEXT_MAX], picture[PARAM_TEXT_MAX];

	if (!m) {
		table_add(
			t, (const char *[]){ name, NULL, NULL, NULL, e->text });
		return;
	}
	snprintf(nodes, sizeof(nodes), "%u", m->topo->n_nodes);
	machine_shape(m, shape, sizeof(shape));
	table_add(t,
		(const char *[]){ name, nodes, shape,
			sketch(m, picture, sizeof(picture)), m->header.title });
}

/* A file that cannot be read is listed with the reason, beside the others. */
static void on_machine(void *arg, const char *name, const char *path)
{
	struct listing *l = arg;
	struct err e = { 0 };
	struct machine *m = machine_look(path, &e);

	if (l->json)
		add_json(l->json, name, path, m, &e);
	else
		add_row(l->table, name, m, &e);
	machine_free(m);
}

static int list_json(FILE *f, struct err *e)
{
	struct json j;
	struct listing l = { .json = &j };

	json_init(&j, f);
	json_object(&j, NULL);
	json_array(&j, "machines");
	if (machine_list(on_machine, &l, e))
		return -1;
	json_end(&j, ']');
	json_end(&j, '}');
	return 0;
}

static int list_text(FILE *f, struct err *e)
{
	static const struct table_column columns[] = {
		{ "name", false },
		{ "nodes", true },
		{ "shape", false },
		{ "picture", false },
		{ "title", false },
	};
	struct table t;
	struct listing l = { .table = &t };
	int failed;

	table_init(&t, columns, 5);
	failed = machine_list(on_machine, &l, e);
	if (!failed)
		table_print(&t, f, cli_width(stdout), cli_colour(stdout));
	table_fini(&t);
	return failed;
}

static int perform(const struct cli_args *a, FILE *f, struct err *e)
{
	return a->is_json ? list_json(f, e) : list_text(f, e);
}

int cli_machines(int argc, char **argv, struct err *e)
{
	struct cli_args args;
	int code = cli_parse(&args, argc, argv, CLI_JSON, "",
		"Lists the available machines, their sizes, and a picture of "
		"each: o is a node, # a switch, () a ring, [] a line, 16# many "
		"in a row, x3 levels or groups; = joins levels with as many "
		"links up as down, - with fewer.",
		e);

	if (code)
		return code < 0 ? -1 : 0;
	if (args.n_words)
		return err_set(e,
			"unexpected argument \"%.60s\" (`weft machines` takes "
			"only options)",
			args.word[0]);
	return cli_print(&args, perform, e);
}
