#include "machine/facts.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	BAR = 40,
	MOST_BARS = 24,
	MANY_HOPS = 10000 /* whose cost says something */
};

void facts_of_machine(struct facts *f, const struct machine *m)
{
	char shape[PARAM_TEXT_MAX];

	machine_shape(m, shape, sizeof(shape));
	facts_text(f, "machine", m->header.name);
	facts_text(f, "shape", shape);
	facts_count(f, "nodes", m->topo->n_nodes)->merge = FACT_FIRST;
}

void facts_of_params(
	struct facts *f, const char *key, const struct param_block *b)
{
	char text[PARAM_TEXT_MAX];
	size_t i;

	facts_group(f, key);
	for (i = 0; i < b->n_rows; i++) {
		param_format(b, &b->rows[i], text, sizeof(text));
		facts_text(f, b->rows[i].name, text);
	}
	facts_end(f);
}

/* --- the histogram --- */

static uint64_t sum(const struct hist *h, uint32_t first, uint32_t n)
{
	uint64_t all = 0;
	uint32_t i;

	for (i = first; i < first + n && i < HIST_BUCKETS; i++)
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
	uint32_t width = 1, i;
	uint64_t most = 1;

	while ((last / width) - (first / width) >= MOST_BARS)
		width *= 2;
	for (i = first / width; i <= last / width; i++)
		if (sum(h, i * width, width) > most)
			most = sum(h, i * width, width);
	for (i = first / width; i <= last / width; i++)
		draw_bar(f, h, i * width, width, most);
}

void facts_of_histogram(struct facts *f, const struct hist *h)
{
	uint32_t i;

	facts_place(f, FACTS_AT_RESULTS);
	facts_list(f, "latency_histogram");
	for (i = 0; i < HIST_BUCKETS; i++) {
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
	facts_say(f, "histogram", "of %" PRIu64 ", each bar from a time on",
		h->n);
	draw_bars(f, h);
}

/* --- results --- */

void facts_of_results(
	struct facts *f, const struct machine_run *r, bool has_histogram)
{
	const struct load_result *l = &r->result;
	uint32_t i;

	facts_place(f, FACTS_AT_RESULTS);
	facts_real_if(f, "fraction_of_peak", l->has_peak && l->has_throughput,
		machine_run_fraction(r));
	if (l->has_peak)
		facts_real(f, "peak_GBps_per_node", (double)l->peak_bps / 1e9);
	facts_real_if(f, "throughput_GBps_per_node", l->has_throughput,
		machine_run_throughput(r));
	if (l->offered_bps)
		facts_real(f, "offered_GBps_per_node",
			(double)l->offered_bps / 1e9);
	facts_hist(f, "latency_ns", &l->latency, "packets");
	if (l->has_throughput)
		facts_line(f, "throughput",
			"{throughput_GBps_per_node:.4g} GB/s per node[ of "
			"{offered_GBps_per_node:.4g} offered][: "
			"{fraction_of_peak*100:.1f} % of the peak of "
			"{peak_GBps_per_node:.4g} GB/s]");
	facts_line(f, "latency",
		"[mean {latency_ns.mean:u}, median {latency_ns.p50:v}, p99 "
		"{latency_ns.p99:v}, max {latency_ns.max:v}]");
	if (has_histogram)
		facts_of_histogram(f, &l->latency);
	for (i = 0; i < l->n_figures; i++)
		facts_figure(f, l->figure[i].name, l->figure[i].value);
	facts_of_knot(f, l);
	facts_of_waiting(f, r);
	facts_of_links(f, r);
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
	facts_real(f, "ns_per_packet_hop", each);
	/* of a few it is what setting up takes */
	facts_real_if(f, "_ns_each", r->hops >= MANY_HOPS, each);
	facts_real(f, "bytes_per_node",
		(double)r->memory / r->system->net->n_nodes);
	facts_end(f);
}
