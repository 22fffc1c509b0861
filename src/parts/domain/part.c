/* The fast domain as a part of a machine. */
#include "base/mem.h"
#include "facts/facts.h"
#include "link/faults.h"
#include "net/net.h"
#include "parts/domain/inside.h"

#define AT(field)  offsetof(struct domain_params, field)
#define MOST_CHUNK (INT64_C(1) << 20)

enum { QUEUE = 2 }; /* chunks for a port that the switch holds */

static const struct param rows[] = {
	PARAM_ROW(PARAM_RATE, "rate", AT(rate), "0 B/s", 0, PS_PER_S,
		"rate of a process's port of its node's switch, each way; 0 "
		"B/s: nodes have no such switch",
		"assumed: none"),
	PARAM_ROW(PARAM_TIME, "latency", AT(latency), "500 ns", 1,
		PS_PER_S / 1000,
		"time from the sender's port to the receiver's",
		"assumed: no public number"),
	PARAM_ROW(PARAM_BYTES, "chunk", AT(chunk), "4 KiB", 64, MOST_CHUNK,
		"bytes after which transfers that share a port take turns, a "
		"multiple of 8",
		"assumed: a page"),
	PARAM_ROW(PARAM_FLAG, "sums", AT(sums), "no", 0, 1,
		"whether the switch adds data of all processes of its node",
		"assumed: it moves bytes only"),
	PARAM_ROW(PARAM_COUNT, "ranks", AT(ranks), "1", 1, DOMAIN_PORTS,
		"number of processes of a node in workloads whose procs is "
		"auto",
		"assumed: one"),
};

static const struct part_block blocks[] = {
	{ "domain", rows, sizeof(rows) / sizeof(rows[0]), 0 },
	{ 0 },
};

const struct domain_params *domain_params(const struct parts *p)
{
	return part_params(p, &part_domain);
}

int64_t domain_ranks(const struct parts *p)
{
	const struct domain_params *domain = domain_params(p);

	return domain ? domain->ranks : 1;
}

struct domain *domain_of(const struct host *h)
{
	return part_state(host_parts(h), &part_domain);
}

/* --- faults --- */

static const struct part_kind domain_kind = { .word = "domain",
	.read = part_read_node };
static const struct part_kind *const words[] = { &domain_kind, NULL };

/* Events of a node are in the order of their times. */
static void add_outages(struct domain *d, const struct fault_plan *p)
{
	struct outage *x = NULL;

	for (size_t i = 0; p && i < p->n_events; i++) {
		const struct fault_event *e = &p->event[i];

		if (e->kind != &domain_kind)
			continue;
		if (e->returns) {
			x->until = e->at;
			continue;
		}
		d->outage =
			mem_more(d->outage, d->n_outages, sizeof(*d->outage));
		x = &d->outage[d->n_outages++];
		*x = (struct outage){ e->site, e->at, SIM_NEVER };
	}
}

/* Nodes may have no domain. */
static void plan(
	const void *params, const struct part_place *at, struct fault_plan *x)
{
	const struct domain_params *p = params;

	(void)at;
	if (!p->rate)
		fault_plan_lacks(x, &domain_kind);
}

static int check_plan(const struct domain_params *p,
	const struct fault_plan *plan, struct err *e)
{
	for (size_t i = 0; i < plan->n_events; i++) {
		const struct fault_event *x = &plan->event[i];

		if (x->kind == &domain_kind && !p->rate)
			return fault_refuse(x->place, x->text,
				"nodes have no domain (domain.rate is 0 B/s)",
				e);
	}
	return 0;
}

/* --- life --- */

static int check(const void *params, const struct part_place *at, struct err *e)
{
	const struct domain_params *p = params;

	if (p->rate && p->rate < 1000000)
		return err_set(e, "domain.rate: want 1 MB/s or more, or 0 B/s "
				  "for none");
	if (p->sums && !p->rate)
		return err_set(e, "domain.sums: nodes have no switch that "
				  "could add, since domain.rate is 0 B/s");
	if (p->chunk % 8)
		return err_set(e, "domain.chunk: %lld B, want a multiple of 8",
			(long long)p->chunk);
	return check_plan(p, at->plan, e);
}

/* With trains of packets, chunks are as many times longer. */
static int64_t coarse_chunk(
	const struct domain_params *p, const struct link_params *link)
{
	int64_t chunk = p->chunk * (link->train > 1 ? link->train : 1);

	return chunk < MOST_CHUNK ? chunk : MOST_CHUNK;
}

static void *open(
	const void *params, const struct part_place *at, struct err *e)
{
	const struct domain_params *p = params;
	struct domain *d;

	(void)e;
	if (!p->rate)
		return NULL;
	d = mem_alloc(1, sizeof(*d));
	d->params = *p;
	d->params.chunk = coarse_chunk(p, at->link);
	d->host = at->host;
	d->book = at->net->book;
	d->n_nodes = at->net->n_nodes + at->topo->n_io;
	d->nodes = map_alloc(d->n_nodes * sizeof(*d->nodes));
	d->n_ports = host_n_processes(at->host);
	d->chunk = domain_takes(d, (uint64_t)d->params.chunk);
	d->queue = QUEUE * d->chunk;
	add_outages(d, at->plan);
	host_set_engine(at->host, &(struct host_engine){ domain_on_event, d });
	return d;
}

static void start(const void *params, const struct part_place *at)
{
	struct domain *d = part_state(at->parts, &part_domain);

	(void)params;
	for (size_t i = 0; d && i < d->n_outages; i++)
		if (d->outage[i].until == SIM_NEVER)
			host_start_engine(at->host, d->outage[i].node,
				d->outage[i].from, DOMAIN_DIES);
}

static void close(void *state)
{
	struct domain *d = state;

	for (site_id i = 0; i < d->n_nodes; i++)
		domain_free_node(d, d->nodes[i]);
	map_free(d->nodes, d->n_nodes * sizeof(*d->nodes));
	mem_free(d->outage);
	mem_free(d);
}

static uint64_t memory(const void *state)
{
	const struct domain *d = state;
	uint64_t sum = d->n_nodes * sizeof(*d->nodes);

	for (site_id i = 0; i < d->n_nodes; i++)
		if (d->nodes[i])
			sum += sizeof(**d->nodes) +
			       d->n_ports * sizeof(struct port) +
			       slots_memory(&d->nodes[i]->moves);
	return sum;
}

/* --- after a run --- */

struct totals {
	uint64_t moves, chunks, out, in; /* all are sums */
	uint64_t ports; /* of the nodes that were used */
	uint64_t busy; /* ps, of the busier direction of each */
};

static void add_node(
	struct totals *t, const struct domain *d, const struct domain_node *n)
{
	t->moves += n->n_moves;
	t->chunks += n->n_chunks;
	t->ports += d->n_ports;
	for (uint32_t i = 0; i < d->n_ports; i++) {
		const struct port *x = &n->port[i];

		t->out += x->out;
		t->in += x->in;
		t->busy += (uint64_t)(x->out_busy > x->in_busy ? x->out_busy
							       : x->in_busy);
	}
}

/* Bytes that went in have come out, and nothing is under way. */
static int audit(const void *state, struct err *e)
{
	const struct domain *d = state;

	for (site_id i = 0; i < d->n_nodes; i++) {
		const struct domain_node *n = d->nodes[i];
		struct totals t = { 0 };

		if (!n)
			continue;
		add_node(&t, d, n);
		if (n->moves.used || n->sums.used ||
			(!n->is_gone &&
				t.out + n->copied != t.in + n->absorbed))
			return err_set_code(e, EXIT_INTERNAL,
				"audit: domain of node %u: %u transfers are "
				"unfinished, %llu bytes went in, %llu came out",
				i, n->moves.used, (unsigned long long)t.out,
				(unsigned long long)t.in);
	}
	return 0;
}

static void add_facts(const void *params, const struct part_place *at,
	sim_time end, struct facts *f)
{
	const struct domain *d = part_state(at->parts, &part_domain);
	struct totals t = { 0 };

	(void)params;
	if (!d)
		return;
	for (site_id i = 0; i < d->n_nodes; i++)
		if (d->nodes[i])
			add_node(&t, d, d->nodes[i]);
	sim_sum(at->net->sim, &t.moves, sizeof(t) / sizeof(t.moves));
	if (!t.moves)
		return;
	facts_group(f, "domain");
	facts_count(f, "transfers", t.moves);
	facts_count(f, "chunks", t.chunks);
	facts_count(f, "bytes", t.in);
	facts_real(f, "busy_pct",
		end > 0 ? 100 * (double)t.busy / (double)t.ports / (double)end
			: 0);
	facts_line(f, "domain",
		"{transfers} transfer{transfers|s} in {chunks} "
		"chunk{chunks|s}, "
		"{bytes} bytes; ports were busy {busy_pct:.1f} % of the time");
	facts_end(f);
}

static void show(
	const void *params, const struct part_place *at, struct facts *f)
{
	const struct domain_params *p = params;

	(void)at;
	if (!p->rate)
		return;
	facts_group(f, "domain");
	facts_real(f, "rate_GBps", (double)p->rate / 1e9);
	facts_real(f, "latency_ns", sim_ns(p->latency));
	facts_int(f, "chunk_bytes", p->chunk);
	facts_flag(f, "adds", p->sums);
	facts_text(f, "_adds", p->sums ? "; its switch adds" : "");
	facts_line(f, "domain",
		"{rate_GBps:.4g} GB/s each way for each process of a node, "
		"{latency_ns:.4g} ns, chunks of {chunk_bytes} B{_adds}");
	facts_end(f);
}

/* One for each node. */
static uint64_t n_priced(const void *params, const struct part_place *at)
{
	const struct domain_params *p = params;

	return p->rate ? at->topo->n_nodes : 0;
}

const struct part_ops part_domain = {
	.name = "domain",
	.needs = "domain",
	.blocks = blocks,
	.params_size = sizeof(struct domain_params),
	.words = words,
	.plan = plan,
	.check = check,
	.open = open,
	.close = close,
	.start = start,
	.memory = memory,
	.facts = add_facts,
	.show = show,
	.priced = "domains",
	.n_priced = n_priced,
	.audit = audit,
};
