/*
 * Up and down around failed links.
 *
 * A view of the network has, for each switch and each set of nodes that are at
 * the same switches, the ports that lead there: down by links that work, or up
 * to a switch that has such ports.  Packets that choose among several ports
 * choose among these.  A stored route with a failed link is replaced by another
 * one, drawn at random, so that those that are left share its load.
 */
#include "route/updown.h"

#include "base/mem.h"
#include "sim/random.h"

enum { ALL = -1 };

struct updown_view {
	port_mask *dead; /* [site] */
	uint32_t n_sets;
	port_mask *good; /* [switch][set] */
};

/* The set that a node belongs to; of several cards, each has its own. */
static uint32_t set_of(const struct fattree *t, uint32_t node, uint32_t card)
{
	if (t->topo.cards)
		return fattree_end(t, node, card) / t->span[1];
	/* of rails that join at the nodes' switches, that of rail 0 */
	return (t->join == 1 ? fattree_end(t, node, 0) : node) / t->span[1];
}

static port_mask *good_at(
	const struct updown *u, const struct updown_view *v, router_id at)
{
	return &v->good[(size_t)(at - u->tree->topo.n_nodes) * v->n_sets];
}

static uint32_t level_of(const struct fattree *t, router_id r)
{
	return fattree_level(t, fattree_fold(t, r));
}

/* Adds the ports between two that lead to switches from where a set can be
 * reached, for sets without other ports. */
static void add_ports(const struct updown *u, struct updown_view *v,
	router_id at, port_id from, port_id to)
{
	const struct topo *t = &u->tree->topo;
	port_mask *good = good_at(u, v, at), *old;

	old = mem_alloc(v->n_sets, sizeof(*old));
	for (uint32_t k = 0; k < v->n_sets; k++)
		old[k] = good[k];
	for (port_id p = from; p < to; p++) {
		struct topo_end far = t->ops->peer(t, at, p);
		const port_mask *there;

		if (far.router == NO_ROUTER || far.router < t->n_nodes ||
			v->dead[at] >> p & 1)
			continue;
		there = good_at(u, v, far.router);
		for (uint32_t k = 0; k < v->n_sets; k++)
			if (there[k] && !old[k])
				good[k] |= (port_mask)1 << p;
	}
	mem_free(old);
}

/* First what is below each switch, then what is above. */
static void find_good(const struct updown *u, struct updown_view *v)
{
	const struct fattree *t = u->tree;
	router_id r, n = t->topo.n_routers;
	uint32_t level;

	for (r = 0; r < t->topo.n_nodes; r++)
		for (port_id p = 0; p < t->topo.node_ports; p++)
			good_at(u, v,
				t->topo.ops->peer(&t->topo, r, p)
					.router)[set_of(t, r, p)] =
				(port_mask)ALL;
	for (level = 2; level <= t->n_levels; level++)
		for (r = t->topo.n_nodes; r < n; r++)
			if (level_of(t, r) == level)
				add_ports(u, v, r, 0, t->n_down[level]);
	for (level = t->n_levels - 1; level; level--)
		for (r = t->topo.n_nodes; r < n; r++)
			if (level_of(t, r) == level)
				add_ports(u, v, r, t->n_down[level],
					t->n_down[level] + t->n_up[level]);
}

struct route *updown_avoid(const struct route *r, const port_mask *dead)
{
	struct updown *u = mem_alloc(1, sizeof(*u));
	struct updown_view *v = mem_alloc(1, sizeof(*v));
	const struct topo *t = r->topo;
	router_id n_switches = t->n_routers - t->n_nodes;

	*u = *updown_of(r);
	v->dead = mem_alloc(t->n_routers, sizeof(*v->dead));
	for (router_id i = 0; i < t->n_routers; i++)
		v->dead[i] = dead[i];
	v->n_sets = set_of(u->tree, t->n_nodes - 1, t->node_ports - 1) + 1;
	v->good = mem_alloc((size_t)n_switches * v->n_sets, sizeof(*v->good));
	find_good(u, v);
	u->view = v;
	return &u->route;
}

void updown_fini(struct route *r)
{
	struct updown *u = (struct updown *)r;

	if (!u->view)
		return;
	mem_free(u->view->dead);
	mem_free(u->view->good);
	mem_free(u->view);
}

/* Rails by which a node can leave; stays: and by which packets arrive. */
static port_mask rails_of(
	const struct updown *u, uint32_t dst, router_id at, bool stays)
{
	const struct fattree *t = u->tree;
	const port_mask *dead = u->view->dead;
	uint32_t set = set_of(t, dst, 0);
	port_mask ports = 0;

	for (port_id p = 0; p < t->topo.node_ports; p++) {
		router_id leaf = t->topo.ops->peer(&t->topo, at, p).router;

		if (!(dead[at] >> p & 1) && good_at(u, u->view, leaf)[set] &&
			!(stays && dead[dst] >> p & 1))
			ports |= (port_mask)1 << p;
	}
	return ports;
}

/* Below the join a packet comes down by the same rail, if one works. */
static port_mask good_rails(const struct updown *u, uint32_t dst, router_id at)
{
	int64_t join = u->tree->join;
	port_mask ports = 0;

	if (!join || updown_meet(u, at, dst) < join)
		ports = rails_of(u, dst, at, true);
	return ports || !join ? ports : rails_of(u, dst, at, false);
}

/* Where rails join: ports to those that do not reach the node itself. */
static port_mask cut_rails(const struct updown *u, uint32_t dst, router_id at)
{
	const struct fattree *t = u->tree;
	uint32_t level = (uint32_t)t->join, n = t->n_paths[level];
	port_mask dead = u->view->dead[dst], ports = 0;

	if (!dead || t->topo.cards || level_of(t, at) != level)
		return 0;
	for (uint32_t i = 0; i < t->rails; i++) {
		uint32_t end = fattree_end(t, dst, i);

		if (dead >> i & 1 && fattree_tree(t, end, level) ==
					     (at - t->first[level]) / n)
			ports |= fattree_bundle(t, level,
				(at - t->first[level]) % n,
				fattree_digit(t, end, level - 1));
	}
	return ports;
}

/* Whether a switch, below the join, is above a node that its rail does not
 * reach. */
static bool is_off(const struct updown *u, uint32_t dst, router_id at)
{
	const struct fattree *t = u->tree;
	router_id folded = fattree_fold(t, at);
	uint32_t level = fattree_level(t, folded), rail;

	if (t->topo.cards || !u->view->dead[dst] || level >= t->join)
		return false;
	rail = fattree_place(t, at).rail;
	return u->view->dead[dst] >> rail & 1 &&
	       fattree_tree(t, fattree_end(t, dst, rail), level) ==
		       (folded - t->first[level]) / t->n_paths[level];
}

/* Ports up from there, to where another rail reaches it. */
static port_mask other_rails(const struct updown *u, uint32_t dst, router_id at)
{
	const struct topo *t = &u->tree->topo;
	port_mask m = updown_ups(u->tree, at) & ~u->view->dead[at], ports = 0;

	for (; m; m &= m - 1) {
		router_id far =
			t->ops->peer(t, at, (port_id)__builtin_ctzll(m)).router;

		if (level_of(u->tree, far) < u->tree->join ||
			good_at(u, u->view, far)[set_of(u->tree, dst, 0)] &
				~cut_rails(u, dst, far))
			ports |= m & -m;
	}
	return ports;
}

port_mask updown_good(
	const struct updown *u, const struct packet *p, router_id at)
{
	if (at < u->tree->topo.n_nodes)
		return good_rails(u, p->dst, at);
	if (is_off(u, p->dst, at))
		return other_rails(u, p->dst, at);
	return good_at(u, u->view, at)[set_of(u->tree, p->dst, p->to_card)] &
	       ~cut_rails(u, p->dst, at);
}

/* Whether all links of a stored route work. */
static bool is_whole(const struct updown *u, const struct packet *of,
	uint32_t number, uint32_t turn)
{
	const struct topo *t = &u->tree->topo;
	struct packet p = { .src = of->src, .dst = of->dst, .tag = of->tag };
	router_id at = p.src;

	updown_put(u, &p, number, turn);
	for (port_id port = updown_rail(u, &p); port != PACKET_NO_PORT;
		port = updown_take(u, &p)) {
		if (u->view->dead[at] >> port & 1)
			return false;
		at = t->ops->peer(t, at, port).router;
	}
	return true;
}

/* Whether no route at all leads from its source to its destination: to try all
 * of them would take long. */
static bool is_cut(const struct updown *u, const struct packet *p)
{
	const struct topo *t = &u->tree->topo;
	const port_mask *dead = u->view->dead;
	router_id leaf;

	if (!t->cards)
		return !u->tree->join && !good_rails(u, p->dst, p->src);
	leaf = t->ops->peer(t, p->src, p->card).router;
	return dead[p->src] >> p->card & 1 || dead[p->dst] >> p->to_card & 1 ||
	       !good_at(u, u->view, leaf)[set_of(u->tree, p->dst, p->to_card)];
}

/* For a packet whose source and destination have no rail in common: a route
 * that changes to another one where rails join. */
static bool turn(const struct updown *u, struct packet *p)
{
	uint32_t n = updown_n_turns(u, p), rails = (uint32_t)u->tree->rails;

	for (uint32_t i = 0; i < n * (rails - 1); i++)
		if (is_whole(u, p, i % n, 1 + i / n)) {
			updown_put(u, p, i % n, 1 + i / n);
			return true;
		}
	return false;
}

void updown_replace(
	const struct updown *u, struct packet *p, uint32_t number, uint32_t n)
{
	uint64_t pair = (uint64_t)p->dst << 32 | number << 16;
	uint32_t other = number, i;

	if (is_cut(u, p)) {
		updown_put(u, p, number, 0);
		return;
	}
	for (i = 0; i < 2 * n && !is_whole(u, p, other, 0); i++)
		other = (uint32_t)random_below(
			random_draw(1, p->src, RANDOM_WAY, pair | i).a, n);
	if (i == 2 * n)
		for (other = 0; other < n && !is_whole(u, p, other, 0);)
			other++;
	if (other == n && turn(u, p))
		return;
	updown_put(u, p, other < n ? other : number, 0);
}
