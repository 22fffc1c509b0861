#define _GNU_SOURCE
#include "machine/machine.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "router/registry.h"

/* --- reading --- */

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

/* The parameters that only one variant of a section has. */
static void add_variant(struct machine *m, const char *section,
	const char *name, const struct param *rows, size_t n, void *values)
{
	char needs[sizeof(m->use[0].needs)];

	snprintf(needs, sizeof(needs), "%s.%s", section, name);
	add_block(m, section, rows, n, values, needs);
}

/* The row that says which variant a section has. */
static void add_kind(struct machine *m, struct machine_kind *k,
	const char *section, struct param row)
{
	row.name = "kind";
	row.type = PARAM_WORD;
	row.words = k->words;
	k->row = row;
	add_block(m, section, &k->row, 1, &m->kinds, "");
}

static void add_word(struct machine_kind *k, const char *word)
{
	size_t n = strlen(k->words);

	snprintf(
		k->words + n, sizeof(k->words) - n, "%s%s", n ? "|" : "", word);
}

static void add_topos(struct machine *m)
{
	size_t i;

	for (i = 0; topo_registry[i]; i++)
		add_word(&m->kind_row[0], topo_registry[i]->name);
	add_kind(m, &m->kind_row[0], "topology",
		(struct param){
			.offset = offsetof(struct machine_kinds, topo),
			.def = topo_registry[0]->name,
			.help = "kind of topology",
			.source = "assumed: the simplest topology",
		});
	for (i = 0; topo_registry[i]; i++) {
		const struct topo_ops *ops = topo_registry[i];

		BUG_IF(i == MACHINE_KINDS);
		m->topos[i] = mem_alloc(1, ops->size);
		m->topos[i]->ops = ops;
		add_variant(m, "topology", ops->name, ops->params,
			ops->n_params, m->topos[i]);
	}
}

/* What topologies have in this section beside their own parameters. */
static void add_topo_blocks(struct machine *m, const char *section)
{
	const struct topo_block *const *b;
	size_t i;

	for (i = 0; topo_registry[i]; i++)
		for (b = topo_registry[i]->blocks; b && *b; b++)
			if (!strcmp((*b)->section, section))
				add_block(m, section, (*b)->rows, (*b)->n_rows,
					m->topos[i], (*b)->needs);
}

static void add_links(struct machine *m)
{
	add_block(m, "link", link_params_table, link_params_n, &m->link, "");
	add_block(
		m, "link", retry_kind_table, retry_kind_n, &m->link.retry, "");
	add_block(m, "link", retry_params_table, retry_params_n, &m->link.retry,
		"replay");
	add_topo_blocks(m, "link");
	add_block(m, "link", link_carried_table, link_carried_n, &m->link,
		"carried-routes");
	add_block(m, "link", training_params_table, training_params_n,
		&m->lines, "cables");
}

static void add_routers(struct machine *m)
{
	size_t i;

	for (i = 0; router_registry[i]; i++)
		add_word(&m->kind_row[3], router_registry[i]->name);
	add_kind(m, &m->kind_row[3], "router",
		(struct param){
			.offset = offsetof(struct machine_kinds, router),
			.def = router_registry[0]->name,
			.help = "kind of router",
		});
	add_block(m, "router", net_every_table, net_every_n, &m->router, "");
	add_block(m, "router", net_params_table, net_params_n, &m->router,
		"router.direct");
	for (i = 0; router_registry[i]; i++) {
		const struct router_ops *ops = router_registry[i];

		BUG_IF(i == MACHINE_KINDS);
		if (!ops->params)
			continue;
		m->routers[i] = mem_alloc(1, ops->params_size);
		add_variant(m, "router", ops->name, ops->params, ops->n_params,
			m->routers[i]);
	}
}

static void add_routes(struct machine *m)
{
	size_t i;

	add_word(&m->kind_row[1], "auto");
	for (i = 0; route_registry[i]; i++)
		add_word(&m->kind_row[1], route_registry[i]->name);
	add_kind(m, &m->kind_row[1], "routing",
		(struct param){
			.offset = offsetof(struct machine_kinds, route),
			.def = "auto",
			.help = "kind of routing; auto: the usual one for the "
				"topology",
			.source = "assumed: the topology's own",
		});
	for (i = 0; route_registry[i]; i++) {
		const struct route_ops *ops = route_registry[i];

		BUG_IF(i == MACHINE_KINDS);
		m->routes[i] = mem_alloc(1, ops->size);
		m->routes[i]->ops = ops;
		add_variant(m, "routing", ops->name, ops->params, ops->n_params,
			m->routes[i]);
	}
}

static void add_nics(struct machine *m)
{
	size_t i;

	add_word(&m->kind_row[2], "none");
	for (i = 0; nic_registry[i]; i++)
		add_word(&m->kind_row[2], nic_registry[i]->name);
	add_kind(m, &m->kind_row[2], "nic",
		(struct param){
			.offset = offsetof(struct machine_kinds, nic),
			.def = "none",
			.help = "kind of network interface",
			.source = "assumed: workloads inject packets directly "
				  "into the network",
		});
	for (i = 0; nic_registry[i]; i++) {
		const struct nic_ops *ops = nic_registry[i];

		BUG_IF(i == MACHINE_KINDS);
		m->nics[i] = mem_alloc(1, ops->params_size);
		add_variant(m, "nic", ops->name, ops->params, ops->n_params,
			m->nics[i]);
	}
}

static void add_sides(struct machine *m)
{
	size_t i;

	add_word(&m->kind_row[4], "none");
	for (i = 0; side_registry[i]; i++)
		add_word(&m->kind_row[4], side_registry[i]->name);
	add_kind(m, &m->kind_row[4], "side",
		(struct param){
			.offset = offsetof(struct machine_kinds, side),
			.def = "none",
			.help = "what connects the network interface to "
				"memory: a cache or a bus",
			.source = "assumed: follows from the network interface",
		});
	snprintf(m->use[m->n_blocks - 1].needs,
		sizeof(m->use[m->n_blocks - 1].needs), "any-side");
	for (i = 0; side_registry[i]; i++) {
		const struct side_ops *ops = side_registry[i];

		BUG_IF(i == MACHINE_KINDS);
		m->sides[i] = mem_alloc(1, ops->params_size);
		add_variant(m, "side", ops->name, ops->params, ops->n_params,
			m->sides[i]);
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
	add_block(m, "host", l2_params_table, L2_PARAMS, &m->host.l2, "l2");
	add_block(m, "faults", fault_params_table, fault_params_n,
		&m->fault_lines, "");
	add_block(m, "faults", fault_lines_table, fault_lines_n,
		&m->fault_lines, "cables");
	return m;
}

/* --- which parameters a machine has --- */

static struct topo *topo_now(const struct machine *m)
{
	return m->topos[m->kinds.topo];
}

static struct topo_words words_now(const struct machine *m)
{
	const struct topo *t = topo_now(m);

	return t->ops->words
		       ? t->ops->words(t)
		       : (struct topo_words){ t->ops->has, t->ops->routing };
}

static const struct nic_ops *nic_now(const struct machine *m)
{
	return m->kinds.nic ? nic_registry[m->kinds.nic - 1] : NULL;
}

static const struct side_ops *side_now(const struct machine *m)
{
	return m->kinds.side ? side_registry[m->kinds.side - 1] : NULL;
}

/* The index of its routing. */
static size_t route_now(const struct machine *m)
{
	const char *own = words_now(m).routing;
	size_t i = 0;

	if (m->kinds.route)
		return (size_t)m->kinds.route - 1;
	while (route_registry[i + 1] && strcmp(route_registry[i]->name, own))
		i++;
	return i;
}

/* Whether words, or NULL, have one of them. */
static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	while (words && *words) {
		words += strspn(words, " ");
		if (strcspn(words, " ") == n && !strncmp(words, word, n))
			return true;
		words += strcspn(words, " ");
	}
	return false;
}

/* "nic.elan4", or "nic" where there is any. */
static bool is_kind(const char *needs, const char *section, const char *kind)
{
	size_t n = strlen(section);

	if (!kind || strncmp(needs, section, n) != 0)
		return false;
	return !needs[n] || (needs[n] == '.' && !strcmp(needs + n + 1, kind));
}

bool machine_uses(const struct machine *m, size_t block)
{
	const char *needs = m->use[block].needs;
	const struct topo *t = topo_now(m);
	const struct route_ops *r = route_registry[route_now(m)];
	const struct nic_ops *nic = nic_now(m);
	const struct side_ops *side = side_now(m);

	return m->is_whole || !*needs ||
	       is_kind(needs, "topology", t->ops->name) ||
	       is_kind(needs, "routing", r->name) ||
	       is_kind(needs, "router",
		       router_registry[m->kinds.router]->name) ||
	       is_kind(needs, "nic", nic ? nic->name : NULL) ||
	       is_kind(needs, "side", side ? side->name : NULL) ||
	       has_word(words_now(m).has, needs) || has_word(r->has, needs) ||
	       has_word(m->link.retry.kind ? "replay" : NULL, needs) ||
	       has_word(nic ? nic->has : NULL, needs);
}

/* Parameters that the command line has set. */
static size_t count_given(const struct machine *m)
{
	size_t n = 0, i, j;

	for (i = 0; i < m->n_blocks; i++) {
		for (j = 0; j < m->block[i].n_rows; j++) {
			const char *place = m->block[i].origins[j].place;

			n += !strcmp(place, "--set") ||
			     !strcmp(place, "--shape");
		}
	}
	return n;
}

/* What is said twice on a command line contradicts itself. */
static int assign(struct machine *m, const struct param_block *blocks,
	const char *text, const char *place, struct err *e)
{
	size_t n = count_given(m);

	if (param_assign(blocks, m->n_blocks, text, "parameter", place, e))
		return -1;
	if (count_given(m) == n)
		return err_set(e, "%.*s is given twice, by --set or --shape",
			(int)strcspn(text, "="), text);
	return 0;
}

static int set_shape(struct machine *m, const struct param_block *blocks,
	const char *shape, struct err *e)
{
	char text[PARAM_TEXT_MAX + 32];

	if (!shape)
		return 0;
	if (strlen(shape) >= PARAM_TEXT_MAX)
		return err_set(e, "--shape: the text is too long");
	snprintf(text, sizeof(text), "topology.%s=%s",
		topo_now(m)->ops->shape_key, shape);
	return assign(m, blocks, text, "--shape", e);
}

static int read_once(struct machine *m, const struct param_block *blocks,
	const char *const *sets, size_t n_sets, const char *shape,
	struct err *e)
{
	struct machine_dirs dirs;
	size_t i;

	machine_dirs(&dirs);
	if (machine_file_read(
		    m->path, dirs.dir, &m->header, blocks, m->n_blocks, e) ||
		set_shape(m, blocks, shape, e))
		return -1;
	for (i = 0; i < n_sets; i++)
		if (assign(m, blocks, sets[i], "--set", e))
			return -1;
	return 0;
}

/*
 * The first reading, for the kinds: a name may be taken for that of another
 * variant, so nobody looks yet at what is right for a parameter.
 */
static int read_kinds(struct machine *m, const char *const *sets, size_t n_sets,
	const char *shape, struct err *e)
{
	struct param_block loose[MACHINE_BLOCKS];
	struct param *rows[MACHINE_BLOCKS];
	size_t i, k;
	int failed;

	for (i = 0; i < m->n_blocks; i++) {
		const struct param_block *b = &m->block[i];

		rows[i] = mem_alloc(b->n_rows, sizeof(*rows[i]));
		memcpy(rows[i], b->rows, b->n_rows * sizeof(*rows[i]));
		for (k = 0; k < b->n_rows; k++) {
			if (!strcmp(rows[i][k].name, "kind"))
				continue;
			rows[i][k].min = PARAM_LOOSE;
			rows[i][k].max = INT64_MAX;
		}
		loose[i] = *b;
		loose[i].rows = rows[i];
	}
	failed = read_once(m, loose, sets, n_sets, shape, e);
	for (i = 0; i < m->n_blocks; i++)
		mem_free(rows[i]);
	return failed;
}

/*
 * Variants may have parameters of one name, and the first block that has a
 * name takes what is said of it.  When all is read the kinds are known; so
 * it is read again with the blocks first that the machine uses.
 */
static int read_all(struct machine *m, const char *const *sets, size_t n_sets,
	const char *shape, struct err *e)
{
	struct param_block sorted[MACHINE_BLOCKS];
	size_t i, n = 0;

	if (read_kinds(m, sets, n_sets, shape, e))
		return -1;
	m->is_whole = false;
	for (i = 0; i < m->n_blocks; i++)
		if (machine_uses(m, i))
			sorted[n++] = m->block[i];
	for (i = 0; i < m->n_blocks; i++)
		if (!machine_uses(m, i))
			sorted[n++] = m->block[i];
	for (i = 0; i < n; i++)
		param_defaults(&m->block[i]);
	return read_once(m, sorted, sets, n_sets, shape, e);
}

/* What is said of what the machine does not have. */
static int check_unused(
	const struct machine *m, const struct param_block *b, struct err *e)
{
	size_t i;

	for (i = 0; i < b->n_rows; i++)
		if (b->origins[i].set)
			return err_set(e,
				"%s: %s.%s is not a parameter of this machine "
				"(topology.kind: %s, routing.kind: %s, "
				"nic.kind: %s)",
				b->origins[i].place, b->section,
				b->rows[i].name, m->topo->ops->name,
				m->route->ops->name,
				m->nic ? m->nic->name : "none");
	return 0;
}

/* All is read: takes the variants that were named. */
static int choose(struct machine *m, struct err *e)
{
	size_t i;

	m->topo = topo_now(m);
	m->route = m->routes[route_now(m)];
	m->router.kind = router_registry[m->kinds.router];
	m->router.own = m->routers[m->kinds.router];
	m->nic = nic_now(m);
	m->nic_params = m->nic ? m->nics[m->kinds.nic - 1] : NULL;
	m->side = side_now(m);
	m->side_params = m->side ? m->sides[m->kinds.side - 1] : NULL;
	m->link.formats = m->nic ? m->nic->formats : NULL;
	m->link.n_formats = m->nic ? m->nic->n_formats : 0;
	for (i = 0; i < m->n_blocks; i++)
		if (!machine_uses(m, i) && check_unused(m, &m->block[i], e))
			return -1;
	return 0;
}

static int settle_links(struct machine *m, struct err *e)
{
	const struct param_block *b = m->block;

	while (b->rows != link_params_table)
		b++;
	return link_params_settle(
		&m->link, b->origins[param_find(b, "rate") - b->rows].set, e);
}

static void settle_queues(struct machine *m)
{
	uint32_t n = m->route->n_channels;

	if (!m->router.queues)
		m->router.queues = m->router.kind->most_queues / (n ? n : 1);
}

static int read_plan(struct machine *m, struct err *e)
{
	fault_plan_set_links(&m->faults, &m->link, &m->lines);
	m->faults.parts = m->nic ? m->nic->parts : NULL;
	return fault_plan_read(&m->faults, &m->fault_lines, m->topo, e);
}

/* What is wrong with a kind is said with the place that named it. */
static int init_route(struct machine *m, struct err *e)
{
	const struct param_block *b = m->block;
	struct err was;

	if (!m->route->ops->init(m->route, m->topo, e))
		return 0;
	while (b->rows != &m->kind_row[1].row)
		b++;
	was = *e;
	if (!b->origins[0].set ||
		strncmp(was.text, "routing.kind", strlen("routing.kind")) != 0)
		return -1;
	*e = (struct err){ 0 };
	return err_set_code(
		e, was.code, "%s: %s", b->origins[0].place, was.text);
}

struct machine *machine_load(const char *name, const char *const *sets,
	size_t n_sets, const char *shape, struct err *e)
{
	struct machine *m = machine_default();

	if (machine_find(m, name, e) || read_all(m, sets, n_sets, shape, e) ||
		choose(m, e) || settle_links(m, e) ||
		host_params_check(&m->host, e) ||
		m->topo->ops->init(m->topo, e) || init_route(m, e) ||
		training_check(&m->lines, m->link.rate, e) || read_plan(m, e)) {
		machine_free(m);
		return NULL;
	}
	settle_queues(m);
	return m;
}

int machine_read_faults(struct machine *m, const char *path, struct err *e)
{
	size_t i = 0;

	while (m->block[i].values != &m->fault_lines)
		i++;
	fault_plan_free(&m->faults);
	/* and those of lines, which follow */
	if (machine_part_read(path, &m->block[i], 2, e))
		return -1;
	return read_plan(m, e);
}

void machine_free(struct machine *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->n_blocks; i++)
		mem_free(m->block[i].origins);
	if (m->route)
		m->route->ops->fini(m->route);
	param_lines_free(&m->fault_lines.bit_errors);
	param_lines_free(&m->fault_lines.events);
	param_lines_free(&m->fault_lines.lines);
	fault_plan_free(&m->faults);
	for (i = 0; i < MACHINE_KINDS; i++) {
		mem_free(m->topos[i]);
		mem_free(m->routes[i]);
		mem_free(m->routers[i]);
		mem_free(m->nics[i]);
		mem_free(m->sides[i]);
	}
	mem_free(m);
}

void machine_shape(const struct machine *m, char *text, size_t size)
{
	text[0] = '\0';
	m->topo->ops->name_shape(m->topo, text, size);
}

bool machine_loses_nothing(const struct machine *m)
{
	return fault_plan_is_empty(&m->faults) ||
	       fault_plan_passes(&m->faults, &m->link);
}

int machine_check_faults(const struct machine *m, struct err *e)
{
	if (machine_loses_nothing(m) || (m->nic && m->nic->client->on_lost))
		return 0;
	return err_set(e,
		"faults: packets would be lost, and nothing on this machine "
		"resends them (nic.kind is %s); only bit errors with "
		"link.retry: replay lose none",
		m->nic ? m->nic->name : "none");
}
