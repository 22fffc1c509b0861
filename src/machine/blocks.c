#define _GNU_SOURCE
#include "machine/blocks.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "machine/parts.h"
#include "router/registry.h"

/* --- all parameters --- */

static void add_block(struct machine *m, const char *section,
	const struct param *rows, size_t n, void *values, const char *needs)
{
	struct machine_use *u = &m->use[m->n_blocks];

	BUG_IF(m->n_blocks == MACHINE_BLOCKS);
	snprintf(u->needs, sizeof(u->needs), "%s", needs);
	m->block[m->n_blocks] = (struct param_block){
		.section = section,
		.rows = rows,
		.n_rows = n,
		.values = values,
		.origins = mem_alloc(n, sizeof(struct param_origin)),
	};
	param_defaults(&m->block[m->n_blocks++]);
}

static void add_table(struct machine *m, const char *section,
	const struct param *rows, void *values, const char *needs)
{
	add_block(m, section, rows, param_count(rows), values, needs);
}

static void add_word(struct machine_kind *k, const char *word)
{
	size_t n = strlen(k->words);

	snprintf(
		k->words + n, sizeof(k->words) - n, "%s%s", n ? "|" : "", word);
}

/* The row that says which variant a section has, whose default it takes; the
 * others are added with their variants. */
static struct machine_kind *add_kind(
	struct machine *m, const char *section, struct param row)
{
	struct machine_kind *k = &m->kind_row[m->n_kinds++];

	BUG_IF(m->n_kinds > sizeof(m->kind_row) / sizeof(m->kind_row[0]));
	row.name = "kind";
	row.type = PARAM_WORD;
	row.words = k->words;
	k->row = row;
	k->section = section;
	add_word(k, row.def);
	add_block(m, section, &k->row, 1, &m->kinds, "");
	return k;
}

/* A variant of a section, and the parameters that it alone has; returns
 * their values. */
static void *add_variant(struct machine *m, struct machine_kind *k,
	const char *name, const struct param *rows, size_t n, size_t size)
{
	char needs[sizeof(m->use[0].needs)];
	void *values;

	BUG_IF(k->n_variants++ == MACHINE_KINDS);
	if (strcmp(name, k->row.def) != 0)
		add_word(k, name);
	if (!size)
		return NULL;
	values = mem_alloc(1, size);
	snprintf(needs, sizeof(needs), "%s.%s", k->section, name);
	add_block(m, k->section, rows, n, values, needs);
	m->block[m->n_blocks - 1].of = m->use[m->n_blocks - 1].needs;
	return values;
}

static void add_topo(
	struct machine *m, struct machine_kind *k, const struct topo_ops *o)
{
	struct topo *t =
		add_variant(m, k, o->name, o->params, o->n_params, o->size);

	t->ops = o;
	m->topos[k->n_variants - 1] = t;
}

static void add_topos(struct machine *m)
{
	const struct topo_ops *const *o = topo_registry;
	struct machine_kind *k = add_kind(m, "topology",
		(struct param){
			.offset = offsetof(struct machine_kinds, topo),
			.def = o[0]->name,
			.help = "kind of topology",
			.source = "assumed: the simplest topology",
		});

	for (size_t i = 0; o[i]; i++)
		add_topo(m, k, o[i]);
}

/* What topologies have in this section beside their own parameters. */
static void add_topo_blocks(struct machine *m, const char *section)
{
	const struct topo_block *const *b;

	for (size_t i = 0; topo_registry[i]; i++)
		for (b = topo_registry[i]->blocks; b && *b; b++)
			if (!strcmp((*b)->section, section))
				add_block(m, section, (*b)->rows, (*b)->n_rows,
					m->topos[i], (*b)->needs);
}

static void add_links(struct machine *m)
{
	add_table(m, "link", link_params_table, &m->link, "");
	add_table(m, "link", retry_kind_table, &m->link.retry, "");
	add_table(m, "link", retry_params_table, &m->link.retry, "replay");
	add_topo_blocks(m, "link");
	add_table(m, "link", link_carried_table, &m->link, "carried-routes");
	add_table(m, "link", link_train_table, &m->link, "trains");
	add_table(m, "link", link_fibre_table, &m->link, "coded-fibres");
	add_table(m, "link", link_lane_table, &m->link, "transceivers");
	add_table(m, "link", link_block_table, &m->link, "blocks");
	add_table(m, "link", chip_params_table, &m->link.chips, "packaging");
	add_table(m, "link", link_checks_table, &m->link, "symbol-codes");
	add_table(m, "link", training_params_table, &m->lines, "cables");
}

static void add_routers(struct machine *m)
{
	const struct router_ops *const *o = router_registry;
	struct machine_kind *k = add_kind(m, "router",
		(struct param){
			.offset = offsetof(struct machine_kinds, router),
			.def = o[0]->name,
			.help = "kind of router",
		});

	add_table(m, "router", net_every_table, &m->router, "");
	add_table(m, "router", net_params_table, &m->router, "router.direct");
	for (size_t i = 0; o[i]; i++)
		m->routers[i] = add_variant(m, k, o[i]->name, o[i]->params,
			o[i]->n_params, o[i]->params_size);
}

static void add_route(
	struct machine *m, struct machine_kind *k, const struct route_ops *o)
{
	struct route *r =
		add_variant(m, k, o->name, o->params, o->n_params, o->size);

	r->ops = o;
	m->routes[k->n_variants - 1] = r;
}

static void add_routes(struct machine *m)
{
	const struct route_ops *const *o = route_registry;
	struct machine_kind *k = add_kind(m, "routing",
		(struct param){
			.offset = offsetof(struct machine_kinds, route),
			.def = "auto",
			.help = "kind of routing; auto: the usual routing of "
				"the topology",
			.source = "assumed: the topology's own",
		});

	/* another topology has another routing */
	m->block[m->n_blocks - 1].of = "topology";

	for (size_t i = 0; o[i]; i++)
		add_route(m, k, o[i]);
}

static void add_nics(struct machine *m)
{
	const struct nic_ops *const *o = nic_registry;
	struct machine_kind *k = add_kind(m, "nic",
		(struct param){
			.offset = offsetof(struct machine_kinds, nic),
			.def = "none",
			.help = "kind of network interface",
			.source = "assumed: workloads inject packets directly "
				  "into the network",
		});

	for (size_t i = 0; o[i]; i++)
		m->nics[i] = add_variant(m, k, o[i]->name, o[i]->params,
			o[i]->n_params, o[i]->params_size);
}

static void add_sides(struct machine *m)
{
	const struct side_ops *const *o = side_registry;
	struct machine_kind *k = add_kind(m, "side",
		(struct param){
			.offset = offsetof(struct machine_kinds, side),
			.def = "none",
			.help = "connection between the network interface and "
				"memory: a cache or a bus",
			.source = "assumed: follows from the network interface",
		});

	snprintf(m->use[m->n_blocks - 1].needs,
		sizeof(m->use[m->n_blocks - 1].needs), "any-side");
	for (size_t i = 0; o[i]; i++)
		m->sides[i] = add_variant(m, k, o[i]->name, o[i]->params,
			o[i]->n_params, o[i]->params_size);
}

static void add_parts(struct machine *m)
{
	parts_init(&m->parts, part_registry);
	for (size_t i = 0; i < m->parts.n; i++) {
		const struct part_slot *s = &m->parts.slot[i];

		for (const struct part_block *b = s->ops->blocks;
			b && b->section; b++)
			add_block(m, b->section, b->rows, b->n_rows,
				(char *)s->params + b->offset, s->ops->needs);
	}
}

struct machine *machine_default(void)
{
	struct machine *m = mem_alloc(1, sizeof(*m));

	m->is_whole = true;
	add_topos(m);
	add_topo_blocks(m, "topology");
	add_links(m);
	add_routers(m);
	add_routes(m);
	add_nics(m);
	add_sides(m);
	add_block(m, "host", host_params_table, HOST_PARAMS, &m->host, "nic");
	add_table(m, "host", host_processors_table, &m->host, "processors");
	add_block(m, "host", l2_params_table, L2_PARAMS, &m->host.l2, "l2");
	add_parts(m);
	add_table(m, "faults", fault_params_table, &m->fault_lines, "");
	add_table(m, "faults", fault_lines_table, &m->fault_lines, "cables");
	add_table(m, "faults", fault_chips_table, &m->fault_lines,
		"checked-chips");
	add_table(m, "faults", fault_memories_table, &m->fault_lines,
		"checked-memories");
	add_table(m, "faults", fault_bursts_table, &m->fault_lines, "blocks");
	add_table(m, "faults", fault_lanes_table, &m->fault_lines,
		"transceivers");
	return m;
}

/* --- parts from outside --- */

/* Whether a section has room for one more variant of that name. */
static int check_room(struct machine *m, const char *section, const char *name,
	struct machine_kind **kind, struct err *e)
{
	struct machine_kind *k = m->kind_row;

	while (strcmp(k->section, section) != 0)
		k++;
	if (name_has_word(k->words, '|', name))
		return err_set(e, "--plugin: %s.kind %s is defined twice",
			section, name);
	if (k->n_variants == MACHINE_KINDS ||
		strlen(k->words) + strlen(name) + 2 > sizeof(k->words) ||
		m->n_blocks == MACHINE_BLOCKS)
		return err_set(e,
			"--plugin: too many kinds; no room for %s.kind %s",
			section, name);
	*kind = k;
	return 0;
}

int machine_add_plugins(struct machine *m, struct err *e)
{
	struct machine_kind *k;

	for (size_t i = 0; i < m->plugins.n; i++) {
		const struct topo_ops *const *t = m->plugins.is[i]->topologies;
		const struct route_ops *const *r = m->plugins.is[i]->routings;

		for (size_t n = 0; t && t[n]; n++) {
			if (check_room(m, "topology", t[n]->name, &k, e))
				return -1;
			add_topo(m, k, t[n]);
		}
		for (size_t n = 0; r && r[n]; n++) {
			if (check_room(m, "routing", r[n]->name, &k, e))
				return -1;
			add_route(m, k, r[n]);
		}
	}
	return 0;
}

/* --- which parameters a machine has --- */

struct topo *machine_topo_now(const struct machine *m)
{
	return m->topos[m->kinds.topo];
}

struct topo_words machine_words_now(const struct machine *m)
{
	const struct topo *t = machine_topo_now(m);

	return t->ops->words
		       ? t->ops->words(t)
		       : (struct topo_words){ t->ops->has, t->ops->routing };
}

const struct nic_ops *machine_nic_now(const struct machine *m)
{
	return m->kinds.nic ? nic_registry[m->kinds.nic - 1] : NULL;
}

const struct side_ops *machine_side_now(const struct machine *m)
{
	return m->kinds.side ? side_registry[m->kinds.side - 1] : NULL;
}

size_t machine_route_now(const struct machine *m)
{
	const char *own = machine_words_now(m).routing;
	size_t i = 0;

	if (m->kinds.route)
		return (size_t)m->kinds.route - 1;
	while (m->routes[i + 1] && strcmp(m->routes[i]->ops->name, own))
		i++;
	return i;
}

/* "nic.elan4", or "nic" where there is any. */
static bool is_kind(const char *needs, const char *section, const char *kind)
{
	size_t n = strlen(section);

	if (!kind || strncmp(needs, section, n) != 0)
		return false;
	return !needs[n] || (needs[n] == '.' && !strcmp(needs + n + 1, kind));
}

bool machine_has(const struct machine *m, const char *word)
{
	const struct nic_ops *nic = machine_nic_now(m);
	const char *const has[] = { machine_words_now(m).has,
		m->routes[machine_route_now(m)]->ops->has,
		m->link.retry.kind ? "replay" : NULL,
		link_codes[m->link.code].has, nic ? nic->has : NULL };
	size_t i = 0;

	while (i < sizeof(has) / sizeof(has[0]) &&
		!name_has_word(has[i], ' ', word))
		i++;
	return i < sizeof(has) / sizeof(has[0]);
}

bool machine_meets(const struct machine *m, const char *needs)
{
	const char *router = router_registry[m->kinds.router]->name;
	const struct nic_ops *nic = machine_nic_now(m);
	const struct side_ops *side = machine_side_now(m);

	return !*needs || machine_has(m, needs) ||
	       is_kind(needs, "topology", machine_topo_now(m)->ops->name) ||
	       is_kind(needs, "routing",
		       m->routes[machine_route_now(m)]->ops->name) ||
	       is_kind(needs, "router", router) ||
	       is_kind(needs, "nic", nic ? nic->name : NULL) ||
	       is_kind(needs, "side", side ? side->name : NULL);
}

bool machine_uses(const struct machine *m, size_t block)
{
	return m->is_whole || machine_meets(m, m->use[block].needs);
}
