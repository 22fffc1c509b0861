/* What `weft show` tells, in the order of JSON, which is that of text, too. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "facts/figure.h"
#include "load/load.h"
#include "machine/facts.h"
#include "machine/flow.h"
#include "net/use.h"

struct show {
	const struct machine *m;
	struct link_rules rules;
	struct route_way latency, hops; /* all 0 where not known */
};

static double gbps(int64_t bps)
{
	return (double)bps / 1e9;
}

/* Closes a list and shows it as a table, with an empty line behind it. */
static void end_table(struct facts *f, const char *key, const char *columns)
{
	bool has_rows = f->at->first;

	facts_end(f);
	facts_table(f, key, columns, 0);
	if (has_rows)
		facts_line(f, NULL, "");
}

/* What others write, as lines. */
static void add_written(struct facts *f, struct stream *o)
{
	fflush(o->file);
	if (o->size)
		facts_say(f, NULL, "%.*s", (int)o->size - 1, o->text);
	cli_out_drop(o);
}

/* --- topology --- */

/* Cells are texts called _0, _1 and so on for people. */
static const char *const cell_names[TOPO_MAX_COLUMNS] = { "_0", "_1", "_2",
	"_3", "_4", "_5" };

static void add_row(struct facts *f, const struct topo_table *table,
	const struct topo_cell *cell)
{
	facts_group(f, NULL);
	for (uint32_t i = 0; i < TOPO_MAX_COLUMNS && table->column[i].key;
		i++) {
		const struct topo_cell *c = &cell[i];
		bool is_count = table->column[i].is_count;

		if (is_count)
			facts_count(f, table->column[i].key, c->n);
		else
			facts_text(f, table->column[i].key, c->text);
		if (c->is_blank)
			facts_text(f, cell_names[i], "-");
		else if (is_count)
			facts_count(f, cell_names[i], c->n);
		else
			facts_text(f, cell_names[i], c->text);
	}
	facts_end(f);
}

/* What the topology is made of. */
static void add_tables(struct facts *f, const struct topo *t)
{
	struct topo_cell cell[TOPO_MAX_COLUMNS];
	char columns[256];
	uint32_t i;
	size_t n;

	for (uint32_t k = 0; t->ops->tables && t->ops->tables[k].key; k++) {
		const struct topo_table *table = &t->ops->tables[k];
		const struct topo_column *c = table->column;

		for (i = 0, n = 0; i < TOPO_MAX_COLUMNS && c[i].key; i++)
			n += (size_t)snprintf(columns + n, sizeof(columns) - n,
				"|%s%s=%s",
				c[i].is_count && !c[i].is_left ? ">" : "",
				c[i].title, cell_names[i]);
		facts_list(f, table->key);
		for (i = 0; t->ops->row(t, k, i, cell); i++)
			add_row(f, table, cell);
		end_table(f, table->key, columns);
	}
}

/* Links of a class of wires. */
static uint64_t n_links(const struct topo *t, uint32_t class)
{
	return t->ops->links ? t->ops->links(t, class) : 0;
}

static void add_wires(struct facts *f, const struct show *s)
{
	static const char columns[] =
		"wire=class|>links|>latency={latency_ns:.10g} ns|where";
	const struct topo *t = s->m->topo;
	char where[TOPO_TEXT];
	uint64_t links;

	facts_list(f, "wires");
	for (uint32_t c = 0; c < t->n_wires; c++) {
		links = n_links(t, c);
		if (!links)
			continue;
		facts_group(f, NULL);
		facts_text(f, "class", t->wire[c].name);
		facts_count(f, "links", links);
		facts_real(f, "latency_ns", sim_ns(s->rules.latency[c]));
		if (t->ops->where)
			t->ops->where(t, c, where);
		facts_text(f, "where", t->ops->where ? where : "");
		facts_end(f);
	}
	end_table(f, "wires", columns);
}

/* --- links --- */

/* What only some links have. */
static void add_formats(struct facts *f, const struct link_params *l)
{
	if (l->route)
		facts_say(f, "",
			"%" PRId64 " B of route in front of the header for "
			"each switch on the route",
			l->route);
	if (l->transaction)
		facts_say(f, "",
			"%" PRId64 " B of overhead for each %" PRId64
			" B of payload",
			l->per_transaction, l->transaction);
	for (uint32_t i = 0; i < l->n_formats; i++)
		facts_say(f, "",
			"%s: header %" PRId64 " B, %" PRId64
			" B for each word, trailer %" PRId64 " B",
			l->formats[i].name, l->formats[i].header,
			l->formats[i].word, l->formats[i].trailer);
	if (l->lanes > 1)
		facts_say(f, "lanes", "%" PRId64 " of %.10g Gb/s", l->lanes,
			(double)l->rate * 8 / 1e9 / (double)l->lanes);
	if (l->word && l->word != l->chunk)
		facts_say(f, "words", "%" PRId64 " B on the wire", l->word);
	if (l->control)
		facts_say(f, "control",
			"%" PRId64 " words after every %" PRId64, l->control,
			l->control_every);
}

/* The time-out follows from a wire's latency. */
static void add_retry(struct facts *f, const struct show *s)
{
	static const struct link_retry none;
	const struct retry_params *r = &s->m->link.retry;
	sim_time least = SIM_NEVER, most = 0, t;

	for (uint32_t i = 0; i < s->m->topo->n_wires; i++) {
		if (!n_links(s->m->topo, i))
			continue;
		t = retry_timeout(&none, r, s->rules.latency[i]);
		least = t < least ? t : least;
		most = t > most ? t : most;
	}
	if (r->kind != RETRY_REPLAY || !most)
		return;
	facts_group(f, "retry_timeout_ns");
	facts_real(f, "min", sim_ns(least));
	facts_real(f, "max", sim_ns(most));
	facts_say(f, "retry",
		"by replay: a window of %" PRId64
		" %s, retransmission after %s",
		r->window, r->unit == RETRY_PACKETS ? "packets" : "chunks",
		r->by == RETRY_BY_NACK ? "a nack" : "a time-out");
	facts_int(f, "_trips", r->timeout);
	facts_line(f, "",
		most > least ? "time-out of {min:.10g} to {max:.10g} ns, "
			       "{_trips} round trips of the wire"
			     : "time-out of {min:.10g} ns, {_trips} round "
			       "trips of the wire");
	facts_end(f);
}

static void add_link(struct facts *f, const struct show *s)
{
	const struct link_params *l = &s->m->link;
	int64_t rate = link_data_rate(l);
	char code[48] = "";

	if (rate != l->rate)
		snprintf(code, sizeof(code), " (%s)", link_codes[l->code].name);
	facts_group(f, "link");
	facts_text(f, "code", link_codes[l->code].name);
	facts_int(f, "lanes", l->lanes);
	facts_real(f, "raw_Gbps", 8 * gbps(l->rate));
	facts_real(f, "data_GBps", gbps(rate));
	facts_say(f, "link",
		"%.10g GB/s each way%s; protocol %" PRId64
		" B per packet, gap %" PRId64 " B",
		gbps(rate), code, l->protocol, l->gap);
	facts_say(f, "packet",
		"header %" PRId64 " B, payload 0 to %" PRId64
		" B in chunks of %" PRId64 " B, trailer %" PRId64 " B",
		l->header, l->payload, l->chunk, l->trailer);
	add_formats(f, l);
	add_retry(f, s);
	facts_end(f);
}

/* Ends of optical cables, each with a transceiver. */
static uint64_t n_transceivers(const struct topo *t)
{
	uint64_t n = 0;

	for (router_id r = 0; r < t->n_routers; r++)
		for (port_id p = 0; p < t->n_ports; p++)
			n += t->ops->peer(t, r, p).router != NO_ROUTER &&
			     t->wire[t->ops->wire(t, r, p)].is_optical;
	return n;
}

/* Where optical cables have a code of their own. */
static void add_fibres(struct facts *f, const struct machine *m)
{
	static const struct topo_wire any = { .is_optical = true };
	uint64_t n = m->link.fibre_code ? n_transceivers(m->topo) : 0;

	if (!n)
		return;
	facts_group(f, "fibres");
	facts_text(f, "code", link_codes[m->link.fibre_code - 1].name);
	facts_real(f, "data_GBps", gbps(link_wire_rate(&m->link, &any)));
	facts_count(f, "transceivers", n);
	facts_line(f, "fibres",
		"{data_GBps:.10g} GB/s each way ({code}), {transceivers} "
		"transceivers");
	facts_end(f);
}

static void add_lines(struct facts *f, const struct machine *m)
{
	const struct training_params *p = &m->lines;
	int64_t bit = training_bit(m->link.rate);

	if (!p->lines)
		return;
	facts_group(f, "lines");
	facts_int(f, "n", p->lines);
	facts_int(f, "data", TRAINING_DATA);
	facts_int(f, "bit_ps", bit);
	facts_int(f, "skew_ps", p->skew);
	facts_int(f, "eye_ps", p->eye);
	facts_flag(f, "training", p->is_on != 0);
	facts_int(f, "taps", p->taps);
	facts_int(f, "step_ps", p->step);
	facts_real(f, "training_ns", sim_ns(training_time(p, bit)));
	facts_line(f, "lines",
		"{n} each way ({data} for data), a bit lasts {bit_ps} ps, skew "
		"up to {skew_ps} ps");
	facts_line(f, "training",
		p->is_on ? "{taps} taps of {step_ps} ps, an eye of {eye_ps} "
			   "ps, {training_ns/1e3:.10g} us"
			 : "none");
	facts_end(f);
}

static void add_io(struct facts *f, const struct machine *m)
{
	const struct topo *t = m->topo;
	double rate = (double)m->link.rate * (t->n_ports - t->node_ports);

	if (!t->n_io)
		return;
	facts_real(f, "io_GBps", rate / 1e9);
	facts_real(f, "pcie_GBps",
		(double)machine_value(m, "nic", "pcie.rate") / 1e9);
}

/* Five digits, without an exponent. */
static void add_rate(
	struct facts *f, const char *key, const char *text, double rate)
{
	facts_real(f, key, rate);
	facts_print(f, text, rate < 99999 ? "%.5g" : "%.0f", rate);
}

static void add_bisection(struct facts *f, const struct machine *m)
{
	const struct link_params *l = &m->link;
	const struct topo *t = m->topo;
	struct topo_cut cut = { .links = 0 };
	int64_t rate;
	double n;

	if (t->ops->cut)
		cut = t->ops->cut(t);
	n = (double)cut.links;
	rate = cut.wire ? link_wire_rate(l, cut.wire) : link_data_rate(l);
	if (!cut.links) {
		facts_null(f, "bisection");
		return;
	}
	facts_group(f, "bisection");
	if (cut.dim[0])
		facts_text(f, "dimension", cut.dim);
	facts_count(f, "links", cut.links);
	facts_text(f, "_where", cut.where);
	add_rate(f, "raw_GBps", "_raw", gbps(rate) * n);
	add_rate(f, "payload_GBps", "_payload",
		gbps(load_link_rate(l, (uint32_t)l->payload)) * n *
			(double)rate / (double)link_data_rate(l));
	facts_line(f, "bisection",
		"{links} link{links|s} {_where}: {_raw} GB/s each way, "
		"{_payload} of "
		"payload");
	facts_end(f);
}

/* --- packets --- */

/* Whether fibres have another rate than copper, because of their code. */
static bool has_other_fibres(const struct show *s)
{
	const struct topo *t = s->m->topo;
	bool has_some = false;

	for (uint32_t i = 0; i < t->n_wires; i++)
		has_some |= t->wire[i].is_optical && s->rules.rate_of[i];
	return has_some;
}

/*
 * Time of packets from end to end without load, and the time to be added to
 * it.  A packet takes as long as the slowest of its wires.  Fibres are in
 * trees, where wires of a class are crossed only with those of all classes
 * before it: each class adds what it is slower by than these.
 */
static struct route_way way_of(
	const struct show *s, uint32_t bytes, sim_time *more)
{
	const struct route *r = s->m->route;
	int64_t cost[TOPO_MAX_WIRES], slowest = 0;

	*more = link_ser(&s->rules, bytes);
	if (!has_other_fibres(s))
		return s->latency;
	*more = 0;
	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++) {
		int64_t time = link_ser_on(&s->rules, i, bytes);

		cost[i] = s->rules.latency[i];
		cost[i] += time > slowest ? time - slowest : 0;
		slowest = time > slowest ? time : slowest;
	}
	return r->ops->way(r, cost);
}

static void add_latency(struct facts *f, const struct show *s, uint32_t bytes)
{
	struct route_way way;
	sim_time more;

	if (!s->hops.max) {
		facts_null(f, "zero_load_ns");
		return;
	}
	way = way_of(s, bytes, &more);
	facts_group(f, "zero_load_ns");
	facts_real(f, "min", sim_ns(way.min + more));
	facts_real(f, "mean", sim_ns(more) + way.mean / SIM_NS);
	facts_real(f, "max", sim_ns(way.max + more));
	facts_end(f);
}

static const char size_columns[] =
	">payload={bytes} B|>packet={serialisation_ns:.10g} ns|"
	">one way=[bytes?{one_way_GBps:.4g} GB/s]|"
	">both ways=[bytes?{both_ways_GBps:.4g} GB/s]|"
	">random peak per node=[{random_peak_GBps_per_node:.4g} GB/s]";

static const char latency_columns[] =
	">zero load={bytes} B|>least={zero_load_ns.min:.10g} ns|"
	">mean={zero_load_ns.mean:.1f} ns|"
	">most={zero_load_ns.max:.10g} ns";

static void add_size(struct facts *f, const struct show *s, uint32_t bytes)
{
	const struct link_params *l = &s->m->link;
	double wire = (double)(link_wire_bytes(l, bytes) + l->gap);
	double data = (double)link_data_rate(l) * bytes;
	int64_t peak = bytes ? load_peak(s->m->topo, l, bytes) : 0;

	facts_group(f, NULL);
	facts_count(f, "bytes", bytes);
	facts_real(f, "serialisation_ns", sim_ns(link_ser(&s->rules, bytes)));
	facts_real(f, "one_way_GBps", gbps((int64_t)(data / wire)));
	facts_real(f, "both_ways_GBps",
		gbps((int64_t)(data / (wire + (double)l->protocol))));
	facts_real_if(f, "random_peak_GBps_per_node", peak > 0, gbps(peak));
	add_latency(f, s, bytes);
	facts_end(f);
}

/* A header alone, a chunk and a full packet: those that differ. */
static void add_packets(struct facts *f, const struct show *s)
{
	const struct link_params *l = &s->m->link;
	const int64_t sizes[] = { 0, l->chunk, l->payload };

	facts_group(f, "hops");
	facts_real(f, "mean", s->hops.mean);
	facts_int(f, "max", s->hops.max);
	if (s->m->route->ops->way)
		facts_line(f, "paths",
			"{mean:.4g} hops on average, at most {max}");
	facts_line(f, NULL, "");
	facts_end(f);
	facts_list(f, "packets");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (!i || (sizes[i] > sizes[i - 1] && sizes[i] <= l->payload))
			add_size(f, s, (uint32_t)sizes[i]);
	end_table(f, "packets", size_columns);
	if (s->hops.max) {
		facts_table(f, "packets", latency_columns, 0);
		facts_line(f, NULL, "");
	}
}

/* --- routers --- */

/* Of those that a routing names itself, the ones that packets use. */
static uint32_t n_channels(const struct route *r)
{
	return r->n_channels > 1 ? r->n_channels : r->ops->n_channels;
}

static void name_channels(struct facts *f, const struct route *r)
{
	facts_list(f, "_channels");
	for (uint32_t c = 0; c < n_channels(r); c++)
		facts_text(f, NULL, r->ops->channels[c]);
	facts_end(f);
	facts_line(f, "channels", "{_channels}");
}

/* Buffers that cannot keep a link busy. */
static void add_room(struct facts *f, const struct show *s)
{
	const struct topo *t = s->m->topo;
	uint32_t wire = net_short_of_room(t, &s->rules, &s->m->router);

	if (wire == TOPO_MAX_WIRES) {
		facts_null(f, "needs_packets");
		return;
	}
	facts_int(f, "needs_packets", link_round_trip(&s->rules, wire));
	facts_text(f, "_wire", t->wire[wire].name);
	facts_line(f, "warning",
		"one flow cannot fill a link: a round trip needs "
		"{needs_packets} packets (wire {_wire})");
}

/* The number of ports of a router, except those of IO nodes. */
static uint32_t n_ports(const struct topo *t)
{
	return t->n_io ? t->node_ports + 1 : t->n_ports;
}

/* The description by its router. */
static void add_describe(struct facts *f, const struct machine *m)
{
	const struct net_params *r = &m->router;
	struct stream o;

	stream_open(&o);
	(r->switches ? r->switches : r->kind)->describe(r, m->topo, o.file);
	add_written(f, &o);
}

/* A port's input buffer that its channels share. */
static void add_shared(struct facts *f, const struct show *s)
{
	const struct net_params *r = &s->m->router;
	uint64_t bytes = r->kind->port_chunks(r) * s->rules.chunk;

	name_channels(f, s->m->route);
	facts_group(f, "buffers");
	facts_count(f, "channels", n_channels(s->m->route));
	facts_count(f, "bytes_per_port", bytes);
	facts_count(f, "bytes_per_switch", bytes * n_ports(s->m->topo));
	facts_line(f, "buffers",
		"per port {bytes_per_port/1024:.4g} KiB, which channels share; "
		"{bytes_per_switch/1024:.4g} KiB a switch");
	add_describe(f, s->m);
	facts_end(f);
}

/* What a switch and the ports of a node could carry, both ways. */
static void add_chips(struct facts *f, const struct machine *m)
{
	double raw = 2 * 8 * gbps(m->link.rate);

	if (m->topo->node_ports < 2 || topo_is_direct(m->topo))
		return;
	facts_group(f, "chips");
	facts_real(f, "switch_Gbps", raw * m->topo->n_ports);
	facts_real(f, "node_Gbps", raw * m->topo->node_ports);
	facts_line(f, "chips",
		"a switch carries {switch_Gbps/1e3:.4g} Tb/s, the ports of a "
		"node {node_Gbps:.4g} Gb/s, both ways together");
	facts_end(f);
}

/* Those per channel hold so many bytes.  A link has places for the payload of
 * all channels of its receiver, and of the FIFO that feeds its sender. */
static void add_buffers(struct facts *f, const struct show *s)
{
	const struct net_params *r = &s->m->router;
	const char *router = topo_is_direct(s->m->topo) ? "node" : "switch";
	uint64_t bytes =
		(uint64_t)r->packets * s->rules.max_chunks * s->rules.chunk;
	uint32_t n = n_channels(s->m->route);
	uint64_t all = bytes * n * n_ports(s->m->topo);
	uint64_t payload = (uint64_t)(n * r->packets + r->injection) *
			   s->rules.max_payload;
	char key[TOPO_TEXT];

	name_channels(f, s->m->route);
	facts_group(f, "buffers");
	facts_count(f, "channels", n);
	facts_int(f, "queues", r->queues);
	facts_int(f, "packets", r->packets);
	facts_count(f, "bytes", bytes);
	snprintf(key, sizeof(key), "bytes_per_%s", router);
	facts_count(f, key, all);
	facts_count(f, "payload_bytes_per_link", payload);
	facts_say(f, "buffers",
		"per port and channel %" PRId64 " packets (%" PRIu64
		" B); %.4g KiB a %s",
		r->packets, bytes, (double)all / 1024, router);
	if (s->m->route->n_channels > 1)
		facts_say(f, "",
			"per link %" PRId64 " packets to receive and %" PRId64
			" to send: %.4g KiB of payload",
			n * r->packets, r->injection, (double)payload / 1024);
	add_describe(f, s->m);
	add_room(f, s);
	facts_end(f);
}

/* The other bounds of a flow; for those below a link's rate, the setting that
 * raises them. */
static void add_bounds(
	struct facts *f, const struct flow_bound *bound, uint32_t n, bool shows)
{
	char text[FIGURE_TEXT];

	facts_group(f, "bounds_GBps");
	for (uint32_t i = 0; i < n; i++) {
		const char *set = bound[i].remedy;

		facts_real(f, bound[i].what, bound[i].rate / 1e9);
		figure_text("rate_GBps", bound[i].rate / 1e9, text);
		if (shows)
			facts_say(f, "", "%s: %s%s%s%s", bound[i].label, text,
				*set ? " (--set " : "", set, *set ? ")" : "");
	}
	facts_end(f);
}

static void add_flow(struct facts *f, const struct machine *m)
{
	struct flow_bound bound[FLOW_BOUNDS];
	uint32_t n = flow_bounds(m, bound);
	struct flow_bound least = flow_least(bound, n);
	bool knows = flow_knows_host(bound);

	facts_group(f, "one_flow");
	facts_real(f, "GBps", least.rate / 1e9);
	facts_real(f, "_rate_GBps", least.rate / 1e9);
	facts_text(f, "bound_by", least.what);
	facts_text(f, "_label", least.label);
	facts_text(f, "set", least.remedy);
	facts_flag(f, "has_interface", knows);
	facts_line(f, "one flow",
		knows ? "{_rate_GBps:u} of payload, bound by {_label}"
		      : "at most {_rate_GBps:u} of payload on a link, not "
			"counting the interface");
	add_bounds(f, bound, n, knows && n > 1);
	facts_end(f);
}

static void add_routing(struct facts *f, const struct route *r)
{
	struct route_fact is;
	bool is_listing = false;
	struct stream o;

	facts_group(f, "routing");
	for (uint32_t i = 0;; i++) {
		is = (struct route_fact){ 0 };
		if (!r->ops->fact || !r->ops->fact(r, i, &is))
			break;
		if (is.kind == ROUTE_FACT_LISTED && !is_listing)
			facts_list(f, is.key);
		else if (is.kind != ROUTE_FACT_LISTED && is_listing)
			facts_end(f);
		is_listing = is.kind == ROUTE_FACT_LISTED;
		if (is.kind == ROUTE_FACT_FLAG)
			facts_flag(f, is.key, is.flag);
		else if (is.kind == ROUTE_FACT_NUMBER)
			facts_real(f, is.key, is.number);
		else
			facts_text(f, is_listing ? NULL : is.key, is.text);
	}
	if (is_listing)
		facts_end(f);
	stream_open(&o);
	if (r->ops->describe)
		r->ops->describe(r, o.file);
	add_written(f, &o);
	facts_end(f);
}

struct net_setup show_net(const struct machine *m)
{
	return (struct net_setup){
		.topo = m->topo,
		.route = m->route,
		.link = &m->link,
		.router = &m->router,
	};
}

void show_size(uint64_t bytes, char text[SHOW_SIZE])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double size = (double)bytes;
	size_t i = 0;

	for (; size >= 1024 && i < 4; i++)
		size /= 1024;
	snprintf(text, SHOW_SIZE, "%.4g %s", size, units[i]);
}

static void add_simulation(struct facts *f, const struct machine *m)
{
	const struct topo *t = m->topo;
	const struct net_setup setup = show_net(m);
	uint64_t bytes = net_estimate(&setup);
	char size[SHOW_SIZE];

	show_size(bytes, size);
	facts_group(f, "simulation");
	facts_count(f, "bytes_per_node",
		m->router.kind->site_bytes(
			t->n_io ? t->n_ports : t->node_ports));
	facts_count(f, "estimated_bytes", bytes);
	facts_text(f, "_size", size);
	facts_line(f, "simulation",
		"{bytes_per_node} B of state per node; a saturated run needs "
		"about {_size}\n");
	facts_end(f);
}

/* --- all --- */

static void add_head(struct facts *f, const struct machine *m)
{
	char shape[PARAM_TEXT_MAX];

	machine_shape(m, shape, sizeof(shape));
	facts_text(f, "machine", m->header.name);
	facts_text(f, "title", m->header.title);
	facts_say(f, NULL, "%s%s%s", m->header.name,
		m->header.title[0] ? ": " : "", m->header.title);
	if (m->header.caveat[0]) {
		facts_text(f, "caveat", m->header.caveat);
		facts_line(f, NULL, "caveat: {caveat}");
	}
	facts_text(f, "shape", shape);
	facts_count(f, "nodes", m->topo->n_nodes);
	if (!topo_is_direct(m->topo))
		facts_count(
			f, "switches", m->topo->n_routers - m->topo->n_nodes);
	if (m->topo->n_io)
		facts_count(f, "io_nodes", m->topo->n_io);
	if (m->nic && m->host.processors > 1)
		facts_int(
			f, "processors", m->host.processors * m->topo->n_nodes);
	if (m->topo->cards)
		facts_count(f, "cards", m->topo->cards);
	facts_count(f, "ports", n_ports(m->topo));
	facts_line(f, NULL,
		"{shape}, {nodes} node{nodes|s}[ with {processors} "
		"processors][ of {cards} cards][, {switches} "
		"switch{switches|es}] of "
		"{ports} ports[, {io_nodes} IO node{io_nodes|s}]");
	if (*m->advice)
		facts_say(f, "warning", "%s", m->advice);
	facts_line(f, NULL, "");
}

void show_head(struct facts *f, const struct machine *m)
{
	add_head(f, m);
	add_tables(f, m->topo);
}

static void add_all(struct facts *f, const struct show *s, bool has_edges)
{
	const struct machine *m = s->m;
	struct part_place at;
	struct stream o;

	show_head(f, m);
	add_wires(f, s);
	facts_line(f, "IO nodes",
		"[each with links of {io_GBps:.4g} GB/s each way, and "
		"{pcie_GBps:.4g} GB/s over PCIe]");
	if (has_edges)
		show_edges(f, m->topo);
	add_link(f, s);
	add_fibres(f, m);
	add_lines(f, m);
	add_io(f, m);
	add_bisection(f, m);
	add_packets(f, s);
	add_chips(f, m);
	if (m->router.kind->port_chunks)
		add_shared(f, s);
	else
		add_buffers(f, s);
	add_flow(f, m);
	at = machine_place(m, 0);
	parts_show(&at, f);
	add_routing(f, m->route);
	add_simulation(f, m);
	stream_open(&o);
	if (m->topo->ops->draw)
		m->topo->ops->draw(m->topo, o.file);
	add_written(f, &o);
}

int show_facts(
	struct facts *f, const struct machine *m, bool has_edges, struct err *e)
{
	const struct route *r = m->route;
	struct show s = { .m = m };
	int64_t one[TOPO_MAX_WIRES];

	if (link_rules_init(&s.rules, &m->link, m->topo, e))
		return -1;
	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
		one[i] = 1;
	if (r->ops->way) {
		s.latency = r->ops->way(r, s.rules.latency);
		s.hops = r->ops->way(r, one);
	}
	add_all(f, &s, has_edges);
	link_rules_fini(&s.rules);
	return 0;
}
