#include "cli/show.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/picture.h"
#include "load/load.h"

const char *const show_wraps[] = {
	[TORUS_WRAP] = "torus",
	[TORUS_MESH] = "mesh",
	[TORUS_LOOP] = "loop",
};

const char *const show_spreads[] = {
	[UPDOWN_SOURCE] = "source",
	[UPDOWN_ROTATE] = "rotate",
	[UPDOWN_SINGLE] = "single",
};

/* --- gathering --- */

static enum hint_ties ties_of(const struct machine *m)
{
	if (m->route->ops != &hint_ops)
		return HINT_TIES_PARITY;
	return (enum hint_ties)hint_of(m->route)->ties;
}

static struct show_size make_size(const struct show *s, uint32_t bytes)
{
	const struct link_params *l = &s->m->link;
	double wire = (double)link_wire_bytes(l, bytes);
	double data = (double)link_data_rate(l) * bytes;

	return (struct show_size){
		.bytes = bytes,
		.time = link_ser(&s->rules, bytes),
		.one_way = (int64_t)(data / (wire + (double)l->gap)),
		.both_ways = (int64_t)(data /
				       (wire + (double)(l->gap + l->protocol))),
		.peak = bytes ? load_peak(s->m->topo, l, bytes) : 0,
	};
}

/* A header alone, a chunk and a full packet: those that differ. */
static void gather_sizes(struct show *s)
{
	const struct link_params *l = &s->m->link;
	const int64_t sizes[SHOW_SIZES] = { 0, l->chunk, l->payload };

	for (size_t i = 0; i < SHOW_SIZES; i++) {
		if (i && (sizes[i] <= sizes[i - 1] || sizes[i] > l->payload))
			continue;
		s->size[s->n_sizes++] = make_size(s, (uint32_t)sizes[i]);
	}
}

static const int64_t one[TOPO_MAX_WIRES] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	1 };

static void gather_torus(struct show *s)
{
	s->t = torus_of(s->m->topo);
	for (uint32_t d = 0; d < s->t->n_dims; d++) {
		facts_links(s->t, d, s->links[d]);
		for (int c = 0; c < N_WIRE_CLASSES; c++)
			s->wires[c] += s->links[d][c];
	}
	s->latency = facts_way(s->t, ties_of(s->m), s->rules.latency);
	s->hops = facts_way(s->t, ties_of(s->m), one);
	s->cut = facts_bisection(s->t);
}

static void gather_tree(struct show *s)
{
	s->tree = fattree_of(s->m->topo);
	for (uint32_t c = 0; c < s->m->topo->n_wires; c++)
		s->wires[c] = facts_tree_links(s->tree, c / 2);
	s->latency = facts_tree_way(s->tree, s->rules.latency);
	s->hops = facts_tree_way(s->tree, one);
	s->cut.links = facts_tree_bisection(s->tree);
}

static int gather(struct show *s, const struct machine *m, struct err *e)
{
	struct net_setup setup = {
		.topo = m->topo,
		.route = m->route,
		.link = &m->link,
		.router = &m->router,
	};

	s->m = m;
	if (link_rules_init(&s->rules, &m->link, m->topo, e))
		return -1;
	if (m->topo->ops == &fattree_ops)
		gather_tree(s);
	else
		gather_torus(s);
	s->memory = net_estimate(&setup);
	gather_sizes(s);
	return 0;
}

uint64_t show_links(const struct show *s, uint32_t dim)
{
	uint64_t sum = 0;

	for (int c = 0; c < N_WIRE_CLASSES; c++)
		sum += s->links[dim][c];
	return sum;
}

/* Routers that a unit of packaging has along a dimension of this machine. */
static uint32_t span(
	const struct show *s, const struct param_list *unit, uint32_t i)
{
	uint32_t d = s->t->dim[i];

	return i < unit->n && unit->v[i] < d ? (uint32_t)unit->v[i] : d;
}

bool show_unit(const struct show *s, const struct param_list *list,
	struct show_unit *u)
{
	size_t at = 0;
	bool is_whole = true;

	*u = (struct show_unit){ .nodes = 1, .n = 1 };
	for (uint32_t i = 0; i < s->t->n_dims; i++) {
		uint32_t k = span(s, list, i);

		at += (size_t)snprintf(u->shape + at, sizeof(u->shape) - at,
			"%s%u", i ? "x" : "", k);
		u->nodes *= k;
		u->n *= (s->t->dim[i] + k - 1) / k;
		is_whole &= i >= list->n || list->v[i] <= s->t->dim[i];
	}
	return is_whole || u->n > 1;
}

void show_zones(const struct hint *h, uint32_t set, char text[SHOW_TEXT])
{
	size_t n = 0;

	for (uint32_t z = 0; z < h->n_zones[set]; z++) {
		if (z)
			text[n++] = ',';
		for (uint32_t d = 0; d < h->torus->n_dims; d++)
			if (h->mask[set][z] >> (2 * d) & 3)
				text[n++] = (char)('A' + d);
	}
	text[n] = '\0';
	if (!n)
		strcpy(text, "none");
}

void show_order(const struct hint *h, char text[SHOW_TEXT])
{
	uint32_t d;

	for (d = 0; d < h->torus->n_dims; d++)
		text[d] = (char)('A' + h->dims[d]);
	text[d] = '\0';
}

size_t show_site_bytes(const struct show *s)
{
	return s->m->router.kind->site_bytes(s->m->topo->node_ports);
}

void show_wire(const struct show *s, uint32_t class, char text[SHOW_TEXT])
{
	int64_t m;

	if (!s->tree) {
		snprintf(text, SHOW_TEXT, "%s", picture_wires[class]);
		return;
	}
	m = fattree_length(s->tree, class / 2);
	snprintf(text, SHOW_TEXT, "%lld m, %s", (long long)m,
		m > s->tree->copper ? "fibre" : "copper");
}

uint64_t show_buffer(const struct show *s)
{
	return (uint64_t)s->m->router.packets * s->rules.max_chunks *
	       s->rules.chunk;
}

/* --- the command --- */

static int perform(const struct cli_args *a, FILE *f, struct err *e)
{
	struct show s = { 0 };
	struct machine *m;

	if (a->n_words != 1)
		return err_set(e, "want one machine: `weft show bgq-midplane`");
	m = machine_load(a->word[0], a->set, a->n_sets, a->shape, e);
	if (!m || gather(&s, m, e)) {
		machine_free(m);
		return -1;
	}
	if (a->is_json)
		show_json(&s, f);
	else
		show_text(&s, f);
	link_rules_fini(&s.rules);
	machine_free(m);
	return 0;
}

int cli_show(int argc, char **argv, struct err *e)
{
	struct cli_args args;
	int code = cli_parse(&args, argc, argv, CLI_MACHINE | CLI_JSON,
		"MACHINE",
		"Describes a machine: its shape, wires, rates, buffers and "
		"zero-load latencies.",
		e);

	if (code)
		return code < 0 ? -1 : 0;
	return cli_print(&args, perform, e);
}
