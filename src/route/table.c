#include "route/table.h"

#include "base/mem.h"

#define AT(field) offsetof(struct table, field)
#define PORTS(n)  (((port_mask)1 << (n)) - 1)
#define BIT(n)	  ((port_mask)1 << (n))
#define NO_CHOICE ((struct route_choice){ .ports = 0 })

static const struct param params[] = {
	PARAM_ONE_OF("sideways", AT(sideways), "faults", "faults|always|no",
		"use of the links between siblings; faults: only where no "
		"other link that leads on works; always: also for nodes below "
		"the sibling; no: never, as in a plain tree",
		"SUN-F4, SUN-F5"),
	PARAM_ROW(PARAM_COUNT, "supernode-bits", AT(supernode_bits), "8", 1, 16,
		"bits of a supernode's number in a GUID", "SUN-N25, SUN-N26"),
	PARAM_ROW(PARAM_COUNT, "number-bits", AT(number_bits), "10", 1, 16,
		"bits of the number within a supernode in a GUID",
		"SUN-N25, SUN-N26"),
	PARAM_ROW(PARAM_COUNT, "supernode", AT(supernode), "0", 0,
		FATTREE_MAX_NODES,
		"number of nodes of a supernode, which are those below a "
		"switch of some level; 0: all nodes are one supernode",
		"assumed: one supernode"),
};

/* --- set-up --- */

static void set_level(struct table *x, uint32_t l)
{
	const struct fattree *t = x->tree;
	struct table_level *at = &x->level[l];
	bool has_sides = t->siblings && x->sideways != TABLE_NEVER;
	bool is_top = l == t->n_levels;

	*at = (struct table_level){
		.span = t->span[l],
		.n_down = t->n_down[l],
		.side = t->side[l],
		.n_up = t->n_up[l],
		.digit = t->share[l - 1],
		.ups = PORTS(t->n_up[l]) << t->n_down[l],
		.swaps = has_sides && l > 1,
	};
	if (t->siblings && !is_top)
		at->all_sides = PORTS(t->siblings) << t->side[l];
	if (has_sides)
		at->sides = at->all_sides;
}

static void set_switches(struct table *x)
{
	const struct topo *t = x->route.topo;

	x->at = mem_alloc(t->n_routers - t->n_nodes, sizeof(*x->at));
	for (router_id r = t->n_nodes; r < t->n_routers; r++) {
		struct fattree_place at = fattree_place(x->tree, r);
		uint32_t tree = at.index / x->tree->n_paths[at.level];

		x->at[r - t->n_nodes] = (struct table_switch){
			.first = tree * x->tree->span[at.level],
			.sibling = (tree ^ 1) * x->tree->span[at.level],
			.level = at.level,
			.supernode = table_guid(x, r).supernode,
		};
	}
}

static int table_init(struct route *r, const struct topo *t, struct err *e)
{
	struct table *x = (struct table *)r;

	x->tree = fattree_find(t);
	if (!x->tree)
		return err_set(e,
			"routing.kind: table needs topology.kind: fattree, "
			"not %s",
			t->ops->name);
	if (x->tree->bundle[x->tree->n_levels] > 1 || x->tree->join)
		return err_set(e, "routing.kind: table needs "
				  "topology.parallel: 1 and topology.join: 0");
	r->topo = t;
	if (table_number(x, e))
		return -1;
	r->n_channels = TABLE_CHANNELS;
	r->is_exact = true;
	r->has_vectors = true;
	r->lists = &table_lists;
	for (uint32_t l = 1; l <= x->tree->n_levels; l++)
		set_level(x, l);
	set_switches(x);
	return 0;
}

static void table_fini(struct route *r)
{
	mem_free(((struct table *)r)->at);
}

static void table_start(const struct route *r, struct packet *p)
{
	(void)r;
	p->way = p->kind == PACKET_VECTOR ? 0 : p->hints;
}

/* --- entries as the topology has them --- */

uint32_t table_first_up(const struct table *x, const struct table_level *l,
	const struct packet *p, router_id at, port_id in)
{
	struct table_guid to = table_guid(x, p->dst);

	if (to.supernode == table_home(x, at))
		return l->n_down + to.number % l->n_up;
	return l->n_down + (to.supernode + in) % l->n_up;
}

/* The destination is below.  One port leads there; its child's sibling can do
 * it in its place, once. */
static inline struct route_choice descend(const struct table_level *l,
	const struct packet *p, uint32_t far, bool was_sideways)
{
	uint32_t port = table_child(l, far);

	return (struct route_choice){
		.ports = BIT(port),
		.later = l->swaps && !was_sideways ? BIT(port ^ 1) : 0,
		.first = (uint8_t)port,
		.channel = was_sideways ? TABLE_SIDEWAYS
					: (uint8_t)table_channel(p),
		.is_adaptive = p->kind != PACKET_DETERMINISTIC,
	};
}

/* Came from above, and is for what is below the sibling. */
static inline struct route_choice cross(const struct table_level *l,
	uint32_t level, struct packet *p, uint32_t was_at)
{
	if (was_at && was_at != level)
		return NO_CHOICE;
	p->way |= (uint64_t)level << TABLE_DOWN_SHIFT;
	return (struct route_choice){
		.ports = l->sides,
		.first = (uint8_t)l->side,
		.channel = TABLE_SIDEWAYS,
		.is_adaptive = p->kind != PACKET_DETERMINISTIC,
	};
}

/* Not below, and not from above: up, or sideways, once. */
static inline struct route_choice climb(
	const struct table_level *l, struct packet *p, port_id in)
{
	if (in >= l->side)
		p->way |= TABLE_WENT_UP;
	return (struct route_choice){
		.ports = l->ups,
		.later = p->way & TABLE_WENT_UP ? 0 : l->sides,
		.channel = (uint8_t)table_channel(p),
		.is_adaptive = true,
	};
}

/* What is not below, in general; by itself, for it is rarely called. */
static __attribute__((noinline)) struct route_choice elsewhere(
	const struct table *x, struct packet *p, router_id at, port_id in)
{
	const struct table_switch *s = &x->at[at - x->route.topo->n_nodes];
	const struct table_level *l = &x->level[s->level];
	bool is_at_sibling = p->dst - s->sibling < l->span;
	uint32_t was_at = table_down_at(p);
	struct route_choice c;

	if (table_from(l, in) == FROM_ABOVE && is_at_sibling)
		return cross(l, s->level, p, was_at);
	if (table_from(l, in) == FROM_ABOVE || was_at)
		return NO_CHOICE;
	c = climb(l, p, in);
	if (x->sideways == TABLE_ALWAYS && is_at_sibling) {
		c.ports |= c.later;
		c.later = 0;
	}
	if (p->kind == PACKET_DETERMINISTIC && l->n_up) {
		c.is_adaptive = false;
		c.first = (uint8_t)table_first_up(x, l, p, at, in);
	}
	return c;
}

/* An adaptive packet from below goes up without any further question. */
static inline __attribute__((always_inline)) struct route_choice to_node(
	const struct table *x, struct packet *p, router_id at, port_id in)
{
	const struct table_switch *s = &x->at[at - x->route.topo->n_nodes];
	const struct table_level *l = &x->level[s->level];
	uint32_t far = p->dst - s->first;

	if (far < l->span)
		return descend(l, p, far, table_down_at(p) != 0);
	if (in >= l->n_down || p->way & TABLE_DOWN ||
		p->kind == PACKET_DETERMINISTIC || x->sideways == TABLE_ALWAYS)
		return elsewhere(x, p, at, in);
	return climb(l, p, in);
}

struct route_choice table_to_node(
	const struct table *x, struct packet *p, router_id at, port_id in)
{
	return to_node(x, p, at, in);
}

/* --- a hop --- */

/* A packet leaves its source by any rail, and has arrived at another node.
 * The first rail follows from both ends: from the destination alone, each node
 * would receive by one rail only, and half of its up-links would be idle, since
 * these also follow from the destination. */
static __attribute__((noinline)) struct route_choice at_node(
	const struct table *x, const struct packet *p, router_id at, port_id in)
{
	uint32_t rails = (uint32_t)x->tree->rails;

	if (in != TOPO_NO_PORT || (p->dst == at && p->kind != PACKET_VECTOR))
		return NO_CHOICE;
	return (struct route_choice){
		.ports = PORTS(rails),
		.first = (uint8_t)(p->kind == PACKET_DETERMINISTIC
					   ? (at + p->dst) % rails
					   : 0),
		.channel = (uint8_t)table_channel(p),
		.is_adaptive = p->kind != PACKET_DETERMINISTIC,
	};
}

static struct route_choice table_choose(const struct route *r,
	const struct route_memory *own, struct packet *p, router_id at,
	port_id in)
{
	const struct table *x = table_of(r);
	router_id n_nodes = r->topo->n_nodes;

	if (at < n_nodes)
		return at_node(x, p, at, in);
	if (own || p->dst >= n_nodes || p->kind == PACKET_VECTOR)
		return table_look_up(x, own, p, at, in);
	return to_node(x, p, at, in);
}

static struct route_step table_next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	struct route_choice c = table_choose(r, NULL, p, at, in);
	port_mask from = c.ports >> c.first << c.first;
	port_id first = PACKET_NO_PORT;

	if (c.ports)
		first = (port_id)__builtin_ctzll(from ? from : c.ports);
	return (struct route_step){
		.ports = c.is_adaptive || !c.ports ? c.ports : BIT(first),
		.escape = first,
		.channel = c.channel,
		.is_ordered = !c.is_adaptive,
	};
}

/* Up and then down, to any number of nodes; siblings are not used. */
static port_mask table_casts(const struct route *r, router_id at, port_id in)
{
	const struct table *x = table_of(r);
	const struct table_switch *s = &x->at[at - r->topo->n_nodes];
	const struct table_level *l = &x->level[s->level];
	port_mask m = 0;

	if (table_from(l, in) == FROM_SIBLING)
		return 0;
	for (port_id p = 0; p < l->n_down; p++)
		if (r->topo->ops->peer(r->topo, at, p).router != NO_ROUTER)
			m |= BIT(p);
	return table_from(l, in) == FROM_BELOW ? m | l->ups : m;
}

const struct route_lists table_lists = {
	.choose = table_choose,
	.cast_channel = TABLE_SYSTEM,
	.casts = table_casts,
	.write = table_write,
	.read = table_read,
	.split = table_split,
	.split_of = table_split_of,
	.guid = table_guid_of,
	.find = table_find_guid,
	.free = table_free,
	.pack = table_pack,
	.unpack = table_unpack,
	.memory = table_memory,
};

static const char *const channels[TABLE_CHANNELS] = {
	[TABLE_DATA] = "data",
	[TABLE_ANSWERS] = "answers",
	[TABLE_SIDEWAYS] = "sideways",
	[TABLE_SYSTEM] = "management",
};

const struct route_ops table_ops = {
	.name = "table",
	.has = "written-tables orders classes",
	.channels = channels,
	.n_channels = TABLE_CHANNELS,
	.size = sizeof(struct table),
	PARAMS(params),
	.init = table_init,
	.fini = table_fini,
	.start = table_start,
	.next = table_next,
	.walk = table_walk,
	.way = table_way,
	.describe = table_describe,
	.fact = table_fact,
};
