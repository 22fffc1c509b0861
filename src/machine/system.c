#define _GNU_SOURCE
#include "machine/system.h"

#include <unistd.h>

#include "api/api.h"
#include "base/mem.h"
#include "sim/barrier.h"
#include "sim/cluster.h"

enum { NODES_PER_THREAD = 256 };

/* Processes of a computer share its processors, unless each was given some. */
static uint32_t count_cpus(const struct cluster *c)
{
	uint32_t cpus = barrier_cpus();

	return c && cpus == (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)
		       ? cpus / c->n_here
		       : cpus;
}

static uint32_t pick_threads(
	const struct machine *m, const struct cluster *c, uint32_t wanted)
{
	uint32_t nodes = m->topo->n_nodes / (c ? c->n : 1);
	uint32_t most = nodes / NODES_PER_THREAD;
	uint32_t cpus = count_cpus(c);

	if (wanted)
		return wanted;
	if (cpus > SIM_MAX_WORKERS)
		cpus = SIM_MAX_WORKERS;
	if (most > cpus)
		most = cpus;
	return most < 1 ? 1 : most;
}

static struct net_setup net_of(
	const struct machine *m, const struct system_setup *s)
{
	return (struct net_setup){
		.topo = m->topo,
		.route = m->route,
		.link = &m->link,
		.router = &m->running,
		.client = s->client,
		.client_state = s->client_state,
		.n_workers = pick_threads(m, s->cluster, s->threads),
		.seed = s->seed,
		.stop = s->stop,
		.book = s->book,
		.cluster = s->cluster,
		.trial = s->trial,
		.faults = fault_plan_is_empty(&m->faults) ? NULL : &m->faults,
	};
}

int system_check(const struct machine *m, struct err *e)
{
	struct system_setup s = { .threads = 1 };
	struct net_setup n = net_of(m, &s);

	return net_check(&n, e);
}

static int build_net(struct system *x, const struct machine *m,
	const struct system_setup *s, struct err *e)
{
	struct net_setup n = net_of(m, s);
	uint64_t need = x->need = net_estimate(&n) + s->bytes;
	uint64_t have = mem_available();

	have -= have < s->held ? have : s->held;
	if (s->cluster) /* those of this computer have their shares */
		need = x->need = need / s->cluster->n * s->cluster->n_here;
	if (need > have)
		return err_set_code(e, EXIT_LIMIT,
			"%u nodes need about %.1f GiB of memory, but only %.1f "
			"GiB is free",
			m->topo->n_nodes, (double)need / (1 << 30),
			(double)have / (1 << 30));
	x->net = x->place.net = net_new(&n, e);
	if (!x->net)
		return -1;
	/* links are what the machine's interfaces make them, whoever sends */
	if (s->client)
		x->net->gives_up = m->nic && m->nic->client->on_lost;
	parts_wired(&x->place);
	return 0;
}

/* The network's plan says when nodes die: so do their programs. */
static void set_deaths(struct host *h, const struct net *n)
{
	const struct faults *f = n->faults;

	for (size_t i = 0; f && i < f->n_deaths; i++)
		if (f->death[i].site < n->n_nodes)
			host_set_death(h, f->death[i].site, f->death[i].at);
}

/* What IO nodes run. */
static void set_daemons(struct part_place *at, const struct machine *m,
	const struct system_setup *s)
{
	const struct api *api = m->nic ? api_to(m->nic) : NULL;

	if (!api || !m->topo->n_io || !s->needs.has_files)
		return;
	at->n_serving = api->n_io;
	at->serve = api->serve;
	at->shared = s->files;
}

static int build_nodes(struct system *x, const struct machine *m,
	const struct system_setup *s, struct err *e)
{
	struct host_setup h = {
		.sim = x->net->sim,
		.n_nodes = x->net->n_nodes + x->net->topo->n_io,
		.params = &m->host,
		.n_programs = s->needs.n_programs +
			      m->topo->n_io * x->place.n_serving,
		.n_spawned = s->needs.n_spawned,
		.stack_bytes = s->needs.stack_bytes,
		.side = m->side,
		.side_params = m->side_params,
		.n_sides = m->topo->cards,
		.parts = &x->parts,
		.n_processes = s->needs.n_processes,
		.arguments = s->needs.arguments,
	};
	struct nic_setup n = {
		.ops = m->nic,
		.params = m->nic_params,
		.net = x->net,
		.on_delivered = s->on_delivered,
		.arg = s->arg,
		.plan = &m->faults,
	};

	if (!m->nic)
		return err_set(e, "programs need a network interface, but "
				  "nic.kind is none on this machine");
	x->host = n.host = host_new(&h, e);
	if (!x->host)
		return -1;
	set_deaths(x->host, x->net);
	x->place.host = x->host;
	if (parts_open(&x->parts, &x->place, e))
		return -1;
	x->nic = nic_new(&n, e);
	if (!x->nic)
		return -1;
	parts_start(&x->place);
	return 0;
}

struct system *system_new(
	const struct machine *m, const struct system_setup *s, struct err *e)
{
	struct system *x = mem_alloc(1, sizeof(*x));

	x->parts = m->parts;
	x->place = machine_place(m, s->seed);
	x->place.parts = &x->parts;
	x->place.given = s->given;
	m->route->seed = s->seed;
	set_daemons(&x->place, m, s);
	if (build_net(x, m, s, e) || (!s->client && build_nodes(x, m, s, e))) {
		system_free(x);
		return NULL;
	}
	return x;
}

void system_free(struct system *s)
{
	if (!s)
		return;
	nic_free(s->nic);
	host_free(s->host);
	net_free(s->net);
	parts_close(&s->parts);
	mem_free(s);
}

uint64_t system_memory(const struct system *s)
{
	uint64_t n = net_memory(s->net);

	if (s->nic)
		n += nic_memory(s->nic) + host_held(s->host) +
		     parts_memory(&s->parts);
	return n;
}
