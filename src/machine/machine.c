#define _GNU_SOURCE
#include "machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/name.h"
#include "router/registry.h"
#include "topo/fattree.h"
#include "topo/torus.h"

/* --- reading --- */

static void add_block(struct machine *m, const char *section,
	const struct param *rows, size_t n, void *values,
	struct machine_use use)
{
	BUG_IF(m->n_blocks == MACHINE_BLOCKS);
	m->use[m->n_blocks] = use;
	m->block[m->n_blocks] = (struct param_block){
		.section = section,
		.rows = rows,
		.n_rows = n,
		.values = values,
		.origins = mem_alloc(n, sizeof(struct param_origin)),
	};
	param_defaults(&m->block[m->n_blocks++]);
}

static const struct machine_use always = { .kind = NULL };

static struct machine_use use_if(const int64_t *kind, size_t index)
{
	return (struct machine_use){ kind, (int64_t)index, (int64_t)index };
}

/* The row that says which variant a section has. */
static void add_kind(struct machine *m, struct machine_kind *k,
	const char *section, struct param row)
{
	row.name = "kind";
	row.type = PARAM_WORD;
	row.words = k->words;
	k->row = row;
	add_block(m, section, &k->row, 1, &m->kinds, always);
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
		(struct param){ .offset = offsetof(struct machine_kinds, topo),
			.def = "torus",
			.help = "which topology",
			.source = "BGQ-F2" });
	for (i = 0; topo_registry[i]; i++) {
		const struct topo_ops *ops = topo_registry[i];

		BUG_IF(i == MACHINE_KINDS);
		m->topos[i] = mem_alloc(1, ops->size);
		m->topos[i]->ops = ops;
		add_block(m, "topology", ops->params, ops->n_params,
			m->topos[i], use_if(&m->kinds.topo, i));
	}
}

static struct machine_use is_tree(const struct machine *m)
{
	size_t i = 0;

	while (topo_registry[i] != &fattree_ops)
		i++;
	return use_if(&m->kinds.topo, i);
}

static void add_links(struct machine *m)
{
	size_t torus = 0;

	while (topo_registry[torus] != &torus_ops)
		torus++;
	add_block(
		m, "link", link_params_table, link_params_n, &m->link, always);
	add_block(m, "link", retry_params_table, retry_params_n, &m->link.retry,
		always);
	add_block(m, "link", link_latency_table, link_latency_n, &m->link,
		use_if(&m->kinds.topo, torus));
	add_block(m, "link", link_carried_table, link_carried_n, &m->link,
		is_tree(m));
	add_block(m, "link", training_params_table, training_params_n,
		&m->lines, is_tree(m));
}

static void add_routers(struct machine *m)
{
	size_t i;

	for (i = 0; router_registry[i]; i++)
		add_word(&m->kind_row[3], router_registry[i]->name);
	add_kind(m, &m->kind_row[3], "router",
		(struct param){
			.offset = offsetof(struct machine_kinds, router),
			.def = "direct",
			.help = "which router" });
	add_block(m, "router", net_params_table, net_params_n, &m->router,
		always);
}

static void add_routes(struct machine *m)
{
	size_t i;

	for (i = 0; route_registry[i]; i++)
		add_word(&m->kind_row[1], route_registry[i]->name);
	add_kind(m, &m->kind_row[1], "routing",
		(struct param){ .offset = offsetof(struct machine_kinds, route),
			.def = "hint",
			.help = "which routing",
			.source = "BGQ-F33" });
	for (i = 0; route_registry[i]; i++) {
		const struct route_ops *ops = route_registry[i];

		BUG_IF(i == MACHINE_KINDS);
		m->routes[i] = mem_alloc(1, ops->size);
		m->routes[i]->ops = ops;
		add_block(m, "routing", ops->params, ops->n_params,
			m->routes[i], use_if(&m->kinds.route, i));
	}
}

static void add_nics(struct machine *m)
{
	size_t i;

	add_word(&m->kind_row[2], "none");
	for (i = 0; nic_registry[i]; i++)
		add_word(&m->kind_row[2], nic_registry[i]->name);
	add_kind(m, &m->kind_row[2], "nic",
		(struct param){ .offset = offsetof(struct machine_kinds, nic),
			.def = "bgq-mu",
			.help = "which network interface",
			.source = "BGQ-F86, BGQ-F88" });
	for (i = 0; nic_registry[i]; i++) {
		const struct nic_ops *ops = nic_registry[i];

		BUG_IF(i == MACHINE_KINDS);
		m->nics[i] = mem_alloc(1, ops->params_size);
		add_block(m, "nic", ops->params, ops->n_params, m->nics[i],
			use_if(&m->kinds.nic, i + 1));
	}
}

/* A node's memory; its L2 where the interface is at it. */
static void add_hosts(struct machine *m)
{
	const struct machine_use has_nic = { &m->kinds.nic, 1, MACHINE_KINDS };
	size_t i;

	add_block(m, "host", host_params_table, HOST_PARAMS, &m->host, has_nic);
	for (i = 0; nic_registry[i]; i++)
		if (nic_registry[i]->can & NIC_AT_L2)
			add_block(m, "host", l2_params_table, L2_PARAMS,
				&m->host.l2, use_if(&m->kinds.nic, i + 1));
}

struct machine *machine_default(void)
{
	struct machine *m = mem_alloc(1, sizeof(*m));

	m->is_whole = true;
	add_topos(m);
	add_links(m);
	add_routers(m);
	add_routes(m);
	add_nics(m);
	add_hosts(m);
	add_block(m, "faults", fault_params_table, fault_params_n,
		&m->fault_lines, always);
	add_block(m, "faults", fault_lines_table, fault_lines_n,
		&m->fault_lines, is_tree(m));
	return m;
}

bool machine_uses(const struct machine *m, size_t block)
{
	const struct machine_use *u = &m->use[block];

	return m->is_whole || !u->kind ||
	       (*u->kind >= u->least && *u->kind <= u->most);
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
		return err_set(e, "--shape: too long");
	snprintf(text, sizeof(text), "topology.%s=%s",
		topo_registry[m->kinds.topo]->shape_key, shape);
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
 * Variants may have parameters of one name, and the first block that has a
 * name takes what is said of it.  When all is read the kinds are known; so
 * it is read again with the blocks first that the machine uses.
 */
static int read_all(struct machine *m, const char *const *sets, size_t n_sets,
	const char *shape, struct err *e)
{
	struct param_block sorted[MACHINE_BLOCKS];
	size_t i, n = 0;

	if (read_once(m, m->block, sets, n_sets, shape, e))
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

/* What is said of a variant that the machine does not have. */
static int check_unused(
	const struct machine *m, const struct param_block *b, struct err *e)
{
	size_t i;

	for (i = 0; i < b->n_rows; i++)
		if (b->origins[i].set)
			return err_set(e,
				"%s: %s.%s is not a parameter of a machine "
				"whose topology is a %s and whose nic is %s",
				b->origins[i].place, b->section,
				b->rows[i].name, m->topo->ops->name,
				m->nic ? m->nic->name : "none");
	return 0;
}

static int choose(struct machine *m, struct err *e)
{
	const struct machine_kinds *k = &m->kinds;
	size_t i;

	m->topo = m->topos[k->topo];
	m->route = m->routes[k->route];
	m->router.kind = router_registry[k->router];
	m->nic = k->nic ? nic_registry[k->nic - 1] : NULL;
	m->nic_params = k->nic ? m->nics[k->nic - 1] : NULL;
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

static int read_plan(struct machine *m, struct err *e)
{
	fault_plan_set_links(&m->faults, &m->link, &m->lines);
	m->faults.parts = m->nic ? m->nic->parts : NULL;
	return fault_plan_read(&m->faults, &m->fault_lines, m->topo, e);
}

struct machine *machine_load(const char *name, const char *const *sets,
	size_t n_sets, const char *shape, struct err *e)
{
	struct machine *m = machine_default();

	if (machine_find(m, name, e) || read_all(m, sets, n_sets, shape, e) ||
		choose(m, e) || settle_links(m, e) ||
		host_params_check(&m->host, e) ||
		m->topo->ops->init(m->topo, e) ||
		m->route->ops->init(m->route, m->topo, e) ||
		training_check(&m->lines, m->link.rate, e) || read_plan(m, e)) {
		machine_free(m);
		return NULL;
	}
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
		mem_free(m->nics[i]);
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
	if (machine_loses_nothing(m) || (m->nic && m->nic->can & NIC_RESENDS))
		return 0;
	return err_set(e,
		"faults: nothing on this machine sends again what is lost "
		"(nic.kind is %s)",
		m->nic ? m->nic->name : "none");
}
