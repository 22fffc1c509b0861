#include "route/table_testing.h"

#include <string.h>

#include "testing/testing.h"

const struct table_how table_prototype = { .tree = { .nodes = "512",
						   .radix = "18x32",
						   .up = "18",
						   .fill = "16",
						   .rails = "2",
						   .siblings = "4",
						   .ports = "40",
						   .parallel = "1" } };
const struct table_how table_exa = { .tree = { .nodes = "104976",
					     .radix = "18",
					     .up = "18",
					     .rails = "2",
					     .siblings = "4",
					     .ports = "40",
					     .parallel = "1" },
	.supernode_bits = "9",
	.number_bits = "9",
	.supernode = "324" };
const struct table_how table_some[] = {
	{ .tree = { .nodes = "16", .radix = "2", .siblings = "1" } },
	{ .tree = { .nodes = "16", .radix = "2", .siblings = "1" },
		.supernode = "4" },
	{ .tree = { .nodes = "16", .radix = "2", .siblings = "1" },
		.sideways = "always" },
	{ .tree = { .nodes = "32",
		  .radix = "18x32",
		  .up = "18",
		  .fill = "16",
		  .rails = "2",
		  .siblings = "4",
		  .ports = "40",
		  .parallel = "1" } },
	{ .tree = { .nodes = "24",
		  .radix = "4x2x4",
		  .up = "1x3",
		  .fill = "3",
		  .siblings = "2",
		  .rails = "3" },
		.sideways = "always" },
	{ .tree = { .nodes = "18", .radix = "3x6", .siblings = "2" },
		.sideways = "no" },
	{ .tree = { .nodes = "18", .radix = "3x6" }, .supernode = "3" },
	{ .tree = { .nodes = "7", .radix = "4", .rails = "2" } },
	{ .tree = { .nodes = "5", .radix = "8", .siblings = "1" } },
	{ .tree = { .nodes = NULL } },
};

static int set(const struct param_block *b, const char *name, const char *text,
	struct err *e)
{
	return text ? param_read(b, param_find(b, name), text, e) : 0;
}

int table_try(
	struct table_machine *m, const struct table_how *how, struct err *e)
{
	struct param_block b = {
		.section = "routing",
		.rows = table_ops.params,
		.n_rows = table_ops.n_params,
		.values = &m->x,
	};

	memset(m, 0, sizeof(*m));
	tree_make(&m->t, &how->tree);
	m->x.route.ops = &table_ops;
	param_defaults(&b);
	if (set(&b, "sideways", how->sideways, e) ||
		set(&b, "supernode-bits", how->supernode_bits, e) ||
		set(&b, "number-bits", how->number_bits, e) ||
		set(&b, "supernode", how->supernode, e))
		return -1;
	return table_ops.init(&m->x.route, &m->t.topo, e);
}

void table_make(struct table_machine *m, const struct table_how *how)
{
	struct err e = { 0 };

	if (table_try(m, how, &e))
		fail_msg("%s", e.text);
}

void table_unmake(struct table_machine *m)
{
	table_ops.fini(&m->x.route);
}

void table_kill(
	const struct table_machine *m, port_mask *dead, router_id r, port_id p)
{
	struct topo_end far = m->t.topo.ops->peer(&m->t.topo, r, p);

	assert_true(far.router != NO_ROUTER);
	dead[r] |= (port_mask)1 << p;
	dead[far.router] |= (port_mask)1 << far.port;
}

/* The first of a mask from some port on, around. */
static port_id first_of(port_mask m, uint32_t first)
{
	port_mask from = m >> first << first;

	return (port_id)__builtin_ctzll(from ? from : m);
}

uint32_t table_carry(const struct table_machine *m, const port_mask *dead,
	struct packet *p, uint32_t rail)
{
	const struct route *r = &m->x.route;
	const struct topo *t = &m->t.topo;
	struct topo_end at = { p->src, TOPO_NO_PORT };
	uint32_t n = 0;

	route_begin(r, p);
	for (port_id port = rail; at.router != p->dst; n++) {
		struct route_choice c;
		port_mask m1, m2;

		if (at.router >= t->n_nodes) {
			c = r->lists->choose(r, NULL, p, at.router, at.port);
			m1 = c.ports & ~(dead ? dead[at.router] : 0);
			m2 = c.later & ~(dead ? dead[at.router] : 0);
			if (!m1 && !m2)
				return 0;
			port = first_of(m1 ? m1 : m2, c.first);
		} else if (dead && dead[at.router] >> port & 1) {
			return 0;
		}
		at = t->ops->peer(t, at.router, port);
		assert_true(at.router != NO_ROUTER);
		assert_true(n < 32);
	}
	return p->dst < t->n_nodes ? n - 1 : n;
}
