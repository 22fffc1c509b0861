/*
 * Parts of a torus that people name: links and nodes, and of routers with nodes
 * of their own chips, boards of chips, and connections, which are the parallel
 * links of one cable.
 */
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "topo/parts.h"
#include "topo/torus.h"

#define AT(field) offsetof(struct torus, field)

static const struct param params[] = {
	PARAM_ROW(PARAM_COUNTS, "board", AT(blade), "1", 1, TORUS_MAX_LENGTH,
		"number of routers on a board along each dimension; the last "
		"number applies to all further dimensions",
		"assumed: each on its own"),
	PARAM_ROW(PARAM_COUNT, "connection", AT(connection), "4", 1,
		TOPO_MAX_PORTS,
		"number of parallel links in a connection, which share a cable",
		"GEM-N27"),
};

const struct topo_block torus_boards = {
	.section = "topology",
	.needs = "boards",
	.rows = params,
	.n_rows = sizeof(params) / sizeof(params[0]),
};

static bool has_nodes(const struct topo *t)
{
	return torus_of(t)->nodes > 0;
}

/* Wire i of a router. */
static bool wire_of(
	const struct topo *t, router_id r, uint32_t *i, struct topo_end *end)
{
	for (port_id p = 0; p < t->n_ports; p++) {
		*end = (struct topo_end){ r, p };
		if (t->ops->peer(t, r, p).router != NO_ROUTER && !(*i)--)
			return true;
	}
	return false;
}

/* --- chips and boards --- */

static uint32_t blade_of(const struct torus *t, uint32_t dim)
{
	int64_t last = t->blade.n - 1, n;

	n = t->blade.n ? t->blade.v[dim < last ? dim : last] : 1;
	return n < t->dim[dim] ? (uint32_t)n : t->dim[dim];
}

/* Router i of the board that a router is on, or of one router. */
static bool router_of(
	const struct topo *topo, const struct part *p, uint32_t i, router_id *r)
{
	const struct torus *t = torus_of(topo);

	*r = p->site;
	if (!p->unit)
		return !i;
	for (uint32_t d = 0; d < t->n_dims; d++) {
		uint32_t n = blade_of(t, d);
		uint32_t x = torus_coord(t, p->site - t->first, d);
		uint32_t from = x - x % n;

		if (n > t->dim[d] - from)
			n = t->dim[d] - from; /* the last is smaller */
		*r += (from + i % n - x) * t->stride[d];
		i /= n;
	}
	return !i;
}

static bool chips_wire(const struct topo *t, const struct part *p, uint32_t i,
	struct topo_end *end)
{
	router_id r;

	for (uint32_t k = 0; router_of(t, p, k, &r); k++)
		if (wire_of(t, r, &i, end))
			return true;
	return false;
}

static bool chips_site(
	const struct topo *t, const struct part *p, uint32_t i, router_id *site)
{
	uint32_t nodes = (uint32_t)torus_of(t)->nodes, per = nodes + 1;
	router_id r;

	if (!router_of(t, p, i / per, &r))
		return false;
	*site = i % per ? (r - torus_of(t)->first) * nodes + i % per - 1 : r;
	return true;
}

/* A board is called by any of its chips; the first one stands for it. */
static int read_chips(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	const struct topo *t = names->topo;

	p->port = PART_SITE;
	if (part_find_site(names, "chip", word[0], t->n_nodes, t->n_routers,
		    &p->site, e))
		return -1;
	p->unit = !strcmp(k->word, "board");
	router_of(t, p, 0, &p->site);
	return n > 1 ? err_set(e, "unexpected word \"%.40s\"", word[1]) : 0;
}

static const struct part_kind chip = {
	.word = "chip",
	.is_site = true,
	.exists = has_nodes,
	.read = read_chips,
	.wire = chips_wire,
	.sites = chips_site,
};
static const struct part_kind board = {
	.word = "board",
	.is_site = true,
	.exists = has_nodes,
	.read = read_chips,
	.wire = chips_wire,
	.sites = chips_site,
};

/* --- connections --- */

static uint32_t n_connections(const struct torus *t, uint32_t dim)
{
	uint32_t per = (uint32_t)t->connection;

	return (t->n_links[dim] + per - 1) / per;
}

/* "z-1"; the only one of a direction is "y-" as well. */
static int find_connection(
	const struct torus *t, const char *name, struct part *p)
{
	uint32_t dim, k;
	char *end;

	for (dim = 0; dim < t->n_dims; dim++)
		if (t->letters[dim] == name[0])
			break;
	if (dim == t->n_dims || (name[1] != '+' && name[1] != '-'))
		return -1;
	k = (uint32_t)strtoul(name + 2, &end, 10);
	if (*end || k >= n_connections(t, dim) ||
		(!name[2] && n_connections(t, dim) > 1))
		return -1;
	p->port = t->base[dim] + 2 * k * (uint32_t)t->connection +
		  (name[1] == '-');
	return 0;
}

static bool connection_wire(const struct topo *topo, const struct part *p,
	uint32_t i, struct topo_end *end)
{
	const struct torus *t = torus_of(topo);
	port_id port = p->port + 2 * i;
	uint32_t dim = topo->ops->direction(topo, p->port).number / 2;

	*end = (struct topo_end){ p->site, port };
	return i < (uint32_t)t->connection && port < t->base[dim + 1];
}

static int refuse_connection(
	const struct torus *t, const char *name, struct err *e)
{
	char text[TOPO_MAX_PORTS][16], hint[NAME_HINT];
	const char *names[TOPO_MAX_PORTS];
	uint32_t n = 0;

	for (uint32_t dim = 0; dim < t->n_dims; dim++) {
		for (uint32_t k = 0; k < 2 * n_connections(t, dim); k++, n++) {
			snprintf(text[n], sizeof(text[n]), "%c%c%u",
				t->letters[dim], k % 2 ? '-' : '+', k / 2);
			names[n] = text[n];
		}
	}
	return err_set(e, "unknown connection \"%.40s\"%s", name,
		name_hint(name, names, n, "", hint));
}

static int read_connection(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	const struct topo *t = names->topo;
	struct topo_end far;

	(void)k;
	if (part_find_site(names, "chip", word[0], t->n_nodes, t->n_routers,
		    &p->site, e))
		return -1;
	if (n < 2)
		return err_set(e, "the name of the connection is missing "
				  "(want, for example, connection 1,0,3 z-1)");
	if (n > 2)
		return err_set(e, "unexpected word \"%.40s\"", word[2]);
	if (find_connection(torus_of(t), word[1], p))
		return refuse_connection(torus_of(t), word[1], e);
	far = t->ops->peer(t, p->site, p->port);
	if (far.router == NO_ROUTER)
		return err_set(e, "nothing is connected to %s of chip %s",
			word[1], word[0]);
	/* the lower of its two ends stands for both */
	if (far.router < p->site) {
		p->site = far.router;
		p->port = far.port;
	}
	return 0;
}

static const struct part_kind connection = {
	.word = "connection",
	.exists = has_nodes,
	.read = read_connection,
	.wire = connection_wire,
};

/* A switch is a chip that leaves its nodes alive. */
const struct part_kind *const torus_parts[] = { &part_link, &part_switch,
	&part_node, &chip, &connection, &board, NULL };
