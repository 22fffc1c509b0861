#include "cli/show_jobs.h"

#include <string.h>

#include "cli/run_partitions.h"

static const char *const surfaces[] = {
	[SURFACE_RESET] = "reset",
	[SURFACE_LOOP] = "loop",
	[SURFACE_NEXT] = "next",
};

struct units {
	const struct machine_partitions *list;
	const struct topo_partition *cut; /* of any, for what all have */
	uint32_t n_dims, grid[TOPO_MAX_DIMS];
};

/* The first partition from some on that has a part of a unit; or NULL. */
static const struct machine_partition *owner(const struct units *u,
	const uint32_t *at, const struct machine_partition *p)
{
	uint32_t i;

	for (; p < u->list->v + u->list->n; p++) {
		for (i = 0; i < u->n_dims; i++) {
			uint32_t k = u->cut->length[i], x = at[i] / k;

			if (p->from[i] / k > x ||
				(p->from[i] + p->size[i] - 1) / k < x)
				break;
		}
		if (i == u->n_dims)
			return p;
	}
	return NULL;
}

/* Where the next unit begins; false where there is none. */
static bool next_unit(const struct units *u, uint32_t *at)
{
	for (uint32_t i = u->n_dims; i-- > 0;) {
		at[i] += u->cut->length[i];
		if (at[i] < u->grid[i])
			return true;
		at[i] = 0;
	}
	return false;
}

static void name_unit(
	const struct units *u, const uint32_t *at, char *text, size_t size)
{
	size_t n = 0;

	for (uint32_t i = 0; i < u->n_dims && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%u", i ? "," : "",
			at[i] / u->cut->length[i]);
}

/* All jobs that have a part of it. */
static void name_jobs(
	const struct units *u, const uint32_t *at, char *text, size_t size)
{
	const struct machine_partition *p = owner(u, at, u->list->v);
	size_t n = 0;

	if (!p)
		snprintf(text, size, "-");
	for (; p && n < size; p = owner(u, at, p + 1))
		n += (size_t)snprintf(
			text + n, size - n, "%s%s", n ? " " : "", p->job.name);
}

static const char *surface(
	const struct units *u, const uint32_t *at, uint32_t dim, bool is_up)
{
	const struct machine_partition *p = owner(u, at, u->list->v);

	return surfaces[p ? machine_partition_surface(p, at, dim, is_up)
			  : SURFACE_RESET];
}

/* The jobs that an IO node has exits in, where these are several. */
static bool name_sharers(const struct units *u, const struct machine *m,
	uint32_t io, char *text, size_t size)
{
	uint32_t member[PARTITIONS_OF_IO];
	uint32_t of = machine_partitions_of_io(u->list, m->topo, io, member);
	size_t n = 0;

	for (uint32_t k = 0; k < of && n < size; k++)
		n += (size_t)snprintf(text + n, size - n, "%s%s", k ? " " : "",
			u->list->v[member[k]].job.name);
	return of > 1;
}

/* --- telling --- */

/* Whether links that leave a unit by a port have a surface. */
static bool leaves(const struct units *u, uint32_t port)
{
	return u->cut->leaving >> port / 2 & 1;
}

static void add_unit(struct facts *f, const struct units *u,
	const struct machine *m, const uint32_t *at)
{
	char text[128];

	facts_group(f, NULL);
	name_unit(u, at, text, sizeof(text));
	facts_text(f, "at", text);
	name_jobs(u, at, text, sizeof(text));
	facts_text(f, "jobs", text);
	for (uint32_t i = 0; i < 2 * u->n_dims; i++) {
		if (!leaves(u, i))
			continue;
		/* downwards first */
		m->topo->ops->name_port(m->topo, 0, i ^ 1, text, sizeof(text));
		facts_text(f, text, surface(u, at, i / 2, i & 1));
	}
	facts_end(f);
}

static void add_units(
	struct facts *f, const struct units *u, const struct machine *m)
{
	char columns[256], name[16];
	uint32_t at[TOPO_MAX_DIMS] = { 0 }, i;
	size_t n;

	n = (size_t)snprintf(
		columns, sizeof(columns), "%s=at|job=jobs", u->cut->unit);
	for (i = 0; i < 2 * u->n_dims && n < sizeof(columns); i++) {
		if (!leaves(u, i))
			continue;
		m->topo->ops->name_port(m->topo, 0, i ^ 1, name, sizeof(name));
		n += (size_t)snprintf(
			columns + n, sizeof(columns) - n, "|%s", name);
	}
	facts_list(f, "units");
	do
		add_unit(f, u, m, at);
	while (next_unit(u, at));
	facts_end(f);
	facts_table(f, "units", columns, 0);
}

static void add_all(
	struct facts *f, const struct units *u, const struct machine *m)
{
	char text[256];

	facts_text(f, "weft", WEFT_VERSION);
	facts_text(f, "machine", m->header.name);
	facts_list(f, "jobs");
	for (uint32_t i = 0; i < u->list->n; i++) {
		facts_group(f, NULL);
		partitions_facts(f, &u->list->v[i]);
		facts_end(f);
	}
	facts_end(f);
	facts_table(f, "jobs", "job=name|partition=_where|torus|workload", 0);
	facts_line(f, NULL, "");
	add_units(f, u, m);
	facts_list(f, "shared_io");
	for (uint32_t i = 0; i < m->topo->n_io; i++) {
		if (!name_sharers(u, m, i, text, sizeof(text)))
			continue;
		facts_group(f, NULL);
		facts_count(f, "io", i);
		facts_text(f, "jobs", text);
		facts_end(f);
	}
	facts_end(f);
	facts_each(f, "shared_io", 0, NULL, "IO node {io} is shared by {jobs}");
}

int show_jobs(const struct cli_args *a, const struct machine *m, FILE *f,
	struct err *e)
{
	struct machine_partitions list;
	struct units u = { .list = &list };
	struct facts all;
	int code = partitions_of(a, m, &list, e);

	if (!code && !list.n)
		code = err_set(e, "--jobs: the jobs of this file share the "
				  "machine; they have no partitions to show");
	if (!code) {
		u.cut = &list.v[0].cut;
		u.n_dims = m->topo->ops->grid(m->topo, u.grid);
		facts_init(&all);
		add_all(&all, &u, m);
		cli_write(a, &all, CLI_PLAIN, f);
		facts_fini(&all);
	}
	machine_partitions_free(&list);
	return code;
}
