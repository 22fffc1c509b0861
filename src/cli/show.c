#include "cli/show.h"

#include "cli/cli.h"
#include "cli/show_jobs.h"
#include "load/load.h"

/* --- gathering --- */

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

static void gather_ways(struct show *s)
{
	const struct route *r = s->m->route;
	int64_t one[TOPO_MAX_WIRES];
	uint32_t i;

	for (i = 0; i < TOPO_MAX_WIRES; i++)
		one[i] = 1;
	if (!r->ops->way)
		return;
	s->latency = r->ops->way(r, s->rules.latency);
	s->hops = r->ops->way(r, one);
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
	gather_ways(s);
	if (m->topo->ops->cut)
		s->cut = m->topo->ops->cut(m->topo);
	s->memory = net_estimate(&setup);
	gather_sizes(s);
	return 0;
}

bool show_links(const struct show *s, uint32_t class, uint64_t *links)
{
	const struct topo *t = s->m->topo;

	*links = t->ops->links ? t->ops->links(t, class) : 0;
	return *links > 0;
}

bool show_timeout(const struct show *s, sim_time *least, sim_time *most)
{
	static const struct link_retry none;
	const struct retry_params *r = &s->m->link.retry;
	uint64_t links;
	sim_time t;
	uint32_t i;

	*least = SIM_NEVER;
	*most = 0;
	for (i = 0; i < s->m->topo->n_wires; i++) {
		if (!show_links(s, i, &links))
			continue;
		t = retry_timeout(&none, r, s->rules.latency[i]);
		*least = t < *least ? t : *least;
		*most = t > *most ? t : *most;
	}
	return r->kind == RETRY_REPLAY && *most;
}

void show_wire(const struct show *s, uint32_t class, char text[TOPO_TEXT])
{
	const struct topo *t = s->m->topo;

	text[0] = '\0';
	if (t->ops->where)
		t->ops->where(t, class, text);
}

/* Of a router; an IO node's are its links alone. */
uint32_t show_ports(const struct show *s)
{
	const struct topo *t = s->m->topo;

	return t->n_io ? t->node_ports + 1 : t->n_ports;
}

double show_io_rate(const struct show *s)
{
	const struct topo *t = s->m->topo;

	return (double)s->m->link.rate * (t->n_ports - t->node_ports);
}

size_t show_site_bytes(const struct show *s)
{
	const struct topo *t = s->m->topo;

	return s->m->router.kind->site_bytes(
		t->n_io ? t->n_ports : t->node_ports);
}

uint64_t show_buffer(const struct show *s)
{
	return (uint64_t)s->m->router.packets * s->rules.max_chunks *
	       s->rules.chunk;
}

uint64_t show_link_memory(const struct show *s)
{
	const struct net_params *r = &s->m->router;

	return (uint64_t)(s->m->route->ops->n_channels * r->packets +
			  r->injection) *
	       s->rules.max_payload;
}

const char *show_router(const struct show *s)
{
	return topo_is_direct(s->m->topo) ? "node" : "switch";
}

/* --- the command --- */

static void print(const struct cli_args *a, const struct show *s, FILE *out)
{
	struct facts f;

	facts_init(&f);
	show_facts(s, &f, a->is_json);
	cli_write(a, &f, CLI_BOLD, out);
	facts_fini(&f);
}

static int perform(const struct cli_args *a, FILE *f, struct err *e)
{
	struct show s = { 0 };
	struct machine *m;

	if (a->n_words != 1)
		return err_set(
			e, "want one machine, as in `weft show bgq-midplane`");
	if (a->is_svg + a->is_dot + a->is_json > 1)
		return err_set(e, "want one of --json, --svg and --dot");
	if (a->jobs && (a->is_svg || a->is_dot))
		return err_set(e, "--jobs: partitions are shown as text or "
				  "JSON");
	m = cli_machine(a, e);
	if (!m || gather(&s, m, e)) {
		machine_free(m);
		return -1;
	}
	if (a->jobs)
		show_jobs(a, m, f, e);
	else if (a->is_svg)
		show_svg(&s, f, e);
	else if (a->is_dot)
		show_dot(&s, f, e);
	else
		print(a, &s, f);
	link_rules_fini(&s.rules);
	machine_free(m);
	return e->code ? -1 : 0;
}

int cli_show(int argc, char **argv, struct err *e)
{
	struct cli_args args;
	int code = cli_parse(&args, argc, argv,
		CLI_MACHINE | CLI_JSON | CLI_DRAW | CLI_JOBS, "MACHINE",
		"Describes a machine: its shape, wires, rates, buffers and "
		"zero-load latencies.",
		e);

	if (code)
		return code < 0 ? -1 : 0;
	return cli_print(&args, perform, e);
}
