#include "machine/partitions.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "machine/jobs_read.h"

static bool has_node(
	const struct machine_partition *p, const struct topo *t, site_id s)
{
	return jobs_is_inside(t, s, p->from, p->size, p->n_dims);
}

/* No router is in two of them. */
static int take_all(struct jobs_reader *r, const struct machine_partition *p)
{
	for (site_id s = 0; s < r->topo->n_nodes; s++)
		if (has_node(p, r->topo, s) &&
			jobs_take(r, r->value[JOBS_K_PARTITION], s))
			return -1;
	return 0;
}

static int cut(struct jobs_reader *r, struct machine_partition *p)
{
	size_t where = r->value[JOBS_K_PARTITION];
	struct err e = { 0 };

	if (!r->topo->ops->partition)
		return JOBS_FAIL(r, where,
			"this machine cannot be divided into partitions (want "
			"nodes or box, for jobs that share it)");
	if (jobs_read_box(r, JOBS_K_PARTITION, p->from, p->size, &p->n_dims))
		return -1;
	if (r->topo->ops->partition(r->topo, p->from, p->size, &p->cut, &e))
		return JOBS_FAIL(r, where, "%.200s", e.text);
	return take_all(r, p);
}

static int read_one(struct jobs_reader *r, size_t job)
{
	struct machine_partitions *list = r->arg;
	struct machine_partition *p;
	enum jobs_key k;

	if (!r->value[JOBS_K_PARTITION] && r->n == 1)
		return -1; /* jobs that share a network, which is no error */
	if (!r->value[JOBS_K_PARTITION])
		return JOBS_FAIL(r, job,
			"has no partition, but other jobs have: give all jobs "
			"one, or none");
	for (k = JOBS_K_NODES; k <= JOBS_K_PLACEMENT; k++)
		if (k != JOBS_K_PARTITION && r->value[k])
			return JOBS_FAIL(r, r->value[k],
				"a job with a partition uses all its nodes "
				"(want no nodes, box, count or placement)");
	if (r->value[JOBS_K_COMMAND])
		return JOBS_FAIL(r, r->value[JOBS_K_COMMAND],
			"a job with a partition cannot run a program of this "
			"host (want `weft mpirun` with the partition's shape)");
	if (!list->v)
		list->v = mem_alloc(r->most, sizeof(*list->v));
	p = &list->v[list->n++];
	p->job = r->job;
	p->faults = jobs_text(r, JOBS_K_FAULTS);
	return cut(r, p) || jobs_read_routes(r, p) ? -1 : 0;
}

int machine_partitions_read(struct machine_partitions *p, const char *path,
	const struct topo *t, uint64_t seed, struct err *e)
{
	*p = (struct machine_partitions){ 0 };
	p->reader = jobs_read(path, t, seed, read_one, p, e);
	return e->code ? -1 : 0;
}

void machine_partitions_free(struct machine_partitions *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		mem_free(p->v[i].routes);
	mem_free(p->v);
	jobs_reader_free(p->reader);
}

/* --- IO nodes --- */

uint32_t machine_partitions_of_io(const struct machine_partitions *p,
	const struct topo *t, uint32_t io, uint32_t member[PARTITIONS_OF_IO])
{
	router_id exit;
	uint32_t n = 0, k;

	for (port_id port = t->node_ports; port < t->n_ports; port++) {
		exit = t->ops->peer(t, t->n_nodes + io, port).router;
		for (uint32_t i = 0; exit != NO_ROUTER && i < p->n; i++) {
			if (!has_node(&p->v[i], t, exit))
				continue;
			for (k = 0; k < n && member[k] != i; k++)
				;
			if (k == n && n < PARTITIONS_OF_IO)
				member[n++] = i;
		}
	}
	return n;
}

void machine_partition_name(
	const struct machine_partition *p, char *text, size_t size)
{
	size_t n = 0;

	for (uint32_t i = 0; i < p->n_dims && n < size; i++)
		n += (size_t)snprintf(
			text + n, size - n, "%s%u", i ? "x" : "", p->size[i]);
	for (uint32_t i = 0; i < p->n_dims && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%u",
			i ? "," : " at ", p->from[i]);
}

enum machine_surface machine_partition_surface(
	const struct machine_partition *p, const uint32_t *at, uint32_t dim,
	bool is_up)
{
	uint32_t unit = p->cut.length[dim], x = at[dim] / unit;
	uint32_t end = is_up ? (p->from[dim] + p->size[dim] - 1) / unit
			     : p->from[dim] / unit;
	bool is_ring = p->cut.rings >> dim & 1;

	if (!p->cut.is_whole)
		return SURFACE_RESET;
	if (is_ring)
		return p->size[dim] == unit ? SURFACE_LOOP : SURFACE_NEXT;
	return x == end ? SURFACE_RESET : SURFACE_NEXT;
}
