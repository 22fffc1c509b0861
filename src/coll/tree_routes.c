/* A node's registers: its part of each class route. */
#include "coll/tree_node.h"

bool tree_route(
	const struct tree *t, site_id s, uint32_t route, struct class_route *r)
{
	const struct tree_node *n = t->nodes[s];

	if (n && n->route[route].is_set)
		*r = n->route[route].is;
	else if (!n && !route)
		*r = class_route_build(
			&t->grid, &t->world, t->root, s, CLASS_WORLD);
	else
		return false;
	return true;
}

bool tree_shares(const struct tree *t, site_id s, uint32_t route,
	const struct class_route *r)
{
	struct class_route other;

	for (uint32_t i = 0; i < CLASS_ROUTES; i++)
		if (i != route && tree_route(t, s, i, &other) &&
			class_shared_links(&other, r))
			return true;
	return false;
}

/* Heads that wait on a route's way up do so no more; whether there are any. */
static bool forget_heads(
	const struct tree *t, struct tree_node *n, uint32_t route)
{
	bool any = false;

	for (uint32_t i = 0; i < PLACE_SLOT; i++) {
		const struct packet *p =
			&t->guest.net->packets[n->fifo[i].head];

		if (!n->fifo[i].n || p->hints & TREE_DOWN ||
			(p->hints & TREE_ROUTE) != route)
			continue;
		n->rising &= ~PLACE_BIT(i);
		any = true;
	}
	return any;
}

/* Links that nothing waits for any more are not asked for. */
static void ask_less(struct tree *t, struct tree_node *n, site_id s)
{
	struct router *r = t->guest.net->router[NET_NODES];
	const struct tree_at a = {
		.tree = t, .net = t->guest.net, .node = n, .s = s
	};
	uint32_t ports = tree_up_wants(&a);

	if (n->down)
		ports |= tree_down_wants(&a);
	n->lent &= (uint16_t)ports;
	r->ops->guests->lend(r, NULL, s, n->lent, 0);
}

void tree_set_route(
	struct tree *t, site_id s, uint32_t route, const struct class_route *r)
{
	struct tree_node *n = tree_node_of(t, s);
	struct tree_route *x = &n->route[route];
	bool is_busy = forget_heads(t, n, route);

	BUG_IF(route >= CLASS_ROUTES);
	x->is = *r;
	x->is_set = r->inputs || r->output;
	x->have = 0;
	n->whole &= ~(1u << route);
	x->is_told = is_busy && x->stop;
	if (!is_busy)
		x->stop = tree_shares(t, s, route, r) ? TREE_SHARED : TREE_GOES;
	else if (!x->stop)
		x->stop = TREE_REWRITTEN;
	if (n->lent)
		ask_less(t, n, s);
}

bool tree_is_taken(const struct tree *t, site_id s, uint32_t route)
{
	return !route || route >= (uint32_t)t->params.routes ||
	       (t->nodes[s] && t->nodes[s]->route[route].is_taken);
}

void tree_take_route(struct tree *t, site_id s, uint32_t route, bool is_taken)
{
	tree_node_of(t, s)->route[route].is_taken = is_taken;
}

site_id tree_root(const struct tree *t)
{
	return t->root;
}

bool tree_build(const struct tree *t, const struct topo_box *box, site_id s,
	uint32_t channel, struct class_route *r)
{
	router_id root = t->params.root == TREE_ROOT_BOX
				 ? class_root(&t->grid, box)
				 : t->root;

	if (!topo_box_has(box, &t->grid, s))
		return false;
	*r = class_route_build(&t->grid, box, root, s, channel);
	return true;
}
