/*
 * Runs partitions.  Each is a machine with a sim of its own.  The sites of one
 * more sim, the outer one, are the partitions and the IO nodes: its threads run
 * the partitions side by side, and a call to the files of an IO node that
 * several partitions share is mail.
 *
 * The time of all partitions is divided into steps, and a step takes two
 * windows of the outer sim.  In the first one, partitions run those of their
 * own windows that start in the step.  In the second one, IO nodes carry out
 * the calls of the step, in the order of their times:
 *
 *	outer sim	| partitions |  IO nodes  | partitions |  IO nodes  |
 *	simulated	|<--------- step -------->|<--------- step -------->|
 *
 * If IO nodes are shared, every window of a partition starts with a step.  So
 * all calls of a step are known at its end, and an answer, which is read a
 * window after its call, is there in the next step.  Otherwise steps are long.
 *
 * Of several processes (sim/cluster.h), each runs some of the partitions, with
 * an outer sim of its own: partitions that share an IO node are in one process,
 * so there is nothing that the others would have to know before the end, but
 * that one of them is asked to stop, or gone.
 */
#include "base/mem.h"
#include "machine/facts.h"
#include "machine/partitions.h"
#include "sim/cluster.h"

/* A step of partitions that share nothing: long, because each partition needs
 * the cache for itself.  Progress is reported after such a time, too. */
enum { STEP = 50000 * SIM_NS };

struct inner {
	struct machine_run run;
	struct machine_run_setup setup;
	struct files_seat given; /* where it finds shared files */
	struct files_seat *seat; /* the one it took; NULL: it uses no files */
	struct batch_result *result;
	struct exposed_rows *exposed;
	bool is_over;
};

struct outer {
	const struct machine_partitions_run *how;
	struct files *files; /* that some share, or NULL */
	struct inner *inner; /* [partition] */
	uint32_t *home; /* [partition]: its process */
	sim_time step;
	sim_time window; /* of the outer sim; not shorter than a step */
	struct sim *sim;
	atomic_int stop; /* of several processes: any was asked to */
};

/* --- the visit of a site --- */

/* A simulated time in that of the outer sim. */
static sim_time outer_time(const struct outer *o, sim_time t, bool is_io)
{
	return (2 * (t / o->step) + is_io) * o->window + t % o->step;
}

static void send_calls(const struct outer *o, struct sim_worker *w, site_id i)
{
	struct files_seat *s = o->inner[i].seat;

	for (uint32_t k = 0; s && k < s->n_sent; k++) {
		const struct files_call *c = &s->call[s->sent[k]];

		sim_post(w, o->how->list->n + c->io, outer_time(o, c->at, true),
			SIM_KEY(PHASE_PROGRAM, i), s->sent[k] % FILES_THREADS,
			s->sent[k]);
	}
	if (s)
		s->n_sent = 0;
}

/* Runs a partition to the end of a step. */
static void run_step(
	const struct outer *o, struct sim_worker *w, site_id i, sim_time end)
{
	struct inner *x = &o->inner[i];
	const struct sim *sim = x->run.system->net->sim;
	uint64_t n = sim_n_events(sim);
	int code = machine_run_go(&x->run, end - x->given.begin, &x->result->e);
	sim_time next;

	sim_count(w, sim_n_events(sim) - n);
	send_calls(o, w, i);
	if (code > 0) {
		batch_note(&x->run, x->result);
		run_warnings_note(&x->run, x->result);
		*x->exposed = exposed_rows(x->run.load);
	}
	x->is_over = code != 0;
	if (x->is_over)
		return;
	next = outer_time(o, x->given.begin + sim_next_time(sim), false);
	sim_post_self(w, i, next, SIM_KEY(PHASE_PROGRAM, 0), 0, 0);
}

static void visit(struct sim_worker *w, site_id site)
{
	const struct outer *o = w->model;
	const struct sim_event *e;
	const struct files_seat *s;
	sim_time t;

	while ((e = sim_next(w, &t)))
		if (site < o->how->list->n) {
			t = t / (2 * o->window) * o->step + o->step;
			run_step(o, w, site, t);
		} else {
			s = o->inner[sim_number(e)].seat;
			files_carry_out(s, &s->call[e->data]);
		}
}

/* --- processes --- */

static bool is_own(const struct outer *o, uint32_t i)
{
	return !o->how->cluster || o->home[i] == o->how->cluster->me;
}

static const atomic_int *stop_of(const struct outer *o)
{
	return o->how->cluster ? &o->stop : o->how->setup->stop;
}

static uint64_t count_nodes(const struct machine_partition *p)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < p->n_dims; i++)
		n *= p->size[i];
	return n;
}

/* Those that share IO nodes, by the least number of any of them. */
static void find_groups(
	const struct machine_partitions_run *how, uint32_t *group)
{
	uint32_t of[PARTITIONS_OF_IO], n = how->list->n;

	for (uint32_t i = 0; i < n; i++)
		group[i] = i;
	for (uint32_t io = 0; io < how->machine->topo->n_io; io++) {
		uint32_t k = machine_partitions_of_io(
			how->list, how->machine->topo, io, of);

		while (k-- > 1) {
			uint32_t a = group[of[k]], b = group[of[k - 1]];

			for (uint32_t i = 0; i < n; i++)
				if (group[i] == a || group[i] == b)
					group[i] = a < b ? a : b;
		}
	}
}

/* Each group goes to the process with the fewest nodes so far. */
static void find_homes(struct outer *o)
{
	uint32_t n = o->how->list->n, n_processes, least;
	uint32_t *group = mem_alloc(n, sizeof(*group));
	uint64_t *nodes;

	o->home = mem_alloc(n, sizeof(*o->home));
	n_processes = o->how->cluster ? o->how->cluster->n : 1;
	nodes = mem_alloc(n_processes, sizeof(*nodes));
	find_groups(o->how, group);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = least = 0; k < n_processes; k++)
			if (nodes[k] < nodes[least])
				least = k;
		o->home[i] = group[i] < i ? o->home[group[i]] : least;
		nodes[o->home[i]] += count_nodes(&o->how->list->v[i]);
	}
	mem_free(nodes);
	mem_free(group);
}

/* Each has found room for its own alone. */
static void check_memory(
	const struct outer *o, uint64_t need, uint64_t have, struct err *e)
{
	const struct cluster *c = o->how->cluster;

	if (!c || c->n_here < c->n)
		return;
	cluster_sum(o->how->cluster, &need, 1);
	if (need > have)
		err_set_code(e, EXIT_LIMIT,
			"the partitions of all processes need about %.1f GiB "
			"of memory, but only %.1f GiB was free",
			(double)need / (1 << 30), (double)have / (1 << 30));
}

static void tell_exposed(
	struct cluster *c, uint32_t from, struct exposed_rows *x)
{
	cluster_tell(c, from, &x->is_there, sizeof(x->is_there));
	cluster_tell(c, from, &x->n, sizeof(x->n));
	if (!x->n)
		return;
	if (!x->row)
		x->row = mem_alloc(x->n, sizeof(*x->row));
	cluster_tell(c, from, x->row, x->n * sizeof(*x->row));
}

static void tell_results(const struct outer *o)
{
	const struct machine_partitions_run *how = o->how;
	struct cluster *c = how->cluster;

	for (uint32_t i = 0; c && i < how->list->n; i++) {
		cluster_tell(
			c, o->home[i], &how->result[i], sizeof(how->result[i]));
		tell_exposed(c, o->home[i], &how->exposed[i]);
	}
}

/* --- opening --- */

/* The files of all IO nodes; NULL if no IO node is shared, or on an error. */
static struct files *make_files(
	const struct machine_partitions_run *how, struct err *e)
{
	const struct machine *m = how->machine;
	uint32_t of[PARTITIONS_OF_IO];
	struct files *f = NULL;

	for (uint32_t io = 0; io < m->topo->n_io && !e->code; io++) {
		if (machine_partitions_of_io(how->list, m->topo, io, of) < 2)
			continue;
		if (!f)
			f = files_new(m->topo->n_io,
				part_params(&m->parts, &part_files), e);
		if (f)
			files_share(f, io);
	}
	return f;
}

static void open_run(void *arg)
{
	struct inner *x = arg;

	machine_run_open(&x->run, &x->setup, &x->result->e);
}

/* Returns the memory that it and those before it need, bytes. */
static uint64_t open_inner(const struct outer *o, uint32_t i, uint64_t held)
{
	const struct machine_partitions_run *how = o->how;
	struct inner *x = &o->inner[i];

	x->result = &how->result[i];
	x->exposed = &how->exposed[i];
	x->given = (struct files_seat){ .files = o->files,
		.is_shared = true,
		.member = i,
		.begin = how->list->v[i].job.begin };
	x->setup = how->setup[i];
	x->setup.stop = stop_of(o);
	x->setup.held = held;
	x->setup.threads = how->threads / how->list->n;
	if (o->files)
		x->setup.files = &x->given;
	if (o->files || !x->setup.threads)
		x->setup.threads = 1;
	x->is_over = !is_own(o, i) || err_guard(open_run, x, &x->result->e);
	if (x->is_over)
		return held;
	if (o->files)
		x->seat = part_state(&x->run.system->parts, &part_files);
	return held + x->run.system->need;
}

/* --- the outer sim --- */

static sim_time common_divisor(sim_time a, sim_time b)
{
	while (b) {
		sim_time rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Where files are shared, the longest step with whose start every
 * window starts. */
static sim_time find_step(const struct outer *o)
{
	sim_time step = 0;

	if (!o->files)
		return STEP;
	for (const struct inner *x = o->inner; x < o->inner + o->how->list->n;
		x++)
		if (!x->is_over) {
			step = common_divisor(step, x->given.begin);
			step = common_divisor(step,
				sim_worker(x->run.system->net->sim, 0)->width);
		}
	return step ? step : STEP;
}

/* Workers get partitions with about the same number of nodes in all. */
static void share_out(const struct outer *o, uint32_t n_workers, uint8_t *owner)
{
	uint64_t *nodes = mem_alloc(n_workers, sizeof(*nodes));
	uint32_t n = o->how->list->n, k, least;

	for (uint32_t i = 0; i < n; i++) {
		for (least = 0, k = 1; k < n_workers; k++)
			if (nodes[k] < nodes[least])
				least = k;
		owner[i] = (uint8_t)least;
		if (!o->inner[i].is_over)
			nodes[least] += o->inner[i].run.machine->topo->n_nodes;
	}
	mem_free(nodes);
}

static int build(struct outer *o, struct err *e)
{
	static const struct sim_ops ops = { .visit = visit };
	uint32_t n = o->how->list->n, most = o->how->threads;
	struct sim_params p = {
		.n_sites = n + (o->files ? o->how->machine->topo->n_io : 0),
		.n_workers = most < n ? most : n,
		.ops = &ops,
		.model = o,
		.stop = stop_of(o),
		.is_heavy = !o->files,
	};
	uint8_t *owner = mem_alloc(p.n_sites, sizeof(*owner));

	o->step = find_step(o);
	o->window = o->step < SIM_MIN_WINDOW ? SIM_MIN_WINDOW : o->step;
	p.window = o->window;
	share_out(o, p.n_workers, owner);
	p.owner = owner;
	o->sim = sim_new(&p, e);
	mem_free(owner);
	for (uint32_t i = 0; o->sim && i < n; i++)
		if (!o->inner[i].is_over)
			sim_post(sim_owner(o->sim, i), i,
				outer_time(o, o->inner[i].given.begin, false),
				SIM_KEY(PHASE_PROGRAM, 0), 0, 0);
	return o->sim ? 0 : -1;
}

static void run(void *arg)
{
	const struct outer *o = arg;
	enum sim_ending ending;
	uint32_t n_done;

	do {
		ending = sim_run(
			o->sim, sim_slice(o->sim, outer_time(o, STEP, false)));
		for (uint32_t i = n_done = 0; i < o->how->list->n; i++)
			n_done += o->inner[i].is_over;
		if (o->how->on_done)
			o->how->on_done(o->how->arg, n_done);
	} while (ending == SIM_REACHED);
}

static int run_all(struct outer *o, struct err *e)
{
	struct cluster *c = o->how->cluster;

	if (c)
		return cluster_run_alone(c, run, o, &o->stop, e);
	run(o);
	return 0;
}

static int share_error(const struct machine_partitions_run *how, struct err *e)
{
	if (how->cluster)
		return cluster_share_signed(how->cluster, e);
	return e->code ? -1 : 0;
}

int machine_partitions_run(
	const struct machine_partitions_run *how, struct err *e)
{
	struct outer o = { .how = how, .files = make_files(how, e) };
	uint64_t held = 0, have = mem_available();

	if (share_error(how, e))
		return -1;
	find_homes(&o);
	o.inner = mem_alloc(how->list->n, sizeof(*o.inner));
	for (uint32_t i = 0; i < how->list->n; i++)
		held = open_inner(&o, i, held);
	check_memory(&o, held, have, e);
	if (!e->code)
		build(&o, e);
	if (!share_error(how, e) && !run_all(&o, e))
		tell_results(&o);
	sim_free(o.sim);
	for (uint32_t i = 0; i < how->list->n; i++)
		machine_run_close(&o.inner[i].run);
	mem_free(o.inner);
	mem_free(o.home);
	files_free(o.files);
	return e->code ? -1 : 0;
}
