#include "load/jobs.h"

#include <string.h>

#include "base/mem.h"

/* --- the course of a run --- */

static struct jobs *of(struct load *l)
{
	return (struct jobs *)l;
}

/* The part gets what the whole has. */
static void lend(struct jobs *j, struct jobs_part *p)
{
	p->load->net = j->load.net;
	p->load->host = j->load.host;
	p->load->nic = j->load.nic;
	p->load->digest = j->load.digest;
}

/* Who sends packets directly takes its nodes from the interfaces. */
static void attach(struct jobs *j)
{
	for (uint32_t i = 0; i < j->n; i++) {
		const struct jobs_part *p = &j->part[i];

		if (p->load->ops->client)
			net_attach_some(j->load.net, p->place.node, p->place.n,
				p->load->ops->client, p->load);
	}
}

static void set_world(struct jobs *j, const struct jobs_part *p,
	const struct host_world *world)
{
	for (uint32_t k = 0; k < p->place.n; k++)
		j->worlds[p->place.node[k]] = world;
}

static void jobs_start(struct load *l)
{
	struct jobs *j = of(l);

	attach(j);
	j->worlds = mem_alloc(l->net->n_nodes, sizeof(*j->worlds));
	for (uint32_t i = 0; i < j->n; i++)
		set_world(j, &j->part[i], &j->part[i].place);
	if (l->host)
		host_set_worlds(l->host, j->worlds);
	for (uint32_t i = 0; i < j->n; i++) {
		lend(j, &j->part[i]);
		j->part[i].load->ops->start(j->part[i].load);
		if (j->part[i].load->world)
			set_world(j, &j->part[i], j->part[i].load->world);
	}
}

static bool has_failed(const struct jobs *j)
{
	for (uint32_t i = 0; i < j->n; i++)
		if (j->part[i].load->is_stalled ||
			j->part[i].load->has_given_up)
			return true;
	return false;
}

/* Interfaces that do not settle in so many times router.stall never will. */
enum { PATIENCE = 100 };

/* All parts are over: until when interfaces may finish what is left to do. */
static sim_time settle(struct jobs *j)
{
	const struct net *n = j->load.net;
	sim_time now = sim_now(n->sim);
	struct err e = { 0 };
	uint64_t is_left;

	j->over_at = j->over_at ? j->over_at : now;
	if (!j->load.nic || j->load.is_idle || has_failed(j) ||
		now - j->over_at >= PATIENCE * n->params.stall)
		return SIM_NEVER;
	is_left = nic_audit(j->load.nic, &e) != 0;
	sim_max(n->sim, &is_left, 1);
	return is_left ? sim_slice(n->sim, n->params.stall) : SIM_NEVER;
}

static sim_time jobs_next(struct load *l)
{
	struct jobs *j = of(l);
	sim_time now = sim_now(l->net->sim), until = SIM_NEVER;

	load_tell(l, 0);
	for (uint32_t i = 0; i < j->n; i++) {
		struct jobs_part *p = &j->part[i];

		p->load->is_idle = l->is_idle;
		if (p->until <= now || l->is_idle)
			p->until = p->load->ops->next(p->load);
		if (p->until < until)
			until = p->until;
	}
	return until == SIM_NEVER ? settle(j) : until;
}

static void jobs_delivered(
	void *arg, site_id s, const struct packet *p, sim_time t)
{
	struct jobs *j = arg;

	for (uint32_t i = 0; i < j->n; i++) {
		struct load *l = j->part[i].load;

		if (load_rank(l, s) != UINT32_MAX && l->ops->on_delivered)
			l->ops->on_delivered(l, s, p, t);
	}
}

static void add_waiters(
	struct load_waiters *to, const struct load_waiters *from)
{
	for (uint32_t i = 0; i < from->n_listed; i++)
		if (to->n_listed < LOAD_MAX_WAITING)
			to->first[to->n_listed++] = from->first[i];
	to->n += from->n;
}

static void jobs_report(struct load *l, struct load_result *r)
{
	struct jobs *j = of(l);

	r->via = "jobs";
	r->nic = l->nic;
	for (uint32_t i = 0; i < j->n; i++) {
		struct jobs_part *p = &j->part[i];

		p->result->ending = r->ending;
		p->result->via = "net";
		p->result->end = r->end;
		p->load->ops->report(p->load, p->result);
		hist_merge(&r->latency, &p->result->latency);
		r->dead_programs = p->result->dead_programs
					   ? p->result->dead_programs
					   : r->dead_programs;
		if (p->result->waiters.n)
			p->result->ending = LOAD_STALLED;
		add_waiters(&r->waiters, &p->result->waiters);
	}
}

static int jobs_check(struct load *l, struct err *e)
{
	struct jobs *j = of(l);

	for (uint32_t i = 0; i < j->n; i++) {
		struct load *p = j->part[i].load;
		struct err own = { 0 };

		if (!p->ops->check || !p->ops->check(p, &own))
			continue;
		if (own.code == EXIT_ANSWER_NO)
			j->part[i].result->ending = LOAD_FAILED;
		return err_set_code(e, own.code, "job %s: %.400s",
			j->part[i].name, own.text);
	}
	/* which no job can say on its own: others might still be at it */
	if (l->nic)
		nic_audit(l->nic, e);
	return sim_share_error(l->net->sim, e);
}

static const char *jobs_one_host(const struct load *l)
{
	const struct jobs *j = jobs_of(l);
	const char *what = NULL;

	for (uint32_t i = 0; i < j->n && !what; i++) {
		const struct load *p = j->part[i].load;

		what = p->ops->one_host ? p->ops->one_host(p) : NULL;
	}
	return what;
}

static void jobs_tell_waiting(const struct load *l)
{
	const struct jobs *j = jobs_of(l);

	for (uint32_t i = 0; i < j->n; i++)
		load_tell_waiting(j->part[i].load);
}

static uint64_t jobs_estimate(const struct load *l)
{
	const struct jobs *j = jobs_of(l);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < j->n; i++)
		if (j->part[i].load->ops->estimate)
			bytes +=
				j->part[i].load->ops->estimate(j->part[i].load);
	return bytes;
}

static uint64_t jobs_message(const struct load *l)
{
	const struct jobs *j = jobs_of(l);
	uint64_t most = 0, bytes;

	for (uint32_t i = 0; i < j->n; i++) {
		const struct load *p = j->part[i].load;

		bytes = p->ops->message ? p->ops->message(p) : 0;
		most = bytes > most ? bytes : most;
	}
	return most;
}

static void free_parts(struct jobs_part *part, uint32_t n, bool has_run)
{
	for (uint32_t i = 0; i < n; i++) {
		struct jobs_part *p = &part[i];

		if (p->load) {
			if (!has_run)
				p->load->net = NULL;
			if (p->load->ops->fini)
				p->load->ops->fini(p->load);
		}
		mem_free(p->load);
		for (size_t k = 0; p->command && p->command[k]; k++)
			mem_free(p->command[k]);
		mem_free(p->command);
		mem_free(p->keys.origins);
		mem_free(p->place.node);
		mem_free(p->place.place);
		mem_free(p->result);
	}
	mem_free(part);
}

static void jobs_fini(struct load *l)
{
	struct jobs *j = of(l);

	free_parts(j->part, j->n, l->net != NULL);
	mem_free(j->worlds);
}

#define JOBS_OPS                                                               \
	.name = "jobs", .help = "several workloads at once",                   \
	.size = sizeof(struct jobs), .on_delivered = jobs_delivered,           \
	.start = jobs_start, .next = jobs_next, .report = jobs_report,         \
	.check = jobs_check, .fini = jobs_fini, .estimate = jobs_estimate,     \
	.one_host = jobs_one_host, .tell_waiting = jobs_tell_waiting,          \
	.message = jobs_message

static const struct load_ops packets_ops = { JOBS_OPS,
	.client = &load_idle_client };
static const struct load_ops programs_ops = { JOBS_OPS };

const struct jobs *jobs_of(const struct load *l)
{
	return l->ops == &packets_ops || l->ops == &programs_ops
		       ? (const struct jobs *)l
		       : NULL;
}

bool load_prints(const struct load *l)
{
	const struct jobs *j = jobs_of(l);

	for (uint32_t i = 0; j && i < j->n; i++)
		if (j->part[i].load->ops->prints)
			return true;
	return l->ops->prints;
}

/* Hosts are alike: what one part needs, all nodes have. */
static int add_needs(
	struct load_needs *all, const struct jobs_part *p, struct err *e)
{
	const struct load_needs *n = &p->load->needs;

	if (p->load->ops->client)
		return 0;
	if (all->n_processes && all->n_processes != n->n_processes)
		return err_set(e,
			"job %s: has %u processes per node, but a job before "
			"it has %u (want the same)",
			p->name, n->n_processes, all->n_processes);
	all->n_processes = n->n_processes;
	all->n_programs += n->n_programs;
	all->all_live |= n->all_live;
	if (n->n_spawned > all->n_spawned)
		all->n_spawned = n->n_spawned;
	if (n->stack_bytes > all->stack_bytes)
		all->stack_bytes = n->stack_bytes;
	return 0;
}

struct load *jobs_new(struct jobs_part *part, uint32_t n, struct err *e)
{
	struct jobs *j;

	for (uint32_t i = 0; i < n && !e->code; i++) {
		struct load *l = part[i].load;

		if (l && !l->ops->can_share)
			err_set(e,
				"job %s: %s cannot share a machine; want "
				"synthetic traffic, or programs with via=msg",
				part[i].name, l->ops->name);
	}
	if (e->code) {
		free_parts(part, n, false);
		return NULL;
	}
	j = mem_alloc(1, sizeof(*j));
	j->part = part;
	j->n = n;
	j->load.ops = &packets_ops;
	for (uint32_t i = 0; i < n; i++) {
		if (!part[i].load->ops->client)
			j->load.ops = &programs_ops;
		part[i].load->place = &part[i].place;
		part[i].result = mem_alloc(1, sizeof(*part[i].result));
		add_needs(&j->load.needs, &part[i], e);
	}
	return &j->load;
}
