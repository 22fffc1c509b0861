/*
 * Who waits in the collective network when nothing can happen any more: node,
 * route, what it waits for and since when.  Those that others wait for come
 * first: members that never came and routes that are stopped, then packets of
 * another route in front, then the rest.
 */
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "coll/tree_node.h"

enum { NAME = 96, LINE = 512, ORDERS = 3 };

struct knot {
	const struct tree *t;
	const struct tree_node *n; /* of the site that is looked at */
	site_id s;
	uint32_t order; /* of the lines that are written */
	char *text;
	size_t size, used;
	uint64_t more; /* lines without room */
};

static const struct packet *head_of(const struct knot *k, uint32_t place)
{
	packet_id id = place < PLACE_SLOT ? k->n->fifo[place].head
					  : k->n->slot[place - PLACE_SLOT];

	return &k->t->guest.net->packets[id];
}

static void add_input(const struct knot *k, char text[LINE], uint32_t input)
{
	const struct topo *t = k->t->guest.net->topo;
	char name[32] = "local";

	if (input != CLASS_LOCAL && input < t->n_ports)
		t->ops->name_port(t, k->s, (port_id)input, name, sizeof(name));
	else if (input != CLASS_LOCAL)
		snprintf(name, sizeof(name), "link %u", input);
	name_add(text, LINE, name);
}

/* "  node 3 (1,1), route 0: ... since 1.234 us" */
static void write_line(struct knot *k, uint32_t order, const struct packet *p,
	const char *what)
{
	const struct topo *t = k->t->guest.net->topo;
	char site[NAME], line[LINE + NAME + 64];
	int n;

	if (order != k->order)
		return;
	topo_name_site(t, k->s, site, sizeof(site));
	n = snprintf(line, sizeof(line), "  %s, route %u: %s since %.3f us\n",
		site, (unsigned)(p->hints & TREE_ROUTE), what,
		(double)p->head / (1000 * SIM_NS));
	if (k->used + (size_t)n + 40 < k->size) {
		memcpy(k->text + k->used, line, (size_t)n + 1);
		k->used += (size_t)n;
	} else {
		k->more++;
	}
}

/* --- on the way up --- */

static uint32_t place_of(const struct tree_route *r, uint32_t input)
{
	return tree_place(r->is.channel, input);
}

/* Contributions that do not fit together, each with its header. */
static void write_different(
	struct knot *k, const struct tree_route *r, const struct packet *p)
{
	struct net *net = k->t->guest.net;
	const struct net_client *c;
	char text[LINE] = "stopped, contributions differ:", header[128];
	uint32_t input;

	for (uint32_t i = 0;
		(input = tree_nth(r->is.inputs, i)) != TOPO_MAX_PORTS; i++) {
		packet_id id = k->n->fifo[place_of(r, input)].head;

		snprintf(
			header, sizeof(header), "%u B", net->packets[id].bytes);
		c = net_sender(net, id);
		if (c->ops.look->describe)
			c->ops.look->describe(c, id, header, sizeof(header));
		name_add(text, LINE, i ? "; " : " ");
		add_input(k, text, input);
		name_add(text, LINE, " ");
		name_add(text, LINE, header);
	}
	name_add(text, LINE, ",");
	write_line(k, 0, p, text);
}

/* A reduction some of whose inputs are missing. */
static void write_missing(
	struct knot *k, const struct tree_route *r, const struct packet *p)
{
	uint32_t order = 2, input, n = 0;
	char text[LINE] = "waits for ";

	for (uint32_t i = 0;
		(input = tree_nth(r->is.inputs, i)) != TOPO_MAX_PORTS; i++) {
		const struct tree_fifo *f = &k->n->fifo[place_of(r, input)];
		char front[32];

		if (r->have >> input & 1)
			continue;
		name_add(text, LINE, n++ ? ", " : "");
		add_input(k, text, input);
		if (f->n) {
			snprintf(front, sizeof(front),
				" (route %u is first there)",
				(unsigned)(head_of(k, place_of(r, input))
						   ->hints &
					   TREE_ROUTE));
			name_add(text, LINE, front);
			order = order ? 1 : 0;
		} else if (input == CLASS_LOCAL) {
			order = 0;
		}
	}
	write_line(k, order, p, text);
}

static void write_stray(struct knot *k, const struct tree_route *r,
	uint32_t place, const struct packet *p)
{
	char text[LINE] = "stopped, ";
	uint32_t input = (uint32_t)__builtin_ctz(tree_input(place));

	if (!r->is_set) {
		name_add(text, LINE, "it is not set here");
	} else if (r->stop == TREE_SHARED) {
		name_add(text, LINE, "world and system share its links");
	} else if (r->stop == TREE_REWRITTEN) {
		name_add(text, LINE,
			"its register was written while packets waited");
	} else if (r->is.channel != tree_channel(p)) {
		name_add(text, LINE, "a packet of another channel arrived on ");
		add_input(k, text, input);
	} else {
		name_add(text, LINE, "a packet waits at ");
		add_input(k, text, input);
	}
	name_add(text, LINE, ",");
	write_line(k, 0, p, text);
}

static void write_way(struct knot *k, const struct packet *p, uint32_t output)
{
	char text[LINE] = "on the way up, waits for room at the ";

	if (output) {
		name_add(text, LINE, "end of ");
		add_input(k, text, (uint32_t)__builtin_ctz(output));
	} else {
		name_add(text, LINE, "root");
	}
	write_line(k, 1, p, text);
}

static void look_up(struct knot *k, uint32_t place)
{
	const struct packet *p = head_of(k, place);
	const struct tree_route *r = &k->n->route[p->hints & TREE_ROUTE];
	uint32_t input = tree_input(place);

	if (k->n->rising >> place & 1)
		write_way(k, p, r->is.output);
	else if (!(r->have & input))
		write_stray(k, r, place, p);
	else if (input != (r->have & -r->have))
		return; /* once for each route */
	else if (r->stop == TREE_DIFFERENT)
		write_different(k, r, p);
	else if (r->have == r->is.inputs)
		write_way(k, p, r->is.output);
	else
		write_missing(k, r, p);
}

/* --- on the way down --- */

static void look_down(struct knot *k, uint32_t place)
{
	const struct packet *p = head_of(k, place);
	const struct tree_route *r = &k->n->route[p->hints & TREE_ROUTE];
	bool is_current = k->n->down && k->n->down_place == place;
	char text[LINE] = "on the way down, waits for room at the end of";

	if (!is_current) {
		if (!(k->n->falling >> place & 1))
			write_stray(k, r, place, p);
		return; /* or for the logic */
	}
	for (uint32_t m = p->ask; m; m &= m - 1) {
		name_add(text, LINE, " ");
		add_input(k, text, (uint32_t)__builtin_ctz(m));
	}
	write_line(k, 1, p, text);
}

static uint64_t look_at(struct knot *k)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < PLACE_SLOT; i++) {
		n += k->n->fifo[i].n;
		if (!k->n->fifo[i].n)
			continue;
		if (head_of(k, i)->hints & TREE_DOWN)
			look_down(k, i);
		else
			look_up(k, i);
	}
	for (uint32_t i = PLACE_SLOT; i < TREE_PLACES; i++)
		if (k->n->slot[i - PLACE_SLOT] != NO_PACKET) {
			look_down(k, i);
			n++;
		}
	return n;
}

uint64_t tree_knot(const struct net_guest *g, char *text, size_t size)
{
	struct knot k = {
		.t = (const struct tree *)g, .text = text, .size = size
	};
	uint64_t n = 0;

	for (k.order = 0; k.order < ORDERS; k.order++)
		for (k.s = 0, n = 0; k.s < g->net->n_nodes; k.s++) {
			k.n = k.t->nodes[k.s];
			n += k.n ? look_at(&k) : 0;
		}
	if (k.more && k.used + 40 <= size)
		snprintf(text + k.used, size - k.used, "  and %llu more\n",
			(unsigned long long)k.more);
	return n;
}
