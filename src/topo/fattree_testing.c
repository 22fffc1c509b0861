#include "topo/fattree_testing.h"

#include "testing/testing.h"
#include "topo/topo_testing.h"

#include <string.h>

const struct tree_how tree_some[] = {
	{ .nodes = "1" },
	{ .nodes = "2" },
	{ .nodes = "4" },
	{ .nodes = "5" },
	{ .nodes = "16" },
	{ .nodes = "17", .length = "7x3x20" },
	{ .nodes = "30", .up = "2x3" },
	{ .nodes = "64", .spread = "rotate" },
	{ .nodes = "64", .up = "4x1", .spread = "single" },
	{ .nodes = "70", .up = "1" },
	{ .nodes = "64", .radix = "2", .up = "2", .length = "2x3x4x5x6x7" },
	{ .nodes = "50", .radix = "3", .up = "3x2x1" },
	{ .nodes = "100", .radix = "6", .up = "5x6" },
	{ .nodes = "60", .radix = "3x4x5" },
	{ .nodes = "41", .radix = "5x2x6", .up = "2x4" },
	{ .nodes = "100", .ports = "8" },
	{ .nodes = "7", .ports = "8" },
	{ .nodes = "25", .ports = "10", .spread = "adaptive" },
	{ .nodes = "48", .ports = "12", .taper = "2", .spread = "rotate" },
	{ .nodes = "77", .ports = "12", .taper = "3x2", .spread = "adaptive" },
	{ .nodes = "60", .radix = "4", .parallel = "2" },
	{ .nodes = "32", .ports = "8", .rails = "2", .join = "2" },
	{ .nodes = "24", .radix = "3", .rails = "3", .join = "1" },
	{ .nodes = "16",
		.radix = "2",
		.rails = "2",
		.join = "3",
		.spread = "adaptive" },
	{ .nodes = NULL },
};

/* In the first block, or else in the second. */
static int set(const struct param_block *b, const char *name, const char *text,
	struct err *e)
{
	const struct param *row = param_find(b, name);

	if (!text)
		return 0;
	return row ? param_read(b, row, text, e)
		   : param_read(b + 1, param_find(b + 1, name), text, e);
}

int tree_try(struct fattree *t, const struct tree_how *how, struct err *e)
{
	const struct topo_block *wide = &fattree_wide;
	struct param_block b[] = {
		{ "topology", fattree_ops.params, fattree_ops.n_params, t, NULL,
			NULL },
		{ "topology", wide->rows, wide->n_rows, t, NULL, NULL },
	};

	memset(t, 0, sizeof(*t));
	t->topo.ops = &fattree_ops;
	topo_defaults(&t->topo);
	t->logic = 21000;
	t->delay = 4000;
	if (set(b, "cable.length", "5x4", e) ||
		set(b, "cable.copper", "13", e) ||
		set(b, "nodes", how->nodes, e) ||
		set(b, "radix", how->radix, e) || set(b, "up", how->up, e) ||
		set(b, "fill", how->fill, e) ||
		set(b, "rails", how->rails, e) ||
		set(b, "siblings", how->siblings, e) ||
		set(b, "join", how->join, e) ||
		set(b, "ports", how->ports, e) ||
		set(b, "taper", how->taper, e) ||
		set(b, "parallel", how->parallel, e) ||
		set(b, "cable.length", how->length, e))
		return -1;
	return fattree_ops.init(&t->topo, e);
}

void tree_make(struct fattree *t, const struct tree_how *how)
{
	struct err e = { 0 };

	if (tree_try(t, how, &e))
		fail_msg("%s", e.text);
}

void tree_is_refused(const struct tree_how *how, const char *what)
{
	struct fattree m;
	struct err e = { 0 };

	assert_int_equal(tree_try(&m, how, &e), -1);
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	if (!strstr(e.text, what))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, what);
}

void tree_is_called(
	const struct fattree *t, router_id r, port_id p, const char *want)
{
	char text[64], port[16];

	topo_name_site(&t->topo, r, text, sizeof(text));
	t->topo.ops->name_port(&t->topo, r, p, port, sizeof(port));
	strcat(strcat(text, ", "), port);
	assert_string_equal(text, want);
}
