#define _GNU_SOURCE
#include "machine/machine.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "machine/blocks.h"
#include "machine/tree.h"
#include "router/registry.h"

/* Parameters that the command line has set. */
static size_t count_given(const struct machine *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_blocks; i++) {
		for (size_t j = 0; j < m->block[i].n_rows; j++) {
			const char *place = m->block[i].origins[j].place;

			n += !strcmp(place, "--set") ||
			     !strcmp(place, "--shape");
		}
	}
	return n;
}

/* What people call a parameter, by the last word of its name. */
static int refuse_meant(const struct param_block *used, size_t n,
	const char *text, struct err *e)
{
	static const char *const meant[][2] = {
		{ "bandwidth", "link.rate" },
		{ "speed", "link.rate" },
		{ "buffers", "router.packets" },
		{ "buffer", "router.packets" },
		{ "vcs", "router.queues" },
		{ "dimensions", "topology.shape" },
		{ "size", "topology.shape" },
		{ "mtu", "link.payload" },
		{ "ber", "faults.bit-errors" },
	};
	size_t len = strcspn(text, "="), i, k;
	const struct param_block *b;
	const struct param *row;
	struct err none;

	for (i = 0; i < sizeof(meant) / sizeof(meant[0]); i++) {
		k = strlen(meant[i][0]);
		none = (struct err){ 0 };
		if (len < k || (len > k && text[len - k - 1] != '.') ||
			strncmp(text + len - k, meant[i][0], k) != 0 ||
			param_resolve(
				used, n, meant[i][1], "", &b, &row, &none))
			continue;
		return err_set(e,
			"unknown parameter \"%.*s\"; did you mean %s?",
			(int)(len < 60 ? len : 60), text, meant[i][1]);
	}
	return 0;
}

/* The same error, by the parameters that this machine has alone. */
static int refuse_set(struct machine *m, const struct param_block *blocks,
	const char *text, const char *place, struct err *e)
{
	struct param_block used[MACHINE_BLOCKS];
	size_t n = 0;

	m->is_whole = false;
	for (size_t i = 0; i < m->n_blocks; i++)
		if (machine_uses(m, i))
			used[n++] = blocks[i];
	m->is_whole = true;
	return refuse_meant(used, n, text, e) || param_assign(used, n, text,
							 "parameter", place, e)
		       ? -1
		       : 0;
}

/* Whether text assigns to a name that some machine has. */
static bool is_known(const struct machine *m, const struct param_block *blocks,
	const char *text)
{
	const struct param_block *b;
	const struct param *row;
	struct err none = { 0 };
	size_t n = strcspn(text, "=");
	char *name = mem_alloc(n + 1, 1), *start = name;
	bool is;

	memcpy(name, text, n);
	start += strspn(start, " ");
	while (n && name[n - 1] == ' ')
		name[--n] = '\0';
	is = !param_resolve(
		blocks, m->n_blocks, start, "parameter", &b, &row, &none);
	mem_free(name);
	return is;
}

/* What is said twice on a command line contradicts itself. */
static int assign(struct machine *m, const struct param_block *blocks,
	const char *text, const char *place, struct err *e)
{
	size_t n = count_given(m);

	/* in the first reading, when blocks are those of m in their order */
	if (m->is_whole && strchr(text, '=') && !is_known(m, blocks, text))
		return refuse_set(m, blocks, text, place, e);
	if (param_assign(blocks, m->n_blocks, text, "parameter", place, e))
		return -1;
	if (count_given(m) == n)
		return err_set(e, "%.*s is given twice, by --set or --shape",
			(int)strcspn(text, "="), text);
	return 0;
}

/* As many nodes in more dimensions, of sizes that are near each other. */
static void suggest_shape(int64_t nodes, int64_t dims, char *text, size_t size)
{
	size_t n = 0;

	for (; dims && n < size; dims--) {
		int64_t d = nodes, power, i, k;

		/* the least divisor whose power covers what is left */
		for (i = 1; i <= nodes; i++) {
			for (power = 1, k = 0; k < dims && power < nodes; k++)
				power *= i;
			if (nodes % i == 0 && power >= nodes) {
				d = i;
				break;
			}
		}
		n += (size_t)snprintf(text + n, size - n, "%s%lld",
			n ? "x" : "", (long long)d);
		nodes /= d;
	}
}

/* The values of --shape, where it is a list; else NULL. */
static const struct param_list *shape_list(
	struct machine *m, const struct param_block *blocks)
{
	const char *key = machine_topo_now(m)->ops->shape_key;

	for (size_t i = 0; i < m->n_blocks; i++) {
		const struct param *row = param_find(&blocks[i], key);

		if (row && row->type == PARAM_COUNTS &&
			!strcmp(blocks[i].section, "topology"))
			return (const void *)((char *)blocks[i].values +
					      row->offset);
	}
	return NULL;
}

/* "64" is as good a shape as any, but seldom what was meant of a torus. */
static void advise_shape(
	struct machine *m, const struct param_list *shape, int64_t dims)
{
	char other[64];

	m->advice[0] = '\0';
	if (shape->n != 1 || dims < 2 || shape->v[0] < 16)
		return;
	suggest_shape(shape->v[0], dims, other, sizeof(other));
	snprintf(m->advice, sizeof(m->advice),
		"--shape %lld has only one dimension; for the %lld "
		"dimensions of %.32s want --shape %s",
		(long long)shape->v[0], (long long)dims, m->header.name, other);
}

static int set_shape(struct machine *m, const struct param_block *blocks,
	const char *shape, struct err *e)
{
	const struct param_list *list = shape_list(m, blocks);
	int64_t dims = list ? list->n : 0;
	char text[PARAM_TEXT_MAX + 32];

	if (!shape)
		return 0;
	if (strlen(shape) >= PARAM_TEXT_MAX)
		return err_set(e, "--shape: the text is too long");
	if (!list && strspn(shape, "0123456789x") == strlen(shape) &&
		strchr(shape, 'x'))
		return err_set(e,
			"--shape %s: a %s has no dimensions; want its number "
			"of nodes, such as --shape 64",
			shape, machine_topo_now(m)->ops->name);
	snprintf(text, sizeof(text), "topology.%s=%s",
		machine_topo_now(m)->ops->shape_key, shape);
	if (assign(m, blocks, text, "--shape", e))
		return -1;
	if (!list)
		return 0;
	m->dims = dims;
	m->dims_given = list->n;
	advise_shape(m, list, dims);
	return 0;
}

/* Kinds that are given stand before all else: what the file says of others is
 * dropped, and the shape is that of the topology. */
static void set_kinds(struct machine *m, const struct param_block *blocks,
	const struct machine_source *s)
{
	static const char key[] = ".kind=";
	char section[PARAM_TEXT_MAX];

	for (size_t i = 0; i < s->n_sets; i++) {
		const char *dot = strchr(s->sets[i], '.');

		if (!dot || strncmp(dot, key, strlen(key)) != 0)
			continue;
		snprintf(section, sizeof(section), "%.*s",
			(int)(dot - s->sets[i]), s->sets[i]);
		param_change_kind(
			blocks, m->n_blocks, section, dot + strlen(key));
		m->has_kinds_given = true;
	}
}

/* A file with one section, over what the machine has of it. */
static int read_section(struct machine *m, const struct param_block *blocks,
	const char *section, const char *path, struct err *e)
{
	for (size_t i = 0; path && i < m->n_blocks; i++)
		if (!strcmp(blocks[i].section, section))
			return machine_part_read(path, &blocks[i], 1, e);
	return 0;
}

static int read_once(struct machine *m, const struct param_block *blocks,
	const struct machine_source *s, struct trees *trees, struct err *e)
{
	struct machine_dirs dirs;

	machine_dirs(&dirs);
	if (machine_file_read(trees, m->path, dirs.dir, &m->header, blocks,
		    m->n_blocks, e))
		return -1;
	set_kinds(m, blocks, s);
	if (read_section(m, blocks, "tables", s->tables, e))
		return -1;
	if (set_shape(m, blocks, s->shape, e))
		return -1;
	for (size_t i = 0; i < s->n_sets; i++)
		if (assign(m, blocks, s->sets[i], "--set", e))
			return -1;
	return 0;
}

/*
 * The first reading, for the kinds: a name may be taken for that of another
 * variant, so nobody looks yet at what is right for a parameter.
 */
static int read_kinds(struct machine *m, const struct machine_source *s,
	struct trees *trees, struct err *e)
{
	struct param_block loose[MACHINE_BLOCKS];
	struct param *rows[MACHINE_BLOCKS];
	int failed;

	for (size_t i = 0; i < m->n_blocks; i++) {
		const struct param_block *b = &m->block[i];

		rows[i] = mem_alloc(b->n_rows, sizeof(*rows[i]));
		if (b->n_rows) /* a plugin's may have none */
			memcpy(rows[i], b->rows, b->n_rows * sizeof(*rows[i]));
		for (size_t k = 0; k < b->n_rows; k++) {
			if (!strcmp(rows[i][k].name, "kind"))
				continue;
			rows[i][k].min = PARAM_LOOSE;
			rows[i][k].max = INT64_MAX;
		}
		loose[i] = *b;
		loose[i].rows = rows[i];
	}
	failed = read_once(m, loose, s, trees, e);
	for (size_t i = 0; i < m->n_blocks; i++)
		mem_free(rows[i]);
	return failed;
}

/*
 * Variants may have parameters of one name, and the first block that has a
 * name takes what is said of it.  When all is read the kinds are known; so
 * it is read again with the blocks first that the machine uses.
 */
static int read_all(struct machine *m, const struct machine_source *s,
	struct trees *trees, struct err *e)
{
	struct param_block sorted[MACHINE_BLOCKS];
	size_t n = 0;

	if (read_kinds(m, s, trees, e))
		return -1;
	m->is_whole = false;
	for (size_t i = 0; i < m->n_blocks; i++)
		if (machine_uses(m, i))
			sorted[n++] = m->block[i];
	for (size_t i = 0; i < m->n_blocks; i++)
		if (!machine_uses(m, i))
			sorted[n++] = m->block[i];
	for (size_t i = 0; i < n; i++)
		param_defaults(&m->block[i]);
	return read_once(m, sorted, s, trees, e);
}

/* Whether a file may have said it of what is there no more: its base, or the
 * file where a kind was given.  Links whose retry was switched off may have had
 * some. */
static bool is_dropped(
	const struct machine *m, size_t block, const struct param_origin *o)
{
	bool is_off = !strcmp(m->use[block].needs, "replay");

	if (!strcmp(o->place, "--set") || !strcmp(o->place, "--shape"))
		return false;
	return o->is_based || m->has_kinds_given || is_off;
}

/* What is said of what the machine does not have. */
static int check_unused(const struct machine *m, size_t block, struct err *e)
{
	const struct param_block *b = &m->block[block];

	for (size_t i = 0; i < b->n_rows; i++)
		if (b->origins[i].set && !is_dropped(m, block, &b->origins[i]))
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
	m->topo = machine_topo_now(m);
	m->route = m->routes[machine_route_now(m)];
	m->router.kind = router_registry[m->kinds.router];
	m->router.own = m->routers[m->kinds.router];
	if (m->router.kind->is_switch) {
		m->router.switches = m->router.kind;
		m->router.kind = router_registry[0];
	}
	m->nic = machine_nic_now(m);
	m->nic_params = m->nic ? m->nics[m->kinds.nic - 1] : NULL;
	m->side = machine_side_now(m);
	m->side_params = m->side ? m->sides[m->kinds.side - 1] : NULL;
	m->link.formats = m->nic ? m->nic->formats : NULL;
	m->link.n_formats = m->nic ? m->nic->n_formats : 0;
	for (size_t i = 0; i < m->parts.n; i++)
		m->parts.slot[i].exists =
			machine_meets(m, m->parts.slot[i].ops->needs);
	for (size_t i = 0; i < m->n_blocks; i++)
		if (!machine_uses(m, i) && check_unused(m, i, e))
			return -1;
	return 0;
}

/* The block in use that has a parameter. */
static const struct param_block *find_used(const struct machine *m,
	const char *section, const char *name, const struct param **row)
{
	for (size_t i = 0; i < m->n_blocks; i++) {
		if (strcmp(m->block[i].section, section) != 0 ||
			!machine_uses(m, i))
			continue;
		*row = param_find(&m->block[i], name);
		if (*row)
			return &m->block[i];
	}
	BUG("no parameter %s.%s", section, name);
}

int64_t machine_value(
	const struct machine *m, const char *section, const char *name)
{
	const struct param *row;
	const struct param_block *b = find_used(m, section, name, &row);
	int64_t value;

	memcpy(&value, (const char *)b->values + row->offset, sizeof(value));
	return value;
}

/* Sets a parameter that follows a clock, unless it is stated. */
static void follow(struct machine *m, const struct param_follow *u)
{
	const struct param *row;
	const struct param_block *b = find_used(m, u->section, u->name, &row);
	struct param_origin *o = &b->origins[row - b->rows];
	int64_t hz = machine_value(m, u->clock_section, u->clock), value;

	if (o->set)
		return;
	value = row->type == PARAM_RATE ? u->millis * (hz / 1000)
					: units_cycles(u->millis, hz * 1000);
	BUG_IF(value < row->min || value > row->max);
	memcpy((char *)b->values + row->offset, &value, sizeof(value));
	snprintf(o->source, sizeof(o->source), "%s",
		u->source ? u->source : row->source);
	snprintf(o->place, sizeof(o->place), "%s.%s", u->clock_section,
		u->clock);
}

static void settle_followers(struct machine *m)
{
	const struct param_follow *u = m->nic ? m->nic->follows : NULL;

	for (; u && u->section; u++)
		follow(m, u);
}

static int settle_links(struct machine *m, struct err *e)
{
	const struct param_block *b = m->block;

	settle_followers(m);
	while (b->rows != link_params_table)
		b++;
	return link_params_settle(
		&m->link, b->origins[param_find(b, "rate") - b->rows].set, e);
}

static void settle_queues(struct machine *m)
{
	int64_t n = m->route->n_channels ? m->route->n_channels : 1;

	if (!m->router.queues)
		m->router.queues = m->router.kind->most_queues / n;
}

static int64_t with_trains(const struct machine *m, int64_t packets)
{
	return link_trains(m->link.train, packets, LINK_BUFFER_MORE);
}

/* Buffers of trains. */
static void settle_trains(struct machine *m)
{
	struct net_params *p = &m->running;

	*p = m->router;
	p->packets = with_trains(m, p->packets);
	p->injection = with_trains(m, p->injection);
	p->reception = with_trains(m, p->reception);
}

void machine_set_train(struct machine *m, int64_t packets)
{
	m->link.train = packets;
	settle_trains(m);
}

struct part_place machine_place(const struct machine *m, uint64_t seed)
{
	return (struct part_place){ .topo = m->topo,
		.route = m->route,
		.router = &m->router,
		.link = &m->link,
		.plan = &m->faults,
		.parts = &m->parts,
		.seed = seed };
}

bool machine_has_flips(const struct machine *m)
{
	const struct fault_plan *p = &m->faults;
	uint64_t any = p->chips | p->memories[0] | p->memories[1] | p->n_flips;

	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
		any |= p->rate[i] | p->burst[i].rate;
	return any;
}

static int read_plan(struct machine *m, struct err *e)
{
	const struct part_place at = machine_place(m, 0);
	const struct router_ops *router = m->router.kind;

	fault_plan_set_links(&m->faults, &m->link, &m->lines);
	m->faults.heals = router->repair && !router->manage;
	m->faults.has_buffers = machine_has(m, "symbol-codes");
	parts_plan(&m->parts, &at, &m->faults);
	if (fault_plan_read(&m->faults, &m->fault_lines, m->topo, e))
		return -1;
	if (m->link.train > 1 && machine_has_flips(m))
		return err_set(e, "link.train: packets that can be damaged "
				  "must travel one by one (faults)");
	return parts_check(&m->parts, &at, e);
}

static int check_looks(const struct machine *m, struct err *e)
{
	const struct router_ops *o = router_registry[m->kinds.router];

	if (!m->route->looks || o->shows_queues)
		return 0;
	return err_set(e,
		"routing.kind: %s needs the lengths of queues, which "
		"router.kind %s does not provide (want router.kind: crossbar)",
		m->route->ops->name, o->name);
}

/* What comes from outside is not believed. */
static int look_at_route(const struct machine *m, struct err *e)
{
	const struct router_ops *o = router_registry[m->kinds.router];
	size_t i = 0;

	while (route_registry[i] && route_registry[i] != m->route->ops)
		i++;
	return route_registry[i] ? 0 : route_look(m->route, o->n_channels, e);
}

/* What is wrong with a kind is said with the place that named it. */
static int init_route(struct machine *m, struct err *e)
{
	const struct param_block *b = m->block;
	struct err was;

	if (m->topo->n_io && !machine_has(m, "io-ways"))
		return err_set(e,
			"topology.io.every: routing.kind %s has no routes to "
			"IO nodes (want hint)",
			m->route->ops->name);
	if (!m->route->ops->init(m->route, m->topo, e))
		return check_looks(m, e) || look_at_route(m, e) ? -1 : 0;
	for (was = *e;
		b->values != &m->kinds || strcmp(b->section, "routing") != 0;)
		b++;
	if (!b->origins[0].set || strncmp(was.text, "routing.kind", 12) != 0)
		return -1;
	*e = (struct err){ 0 };
	return err_set_code(e, was.code,
		"%s: %s; the usual routing of this topology is %s",
		b->origins[0].place, was.text, machine_words_now(m).routing);
}

/* Variants must be known before a file can be read that uses them. */
static int load_plugins(struct machine *m, const struct machine_source *s,
	struct trees *trees, struct err *e)
{
	struct param_lines named = { 0 };
	struct machine_dirs dirs;
	int failed;

	machine_dirs(&dirs);
	failed = machine_file_plugins(
		trees, m->path, dirs.dir, &named, &m->files, e);
	if (!failed && s->only_given)
		failed = plugins_check_given(
			&named, s->plugins, s->n_plugins, e);
	else if (!failed)
		failed = plugins_open_named(&m->plugins, &named, e);
	if (!failed)
		failed = machine_add_plugins(m, e);
	for (size_t i = 0; i < s->n_plugins; i++)
		param_lines_add(&m->plugin_files, s->plugins[i], "--plugin");
	for (size_t i = 0; i < named.n && !s->only_given; i++)
		param_lines_add(&m->plugin_files, named.v[i].text, "");
	param_lines_free(&named);
	return failed ? -1 : 0;
}

/* Cards are ports of nodes, which topology and routing must tell apart. */
static int check_cards(const struct machine *m, struct err *e)
{
	const struct topo *t = m->topo;

	if (!t->cards)
		return 0;
	if (topo_is_direct(t) || t->node_ports != t->cards)
		return err_set(e,
			"nic.cards: %u cards, but topology.kind %s has one "
			"link for all cards of a node (want fattree with "
			"topology.rails, or dragonfly)",
			t->cards, t->ops->name);
	if (m->route->ops->has &&
		name_has_word(m->route->ops->has, ' ', "card-routes"))
		return 0;
	return err_set(e,
		"nic.cards: %u cards, but routing.kind %s does not tell the "
		"cards of a node apart (want updown or dragonfly)",
		t->cards, m->route->ops->name);
}

static int init_topo(struct machine *m, struct err *e)
{
	uint32_t cards =
		m->nic && m->nic->cards ? m->nic->cards(m->nic_params) : 1;
	size_t i = 0;

	m->topo->cards = cards > 1 ? cards : 0;
	if (m->topo->ops->init(m->topo, e) || check_cards(m, e))
		return -1;
	while (topo_registry[i] && topo_registry[i] != m->topo->ops)
		i++;
	return topo_registry[i] ? 0 : topo_look(m->topo, e);
}

struct machine *machine_load(const char *name, const char *const *sets,
	size_t n_sets, const char *shape, struct err *e)
{
	const struct machine_source s = {
		.name = name,
		.sets = sets,
		.n_sets = n_sets,
		.shape = shape,
	};

	return machine_load_from(&s, e);
}

struct machine *machine_look(const char *name, struct err *e)
{
	const struct machine_source s = { .name = name, .only_given = true };

	return machine_load_from(&s, e);
}

/* The place in the machine's own file, or the option, that sets a key of n
 * characters, such as "topology.fill"; NULL: there is none. */
static const char *place_of(const struct machine *m, const char *key, size_t n)
{
	char name[PARAM_TEXT_MAX];

	for (size_t i = 0; i < m->n_blocks; i++) {
		const struct param_block *b = &m->block[i];

		for (size_t k = 0; k < b->n_rows; k++) {
			const struct param_origin *o = &b->origins[k];

			if (!o->set || o->is_based || !*o->place)
				continue;
			snprintf(name, sizeof(name), "%s.%s", b->section,
				b->rows[k].name);
			if (strlen(name) == n && !strncmp(name, key, n))
				return o->place;
		}
	}
	return NULL;
}

/* The same for the first key in a text that is set there: an error names first
 * what does not fit, and then what it does not fit to. */
static const char *place_in(const struct machine *m, const char *text)
{
	static const char word[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
	const char *place = NULL;
	size_t n;

	for (; *text && !place; text += n) {
		text += strcspn(text, word);
		n = strspn(text, word);
		place = place_of(m, text, n);
	}
	return place;
}

static void put_place(const char *place, struct err *e)
{
	size_t n = strlen(place) + 2;
	struct err was = *e;

	if (n < sizeof(e->text) / 2 && strncmp(was.text, place, n - 2) != 0)
		snprintf(e->text, sizeof(e->text), "%s: %.*s", place,
			(int)(sizeof(e->text) - n - 1), was.text);
}

/* What a shape of other dimensions than the file's may have broken; else where
 * the file says what is wrong, or which option. */
void machine_explain(const struct machine *m, struct err *e)
{
	const char *place = place_in(m, e->text);
	size_t n = strlen(e->text);

	if (m->dims_given && m->dims_given != m->dims &&
		!strncmp(e->text, "router.kind", 11))
		snprintf(e->text + n, sizeof(e->text) - n,
			"; %.40s has %lld dimensions, but --shape has %lld",
			m->header.name, (long long)m->dims,
			(long long)m->dims_given);
	else if (place && strncmp(e->text, "--", 2) != 0)
		put_place(place, e);
}

static int read_files(
	struct machine *m, const struct machine_source *s, struct err *e)
{
	struct trees trees = { 0 };
	int failed = load_plugins(m, s, &trees, e) || read_all(m, s, &trees, e);

	trees_free(&trees);
	return failed ? -1 : 0;
}

struct machine *machine_load_from(const struct machine_source *s, struct err *e)
{
	struct machine *m = machine_default();
	/* what cannot be read says itself where it is */
	bool is_read =
		!plugins_open(&m->plugins, s->plugins, s->n_plugins, e) &&
		!machine_find(m, s->name, e) && !read_files(m, s, e);

	if (!is_read || choose(m, e) || settle_links(m, e) ||
		host_params_check(&m->host, e) ||
		nic_check_memory(m->nic, m->host.memory, e) ||
		init_topo(m, e) || init_route(m, e) ||
		training_check(&m->lines, m->link.rate, e) || read_plan(m, e)) {
		if (is_read)
			machine_explain(m, e);
		machine_free(m);
		return NULL;
	}
	settle_queues(m);
	settle_trains(m);
	return m;
}

int machine_read_faults(struct machine *m, const char *path, struct err *e)
{
	size_t i = 0, n = 1;

	while (m->block[i].values != &m->fault_lines)
		i++;
	/* and those of lines, chips and lanes, which follow */
	while (i + n < m->n_blocks && m->block[i + n].values == &m->fault_lines)
		n++;
	fault_plan_free(&m->faults);
	if (machine_part_read(path, &m->block[i], n, e))
		return -1;
	return read_plan(m, e);
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_blocks; i++)
		mem_free(m->block[i].origins);
	if (m->route && m->route->ops->fini)
		m->route->ops->fini(m->route);
	if (m->topo && m->topo->ops->fini)
		m->topo->ops->fini(m->topo);
	param_lines_free(&m->fault_lines.bit_errors);
	param_lines_free(&m->fault_lines.bursts);
	param_lines_free(&m->fault_lines.events);
	param_lines_free(&m->fault_lines.lines);
	param_lines_free(&m->fault_lines.chips);
	param_lines_free(&m->fault_lines.memories);
	param_lines_free(&m->fault_lines.fast_lanes);
	param_lines_free(&m->files);
	param_lines_free(&m->plugin_files);
	fault_plan_free(&m->faults);
	parts_fini(&m->parts);
	for (size_t i = 0; i < MACHINE_KINDS; i++) {
		mem_free(m->topos[i]);
		mem_free(m->routes[i]);
		mem_free(m->routers[i]);
		mem_free(m->nics[i]);
		mem_free(m->sides[i]);
	}
	plugins_close(&m->plugins);
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
	       fault_plan_passes(
		       &m->faults, &m->link, m->nic && m->nic->client->on_lost);
}

int machine_check_faults(const struct machine *m, struct err *e)
{
	if (machine_loses_nothing(m) || (m->nic && m->nic->client->on_lost))
		return 0;
	return err_set(e,
		"faults: packets would be lost, and nothing on this machine "
		"retransmits them (nic.kind: %s); only bit errors are "
		"possible, with link.retry: replay",
		m->nic ? m->nic->name : "none");
}
