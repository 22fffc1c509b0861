#include "cli/show.h"

#include <inttypes.h>

#include "cli/cli.h"
#include "cli/picture.h"
#include "load/load.h"
#include "out/table.h"

static void put(struct table *t, FILE *f)
{
	if (t->n_rows) {
		table_print(t, f, 0, cli_colour(stdout));
		fputc('\n', f);
	}
	table_fini(t);
}

static void text_dims(const struct show *s, FILE *f)
{
	static const struct table_column columns[] = {
		{ "dimension", false },
		{ "length", true },
		{ "ends", false },
		{ "links", true },
	};
	struct table t;

	table_init(&t, columns, 4);
	for (uint32_t d = 0; d < s->t->n_dims; d++) {
		char name[2] = { (char)('A' + d) }, length[24], links[24];

		snprintf(length, sizeof(length), "%u", s->t->dim[d]);
		snprintf(links, sizeof(links), "%" PRIu64, show_links(s, d));
		table_add(&t, (const char *[]){ name, length,
				      show_wraps[s->t->ring[d]], links });
	}
	put(&t, f);
}

static void add_unit(const struct show *s, struct table *t, const char *name,
	const struct param_list *list)
{
	char nodes[24], n[24];
	struct show_unit u;

	if (!show_unit(s, list, &u))
		return;
	snprintf(nodes, sizeof(nodes), "%" PRIu64, u.nodes);
	snprintf(n, sizeof(n), "%" PRIu64, u.n);
	table_add(t, (const char *[]){ name, u.shape, nodes, n });
}

static void text_units(const struct show *s, FILE *f)
{
	static const struct table_column columns[] = {
		{ "packaging", false },
		{ "shape", false },
		{ "nodes", true },
		{ "units", true },
	};
	struct table t;

	table_init(&t, columns, 4);
	add_unit(s, &t, "board", &s->t->board);
	add_unit(s, &t, "midplane", &s->t->midplane);
	put(&t, f);
}

static void text_levels(const struct show *s, FILE *f)
{
	static const struct table_column columns[] = {
		{ "level", false },
		{ "switches", true },
		{ "nodes below", true },
		{ "up-links of each", true },
	};
	struct table t;

	table_init(&t, columns, 4);
	for (uint32_t l = 1; l <= s->tree->n_levels; l++) {
		char level[24], n[24], below[24], up[24];

		snprintf(level, sizeof(level), "%u", l);
		snprintf(n, sizeof(n), "%u", fattree_n_switches(s->tree, l));
		snprintf(below, sizeof(below), "%u", s->tree->span[l]);
		snprintf(up, sizeof(up), "%u", s->tree->n_up[l]);
		table_add(&t, (const char *[]){ level, n, below,
				      s->tree->n_up[l] ? up : NULL });
	}
	put(&t, f);
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
		char links[24], latency[SHOW_TEXT], where[SHOW_TEXT];

		if (!s->wires[c])
			continue;
		snprintf(links, sizeof(links), "%" PRIu64, s->wires[c]);
		snprintf(latency, sizeof(latency), "%.10g ns",
			show_ns(s->rules.latency[c]));
		show_wire(s, c, where);
		table_add(&t, (const char *[]){ s->m->topo->wire[c].name, links,
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
		snprintf(time, SHOW_TEXT, "%.10g ns", show_ns(z->time));
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
			show_ns(s->latency.min + z->time));
		snprintf(mean, SHOW_TEXT, "%.1f ns",
			show_ns(z->time) + s->latency.mean / SIM_NS);
		snprintf(max, SHOW_TEXT, "%.10g ns",
			show_ns(s->latency.max + z->time));
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
		" each way (%d of data), a bit lasts %" PRId64
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

static void text_link(const struct show *s, FILE *f)
{
	const struct link_params *l = &s->m->link;
	int64_t payload = load_link_rate(l, (uint32_t)l->payload);
	int64_t rate = link_data_rate(l);
	char where[SHOW_TEXT] = "through the top", code[SHOW_TEXT] = "";

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
			"            %" PRId64
			" B of route in front for each switch to pass\n",
			l->route);
	if (l->transaction)
		fprintf(f,
			"            %" PRId64 " B more for each %" PRId64
			" B of payload\n",
			l->per_transaction, l->transaction);
	text_lines(s, f);
	if (s->t)
		snprintf(where, sizeof(where), "across %c",
			(char)('A' + s->cut.dim));
	if (s->cut.links)
		fprintf(f,
			"bisection   %" PRIu64
			" links %s: %.5g GB/s each way, %.5g of "
			"payload\n",
			s->cut.links, where,
			show_gbps(rate) * (double)s->cut.links,
			show_gbps(payload) * (double)s->cut.links);
	fprintf(f, "ways        %.4g hops on average, at most %" PRId64 "\n\n",
		s->hops.mean, s->hops.max);
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
		" packets (%" PRIu64 " B), %" PRId64
		" queue%s; %.4g KiB a %s\n",
		r->packets, bytes, r->queues, r->queues > 1 ? "s" : "",
		(double)(bytes * n * s->m->topo->n_ports) / 1024,
		s->tree ? "switch" : "node");
	fprintf(f,
		"FIFOs       injection %" PRId64 ", reception %" PRId64
		" packets each\n",
		r->injection, r->reception);
	if (r->transit)
		fprintf(f,
			"arbiters    %" PRId64
			" grants to transit for one to injection\n",
			r->transit);
	else
		fprintf(f, "arbiters    transit before injection\n");
}

static void text_routing(const struct show *s, FILE *f)
{
	const struct hint *h = hint_of(s->m->route);
	char text[SHOW_TEXT];

	if (s->m->route->ops == &updown_ops) {
		fprintf(f,
			"routing     up and down, at most %d stored routes to "
			"a node, spread by %s\n",
			UPDOWN_ROUTES,
			show_spreads[updown_of(s->m->route)->spread]);
		return;
	}
	show_order(h, text);
	fprintf(f, "routing     deterministic in the order %s\n", text);
	fprintf(f, "zones      ");
	for (uint32_t i = 0; i < HINT_ZONE_SETS; i++) {
		show_zones(h, i, text);
		fprintf(f, "%s %u: %s", i ? ";" : "", i, text);
	}
	fprintf(f, "\nescape      %s\n",
		!h->escape  ? "none: dynamic packets can lock"
		: h->bubble ? "to the deterministic channel, bubble "
			      "rule"
			    : "to the deterministic channel, without "
			      "the bubble rule");
}

static void text_memory(const struct show *s, FILE *f)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double size = (double)s->memory;
	size_t i = 0;

	for (; size >= 1024 && i < 4; i++)
		size /= 1024;
	fprintf(f,
		"simulation  %zu B of state per %s; a saturated run takes "
		"about %.4g %s\n\n",
		show_site_bytes(s), s->tree ? "site" : "node", size, units[i]);
}

void show_text(const struct show *s, FILE *f)
{
	const struct machine *m = s->m;
	uint32_t nodes = m->topo->n_nodes;
	char shape[PARAM_TEXT_MAX];

	machine_shape(m, shape, sizeof(shape));
	fprintf(f, "%s: %s\n%s, %u node%s", m->header.name, m->header.title,
		shape, nodes, nodes == 1 ? "" : "s");
	if (s->tree)
		fprintf(f, ", %u switches", m->topo->n_routers - nodes);
	fprintf(f, " of %u ports\n\n", m->topo->n_ports);
	if (s->tree) {
		text_levels(s, f);
	} else {
		text_dims(s, f);
		text_units(s, f);
	}
	text_wires(s, f);
	text_link(s, f);
	text_sizes(s, f);
	text_latency(s, f);
	text_router(s, f);
	text_routing(s, f);
	text_memory(s, f);
	if (s->t)
		picture_draw(s->t, f);
}
