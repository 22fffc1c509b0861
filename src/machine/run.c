#define _GNU_SOURCE
#include "machine/run.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/name.h"
#include "machine/bill.h"
#include "machine/coarse.h"
#include "machine/energy.h"
#include "machine/jobs.h"
#include "machine/slice.h"
#include "sim/cluster.h"

double machine_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Seconds of CPU time that the process has used. */
static double cpu_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const struct load_ops *find_load(const char *name, struct err *e)
{
	static const char *const meant[][2] = {
		{ "uniform", "random" },
		{ "latency", "pingpong" },
		{ "bandwidth", "stream" },
		{ "barrier", "collective op=barrier" },
		{ "broadcast", "collective op=broadcast" },
		{ "bcast", "collective op=broadcast" },
		{ "reduce", "collective op=reduce" },
		{ "allreduce", "collective op=allreduce" },
		{ "put", "stream" },
		{ "get", "gets" },
		{ "trace", "replay" },
		{ "goal", "replay" },
	};
	const struct load_ops *ops = load_find(name);
	char hint[NAME_HINT];
	const char *names[64];
	size_t n = 0;

	if (ops)
		return ops;
	if (strchr(name, '/')) {
		err_set(e,
			"%.100s: a program with its own main() is not a "
			"workload; start it directly, or build it as a plugin "
			"(weft-plugin(7))",
			name);
		return NULL;
	}
	for (; load_registry[n]; n++)
		names[n] = load_registry[n]->name;
	for (size_t i = 0; i < sizeof(meant) / sizeof(meant[0]); i++)
		if (!strcmp(meant[i][0], name)) {
			err_set(e,
				"no workload is called \"%s\"; did you mean "
				"%s?",
				name, meant[i][1]);
			return NULL;
		}
	err_set(e, "no workload is called \"%.40s\"%s", name,
		name_hint(
			name, names, n, "; `weft help run` lists them", hint));
	return NULL;
}

/* The key that a workload has for what people call otherwise; or NULL. */
static const char *find_meant(const struct param_block *keys, const char *text)
{
	static const char *const meant[][2] = { { "size", "bytes" },
		{ "length", "bytes" }, { "rate", "load" },
		{ "time", "measure" }, { "duration", "measure" },
		{ "src", "from" }, { "dst", "to" }, { "source", "from" },
		{ "dest", "to" }, { "count", "rounds" },
		{ "iterations", "rounds" }, { "schedule", "file" },
		{ "matrix", "file" }, { "trace", "file" } };
	size_t n = strcspn(text, "="), i;

	for (i = 0; i < sizeof(meant) / sizeof(meant[0]); i++)
		if (strlen(meant[i][0]) == n &&
			!strncmp(meant[i][0], text, n) &&
			param_find(keys, meant[i][1]))
			return meant[i][1];
	return NULL;
}

/* Adds what could be meant by a key's value, or by what is no key. */
static int explain_key(
	const struct param_block *keys, const char *text, struct err *e)
{
	size_t n = strlen(e->text), colon = strcspn(text, ":=");
	char *at = e->text + n;

	if (!strncmp(text, "bytes=", 6) && param_find(keys, "message") &&
		strstr(e->text, "out of range"))
		snprintf(at, sizeof(e->text) - n,
			"; bytes is the payload of a packet; message=%.20s "
			"sends messages of several packets",
			text + 6);
	else if (strstr(e->text, "unknown key") && find_meant(keys, text))
		snprintf(at, sizeof(e->text) - n, "; did you mean %s?",
			find_meant(keys, text));
	else if (text[colon] == '=' && strstr(e->text, " is not a ") &&
		 strpbrk(text + colon, ",.") &&
		 (strchr(text, ',') || strstr(text, "..")))
		snprintf(at, sizeof(e->text) - n,
			"; `weft sweep` runs several values");
	else if (text[colon] == ':')
		snprintf(at, sizeof(e->text) - n, "; want %.*s=%.40s",
			(int)(colon < 40 ? colon : 40), text, text + colon + 1);
	else if (!strchr(text, '=') && strchr(text, 'x') &&
		 strspn(text, "0123456789x") == strlen(text))
		snprintf(at, sizeof(e->text) - n, "; a shape is --shape %.40s",
			text);
	return -1;
}

/* A key that is given twice contradicts itself. */
static int read_key(const struct param_block *keys, const char *text,
	const char *place, struct err *e)
{
	size_t was = 0, is = 0;

	for (size_t i = 0; i < keys->n_rows; i++)
		was += keys->origins[i].set;
	if (param_assign(keys, 1, text, "key", place, e))
		return explain_key(keys, text, e);
	for (size_t i = 0; i < keys->n_rows; i++)
		is += keys->origins[i].set;
	if (is == was)
		return err_set(e, "%.*s is given twice",
			(int)strcspn(text, "="), text);
	return 0;
}

/* A key that means nothing on this machine is a mistake. */
static int check_keys(
	const struct machine *m, const struct param_block *keys, struct err *e)
{
	const struct route_ops *o = m->route->ops;
	char has[256] = "";
	size_t n = 0;

	for (size_t i = 0; i < keys->n_rows; i++) {
		const char *key = keys->rows[i].name;
		const char *needs = load_key_needs(key);

		if (!needs || !keys->origins[i].set || machine_has(m, needs))
			continue;
		for (size_t k = 0; k < o->n_params && n < sizeof(has); k++)
			n += (size_t)snprintf(has + n, sizeof(has) - n,
				"%srouting.%s", k ? ", " : "",
				o->params[k].name);
		return err_set(e,
			"%s: has no effect on %s, whose routing is %s; its "
			"parameters, for --set, are %s",
			key, m->header.name, o->name, has);
	}
	return 0;
}

/* A plugin's workload: a program that the keys are arguments of. */
static const struct load_ops *find_program(struct machine_run *r)
{
	struct machine_run_setup *s = &r->setup;

	if (!s->programs || !s->workload)
		return NULL;
	s->load_arg = plugins_find(&r->machine->plugins, s->workload);
	if (!s->load_arg)
		return NULL;
	s->arguments = s->keys;
	return s->programs;
}

/* One whose keys have their defaults. */
static struct load *new_load(const struct machine_run *r,
	const struct machine_job *j, const struct load_ops *ops,
	struct param_block *keys)
{
	struct load *l = mem_alloc(1, ops->size);

	l->ops = ops;
	l->seed = j->seed;
	l->arg = r->setup.load_arg;
	l->place = j->place;
	l->begin = j->begin;
	l->until = r->setup.until;
	l->has_book = r->setup.book;
	l->needs.arguments = r->setup.arguments;
	l->needs.command = j->place ? j->command : r->setup.command;
	l->needs.launch = r->setup.launch;
	l->topo = r->machine->topo;
	l->route = r->machine->route;
	l->link = &r->machine->link;
	l->nic_ops = r->machine->nic;
	l->parts = &r->machine->parts;
	l->nic_params = r->machine->nic_params;
	l->host_params = &r->machine->host;
	*keys = (struct param_block){
		.section = "",
		.rows = ops->params,
		.n_rows = ops->n_params,
		.values = l,
		.origins =
			mem_alloc(ops->n_params, sizeof(struct param_origin)),
	};
	param_defaults(keys);
	return l;
}

struct load *machine_job_load(const struct machine_run *r,
	const struct machine_job *j, struct param_block *keys, struct err *e)
{
	const struct load_ops *ops = r->setup.load;
	const char *place = j->place ? r->setup.jobs : "command line";
	struct load *l;

	if (!ops)
		ops = find_load(j->workload, e);
	if (!ops)
		return NULL;
	l = new_load(r, j, ops, keys);
	for (size_t i = 0; i < j->n_keys; i++)
		if (read_key(keys, j->keys[i], place, e))
			return l;
	if (!check_keys(r->machine, keys, e) && !load_check_keys(keys, e))
		ops->init(l, e);
	return l;
}

/* The keys of the workload; others are the run's. */
static int take_keys(
	const struct machine_run *r, struct machine_job *j, struct err *e)
{
	for (size_t i = 0; i < r->setup.n_keys; i++) {
		if (coarse_is_key(r->setup.keys[i]))
			continue;
		if (j->n_keys == LOAD_MOST_KEYS)
			return err_set(e, "more than %d keys", LOAD_MOST_KEYS);
		j->keys[j->n_keys++] = r->setup.keys[i];
	}
	return 0;
}

static int read_load(struct machine_run *r, struct err *e)
{
	struct machine_job only = { .workload = r->setup.workload };

	if (!r->setup.load && !r->setup.jobs)
		r->setup.load = find_program(r);
	only.seed = r->setup.seed;
	if (!r->setup.arguments && take_keys(r, &only, e))
		return -1;
	if (r->setup.jobs)
		r->load = machine_jobs(r, e);
	else
		r->load = machine_job_load(r, &only, &r->keys, e);
	if (r->load) {
		r->load->until = r->setup.until;
		r->load->on_progress = r->setup.on_progress;
		r->load->progress_arg = r->setup.progress_arg;
	}
	return e->code ? -1 : 0;
}

/* Who loses a packet must be able to do without it, or to send it again. */
static int check_loss(
	const struct machine_run *r, const struct load *l, struct err *e)
{
	const struct net_client_ops *client = l->ops->client;

	if (client && client->on_lost)
		return 0;
	if (!client)
		return machine_check_faults(r->machine, e);
	return err_set(e,
		"faults: packets would be lost, and nothing retransmits those "
		"of %s, which enter the network directly; only bit errors are "
		"possible, with link.retry: replay",
		l->ops->name);
}

static int check_faults(const struct machine_run *r, struct err *e)
{
	const struct jobs *j = jobs_of(r->load);

	if (machine_loses_nothing(r->machine))
		return 0;
	for (uint32_t i = 0; j && i < j->n; i++)
		if (check_loss(r, j->part[i].load, e))
			return -1;
	return j ? 0 : check_loss(r, r->load, e);
}

/* The messages of a node that dies are waited for without end. */
static int check_deaths(const struct load *l, struct err *e)
{
	const struct faults *f = l->net->faults;

	for (size_t i = 0; l->needs.all_live && f && i < f->n_deaths; i++)
		if (f->death[i].site < l->net->n_nodes)
			return err_set(e,
				"faults: node %u dies, and programs that use "
				"messages would wait for it forever (want "
				"via=nic for %s)",
				f->death[i].site, l->ops->name);
	return 0;
}

/* What processes of several computers cannot do. */
static int check_processes(const struct machine_run *r, struct err *e)
{
	const struct load *l = r->load;
	const struct cluster *c = r->setup.cluster;
	const char *what = l->ops->one_host ? l->ops->one_host(l) : NULL;

	if (!c || c->n_here == c->n || !what)
		return 0;
	return err_set(e,
		"%s cannot be run by processes of several computers (want all "
		"%u on one)",
		what, c->n);
}

static int build(struct machine_run *r, struct err *e)
{
	struct load *l = r->load;
	struct system_setup s = {
		.seed = r->setup.seed,
		.threads = r->setup.threads,
		.stop = r->setup.stop,
		.book = r->setup.book,
		.client = l->ops->client,
		.client_state = l,
		.needs = l->needs,
		.files = r->setup.files,
		.held = r->setup.held,
		.cluster = r->setup.cluster,
		.trial = r->setup.trial,
		.given = { r->setup.routes, r->setup.n_routes },
		.on_delivered = l->ops->on_delivered,
		.arg = l,
	};

	if (r->setup.slice.is_counted) {
		r->slice = slice_new(l, r->machine->topo->n_routers);
		s.on_delivered = slice_note;
		s.arg = r->slice;
	}
	if (l->ops->estimate)
		s.bytes = l->ops->estimate(l);
	r->system = system_new(r->machine, &s, e);
	if (!r->system)
		return -1;
	l->net = r->system->net;
	l->host = r->system->host;
	l->nic = r->system->nic;
	r->threads = sim_n_workers(l->net->sim);
	return check_deaths(l, e);
}

static int read_prices(struct machine_run *r, struct err *e)
{
	const struct machine_run_setup *s = &r->setup;
	const struct part_place at = machine_place(r->machine, 0);
	const struct topo *t = r->machine->topo;

	if (s->energy)
		r->energy = energy_new(s->energy, t, e);
	if (s->bill && !e->code)
		r->bill = priced_new(s->bill, t, &at, 1 << PRICE_MONEY, e);
	return e->code ? -1 : 0;
}

static void drop_load(struct machine_run *r)
{
	if (!r->load)
		return;
	/* what was never started has no state to free */
	if (!r->is_performed)
		r->load->net = NULL;
	if (r->load->ops->fini)
		r->load->ops->fini(r->load);
	mem_free(r->load->digest);
	mem_free(r->keys.origins);
	mem_free(r->load);
	r->load = NULL;
	r->keys.origins = NULL;
}

/* The workload, and trains, whose length may depend on it.  One that cuts its
 * messages by them is read again. */
static int read_coarse(struct machine_run *r, struct err *e)
{
	const struct machine_run_setup *s = &r->setup;
	size_t n = s->arguments ? 0 : s->n_keys;
	int64_t packets;

	if (coarse_read(s->keys, n, &r->coarse, e))
		return -1;
	packets = s->coarse ? s->coarse : r->coarse;
	if ((packets > 0 && coarse_set(r->machine, packets, e)) ||
		read_load(r, e))
		return -1;
	if (packets != COARSE_AUTO)
		return 0;
	if (coarse_choose(r->machine, r->load, &packets, e) ||
		coarse_set(r->machine, packets, e))
		return -1;
	if (!r->load->ops->client && !r->load->ops->cuts)
		return 0;
	drop_load(r);
	return read_load(r, e);
}

/* Everything that is read before something is built. */
static int read_all(struct machine_run *r, struct err *e)
{
	const struct machine_run_setup *s = &r->setup;

	r->machine = s->loaded ? s->loaded : machine_load_from(&s->machine, e);
	r->setup.loaded = NULL;
	if (!r->machine ||
		(s->faults && machine_read_faults(r->machine, s->faults, e)) ||
		read_coarse(r, e) || check_faults(r, e) ||
		check_processes(r, e))
		return -1;
	return read_prices(r, e);
}

/* Processes that share a run fail together. */
static int share_error(const struct machine_run *r, struct err *e)
{
	if (r->setup.cluster)
		return cluster_share_signed(r->setup.cluster, e);
	return e->code ? -1 : 0;
}

int machine_run_open(
	struct machine_run *r, const struct machine_run_setup *s, struct err *e)
{
	double since = machine_clock();

	memset(r, 0, sizeof(*r));
	r->setup = *s;
	read_all(r, e);
	if (share_error(r, e) || (s->check && s->check(r, e)))
		return -1;
	if (build(r, e))
		machine_explain(r->machine, e);
	r->setup_s = machine_clock() - since;
	return share_error(r, e);
}

static void note_result(struct machine_run *r)
{
	const struct sim *sim = r->load->net->sim;
	uint64_t cpu_ns;

	sim_sum(sim, r->load->digest, r->load->net->n_nodes);
	r->digest = digest_fold(r->load->digest, r->load->net->n_nodes);
	r->hops = r->result.counted.hops;
	r->delivered_hops = r->hops - r->result.counted.hops_inside;
	r->packets = net_total(r->system->net).delivered;
	r->events = sim_n_events(sim);
	r->memory = system_memory(r->system);
	cpu_ns = (uint64_t)(r->cpu_s * 1e9);
	sim_sum(sim, &r->memory, 1);
	sim_sum(sim, &cpu_ns, 1);
	if (sim_is_shared(sim))
		r->cpu_s = (double)cpu_ns / 1e9;
	if (r->energy)
		energy_measure(r->energy, r->system->net, r->result.end);
}

int machine_run_go(struct machine_run *r, sim_time pause, struct err *e)
{
	int code;

	if (!r->is_performed) {
		r->is_performed = true;
		r->wall_s = machine_clock();
		r->cpu_s = cpu_clock();
		load_begin(&r->course, r->load, &r->result);
	}
	code = load_go(&r->course, pause, e);
	if (code <= 0)
		return code;
	r->checks_s = machine_clock();
	r->wall_s = r->checks_s - r->wall_s;
	r->cpu_s = cpu_clock() - r->cpu_s;
	if (load_end(&r->course, e))
		return -1;
	if (r->result.ending == LOAD_FINISHED)
		parts_audit(&r->system->parts, e);
	if (sim_share_error(r->load->net->sim, e))
		return -1;
	note_result(r);
	r->checks_s = machine_clock() - r->checks_s;
	return 1;
}

int machine_run_perform(struct machine_run *r, struct err *e)
{
	if (r->slice)
		return slice_perform(r, e);
	return machine_run_go(r, SIM_NEVER, e) < 0 ? -1 : 0;
}

void machine_run_close(struct machine_run *r)
{
	drop_load(r);
	system_free(r->system);
	slice_free(r->slice);
	energy_free(r->energy);
	priced_free(r->bill);
	machine_free(r->machine);
}

double machine_throughput(const struct load_result *l, uint32_t n_nodes)
{
	if (!l->has_throughput || !l->measured)
		return 0;
	return (double)l->bytes * 1e3 / (double)l->measured / n_nodes;
}
