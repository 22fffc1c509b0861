#include "machine/jobs_read.h"

#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "machine/partitions.h"

enum key { K_ID, K_NODE, K_CHANNEL, K_INPUTS, K_OUTPUT, N_KEYS };

static const char *const keys[N_KEYS] = { "id", "node", "channel", "inputs",
	"output" };

/* In the order of enum class_channel. */
static const char *const channels[N_CLASS_CHANNELS] = { "world", "system",
	"sub" };

/* The entry that is being read: its values, or 0. */
struct entry {
	struct jobs_reader *r;
	size_t at, value[N_KEYS];
};

static int find_values(struct entry *x)
{
	struct jobs_reader *r = x->r;

	if (jobs_at(r, x->at)->kind != NODE_MAP)
		return JOBS_FAIL(r, x->at,
			"want a register: a map with id, node, channel, inputs "
			"and output");
	if (jobs_find_values(r, x->at, keys, N_KEYS, x->value))
		return -1;
	for (size_t k = 0; k < K_OUTPUT; k++)
		if (!x->value[k])
			return JOBS_FAIL(
				r, x->at, "a register needs its %s", keys[k]);
	return 0;
}

static int read_number(const struct entry *x, enum key key, uint32_t from,
	uint32_t to, uint32_t *v)
{
	const char *text = jobs_at(x->r, x->value[key])->text, *why;
	int64_t n;

	if (!text || units_read(UNIT_NONE, text, &n, &why) || n < from ||
		n > to)
		return JOBS_FAIL(x->r, x->value[key], "%s: want %u to %u",
			keys[key], from, to);
	*v = (uint32_t)n;
	return 0;
}

/* A link's name, or local. */
static int read_link(const struct entry *x, size_t at, uint16_t *mask)
{
	const struct topo *t = x->r->topo;
	const char *word = jobs_at(x->r, at)->text;
	char name[16], first[16];

	if (word && !strcmp(word, "local")) {
		*mask |= (uint16_t)CLASS_LOCAL_BIT;
		return 0;
	}
	for (port_id p = 0; p < t->n_ports; p++) {
		t->ops->name_port(t, 0, p, name, sizeof(name));
		if (word && !strcmp(word, name)) {
			*mask |= (uint16_t)(1u << p);
			return 0;
		}
	}
	t->ops->name_port(t, 0, 0, first, sizeof(first));
	return JOBS_FAIL(x->r, at,
		"\"%.40s\" is not a link (want %s, ... %s or local)",
		word ? word : "", first, name);
}

/* One, or a list of them. */
static int read_links(const struct entry *x, enum key key, uint16_t *mask)
{
	size_t at = x->value[key], k;

	*mask = 0;
	if (!at)
		return 0;
	if (jobs_at(x->r, at)->kind != NODE_LIST)
		return read_link(x, at, mask);
	for (k = at + 1; k < jobs_at(x->r, at)->end; k = jobs_at(x->r, k)->end)
		if (read_link(x, k, mask))
			return -1;
	return 0;
}

static int read_channel(const struct entry *x, uint8_t *channel)
{
	const char *word = jobs_at(x->r, x->value[K_CHANNEL])->text;
	uint8_t i = 0;

	while (i < N_CLASS_CHANNELS && (!word || strcmp(word, channels[i])))
		i++;
	*channel = i;
	if (i == N_CLASS_CHANNELS)
		return JOBS_FAIL(x->r, x->value[K_CHANNEL],
			"channel: want world, sub or system");
	return 0;
}

static int read_register(
	const struct entry *x, uint32_t n_nodes, struct class_register *to)
{
	if (read_number(x, K_ID, 1, CLASS_ROUTES - 1, &to->route) ||
		read_number(x, K_NODE, 0, n_nodes - 1, &to->node) ||
		read_channel(x, &to->is.channel) ||
		read_links(x, K_INPUTS, &to->is.inputs) ||
		read_links(x, K_OUTPUT, &to->is.output))
		return -1;
	if (to->is.output & CLASS_LOCAL_BIT)
		return JOBS_FAIL(x->r, x->value[K_OUTPUT],
			"local cannot be an output (a root has no output)");
	return 0;
}

/* What was written before. */
struct seen {
	uint16_t *routes; /* [node], a bit each */
	uint8_t channel[CLASS_ROUTES]; /* + 1 */
};

static int check_twice(const struct entry *x, struct seen *seen,
	const struct class_register *c)
{
	uint8_t *channel = &seen->channel[c->route];

	if (seen->routes[c->node] >> c->route & 1)
		return JOBS_FAIL(x->r, x->at,
			"register %u of node %u is written twice", c->route,
			c->node);
	seen->routes[c->node] |= (uint16_t)(1u << c->route);
	if (*channel && *channel != c->is.channel + 1)
		return JOBS_FAIL(x->r, x->value[K_CHANNEL],
			"route %u is on channel %s in another register",
			c->route, channels[*channel - 1]);
	*channel = (uint8_t)(c->is.channel + 1);
	return 0;
}

static int read_all(struct jobs_reader *r, struct machine_partition *p,
	uint32_t n_nodes, struct seen *seen)
{
	size_t list = r->value[JOBS_K_ROUTES];

	for (size_t k = list + 1; k < jobs_at(r, list)->end;
		k = jobs_at(r, k)->end) {
		struct entry x = { .r = r, .at = k };
		struct class_register *c;

		p->routes =
			mem_more(p->routes, p->n_routes, sizeof(*p->routes));
		c = &p->routes[p->n_routes++];
		*c = (struct class_register){ 0 };
		if (find_values(&x) || read_register(&x, n_nodes, c) ||
			check_twice(&x, seen, c))
			return -1;
	}
	return 0;
}

int jobs_read_routes(struct jobs_reader *r, struct machine_partition *p)
{
	size_t list = r->value[JOBS_K_ROUTES];
	struct seen seen = { 0 };
	uint32_t n_nodes = 1;
	int failed;

	if (!list)
		return 0;
	if (jobs_at(r, list)->kind != NODE_LIST)
		return JOBS_FAIL(r, list, "routes must be a list of registers");
	for (uint32_t i = 0; i < p->n_dims; i++)
		n_nodes *= p->size[i];
	seen.routes = mem_alloc(n_nodes, sizeof(*seen.routes));
	failed = read_all(r, p, n_nodes, &seen);
	mem_free(seen.routes);
	return failed;
}
