/*
 * Exchanges: every node sends to its partners, and receives as much.
 *
 * exchange   The partners are a node's neighbours: the nodes at the other ends
 *            of its links, each reached over that very link; where links lead
 *            to switches, the nodes with the next numbers.  In each round the
 *            same number of bytes goes to every partner.  The serial driver is
 *            that of Blue Gene/Q's paper (BGQ datasheet, M3): a queue and a put
 *            per link, then it waits until all counters are zero, and begins
 *            anew.  The pipelined one has several rounds under way, with as
 *            many buffers to receive into.
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
#include <inttypes.h>

#include "base/mem.h"
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

struct exchange;

/* A node's program. */
struct exchanger {
	struct exchange *x;
	site_id node;
	uint32_t n_links;
	/* of each link: the port, the other end and its number there */
	uint32_t port[MOST_LINKS], index[MOST_LINKS];
	site_id peer[MOST_LINKS];
	int target[MOST_DEPTH]; /* synthetic regions */
	sim_time start, end;
};

struct exchange {
	struct bench bench;
	/* keys */
	int64_t bytes, driver, rounds, resync, depth, idle;

	uint32_t n_depth; /* rounds under way */
	uint32_t stride; /* of what there is one of for each link */
	bool is_split; /* each link has counters of its own */
	uint64_t n_links; /* of all nodes, each direction by itself */
	struct exchanger *nodes;
};

static const struct param params[] = {
	KEY_VIA(AT(bench.via)),
	KEY_BY(AT(bench.by)),
	KEY_BYTES("bytes", AT(bytes), "1 MiB", 1, 256 << 20,
		"what goes over each link in each round"),
	{ .name = "driver",
		.type = PARAM_WORD,
		.offset = AT(driver),
		.def = "serial",
		.words = "serial|pipelined",
		.help = "one round after the other, as in Blue Gene/Q's "
			"paper, or several at a time" },
	KEY_COUNT("rounds", AT(rounds), "4", 1, 1000000000, "rounds"),
	{ .name = "resync",
		.type = PARAM_TIME,
		.offset = AT(resync),
		.def = "800 ns",
		.min = 0,
		.max = INT64_C(1000000000000),
		.help = "software's time between two rounds of the serial "
			"driver",
		.source = "calibrated: BGQ-N103" },
	KEY_COUNT("depth", AT(depth), "2", 1, MOST_DEPTH,
		"rounds that the pipelined driver has under way"),
	{ .name = "idle",
		.type = PARAM_TIME,
		.offset = AT(idle),
		.def = "0 ns",
		.min = 0,
		.max = INT64_C(1000000000000),
		.help = "how long programs wait after the last round" },
};

static const struct param mirror_params[] = {
	KEY_VIA(AT(bench.via)),
	KEY_BY(AT(bench.by)),
	KEY_BYTES("bytes", AT(bytes), "64 KiB", 1, 16 << 20,
		"length of a message"),
	KEY_COUNT(
		"rounds", AT(rounds), "2", 1, 100000, "messages of each node"),
};

static struct exchange *of(struct load *l)
{
	return (struct exchange *)l;
}

static bool is_mirror(const struct exchange *x)
{
	return x->bench.programs.load.ops->variant == MIRROR;
}

/* --- bytes --- */

/* Buffers of one node's links lie side by side. */
static uint64_t link_at(const struct exchange *x, uint32_t link)
{
	return link * (uint64_t)x->bytes;
}

static uint64_t target_at(const struct exchange *x, uint32_t buffer)
{
	return BENCH_SOURCE + (buffer + 1) * link_at(x, x->stride);
}

static void fill(
	void *arg, uint64_t offset, uint8_t *out, size_t n, bool is_source)
{
	const struct exchanger *m = arg;
	uint64_t bytes = (uint64_t)m->x->bytes;

	while (n) {
		uint64_t at = offset % bytes, left = bytes - at;
		size_t k = n < left ? n : (size_t)left;
		uint32_t i = (uint32_t)(offset / bytes);

		/* what a node sends over a link of its own */
		memory_fill_by(m->x->bench.programs.load.seed,
			is_source ? (uint64_t)m->node * MOST_LINKS + i
				  : (uint64_t)m->peer[i] * MOST_LINKS +
					    m->index[i],
			at, out, k);
		offset += k;
		out += k;
		n -= k;
	}
}

static void fill_source(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	fill(arg, offset, out, n, true);
}

static void fill_target(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	fill(arg, offset, out, n, false);
}

static bool add_regions(struct exchange *x, struct exchanger *m)
{
	struct host *h = x->bench.programs.load.host;
	uint64_t bytes = link_at(x, m->n_links);
	uint32_t i;
	bool is_good = host_add_synthetic(h, m->node, BENCH_SOURCE, bytes,
			       fill_source, m) >= 0;

	for (i = 0; i < x->n_depth && is_good; i++) {
		m->target[i] = host_add_synthetic(
			h, m->node, target_at(x, i), bytes, fill_target, m);
		is_good = m->target[i] >= 0;
	}
	return is_good ||
	       programs_complain(&x->bench.programs, "no synthetic regions");
}

static void check_region(
	struct exchange *x, struct exchanger *m, int region, uint64_t times)
{
	const struct memory_region *r =
		host_synthetic(x->bench.programs.load.host, m->node, region);

	if (r->wrong)
		programs_complain(&x->bench.programs,
			"%" PRIu64 " wrong bytes, the first one at %" PRIu64
			" of all that were received",
			r->wrong, r->first_wrong);
	else if (!memory_region_is_whole(r, times))
		programs_complain(&x->bench.programs,
			"%" PRIu64 " bytes were written, and not each %" PRIu64
			" times",
			r->written, times);
}

/* --- the program --- */

static uint32_t counter_of(
	const struct exchange *x, uint64_t round, uint32_t link)
{
	uint32_t set = (uint32_t)(round % (2 * x->n_depth));

	return x->is_split ? set * x->stride + link : set;
}

/* Those of a round. */
static void set_counters(
	struct bench_end *e, const struct exchanger *m, uint64_t round)
{
	const struct exchange *x = m->x;
	uint64_t bytes = (uint64_t)x->bytes;
	uint32_t i, n = x->is_split ? m->n_links : 1;

	for (i = 0; i < n; i++)
		e->bench->driver->expect(e, counter_of(x, round, i),
			x->is_split ? bytes : m->n_links * bytes);
}

static void send_round(
	struct bench_end *e, const struct exchanger *m, uint64_t round)
{
	const struct exchange *x = m->x;
	uint32_t i, buffer = (uint32_t)(round % x->n_depth);

	for (i = 0; i < m->n_links; i++) {
		struct bench_put p =
			bench_put(e, m->peer[i], (uint64_t)x->bytes);

		p.to = target_at(x, buffer) + link_at(x, m->index[i]);
		p.from += link_at(x, i);
		p.counter = counter_of(x, round, m->index[i]);
		/* what is set by a command goes the same way as puts */
		p.queue = e->bench->driver->sets_later ? 0 : i;
		p.port = m->port[i];
		p.is_tracked = is_mirror(x);
		e->bench->driver->put(e, &p);
	}
}

static bool end_round(
	struct bench_end *e, const struct exchanger *m, uint64_t round)
{
	uint32_t i, n = m->x->is_split ? m->n_links : 1;

	for (i = 0; i < n; i++)
		if (!e->bench->driver->await(e, counter_of(m->x, round, i)))
			return false;
	set_counters(e, m, round);
	return true;
}

static bool prepare(struct bench_end *e, struct exchanger *m)
{
	uint64_t round;

	if (!add_regions(m->x, m) || !bench_open(e))
		return false;
	for (round = 0; round < 2 * m->x->n_depth; round++)
		set_counters(e, m, round);
	return true;
}

static void exchange_program(void *arg)
{
	struct bench_end *e = arg;
	struct exchanger *m = e->arg;
	struct exchange *x = m->x;
	uint64_t rounds = (uint64_t)x->rounds, sent = 0, done;
	uint32_t i;

	if (!prepare(e, m))
		return;
	bench_ready(e, true);
	m->start = program_now();
	for (done = 0; done < rounds; done++) {
		for (; sent < rounds && sent < done + x->n_depth; sent++)
			send_round(e, m, sent);
		if (!end_round(e, m, done))
			return;
		if (!x->driver)
			program_charge(x->resync);
	}
	m->end = program_now();
	for (i = 0; i < x->n_depth; i++)
		check_region(x, m, m->target[i],
			(rounds + x->n_depth - 1 - i) / x->n_depth);
	program_charge(x->idle);
}

static void mirror_program(void *arg)
{
	struct bench_end *e = arg;
	struct exchanger *m = e->arg;
	const struct bench_driver *d = e->bench->driver;
	uint64_t k, rounds = (uint64_t)m->x->rounds;
	uint64_t bytes = (uint64_t)m->x->bytes;

	if (!add_regions(m->x, m) || !bench_open(e))
		return;
	d->expect(e, 0, rounds * bytes);
	d->track_puts(e, e->bench->means, rounds, bytes);
	bench_ready(e, true);
	m->start = program_now();
	for (k = 0; k < rounds; k++)
		send_round(e, m, 0);
	if (!d->await(e, 0))
		return;
	m->end = program_now();
	if (d->flush(e))
		check_region(m->x, m, m->target[0], rounds);
}

/* A node without partners comes to the barrier that others may have. */
static void idle_program(void *arg)
{
	if (bench_open(arg))
		bench_ready(arg, true);
}

/* --- partners --- */

/* Of a router's ports, how many before this one have a link. */
static uint32_t index_of(const struct topo *t, router_id r, port_id port)
{
	uint32_t n = 0;
	port_id p;

	for (p = 0; p < port; p++)
		n += t->ops->peer(t, r, p).router != NO_ROUTER;
	return n;
}

static void add_link(
	struct exchanger *m, site_id peer, uint32_t port, uint32_t index)
{
	m->peer[m->n_links] = peer;
	m->port[m->n_links] = port;
	m->index[m->n_links++] = index;
}

static void find_partners(struct exchanger *m, const struct topo *t)
{
	site_id n = t->n_nodes, s = m->node;
	port_id p;

	m->n_links = 0;
	if (is_mirror(m->x)) {
		if (n - 1 - s != s)
			add_link(m, n - 1 - s, BENCH_ANY, 0);
	} else if (t->n_routers > n && n > 1) {
		add_link(m, (s + 1) % n, BENCH_ANY, 1);
		add_link(m, (s + n - 1) % n, BENCH_ANY, 0);
	} else {
		for (p = 0; t->n_routers == n && p < t->n_ports; p++) {
			struct topo_end to = t->ops->peer(t, s, p);

			if (to.router != NO_ROUTER)
				add_link(m, to.router, p,
					index_of(t, to.router, to.port));
		}
	}
}

/* --- the course of a run --- */

static int count_links(struct exchange *x, const struct topo *t, struct err *e)
{
	struct exchanger m = { .x = x };
	const char *name = x->bench.programs.load.ops->name;

	if (t->n_nodes == t->n_routers && t->n_ports > MOST_LINKS)
		return err_set(e, "%s: more than %d links of a node", name,
			MOST_LINKS);
	for (; m.node < t->n_nodes; m.node++) {
		find_partners(&m, t);
		x->n_links += m.n_links;
	}
	if (!x->n_links)
		return err_set(e,
			is_mirror(x) ? "%s: needs two nodes"
				     : "%s: no node of this machine has a "
				       "neighbour",
			name);
	return 0;
}

static int exchange_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct exchange *x = of(l);
	struct bench_needs n = {
		.n_programs = t->n_nodes,
		.is_for_all = true,
		.is_for_rate = true,
		.queue_bytes = QUEUE_BYTES,
	};
	uint64_t packet = (uint64_t)link->payload;

	(void)r;
	if (count_links(x, t, e))
		return -1;
	x->stride = t->n_ports > LINKS ? t->n_ports : LINKS;
	x->n_depth = x->driver ? (uint32_t)x->depth : 1;
	n.memory = target_at(x, x->n_depth);
	n.queues = is_mirror(x) ? 1 : (uint32_t)t->n_ports;
	if (bench_init(&x->bench, x->bench.via, &n, t, e) ||
		bench_check_bytes(&x->bench, "bytes", x->bytes, e))
		return -1;
	x->is_split = 2 * x->n_depth * x->stride <= x->bench.driver->n_counters;
	if (packet)
		x->bench.programs.expected =
			x->n_links * (uint64_t)x->rounds *
			(((uint64_t)x->bytes + packet - 1) / packet);
	return 0;
}

static void exchange_start(struct load *l)
{
	struct exchange *x = of(l);
	site_id s, n = l->net->n_nodes;

	bench_start(&x->bench);
	x->nodes = mem_alloc(n, sizeof(*x->nodes));
	for (s = 0; s < n; s++) {
		struct exchanger *m = &x->nodes[s];

		m->x = x;
		m->node = s;
		find_partners(m, l->net->topo);
		bench_run(&x->bench, s, s, 0,
			!m->n_links    ? idle_program
			: is_mirror(x) ? mirror_program
				       : exchange_program,
			m);
	}
}

/* From the first node's start to the last one's end; 0 where that is not
 * known. */
static double time_of(const struct exchange *x)
{
	site_id s, n = x->bench.programs.load.net->n_nodes;
	sim_time start = SIM_NEVER, end = 0;

	for (s = 0; s < n; s++) {
		const struct exchanger *m = &x->nodes[s];

		if (!m->end)
			continue;
		start = m->start < start ? m->start : start;
		end = m->end > end ? m->end : end;
	}
	return end > start ? (double)(end - start) : 0;
}

/* As Blue Gene/Q's paper counts: what a node sends and what it receives. */
static void exchange_report(struct load *l, struct load_result *r)
{
	struct exchange *x = of(l);
	double sent = (double)x->n_links * (double)x->bytes * (double)x->rounds;
	double rate, dt = time_of(x);

	bench_report(&x->bench, r);
	if (r->ending != LOAD_FINISHED || !(dt > 0))
		return;
	r->has_throughput = true;
	r->measured = (sim_time)dt;
	r->bytes = x->n_links * (uint64_t)x->bytes * (uint64_t)x->rounds;
	rate = sent * 1e3 / dt;
	load_figure(r, "total_GBps", 2 * rate / l->net->n_nodes);
	load_figure(r, "per_link_GBps", rate / (double)x->n_links);
	load_figure(r, "round_ns", dt / SIM_NS / (double)x->rounds);
}

static void mirror_report(struct load *l, struct load_result *r)
{
	struct exchange *x = of(l);
	double bytes = 2e6 * (double)x->rounds * (double)x->bytes;
	double dt = time_of(x);

	bench_report(&x->bench, r);
	if (r->ending != LOAD_FINISHED || !(dt > 0))
		return;
	load_figure(r, "both_ways_MBps_per_node", bytes / dt);
	load_figure(r, "total_GBps", bytes / 2e3 * (double)x->n_links / dt);
}

static void exchange_fini(struct load *l)
{
	mem_free(of(l)->nodes);
	bench_fini(l);
}

static uint64_t exchange_estimate(const struct load *l, const struct topo *t)
{
	const struct exchange *x = (const struct exchange *)l;

	return bench_estimate(&x->bench, t->n_nodes, 1,
		bench_synthetic(&x->bench,
			(1 + x->n_depth) * link_at(x, x->bench.needs.queues)));
}

const struct load_ops load_exchange = {
	.name = "exchange",
	.help = "every node exchanges bytes with its neighbours, by programs",
	.size = sizeof(struct exchange),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.variant = EXCHANGE,
	PROGRAMS_OPS,
	.init = exchange_init,
	.start = exchange_start,
	.report = exchange_report,
	.fini = exchange_fini,
	.estimate = exchange_estimate,
};

const struct load_ops load_mirror = {
	.name = "mirror",
	.help = "every node exchanges bytes with its mirror image, by programs",
	.size = sizeof(struct exchange),
	.params = mirror_params,
	.n_params = sizeof(mirror_params) / sizeof(mirror_params[0]),
	.variant = MIRROR,
	PROGRAMS_OPS,
	.init = exchange_init,
	.start = exchange_start,
	.report = mirror_report,
	.fini = exchange_fini,
	.estimate = exchange_estimate,
};
