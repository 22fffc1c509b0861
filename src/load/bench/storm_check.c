/* Whether everything of a storm is as it should be, and its figures. */
#include "base/mem.h"
#include "load/bench/storm.h"
#include "nic/nic.h"

/* Bytes that must have arrived at each node, and that may have. */
static void expect(const struct lane *l, uint64_t *sure, uint64_t *perhaps)
{
	uint32_t f = 0;

	for (uint64_t k = 0; k < l->sent; k++) {
		struct message x = storm_message(l, k);
		bool failed = f < l->n_failed && l->failed[f] == k;
		/* the last message of a program that died may have arrived */
		bool hangs = k + 1 == l->sent && !l->is_over;

		f += failed;
		if (x.op >= OP_GET)
			continue;
		if (!failed && !hangs)
			sure[x.dst] += x.bytes;
		perhaps[x.dst] += x.bytes;
	}
}

/* Bytes that have come to a node, which may have died before it armed its
 * counter. */
static uint64_t count_bytes(const struct storm *m, site_id node)
{
	uint64_t left = m->bench.looks->counter(&m->bench, node, 0);

	return left ? STORM_ARMED - left : 0;
}

/* Without faults only blocks without a posted buffer are refused. */
static int check_errors(const struct storm *m, struct err *e)
{
	const struct load *l = &m->bench.programs.load;
	const char *refusal =
		m->has_sends ? m->bench.driver->channel->refusal : NULL;
	uint64_t errors = 0;

	if (!m->has_sends || m->rogues || l->net->faults)
		return 0;
	for (site_id i = 0; i < m->n_nodes; i++)
		errors += nic_errors(l->nic, i, NULL, 0);
	sim_sum(l->net->sim, &errors, 1);
	if (errors == (refusal ? nic_sum(l->nic, refusal) : 0))
		return 0;
	if (nic_is_late(l->nic))
		return err_set_code(e, EXIT_LIMIT,
			"interfaces gave up messages, since the network did "
			"not answer in time");
	return err_set_code(e, EXIT_INTERNAL,
		"the interfaces have refused more than blocks without a "
		"buffer");
}

/* Blocks that were sent have come, unless their receiver died before it looked,
 * and each attempt at most once. */
static int check_sends(const struct storm *m, struct err *e)
{
	enum { SENT, TRIED, CAME, OVER, N };
	uint64_t x[N] = { 0 };

	for (uint32_t i = 0; i < m->n_lanes; i++) {
		const struct lane *l = m->bench.ends[i].data;

		x[SENT] += l->sends.sent;
		x[TRIED] += l->sends.tried;
		x[CAME] += l->sends.came;
		x[OVER] += l->is_over;
	}
	sim_sum(m->bench.programs.load.net->sim, x, N);
	if (check_errors(m, e))
		return -1;
	if ((x[SENT] <= x[CAME] || x[OVER] < m->n_lanes) && x[CAME] <= x[TRIED])
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"%llu blocks were sent in %llu attempts, and %llu arrived",
		(unsigned long long)x[SENT], (unsigned long long)x[TRIED],
		(unsigned long long)x[CAME]);
}

int storm_check(struct load *l, struct err *e)
{
	const struct storm *m = (const struct storm *)l;
	const struct sim *sim = l->net->sim;
	uint64_t *sure, *perhaps;
	site_id i;

	if (programs_check(l, e) || check_sends(m, e))
		return -1;
	if (!m->bench.looks->counter)
		return 0;
	sure = mem_alloc(m->n_nodes, sizeof(*sure));
	perhaps = mem_alloc(m->n_nodes, sizeof(*perhaps));
	for (i = 0; i < m->n_lanes; i++)
		expect(m->bench.ends[i].data, sure, perhaps);
	sim_sum(sim, sure, m->n_nodes);
	sim_sum(sim, perhaps, m->n_nodes);
	for (i = sim_next_own(sim, 0); i < m->n_nodes && !e->code;
		i = sim_next_own(sim, i + 1)) {
		uint64_t came = count_bytes(m, i);

		if (came < sure[i] || came > perhaps[i])
			err_set_code(e, EXIT_INTERNAL,
				"node %u: its counter counted %llu bytes, but "
				"%llu to %llu were sent",
				i, (unsigned long long)came,
				(unsigned long long)sure[i],
				(unsigned long long)perhaps[i]);
	}
	mem_free(sure);
	mem_free(perhaps);
	return sim_share_first(sim, e, i);
}

/* Of all errors of links those that no call of the library saw: corrected,
 * found and sent again, or lost packets that came another way, %. */
static void report_solved(const struct storm *m, struct load_result *r)
{
	const struct bench *b = &m->bench;
	const struct net *n = b->programs.load.net;
	struct fault_counts c = { 0 };
	uint64_t all, seen;

	if (!b->looks->n_seen || !n->faults)
		return;
	for (uint32_t i = 0; i < n->topo->n_wires; i++) {
		struct fault_counts wire = faults_total(n->faults, i);

		fault_counts_add(&c, &wire);
	}
	all = c.corrected + c.failed + c.wrong + c.lost + net_total(n).dropped +
	      (n->link.fec ? 0 : c.hurt);
	seen = b->looks->n_seen(b);
	/* what leaves by a dead port is seen, and is on no wire */
	all = seen > all ? seen : all;
	load_figure(r, "errors", (double)all);
	load_figure(r, "errors_seen", (double)seen);
	if (all)
		load_figure(r, "solved_pct",
			100 * (1 - (double)seen / (double)all));
}

/* Where messages have several ways, so that service can go on. */
static void report_gap(const struct storm *m, struct load_result *r)
{
	uint64_t gap = 0;

	if (!m->bench.driver->n_ports)
		return;
	for (uint32_t i = 0; i < m->n_lanes; i++) {
		const struct lane *x = m->bench.ends[i].data;

		gap = (uint64_t)x->gap > gap ? (uint64_t)x->gap : gap;
	}
	sim_max(m->bench.programs.load.net->sim, &gap, 1);
	load_figure(r, "longest_gap_us", (double)gap / (1000 * SIM_NS));
}

void storm_report(struct load *l, struct load_result *r)
{
	struct storm *m = (struct storm *)l;
	enum { SENT, FAILED, CHECKED, DEEDS, N };
	uint64_t sum[N] = { 0 };

	bench_report(&m->bench, r);
	for (uint32_t i = 0; i < m->n_lanes; i++) {
		const struct lane *x = m->bench.ends[i].data;

		sum[SENT] += x->sent;
		sum[CHECKED] += x->checked + x->sends.bytes;
		sum[FAILED] += x->n_failed;
	}
	for (uint32_t i = 0; i < (uint32_t)m->rogues; i++)
		sum[DEEDS] += m->rogue[i].done;
	sim_sum(l->net->sim, sum, N);
	load_figure(r, "messages", (double)sum[SENT]);
	load_figure(r, "failed_messages", (double)sum[FAILED]);
	load_figure(r, "checked_bytes", (double)sum[CHECKED]);
	load_figure(r, "misdeeds", (double)sum[DEEDS]);
	load_figure(r, "waiting_programs", (double)host_n_running(l->host));
	report_gap(m, r);
	report_solved(m, r);
}
