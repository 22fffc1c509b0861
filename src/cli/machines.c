#include "cli/cli.h"

#include "facts/facts.h"
#include "machine/machine.h"

static void add_machine(struct facts *f, const struct machine *m)
{
	char shape[PARAM_TEXT_MAX], picture[PARAM_TEXT_MAX] = "";

	machine_shape(m, shape, sizeof(shape));
	if (m->topo->ops->sketch)
		m->topo->ops->sketch(m->topo, picture, sizeof(picture));
	facts_count(f, "nodes", m->topo->n_nodes);
	facts_text(f, "shape", shape);
	facts_text(f, "picture", picture);
	facts_text(f, "title", m->header.title);
}

/* A file that cannot be read is listed with the reason, beside the others. */
static void on_machine(void *arg, const char *name, const char *path)
{
	struct facts *f = arg;
	struct err e = { 0 };
	struct machine *m = machine_look(path, &e);

	facts_group(f, NULL);
	facts_text(f, "name", name);
	facts_text(f, "file", path);
	if (m)
		add_machine(f, m);
	else
		facts_text(f, "error", e.text);
	facts_end(f);
	machine_free(m);
}

static int list(const struct cli_args *a, struct facts *f, struct err *e)
{
	static const char columns[] =
		"name|>nodes=[{nodes}]|shape=[{shape}]|picture=[{picture}]|"
		"title=[{title}][{error}]";
	int failed;

	(void)a;
	facts_list(f, "machines");
	failed = machine_list(on_machine, f, e);
	facts_end(f);
	facts_table(f, "machines", columns, 0);
	return failed;
}

const struct cli_command cli_machines = { .name = "machines",
	.brief = "list the machines",
	.takes = CLI_JSON,
	.usage = "",
	.help = "Lists the available machines with their nodes, shapes and "
		"pictures.\vIn a picture, o is a node, # a switch or a router "
		"with nodes of its own, () a ring and [] a line; 16# stands "
		"for 16 switches in a row, x3 for three levels or groups; = "
		"joins levels with as many links up as down, - levels with "
		"fewer links up.",
	.want = "(`weft machines` takes only options)",
	.facts = list };
