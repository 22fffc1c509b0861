#include "machine/facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "load/jobs.h"
#include "machine/bill.h"
#include "machine/energy.h"
#include "outside/proxy.h"

enum {
	BAR = 40,
	MOST_BARS = 24,
	MANY_HOPS = 10000, /* whose cost says something */
	LONG_S = 1, /* which is worth a word */
};

/* "bgq 8x4x4x8x2"; a shape that begins with the name needs no other. */
static void add_name(struct facts *f, const char *name, const char *shape)
{
	size_t n = strlen(name);

	if (!strncmp(shape, name, n) && shape[n] == ' ')
		facts_text(f, "_machine", shape);
	else
		facts_print(f, "_machine", "%s %s", name, shape);
}

void facts_of_machine(struct facts *f, const struct machine *m)
{
	char shape[PARAM_TEXT_MAX];

	machine_shape(m, shape, sizeof(shape));
	facts_text(f, "machine", m->header.name);
	facts_text(f, "shape", shape);
	add_name(f, m->header.name, shape);
}

void facts_site(
	struct facts *f, const char *key, const struct topo *t, router_id r)
{
	char text[96];

	topo_name_site(t, r, text, sizeof(text));
	facts_text(f, key, text);
}

void facts_port(struct facts *f, const char *key, const struct topo *t,
	router_id r, port_id p)
{
	char text[96];

	t->ops->name_port(t, r, p, text, sizeof(text));
	facts_text(f, key, text);
}

void facts_of_params(
	struct facts *f, const char *key, const struct param_block *b)
{
	char text[PARAM_TEXT_MAX];

	facts_group(f, key);
	for (size_t i = 0; i < b->n_rows; i++) {
		param_format(b, &b->rows[i], text, sizeof(text));
		facts_text(f, b->rows[i].name, text);
	}
	facts_end(f);
}

/* --- the histogram --- */

static uint64_t sum(const struct hist *h, uint32_t first, uint32_t n)
{
	uint64_t all = 0;

	for (uint32_t i = first; i < first + n && i < HIST_BUCKETS; i++)
		all += h->bucket[i];
	return all;
}

static double begin_of(uint32_t bucket)
{
	return sim_ns(bucket ? hist_upper(bucket - 1) + 1 : 0);
}

static void draw_bar(struct facts *f, const struct hist *h, uint32_t first,
	uint32_t width, uint64_t most)
{
	static const char bar[BAR + 1] =
		"########################################";
	uint64_t n = sum(h, first, width);

	facts_say(f, "", "%9.1f ns %6.2f %% %.*s", begin_of(first),
		(double)n * 100 / (double)h->n, (int)(n * BAR / most), bar);
}

static void draw_bars(struct facts *f, const struct hist *h)
{
	uint32_t first = hist_bucket(h->min), last = hist_bucket(h->max);
	uint32_t width = 1;
	uint64_t most = 1;

	while ((last / width) - (first / width) >= MOST_BARS)
		width *= 2;
	for (uint32_t i = first / width; i <= last / width; i++)
		if (sum(h, i * width, width) > most)
			most = sum(h, i * width, width);
	for (uint32_t i = first / width; i <= last / width; i++)
		draw_bar(f, h, i * width, width, most);
}

void facts_of_histogram(struct facts *f, const struct hist *h)
{
	facts_place(f, FACTS_AT_RESULTS);
	facts_list(f, "latency_histogram");
	for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		facts_group(f, NULL);
		facts_real(f, "from_ns", begin_of(i));
		facts_real(f, "to_ns", sim_ns(hist_upper(i)));
		facts_count(f, "count", h->bucket[i]);
		facts_end(f);
	}
	facts_end(f);
	if (!h->n)
		return;
	facts_say(f, "histogram",
		"of %" PRIu64 " packets; each bar starts at the given latency",
		h->n);
	draw_bars(f, h);
}

/* --- figures --- */

static void add_latency(struct facts *f, const struct hist *h)
{
	if (!h->n)
		return;
	facts_real(f, "latency_mean_ns", sim_ns(hist_mean(h)));
	facts_real(f, "latency_p50_ns", sim_ns(hist_quantile(h, 500)));
	facts_real(f, "latency_p99_ns", sim_ns(hist_quantile(h, 990)));
	facts_real(f, "latency_max_ns", sim_ns(h->max));
}

/* hops per packet; 0: not known. */
static void add_figures(struct facts *f, const struct load_result *l,
	uint32_t n_nodes, double hops)
{
	double got = machine_throughput(l, n_nodes);

	if (l->has_throughput)
		facts_real(f, "throughput_GBps_per_node", got);
	if (l->has_throughput && l->has_peak)
		facts_real(
			f, "fraction_of_peak", got * 1e9 / (double)l->peak_bps);
	if (hops > 0)
		facts_real(f, "hops_per_packet", hops);
	if (l->has_peak)
		facts_real(f, "peak_GBps_per_node", (double)l->peak_bps / 1e9);
	if (l->offered_bps)
		facts_real(f, "offered_GBps_per_node",
			(double)l->offered_bps / 1e9);
	add_latency(f, &l->latency);
	for (uint32_t i = 0; i < l->n_figures; i++)
		facts_real(f, l->figure[i].name, l->figure[i].value);
}

void facts_of_job(struct facts *f, const struct jobs_part *p)
{
	add_figures(f, p->result, p->place.n, 0);
}

/* What the network costs, in all and for each Gb/s of payload that all nodes
 * received. */
static void add_price(struct facts *f, const struct machine_run *r)
{
	uint32_t n = r->system->net->n_nodes;
	double price = bill_sum(&r->bill->bill, PRICE_MONEY),
	       rate = 8 * machine_throughput(&r->result, n) * n;

	facts_real(f, "price", price);
	if (rate > 0)
		facts_real(f, "price_per_Gbps", price / rate);
}

void facts_of_figures(struct facts *f, const struct machine_run *r)
{
	const struct jobs *j = jobs_of(r->load);

	add_figures(f, &r->result, r->system->net->n_nodes,
		r->packets ? (double)r->delivered_hops / (double)r->packets
			   : 0);
	for (uint32_t i = 0; j && i < j->n; i++) {
		facts_group(f, j->part[i].name);
		facts_of_job(f, &j->part[i]);
		facts_end(f);
	}
	if (r->energy) {
		facts_real(f, "idle_J", energy_idle(r->energy));
		facts_real(f, "traffic_J", energy_traffic(r->energy));
	}
	if (r->bill)
		add_price(f, r);
	facts_real(f, "sim_time_ns", sim_ns(r->result.end));
}

static void tell_each(const struct fact *group, const char *before,
	void (*f)(void *arg, const char *name, double value), void *arg)
{
	const struct fact *x = group->first;
	char name[2 * JOBS_NAME];
	double value;

	for (; x; x = x->next) {
		snprintf(name, sizeof(name), "%s%s%s", before,
			*before ? "." : "", x->key);
		value = NAN;
		fact_number(x, &value);
		if (x->type == FACT_GROUP)
			tell_each(x, name, f, arg);
		else
			f(arg, name, value);
	}
}

void machine_run_each(const struct machine_run *r,
	void (*f)(void *arg, const char *name, double value), void *arg)
{
	struct facts all;

	facts_init(&all);
	facts_of_figures(&all, r);
	tell_each(&all.root, "", f, arg);
	facts_fini(&all);
}

/* --- results --- */

/* Whether the load was given in bits per second. */
static bool has_bits(const struct machine_run *r)
{
	const char *const *key = r->setup.keys;

	for (size_t i = 0; i < r->setup.n_keys; i++)
		if (!strncmp(key[i], "load=", 5))
			return units_are_bits(key[i] + 5);
	return false;
}

/* In the unit of the load. */
static void add_throughput(struct facts *f, const struct load_result *l,
	double got, bool is_in_bits)
{
	double by = is_in_bits ? 8 : 1;

	facts_text(f, "_rate", is_in_bits ? "Gb/s" : "GB/s");
	facts_real(f, "_got", got * by);
	if (l->offered_bps)
		facts_real(f, "_offered", (double)l->offered_bps / 1e9 * by);
	if (l->has_peak)
		facts_real(f, "_peak", (double)l->peak_bps / 1e9 * by);
	facts_line(f, "throughput",
		"{_got:.4g} {_rate} per node[ of {_offered:.4g} offered][: "
		"{fraction_of_peak*100:.1f} % of the peak of {_peak:.4g} "
		"{_rate}]");
}

/* Whether a workload is about ranks: then packets come after its figures. */
static bool has_ranks(const struct load_result *l)
{
	for (uint32_t i = 0; i < l->n_figures; i++)
		if (!strcmp(l->figure[i].name, "ranks"))
			return true;
	return false;
}

static void add_latency_lines(
	struct facts *f, const struct load_result *l, bool has_histogram)
{
	facts_line(f, "latency",
		"[mean {latency_ns.mean:u}, median {latency_ns.p50:v}, p99 "
		"{latency_ns.p99:v}, max {latency_ns.max:v}]");
	if (has_histogram)
		facts_of_histogram(f, &l->latency);
}

void facts_of_results(
	struct facts *f, const struct machine_run *r, bool has_histogram)
{
	const struct load_result *l = &r->result;
	double got = machine_throughput(l, r->system->net->n_nodes);

	facts_place(f, FACTS_AT_RESULTS);
	facts_real_if(f, "fraction_of_peak", l->has_peak && l->has_throughput,
		got * 1e9 / (double)l->peak_bps);
	if (l->has_peak)
		facts_real(f, "peak_GBps_per_node", (double)l->peak_bps / 1e9);
	facts_real_if(f, "throughput_GBps_per_node", l->has_throughput, got);
	if (l->offered_bps)
		facts_real(f, "offered_GBps_per_node",
			(double)l->offered_bps / 1e9);
	facts_hist(f, "latency_ns", &l->latency, "packets");
	if (l->has_throughput)
		add_throughput(f, l, got, has_bits(r));
	if (!has_ranks(l))
		add_latency_lines(f, l, has_histogram);
	for (uint32_t i = 0; i < l->n_figures; i++)
		(r->load->ops->has_lines ? facts_real : facts_figure)(
			f, l->figure[i].name, l->figure[i].value);
	if (r->load->ops->facts)
		r->load->ops->facts(r->load, f);
	if (has_ranks(l))
		add_latency_lines(f, l, has_histogram);
	facts_of_knot(f, l);
	facts_of_waiting(f, r);
	facts_of_links(f, r);
}

/* The host's time that ranks took. */
static void add_turns(struct facts *f, const struct load *l)
{
	uint64_t crossings = 0, turns_ns = 0, cpu_ns = 0;
	uint32_t n = 0;
	const struct proxy *p = l->ops->ranks ? l->ops->ranks(l, &n) : NULL;

	if (!p)
		return;
	for (uint32_t i = 0; i < n; i++) {
		crossings += p[i].crossings;
		turns_ns += p[i].turns_ns;
		cpu_ns += p[i].cpu_ns;
	}
	facts_real_if(f, "crossing_us", crossings,
		(double)turns_ns / 1e3 / (double)crossings);
	facts_real(f, "ranks_cpu_s", (double)cpu_ns / 1e9);
	facts_text(f, "isolation",
		n && p->start && start_is_isolated(p->start) ? "namespace"
							     : "none");
}

/* For bench/cluster. */
static void add_census(struct facts *f, const struct sim_census *c)
{
	if (!c)
		return;
	facts_count(f, "windows", c->windows);
	facts_count(f, "all_events", c->events.all);
	facts_count(f, "most_events", c->events.most);
	facts_count(f, "all_mail", c->mail.all);
	facts_count(f, "most_mail", c->mail.most);
	facts_count(f, "all_mail_bytes", c->bytes.all);
	facts_count(f, "most_mail_bytes", c->bytes.most);
}

void facts_of_work(struct facts *f, const struct machine_run *r)
{
	double each = r->hops ? r->cpu_s * 1e9 / (double)r->hops : 0;

	facts_group(f, "work");
	facts_count(f, "packets", r->packets);
	facts_count(f, "packet_hops", r->hops);
	facts_count(f, "events", r->events);
	facts_real(f, "wall_s", r->wall_s)->merge = FACT_MAX;
	facts_real(f, "cpu_s", r->cpu_s)->merge = FACT_SUM;
	facts_real(f, "setup_s", r->setup_s)->merge = FACT_MAX;
	facts_real(f, "checks_s", r->checks_s)->merge = FACT_MAX;
	facts_real_if(f, "_setup", r->setup_s >= LONG_S, r->setup_s);
	facts_real_if(f, "_checks", r->checks_s >= LONG_S, r->checks_s);
	facts_real(f, "ns_per_packet_hop", each);
	/* of a few it is what setting up takes */
	facts_real_if(f, "_ns_each", r->hops >= MANY_HOPS, each);
	facts_real(f, "bytes_per_node",
		(double)r->memory / r->system->net->n_nodes);
	add_turns(f, r->load);
	add_census(f, sim_census(r->system->net->sim));
	facts_end(f);
}

void facts_of_ranks(struct facts *f, const struct machine_run *r)
{
	facts_place(f, FACTS_AT_RESULTS);
	if (r->load->ops->ranks)
		facts_line(f, "crossings",
			"{results.crossings:.0f}[, {work.crossing_us:.0f} us "
			"each][work.ranks_cpu_s?; {work.ranks_cpu_s:.2f} s of "
			"the host's time in ranks]");
}

void facts_of_card(struct facts *f, const struct machine_run *r)
{
	const struct nic *nic = r->system->nic;
	const struct nic_counter *c = nic ? nic->ops->card : NULL;

	if (!c)
		return;
	facts_group(f, "card");
	for (; c->key; c++)
		facts_count(f, c->key, nic_total(nic, c));
	facts_end(f);
}
