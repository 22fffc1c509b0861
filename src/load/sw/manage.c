/*
 * A manager at work, on Sunway: it discovers the machine from its own node,
 * writes all tables, sets multicasts, reads counters, and repairs the tables
 * when links die or return, while all other nodes send messages.  It knows
 * nothing but what switches and nodes answer.
 */
#include <errno.h>
#include <string.h>

#include "api/msg/msg.h"
#include "base/mem.h"
#include "coll/multicast.h"
#include "load/keys.h"
#include "load/programs.h"
#include "load/registry.h"
#include "net/proof.h"
#include "route/lists.h"
#include "sim/cluster.h"
#include "weft/msg.h"
#include "weft/swnet.h"

#define AT(field) offsetof(struct manage, field)
#define MIB	  (UINT64_C(1) << 20)

/* Addresses, the same on all nodes. */
#define SOURCE_AT (1 * MIB)
#define TARGET_AT (2 * MIB)
#define DONE_AT	  (3 * MIB)
#define MEMORY	  (64 * MIB)

enum { TAG_DATA, TAG_DONE, MOST_BYTES = 1 << 20, MOST_TRIES = 32 };

/* How often the manager looks for nodes that have ended. */
#define LOOK (20000 * (sim_time)SIM_NS)
/* Events of one failure come within this time. */
#define SETTLE (5000 * (sim_time)SIM_NS)

/* What the manager found, and how long each step took, in ps. */
struct findings {
	uint32_t switches, nodes, cables, silent, wrong;
	uint32_t commands, rewritten; /* of tables */
	uint32_t multicasts, ports;
	uint32_t events, repairs, unreachable, unanswered;
	uint64_t packets; /* that switches have received */
	sim_time discovery, tables, chains, counters, repair;
};

struct manage {
	struct programs programs;
	/* keys */
	int64_t manager, rounds, bytes, multicasts, watch;

	struct worker *worker; /* [node] */
	struct findings found;
	int error; /* that ended the manager, or 0 */
};

/* A node's program. */
struct worker {
	struct manage *g;
	struct weft_msg msg;
	struct weft_msg_request send, receive;
	uint64_t received;
};

static const struct param params[] = {
	KEY_NODE("manager", AT(manager), "0", "node that manages the network"),
	KEY_COUNT("rounds", AT(rounds), "0", 0, 1000000,
		"number of messages that every other node sends, each to "
		"another node; 0: there is no traffic"),
	KEY_BYTES("bytes", AT(bytes), "4KiB", 1, MOST_BYTES,
		"length of a message"),
	KEY_COUNT("multicasts", AT(multicasts), "1", 0, WEFT_SWNET_MULTICASTS,
		"number of multicast entries that it sets for all nodes, in "
		"the first rail"),
	KEY(PARAM_TIME, "watch", AT(watch), "100us", 0, PS_PER_S, NULL,
		"time that it waits for failures after everything else"),
};

static struct manage *of(struct load *l)
{
	return (struct manage *)l;
}

/* --- steps of the manager --- */

/* What fails because links have died is repaired later. */
static bool did(struct manage *g, const char *call, int error)
{
	g->found.unreachable += error == EHOSTDOWN;
	g->found.unanswered += error == ETIMEDOUT;
	if (error == EHOSTDOWN || error == ETIMEDOUT)
		return true;
	if (error)
		g->error = error;
	return !error ||
	       programs_fail(&g->programs, "%s: %s", call, strerror(error));
}

static void count_map(struct findings *f, const struct weft_swnet_map *map)
{
	f->switches = f->nodes = 0;
	for (uint32_t i = 0; i < map->n_devices; i++) {
		const struct weft_swnet_device *d = &map->device[i];

		f->switches += d->is_switch;
		f->nodes += !d->is_switch && !d->rail;
	}
	f->cables = map->n_cables;
	f->silent += map->silent;
	f->wrong = weft_swnet_wrong(map, NULL, 0);
}

static bool set_multicasts(struct manage *g, struct weft_swnet *m,
	const struct weft_swnet_map *map)
{
	uint32_t *node = mem_alloc(map->n_devices, sizeof(*node)), n = 0;
	sim_time t = program_now();
	bool is_ok = true;

	for (uint32_t i = 0; i < map->n_devices; i++)
		if (!map->device[i].is_switch && !map->device[i].rail)
			node[n++] = map->device[i].number;
	for (uint32_t i = 0; i < (uint32_t)g->multicasts && is_ok && n > 1; i++)
		is_ok = did(g, "weft_swnet_set_multicast",
			weft_swnet_set_multicast(m, map, 0, i, node, n));
	g->found.multicasts = is_ok && n > 1 ? (uint32_t)g->multicasts : 0;
	g->found.chains = program_now() - t;
	mem_free(node);
	return is_ok;
}

/* One command for all ports of a switch. */
static bool read_counters(struct manage *g, struct weft_swnet *m,
	const struct weft_swnet_map *map)
{
	uint64_t value[WEFT_SWNET_PORTS * WEFT_SWNET_CHANNELS];
	sim_time t = program_now();
	int error;

	g->found.packets = g->found.ports = 0;
	for (uint32_t i = 0; i < map->n_devices; i++) {
		const struct weft_swnet_device *d = &map->device[i];

		if (!d->is_switch)
			continue;
		error = weft_swnet_read(m, &d->to, WEFT_SWNET_ALL,
			WEFT_SWNET_RECEIVED, 0, WEFT_SWNET_CHANNELS, value);
		if (!did(g, "weft_swnet_read", error))
			return false;
		if (error)
			continue;
		g->found.ports += d->ports;
		for (uint32_t k = 0; k < d->ports * WEFT_SWNET_CHANNELS; k++)
			g->found.packets += value[k];
	}
	g->found.counters = program_now() - t;
	return true;
}

static bool begin(struct manage *g, struct weft_swnet *m)
{
	struct findings *f = &g->found;
	struct weft_swnet_map *map = NULL;
	sim_time t = program_now();
	bool is_ok;

	if (!did(g, "weft_swnet_discover", weft_swnet_discover(m, &map)))
		return false;
	f->discovery = program_now() - t;
	count_map(f, map);
	is_ok = did(g, "weft_swnet_watch", weft_swnet_watch(m, map));
	t = program_now();
	is_ok = is_ok && did(g, "weft_swnet_set_tables",
				 weft_swnet_set_tables(m, map, &f->commands));
	f->tables = program_now() - t;
	is_ok = is_ok && set_multicasts(g, m, map) && read_counters(g, m, map);
	weft_swnet_map_free(map);
	return is_ok;
}

/* Discovers and writes once.  Returns whether it was the same network as the
 * last time, and everything was written. */
static bool renew(struct manage *g, struct weft_swnet *m, uint32_t *n_cables)
{
	struct findings *f = &g->found;
	struct weft_swnet_map *map = NULL;
	uint32_t n = 0;
	bool is_same;
	int error = weft_swnet_discover(m, &map);

	if (error)
		return false;
	error = weft_swnet_set_tables(m, map, &n);
	f->unreachable += error == EHOSTDOWN;
	f->rewritten += n;
	is_same = map->n_cables == *n_cables && !map->silent && !n &&
		  (!error || error == EHOSTDOWN);
	*n_cables = map->n_cables;
	weft_swnet_map_free(map);
	return is_same;
}

/*
 * Links have died or returned: tables for what is left.  More may fail
 * meanwhile, and reports of it are lost like other packets; so the manager
 * looks until nothing has changed.
 */
static void repair(struct manage *g, struct weft_swnet *m)
{
	struct findings *f = &g->found;
	struct weft_swnet_event e;
	sim_time t = program_now();
	uint32_t n_cables = 0, tries = 0;

	do {
		while (!weft_swnet_get_event(m, &e, SETTLE))
			f->events++;
	} while (!renew(g, m, &n_cables) && ++tries < MOST_TRIES);
	f->repairs++;
	if (program_now() - t > f->repair)
		f->repair = program_now() - t;
}

/* Until a time, or until something else happens. */
static void look(struct manage *g, struct weft_swnet *m, sim_time timeout)
{
	struct weft_swnet_event e;

	if (weft_swnet_get_event(m, &e, timeout))
		return;
	g->found.events++;
	repair(g, m);
}

/* Far more than the traffic of all nodes takes. */
static sim_time patience(const struct manage *g)
{
	return 10000000 * (sim_time)SIM_NS +
	       g->rounds * (100000 + 32 * g->bytes) * SIM_NS;
}

/* All other nodes say when they have ended, but for those that have died, or
 * wait for such. */
static void manage_traffic(
	struct manage *g, struct worker *x, struct weft_swnet *m)
{
	uint32_t left = weft_msg_ranks(&x->msg) - 1;
	sim_time end = program_now() + patience(g);

	for (; left; left--) {
		weft_msg_receive_start(&x->msg, WEFT_MSG_ANY, TAG_DONE, DONE_AT,
			8, &x->receive);
		while (!weft_msg_test(&x->msg, &x->receive, NULL)) {
			look(g, m, LOOK);
			if (program_now() < end)
				continue;
			g->error = ETIMEDOUT;
			programs_fail(&g->programs,
				"%u nodes have not ended their traffic", left);
			return;
		}
	}
}

static void run_manager(struct manage *g, struct worker *x)
{
	struct weft_swnet *m = NULL;
	int error = weft_swnet_open(&m);
	sim_time end;

	if (error) {
		programs_give_up(&g->programs, EXIT_BAD_INPUT,
			"manage: this machine's switches have no registers "
			"(want router.kind: array)");
		return;
	}
	if (begin(g, m) && g->found.unanswered)
		repair(g, m);
	if (!g->error && g->rounds)
		manage_traffic(g, x, m);
	end = program_now() + g->watch;
	while (!g->error && program_now() < end)
		look(g, m, end - program_now());
	weft_swnet_close(m);
}

/* --- traffic --- */

/* The i-th of the nodes without the manager, around. */
static uint32_t rank_of(const struct manage *g, uint64_t i, uint32_t n)
{
	uint32_t k = (uint32_t)(i % n);

	return k + (k >= (uint32_t)g->manager);
}

static void fill(
	const struct manage *g, uint32_t from, uint32_t round, uint8_t *to)
{
	memory_fill_by(g->programs.load.seed, from, round * (uint64_t)g->bytes,
		to, (size_t)g->bytes);
}

static bool exchange(struct worker *x, uint32_t round, uint32_t n, uint32_t me)
{
	struct manage *g = x->g;
	uint32_t far = n > 1 ? 1 + round % (n - 1) : 0;
	uint32_t to = rank_of(g, (uint64_t)me + far, n);
	uint32_t from = rank_of(g, (uint64_t)me + n - far, n);
	uint8_t *source =
		program_map(program_base() + SOURCE_AT, (uint64_t)g->bytes);
	uint8_t *target =
		program_map(program_base() + TARGET_AT, (uint64_t)g->bytes);
	int error;

	fill(g, program_node(), round, source);
	error = weft_msg_send_start(
		&x->msg, to, TAG_DATA, SOURCE_AT, (uint64_t)g->bytes, &x->send);
	if (!error)
		error = weft_msg_receive(&x->msg, from, TAG_DATA, TARGET_AT,
			(uint64_t)g->bytes, NULL);
	if (!error)
		error = weft_msg_finish(&x->msg, &x->send, NULL);
	if (error)
		return programs_fail(
			&g->programs, "a message: %s", strerror(error));
	fill(g, from, round, source);
	x->received++;
	return !memcmp(source, target, (size_t)g->bytes) ||
	       programs_complain(
		       &g->programs, "wrong bytes from node %u", from);
}

static void run_traffic(struct manage *g, struct worker *x)
{
	uint32_t n = weft_msg_ranks(&x->msg) - 1, i;
	uint32_t rank = weft_msg_rank(&x->msg);
	uint32_t me = rank - (rank > (uint32_t)g->manager);

	for (i = 0; i < (uint32_t)g->rounds && exchange(x, i, n, me);)
		i++;
	weft_msg_send(&x->msg, (uint32_t)g->manager, TAG_DONE, DONE_AT, 8);
}

static void run(void *arg)
{
	struct worker *x = arg;
	struct manage *g = x->g;
	bool is_manager = program_node() == (site_id)g->manager;

	if (g->rounds && weft_msg_init(&x->msg, NULL)) {
		programs_complain(&g->programs, "weft_msg_init");
		return;
	}
	if (is_manager)
		run_manager(g, x);
	else
		run_traffic(g, x);
	if (g->rounds)
		weft_msg_fini(&x->msg);
}

/* --- the course of a run --- */

static int manage_init(struct load *l, struct err *e)
{
	struct manage *g = of(l);
	uint64_t memory =
		MEMORY + msg_memory(l->nic_ops, NULL, l->topo->n_nodes, NULL);

	if (programs_need(&g->programs, "swhni", memory, e) ||
		load_check_node(l, "manager", g->manager, e))
		return -1;
	if (g->rounds && l->topo->n_nodes < 3)
		return err_set(e, "rounds: traffic needs two nodes beside the "
				  "manager");
	l->needs.n_programs = g->rounds ? l->topo->n_nodes : 1;
	return 0;
}

static void manage_start(struct load *l)
{
	struct manage *g = of(l);

	programs_open(&g->programs);
	g->worker = mem_alloc(l->topo->n_nodes, sizeof(*g->worker));
	for (site_id i = 0; i < l->topo->n_nodes; i++) {
		g->worker[i].g = g;
		if (g->rounds || i == (site_id)g->manager)
			program_start(l->host, i, 0, 0, run, &g->worker[i]);
	}
}

/* --- the proof of what switches hold at the end --- */

/* Of all switches; those of other processes have told it. */
struct written {
	const struct net *net;
	struct route_memory **memory; /* [site] */
	uint64_t *casts; /* [site][port], or NULL */
};

static const struct route_memory *memory_at(const void *arg, router_id at)
{
	const struct written *w = arg;

	return w->memory[at];
}

static port_mask casts_at(const void *arg, router_id at, port_id in)
{
	const struct written *w = arg;

	return w->casts[(size_t)at * w->net->topo->n_ports + in];
}

/* What was written into a switch, from its process to the others. */
static struct route_memory *tell_memory(const struct net *n, router_id at)
{
	const struct route_lists *lists = n->route->lists;
	struct router *r = n->router[NET_SWITCHES];
	struct cluster_bytes b = { 0 };
	struct route_memory *own = NULL;
	uint64_t bytes;

	if (!r->ops->written)
		return NULL;
	if (sim_has(n->sim, at))
		own = *r->ops->written(r, at);
	if (own && sim_is_shared(n->sim))
		lists->pack(own, &b);
	bytes = b.n;
	sim_tell(n->sim, at, &bytes, sizeof(bytes));
	cluster_add(&b, bytes - b.n);
	sim_tell(n->sim, at, b.at, bytes);
	if (!own && bytes)
		own = lists->unpack(b.at);
	cluster_bytes_free(&b);
	return own;
}

static void find_written(struct written *w)
{
	const struct net *n = w->net;
	size_t n_ports = n->topo->n_ports, all = n->n_sites * n_ports;

	w->memory = mem_alloc(n->n_sites, sizeof(struct route_memory *));
	w->casts = multicast_has(n->coll) ? mem_alloc(all, sizeof(*w->casts))
					  : NULL;
	for (router_id r = n->n_nodes; r < n->n_sites; r++)
		w->memory[r] = tell_memory(n, r);
	for (size_t i = n->n_nodes * n_ports; w->casts && i < all; i++) {
		router_id r = (router_id)(i / n_ports);

		for (uint32_t k = 0;
			sim_has(n->sim, r) && k < MULTICAST_ENTRIES; k++)
			w->casts[i] |= multicast_read(
				n->coll, r, (port_id)(i % n_ports), k);
	}
	if (w->casts)
		sim_sum(n->sim, w->casts, all);
}

static void forget_written(struct written *w)
{
	const struct net *n = w->net;

	for (router_id r = n->n_nodes; r < n->n_sites; r++)
		if (!sim_has(n->sim, r))
			n->route->lists->free(w->memory[r]);
	mem_free(w->memory);
	mem_free(w->casts);
}

/* A topology whose dead links are not there. */
struct living {
	struct topo_ops ops;
	const struct net *net;
	sim_time now;
};

static struct living *living_of(const struct topo *t)
{
	return (struct living *)((uintptr_t)t->ops -
				 offsetof(struct living, ops));
}

static struct topo_end living_peer(const struct topo *t, router_id r, port_id p)
{
	const struct living *x = living_of(t);
	const struct net *n = x->net;
	struct topo_end far = n->topo->ops->peer(n->topo, r, p);

	if (far.router != NO_ROUTER && n->faults &&
		faults_state(n->faults, net_link_at(n, r, p), x->now) !=
			FAULT_UP)
		far.router = NO_ROUTER;
	return far;
}

/* That no packets wait for each other; nodes that are cut off have no ways. */
static bool is_proved(const struct net *n, sim_time now)
{
	struct written w = { .net = n };
	struct route_written written = { .arg = &w, .memory = memory_at };
	struct living x = { *n->topo->ops, n, now };
	struct topo *t = mem_alloc(1, n->topo->ops->size);
	struct proof p = { 0 };
	bool holds = true;

	find_written(&w);
	written.casts = w.casts ? casts_at : NULL;
	memcpy(t, n->topo, n->topo->ops->size);
	x.ops.peer = living_peer;
	t->ops = &x.ops;
	proof_walks(&p, t, n->route, &written, n->params.packets);
	for (uint32_t i = 1; i < p.n_steps; i++)
		holds &= p.step[i].holds;
	proof_free(&p);
	forget_written(&w);
	mem_free(t);
	return holds;
}

static double us(sim_time t)
{
	return (double)t / SIM_NS / 1e3;
}

static void manage_report(struct load *l, struct load_result *r)
{
	struct manage *g = of(l);
	const struct findings *f = &g->found;
	uint64_t received = 0;

	sim_tell(l->net->sim, (site_id)g->manager, &g->found, sizeof(g->found));
	programs_report(&g->programs, r);
	for (site_id i = 0; i < l->topo->n_nodes; i++)
		received += g->worker[i].received;
	sim_sum(l->net->sim, &received, 1);
	load_figure(r, "switches", f->switches);
	load_figure(r, "nodes", f->nodes);
	load_figure(r, "cables", f->cables);
	load_figure(r, "wrong_cables", f->wrong);
	load_figure(r, "silent_links", f->silent);
	load_figure(r, "discovery_us", us(f->discovery));
	load_figure(r, "table_commands", f->commands);
	load_figure(r, "tables_us", us(f->tables));
	load_figure(r, "multicast_entries", f->multicasts);
	load_figure(r, "multicasts_us", us(f->chains));
	load_figure(r, "ports_read", f->ports);
	load_figure(r, "packets_counted", (double)f->packets);
	load_figure(r, "counters_us", us(f->counters));
	load_figure(r, "events", f->events);
	load_figure(r, "repairs", f->repairs);
	load_figure(r, "rewritten", f->rewritten);
	load_figure(r, "longest_repair_us", us(f->repair));
	load_figure(r, "unreachable", f->unreachable);
	load_figure(r, "unanswered", f->unanswered);
	load_figure(r, "messages", (double)received);
	load_figure(r, "proved", is_proved(l->net, r->end));
}

static void manage_fini(struct load *l)
{
	programs_fini(l);
	mem_free(of(l)->worker);
}

static uint64_t manage_estimate(const struct load *l)
{
	const struct manage *g = (const struct manage *)l;

	return programs_estimate(
		l->topo->n_nodes, g->rounds != 0, 2 * (uint64_t)g->bytes);
}

const struct load_ops load_manage = {
	.name = "manage",
	.help = "discovery, set-up and repair of the network (Sunway)",
	.size = sizeof(struct manage),
	PARAMS(params),
	PROGRAMS_OPS,
	.init = manage_init,
	.start = manage_start,
	.report = manage_report,
	.fini = manage_fini,
	.estimate = manage_estimate,
};
