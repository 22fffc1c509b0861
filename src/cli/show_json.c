#include "cli/show.h"

#include "load/load.h"
#include "out/json.h"

static void json_dims(struct json *j, const struct show *s)
{
	json_array(j, "dimensions");
	for (uint32_t d = 0; d < s->t->n_dims; d++) {
		char name[2] = { (char)('A' + d) };

		json_object(j, NULL);
		json_text(j, "name", name);
		json_count(j, "length", s->t->dim[d]);
		json_text(j, "ends", show_wraps[s->t->ring[d]]);
		json_count(j, "links", show_links(s, d));
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void json_unit(struct json *j, const struct show *s, const char *name,
	const struct param_list *list)
{
	struct show_unit u;

	if (!show_unit(s, list, &u))
		return;
	json_object(j, NULL);
	json_text(j, "unit", name);
	json_text(j, "shape", u.shape);
	json_count(j, "nodes", u.nodes);
	json_count(j, "units", u.n);
	json_end(j, '}');
}

static void json_levels(struct json *j, const struct show *s)
{
	json_array(j, "levels");
	for (uint32_t l = 1; l <= s->tree->n_levels; l++) {
		json_object(j, NULL);
		json_count(j, "level", l);
		json_count(j, "switches", fattree_n_switches(s->tree, l));
		json_count(j, "nodes_below", s->tree->span[l]);
		json_count(j, "up", s->tree->n_up[l]);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void json_packaging(struct json *j, const struct show *s)
{
	json_array(j, "packaging");
	json_unit(j, s, "board", &s->t->board);
	json_unit(j, s, "midplane", &s->t->midplane);
	json_end(j, ']');
}

static void json_wires(struct json *j, const struct show *s)
{
	const struct topo *t = s->m->topo;

	json_array(j, "wires");
	for (uint32_t c = 0; c < t->n_wires; c++) {
		char where[SHOW_TEXT];

		if (!s->wires[c])
			continue;
		json_object(j, NULL);
		json_text(j, "class", t->wire[c].name);
		json_count(j, "links", s->wires[c]);
		json_real(j, "latency_ns", show_ns(s->rules.latency[c]));
		show_wire(s, c, where);
		json_text(j, "where", where);
		json_end(j, '}');
	}
	json_end(j, ']');
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
	json_real(j, "training_ns", show_ns(training_time(p, bit)));
	json_end(j, '}');
}

static void json_bisection(struct json *j, const struct show *s)
{
	const struct link_params *l = &s->m->link;
	char name[2] = { (char)('A' + s->cut.dim) };

	if (!s->cut.links) {
		json_null(j, "bisection");
		return;
	}
	json_object(j, "bisection");
	if (s->t)
		json_text(j, "dimension", name);
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
	json_real(j, "min", show_ns(s->latency.min + time));
	json_real(j, "mean", show_ns(time) + s->latency.mean / SIM_NS);
	json_real(j, "max", show_ns(s->latency.max + time));
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
		json_real(j, "serialisation_ns", show_ns(z->time));
		json_real(j, "one_way_GBps", show_gbps(z->one_way));
		json_real(j, "both_ways_GBps", show_gbps(z->both_ways));
		if (z->peak)
			json_real(j, "random_peak_GBps_per_node",
				show_gbps(z->peak));
		else
			json_null(j, "random_peak_GBps_per_node");
		json_latency(j, s, z->time);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void json_router(struct json *j, const struct show *s)
{
	const struct hint *h = hint_of(s->m->route);
	uint64_t bytes = show_buffer(s);
	uint32_t n = s->m->route->ops->n_channels;
	char text[SHOW_TEXT];

	json_object(j, "buffers");
	json_count(j, "channels", n);
	json_int(j, "queues", s->m->router.queues);
	json_int(j, "packets", s->m->router.packets);
	json_count(j, "bytes", bytes);
	json_count(j, s->tree ? "bytes_per_switch" : "bytes_per_node",
		bytes * n * s->m->topo->n_ports);
	json_end(j, '}');
	json_object(j, "routing");
	if (s->m->route->ops == &updown_ops) {
		json_text(j, "spread",
			show_spreads[updown_of(s->m->route)->spread]);
		json_end(j, '}');
		return;
	}
	show_order(h, text);
	json_text(j, "order", text);
	json_array(j, "zones");
	for (uint32_t i = 0; i < HINT_ZONE_SETS; i++) {
		show_zones(h, i, text);
		json_text(j, NULL, text);
	}
	json_end(j, ']');
	json_flag(j, "escape", h->escape != 0);
	json_flag(j, "bubble", h->bubble != 0);
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
	if (s->tree)
		json_count(
			&j, "switches", m->topo->n_routers - m->topo->n_nodes);
	json_count(&j, "ports", m->topo->n_ports);
	if (s->tree) {
		json_levels(&j, s);
	} else {
		json_dims(&j, s);
		json_packaging(&j, s);
	}
	json_wires(&j, s);
	json_lines(&j, s);
	json_bisection(&j, s);
	json_ways(&j, s);
	json_router(&j, s);
	json_object(&j, "simulation");
	json_count(&j, "bytes_per_node", show_site_bytes(s));
	json_count(&j, "estimated_bytes", s->memory);
	json_end(&j, '}');
	json_end(&j, '}');
}
