#include "cli/show_jobs.h"

#include <string.h>

#include "cli/run_partitions.h"
#include "out/table.h"

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
	uint32_t i;

	for (i = u->n_dims; i-- > 0;) {
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
	uint32_t i;

	for (i = 0; i < u->n_dims && n < size; i++)
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
			text + n, size - n, "%s%s", n ? " " : "", p->name);
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
	uint32_t member[FILES_MEMBERS], k;
	uint32_t of = machine_partitions_of_io(u->list, m->topo, io, member);
	size_t n = 0;

	for (k = 0; k < of && n < size; k++)
		n += (size_t)snprintf(text + n, size - n, "%s%s", k ? " " : "",
			u->list->v[member[k]].name);
	return of > 1;
}

/* --- text --- */

static void add_unit(const struct units *u, const uint32_t *at, struct table *t)
{
	char text[TABLE_MAX_COLUMNS][128];
	const char *cells[TABLE_MAX_COLUMNS];
	uint32_t i, n = 2;

	name_unit(u, at, text[0], sizeof(text[0]));
	name_jobs(u, at, text[1], sizeof(text[1]));
	for (i = 0; i < u->n_dims; i++) {
		if (!(u->cut->leaving >> i & 1))
			continue;
		snprintf(text[n++], sizeof(text[0]), "%s",
			surface(u, at, i, false));
		snprintf(text[n++], sizeof(text[0]), "%s",
			surface(u, at, i, true));
	}
	for (i = 0; i < n; i++)
		cells[i] = text[i];
	table_add(t, cells);
}

static void show_units(const struct units *u, const struct machine *m, FILE *f)
{
	struct table_column columns[TABLE_MAX_COLUMNS] = { { u->cut->unit, 0 },
		{ "job", 0 } };
	char head[TABLE_MAX_COLUMNS][16];
	uint32_t at[TOPO_MAX_DIMS] = { 0 }, i, n = 2;
	struct table t;

	for (i = 0; i < 2 * u->n_dims; i++) {
		if (!(u->cut->leaving >> i / 2 & 1))
			continue;
		/* downwards first */
		m->topo->ops->name_port(
			m->topo, 0, i ^ 1, head[n], sizeof(head[n]));
		columns[n].head = head[n];
		n++;
	}
	table_init(&t, columns, n);
	do
		add_unit(u, at, &t);
	while (next_unit(u, at));
	table_print(&t, f, 0, false);
	table_fini(&t);
}

static void show_partitions(const struct machine_partitions *list, FILE *f)
{
	static const struct table_column columns[] = { { "job", false },
		{ "partition", false }, { "torus", false },
		{ "workload", false } };
	char where[96];
	struct table t;
	uint32_t i;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (i = 0; i < list->n; i++) {
		const struct machine_partition *p = &list->v[i];
		const char *cells[] = { p->name, where, p->cut.joined,
			p->workload };

		machine_partition_name(p, where, sizeof(where));
		table_add(&t, cells);
	}
	table_print(&t, f, 0, false);
	table_fini(&t);
}

static void show_sharers(
	const struct units *u, const struct machine *m, FILE *f)
{
	char text[256];
	uint32_t io;

	for (io = 0; io < m->topo->n_io; io++)
		if (name_sharers(u, m, io, text, sizeof(text)))
			fprintf(f, "IO node %u is shared by %s\n", io, text);
}

/* --- JSON --- */

static void json_unit(struct json *j, const struct units *u,
	const struct machine *m, const uint32_t *at)
{
	char text[128];
	uint32_t i;

	json_object(j, NULL);
	name_unit(u, at, text, sizeof(text));
	json_text(j, "at", text);
	name_jobs(u, at, text, sizeof(text));
	json_text(j, "jobs", text);
	for (i = 0; i < 2 * u->n_dims; i++) {
		if (!(u->cut->leaving >> i / 2 & 1))
			continue;
		m->topo->ops->name_port(m->topo, 0, i ^ 1, text, sizeof(text));
		json_text(j, text, surface(u, at, i / 2, i & 1));
	}
	json_end(j, '}');
}

static void json_units(const struct units *u, const struct machine *m, FILE *f)
{
	uint32_t at[TOPO_MAX_DIMS] = { 0 }, i;
	struct json j;

	json_init(&j, f);
	json_object(&j, NULL);
	json_text(&j, "weft", WEFT_VERSION);
	json_text(&j, "machine", m->header.name);
	json_array(&j, "jobs");
	for (i = 0; i < u->list->n; i++) {
		json_object(&j, NULL);
		partitions_json(&j, &u->list->v[i]);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_array(&j, "units");
	do
		json_unit(&j, u, m, at);
	while (next_unit(u, at));
	json_end(&j, ']');
	json_array(&j, "shared_io");
	for (i = 0; i < m->topo->n_io; i++) {
		char text[256];

		if (!name_sharers(u, m, i, text, sizeof(text)))
			continue;
		json_object(&j, NULL);
		json_count(&j, "io", i);
		json_text(&j, "jobs", text);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
}

int show_jobs(const struct cli_args *a, const struct machine *m, FILE *f,
	struct err *e)
{
	struct machine_partitions list;
	struct units u = { .list = &list };
	int code = partitions_of(a, m, &list, e);

	if (!code && !list.n)
		code = err_set(e, "--jobs: the jobs of this file share the "
				  "machine, and have no partitions to show");
	if (!code) {
		u.cut = &list.v[0].cut;
		u.n_dims = m->topo->ops->grid(m->topo, u.grid);
		if (a->is_json) {
			json_units(&u, m, f);
		} else {
			show_partitions(&list, f);
			fputc('\n', f);
			show_units(&u, m, f);
			show_sharers(&u, m, f);
		}
	}
	machine_partitions_free(&list);
	return code;
}
