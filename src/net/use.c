#include "net/use.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "net/guest.h"
#include "sim/share.h"

static void add_guest(
	const struct net_guest *g, site_id s, port_id p, struct net_counters *c)
{
	struct net_counters x = g->ops->counters(g, s, p);

	c->sent_bytes += x.sent_bytes;
	c->packets += x.packets;
}

sim_time net_count_sent(const struct net *n, const struct net_link *l,
	sim_time free_at, sim_time now, struct net_count *c)
{
	const struct link_retry *q =
		&n->retry[net_link_at(n, l->site, l->port)];
	uint32_t many = net_router(n, l->site)->ops->n_channels;

	/* some routers' links to nodes do not replay */
	if (!retry_is_used(q))
		return free_at;
	for (uint32_t i = 0; q->n_copies && i < many; i++)
		c[i].sent -= retry_unsent(q, 1u << i, now);
	return free_at < q->sent ? free_at : q->sent;
}

struct net_counters net_counters(const struct net *n, site_id s, port_id p,
	uint32_t channels, sim_time now)
{
	const struct router *r = net_router(n, s);
	const struct net_link l = { .site = s, .port = p };
	struct net_count x[NET_MOST_CHANNELS] = { 0 };
	struct net_counters c = { 0 };

	if (p >= r->sites.n_ports)
		return c;
	c.n_channels = r->ops->n_channels;
	c.free_at = net_count(n, &l, now, x);
	for (uint32_t i = 0; i < c.n_channels; i++) {
		if (!(channels >> i & 1) || net_is_unused(&x[i]))
			continue;
		c.sent_bytes += c.sent[i] = x[i].sent;
		c.packets += c.came[i] = x[i].came;
		c.waited += c.stayed[i] = x[i].stayed;
		c.waiting[i] = x[i].waiting;
	}
	if (n->guest && channels == UINT32_MAX)
		add_guest(n->guest, s, p, &c);
	return c;
}

/* The link that leaves a site by a port; false where nothing is plugged in. */
static bool find_link(
	const struct net *n, site_id s, port_id p, struct net_link *l)
{
	struct topo_end to = n->topo->ops->peer(n->topo, s, p);

	if (to.router == NO_ROUTER)
		return false;
	*l = (struct net_link){
		.site = s,
		.port = p,
		.to = to,
		.class = n->topo->ops->wire(n->topo, s, p),
	};
	return true;
}

bool net_next_link(const struct net *n, struct net_link *l)
{
	port_id p = l->port == TOPO_NO_PORT ? 0 : l->port + 1;

	for (site_id s = l->site; s < n->n_sites; s++, p = 0)
		for (; p < net_router(n, s)->sites.n_ports; p++)
			if (find_link(n, s, p, l))
				return true;
	return false;
}

void net_links_init(struct net_links *l, const struct net *n)
{
	uint32_t *place = mem_alloc(n->links.n, sizeof(*place)); /* from 1 on */
	struct net_link x = NET_NO_LINK;

	l->link = mem_alloc(n->links.n, sizeof(*l->link));
	l->n = 0;
	while (net_next_link(n, &x)) {
		l->link[l->n++] = x;
		place[net_link_at(n, x.site, x.port)] = (uint32_t)l->n;
	}
	for (size_t i = 0; i < l->n; i++) {
		struct topo_end to = l->link[i].to;
		uint32_t back = place[net_link_at(n, to.router, to.port)];

		BUG_IF(!back);
		l->link[i].back = back - 1;
	}
	mem_free(place);
}

void net_links_fini(struct net_links *l)
{
	mem_free(l->link);
	*l = (struct net_links){ 0 };
}

sim_time net_busy(const struct net *n, const struct net_link *l, uint64_t bytes,
	sim_time free_at, sim_time now)
{
	sim_time busy = (sim_time)((uint128)bytes * (uint64_t)PS_PER_S /
				   (uint64_t)n->link.bps[l->class]);
	sim_time later = free_at > now ? free_at - now : 0;

	return busy > later ? busy - later : 0;
}

struct net_carried net_carried(const struct net *n, const struct net_link *l,
	uint32_t channels, sim_time now)
{
	struct net_counters c = { 0 }, far = { 0 };

	if (sim_has(n->sim, l->site))
		c = net_counters(n, l->site, l->port, channels, now);
	if (sim_has(n->sim, l->to.router))
		far = net_counters(n, l->to.router, l->to.port, channels, now);
	return (struct net_carried){
		.bytes = c.sent_bytes,
		.packets = far.packets,
		.busy = net_busy(n, l, c.sent_bytes, c.free_at, now),
		.waited = far.waited,
	};
}

void net_share_carried(const struct net *n, struct net_carried *x, size_t many)
{
	if (many)
		sim_sum(n->sim, &x->bytes,
			many * sizeof(*x) / sizeof(x->bytes));
}

uint32_t net_n_uses(const struct topo *t)
{
	return topo_is_direct(t) ? t->n_ports : t->n_wires;
}

static void add_use(struct net_use *u, uint64_t bytes, sim_time busy)
{
	u->n_links++;
	u->sent_bytes += bytes;
	u->busy += (uint64_t)busy;
	if (busy > u->most_busy)
		u->most_busy = busy;
	if (bytes > u->most_bytes)
		u->most_bytes = bytes;
}

/* A link's use, as the site that it leaves knows it, and the time that packets
 * waited at that end. */
struct end_use {
	uint64_t bytes, busy, waited;
};

static struct end_use use_of(
	const struct net *n, const struct net_link *l, sim_time now)
{
	struct net_counters c =
		net_counters(n, l->site, l->port, UINT32_MAX, now);

	return (struct end_use){
		.bytes = c.sent_bytes,
		.busy = (uint64_t)net_busy(n, l, c.sent_bytes, c.free_at, now),
		.waited = (uint64_t)c.waited,
	};
}

enum { SURVEY_LINKS = 1 << 16 };

/* The links of some sites by their numbers, and the use that this process
 * knows. */
struct survey {
	const struct net *n;
	sim_time now;
	site_id first, end;
	uint32_t first_link, n_links;
	struct net_link *link; /* back: 1 + the group of its other direction */
	struct end_use *use;
};

static void survey_link(const struct survey *v, const struct net_link *l)
{
	const struct net *n = v->n;
	const struct topo *t = n->topo;
	size_t i = net_link_at(n, l->site, l->port) - v->first_link;

	v->link[i] = *l;
	v->link[i].back = 1 + (topo_is_direct(t) ? l->port
						 : t->ops->wire(t, l->to.router,
							   l->to.port));
	if (sim_has(n->sim, l->site))
		v->use[i] = use_of(n, l, v->now);
}

/* Each worker looks at as many sites. */
static void survey_share(void *arg, struct sim_worker *w)
{
	const struct survey *v = arg;
	const struct net *n = v->n;
	uint64_t n_sites = v->end - v->first;
	site_id s = v->first + (site_id)(n_sites * w->id / n->n_workers);
	site_id end =
		v->first + (site_id)(n_sites * (w->id + 1) / n->n_workers);

	for (; s < end; s++) {
		uint32_t n_ports = net_router(n, s)->sites.n_ports;
		struct net_link l;

		for (port_id p = 0; p < n_ports; p++)
			if (find_link(n, s, p, &l))
				survey_link(v, &l);
	}
}

/* The sites that come next, as many as there is room for. */
static void next_sites(struct survey *v)
{
	const struct net *n = v->n;
	site_id most = SURVEY_LINKS / n->topo->n_ports;

	v->first = v->end;
	v->end += n->n_sites - v->first < most ? n->n_sites - v->first : most;
	v->first_link = net_link_at(n, v->first, 0);
	v->n_links = net_link_at(n, v->end, 0) - v->first_link;
}

static void add_uses(const struct survey *v, struct net_use *u,
	net_each_use *each, void *arg)
{
	bool is_direct = topo_is_direct(v->n->topo);

	for (uint32_t i = 0; i < v->n_links; i++) {
		const struct net_link *l = &v->link[i];
		sim_time busy = (sim_time)v->use[i].busy;
		sim_time waited = (sim_time)v->use[i].waited;

		if (!l->back)
			continue;
		add_use(&u[is_direct ? l->port : l->class], v->use[i].bytes,
			busy);
		u[l->back - 1].waited += waited;
		if (each)
			each(arg, l, busy, waited);
	}
}

/* Each port is looked at once, as the one end of a link and as the other end of
 * the link back. */
void net_uses(const struct net *n, sim_time now, struct net_use *u,
	net_each_use *each, void *arg)
{
	uint32_t most = n->links.n < SURVEY_LINKS ? n->links.n : SURVEY_LINKS;
	struct survey v = {
		.n = n,
		.now = now,
		.link = mem_grow(NULL, most, sizeof(*v.link)),
		.use = mem_grow(NULL, most, sizeof(*v.use)),
	};

	while (v.end < n->n_sites) {
		next_sites(&v);
		memset(v.link, 0, v.n_links * sizeof(*v.link));
		memset(v.use, 0, v.n_links * sizeof(*v.use));
		sim_share(n->sim, survey_share, &v);
		sim_sum(n->sim, &v.use->bytes,
			v.n_links * (sizeof(*v.use) / sizeof(v.use->bytes)));
		add_uses(&v, u, each, arg);
	}
	mem_free(v.link);
	mem_free(v.use);
}

/* Classes of wires between routers, a bit each; those of the first ones are all
 * that there are. */
static uint32_t between_routers(const struct topo *t)
{
	enum { ENOUGH = 4096 };
	router_id first = topo_is_direct(t) ? 0 : t->n_nodes, r;
	uint32_t classes = 0;

	for (r = first; r < t->n_routers && r < first + ENOUGH; r++) {
		for (port_id p = 0; p < t->n_ports; p++) {
			struct topo_end far = t->ops->peer(t, r, p);

			if (far.router != NO_ROUTER && far.router >= first)
				classes |= 1u << t->ops->wire(t, r, p);
		}
	}
	return classes;
}

uint32_t net_short_of_room(const struct topo *t, const struct link_rules *r,
	const struct net_params *p)
{
	uint32_t classes = 0, found = TOPO_MAX_WIRES, i;
	int64_t most = p->packets;

	for (i = 0; i < t->n_wires; i++)
		classes |= (uint32_t)(link_round_trip(r, i) > most) << i;
	if (classes) /* else there is no need to look for them */
		classes &= between_routers(t);
	for (i = 0; i < t->n_wires; i++) {
		int64_t n = link_round_trip(r, i);

		if (classes >> i & 1 && n > most) {
			most = n;
			found = i;
		}
	}
	return found;
}

/* --- places in time budgets --- */

static void add_input(
	const struct topo *t, site_id s, uint32_t port, char *text, size_t size)
{
	char name[32] = "local";

	if (port != BOOK_LOCAL)
		t->ops->name_port(t, s, (port_id)port, name, sizeof(name));
	name_add(text, size, " ");
	name_add(text, size, name);
}

/* ": inputs A- E+ local, last A-" */
static void add_inputs(const struct net *n, const struct book_place *at,
	char *text, size_t size)
{
	name_add(text, size, at->inputs ? ": inputs" : "");
	for (uint32_t m = at->inputs; m; m &= m - 1)
		add_input(n->topo, at->site, (uint32_t)__builtin_ctz(m), text,
			size);
	name_add(text, size, at->inputs ? ", last" : "");
	if (at->port != BOOK_NO_PORT)
		add_input(n->topo, at->site, at->port, text, size);
}

void net_place_name(const struct net *n, const struct book_place *at,
	char *text, size_t size)
{
	bool is_named = n->route->n_channels > 1; /* by the routing */
	const char *const *channels =
		is_named ? n->route->ops->channels
			 : net_router(n, at->site)->ops->channels;
	char name[96];

	topo_name_site(n->topo, at->site, name, sizeof(name));
	snprintf(text, size, "%s, %s", name, at->what);
	if (at->number != BOOK_NO_NUMBER) {
		snprintf(name, sizeof(name), " %u", at->number);
		name_add(text, size, name);
	}
	add_inputs(n, at, text, size);
	if (at->channel != BOOK_NO_CHANNEL) {
		name_add(text, size, is_named ? ", channel " : ", ");
		name_add(text, size, channels[at->channel]);
	}
}

static bool names_channel(const struct route_ops *o, const char *name)
{
	uint32_t i = 0;

	while (i < o->n_channels && strcmp(o->channels[i], name) != 0)
		i++;
	return i < o->n_channels;
}

/* Routings that tell channels apart number them; others name some of the
 * router's own, or leave them to the router. */
bool net_uses_channel(const struct net *n, router_id r, uint32_t channel)
{
	const struct router_ops *o = net_router(n, r)->ops;
	bool names_any = false;

	if (n->route->n_channels > 1)
		return channel < n->route->n_channels;
	for (uint32_t c = 0; c < o->n_channels; c++)
		names_any |= names_channel(n->route->ops, o->channels[c]);
	return !names_any || names_channel(n->route->ops, o->channels[channel]);
}
