#include "cli/cli.h"

#include <string.h>

#include "cli/run_partitions.h"
#include "machine/facts.h"
#include "net/proof.h"
#include "net/repair.h"
#include "route/lists.h"

static void add_step(
	struct facts *f, const struct machine *m, const struct proof_step *s)
{
	char text[256];

	facts_group(f, NULL);
	facts_print(f, "step", "%c", s->letter);
	facts_text(f, "what", s->what);
	facts_flag(f, "holds", s->holds);
	facts_text(f, "why", s->why);
	facts_text(f, "_holds", s->holds ? "yes" : "NO");
	facts_line(f, NULL, "{step}  {what}: {_holds}\n   {why}");
	if (s->n_cycle)
		facts_line(f, NULL,
			"   each of these waits for the next, and the last for "
			"the first:");
	facts_list(f, "cycle");
	for (uint32_t i = 0; i < s->n_cycle; i++) {
		proof_name(m->topo, m->route, &s->cycle[i], text, sizeof(text));
		facts_text(f, NULL, text);
	}
	facts_end(f);
	facts_each(f, "cycle", 0, NULL, "     {}");
	facts_end(f);
}

static void add_proof(
	struct facts *f, const struct machine *m, const struct proof *p)
{
	facts_flag(f, "proved", p->is_proved);
	facts_text(f, "_proved",
		p->is_proved ? "cannot deadlock"
			     : "not proved to be free of deadlock");
	if (p->n_routes) {
		facts_count(f, "routes", p->n_routes);
		facts_count(f, "channels", p->n_channels);
	} else {
		facts_count(f, "rings", p->n_rings);
		facts_count(f, "hint_sets", p->n_hint_sets);
	}
	facts_count(f, "turns", p->n_turns);
	facts_list(f, "steps");
	for (uint32_t i = 0; i < p->n_steps; i++)
		add_step(f, m, &p->step[i]);
	facts_end(f);
}

/* What a channel's packets wait for at nodes, as channels. */
static uint32_t waits_of(const struct machine *m, enum net_class class)
{
	const struct router_ops *r = m->router.kind;
	uint32_t classes, channels = 0;

	if (!m->nic || !m->nic->waits_for)
		return 0;
	classes = m->nic->waits_for(m->nic_params, class);
	for (uint32_t c = 0; c < N_NET_CLASSES; c++)
		if (classes >> c & 1)
			channels |= 1U << r->fifos(NULL, c).first;
	return channels;
}

/* How the machine's switches let packets wait. */
static void add_places(const struct machine *m, const struct route *r,
	const struct route_written *x, struct proof *p)
{
	uint32_t n;
	const struct net_stage *stage = m->router.kind->stages(&m->router, &n);

	proof_places(p, m->topo, r, x, stage, n);
}

/* How its router and interface do, where channels of nodes are FIFOs. */
static void add_waits(const struct machine *m, struct proof *p)
{
	const struct router_ops *r = m->router.kind;
	struct proof_waits w = { .channel = r->channels,
		.n_channels = r->n_channels };

	w.stage = r->stages(&m->router, &w.n_stages);
	w.topo = m->topo;
	for (uint32_t c = 0; c < N_NET_CLASSES; c++)
		w.answers[r->fifos(NULL, c).first] |= waits_of(m, c);
	proof_waits(p, &w);
}

static bool has_waits(const struct machine *m, const struct route *r)
{
	return r->has_planes == ROUTE_PLANES && m->router.kind->stages;
}

/* x is what is written into its switches, or NULL. */
static void prove(const struct machine *m, const struct route *r,
	const struct route_written *x, struct proof *p)
{
	proof_make(p, m->topo, r, x, m->router.packets);
	if (has_waits(m, r))
		add_waits(m, p);
	else if (r->lists && m->router.kind->stages)
		add_places(m, r, x, p);
}

/* How its interface lets packets wait, where that is not said by then. */
static void add_nodes(const struct machine *m, struct proof *p)
{
	const struct router_ops *r = m->router.kind;
	struct proof_nodes x = { .topo = m->topo, .route = m->route };
	uint32_t any = 0;

	if (!m->nic || has_waits(m, m->route))
		return;
	x.nic = m->nic->name;
	x.is_shared = r->shares && r->shares(m->route, m->topo);
	for (uint32_t c = 0; m->nic->waits_for && c < N_NET_CLASSES; c++)
		any |= x.waits[c] = m->nic->waits_for(m->nic_params, c);
	if (any || !m->nic->waits_for)
		x.how = m->nic->how_waits;
	proof_nodes(p, &x);
}

/* All sets of tables that the plan leads to, one after the other. */
static bool add_tables(struct facts *f, const struct machine *m)
{
	struct faults *faults = faults_new(&m->faults, m->topo, 1, 1);
	port_mask *dead = mem_alloc(m->topo->n_routers, sizeof(*dead));
	bool is_proved = true;
	struct proof p;

	facts_list(f, "reloads");
	for (size_t i = 0; i < faults->n_reloads; i++) {
		uint32_t n_dead = faults_avoided(faults, m->topo, i, dead);
		struct route *r =
			m->route->ops->around(m->route, dead, (uint32_t)i);

		prove(m, r, NULL, &p);
		facts_group(f, NULL);
		facts_real(f, "loaded_us",
			(double)faults->reload[i].load / SIM_NS / 1000);
		facts_count(f, "dead_links", n_dead);
		facts_count(f, "missing_pairs", p.n_missing);
		facts_line(f, NULL,
			"\ntables loaded at {loaded_us:.10g} us, {dead_links} "
			"dead link{dead_links|s}: {_proved}");
		add_proof(f, m, &p);
		facts_end(f);
		is_proved &= p.is_proved;
		proof_free(&p);
		route_free(r);
	}
	facts_end(f);
	mem_free(dead);
	faults_free(faults);
	return is_proved;
}

/* What the plan makes routers avoid. */
static struct net_repair *find_repairs(const struct machine *m)
{
	struct faults *faults = faults_new(&m->faults, m->topo, 1, 1);
	struct net_repair *x = net_repair_new(m->route, faults);

	faults_free(faults);
	if (x && !x->n_views) {
		net_repair_free(x);
		return NULL;
	}
	return x;
}

static void add_repairs(struct facts *f, const struct net_repair *x)
{
	facts_list(f, "repairs");
	for (size_t i = 0; i < x->n_views; i++) {
		const struct net_view *v = &x->view[i];
		char name[64];

		facts_group(f, NULL);
		facts_real(f, "from_us", (double)v->from / SIM_NS / 1000);
		facts_count(f, "dead_links", v->n_dead);
		facts_count(f, "missing_pairs", v->missing.n);
		net_name_missing(
			x->whole->topo, &v->missing, name, sizeof(name));
		if (v->missing.n)
			facts_text(f, "such_as", name);
		facts_line(f, NULL,
			"paths from {from_us:.10g} us on, {dead_links} dead "
			"link{dead_links|s}: {missing_pairs} "
			"pair{missing_pairs|s} of nodes without a way"
			"[, such as {such_as}]");
		facts_end(f);
	}
	facts_end(f);
}

static bool add_all(struct facts *f, const struct machine *m,
	const struct proof *p, const struct net_repair *x)
{
	facts_text(f, "weft", WEFT_VERSION);
	facts_of_machine(f, m);
	facts_count(f, "nodes", m->topo->n_nodes);
	facts_line(f, NULL, "{_machine}, {nodes} node{nodes|s}: {_proved}");
	add_proof(f, m, p);
	if (x)
		add_repairs(f, x);
	return p->is_proved & (!m->faults.is_managed || add_tables(f, m));
}

/* With what its parts write into switches. */
static void prove_all(
	const struct machine *m, const struct part_place *at, struct proof *p)
{
	struct route_written x;
	bool is_written = parts_write(at, &x);

	prove(m, m->route, is_written ? &x : NULL, p);
	parts_prove(at, is_written ? &x : NULL, p);
	add_nodes(m, p);
	if (is_written && x.free)
		x.free(x.arg);
}

static int check(const struct cli_args *a, const struct machine *m,
	const struct machine_partition *job, FILE *f)
{
	struct part_place at = machine_place(m, 0);
	struct net_repair *x = find_repairs(m);
	struct proof p;
	struct facts all;
	bool is_proved;

	if (job)
		at.given = (struct part_given){ job->routes, job->n_routes };
	prove_all(m, &at, &p);
	if (x)
		proof_repair(&p, x);
	facts_init(&all);
	is_proved = add_all(&all, m, &p, x);
	cli_write(a, &all, CLI_PLAIN, f);
	facts_fini(&all);
	proof_free(&p);
	net_repair_free(x);
	return is_proved ? EXIT_FINISHED : EXIT_ANSWER_NO;
}

static int check_one(const struct cli_args *a, struct machine *m,
	const struct machine_partition *job, FILE *f, struct err *e)
{
	if ((a->faults && machine_read_faults(m, a->faults, e)) ||
		system_check(m, e)) {
		machine_explain(m, e);
		return -1;
	}
	return check(a, m, job, f);
}

/* Whether one before it is alike. */
static bool was_checked(const struct machine_partitions *p, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (!p->v[i].faults && !p->v[k].faults && !p->v[i].n_routes &&
			!p->v[k].n_routes &&
			!strcmp(p->v[k].cut.set[0], p->v[i].cut.set[0]) &&
			!strcmp(p->v[k].cut.set[1], p->v[i].cut.set[1]))
			return true;
	return false;
}

/* Jobs with links of their own, each as a machine; in JSON a list. */
static int check_partitions(const struct cli_args *a,
	const struct machine_partitions *p, FILE *f, struct err *e)
{
	struct cli_args own;
	struct machine *m;
	int worst = 0, code;

	for (uint32_t i = 0; i < p->n; i++) {
		if (was_checked(p, i))
			continue;
		if (a->is_json)
			fputs(i ? "," : "[", f);
		if (partitions_args(a, &p->v[i], &own, e))
			return -1;
		m = cli_machine(&own, e);
		code = m ? check_one(&own, m, &p->v[i], f, e) : -1;
		machine_free(m);
		if (code < 0)
			return -1;
		worst = code > worst ? code : worst;
	}
	if (a->is_json)
		fputs("]\n", f);
	return worst;
}

static int check_all(const struct cli_args *a, FILE *f, struct err *e)
{
	struct machine_partitions p;
	struct machine *m = cli_machine(a, e);
	int code = -1;

	if (!m)
		return -1;
	if (!partitions_of(a, m, &p, e))
		code = p.n ? check_partitions(a, &p, f, e)
			   : check_one(a, m, NULL, f, e);
	machine_partitions_free(&p);
	machine_free(m);
	return code;
}

static int perform(const struct cli_args *a, struct err *e)
{
	struct cli_wait *w = cli_wait_begin();
	struct stream out;
	int code;

	stream_open(&out);
	code = check_all(a, out.file, e);
	cli_wait_end(w);
	if (code < 0)
		cli_out_drop(&out);
	else if (cli_out_close(&out, e))
		code = -1;
	return code;
}

const struct cli_command cli_check = { .name = "check",
	.brief = "prove that a machine cannot deadlock",
	.takes = CLI_MACHINE | CLI_JSON | CLI_FAULTS | CLI_JOBS,
	.usage = "MACHINE",
	.help = "Proves that packets on a machine cannot deadlock with its "
		"routing, or prints the channels that can wait for each other "
		"forever.\vThe exit code is 0 if freedom from deadlock is "
		"proved, and 1 if it is not.",
	.words = { 1, 1 },
	.want = "want one machine, as in `weft check bgq`",
	.run = perform };
