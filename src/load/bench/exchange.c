/*
 * Exchanges: every node sends to its partners, and receives as much.
 *
 * exchange   The partners are a node's neighbours: the nodes at the other ends
 *            of its links, each reached over that very link; where a torus's
 *            routers have nodes, those of its number at the next routers; where
 *            links lead to switches, the nodes with the next numbers.  In each
 *            round the same number of bytes goes to every partner.  The serial
 *            driver is that of Blue Gene/Q's paper (BGQ datasheet, M3): it
 *            makes a put per link, each in a queue of its own, and waits until
 *            all counters are zero before the next round.  The pipelined one
 *            has several rounds in flight, and a receive buffer for each.
 *
 * mirror     The nodes are two halves, and each one's partner is its mirror
 *            image in the other, so that every message crosses the middle.  All
 *            rounds are sent at once.  Of an odd number of nodes the middle one
 *            is idle.
 *
 * A round's counters are those of round % (2 * depth): a neighbour sends
 * round k when it has seen the end of k - depth, for which it needed what
 * this node sent when it had seen the end of k - 2 * depth, and had set the
 * counters for k.  So none is used before it is set.
 *
 * All bytes are synthetic: each is compared when it arrives, and at the end
 * each must have come once in every round.
 */
#include "load/bench/bench.h"
#include "load/keys.h"
#include "load/registry.h"

#define AT(field) offsetof(struct exchange, field)

enum { EXCHANGE, MIRROR };

enum {
	MOST_LINKS = 16,
	LINKS = 10, /* that there is room for, at least */
	MOST_DEPTH = 4,
	QUEUE_BYTES = 16 << 10,
};

/* A node's links: of each the port, the other end and its number there. */
struct links {
	uint32_t n;
	uint32_t port[MOST_LINKS], index[MOST_LINKS];
	site_id peer[MOST_LINKS];
};

struct exchange {
	struct bench bench;
	/* keys */
	int64_t driver, resync, depth, idle;

	uint32_t n_depth; /* rounds in flight */
	uint32_t stride; /* of what there is one of for each link */
	bool is_split; /* each link has counters of its own */
	uint64_t n_links; /* of all nodes, each direction by itself */
};

static const struct param params[] = {
	KEY_HOW(exchange),
	KEY_BYTES("bytes", AT(bench.bytes), "1 MiB", 1, 256 << 20,
		"number of bytes sent over each link in each round"),
	KEY_WORD("driver", AT(driver), "serial", "serial|pipelined",
		"order of the rounds; serial: one after another, as in Blue "
		"Gene/Q's paper; pipelined: several at a time"),
	KEY_COUNT("rounds", AT(bench.rounds), "4", 1, 1000000000,
		"number of rounds"),
	PARAM_ROW(PARAM_TIME, "resync", AT(resync), "800 ns", 0, PS_PER_S,
		"software time between two rounds of the serial driver",
		"calibrated: BGQ-N103"),
	KEY_COUNT("depth", AT(depth), "2", 1, MOST_DEPTH,
		"number of rounds in flight with the pipelined driver"),
	KEY(PARAM_TIME, "idle", AT(idle), "0 ns", 0, INT64_C(10000000000000),
		NULL,
		"time that programs wait after the last round, before they "
		"end"),
};

static const struct param mirror_params[] = {
	KEY_HOW(exchange),
	KEY_BYTES("bytes", AT(bench.bytes), "64 KiB", 1, 16 << 20,
		"length of a message"),
	KEY_COUNT("rounds", AT(bench.rounds), "2", 1, 100000,
		"number of messages of each node"),
};

static struct exchange *of(const struct bench_end *x)
{
	return (struct exchange *)x->bench;
}

static bool is_mirror(const struct exchange *x)
{
	return x->bench.programs.load.ops->variant == MIRROR;
}

/* --- bytes --- */

/* Buffers of one node's links lie side by side. */
static uint64_t link_at(const struct exchange *x, uint32_t link)
{
	return link * (uint64_t)x->bench.bytes;
}

static uint64_t target_at(const struct exchange *x, uint32_t buffer)
{
	return BENCH_SOURCE + (buffer + 1) * link_at(x, x->stride);
}

/* What a node sends over a link of its own. */
static uint64_t owner(const struct bench_end *e, uint64_t i, bool is_source)
{
	const struct links *l = e->data;

	return is_source ? (uint64_t)e->node * MOST_LINKS + i
			 : (uint64_t)l->peer[i] * MOST_LINKS + l->index[i];
}

static bool add_regions(struct bench_end *e)
{
	const struct exchange *x = of(e);
	uint64_t bytes = link_at(x, ((struct links *)e->data)->n);
	bool is_good = bench_add_source(e, BENCH_SOURCE, bytes);

	for (uint32_t i = 0; i < x->n_depth && is_good; i++)
		is_good = bench_add_target(e, i, target_at(x, i), bytes);
	return is_good;
}

/* --- the program --- */

static uint32_t counter_of(
	const struct exchange *x, uint64_t round, uint32_t link)
{
	uint32_t set = (uint32_t)(round % (2 * x->n_depth));

	return x->is_split ? set * x->stride + link : set;
}

/* Those of a round. */
static void set_counters(struct bench_end *e, uint64_t round)
{
	const struct exchange *x = of(e);
	const struct links *l = e->data;
	uint64_t bytes = (uint64_t)x->bench.bytes;
	uint32_t n = x->is_split ? l->n : 1;

	for (uint32_t i = 0; i < n; i++)
		e->driver->expect(e, counter_of(x, round, i),
			x->is_split ? bytes : l->n * bytes);
}

static void send_round(struct bench_end *e, uint64_t round)
{
	const struct exchange *x = of(e);
	const struct links *l = e->data;
	uint32_t i, buffer = (uint32_t)(round % x->n_depth);

	for (i = 0; i < l->n; i++) {
		struct bench_transfer p =
			bench_transfer(e, l->peer[i], (uint64_t)x->bench.bytes);

		p.to = target_at(x, buffer) + link_at(x, l->index[i]);
		p.from += link_at(x, i);
		p.counter = counter_of(x, round, l->index[i]);
		/* what is set by a command goes the same way as puts */
		p.queue = e->driver->is & BENCH_SETS_LATER ? 0 : i;
		p.port = l->port[i];
		p.is_tracked = is_mirror(x);
		e->driver->put(e, &p);
	}
}

static bool end_round(struct bench_end *e, uint64_t round)
{
	const struct exchange *x = of(e);
	uint32_t i, n = x->is_split ? ((struct links *)e->data)->n : 1;

	for (i = 0; i < n; i++)
		if (!e->driver->await(e, counter_of(x, round, i)))
			return false;
	set_counters(e, round);
	return true;
}

/* A node without partners comes to the barrier that others may have. */
static bool prepare(struct bench_end *e)
{
	struct exchange *x = of(e);
	uint64_t k, rounds = (uint64_t)x->bench.rounds;
	uint64_t bytes = (uint64_t)x->bench.bytes;

	if (!((struct links *)e->data)->n)
		return true;
	if (is_mirror(x)) {
		e->driver->expect(e, 0, rounds * bytes);
		bench_track_puts(e, e->bench->means, rounds, bytes);
	}
	for (k = 0; k < 2 * x->n_depth && !is_mirror(x); k++)
		set_counters(e, k);
	return add_regions(e);
}

static bool exchange_rounds(struct bench_end *e)
{
	struct exchange *x = of(e);
	uint64_t rounds = (uint64_t)x->bench.rounds, sent = 0, k;

	for (k = 0; k < rounds; k++) {
		for (; sent < rounds && sent < k + x->n_depth; sent++)
			send_round(e, sent);
		if (!end_round(e, k))
			return false;
		if (!x->driver)
			program_charge(x->resync);
	}
	return true;
}

static bool exchange_all(struct bench_end *e)
{
	for (int64_t k = 0; k < e->bench->rounds; k++)
		send_round(e, 0);
	return e->driver->await(e, 0);
}

static bool transfer(struct bench_end *e)
{
	if (!((struct links *)e->data)->n)
		return false;
	return is_mirror(of(e)) ? exchange_all(e) : exchange_rounds(e);
}

static void check(struct bench_end *e)
{
	const struct exchange *x = of(e);
	const struct links *l = e->data;
	uint64_t rounds = (uint64_t)x->bench.rounds, times;

	if (is_mirror(x) && !e->driver->flush(e))
		return;
	for (uint32_t i = 0; i < x->n_depth; i++) {
		times = (rounds + x->n_depth - 1 - i) / x->n_depth;
		bench_check_target(e, i, times * link_at(x, l->n), times);
	}
	program_charge(x->idle);
}

static const struct bench_program program = {
	.prepare = prepare,
	.transfer = transfer,
	.check = check,
};

/* --- partners --- */

/* Of a router's ports, how many before this one have a link. */
static uint32_t index_of(const struct topo *t, router_id r, port_id port)
{
	uint32_t n = 0;

	for (port_id p = 0; p < port; p++)
		n += t->ops->peer(t, r, p).router != NO_ROUTER;
	return n;
}

static void add_link(
	struct links *l, site_id peer, uint32_t port, uint32_t index)
{
	l->peer[l->n] = peer;
	l->port[l->n] = port;
	l->index[l->n++] = index;
}

/* Of a torus whose routers have nodes: a node's port is that of its number at
 * any other router, too. */
static void add_next_routers(struct links *l, const struct topo *t, site_id s)
{
	struct topo_end own = t->ops->peer(t, s, 0);
	router_id far[MOST_LINKS], back[MOST_LINKS];
	uint32_t n = bench_near(t, own.router, far, MOST_LINKS), i, k;

	for (i = 0; i < n; i++) {
		bench_near(t, far[i], back, MOST_LINKS);
		for (k = 0; back[k] != own.router; k++)
			;
		add_link(l, t->ops->peer(t, far[i], own.port).router, BENCH_ANY,
			k);
	}
}

static struct links find_partners(
	const struct exchange *x, const struct topo *t, site_id s)
{
	struct links l = { 0 };
	site_id n = t->n_nodes;

	if (is_mirror(x)) {
		if (n - 1 - s != s)
			add_link(&l, n - 1 - s, BENCH_ANY, 0);
	} else if (topo_is_direct(t)) {
		for (port_id p = 0; p < topo_ports(t); p++) {
			struct topo_end to = t->ops->peer(t, s, p);

			if (to.router != NO_ROUTER)
				add_link(&l, to.router, p,
					index_of(t, to.router, to.port));
		}
	} else if (t->ops->straight) {
		add_next_routers(&l, t, s);
	} else if (n > 1) {
		add_link(&l, (s + 1) % n, BENCH_ANY, 1);
		add_link(&l, (s + n - 1) % n, BENCH_ANY, 0);
	}
	return l;
}

/* --- the course of a run --- */

static int count_links(struct exchange *x, const struct topo *t, struct err *e)
{
	const char *name = x->bench.programs.load.ops->name;

	if (topo_is_direct(t) && topo_ports(t) > MOST_LINKS)
		return err_set(e, "%s: supports at most %d links per node",
			name, MOST_LINKS);
	for (site_id s = 0; s < t->n_nodes; s++)
		x->n_links += find_partners(x, t, s).n;
	if (!x->n_links)
		return err_set(e,
			is_mirror(x) ? "%s: needs at least two nodes"
				     : "%s: no node of this machine has a "
				       "neighbour",
			name);
	return 0;
}

static int exchange_init(struct load *l, struct err *e)
{
	const struct topo *t = l->topo;
	struct exchange *x = (struct exchange *)l;
	struct bench *b = &x->bench;
	struct bench_needs n = {
		.n_programs = t->n_nodes,
		.data = sizeof(struct links),
		.queue_bytes = QUEUE_BYTES,
		.is_msg = b->via,
		.is_for_all = true,
		.is_for_rate = true,
	};
	uint64_t packet = (uint64_t)l->link->payload,
		 bytes = (uint64_t)b->bytes;
	uint32_t most = topo_ports(t) < MOST_LINKS ? topo_ports(t) : MOST_LINKS;

	if (count_links(x, t, e))
		return -1;
	x->stride = most > LINKS ? most : LINKS;
	x->n_depth = x->driver ? (uint32_t)x->depth : 1;
	b->target_from = target_at(x, 0);
	n.memory = target_at(x, x->n_depth);
	n.queues = is_mirror(x) ? 1 : most;
	n.touched = bench_synthetic(b, (1 + x->n_depth) * link_at(x, n.queues));
	if (bench_init(b, &n, e))
		return -1;
	b->piece = bytes;
	b->owner = owner;
	x->is_split = 2 * x->n_depth * x->stride <= b->driver->most.counters;
	if (packet)
		b->programs.expected = x->n_links * (uint64_t)b->rounds *
				       ((bytes + packet - 1) / packet);
	return 0;
}

static void exchange_start(struct load *l)
{
	struct exchange *x = (struct exchange *)l;

	bench_start_all(&x->bench, &program);
	for (site_id s = 0; s < l->net->n_nodes; s++)
		*(struct links *)x->bench.ends[s].data =
			find_partners(x, l->net->topo, s);
}

/* As Blue Gene/Q's paper counts: what a node sends and what it receives. */
static void exchange_report(struct load *l, struct load_result *r)
{
	struct exchange *x = (struct exchange *)l;
	struct bench *b = &x->bench;
	double rate, dt;

	if (!bench_report(b, r))
		return;
	r->has_throughput = true;
	r->measured = bench_time(b);
	r->bytes = x->n_links * (uint64_t)b->bytes * (uint64_t)b->rounds;
	dt = (double)r->measured;
	rate = (double)r->bytes * 1e3 / dt;
	load_figure(r, "total_GBps", 2 * rate / l->net->n_nodes);
	load_figure(r, "per_link_GBps", rate / (double)x->n_links);
	load_figure(r, "round_ns", dt / SIM_NS / (double)b->rounds);
}

static void mirror_report(struct load *l, struct load_result *r)
{
	struct bench *b = (struct bench *)l;
	double bytes = 2e6 * (double)b->rounds * (double)b->bytes;
	double n = (double)((struct exchange *)l)->n_links;

	if (!bench_report(b, r))
		return;
	bytes /= (double)bench_time(b);
	load_figure(r, "both_ways_MBps_per_node", bytes);
	load_figure(r, "total_GBps", bytes / 2e3 * n);
}

const struct load_ops load_exchange = {
	.name = "exchange",
	.help = "every node exchanges bytes with its neighbours",
	.size = sizeof(struct exchange),
	PARAMS(params),
	.variant = EXCHANGE,
	BENCH_OPS,
	.init = exchange_init,
	.start = exchange_start,
	.report = exchange_report,
};

const struct load_ops load_mirror = {
	.name = "mirror",
	.help = "every node exchanges bytes with its mirror image",
	.size = sizeof(struct exchange),
	PARAMS(mirror_params),
	.variant = MIRROR,
	BENCH_OPS,
	.init = exchange_init,
	.start = exchange_start,
	.report = mirror_report,
};
