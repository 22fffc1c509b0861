#include "machine/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "machine/jobs_read.h"
#include "sim/random.h"

struct reader {
	const struct machine_run *run;
	struct jobs_part *part;
	uint32_t n; /* complete ones; the next one is being read */
};

static struct jobs_part *part_of(const struct jobs_reader *r)
{
	const struct reader *x = r->arg;

	return &x->part[x->n];
}

/* --- nodes --- */

static int take(struct jobs_reader *r, size_t where, uint64_t node)
{
	struct jobs_part *p = part_of(r);

	if (jobs_take(r, where, node))
		return -1;
	p->place.place[node] = p->place.n;
	p->place.node[p->place.n++] = (site_id)node;
	return 0;
}

/* "3" or "0..15" */
static int take_range(struct jobs_reader *r, size_t where, const char *text)
{
	unsigned long long from, to;
	int used = 0;

	if (sscanf(text, " %9llu .. %9llu %n", &from, &to, &used) != 2 ||
		text[used]) {
		used = 0;
		if (sscanf(text, " %9llu %n", &from, &used) != 1 || text[used])
			return JOBS_FAIL(r, where,
				"want nodes such as 5, 0..15 or [0, 4, 8..11]");
		to = from;
	}
	if (from > to)
		return JOBS_FAIL(
			r, where, "the end of the range is below its start");
	for (unsigned long long i = from; i <= to; i++)
		if (take(r, where, i))
			return -1;
	return 0;
}

static int take_nodes(struct jobs_reader *r)
{
	size_t list = r->value[JOBS_K_NODES];

	if (jobs_at(r, list)->kind == NODE_SCALAR)
		return take_range(r, list, jobs_at(r, list)->text);
	if (jobs_at(r, list)->kind != NODE_LIST)
		return JOBS_FAIL(r, list, "nodes must be a list or a range");
	if (jobs_at(r, list)->end == list + 1)
		return JOBS_FAIL(r, list,
			"the list is empty; want nodes such as [0, 4, 8..11]");
	for (size_t i = list + 1; i < jobs_at(r, list)->end;
		i = jobs_at(r, i)->end)
		if (jobs_at(r, i)->kind != NODE_SCALAR ||
			take_range(r, i, jobs_at(r, i)->text))
			return r->tree.e->code
				       ? -1
				       : JOBS_FAIL(r, i,
						 "want a node or a range");
	return 0;
}

static int take_box(struct jobs_reader *r)
{
	uint32_t from[TOPO_MAX_DIMS], size[TOPO_MAX_DIMS], n;

	if (jobs_read_box(r, JOBS_K_BOX, from, size, &n))
		return -1;
	for (site_id s = 0; s < r->topo->n_nodes; s++)
		if (jobs_is_inside(r->topo, s, from, size, n) &&
			take(r, r->value[JOBS_K_BOX], s))
			return -1;
	return 0;
}

/* --- those that only say how many --- */

static int take_free(struct jobs_reader *r, uint64_t count, bool is_random)
{
	site_id *free_nodes = mem_alloc(r->topo->n_nodes, sizeof(*free_nodes));
	uint32_t n = 0, k;
	int failed = 0;
	site_id s;

	for (s = 0; s < r->topo->n_nodes; s++)
		if (!r->taken[s])
			free_nodes[n++] = s;
	if (count > n)
		failed = JOBS_FAIL(r, r->value[JOBS_K_COUNT],
			"only %u nodes are free for this job", n);
	for (uint32_t i = 0; i < count && !failed; i++) {
		k = i;
		if (is_random)
			k += (uint32_t)random_below(
				random_draw(
					r->job.seed, r->n, RANDOM_PATTERN, i)
					.a,
				n - i);
		s = free_nodes[k];
		free_nodes[k] = free_nodes[i];
		failed = take(r, r->value[JOBS_K_COUNT], s);
	}
	mem_free(free_nodes);
	return failed;
}

/* A number for each rank. */
static int take_listed(struct jobs_reader *r, uint64_t count, const char *path)
{
	size_t where = r->value[JOBS_K_PLACEMENT];
	FILE *f = fopen(path, "r");
	unsigned long long node;
	int failed = 0;

	if (!f)
		return JOBS_FAIL(r, where, "%.100s: cannot read: %s", path,
			strerror(errno));
	for (uint64_t i = 0; i < count && !failed; i++) {
		if (fscanf(f, "%9llu", &node) != 1)
			failed = JOBS_FAIL(r, where,
				"%.100s: has no node for rank %llu (want %llu "
				"numbers of nodes, with blanks or line ends "
				"between them)",
				path, (unsigned long long)i,
				(unsigned long long)count);
		else
			failed = take(r, where, node);
	}
	fclose(f);
	return failed;
}

static int take_count(struct jobs_reader *r)
{
	const char *how = jobs_text(r, JOBS_K_PLACEMENT), *why, *text;
	int64_t count;

	text = jobs_text(r, JOBS_K_COUNT);
	if (!text || units_read(UNIT_NONE, text, &count, &why) || count < 1)
		return JOBS_FAIL(
			r, r->value[JOBS_K_COUNT], "want a number of nodes");
	if (!how || !strcmp(how, "contiguous"))
		return take_free(r, (uint64_t)count, false);
	if (!strcmp(how, "random"))
		return take_free(r, (uint64_t)count, true);
	if (!strchr(how, '/') && !strchr(how, '.'))
		return JOBS_FAIL(r, r->value[JOBS_K_PLACEMENT],
			"placement: want contiguous, random, or a file (with a "
			"slash or a dot in its name)");
	return take_listed(r, (uint64_t)count, how);
}

static int place(struct jobs_reader *r, size_t job)
{
	struct jobs_part *p = part_of(r);
	uint32_t n = 0;

	if (r->value[JOBS_K_PARTITION])
		return JOBS_FAIL(r, job,
			"this job has a partition, but a job before it has "
			"none: give all jobs one, or none");
	for (uint32_t i = JOBS_K_NODES; i <= JOBS_K_BOX; i++)
		n += r->value[i] != 0;
	if (n != 1)
		return JOBS_FAIL(r, job,
			"want one of nodes, box and count, but this job has %s",
			n ? "several" : "none");
	if (r->value[JOBS_K_ROUTES])
		return JOBS_FAIL(r, r->value[JOBS_K_ROUTES],
			"only jobs with a partition have routes");
	if (r->value[JOBS_K_FAULTS])
		return JOBS_FAIL(r, r->value[JOBS_K_FAULTS],
			"only jobs with a partition have faults");
	if (r->value[JOBS_K_PLACEMENT] && !r->value[JOBS_K_COUNT])
		return JOBS_FAIL(r, r->value[JOBS_K_PLACEMENT],
			"only jobs with a count have a placement");
	p->place.node = mem_alloc(r->topo->n_nodes, sizeof(*p->place.node));
	p->place.place = mem_alloc(r->topo->n_nodes, sizeof(*p->place.place));
	memset(p->place.place, 0xff,
		r->topo->n_nodes * sizeof(*p->place.place));
	if (r->value[JOBS_K_NODES])
		return take_nodes(r);
	return r->value[JOBS_K_BOX] ? take_box(r) : take_count(r);
}

/* --- jobs --- */

/* A file that somebody has sent runs no program by itself. */
static int take_command(struct jobs_reader *r)
{
	const struct reader *x = r->arg;
	struct jobs_part *p = part_of(r);

	p->command = jobs_read_command(r);
	r->job.command = (const char *const *)p->command;
	if (r->tree.e->code)
		return -1;
	if (p->command && !x->run->setup.allows_programs)
		return JOBS_FAIL(r, r->value[JOBS_K_COMMAND],
			"job %s runs a program of this host, %.100s; if you "
			"trust the file, use --allow-programs",
			p->name, p->command[0] ? p->command[0] : "");
	return 0;
}

static int read_job(struct jobs_reader *r, size_t job)
{
	struct reader *x = r->arg;
	uint32_t only = x->run->setup.only;
	struct jobs_part *p;
	struct err e = { 0 };

	if (!x->part)
		x->part = mem_alloc(r->most, sizeof(*x->part));
	p = part_of(r);
	snprintf(p->name, sizeof(p->name), "%s", r->job.name);
	if (place(r, job))
		return -1;
	if (only && only != r->n) {
		mem_free(p->place.node);
		mem_free(p->place.place);
		*p = (struct jobs_part){ 0 };
		return 0;
	}
	if (take_command(r))
		return -1;
	p->place.begin = r->job.begin;
	r->job.place = &p->place;
	p->load = machine_job_load(x->run, &r->job, &p->keys, &e);
	if (e.code)
		return JOBS_FAIL(r, job, "job %s: %.300s", p->name, e.text);
	x->n++;
	return 0;
}

struct load *machine_jobs(const struct machine_run *run, struct err *e)
{
	struct reader x = { .run = run };
	struct jobs_reader *r = jobs_read(run->setup.jobs, run->machine->topo,
		run->setup.seed, read_job, &x, e);

	if (!e->code && run->setup.only > r->n)
		err_set(e, "there is no such job");
	jobs_reader_free(r);
	/* with the one that was being read */
	return jobs_new(x.part, x.part ? x.n + (e->code != 0) : 0, e);
}
