#include "net/net.h"

#include <string.h>

#include "base/mem.h"
#include "net/guest.h"
#include "net/hops.h"
#include "net/manage.h"
#include "net/repair.h"
#include "net/shares.h"
#include "sim/cluster.h"

#define AT(field) offsetof(struct net_params, field)

enum {
	LEAST_PACKETS = 1 << 20, /* of addresses, for any machine */
	OUTBOX_PACKETS = 1 << 12, /* of each site, behind full FIFOs */
	MOST_PACKETS = 1 << 27,
	MOST_BOOKED = 1 << 25, /* fewer, since addresses are short, too */
	PREFETCH_SITES = 1024, /* more do not fit a second-level cache */
	CROWD_PORTS = 32, /* of switches that get many events in a window */
};

const struct param net_params_table[] = {
	PARAM_ROW(PARAM_COUNT, "queues", AT(queues), "0", 0, 4,
		"number of queues per channel, each with its own path out of "
		"the receiver; 0: as many as the router has for the channels "
		"of the routing",
		"default"),
	PARAM_ROW(PARAM_COUNT, "transit", AT(transit), "0", 0, 255,
		"number of grants to packets in transit for each grant to an "
		"injection FIFO, if both wait for the same link in the same "
		"class; 0: packets in transit always go first",
		"default"),
	{ 0 },
};

const struct param net_every_table[] = {
	PARAM_ROW(PARAM_COUNT, "reception", AT(reception), "2", 1, 120,
		"capacity of a reception FIFO, in full packets", "default"),
	PARAM_ROW(PARAM_COUNT, "packets", AT(packets), "8", 1, 120,
		"capacity of a receiver per channel, in full packets",
		"default"),
	PARAM_ROW(PARAM_COUNT, "injection", AT(injection), "2", 1, 120,
		"capacity of an injection FIFO, in full packets", "default"),
	PARAM_ROW(PARAM_TIME, "stall", AT(stall), "100 us", 1000000, PS_PER_S,
		"time that a packet may wait at the head of a queue before the "
		"run looks for a deadlock",
		NULL),
	{ 0 },
};

/* --- what will be needed --- */

/* Sites of one kind; where nodes are like switches all are nodes. */
struct kind {
	const struct router_ops *ops;
	struct router_sites sites;
};

static uint32_t list_kinds(const struct net_setup *s, struct kind kind[])
{
	const struct topo *t = s->topo;
	bool is_one = topo_is_direct(t);

	kind[NET_NODES] = (struct kind){
		.ops = s->router->kind,
		.sites.end = is_one ? t->n_routers : t->n_nodes,
		.sites.n_ports = is_one ? t->n_ports : t->node_ports,
	};
	if (is_one)
		return 1;
	kind[NET_SWITCHES] = (struct kind){
		.ops = s->router->switches ? s->router->switches
					   : s->router->kind,
		.sites.first = t->n_nodes,
		.sites.end = t->n_routers,
		.sites.n_ports = t->n_ports,
	};
	return 2;
}

/* Saturated: one channel of each receiver half full, the injection FIFOs full,
 * and the mail of a few windows. */
static uint64_t site_bytes(const struct net_setup *s, const struct kind *k)
{
	uint64_t packet_bytes =
		sizeof(struct packet) + (s->book ? book_packet_bytes : 0);
	uint64_t packets =
		k->sites.n_ports *
		(uint64_t)(s->router->packets / 2 + s->router->injection);

	return k->ops->site_bytes(k->sites.n_ports) + packets * packet_bytes +
	       32 * sizeof(struct sim_event);
}

uint64_t net_estimate(const struct net_setup *s)
{
	const struct topo *t = s->topo;

	return net_estimate_share(s, t->n_nodes, t->n_routers - t->n_nodes);
}

uint64_t net_estimate_share(
	const struct net_setup *s, uint64_t nodes, uint64_t others)
{
	struct kind kind[NET_KINDS];
	bool is_one = list_kinds(s, kind) == 1;

	return nodes * site_bytes(s, &kind[NET_NODES]) +
	       others * site_bytes(s, &kind[is_one ? NET_NODES : NET_SWITCHES]);
}

/*
 * Packets that there can be: all buffers full of the shortest.  Address space
 * may be short, too, so a small machine asks for little of it.
 */
static uint32_t most_packets(const struct net *n, const struct net_setup *s)
{
	uint64_t most = s->book ? MOST_BOOKED : MOST_PACKETS;
	uint64_t sum = LEAST_PACKETS;
	const struct net_params *p = s->router;
	uint64_t full = (uint64_t)(LINK_CHANNELS * p->packets + p->injection +
				   p->reception);
	struct kind kind[NET_KINDS];
	uint32_t n_kinds = list_kinds(s, kind), i;

	for (i = 0; i < n_kinds; i++) {
		const struct router_sites *x = &kind[i].sites;

		sum += (uint64_t)(x->end - x->first) *
		       (OUTBOX_PACKETS +
			       (x->n_ports + 1) * full * n->link.max_chunks);
	}
	return (uint32_t)(sum < most ? sum : most);
}

/* --- set-up --- */

static int check(const struct net *n, const struct net_setup *s, struct err *e)
{
	if (s->link->route && !s->route->is_carried)
		return err_set(e,
			"link.route: packets carry no route with routing.kind "
			"%s (want 0 B)",
			s->route->ops->name);
	if (s->router->kind->check(n, s, e))
		return -1;
	return s->router->switches ? s->router->switches->check(n, s, e) : 0;
}

/* The least and the longest time that mail takes by the wires that exist. */
static void wire_range(const struct net *n, sim_time *least, sim_time *most)
{
	const struct topo *t = n->topo;

	*least = SIM_NEVER;
	*most = 0;
	for (router_id r = 0; r < t->n_routers; r++) {
		for (port_id p = 0; p < t->n_ports; p++) {
			sim_time l;
			uint32_t wire;

			if (t->ops->peer(t, r, p).router == NO_ROUTER)
				continue;
			wire = t->ops->wire(t, r, p);
			l = n->link.latency[wire];
			*most = l > *most ? l : *most;
			l = net_mail_time(n, wire);
			*least = l < *least ? l : *least;
		}
	}
	if (!*most) /* a single router */
		*least = *most = n->link.latency[0];
}

static void set_rules(struct net *n, const struct net_setup *s)
{
	n->route = s->route;
	n->topo = s->topo;
	n->params = *s->router;
	n->seed = s->seed;
	n->n_sites = s->topo->n_routers;
	n->n_nodes = s->topo->n_nodes;
	n->n_ports = s->topo->n_ports;
	n->links = topo_links(s->topo);
	n->full = (int32_t)n->link.max_chunks;
}

/* Replay is looked at where it can make a difference. */
static bool has_retry(const struct link_rules *r, const struct net_setup *s)
{
	const struct router_ops *ops =
		s->router->switches ? s->router->switches : s->router->kind;
	int64_t packets =
		ops->sent_packets ? ops->sent_packets(s->router) : INT32_MAX;

	return r->retry.kind == RETRY_REPLAY &&
	       (s->faults || link_retry_binds(r, packets));
}

/* On the slowest wire. */
static sim_time longest_route(const struct net *n, uint32_t switches)
{
	sim_time most = 0, t;

	for (uint32_t i = 0; i < n->topo->n_wires; i++) {
		t = link_route_on(&n->link, i, switches);
		most = t > most ? t : most;
	}
	return most;
}

static int plan_sim(const struct net_setup *s, struct net *n,
	struct sim_params *p, struct err *e)
{
	uint32_t nodes = n->n_nodes / (s->cluster ? s->cluster->n : 1);
	sim_time least, most;

	if (!nodes)
		return err_set(e,
			"%u processes for %u node%s (want at most one process "
			"for each)",
			s->cluster->n, n->n_nodes, n->n_nodes == 1 ? "" : "s");
	*p = (struct sim_params){
		.n_sites = n->n_sites,
		.n_workers = s->n_workers < nodes ? s->n_workers : nodes,
		.cluster = s->cluster,
		.trial = s->trial,
		.ops = &n->sim_ops,
		.model = n,
		.stop = s->stop,
		.prefetches = n->n_sites >= PREFETCH_SITES,
		.crowd = s->topo->n_ports >= CROWD_PORTS ? n->n_nodes : 0,
	};
	wire_range(n, &least, &most);
	/* or a tail would leave a switch before it has come */
	if (longest_route(n, 1) > least)
		return err_set(e,
			"link.route: %u bytes take longer on the link than the "
			"latency of the shortest wire",
			n->link.route);
	if (least < SIM_MIN_WINDOW && n->params.kind->posts_tokens)
		return err_set(e,
			"router.kind: %s routers need wires of at least %d ps, "
			"not counting the router's part of the latency; the "
			"shortest has %lld ps",
			n->params.kind->name, SIM_MIN_WINDOW, (long long)least);
	p->window = least;
	p->reach = most + n->link.longest + longest_route(n, LINK_MAX_ROUTE);
	return sim_check(p, e);
}

/* All that can be refused, before anything is built. */
static int plan(const struct net_setup *s, struct net *n, struct sim_params *p,
	struct err *e)
{
	if (link_rules_init(&n->link, s->link, s->topo, e) || check(n, s, e))
		return -1;
	set_rules(n, s);
	return plan_sim(s, n, p, e);
}

int net_check(const struct net_setup *s, struct err *e)
{
	struct net *n = mem_alloc(1, sizeof(*n));
	struct sim_params p;
	int failed = plan(s, n, &p, e);

	link_rules_fini(&n->link);
	mem_free(n);
	return failed;
}

static struct sim *make_sim(
	const struct net *n, struct sim_params *p, struct err *e)
{
	sim_time *least = net_mail_times(n);
	struct net_shares x;
	struct sim *sim;

	net_share_out(&x, n->topo, p, least);
	mem_free(least);
	p->owner = x.owner;
	p->process = x.process;
	p->lead = x.lead;
	p->is_edge = x.is_edge;
	sim = sim_new(p, e);
	net_shares_fini(&x);
	return sim;
}

/* Where nodes and switches have different routers. */
static void visit_any(struct sim_worker *w, site_id s)
{
	net_router(w->model, s)->calls->visit(w, s);
}

static void prefetch_any(const struct sim_worker *w, site_id site,
	struct sim_waiting list, uint32_t step)
{
	net_router(w->model, site)->calls->prefetch(w, site, list, step);
}

void router_map(struct router *r, size_t stride, size_t first)
{
	r->stride = stride;
	r->bytes = (r->sites.end - r->sites.first) * stride;
	r->mapping = map_alloc_dense(r->bytes);
	r->base = (uintptr_t)r->mapping + first - r->sites.first * stride;
	sim_fence(
		r->net->sim, r->mapping, stride, r->sites.first, r->sites.end);
}

site_id router_next(const struct router *r, site_id s)
{
	return sim_next_own(r->net->sim, s);
}

static void make_routers(struct net *n, const struct net_setup *s)
{
	struct kind kind[NET_KINDS];
	uint32_t n_kinds = list_kinds(s, kind), i;
	bool is_mixed;

	for (i = 0; i < n_kinds; i++) {
		struct router *r = mem_alloc(1, kind[i].ops->size);

		r->ops = kind[i].ops;
		r->net = n;
		r->sites = kind[i].sites;
		n->router[i] = r;
		r->ops->make(r, s);
	}
	if (n_kinds == 1)
		n->router[NET_SWITCHES] = n->router[NET_NODES];
	for (i = 0; i < n_kinds; i++)
		n->router[i]->ops->wire(n->router[i]);
	n->calls = n->router[NET_NODES]->calls;
	for (i = 0; i < N_NET_CLASSES; i++)
		n->fifos[i] = n->router[NET_NODES]->ops->fifos(
			n->router[NET_NODES], i);
	is_mixed = n->router[NET_SWITCHES]->calls != n->calls;
	n->sim_ops.visit = is_mixed ? visit_any : n->calls->visit;
	n->sim_ops.visits = is_mixed ? NULL : n->calls->visits;
	n->sim_ops.prefetch = n->calls->prefetch;
	n->sim_ops.pack = net_pack;
	n->sim_ops.unpack = net_unpack;
	if (n->router[NET_NODES]->ops->tokens_are_still &&
		n->router[NET_SWITCHES]->ops->tokens_are_still) {
		n->sim_ops.rests = net_rests;
		n->sim_ops.is_still = net_is_still;
	}
	if (n->router[NET_SWITCHES]->calls->prefetch != n->calls->prefetch)
		n->sim_ops.prefetch = prefetch_any;
}

/* Of lists by net_channel_at(). */
static size_t n_channels(const struct net *n)
{
	return (size_t)n->links.n * NET_MOST_CHANNELS;
}

/* Whether injection can stop for repairs: switches drain, and nodes beside
 * them, whose routers are of another kind, hold their packets. */
static bool can_stop(const struct net_setup *s)
{
	struct kind kind[NET_KINDS];

	return list_kinds(s, kind) == NET_KINDS &&
	       kind[NET_NODES].ops != kind[NET_SWITCHES].ops &&
	       kind[NET_NODES].ops->manage && kind[NET_SWITCHES].ops->manage;
}

/* Plans repairs where injection must not stop, and fails if it would. */
static int check_repair(struct net *n, const struct net_setup *s, struct err *e)
{
	struct faults *f;

	if (!s->faults || net_repair_is_steady(s->route) || can_stop(s))
		return 0;
	f = faults_new(s->faults, s->topo, s->seed, 1);
	n->repair = net_repair_new(s->route, f);
	faults_free(f);
	return n->repair ? net_repair_check(n->repair, e) : 0;
}

struct net *net_new(const struct net_setup *s, struct err *e)
{
	struct net *n = mem_alloc(1, sizeof(*n));
	struct sim_params p;

	n->sim = plan(s, n, &p, e) || check_repair(n, s, e)
			 ? NULL
			 : make_sim(n, &p, e);
	if (!n->sim) {
		net_repair_free(n->repair);
		link_rules_fini(&n->link);
		mem_free(n);
		return NULL;
	}
	n->n_workers = sim_n_workers(n->sim);
	net_find_cuts(n);
	n->tally = map_alloc(n->n_workers * sizeof(*n->tally));
	n->pool = packet_pool_new(n->n_workers, most_packets(n, s));
	n->packets = n->pool->base;
	if (s->book) {
		n->book = book_new(
			s->book, n->n_workers, n->n_sites, most_packets(n, s));
		book_share(n->book, n->sim);
		n->token_waits =
			map_alloc(n_channels(n) * sizeof(*n->token_waits));
		n->numbers = mem_alloc(n->links.n, sizeof(*n->numbers));
	}
	if (s->faults) {
		n->faults =
			faults_new(s->faults, s->topo, s->seed, n->n_workers);
		n->faults->sim = n->sim;
	}
	if (has_retry(&n->link, s)) {
		n->retry = map_alloc(n->links.n * sizeof(*n->retry));
		if (n->faults)
			n->resent =
				map_alloc(n_channels(n) * sizeof(*n->resent));
	}
	n->class_of = mem_alloc(n->n_sites, sizeof(*n->class_of));
	net_manage_plan(n);
	make_routers(n, s);
	net_attach(n, s->client, s->client_state);
	net_manage_start(n);
	return n;
}

/* Somebody wants to know when links die and return. */
static void announce(struct net *n)
{
	const struct fault_outage *o;

	for (size_t i = 0; i < n->faults->n_outages; i++) {
		struct topo_end at;
		site_id s;
		uint32_t key;

		o = &n->faults->outage[i];
		at = topo_link_end(&n->links, o->link);
		s = at.router;
		key = SIM_KEY(PHASE_TOKEN, NET_LINK + at.port);
		if (!sim_has(n->sim, s))
			continue;
		sim_post(sim_owner(n->sim, s), s, o->from, key, 0, 0);
		if (o->until != SIM_NEVER)
			sim_post(sim_owner(n->sim, s), s, o->until, key, 1, 0);
	}
	n->is_announced = true;
}

void net_drop(struct net *n, struct sim_worker *w, packet_id id)
{
	struct net_client *c = net_sender(n, id);

	n->tally[w->id].dropped++;
	if (n->book && book_is_networks(n->book, id))
		book_drop(n->book, w->id, id);
	c->ops.on_lost(c, w, id);
}

void net_on_link(struct net *n, struct sim_worker *w, site_id s, sim_time t,
	const struct sim_event *e)
{
	struct router *r = n->router[s < n->n_nodes ? NET_NODES : NET_SWITCHES];
	port_id p = sim_number(e) - NET_LINK;
	struct net_client *c = net_client(n, s);
	bool is_up = sim_aux(e);

	if (sim_number(e) == NET_MANAGE) {
		net_on_manage(n, w, s, t, e);
		return;
	}
	if (r->ops->repair)
		r->ops->repair->on_link(r, w, s, p, is_up, t);
	if (c->ops.faults->on_link)
		c->ops.faults->on_link(c, w, s, p, is_up, t);
}

/* A sink where others are none: routers see one kind of client, so it gives
 * the room back as these do. */
static void drain(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id p, sim_time t, sim_time tail)
{
	uint32_t chunks = me->net->packets[p].chunks;

	me->from->on_packet(me, w, s, fifo, p, t, tail);
	net_release(me->net, w, s, fifo, chunks, t);
}

/* A copy with all of its tables. */
static void set_client(struct net *n, uint32_t class,
	const struct net_client_ops *ops, void *state)
{
	static const struct net_client_faults no_faults;
	static const struct net_client_combine no_combine;
	static const struct net_client_look no_look;
	struct net_client *c = n->client[class];

	*c = (struct net_client){ .from = ops, .net = n, .state = state };
	if (ops)
		c->ops = *ops;
	if (!c->ops.faults)
		c->ops.faults = &no_faults;
	if (!c->ops.combine)
		c->ops.combine = &no_combine;
	if (!c->ops.look)
		c->ops.look = &no_look;
	if (c->ops.is_sink && !n->client[0]->ops.is_sink) {
		c->ops.is_sink = false;
		c->ops.on_packet = drain;
	}
}

static void set_class(struct net *n, site_id s, uint32_t class)
{
	struct router *r = n->router[s < n->n_nodes ? NET_NODES : NET_SWITCHES];

	n->class_of[s] = (uint16_t) class;
	if (r->ops->attach && sim_has(n->sim, s))
		r->ops->attach(r, s, class);
}

static uint32_t add_client(struct net *n)
{
	BUG_IF(n->n_clients == UINT16_MAX);
	n->client = mem_grow(n->client, n->n_clients + 1, sizeof(*n->client));
	n->client[n->n_clients] = mem_alloc(1, sizeof(**n->client));
	for (uint32_t i = 0; i < NET_KINDS; i++)
		n->router[i]->client = n->client;
	return n->n_clients++;
}

/* Links tell when they die and return where anybody asks. */
static void announce_links(struct net *n, const struct net_client *c)
{
	bool is_asked = c->ops.faults->on_link;

	for (uint32_t i = 0; i < NET_KINDS; i++)
		is_asked |= n->router[i]->ops->repair != NULL;
	if (is_asked && n->faults && !n->is_announced)
		announce(n);
}

void net_attach(struct net *n, const struct net_client_ops *client, void *state)
{
	if (!n->n_clients)
		add_client(n);
	set_client(n, 0, client, state);
	n->gives_up = client && client->on_lost;
	for (site_id s = 0; s < n->n_sites; s++)
		set_class(n, s, 0);
	announce_links(n, n->client[0]);
}

void net_attach_some(struct net *n, const site_id *site, uint32_t count,
	const struct net_client_ops *client, void *state)
{
	uint32_t class = add_client(n), i;

	set_client(n, class, client, state);
	for (i = 0; i < count; i++)
		set_class(n, site[i], class);
	announce_links(n, n->client[class]);
}

static void free_clients(struct net *n)
{
	for (uint32_t i = 0; i < n->n_clients; i++)
		mem_free(n->client[i]);
	mem_free(n->client);
	mem_free(n->class_of);
}

static void free_retry(struct net *n)
{
	size_t i, links = n->links.n;

	if (!n->retry)
		return;
	for (i = 0; i < links; i++)
		retry_fini(&n->retry[i]);
	map_free(n->retry, links * sizeof(*n->retry));
	if (n->resent)
		map_free(n->resent, n_channels(n) * sizeof(*n->resent));
}

static void free_router(struct router *r)
{
	if (r->ops->fini)
		r->ops->fini(r);
	map_free(r->mapping, r->bytes);
	mem_free(r);
}

void net_free(struct net *n)
{
	if (!n)
		return;
	net_guest_free(n->guest);
	free_clients(n);
	mem_free(n->cut);
	free_retry(n);
	net_manage_free(n);
	if (n->router[NET_SWITCHES] != n->router[NET_NODES])
		free_router(n->router[NET_SWITCHES]);
	free_router(n->router[NET_NODES]);
	map_free(n->tally, n->n_workers * sizeof(*n->tally));
	packet_pool_free(n->pool);
	mem_free(n->numbers);
	if (n->book)
		map_free(n->token_waits,
			n_channels(n) * sizeof(*n->token_waits));
	book_free(n->book);
	faults_free(n->faults);
	sim_free(n->sim);
	link_rules_fini(&n->link);
	mem_free(n);
}

uint32_t net_most_buffers(const struct net *n)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < NET_KINDS; i++) {
		const struct router *r = n->router[i];
		uint32_t has = r->ops->n_buffers(r, r->sites.first);

		most = has > most ? has : most;
	}
	return most;
}

uint32_t net_in_use(const struct net *n, site_id s, uint32_t *list)
{
	const struct router *r = net_router(n, s);
	uint32_t all, used = 0;

	if (r->ops->in_use)
		return r->ops->in_use(r, s, list);
	all = r->ops->n_buffers(r, s);
	for (uint32_t i = 0; i < all; i++)
		if (r->ops->buffer(r, s, i).count)
			list[used++] = i;
	return used;
}

uint64_t net_came(const struct net *n, site_id s)
{
	const struct router *r = net_router(n, s);
	uint64_t sum = 0;

	if (r->ops->came && !n->guest)
		return r->ops->came(r, s);
	for (uint32_t i = 0; i < r->sites.n_ports; i++)
		sum += net_counters(n, s, i, UINT32_MAX, 0).packets;
	return sum;
}

/* Packets that came over a site's wires: those that left it, and those that
 * are still there. */
static uint64_t arrived(const struct net *n, site_id s, uint32_t *list)
{
	const struct router *r = net_router(n, s);
	uint32_t i = net_in_use(n, s, list);
	uint64_t sum = net_came(n, s);

	while (i--)
		sum += r->ops->buffer(r, s, list[i]).count;
	return sum;
}

uint64_t net_n_early(const struct net *n, sim_time now)
{
	const struct router *r = n->router[NET_NODES];
	site_id s = r->ops->n_early ? sim_next_own(n->sim, 0) : n->n_nodes;
	uint64_t sum = 0;

	for (; s < n->n_nodes; s = sim_next_own(n->sim, s + 1))
		sum += r->ops->n_early(r, s, now);
	sim_sum(n->sim, &sum, 1);
	return sum;
}

uint64_t net_n_packets(const struct net *n)
{
	uint64_t sum = packet_pool_used(n->pool);

	sim_sum(n->sim, &sum, 1);
	return sum;
}

struct net_tally net_total(const struct net *n)
{
	struct net_tally t = { 0 };

	for (uint32_t i = 0; i < n->n_workers; i++) {
		t.injected += n->tally[i].injected;
		t.delivered += n->tally[i].delivered;
		t.timed += n->tally[i].timed;
		t.latency += n->tally[i].latency;
		t.copies += n->tally[i].copies;
		t.lost += n->tally[i].lost;
		t.dropped += n->tally[i].dropped;
		t.stranded += n->tally[i].stranded;
		t.absorbed += n->tally[i].absorbed;
	}
	sim_sum(n->sim, &t.injected,
		1 + offsetof(struct net_tally, stuck) / sizeof(t.stuck));
	return t;
}

uint64_t net_hops(const struct net *n)
{
	uint32_t *list = mem_alloc(net_most_buffers(n), sizeof(*list));
	uint64_t sum = 0;

	for (site_id s = sim_next_own(n->sim, 0); s < n->n_sites;
		s = sim_next_own(n->sim, s + 1))
		sum += arrived(n, s, list);
	mem_free(list);
	sim_sum(n->sim, &sum, 1);
	return sum;
}

static uint64_t retry_memory(const struct net *n)
{
	size_t i, links = n->links.n;
	uint64_t sum = n->resent ? n_channels(n) * sizeof(*n->resent) : 0;

	for (i = 0; n->retry && i < links; i++)
		sum += sizeof(*n->retry) +
		       n->retry[i].room * sizeof(*n->retry->entry) +
		       n->retry[i].copies_room * sizeof(*n->retry->copies);
	return sum;
}

static uint64_t router_memory(const struct router *r)
{
	uint64_t n = 0;

	for (site_id s = router_next(r, r->sites.first); s < r->sites.end;
		s = router_next(r, s + 1))
		n++;
	return n * r->stride + (r->ops->memory ? r->ops->memory(r) : 0);
}

uint64_t net_memory(const struct net *n)
{
	const struct router *nodes = n->router[NET_NODES];
	const struct router *switches = n->router[NET_SWITCHES];

	return router_memory(nodes) +
	       (switches != nodes ? router_memory(switches) : 0) +
	       packet_pool_memory(n->pool) + sim_memory(n->sim) +
	       retry_memory(n) + net_guest_memory(n->guest) +
	       (n->book ? book_memory(n->book) : 0);
}
