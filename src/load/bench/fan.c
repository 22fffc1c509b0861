/*
 * A node and its neighbours: it sends to all of them in turn, or all of them
 * send to it.  Neighbours are the nodes of routers one link away, one of each;
 * where a router is a node, they are the routers themselves.
 *
 * Each node has as many programs as the key says.  A program's messages go to
 * the program of the same number: so each of them has a counter of its own.
 */
#include "base/mem.h"
#include "load/bench/bench.h"
#include "load/keys.h"
#include "load/registry.h"

#define AT(field) offsetof(struct fan, field)

enum { WAY_OUT, WAY_IN };

struct fan {
	struct bench bench;
	/* keys */
	int64_t node, way, procs;

	uint32_t n; /* neighbours */
	site_id neighbour[TOPO_MAX_PORTS];
};

static const struct param params[] = {
	KEY_VIA(AT(bench.via)),
	KEY_BY(AT(bench.by)),
	KEY_NODE("node", AT(node), "0", "node in the middle"),
	KEY_WORD("way", AT(way), "out", "out|in",
		"direction; out: the node sends to its neighbours; in: they "
		"send to it"),
	KEY_BYTES("bytes", AT(bench.bytes), "64 KiB", 8, 1 << 20,
		"length of a message"),
	KEY_COUNT("rounds", AT(bench.rounds), "4", 1, 1000000,
		"number of messages from each program to each of its partners"),
	KEY_LANES(AT(procs)),
};

static struct fan *of(const struct bench_end *x)
{
	return (struct fan *)x->bench;
}

/* --- who is who: the ends of the middle come first --- */

static uint32_t lanes(const struct fan *f)
{
	return (uint32_t)f->procs;
}

/* 0: the middle; the neighbours from 1 on. */
static uint32_t place_of(const struct bench_end *x)
{
	return (uint32_t)(x - x->bench->ends) / lanes(of(x));
}

static bool is_sender(const struct bench_end *x)
{
	return !place_of(x) == (of(x)->way == WAY_OUT);
}

/* A node's partners, of which it is one to them. */
static uint32_t n_partners(const struct bench_end *x)
{
	return place_of(x) ? 1 : of(x)->n;
}

/* In turn, and each program of a node begins with another one. */
static site_id partner(const struct bench_end *x, uint32_t i)
{
	const struct fan *f = of(x);

	return place_of(x) ? (site_id)f->node
			   : f->neighbour[(i + x->lane) % f->n];
}

/* What a program sends is another's only by its number; at the receiver each
 * sender has a buffer. */
static uint64_t number(uint32_t place, uint32_t lane)
{
	return 1 + (uint64_t)place * HOST_THREADS + lane;
}

static uint64_t buffer(const struct fan *f, uint32_t place, uint32_t lane)
{
	return (place * (uint64_t)lanes(f) + lane) * (uint64_t)f->bench.bytes;
}

/* --- the programs --- */

static bool send_all(struct bench_end *x)
{
	const struct fan *f = of(x);
	struct bench_transfer p =
		bench_transfer(x, 0, (uint64_t)f->bench.bytes);
	uint64_t k, n = (uint64_t)f->bench.rounds;
	uint32_t i;

	p.from += buffer(f, 0, x->lane);
	p.to += buffer(f, place_of(x), x->lane);
	p.counter = x->lane;
	p.is_tracked = true;
	for (k = 0; k < n; k++) {
		for (i = 0; i < n_partners(x); i++) {
			p.node = partner(x, i);
			x->bench->driver->put(x, &p);
		}
	}
	x->end = program_now();
	return x->bench->driver->flush(x);
}

static void run_sender(struct bench_end *x)
{
	const struct fan *f = of(x);
	uint64_t bytes = (uint64_t)f->bench.bytes;

	bench_make(x, number(place_of(x), x->lane),
		BENCH_SOURCE + buffer(f, 0, x->lane), bytes);
	bench_track_puts(x, x->bench->means,
		n_partners(x) * (uint64_t)f->bench.rounds, bytes);
	bench_ready(x, true);
	x->start = program_now();
	if (!send_all(x))
		programs_fail(
			&x->bench->programs, "not all messages were sent");
}

static void run_receiver(struct bench_end *x)
{
	const struct fan *f = of(x);
	uint64_t bytes = (uint64_t)f->bench.bytes;
	uint32_t i, from;

	x->bench->driver->expect(
		x, x->lane, n_partners(x) * (uint64_t)f->bench.rounds * bytes);
	bench_ready(x, true);
	x->start = SIM_NEVER; /* what counts is when others begin */
	if (!x->bench->driver->await(x, x->lane))
		return;
	x->end = program_now();
	for (i = 0; i < n_partners(x); i++) {
		from = place_of(x) ? 0 : 1 + i;
		if (!bench_check(x, number(from, x->lane),
			    BENCH_TARGET + buffer(f, from, x->lane), bytes))
			return;
	}
}

static void run(void *arg)
{
	struct bench_end *x = arg;

	x->is_sink = !is_sender(x);
	if (!bench_open(x))
		return;
	if (x->is_sink)
		run_receiver(x);
	else
		run_sender(x);
}

/* --- the course of a run --- */

/* The first node of a router, or NO_ROUTER. */
static router_id first_node(const struct topo *t, router_id r)
{
	port_id p;

	for (p = 0; r >= t->n_nodes && p < t->n_ports; p++) {
		router_id far = t->ops->peer(t, r, p).router;

		if (far < t->n_nodes)
			return far;
	}
	return r < t->n_nodes ? r : NO_ROUTER;
}

static void find_neighbours(struct fan *f, const struct topo *t)
{
	site_id middle = (site_id)f->node;
	router_id own =
		topo_is_direct(t) ? middle : t->ops->peer(t, middle, 0).router;
	port_id p;
	uint32_t i;

	for (p = 0; p < topo_ports(t); p++) {
		router_id far = t->ops->peer(t, own, p).router, node;

		if (far == NO_ROUTER || far == own ||
			(!topo_is_direct(t) && far < t->n_nodes))
			continue;
		node = first_node(t, far);
		for (i = 0; i < f->n && f->neighbour[i] != node; i++)
			;
		if (i == f->n && node != NO_ROUTER)
			f->neighbour[f->n++] = node;
	}
}

static int fan_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct fan *f = (struct fan *)l;
	struct bench *b = &f->bench;
	struct bench_needs n = {
		.memory = BENCH_MEMORY,
		.is_msg = b->via,
		.is_for_rate = true,
	};

	(void)r;
	(void)link;
	if (load_check_node(l, t, "node", f->node, e))
		return -1;
	find_neighbours(f, t);
	if (!f->n)
		return err_set(e,
			"fan: node %lld has no neighbours (want a topology "
			"whose routers with nodes have links to each other)",
			(long long)f->node);
	if (buffer(f, f->n + 1, 0) > BENCH_TARGET - BENCH_SOURCE)
		return err_set(e,
			"bytes: messages of %u neighbours and %u programs "
			"each need more than the 1 GiB available",
			f->n, lanes(f));
	n.n_programs = (f->n + 1) * lanes(f);
	n.lanes = lanes(f);
	n.touched = buffer(f, 2, 0);
	return bench_init(b, &n, t, e);
}

static void fan_start(struct load *l)
{
	struct fan *f = (struct fan *)l;
	struct bench *b = &f->bench;
	uint32_t i;

	bench_open_ends(b);
	for (i = 0; i < b->needs.n_programs; i++) {
		struct bench_end *x = &b->ends[i];
		uint32_t place = place_of(x);

		x->lane = i % lanes(f);
		bench_run(b, i,
			place ? f->neighbour[place - 1] : (site_id)f->node,
			x->lane, run);
	}
}

static void fan_report(struct load *l, struct load_result *r)
{
	struct fan *f = (struct fan *)l;
	struct bench *b = &f->bench;
	double bytes = (double)b->rounds * (double)b->bytes * lanes(f) * f->n;

	if (!bench_report(b, r))
		return;
	load_figure(r, "neighbours", f->n);
	load_figure(r, "total_MBps", bytes * 1e6 / (double)bench_time(b));
}

const struct load_ops load_fan = {
	.name = "fan",
	.help = "a node sends to all its neighbours, or they to it",
	.size = sizeof(struct fan),
	PARAMS(params),
	BENCH_OPS,
	.init = fan_init,
	.start = fan_start,
	.report = fan_report,
};
