/* Runs experiments, each once, and computes rows from what they report. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "machine/batch.h"
#include "paper/paper.h"

/* What an experiment reported. */
struct report {
	bool is_done;
	struct batch_result result;
};

struct paper_lab {
	const struct paper_system *system;
	struct paper_setup setup;
	struct report *reports; /* [experiment] */
};

struct paper_lab *paper_lab_new(
	const struct paper_system *s, const struct paper_setup *setup)
{
	struct paper_lab *lab = mem_alloc(1, sizeof(*lab));

	lab->system = s;
	lab->setup = *setup;
	lab->reports = mem_alloc(s->n_experiments, sizeof(*lab->reports));
	return lab;
}

void paper_lab_free(struct paper_lab *lab)
{
	if (!lab)
		return;
	mem_free(lab->reports);
	mem_free(lab);
}

static size_t count_words(const char *const *words)
{
	size_t n = 0;

	while (n < PAPER_MAX_WORDS && words[n])
		n++;
	return n;
}

/* --- what `weft show` knows --- */

/* The wires of the longest way. */
static void keep_hops(const struct machine *m, struct batch_result *p)
{
	sim_time one[TOPO_MAX_WIRES];

	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
		one[i] = 1;
	if (m->route->ops->way)
		batch_keep(p, "hops",
			(double)m->route->ops->way(m->route, one).max);
}

/* Raw rates of a switch and of a node's ports, both ways; what of a port's is
 * payload of full packets. */
static void keep_ports(const struct machine *m, struct batch_result *p)
{
	double raw = 2 * 8 * (double)m->link.rate / 1e9;

	batch_keep(p, "chip_Gbps", raw * m->topo->n_ports);
	batch_keep(p, "ports_Gbps", raw * m->topo->node_ports);
	batch_keep(p, "payload_GBps",
		(double)link_data_rate(&m->link) / 1e9 *
			(double)m->link.payload /
			(double)link_wire_bytes(&m->link, m->link.payload));
}

/* What tables in two levels save of the memory of one for all nodes. */
static void keep_tables(const struct machine *m, struct batch_result *p)
{
	int64_t high, low;

	if (!machine_has(m, "written-tables"))
		return;
	high = machine_value(m, "routing", "supernode-bits");
	low = machine_value(m, "routing", "number-bits");
	batch_keep(p, "tables_saved_pct",
		100 * (1 - (ldexp(1, (int)high) + ldexp(1, (int)low)) /
				      ldexp(1, (int)(high + low))));
}

/* The time of a head on the longest way. */
static double farthest(const struct machine *m)
{
	struct link_rules rules;
	struct err e = { 0 };
	int64_t most;

	if (!m->route->ops->way ||
		link_rules_init(&rules, &m->link, m->topo, &e))
		return 0;
	most = m->route->ops->way(m->route, rules.latency).max;
	link_rules_fini(&rules);
	return (double)most / SIM_NS;
}

static uint32_t longest(const struct topo *t)
{
	uint32_t size[TOPO_MAX_DIMS], most = 0;
	uint32_t n = t->ops->grid ? t->ops->grid(t, size) : 0;

	for (uint32_t d = 0; d < n; d++)
		if (size[d] > most)
			most = size[d];
	return most;
}

/* Links to a neighbour of the first router that nodes are not. */
static void keep_links(const struct topo *t, struct batch_result *p)
{
	router_id r = topo_is_direct(t) ? 0 : t->n_nodes;
	uint32_t n, least = UINT32_MAX, most = 0;
	port_id k;

	for (port_id i = 0; i < t->n_ports; i++) {
		router_id far = t->ops->peer(t, r, i).router;

		if (far == NO_ROUTER || (far < t->n_nodes && r >= t->n_nodes))
			continue;
		for (n = k = 0; k < t->n_ports; k++)
			n += t->ops->peer(t, r, k).router == far;
		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	batch_keep(p, "least_links", least);
	batch_keep(p, "most_links", most);
}

/* The rate of what connects a network interface to memory, where there is any
 * and it has one; what its line code takes. */
static void keep_side(const struct machine *m, struct batch_result *p)
{
	struct side_rates x = { 0 };

	if (m->side && m->side->rates)
		x = m->side->rates(m->side_params);
	if (!x.data)
		return;
	batch_keep(p, "side_GBps", (double)x.data / 1e9);
	batch_keep(p, "side_code_pct",
		100 * (double)(x.raw - x.data) / (double)x.raw);
}

static void keep_io(const struct machine *m, struct batch_result *p)
{
	const struct topo *t = m->topo;

	if (!t->n_io)
		return;
	batch_keep(p, "io_GBps",
		(double)m->link.rate * (t->n_ports - t->node_ports) / 1e9);
	batch_keep(p, "pcie_GBps",
		(double)machine_value(m, "nic", "pcie.rate") / 1e9);
}

static void show(const struct paper_experiment *x, struct batch_result *p)
{
	struct machine *m = machine_load(
		x->machine, x->sets, count_words(x->sets), x->shape, &p->e);
	double rate;

	if (!m)
		return;
	rate = (double)m->link.rate / 1e9;
	batch_keep(p, "link_GBps", rate);
	batch_keep(p, "data_GBps", (double)link_data_rate(&m->link) / 1e9);
	batch_keep(p, "node_GBps", rate * m->topo->n_ports);
	batch_keep(p, "farthest_ns", farthest(m));
	batch_keep(p, "longest", longest(m->topo));
	batch_keep(p, "nodes", m->topo->n_nodes);
	batch_keep(p, "processors",
		(double)m->topo->n_nodes * (double)m->host.processors);
	keep_hops(m, p);
	keep_ports(m, p);
	keep_tables(m, p);
	keep_links(m->topo, p);
	keep_side(m, p);
	keep_io(m, p);
	if (m->topo->ops->cut)
		batch_keep(p, "bisection_GBps",
			rate * (double)m->topo->ops->cut(m->topo).links);
	machine_free(m);
}

/* --- what `weft run` reports --- */

/* What is wrong with an ending, where there is something. */
static void judge_ending(struct batch_result *p)
{
	if (p->ending == LOAD_DEADLOCKED)
		err_set(&p->e, "the run deadlocked");
	else if (p->ending == LOAD_STALLED)
		err_set(&p->e, "%s", p->why);
	else if (p->ending == LOAD_SATURATED)
		err_set(&p->e, "the run is saturated");
}

struct todo {
	struct paper_lab *lab;
	const struct paper_watch *watch;
	uint32_t *list; /* experiments, in the order of the rows */
	struct paper_progress progress;
	uint32_t threads; /* of each */
};

static void list_term(struct todo *d, const struct paper_term *t)
{
	const struct paper_lab *lab = d->lab;

	if (!lab->system->experiments[t->experiment].workload ||
		lab->reports[t->experiment].is_done)
		return;
	for (size_t i = 0; i < d->progress.all; i++)
		if (d->list[i] == t->experiment)
			return;
	d->list[d->progress.all++] = t->experiment;
}

static void list_terms(struct todo *d, const struct paper_formula *m)
{
	const struct paper_term *t;

	for (uint32_t i = 0; (t = paper_formula_term(m, i)); i++)
		list_term(d, t);
}

static bool set_up(void *arg, size_t i, struct machine_run_setup *s)
{
	struct todo *d = arg;
	const struct paper_experiment *x =
		&d->lab->system->experiments[d->list[i]];

	*s = (struct machine_run_setup){
		.machine.name = x->machine,
		.machine.sets = x->sets,
		.machine.n_sets = count_words(x->sets),
		.machine.shape = x->shape,
		.workload = x->workload,
		.keys = x->keys,
		.n_keys = count_words(x->keys),
		.faults = x->faults,
		.seed = d->lab->setup.seed,
		.threads = d->threads,
	};
	d->progress.running++;
	return true;
}

static void tell(void *arg)
{
	struct todo *d = arg;

	d->watch->tell(d->watch->arg, &d->progress);
}

static void on_done(void *arg, size_t i, const struct batch_result *r)
{
	struct todo *d = arg;
	struct report *p = &d->lab->reports[d->list[i]];

	p->is_done = true;
	p->result = *r;
	judge_ending(&p->result);
	d->progress.running--;
	d->progress.done++;
	tell(d);
}

int paper_run(struct paper_lab *lab, const bool *chosen, uint32_t at_a_time,
	const struct paper_watch *w, struct err *e)
{
	const struct paper_system *s = lab->system;
	struct todo d = { .lab = lab, .watch = w };
	struct batch b = {
		.setup = set_up,
		.on_done = on_done,
		.on_wait = tell,
		.arg = &d,
		.at_a_time = at_a_time,
		.stop = lab->setup.stop,
	};
	int code;

	d.list = mem_alloc(s->n_experiments, sizeof(*d.list));
	for (size_t i = 0; i < s->n_rows; i++)
		if (chosen[i])
			list_terms(&d, &s->rows[i].model);
	b.n = d.progress.all;
	d.threads = b.n && b.n < at_a_time ? at_a_time / (uint32_t)b.n : 1;
	tell(&d);
	code = batch_run(&b, e);
	mem_free(d.list);
	return code;
}

static bool has_term(const struct paper_lab *lab, const struct paper_term *t)
{
	return !lab->system->experiments[t->experiment].workload ||
	       lab->reports[t->experiment].is_done;
}

bool paper_is_ready(const struct paper_lab *lab, const struct paper_row *row)
{
	const struct paper_term *t;

	for (uint32_t i = 0; (t = paper_formula_term(&row->model, i)); i++)
		if (!has_term(lab, t))
			return false;
	return true;
}

/* --- rows --- */

/* A row that is being measured. */
struct look {
	struct paper_lab *lab;
	struct paper_result *result;
};

static int look_up(void *arg, const struct paper_term *t, double *value)
{
	struct look *look = arg;
	struct paper_result *result = look->result;
	struct paper_lab *lab = look->lab;
	const struct paper_experiment *x =
		&lab->system->experiments[t->experiment];
	struct report *p = &lab->reports[t->experiment];

	if (!p->is_done && !x->workload)
		show(x, &p->result);
	p->is_done |= !x->workload;
	result->is_stopped = !p->is_done;
	if (!p->is_done || p->result.e.code) {
		snprintf(result->why, sizeof(result->why), "%s",
			p->is_done ? p->result.e.text : "stopped");
		return -1;
	}
	for (uint32_t i = 0; i < p->result.n_figures; i++) {
		if (strcmp(p->result.figure[i].name, t->figure) != 0)
			continue;
		*value = p->result.figure[i].value;
		return 0;
	}
	snprintf(result->why, sizeof(result->why), "%s reports no %s",
		x->workload ? x->workload : x->machine, t->figure);
	return -1;
}

void paper_measure(struct paper_lab *lab, const struct paper_row *row,
	struct paper_result *result)
{
	struct look look = { lab, result };
	double value;

	memset(result, 0, sizeof(*result));
	paper_judge(row, NAN, result);
	if (!paper_formula_value(&row->model, look_up, &look, &value))
		return;
	paper_judge(row, value, result);
	if (!result->is_measured)
		snprintf(result->why, sizeof(result->why),
			"the experiments yield no number");
}
