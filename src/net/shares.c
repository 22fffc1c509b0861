#include "net/shares.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "sim/cluster.h"

/* The part of a share, 1/8, by which it may be smaller or larger, so that nodes
 * of a switch stay together. */
enum { NODES_ASTRAY = 8 };

/* The work of a node, and of a switch for each node below it. */
enum { NODE_WEIGHT = 100, SWITCH_WEIGHT = 5 };

/* In a grid, a worker's share of the nodes consists of so many pieces from all
 * over the machine, since neighbours often work at the same time: in a job, or
 * as a stage of a pipeline. */
enum { PIECES = 8 };

/* The node that a site is simulated with.  IO nodes are spread over all. */
static router_id home_of(const struct topo *t, router_id r)
{
	if (t->ops->home)
		return t->ops->home(t, r);
	return r < t->n_nodes ? r
			      : (router_id)((uint64_t)(r - t->n_nodes) *
					    t->n_nodes / t->n_io);
}

/* --- boxes of a grid --- */

/* A grid that is cut into equal boxes. */
struct boxes {
	uint32_t n_dims, size[TOPO_MAX_DIMS], parts[TOPO_MAX_DIMS];
};

/* Wires that are cut, if the ends of each line are joined. */
static uint64_t count_cut(const struct boxes *b, const struct topo *t)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < b->n_dims; i++)
		if (b->parts[i] > 1)
			n += (uint64_t)b->parts[i] * (t->n_nodes / b->size[i]);
	return n;
}

/* Tries all ways to make n boxes by cuts across dimensions below one.  Of equal
 * ones the first is kept: that with slabs of nodes beside each other. */
static void try_cuts(struct boxes *b, struct boxes *best, const struct topo *t,
	uint32_t dim, uint32_t n)
{
	if (!dim) {
		if (n == 1 &&
			(!best->n_dims || count_cut(b, t) < count_cut(best, t)))
			*best = *b;
		return;
	}
	for (uint32_t k = n; k; k--) {
		if (n % k || b->size[dim - 1] % k)
			continue;
		b->parts[dim - 1] = k;
		try_cuts(b, best, t, dim - 1, n / k);
	}
}

/* The number of the box that a node is in. */
static uint32_t box_of(
	const struct boxes *b, const struct topo *t, router_id node)
{
	uint32_t x[TOPO_MAX_DIMS], n = 0;

	t->ops->place(t, node, x);
	for (uint32_t i = 0; i < b->n_dims; i++)
		n = n * b->parts[i] + x[i] * b->parts[i] / b->size[i];
	return n;
}

/* False where nodes are no grid, or one that no equal boxes fill. */
static bool share_boxes(uint16_t *process, const struct topo *t, uint32_t n)
{
	struct boxes b = { 0 }, best = { 0 };

	if (!topo_is_direct(t) || !t->ops->grid || !t->ops->place)
		return false;
	b.n_dims = t->ops->grid(t, b.size);
	try_cuts(&b, &best, t, b.n_dims, n);
	for (router_id r = 0; best.n_dims && r < t->n_nodes; r++)
		process[r] = (uint16_t)box_of(&best, t, r);
	return best.n_dims;
}

/* --- equal numbers of nodes --- */

static bool share_a_switch(const struct topo *t, router_id a, router_id b)
{
	return t->ops->peer(t, a, 0).router == t->ops->peer(t, b, 0).router;
}

/* The first node of one of n equal shares.  Nodes of a switch stay together
 * where shares hold many switches. */
static router_id share_first(const struct topo *t, uint32_t share, uint32_t n)
{
	uint64_t all = t->n_nodes, even = (share * all + n - 1) / n;
	uint64_t most = all / n / NODES_ASTRAY, at = even;

	if (topo_is_direct(t) || !even || even >= all)
		return (router_id)even;
	while (even - at < most &&
		share_a_switch(t, (router_id)at - 1, (router_id)at))
		at--;
	return (router_id)(even - at < most ? at : even);
}

static void share_numbers(uint16_t *process, const struct topo *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		router_id end = share_first(t, i + 1, n);

		for (router_id r = share_first(t, i, n); r < end; r++)
			process[r] = (uint16_t)i;
	}
}

/* --- */

void net_share_processes(uint16_t *process, const struct topo *t, uint32_t n)
{
	if (n > 1 && !share_boxes(process, t, n))
		share_numbers(process, t, n);
	for (router_id r = t->n_nodes; r < t->n_routers; r++)
		process[r] = process[home_of(t, r)];
}

/* The worker of the i-th of so many nodes. */
static uint8_t worker_of(uint64_t i, uint64_t n_nodes, uint64_t n_workers)
{
	uint64_t each = n_nodes / n_workers, n;

	each = each < PIECES ? each : PIECES;
	n = n_workers * (each ? each : 1);
	return (uint8_t)(i * n / n_nodes % n_workers);
}

/* For a grid, whose neighbours exchange mail: equal shares of a process's
 * nodes, with the switches among them. */
static void share_pieces(const struct net_shares *x, const struct topo *t,
	uint32_t n_processes, uint32_t n_workers)
{
	uint64_t *all = mem_alloc(n_processes, sizeof(*all));
	uint64_t *at = mem_alloc(n_processes, sizeof(*at));

	for (router_id r = 0; r < t->n_nodes; r++)
		all[x->process[r]]++;
	for (router_id r = 0; r < t->n_nodes; r++) {
		uint32_t i = x->process[r];

		x->owner[r] = worker_of(at[i]++, all[i], n_workers);
	}
	for (router_id r = t->n_nodes; r < t->n_routers; r++)
		x->owner[r] = x->owner[home_of(t, r)];
	mem_free(all);
	mem_free(at);
}

/* --- dealing --- */

/* A site that is dealt to a worker. */
struct card {
	uint32_t weight;
	router_id site;
};

/* Links from the nearest node to each site. */
static void find_levels(uint32_t *level, const struct topo *t)
{
	router_id *line = mem_alloc(t->n_routers, sizeof(*line));
	router_id n = t->n_nodes, to;

	for (router_id r = 0; r < t->n_routers; r++)
		level[r] = r < t->n_nodes ? 0 : UINT32_MAX;
	for (router_id r = 0; r < n; r++)
		line[r] = r;
	for (router_id i = 0; i < n; i++)
		for (port_id p = 0; p < topo_ports_at(t, line[i]); p++) {
			to = t->ops->peer(t, line[i], p).router;
			if (to == NO_ROUTER || level[to] != UINT32_MAX)
				continue;
			level[to] = level[line[i]] + 1;
			line[n++] = to;
		}
	mem_free(line);
}

/* Nodes below a switch: those below its neighbours one level down, each of
 * which counts once, though several cables may lead to it in a row. */
static uint32_t count_below(const struct topo *t, const uint32_t *level,
	const uint32_t *below, router_id r)
{
	router_id last = NO_ROUTER, to;
	uint64_t n = 0;

	for (port_id p = 0; p < topo_ports_at(t, r); p++) {
		to = t->ops->peer(t, r, p).router;
		if (to == NO_ROUTER || to == last || level[to] + 1 != level[r])
			continue;
		n += below[to];
		last = to;
	}
	return (uint32_t)(n < t->n_nodes ? n : t->n_nodes);
}

static void weigh(struct card *card, const struct topo *t)
{
	uint32_t *level = mem_alloc(t->n_routers, sizeof(*level));
	uint32_t *below = mem_alloc(t->n_routers, sizeof(*below)), most = 0;

	find_levels(level, t);
	for (router_id r = 0; r < t->n_routers; r++) {
		card[r] = (struct card){ NODE_WEIGHT, r };
		below[r] = r < t->n_nodes;
		if (level[r] != UINT32_MAX && level[r] > most)
			most = level[r];
	}
	for (uint32_t k = 1; k <= most; k++)
		for (router_id r = t->n_nodes; r < t->n_routers; r++)
			if (level[r] == k) {
				below[r] = count_below(t, level, below, r);
				card[r].weight = SWITCH_WEIGHT * below[r];
			}
	mem_free(level);
	mem_free(below);
}

static int by_weight(const void *a, const void *b)
{
	const struct card *x = a, *y = b;

	return 2 * order(y->weight, x->weight) + order(x->site, y->site);
}

static uint32_t find_least(const uint64_t *load, uint32_t n)
{
	uint32_t least = 0;

	for (uint32_t i = 1; i < n; i++)
		if (load[i] < load[least])
			least = i;
	return least;
}

/*
 * For any other network: deals out one site after the other, the heaviest
 * first, to the worker of its process with the least work so far.  Each worker
 * thus gets about as many sites of each kind, from all over the machine,
 * whichever nodes a job uses.
 */
static void deal(const struct net_shares *x, const struct topo *t,
	uint32_t n_processes, uint32_t n_workers)
{
	struct card *card = mem_alloc(t->n_routers, sizeof(*card));
	uint64_t *load =
		mem_alloc((size_t)n_processes * n_workers, sizeof(*load));

	weigh(card, t);
	qsort(card, t->n_routers, sizeof(*card), by_weight);
	for (router_id i = 0; i < t->n_routers; i++) {
		router_id r = card[i].site;
		uint64_t *of = load + (size_t)x->process[r] * n_workers;
		uint32_t worker = find_least(of, n_workers);

		of[worker] += card[i].weight;
		x->owner[r] = (uint8_t)worker;
	}
	mem_free(card);
	mem_free(load);
}

static bool is_grid(const struct topo *t)
{
	return topo_is_direct(t) || (t->ops->grid && t->ops->place);
}

static void share_workers(const struct net_shares *x, const struct topo *t,
	uint32_t n_processes, uint32_t n_workers)
{
	if (n_workers == 1)
		return;
	if (is_grid(t))
		share_pieces(x, t, n_processes, n_workers);
	else
		deal(x, t, n_processes, n_workers);
}

/* --- */

static void share_as_processes(
	const struct net_shares *x, const struct topo *t, uint32_t n)
{
	uint16_t *process = mem_alloc(t->n_routers, sizeof(*process));

	net_share_processes(process, t, n);
	for (router_id r = 0; r < t->n_routers; r++)
		x->owner[r] = (uint8_t)process[r];
	mem_free(process);
}

sim_time net_mail_time(const struct net *n, uint32_t wire)
{
	return n->link.latency[wire] -
	       (n->params.kind->posts_tokens ? n->link.logic[wire] : 0);
}

sim_time *net_mail_times(const struct net *n)
{
	sim_time *least = mem_alloc(n->topo->n_wires, sizeof(*least));

	for (uint32_t i = 0; i < n->topo->n_wires; i++) {
		least[i] = net_mail_time(n, i);
		if (n->route->age && n->route->age < least[i])
			least[i] = n->route->age; /* news between switches */
	}
	return least;
}

static void note_lead(uint8_t *lead, sim_time windows)
{
	const sim_time most = UINT8_MAX;
	uint8_t k = (uint8_t)(windows < most ? windows : most);

	if (!*lead || k < *lead)
		*lead = k;
}

/* A wire may be of another kind, seen from its other end; its tokens take the
 * time of one of them. */
static sim_time least_on(const struct topo *t, router_id r, port_id p,
	struct topo_end far, const sim_time *least)
{
	sim_time there = least[t->ops->wire(t, r, p)];
	sim_time back = least[t->ops->wire(t, far.router, far.port)];

	return there < back ? there : back;
}

static void find_leads_of(const struct net_shares *x, const struct topo *t,
	const struct sim_params *p, const sim_time *least, router_id r)
{
	size_t n = p->cluster->n, from = x->process[r];

	for (port_id port = 0; port < t->n_ports; port++) {
		struct topo_end far = t->ops->peer(t, r, port);
		size_t to =
			far.router == NO_ROUTER ? from : x->process[far.router];
		sim_time k;

		if (to == from)
			continue;
		x->is_edge[r] = true;
		k = least_on(t, r, port, far, least) / p->window;
		note_lead(&x->lead[from * n + to], k);
		note_lead(&x->lead[to * n + from], k);
	}
}

/* Mail between processes whose sites have wires to each other.  Those that
 * share no room need to know their own only. */
static void find_leads(const struct net_shares *x, const struct topo *t,
	const struct sim_params *p, const sim_time *least)
{
	for (router_id r = 0; r < t->n_routers; r++)
		if (x->process[r] == p->cluster->me || p->cluster->room)
			find_leads_of(x, t, p, least, r);
}

void net_share_out(struct net_shares *x, const struct topo *t,
	const struct sim_params *p, const sim_time *least)
{
	*x = (struct net_shares){
		.owner = mem_alloc(t->n_routers, sizeof(*x->owner)),
		.process = mem_alloc(t->n_routers, sizeof(*x->process)),
	};
	net_share_processes(x->process, t, p->cluster ? p->cluster->n : 1);
	if (p->trial.counts || p->trial.fences) /* workers are as processes */
		share_as_processes(x, t, p->n_workers);
	else
		share_workers(
			x, t, p->cluster ? p->cluster->n : 1, p->n_workers);
	if (!p->cluster)
		return;
	x->lead = mem_alloc(
		(size_t)p->cluster->n * p->cluster->n, sizeof(*x->lead));
	x->is_edge = mem_alloc(t->n_routers, sizeof(*x->is_edge));
	find_leads(x, t, p, least);
}

/* --- what they will be --- */

static void count_wires(struct net_share *x, const struct topo *t,
	const uint16_t *process, bool *is_near, uint32_t n)
{
	for (router_id r = 0; r < t->n_routers; r++) {
		uint32_t me = process[r];

		for (port_id p = 0; p < t->n_ports; p++) {
			router_id to = t->ops->peer(t, r, p).router;

			if (to == NO_ROUTER)
				continue;
			x[me].wires++;
			x[me].cut += process[to] != me;
			if (process[to] != me)
				is_near[(size_t)me * n + process[to]] = true;
		}
	}
}

void net_count_shares(
	struct net_share *x, const struct net_setup *s, uint32_t n)
{
	const struct topo *t = s->topo;
	uint16_t *process = mem_alloc(t->n_routers, sizeof(*process));
	bool *is_near = mem_alloc((size_t)n * n, sizeof(*is_near));

	net_share_processes(process, t, n);
	for (router_id r = 0; r < t->n_routers; r++) {
		x[process[r]].nodes += r < t->n_nodes;
		x[process[r]].others += r >= t->n_nodes;
	}
	count_wires(x, t, process, is_near, n);
	for (size_t i = 0; i < (size_t)n * n; i++)
		x[i / n].near += is_near[i];
	for (uint32_t i = 0; i < n; i++)
		x[i].memory = net_estimate_share(s, x[i].nodes, x[i].others);
	mem_free(is_near);
	mem_free(process);
}

void net_shares_fini(struct net_shares *x)
{
	mem_free(x->owner);
	mem_free(x->process);
	mem_free(x->lead);
	mem_free(x->is_edge);
}

/* --- links between processes --- */

/* The site that a link comes from; NO_ROUTER: there is no wire. */
static site_id sender_of(const struct net *n, uint32_t link)
{
	struct topo_end to = topo_link_end(&n->links, link);

	return n->topo->ops->peer(n->topo, to.router, to.port).router;
}

static site_id receiver_of(const struct net *n, uint32_t link)
{
	return topo_link_end(&n->links, link).router;
}

void net_find_cuts(struct net *n)
{
	for (uint32_t i = 0; sim_is_shared(n->sim) && i < n->links.n; i++) {
		site_id from = sender_of(n, i);

		if (from == NO_ROUTER ||
			sim_process(n->sim, from) ==
				sim_process(n->sim, receiver_of(n, i)))
			continue;
		n->cut = mem_more(n->cut, n->n_cuts, sizeof(*n->cut));
		n->cut[n->n_cuts++] = i;
	}
}

void net_sum_cuts(const struct net *n, int32_t *x, uint32_t each)
{
	size_t all = n->n_cuts * each, i;
	uint64_t *sum;

	if (!all)
		return;
	sum = mem_alloc(all, sizeof(*sum));
	for (i = 0; i < all; i++)
		sum[i] =
			(uint64_t)x[(size_t)n->cut[i / each] * each + i % each];
	sim_sum(n->sim, sum, all);
	for (i = 0; i < all; i++)
		x[(size_t)n->cut[i / each] * each + i % each] = (int32_t)sum[i];
	mem_free(sum);
}

void net_ask_cuts(const struct net *n, int32_t *x, uint32_t each,
	void (*changed)(void *arg, site_id s), void *arg)
{
	size_t size = each * sizeof(*x), i;
	int32_t *had = mem_alloc(n->n_cuts + 1, size);

	for (i = 0; i < n->n_cuts; i++) {
		int32_t *at = x + (size_t)n->cut[i] * each;

		memcpy(had + i * each, at, size);
		if (!sim_has(n->sim, receiver_of(n, n->cut[i])))
			memset(at, 0, size);
	}
	net_sum_cuts(n, x, each);
	for (i = 0; i < n->n_cuts; i++)
		if (memcmp(had + i * each, x + (size_t)n->cut[i] * each, size))
			changed(arg, sender_of(n, n->cut[i]));
	mem_free(had);
}
