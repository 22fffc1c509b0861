#include "machine/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "base/units.h"
#include "machine/tree.h"
#include "sim/random.h"

enum { MOST_TEXT = 256 };

static const char *const job_keys[] = { "name", "nodes", "count", "box",
	"placement", "workload", "keys", "start", "seed" };

enum { N_KEYS = sizeof(job_keys) / sizeof(job_keys[0]) };
enum { K_NAME, K_NODES, K_COUNT, K_BOX, K_PLACEMENT, K_WORKLOAD, K_KEYS };
enum { K_START = K_KEYS + 1, K_SEED };

struct reader {
	struct tree tree;
	const struct machine_run *run;
	const struct topo *topo;
	struct jobs_part *part;
	uint32_t n;
	uint32_t *taken; /* [node] by which job, + 1 */
	/* of the job that is being read */
	size_t value[N_KEYS]; /* nodes of the tree; 0: none */
	struct machine_job *job;
	char text[LOAD_MOST_KEYS][MOST_TEXT];
};

static const struct node *at(const struct reader *r, size_t i)
{
	return &r->tree.v[i];
}

#define FAIL(r, i, ...) tree_fail(&(r)->tree, at(r, i)->at, __VA_ARGS__)

/* The text of a job's key, which is one word; NULL where it has none. */
static const char *text_of(const struct reader *r, uint32_t key)
{
	return r->value[key] ? at(r, r->value[key])->text : NULL;
}

/* --- nodes --- */

static int take(struct reader *r, size_t where, uint64_t node)
{
	struct jobs_part *p = &r->part[r->n - 1];
	uint32_t by;

	if (node >= r->topo->n_nodes)
		return FAIL(r, where, "there is no node %llu (want 0 to %u)",
			(unsigned long long)node, r->topo->n_nodes - 1);
	by = r->taken[node];
	if (by)
		return FAIL(r, where, "node %llu is in job %s%s",
			(unsigned long long)node, r->part[by - 1].name,
			by == r->n ? " already" : ", too");
	r->taken[node] = r->n;
	p->place.place[node] = p->place.n;
	p->place.node[p->place.n++] = (site_id)node;
	return 0;
}

/* "3" or "0..15" */
static int take_range(struct reader *r, size_t where, const char *text)
{
	unsigned long long from, to, i;
	int used = 0;

	if (sscanf(text, " %9llu .. %9llu %n", &from, &to, &used) != 2 ||
		text[used]) {
		used = 0;
		if (sscanf(text, " %9llu %n", &from, &used) != 1 || text[used])
			return FAIL(r, where,
				"want nodes such as 5, 0..15 or [0, 4, 8..11]");
		to = from;
	}
	if (from > to)
		return FAIL(r, where, "the range ends before it begins");
	for (i = from; i <= to; i++)
		if (take(r, where, i))
			return -1;
	return 0;
}

static int take_nodes(struct reader *r)
{
	size_t list = r->value[K_NODES], i;

	if (at(r, list)->kind == NODE_SCALAR)
		return take_range(r, list, at(r, list)->text);
	if (at(r, list)->kind != NODE_LIST)
		return FAIL(r, list, "nodes must be a list or a range");
	for (i = list + 1; i < at(r, list)->end; i = at(r, i)->end)
		if (at(r, i)->kind != NODE_SCALAR ||
			take_range(r, i, at(r, i)->text))
			return r->tree.e->code
				       ? -1
				       : FAIL(r, i, "want a node or a range");
	return 0;
}

/* Numbers with a sign between them; how many, or 0. */
static uint32_t read_numbers(
	const char *text, char sign, uint32_t *v, const char **rest)
{
	uint32_t n = 0;
	char *end;

	for (;; text++) {
		unsigned long x = strtoul(text, &end, 10);

		if (end == text || x > UINT16_MAX || n == TOPO_MAX_DIMS)
			return 0;
		v[n++] = (uint32_t)x;
		text = end;
		if (*text != sign)
			break;
	}
	*rest = text;
	return n;
}

static bool is_inside(const struct reader *r, site_id s, const uint32_t *from,
	const uint32_t *size, uint32_t n)
{
	uint32_t x[TOPO_MAX_DIMS] = { 0 }, i;

	r->topo->ops->place(r->topo, s, x);
	for (i = 0; i < n; i++)
		if (x[i] < from[i] || x[i] - from[i] >= size[i])
			return false;
	return true;
}

/* "2x2x2 at 0,0,4" */
static int take_box(struct reader *r)
{
	uint32_t from[TOPO_MAX_DIMS] = { 0 }, size[TOPO_MAX_DIMS];
	uint32_t grid[TOPO_MAX_DIMS], n, i;
	const char *text = text_of(r, K_BOX);
	size_t where = r->value[K_BOX];
	site_id s;

	if (!r->topo->ops->grid || !r->topo->ops->place)
		return FAIL(r, where, "a box needs a torus or a mesh");
	n = r->topo->ops->grid(r->topo, grid);
	if (!text || read_numbers(text, 'x', size, &text) != n ||
		(*text &&
			(strncmp(text, " at ", 4) != 0 ||
				read_numbers(text + 4, ',', from, &text) != n ||
				*text)))
		return FAIL(r, where,
			"want a box of %u dimensions such as 2x2 at 0,4", n);
	for (i = 0; i < n; i++)
		if (!size[i] || from[i] + size[i] > grid[i])
			return FAIL(
				r, where, "the box does not fit the machine");
	for (s = 0; s < r->topo->n_nodes; s++)
		if (is_inside(r, s, from, size, n) && take(r, where, s))
			return -1;
	return 0;
}

/* --- those that only say how many --- */

static int take_free(struct reader *r, uint64_t count, bool is_random)
{
	site_id *free_nodes = mem_alloc(r->topo->n_nodes, sizeof(*free_nodes));
	uint32_t n = 0, i, k;
	int failed = 0;
	site_id s;

	for (s = 0; s < r->topo->n_nodes; s++)
		if (!r->taken[s])
			free_nodes[n++] = s;
	if (count > n)
		failed = FAIL(r, r->value[K_COUNT],
			"only %u nodes are left for this job", n);
	for (i = 0; i < count && !failed; i++) {
		k = i;
		if (is_random)
			k += (uint32_t)random_below(
				random_draw(
					r->job->seed, r->n, RANDOM_PATTERN, i)
					.a,
				n - i);
		s = free_nodes[k];
		free_nodes[k] = free_nodes[i];
		failed = take(r, r->value[K_COUNT], s);
	}
	mem_free(free_nodes);
	return failed;
}

/* A number for each rank. */
static int take_listed(struct reader *r, uint64_t count, const char *path)
{
	size_t where = r->value[K_PLACEMENT];
	FILE *f = fopen(path, "r");
	unsigned long long node;
	uint64_t i;
	int failed = 0;

	if (!f)
		return FAIL(r, where, "%.100s: cannot read: %s", path,
			strerror(errno));
	for (i = 0; i < count && !failed; i++) {
		if (fscanf(f, "%9llu", &node) != 1)
			failed = FAIL(r, where,
				"%.100s: has no node for rank %llu", path,
				(unsigned long long)i);
		else
			failed = take(r, where, node);
	}
	fclose(f);
	return failed;
}

static int take_count(struct reader *r)
{
	const char *how = text_of(r, K_PLACEMENT), *why, *text;
	int64_t count;

	text = text_of(r, K_COUNT);
	if (!text || units_read(UNIT_NONE, text, &count, &why) || count < 1)
		return FAIL(r, r->value[K_COUNT], "want a number of nodes");
	if (!how || !strcmp(how, "contiguous"))
		return take_free(r, (uint64_t)count, false);
	if (!strcmp(how, "random"))
		return take_free(r, (uint64_t)count, true);
	if (!strchr(how, '/') && !strchr(how, '.'))
		return FAIL(r, r->value[K_PLACEMENT],
			"placement is contiguous, random, or a file (with a "
			"slash or a dot in its name)");
	return take_listed(r, (uint64_t)count, how);
}

static int place(struct reader *r, size_t job)
{
	struct jobs_part *p = &r->part[r->n - 1];
	uint32_t i, n = 0;

	for (i = K_NODES; i <= K_BOX; i++)
		n += r->value[i] != 0;
	if (n != 1)
		return FAIL(r, job,
			"a job has one of nodes, box and count, and this one "
			"%s",
			n ? "several" : "none");
	if (r->value[K_PLACEMENT] && !r->value[K_COUNT])
		return FAIL(r, r->value[K_PLACEMENT],
			"placement is for jobs that have a count");
	p->place.node = mem_alloc(r->topo->n_nodes, sizeof(*p->place.node));
	p->place.place = mem_alloc(r->topo->n_nodes, sizeof(*p->place.place));
	memset(p->place.place, 0xff,
		r->topo->n_nodes * sizeof(*p->place.place));
	if (r->value[K_NODES])
		return take_nodes(r);
	return r->value[K_BOX] ? take_box(r) : take_count(r);
}

/* --- jobs --- */

static int find_values(struct reader *r, size_t job)
{
	char hint[NAME_HINT];
	size_t k;
	uint32_t i;

	memset(r->value, 0, sizeof(r->value));
	if (at(r, job)->kind != NODE_MAP)
		return FAIL(r, job,
			"a job is a map with name, nodes and "
			"workload");
	for (k = job + 1; k < at(r, job)->end; k = at(r, at(r, k)->end)->end) {
		const char *key = at(r, k)->text;

		for (i = 0; i < N_KEYS; i++)
			if (key && !strcmp(key, job_keys[i]))
				break;
		if (i == N_KEYS)
			return FAIL(r, k, "unknown key \"%.40s\"%s",
				key ? key : "",
				name_hint(key ? key : "", job_keys, N_KEYS, "",
					hint));
		if (r->value[i])
			return FAIL(r, k, "%s is given twice", job_keys[i]);
		r->value[i] = at(r, k)->end;
		if (i != K_NODES && i != K_KEYS && !text_of(r, i))
			return FAIL(
				r, r->value[i], "%s is one word", job_keys[i]);
	}
	return 0;
}

static int read_name(struct reader *r, size_t job)
{
	struct jobs_part *p = &r->part[r->n - 1];
	const char *name = text_of(r, K_NAME);
	uint32_t i;

	if (!name || !*name || strlen(name) >= JOBS_NAME ||
		strspn(name,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			"0123456789_-") != strlen(name))
		return FAIL(r, job,
			"a job needs a name of letters, digits, - and _");
	for (i = 0; i + 1 < r->n; i++)
		if (!strcmp(r->part[i].name, name))
			return FAIL(r, r->value[K_NAME],
				"another job is called %s", name);
	snprintf(p->name, sizeof(p->name), "%s", name);
	return 0;
}

static int read_keys(struct reader *r)
{
	size_t map = r->value[K_KEYS], k;

	if (!map)
		return 0;
	if (at(r, map)->kind != NODE_MAP)
		return FAIL(r, map, "keys are a map, such as { load: 0.5 }");
	for (k = map + 1; k < at(r, map)->end; k = at(r, at(r, k)->end)->end) {
		const char *key = at(r, k)->text;
		const char *value = at(r, at(r, k)->end)->text;
		char *text = r->text[r->job->n_keys];

		if (!key || !value || r->job->n_keys == LOAD_MOST_KEYS ||
			snprintf(text, MOST_TEXT, "%s=%s", key, value) >=
				MOST_TEXT)
			return FAIL(r, k, "a key and its value are words");
		r->job->keys[r->job->n_keys++] = text;
	}
	return 0;
}

static int read_rest(struct reader *r, size_t job)
{
	const char *start = text_of(r, K_START), *seed = text_of(r, K_SEED);
	const char *why;
	int64_t n;

	r->job->workload = text_of(r, K_WORKLOAD);
	if (!r->job->workload)
		return FAIL(r, job, "a job needs a workload");
	if (start && units_read(UNIT_TIME, start, &r->job->begin, &why))
		return FAIL(r, r->value[K_START],
			"start is a time such as 10 us, not \"%.40s\"", start);
	if (r->job->begin > 1000000000000)
		return FAIL(r, r->value[K_START], "want a start within 1 s");
	if (seed && units_read(UNIT_NONE, seed, &n, &why))
		return FAIL(r, r->value[K_SEED], "seed is a number");
	r->job->seed = seed ? (uint64_t)n : r->run->setup.seed;
	return read_keys(r);
}

typedef struct load *maker(const struct machine_run *r,
	const struct machine_job *job, struct param_block *keys, struct err *e);

static int read_job(struct reader *r, size_t job, maker *make)
{
	struct jobs_part *p = &r->part[r->n++];
	struct machine_job now = { .begin = 0 };
	struct err e = { 0 };
	uint32_t only = r->run->setup.only;

	r->job = &now;
	if (find_values(r, job) || read_name(r, job) || read_rest(r, job) ||
		place(r, job))
		return -1;
	p->place.begin = now.begin;
	now.place = &p->place;
	if (only && only != r->n)
		return 0;
	p->load = make(r->run, &now, &p->keys, &e);
	return e.code ? FAIL(r, job, "job %s: %.300s", p->name, e.text) : 0;
}

static size_t find_jobs(struct reader *r)
{
	size_t k, jobs = 0;

	if (!r->tree.n || at(r, 0)->kind != NODE_MAP)
		return 0;
	for (k = 1; k < at(r, 0)->end; k = at(r, at(r, k)->end)->end) {
		const char *key = at(r, k)->text;
		size_t value = at(r, k)->end;

		if (key && !strcmp(key, "jobs") &&
			at(r, value)->kind == NODE_LIST)
			jobs = value;
		else if (key && !strcmp(key, "schema") && at(r, value)->text &&
			 strcmp(at(r, value)->text, "1") != 0)
			FAIL(r, value, "schema is 1 in this version");
		else if (!key || (strcmp(key, "schema") != 0 &&
					 strcmp(key, "title") != 0))
			FAIL(r, k,
				"a file of jobs has schema, title, and a list "
				"of jobs");
	}
	return jobs;
}

static int read_jobs(struct reader *r, maker *make)
{
	size_t jobs = find_jobs(r), i;
	uint32_t n = 0;

	if (r->tree.e->code)
		return -1;
	for (i = jobs + 1; jobs && i < at(r, jobs)->end; i = at(r, i)->end)
		n++;
	if (!n || n > JOBS_MOST)
		return tree_fail(&r->tree, tree_top,
			n ? "more than %d jobs" : "want a list of jobs",
			JOBS_MOST);
	r->part = mem_alloc(n, sizeof(*r->part));
	r->taken = mem_alloc(r->topo->n_nodes, sizeof(*r->taken));
	for (i = jobs + 1; i < at(r, jobs)->end; i = at(r, i)->end)
		if (read_job(r, i, make))
			return -1;
	return 0;
}

/* Of all jobs the one that is wanted, the others being as if not there. */
static void keep_only(struct reader *r, uint32_t only)
{
	struct jobs_part one;
	uint32_t i;

	if (!only)
		return;
	one = r->part[only - 1];
	for (i = 0; i < r->n; i++) {
		if (i == only - 1)
			continue;
		mem_free(r->part[i].place.node);
		mem_free(r->part[i].place.place);
	}
	r->part[0] = one;
	r->n = 1;
}

struct load *machine_jobs(
	const struct machine_run *run, maker *make, struct err *e)
{
	struct reader *r = mem_alloc(1, sizeof(*r));
	struct load *l;

	r->run = run;
	r->topo = run->machine->topo;
	r->tree.e = e;
	if (!tree_read_file(&r->tree, run->setup.jobs) && !read_jobs(r, make) &&
		run->setup.only > r->n)
		err_set(e, "there is no such job");
	if (!e->code)
		keep_only(r, run->setup.only);
	l = jobs_new(r->part, r->n, e);
	tree_free(&r->tree);
	mem_free(r->taken);
	mem_free(r);
	return l;
}
