#include "net/manage.h"

#include "base/mem.h"
#include "link/faults.h"
#include "net/repair.h"

/* Tables that management loads are made before the run. */
static void make_tables(struct net *n)
{
	const struct faults *f = n->faults;
	port_mask *dead;

	if (!f || !f->n_reloads)
		return;
	n->n_tables = f->n_reloads;
	n->tables = mem_alloc(n->n_tables, sizeof(*n->tables));
	dead = mem_alloc(n->n_sites, sizeof(*dead));
	for (size_t i = 0; i < n->n_tables; i++) {
		faults_avoided(f, n->topo, i, dead);
		n->tables[i] = (struct net_tables){ f->reload[i].stop,
			f->reload[i].load,
			n->route->ops->around(n->route, dead, (uint32_t)i) };
	}
	mem_free(dead);
}

/* The same for repairs that need a drained network. */
static void make_stops(struct net *n)
{
	const struct net_repair *r = n->repair;

	if (!r || !r->n_stops)
		return;
	n->tables = mem_alloc(r->n_stops, sizeof(*n->tables));
	for (size_t i = 0; i < r->n_views; i++)
		if (net_view_stops(&r->view[i]))
			n->tables[n->n_tables++] =
				(struct net_tables){ r->view[i].stop,
					r->view[i].from, r->view[i].route };
}

static const uint16_t manage_key = SIM_KEY(PHASE_TOKEN, NET_MANAGE);

/* In the order of an instant: the next reload may stop requests in the one in
 * which tables are loaded. */
enum { MANAGE_STOP, MANAGE_LOAD, MANAGE_STOP_AGAIN };

/* Each site is told of its first reload, and of the next at each one's end. */
void net_manage_start(struct net *n)
{
	site_id s = n->n_tables ? sim_next_own(n->sim, 0) : n->n_sites;

	for (; s < n->n_sites; s = sim_next_own(n->sim, s + 1))
		sim_post(sim_owner(n->sim, s), s, n->tables[0].stop, manage_key,
			MANAGE_STOP, 0);
}

void net_manage_plan(struct net *n)
{
	make_tables(n);
	if (!n->repair)
		n->repair = net_repair_new(n->route, n->faults);
	make_stops(n);
}

void net_on_manage(struct net *n, struct sim_worker *w, site_id s, sim_time t,
	const struct sim_event *e)
{
	struct router *r = n->router[s < n->n_nodes ? NET_NODES : NET_SWITCHES];
	const struct net_tables *x = &n->tables[e->data];
	struct net_client *c = net_client(n, s);
	bool is_load = sim_aux(e) == MANAGE_LOAD;

	r->ops->manage(r, w, s, is_load ? x->route : NULL, t);
	if (s < n->n_nodes && c->ops.faults->on_quiesce)
		c->ops.faults->on_quiesce(c, w, s, !is_load, t);
	if (!is_load)
		sim_post_self(w, s, x->load, manage_key, MANAGE_LOAD, e->data);
	else if (e->data + 1 < n->n_tables)
		sim_post_self(w, s, x[1].stop, manage_key,
			x[1].stop == t ? MANAGE_STOP_AGAIN : MANAGE_STOP,
			e->data + 1);
}

void net_manage_free(struct net *n)
{
	for (size_t i = 0; i < n->n_tables && !n->repair; i++)
		route_free(n->tables[i].route);
	mem_free(n->tables);
	net_repair_free(n->repair);
}
