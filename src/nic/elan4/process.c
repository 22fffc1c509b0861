/*
 * Processes (QSN-F3, QSN-F44).  A process of a node has a context: its queues
 * act for it, and packets for it access its memory.  It names other processes
 * of its job by ranks.  A table in card memory, 16 bytes an entry, leads from a
 * rank to a node, a context there and the routes to it; every packet's
 * destination is looked up in it, through the cache.
 *
 *	rank -> node = rank / processes of a node, or that place of the job
 *	        context = first + rank % processes of a node
 *	        routes: bits, of the numbers that the routing knows
 *
 * The driver writes a process's table when it opens the first queue.  Here an
 * entry is made when it is first looked at, so that tables of thousands of
 * ranks take no host memory.
 */
#include "nic/elan4/units.h"

#include <errno.h>

#include "base/mem.h"

_Static_assert(sizeof(struct elan_route) == 16, "four entries a line");

static void elan_processes_fini(struct elan_processes *x)
{
	mem_free(x->process);
}

static uint64_t elan_processes_memory(const struct elan_processes *x)
{
	return x->n * sizeof(*x->process);
}

NIC_MEMBER_OPS(elan_processes, NULL);

/* --- the driver --- */

/* Its place, or n. */
static uint32_t find(const struct elan_processes *x, uint32_t context)
{
	uint32_t i = 0;

	while (i < x->n && x->process[i].context != context)
		i++;
	return i;
}

int elan_process_open(struct nic *nic, site_id s, uint32_t context,
	const struct elan_job *job)
{
	struct elan_node *n = nic_node(nic, s);
	struct elan_processes *x = &n->processes;
	uint32_t places = job->world ? job->world->n : nic->n_nodes;
	struct elan_process p = {
		.context = context,
		.n = places * job->each,
		.rank = (job->world ? job->world->place[s] : s) * job->each +
			context - job->first,
		.job = *job,
	};

	if (context >= ELAN_CONTEXTS || !job->each ||
		job->first + job->each > ELAN_CONTEXTS)
		return EINVAL;
	if (find(x, context) < x->n)
		return 0;
	p.at = elan_sdram_take(
		&n->sdram, p.n * sizeof(struct elan_route), ELAN_GRAIN);
	if (!p.at)
		return ENOMEM;
	x->process = mem_grow(x->process, x->n + 1, sizeof(*x->process));
	x->process[x->n++] = p;
	return 0;
}

int elan_process_find(
	struct nic *nic, site_id s, uint32_t context, uint32_t *process)
{
	const struct elan_node *n = nic_node(nic, s);
	const struct elan_job alone = { .first = context, .each = 1 };
	int code = elan_process_open(nic, s, context, &alone);

	if (!code)
		*process = find(&n->processes, context);
	return code;
}

/* In card memory; a page of it stays where it is. */
static struct elan_route *entry_of(
	struct elan_node *n, struct elan_process *p, uint32_t rank)
{
	uint64_t at = p->at + rank * sizeof(struct elan_route);
	uint32_t before = (uint32_t)(at % MEMORY_PAGE / sizeof(*p->entry));

	if (__builtin_expect(!p->entry || p->first + before != rank, 0)) {
		p->first = rank - before;
		p->entry = (void *)elan_sdram_place(
			&n->sdram, at - at % MEMORY_PAGE);
	}
	return p->entry + before;
}

static bool is_sensible(const struct nic *nic, const struct elan_route *r)
{
	return r->state == ELAN_ROUTE_NONE ||
	       (r->state == ELAN_ROUTE_VALID && r->node < nic->n_nodes &&
		       r->context < ELAN_CONTEXTS && r->routes);
}

int elan_route_set(struct nic *nic, site_id s, uint32_t context, uint32_t rank,
	const struct elan_route *to)
{
	struct elan_node *n = nic_node(nic, s);
	uint32_t i = find(&n->processes, context);

	if (i == n->processes.n || rank >= n->processes.process[i].n ||
		!is_sensible(nic, to))
		return EINVAL;
	*entry_of(n, &n->processes.process[i], rank) = *to;
	return 0;
}

/* --- looking up --- */

static struct elan_process *process_of(
	const struct nic_at *a, const struct elan_queue *q)
{
	return &elan_here(a)->processes.process[q->process];
}

static struct elan_route make(const struct elan_job *job, uint32_t rank)
{
	uint32_t place = rank / job->each;

	return (struct elan_route){
		.node = job->world ? job->world->node[place] : place,
		.context = (uint16_t)(job->first + rank % job->each),
		.state = ELAN_ROUTE_VALID,
		.routes = UINT64_MAX,
	};
}

static struct elan_route read_entry(
	const struct nic_at *a, struct elan_process *p, uint32_t rank)
{
	struct elan_route *r = entry_of(elan_here(a), p, rank);

	if (__builtin_expect(r->state == ELAN_ROUTE_NEW, 0))
		*r = make(&p->job, rank);
	return *r;
}

static enum elan_error look(const struct nic_at *a, struct elan_process *p,
	uint64_t rank, struct elan_route *r)
{
	if (rank >= p->n)
		return ELAN_ERROR_COMMAND;
	if (!elan_sdram_is_sound(a, p->at + rank * sizeof(*r), sizeof(*r)))
		return ELAN_ERROR_MEMORY;
	*r = read_entry(a, p, (uint32_t)rank);
	return r->state == ELAN_ROUTE_VALID ? ELAN_FINE : ELAN_ERROR_COMMAND;
}

uint32_t elan_rank_of(const struct nic_at *a, const struct elan_queue *q)
{
	return process_of(a, q)->rank;
}

enum elan_error elan_route_check(
	const struct nic_at *a, const struct elan_queue *q, uint64_t rank)
{
	struct elan_route r;

	return look(a, process_of(a, q), rank, &r);
}

enum elan_error elan_route_find(const struct nic_at *a, enum elan_unit by,
	const struct elan_queue *q, uint64_t rank, struct elan_route *r,
	sim_time *t)
{
	struct elan_process *p = process_of(a, q);
	enum elan_error wrong = look(a, p, rank, r);
	sim_time ready;

	if (wrong)
		return wrong;
	ready = elan_cache_read(
		a, by, p->at + rank * sizeof(*r), sizeof(*r), a->t);
	*t = ready > *t ? ready : *t;
	return ELAN_FINE;
}

bool elan_range_is_own(const struct nic_at *a, const struct elan_queue *q,
	uint64_t first, uint64_t last)
{
	const struct elan_job *job = &process_of(a, q)->job;
	uint64_t i = first / job->each;

	for (; job->world && i < last / job->each; i++)
		if (job->world->node[i + 1] != job->world->node[i] + 1)
			return false;
	return true;
}

uint32_t elan_route_pick_of(uint64_t routes, uint32_t number)
{
	number %= (uint32_t)__builtin_popcountll(routes);
	for (; number; number--)
		routes &= routes - 1;
	return (uint32_t)__builtin_ctzll(routes);
}
