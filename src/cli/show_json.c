#include "cli/show.h"

#include "load/load.h"
#include "machine/flow.h"
#include "net/use.h"
#include "out/json.h"

static void json_row(struct json *j, const struct topo_table *table,
	const struct topo_cell *cell)
{
	uint32_t i;

	json_object(j, NULL);
	for (i = 0; i < TOPO_MAX_COLUMNS && table->column[i].key; i++) {
		if (table->column[i].is_count)
			json_count(j, table->column[i].key, cell[i].n);
		else
			json_text(j, table->column[i].key, cell[i].text);
	}
	json_end(j, '}');
}

/* What the topology is made of. */
static void json_tables(struct json *j, const struct topo *t)
{
	struct topo_cell cell[TOPO_MAX_COLUMNS];
	uint32_t k, i;

	for (k = 0; t->ops->tables && t->ops->tables[k].key; k++) {
		json_array(j, t->ops->tables[k].key);
		for (i = 0; t->ops->row(t, k, i, cell); i++)
			json_row(j, &t->ops->tables[k], cell);
		json_end(j, ']');
	}
}

static void json_wires(struct json *j, const struct show *s)
{
	const struct topo *t = s->m->topo;

	json_array(j, "wires");
	for (uint32_t c = 0; c < t->n_wires; c++) {
		char where[TOPO_TEXT];
		uint64_t links;

		if (!show_links(s, c, &links))
			continue;
		json_object(j, NULL);
		json_text(j, "class", t->wire[c].name);
		json_count(j, "links", links);
		json_real(j, "latency_ns", sim_ns(s->rules.latency[c]));
		show_wire(s, c, where);
		json_text(j, "where", where);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void json_link(struct json *j, const struct show *s)
{
	const struct link_params *l = &s->m->link;
	sim_time least, most;

	json_object(j, "link");
	json_text(j, "code", link_codes[l->code].name);
	json_int(j, "lanes", l->lanes);
	json_real(j, "raw_Gbps", 8 * show_gbps(l->rate));
	json_real(j, "data_GBps", show_gbps(link_data_rate(l)));
	if (show_timeout(s, &least, &most)) {
		json_object(j, "retry_timeout_ns");
		json_real(j, "min", sim_ns(least));
		json_real(j, "max", sim_ns(most));
		json_end(j, '}');
	}
	json_end(j, '}');
}

static void json_lines(struct json *j, const struct show *s)
{
	const struct training_params *p = &s->m->lines;
	int64_t bit = training_bit(s->m->link.rate);

	if (!p->lines)
		return;
	json_object(j, "lines");
	json_int(j, "n", p->lines);
	json_int(j, "data", TRAINING_DATA);
	json_int(j, "bit_ps", bit);
	json_int(j, "skew_ps", p->skew);
	json_int(j, "eye_ps", p->eye);
	json_flag(j, "training", p->is_on != 0);
	json_int(j, "taps", p->taps);
	json_int(j, "step_ps", p->step);
	json_real(j, "training_ns", sim_ns(training_time(p, bit)));
	json_end(j, '}');
}

static void json_bisection(struct json *j, const struct show *s)
{
	const struct link_params *l = &s->m->link;

	if (!s->cut.links) {
		json_null(j, "bisection");
		return;
	}
	json_object(j, "bisection");
	if (s->cut.dim[0])
		json_text(j, "dimension", s->cut.dim);
	json_count(j, "links", s->cut.links);
	json_real(j, "raw_GBps",
		show_gbps(link_data_rate(l)) * (double)s->cut.links);
	json_real(j, "payload_GBps",
		show_gbps(load_link_rate(l, (uint32_t)l->payload)) *
			(double)s->cut.links);
	json_end(j, '}');
}

static void json_latency(struct json *j, const struct show *s, int64_t time)
{
	if (!s->hops.max) {
		json_null(j, "zero_load_ns");
		return;
	}
	json_object(j, "zero_load_ns");
	json_real(j, "min", sim_ns(s->latency.min + time));
	json_real(j, "mean", sim_ns(time) + s->latency.mean / SIM_NS);
	json_real(j, "max", sim_ns(s->latency.max + time));
	json_end(j, '}');
}

static void json_ways(struct json *j, const struct show *s)
{
	json_object(j, "hops");
	json_real(j, "mean", s->hops.mean);
	json_int(j, "max", s->hops.max);
	json_end(j, '}');
	json_array(j, "packets");
	for (size_t i = 0; i < s->n_sizes; i++) {
		const struct show_size *z = &s->size[i];

		json_object(j, NULL);
		json_count(j, "bytes", z->bytes);
		json_real(j, "serialisation_ns", sim_ns(z->time));
		json_real(j, "one_way_GBps", show_gbps(z->one_way));
		json_real(j, "both_ways_GBps", show_gbps(z->both_ways));
		json_real_if(j, "random_peak_GBps_per_node", z->peak > 0,
			show_gbps(z->peak));
		json_latency(j, s, z->time);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void json_buffers(struct json *j, const struct show *s)
{
	uint64_t bytes = show_buffer(s);
	uint32_t n = s->m->route->ops->n_channels;
	uint32_t wire = net_short_of_room(s->m->topo, &s->rules, &s->m->router);
	char key[TOPO_TEXT];

	json_object(j, "buffers");
	json_count(j, "channels", n);
	json_int(j, "queues", s->m->router.queues);
	json_int(j, "packets", s->m->router.packets);
	json_count(j, "bytes", bytes);
	snprintf(key, sizeof(key), "bytes_per_%s", show_router(s));
	json_count(j, key, bytes * n * show_ports(s));
	json_count(j, "payload_bytes_per_link", show_link_memory(s));
	if (wire == TOPO_MAX_WIRES)
		json_null(j, "needs_packets");
	else
		json_int(j, "needs_packets", link_round_trip(&s->rules, wire));
	json_end(j, '}');
}

static void json_routing(struct json *j, const struct route *r)
{
	struct route_fact f;
	bool is_listing = false;
	uint32_t i = 0;

	json_object(j, "routing");
	for (;; i++) {
		f = (struct route_fact){ 0 };
		if (!r->ops->fact || !r->ops->fact(r, i, &f))
			break;
		if (f.kind == ROUTE_FACT_LISTED && !is_listing)
			json_array(j, f.key);
		else if (f.kind != ROUTE_FACT_LISTED && is_listing)
			json_end(j, ']');
		is_listing = f.kind == ROUTE_FACT_LISTED;
		if (f.kind == ROUTE_FACT_FLAG)
			json_flag(j, f.key, f.flag);
		else
			json_text(j, is_listing ? NULL : f.key, f.text);
	}
	if (is_listing)
		json_end(j, ']');
	json_end(j, '}');
}

static void json_flow(struct json *j, const struct machine *m)
{
	struct flow_bound bound[FLOW_BOUNDS];
	uint32_t n = flow_bounds(m, bound), i;
	struct flow_bound least = flow_least(bound, n);

	json_object(j, "one_flow");
	json_real(j, "GBps", least.rate / 1e9);
	json_text(j, "bound_by", least.what);
	json_text(j, "set", least.remedy);
	json_object(j, "bounds_GBps");
	for (i = 0; i < n; i++)
		json_real(j, bound[i].what, bound[i].rate / 1e9);
	json_end(j, '}');
	json_end(j, '}');
}

void show_json(const struct show *s, FILE *f)
{
	const struct machine *m = s->m;
	char shape[PARAM_TEXT_MAX];
	struct json j;

	machine_shape(m, shape, sizeof(shape));
	json_init(&j, f);
	json_object(&j, NULL);
	json_text(&j, "machine", m->header.name);
	json_text(&j, "title", m->header.title);
	json_text(&j, "shape", shape);
	json_count(&j, "nodes", m->topo->n_nodes);
	if (!topo_is_direct(m->topo))
		json_count(
			&j, "switches", m->topo->n_routers - m->topo->n_nodes);
	if (m->topo->n_io)
		json_count(&j, "io_nodes", m->topo->n_io);
	json_count(&j, "ports", show_ports(s));
	json_tables(&j, m->topo);
	json_wires(&j, s);
	show_edges(&j, m->topo);
	json_link(&j, s);
	json_lines(&j, s);
	if (m->topo->n_io) {
		json_real(&j, "io_GBps", show_io_rate(s) / 1e9);
		json_real(&j, "pcie_GBps",
			(double)machine_value(m, "nic", "pcie.rate") / 1e9);
	}
	json_bisection(&j, s);
	json_ways(&j, s);
	json_buffers(&j, s);
	json_flow(&j, m);
	json_routing(&j, m->route);
	json_object(&j, "simulation");
	json_count(&j, "bytes_per_node", show_site_bytes(s));
	json_count(&j, "estimated_bytes", s->memory);
	json_end(&j, '}');
	json_end(&j, '}');
}
