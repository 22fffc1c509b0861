/*
 * Entries that were written into a switch.
 *
 * Few of the lists in a switch differ, so a port's table has the number of a
 * list for each of its entries, and a list stands once.  Of a port that nobody
 * has written to there is nothing.
 */
#include <string.h>

#include "base/mem.h"
#include "route/table.h"
#include "sim/cluster.h"

#define BIT(n) ((port_mask)1 << (n))

enum { MOST_LISTS = UINT16_MAX - 1 };

struct list {
	port_mask ports;
	uint8_t n, port[ROUTE_CANDIDATES];
};

struct port_table {
	uint32_t n_intra; /* entries of the first part */
	uint16_t list[]; /* 1 + its number; 0: as the topology has it */
};

struct route_memory {
	struct port_table *table[TOPO_MAX_PORTS];
	struct list **list; /* each by itself, for packets may point to it */
	uint32_t n_lists, n_entries;
};

/* --- reading --- */

/* Where a port's memory has the entry for a packet's destination; n_entries if
 * it is none of them. */
static uint32_t index_of(const struct table *x, const struct port_table *t,
	router_id dst, router_id at)
{
	struct table_guid to = table_guid(x, dst);
	uint32_t n = table_entries(x);

	if (to.supernode == table_home(x, at))
		return to.number < t->n_intra ? to.number : n;
	return t->n_intra + to.supernode < n ? t->n_intra + to.supernode : n;
}

/* The ports of a list that a packet may take: sideways once going up, and once
 * going down, then on another channel. */
static struct route_choice by_list(const struct table *x, const struct list *l,
	struct packet *p, router_id at, port_id in)
{
	uint32_t level = x->at[at - x->route.topo->n_nodes].level;
	const struct table_level *here = &x->level[level];
	enum table_from from = table_from(here, in);
	uint32_t was_at = table_down_at(p);
	port_mask ports = l->ports, sides = here->all_sides;

	if (p->passed > TABLE_MOST_PASSED)
		return (struct route_choice){ .ports = 0 };
	if (from == FROM_SIBLING && !was_at)
		p->way |= TABLE_WENT_UP;
	if (from == FROM_ABOVE && (!was_at || was_at == level)) {
		if (ports & sides)
			p->way |= (uint64_t)level << TABLE_DOWN_SHIFT;
	} else if (was_at || p->way & TABLE_WENT_UP) {
		ports &= ~sides;
	}
	return (struct route_choice){
		.ports = ports,
		.order = l->port,
		.n_order = l->n,
		.channel = table_down_at(p) ? TABLE_SIDEWAYS
					    : (uint8_t)table_channel(p),
		.is_adaptive = p->kind != PACKET_DETERMINISTIC,
	};
}

/* Keeps the port by which a packet came in; false: it has no room for it. */
static bool keep_port(struct packet *p, port_id in)
{
	uint32_t n = route_n_came(p);

	if (in == TOPO_NO_PORT)
		return true;
	if (n == ROUTE_CAME)
		return false;
	p->way |= (uint64_t)in << ROUTE_CAME_BITS * n;
	p->way += UINT64_C(1) << ROUTE_CAME_SHIFT;
	return true;
}

/* The ports that a packet's payload names, one for each switch from its source
 * on. */
static struct route_choice by_vector(
	const struct table *x, struct packet *p, router_id at, port_id in)
{
	const struct topo *t = x->route.topo;
	struct route_choice c = { .channel = TABLE_SYSTEM };
	uint32_t n;
	port_id port;

	if (!keep_port(p, in))
		return c;
	n = route_n_came(p) - (p->src < t->n_nodes);
	if (n >= p->bytes)
		return c;
	port = ((const uint8_t *)(uintptr_t)p->load)[n];
	if (port == ROUTE_HERE)
		p->dst = at;
	else if (port < t->n_ports &&
		 t->ops->peer(t, at, port).router != NO_ROUTER)
		c.ports = BIT(port);
	c.first = (uint8_t)port;
	return c;
}

struct route_choice table_look_up(const struct table *x,
	const struct route_memory *own, struct packet *p, router_id at,
	port_id in)
{
	const struct port_table *t;
	struct route_choice none = { .ports = 0 };
	uint32_t i;

	if (p->kind == PACKET_VECTOR)
		return by_vector(x, p, at, in);
	if (at == p->dst)
		return none;
	t = own ? own->table[in] : NULL;
	if (t) {
		i = index_of(x, t, p->dst, at);
		if (i == table_entries(x))
			return none;
		if (t->list[i])
			return by_list(x, own->list[t->list[i] - 1], p, at, in);
	}
	return p->dst < x->route.topo->n_nodes ? table_to_node(x, p, at, in)
					       : table_to_switch(x, p, at, in);
}

/* --- entries by their place --- */

/* A destination whose packets use an entry; NO_ROUTER: there is none. */
static router_id user_of(const struct table *x, const struct route_entry *e)
{
	uint32_t rail = fattree_place(x->tree, e->at).rail;
	uint32_t home = table_home(x, e->at);
	struct table_guid to = { home, e->index };

	if (e->part == ROUTE_INTER) {
		to = (struct table_guid){ e->index, 0 };
		if (e->index == home)
			return NO_ROUTER;
	}
	return table_find(x, rail, to);
}

static bool is_port(const struct table *x, router_id at, port_id port)
{
	const struct topo *t = x->route.topo;

	return at >= t->n_nodes && at < t->n_routers && port < t->n_ports &&
	       t->ops->peer(t, at, port).router != NO_ROUTER;
}

/* Where an entry is in a port's memory; n_entries if it has none such. */
static uint32_t place_of(const struct table *x, const struct route_memory *own,
	const struct route_entry *e)
{
	const struct port_table *t = own ? own->table[e->port] : NULL;
	uint32_t n = table_entries(x);
	uint32_t n_intra = t ? t->n_intra : 1u << x->number_bits;

	if (e->part == ROUTE_INTRA)
		return e->index < n_intra ? e->index : n;
	return e->index < n - n_intra ? n_intra + e->index : n;
}

/* --- writing --- */

static struct port_table *table_at(
	const struct table *x, struct route_memory **own, port_id port)
{
	struct port_table **t;

	if (!*own) {
		*own = mem_alloc(1, sizeof(**own));
		(*own)->n_entries = table_entries(x);
	}
	t = &(*own)->table[port];
	if (!*t) {
		*t = mem_alloc(
			1, sizeof(**t) + table_entries(x) * sizeof(uint16_t));
		(*t)->n_intra = 1u << x->number_bits;
	}
	return *t;
}

static uint32_t list_at(
	struct route_memory *own, const uint8_t *ports, uint32_t n)
{
	struct list *l;
	uint32_t i;

	for (i = 0; i < own->n_lists; i++)
		if (own->list[i]->n == n &&
			!memcmp(own->list[i]->port, ports, n))
			return i;
	if (i == MOST_LISTS)
		return i;
	own->list = mem_grow(own->list, i + 1, sizeof(*own->list));
	own->list[i] = l = mem_alloc(1, sizeof(*l));
	own->n_lists++;
	l->n = (uint8_t)n;
	for (uint32_t k = 0; k < n; k++) {
		l->port[k] = ports[k];
		l->ports |= BIT(ports[k]);
	}
	return i;
}

int table_write(const struct route *r, struct route_memory **own,
	const struct route_entry *e, const uint8_t *ports, uint32_t n_ports)
{
	const struct table *x = table_of(r);
	uint32_t i, list;

	if (!is_port(x, e->at, e->port) || n_ports > ROUTE_CANDIDATES ||
		e->part >= ROUTE_PARTS)
		return -1;
	for (uint32_t k = 0; k < n_ports; k++)
		if (!is_port(x, e->at, ports[k]))
			return -1;
	i = place_of(x, *own, e);
	if (i == table_entries(x))
		return -1;
	table_at(x, own, e->port);
	list = list_at(*own, ports, n_ports);
	if (list == MOST_LISTS)
		return -1;
	(*own)->table[e->port]->list[i] = (uint16_t)(list + 1);
	return 0;
}

uint32_t table_split_of(const struct route *r, const struct route_memory *own,
	router_id at, port_id port)
{
	(void)at;
	return own && own->table[port] ? own->table[port]->n_intra
				       : 1u << table_of(r)->number_bits;
}

int table_split(const struct route *r, struct route_memory **own, router_id at,
	port_id port, uint32_t n_intra)
{
	const struct table *x = table_of(r);
	struct port_table *t;

	if (!is_port(x, at, port) || n_intra > table_entries(x))
		return -1;
	t = table_at(x, own, port);
	memset(t->list, 0, table_entries(x) * sizeof(t->list[0]));
	t->n_intra = n_intra;
	return 0;
}

/* --- what a port's table holds --- */

/* The ports of a mask upwards from the first, around. */
static uint32_t add_ports(
	uint8_t *ports, uint32_t n, port_mask m, uint32_t first)
{
	while (m && n < ROUTE_CANDIDATES) {
		port_mask from = m >> first << first;
		port_id p = (port_id)__builtin_ctzll(from ? from : m);

		ports[n++] = (uint8_t)p;
		m &= ~BIT(p);
	}
	return n;
}

uint32_t table_read(const struct route *r, const struct route_memory *own,
	const struct route_entry *e, uint8_t *ports)
{
	const struct table *x = table_of(r);
	struct packet p = { .kind = PACKET_DETERMINISTIC };
	struct route_choice c;
	const struct list *l;
	uint32_t i;

	if (!is_port(x, e->at, e->port) || e->part >= ROUTE_PARTS)
		return 0;
	i = place_of(x, own, e);
	if (i == table_entries(x))
		return 0;
	if (own && own->table[e->port] && own->table[e->port]->list[i]) {
		l = own->list[own->table[e->port]->list[i] - 1];
		memcpy(ports, l->port, l->n);
		return l->n;
	}
	p.dst = user_of(x, e);
	if (p.dst == NO_ROUTER)
		return 0;
	c = r->lists->choose(r, NULL, &p, e->at, e->port);
	i = add_ports(ports, 0, c.ports, c.first);
	return add_ports(ports, i, c.later & ~c.ports, c.first);
}

/* All destinations of a supernode. */
static void touch_supernode(const struct table *x, uint32_t rail,
	uint32_t supernode, uint8_t *is_touched)
{
	for (uint32_t i = 0; !(i >> x->number_bits); i++) {
		router_id dst = table_find(
			x, rail, (struct table_guid){ supernode, i });

		if (dst != NO_ROUTER)
			is_touched[dst] = 1;
	}
}

void table_touches(const struct table *x, const struct route_memory *own,
	router_id at, uint8_t *is_touched)
{
	uint32_t rail = fattree_place(x->tree, at).rail;
	uint32_t home = table_home(x, at), n = table_entries(x);
	const struct topo *topo = x->route.topo;

	for (port_id p = 0; p < TOPO_MAX_PORTS; p++) {
		const struct port_table *t = own->table[p];

		/* another split may leave some without an entry */
		if (t && t->n_intra != 1u << x->number_bits) {
			memset(is_touched, 1, topo->n_routers);
			return;
		}
		for (uint32_t i = 0; t && i < t->n_intra; i++) {
			router_id dst = table_find(
				x, rail, (struct table_guid){ home, i });

			if (t->list[i] && dst != NO_ROUTER)
				is_touched[dst] = 1;
		}
		for (uint32_t i = t ? t->n_intra : n; i < n; i++)
			if (t->list[i])
				touch_supernode(
					x, rail, i - t->n_intra, is_touched);
	}
}

/* --- its memory --- */

void table_free(struct route_memory *own)
{
	if (!own)
		return;
	for (port_id p = 0; p < TOPO_MAX_PORTS; p++)
		mem_free(own->table[p]);
	for (uint32_t i = 0; i < own->n_lists; i++)
		mem_free(own->list[i]);
	mem_free(own->list);
	mem_free(own);
}

uint64_t table_memory(const struct route_memory *own)
{
	uint64_t n = sizeof(*own);

	if (!own)
		return 0;
	for (port_id p = 0; p < TOPO_MAX_PORTS; p++)
		if (own->table[p])
			n += sizeof(*own->table[p]) +
			     own->n_entries * sizeof(uint16_t);
	return n + own->n_lists * (sizeof(struct list) + sizeof(void *));
}

/* --- for another process --- */

/* Before the lists and the tables of ports. */
struct packed {
	uint32_t n_lists, n_entries;
	port_mask tables; /* that there are */
};

static size_t table_bytes(const struct packed *p)
{
	return sizeof(struct port_table) + p->n_entries * sizeof(uint16_t);
}

void table_pack(const struct route_memory *own, struct cluster_bytes *to)
{
	struct packed head = { own->n_lists, own->n_entries, 0 };
	size_t size = table_bytes(&head);

	for (port_id p = 0; p < TOPO_MAX_PORTS; p++)
		if (own->table[p])
			head.tables |= BIT(p);
	memcpy(cluster_add(to, sizeof(head)), &head, sizeof(head));
	for (uint32_t i = 0; i < own->n_lists; i++)
		memcpy(cluster_add(to, sizeof(struct list)), own->list[i],
			sizeof(struct list));
	for (port_id p = 0; p < TOPO_MAX_PORTS; p++)
		if (own->table[p])
			memcpy(cluster_add(to, size), own->table[p], size);
}

static void *copy(const char **from, size_t size)
{
	void *to = memcpy(mem_alloc(1, size), *from, size);

	*from += size;
	return to;
}

struct route_memory *table_unpack(const void *from)
{
	struct route_memory *own = mem_alloc(1, sizeof(*own));
	const char *at = (const char *)from + sizeof(struct packed);
	struct packed head;

	memcpy(&head, from, sizeof(head));
	own->n_lists = head.n_lists;
	own->n_entries = head.n_entries;
	own->list = mem_alloc(head.n_lists + 1, sizeof(*own->list));
	for (uint32_t i = 0; i < head.n_lists; i++)
		own->list[i] = copy(&at, sizeof(struct list));
	for (port_mask m = head.tables; m; m &= m - 1)
		own->table[__builtin_ctzll(m)] = copy(&at, table_bytes(&head));
	return own;
}
