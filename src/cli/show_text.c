#include "cli/show.h"

#include <inttypes.h>

#include "cli/cli.h"
#include "load/load.h"
#include "machine/flow.h"
#include "net/use.h"
#include "facts/figure.h"
#include "out/table.h"

static void put(struct table *t, FILE *f)
{
	if (t->n_rows) {
		table_print(t, f, 0, cli_colour(stdout));
		fputc('\n', f);
	}
	table_fini(t);
}

static void add_row(struct table *out, const struct topo_table *table,
	const struct topo_cell *cell)
{
	char count[TOPO_MAX_COLUMNS][24];
	const char *text[TOPO_MAX_COLUMNS] = { NULL };
	uint32_t i;

	for (i = 0; i < TOPO_MAX_COLUMNS && table->column[i].key; i++) {
		snprintf(count[i], sizeof(count[i]), "%" PRIu64, cell[i].n);
		text[i] = table->column[i].is_count ? count[i] : cell[i].text;
		if (cell[i].is_blank)
			text[i] = NULL;
	}
	table_add(out, text);
}

/* What the topology is made of. */
static void text_tables(const struct topo *t, FILE *f)
{
	struct table_column columns[TOPO_MAX_COLUMNS];
	struct topo_cell cell[TOPO_MAX_COLUMNS];
	struct table out;
	uint32_t k, i, n;

	for (k = 0; t->ops->tables && t->ops->tables[k].key; k++) {
		const struct topo_column *c = t->ops->tables[k].column;

		for (n = 0; n < TOPO_MAX_COLUMNS && c[n].key; n++)
			columns[n] = (struct table_column){ c[n].title,
				c[n].is_count && !c[n].is_left };
		table_init(&out, columns, n);
		for (i = 0; t->ops->row(t, k, i, cell); i++)
			add_row(&out, &t->ops->tables[k], cell);
		put(&out, f);
	}
}

static void text_wires(const struct show *s, FILE *f)
{
	static const struct table_column columns[] = {
		{ "wire", false },
		{ "links", true },
		{ "latency", true },
		{ "where", false },
	};
	struct table t;

	table_init(&t, columns, 4);
	for (uint32_t c = 0; c < s->m->topo->n_wires; c++) {
		char text[24], latency[SHOW_TEXT], where[TOPO_TEXT];
		uint64_t links;

		if (!show_links(s, c, &links))
			continue;
		snprintf(text, sizeof(text), "%" PRIu64, links);
		snprintf(latency, sizeof(latency), "%.10g ns",
			sim_ns(s->rules.latency[c]));
		show_wire(s, c, where);
		table_add(&t, (const char *[]){ s->m->topo->wire[c].name, text,
				      latency, where });
	}
	put(&t, f);
}

static void text_sizes(const struct show *s, FILE *f)
{
	static const struct table_column columns[] = {
		{ "payload", true },
		{ "packet", true },
		{ "one way", true },
		{ "both ways", true },
		{ "random peak per node", true },
	};
	struct table t;

	table_init(&t, columns, 5);
	for (size_t i = 0; i < s->n_sizes; i++) {
		const struct show_size *z = &s->size[i];
		char bytes[SHOW_TEXT], time[SHOW_TEXT], one[SHOW_TEXT];
		char both[SHOW_TEXT], peak[SHOW_TEXT];

		snprintf(bytes, SHOW_TEXT, "%u B", z->bytes);
		snprintf(time, SHOW_TEXT, "%.10g ns", sim_ns(z->time));
		snprintf(one, SHOW_TEXT, "%.4g GB/s", show_gbps(z->one_way));
		snprintf(both, SHOW_TEXT, "%.4g GB/s", show_gbps(z->both_ways));
		snprintf(peak, SHOW_TEXT, "%.4g GB/s", show_gbps(z->peak));
		table_add(&t,
			(const char *[]){ bytes, time, z->bytes ? one : NULL,
				z->bytes ? both : NULL,
				z->peak ? peak : NULL });
	}
	put(&t, f);
}

static void text_latency(const struct show *s, FILE *f)
{
	static const struct table_column columns[] = {
		{ "zero load", true },
		{ "least", true },
		{ "mean", true },
		{ "most", true },
	};
	struct table t;

	table_init(&t, columns, 4);
	for (size_t i = 0; s->hops.max && i < s->n_sizes; i++) {
		const struct show_size *z = &s->size[i];
		char bytes[SHOW_TEXT], min[SHOW_TEXT], mean[SHOW_TEXT];
		char max[SHOW_TEXT];

		snprintf(bytes, SHOW_TEXT, "%u B", z->bytes);
		snprintf(min, SHOW_TEXT, "%.10g ns",
			sim_ns(s->latency.min + z->time));
		snprintf(mean, SHOW_TEXT, "%.1f ns",
			sim_ns(z->time) + s->latency.mean / SIM_NS);
		snprintf(max, SHOW_TEXT, "%.10g ns",
			sim_ns(s->latency.max + z->time));
		table_add(&t, (const char *[]){ bytes, min, mean, max });
	}
	put(&t, f);
}

static void text_lines(const struct show *s, FILE *f)
{
	const struct training_params *p = &s->m->lines;
	int64_t bit = training_bit(s->m->link.rate);

	if (!p->lines)
		return;
	fprintf(f,
		"lines       %" PRId64
		" each way (%d for data), a bit lasts %" PRId64
		" ps, skew up to %" PRId64 " ps\n",
		p->lines, TRAINING_DATA, bit, p->skew);
	if (!p->is_on) {
		fprintf(f, "training    none\n");
		return;
	}
	fprintf(f,
		"training    %" PRId64 " taps of %" PRId64
		" ps, an eye of %" PRId64 " ps, %.10g us\n",
		p->taps, p->step, p->eye, (double)training_time(p, bit) / 1e6);
}

/* What only some links have. */
static void text_link_more(const struct link_params *l, FILE *f)
{
	uint32_t i;

	for (i = 0; i < l->n_formats; i++)
		fprintf(f,
			"            %s: header %" PRId64 " B, %" PRId64
			" B for each word, trailer %" PRId64 " B\n",
			l->formats[i].name, l->formats[i].header,
			l->formats[i].word, l->formats[i].trailer);
	if (l->lanes > 1)
		fprintf(f, "lanes       %" PRId64 " of %.10g Gb/s\n", l->lanes,
			(double)l->rate * 8 / 1e9 / (double)l->lanes);
	if (l->word && l->word != l->chunk)
		fprintf(f, "words       %" PRId64 " B on the wire\n", l->word);
	if (l->control)
		fprintf(f,
			"control     %" PRId64 " words after every %" PRId64
			"\n",
			l->control, l->control_every);
}

/* The time-out follows from a wire's latency. */
static void text_retry(const struct show *s, FILE *f)
{
	const struct retry_params *r = &s->m->link.retry;
	sim_time least, most;

	if (!show_timeout(s, &least, &most))
		return;
	fprintf(f, "retry       by replay: %" PRId64 " %s, again after %s\n",
		r->window, r->unit == RETRY_PACKETS ? "packets" : "chunks",
		r->by == RETRY_BY_NACK ? "a nack" : "a time-out");
	fprintf(f, "            time-out of %.10g", sim_ns(least));
	if (most > least)
		fprintf(f, " to %.10g", sim_ns(most));
	fprintf(f, " ns, %" PRId64 " round trips of the wire\n", r->timeout);
}

static void text_link(const struct show *s, FILE *f)
{
	const struct link_params *l = &s->m->link;
	int64_t payload = load_link_rate(l, (uint32_t)l->payload);
	int64_t rate = link_data_rate(l);
	char code[SHOW_TEXT] = "";

	if (rate != l->rate)
		snprintf(code, sizeof(code), " (%s)", link_codes[l->code].name);
	fprintf(f,
		"link        %.10g GB/s each way%s; protocol %" PRId64
		" B per packet, gap %" PRId64 " B\n",
		show_gbps(rate), code, l->protocol, l->gap);
	fprintf(f,
		"packet      header %" PRId64 " B, payload 0 to %" PRId64
		" B in chunks of %" PRId64 " B, trailer %" PRId64 " B\n",
		l->header, l->payload, l->chunk, l->trailer);
	if (l->route)
		fprintf(f,
			"            %" PRId64 " B of route in front of it for "
			"each switch on the way\n",
			l->route);
	if (l->transaction)
		fprintf(f,
			"            %" PRId64
			" B of overhead for each %" PRId64 " B of payload\n",
			l->per_transaction, l->transaction);
	text_link_more(l, f);
	text_retry(s, f);
	text_lines(s, f);
	if (s->cut.links)
		fprintf(f,
			"bisection   %" PRIu64
			" links %s: %.5g GB/s each way, %.5g of payload\n",
			s->cut.links, s->cut.where,
			show_gbps(rate) * (double)s->cut.links,
			show_gbps(payload) * (double)s->cut.links);
	if (s->m->route->ops->way)
		fprintf(f,
			"paths       %.4g hops on average, at most %" PRId64
			"\n",
			s->hops.mean, s->hops.max);
	fputc('\n', f);
}

/* Buffers that cannot keep a link busy. */
static void text_room(const struct show *s, FILE *f)
{
	const struct topo *t = s->m->topo;
	uint32_t wire = net_short_of_room(t, &s->rules, &s->m->router);

	if (wire == TOPO_MAX_WIRES)
		return;
	fprintf(f,
		"warning     one flow cannot keep a link busy: a round trip "
		"takes %" PRId64 " packets (wire: %s)\n",
		link_round_trip(&s->rules, wire), t->wire[wire].name);
}

/* What one flow reaches, and what else is on its way; of what carries less than
 * a link, what to set. */
static void text_flow(const struct show *s, FILE *f)
{
	struct flow_bound bound[FLOW_BOUNDS];
	uint32_t n = flow_bounds(s->m, bound), i;
	struct flow_bound least = flow_least(bound, n);
	char text[FIGURE_TEXT];

	figure_text("rate_GBps", least.rate / 1e9, text);
	if (!flow_knows_host(bound)) {
		fprintf(f,
			"one flow    at most %s of payload on a link; the "
			"interface not counted\n",
			text);
		return;
	}
	fprintf(f, "one flow    %s of payload, bound by %s\n", text,
		least.what);
	for (i = 0; i < n && n > 1; i++) {
		figure_text("rate_GBps", bound[i].rate / 1e9, text);
		fprintf(f, "            %s: %s", bound[i].what, text);
		if (*bound[i].remedy)
			fprintf(f, " (--set %s)", bound[i].remedy);
		fputc('\n', f);
	}
}

static void text_router(const struct show *s, FILE *f)
{
	const struct net_params *r = &s->m->router;
	uint64_t bytes = show_buffer(s);
	uint32_t n = s->m->route->ops->n_channels;

	fprintf(f, "channels    ");
	for (uint32_t c = 0; c < n; c++)
		fprintf(f, "%s%s", c ? ", " : "",
			s->m->route->ops->channels[c]);
	fprintf(f,
		"\nbuffers     per port and channel %" PRId64
		" packets (%" PRIu64 " B); %.4g KiB a %s\n",
		r->packets, bytes, (double)(bytes * n * show_ports(s)) / 1024,
		show_router(s));
	if (s->m->route->n_channels > 1)
		fprintf(f,
			"            per link %" PRId64
			" packets to receive and %" PRId64
			" to send: %.4g KiB of payload\n",
			n * r->packets, r->injection,
			(double)show_link_memory(s) / 1024);
	(r->switches ? r->switches : r->kind)->describe(r, s->m->topo, f);
	text_room(s, f);
	text_flow(s, f);
}

static void text_io(const struct show *s, FILE *f)
{
	if (s->m->topo->n_io)
		fprintf(f,
			"IO nodes    each with links of %.4g GB/s each way, "
			"and %.4g GB/s over PCIe\n",
			show_io_rate(s) / 1e9,
			(double)machine_value(s->m, "nic", "pcie.rate") / 1e9);
}

static void text_memory(const struct show *s, FILE *f)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double size = (double)s->memory;
	size_t i = 0;

	for (; size >= 1024 && i < 4; i++)
		size /= 1024;
	fprintf(f,
		"simulation  %zu B of state per %s; a saturated run needs "
		"about %.4g %s\n\n",
		show_site_bytes(s), "node", size, units[i]);
}

void show_text(const struct show *s, FILE *f)
{
	const struct machine *m = s->m;
	uint32_t nodes = m->topo->n_nodes;
	char shape[PARAM_TEXT_MAX];

	machine_shape(m, shape, sizeof(shape));
	fprintf(f, "%s%s%s\n%s, %u node%s", m->header.name,
		m->header.title[0] ? ": " : "", m->header.title, shape, nodes,
		nodes == 1 ? "" : "s");
	if (!topo_is_direct(m->topo))
		fprintf(f, ", %u switches", m->topo->n_routers - nodes);
	fprintf(f, " of %u ports", show_ports(s));
	if (m->topo->n_io)
		fprintf(f, ", %u IO node%s", m->topo->n_io,
			cli_s(m->topo->n_io));
	fputc('\n', f);
	if (*m->advice)
		fprintf(f, "warning     %s\n", m->advice);
	fputc('\n', f);
	text_tables(m->topo, f);
	text_wires(s, f);
	text_io(s, f);
	text_link(s, f);
	text_sizes(s, f);
	text_latency(s, f);
	text_router(s, f);
	if (m->route->ops->describe)
		m->route->ops->describe(m->route, f);
	text_memory(s, f);
	if (m->topo->ops->draw)
		m->topo->ops->draw(m->topo, f);
}
