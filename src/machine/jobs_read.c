#include "machine/jobs_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "base/units.h"

static const char *const job_keys[N_JOBS_KEYS] = {
	[JOBS_K_NAME] = "name",
	[JOBS_K_NODES] = "nodes",
	[JOBS_K_COUNT] = "count",
	[JOBS_K_BOX] = "box",
	[JOBS_K_PARTITION] = "partition",
	[JOBS_K_PLACEMENT] = "placement",
	[JOBS_K_WORKLOAD] = "workload",
	[JOBS_K_KEYS] = "keys",
	[JOBS_K_START] = "start",
	[JOBS_K_SEED] = "seed",
	[JOBS_K_FAULTS] = "faults",
	[JOBS_K_ROUTES] = "routes",
	[JOBS_K_COMMAND] = "command",
};

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

int jobs_read_box(struct jobs_reader *r, enum jobs_key key, uint32_t *from,
	uint32_t *size, uint32_t *n_dims)
{
	uint32_t grid[TOPO_MAX_DIMS], n;
	const char *text = jobs_text(r, key);
	size_t where = r->value[key];

	if (!r->topo->ops->grid || !r->topo->ops->place)
		return JOBS_FAIL(
			r, where, "%s: needs a torus or a mesh", job_keys[key]);
	n = r->topo->ops->grid(r->topo, grid);
	memset(from, 0, n * sizeof(*from));
	if (!text || read_numbers(text, 'x', size, &text) != n ||
		(*text &&
			(strncmp(text, " at ", 4) != 0 ||
				read_numbers(text + 4, ',', from, &text) != n ||
				*text)))
		return JOBS_FAIL(r, where,
			"want a %s of %u dimensions such as 2x2 at 0,4",
			job_keys[key], n);
	for (uint32_t i = 0; i < n; i++)
		if (!size[i] || from[i] + size[i] > grid[i])
			return JOBS_FAIL(r, where,
				"the %s does not fit into the machine",
				job_keys[key]);
	*n_dims = n;
	return 0;
}

bool jobs_is_inside(const struct topo *t, site_id s, const uint32_t *from,
	const uint32_t *size, uint32_t n_dims)
{
	uint32_t x[TOPO_MAX_DIMS] = { 0 }, i;

	t->ops->place(t, s, x);
	for (i = 0; i < n_dims; i++)
		if (x[i] < from[i] || x[i] - from[i] >= size[i])
			return false;
	return true;
}

int jobs_take(struct jobs_reader *r, size_t where, uint64_t node)
{
	uint32_t by;

	if (node >= r->topo->n_nodes)
		return JOBS_FAIL(r, where,
			"there is no node %llu (want 0 to %u)",
			(unsigned long long)node, r->topo->n_nodes - 1);
	by = r->taken[node];
	if (by)
		return JOBS_FAIL(r, where, "node %llu is in job %s%s",
			(unsigned long long)node, r->name[by - 1],
			by == r->n ? " already" : ", too");
	r->taken[node] = r->n;
	return 0;
}

static size_t next_key(const struct jobs_reader *r, size_t key)
{
	return jobs_at(r, jobs_at(r, key)->end)->end;
}

int jobs_find_values(struct jobs_reader *r, size_t map, const char *const *keys,
	uint32_t n, size_t *value)
{
	char hint[NAME_HINT];
	uint32_t i;

	memset(value, 0, n * sizeof(*value));
	for (size_t k = map + 1; k < jobs_at(r, map)->end; k = next_key(r, k)) {
		const char *key = jobs_at(r, k)->text;

		for (i = 0; i < n; i++)
			if (key && !strcmp(key, keys[i]))
				break;
		if (i == n)
			return JOBS_FAIL(r, k, "unknown key \"%.40s\"%s",
				key ? key : "",
				name_hint(key ? key : "", keys, n, "", hint));
		if (value[i])
			return JOBS_FAIL(r, k, "%s is given twice", keys[i]);
		value[i] = jobs_at(r, k)->end;
	}
	return 0;
}

static int find_values(struct jobs_reader *r, size_t job)
{
	if (jobs_at(r, job)->kind != NODE_MAP)
		return JOBS_FAIL(r, job,
			"want a job: a map with name, nodes and workload");
	if (jobs_find_values(r, job, job_keys, N_JOBS_KEYS, r->value))
		return -1;
	for (uint32_t i = 0; i < N_JOBS_KEYS; i++)
		if (r->value[i] && i != JOBS_K_NODES && i != JOBS_K_KEYS &&
			i != JOBS_K_ROUTES && i != JOBS_K_COMMAND &&
			!jobs_text(r, i))
			return JOBS_FAIL(r, r->value[i],
				"%s must be a single value", job_keys[i]);
	return 0;
}

static int read_name(struct jobs_reader *r, size_t job)
{
	const char *name = jobs_text(r, JOBS_K_NAME);

	if (!name || !*name || strlen(name) >= JOBS_NAME ||
		strspn(name,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			"0123456789_-") != strlen(name))
		return JOBS_FAIL(r, job,
			"a job needs a name of letters, digits, - and _");
	for (uint32_t i = 0; i + 1 < r->n; i++)
		if (!strcmp(r->name[i], name))
			return JOBS_FAIL(r, r->value[JOBS_K_NAME],
				"another job is called %s", name);
	r->name[r->n - 1] = r->job.name = name;
	return 0;
}

/* A key and its value become one text, as on a command line. */
static int read_keys(struct jobs_reader *r)
{
	size_t map = r->value[JOBS_K_KEYS], size;

	if (!map)
		return 0;
	if (jobs_at(r, map)->kind != NODE_MAP)
		return JOBS_FAIL(
			r, map, "keys must be a map, such as { load: 0.5 }");
	for (size_t k = map + 1; k < jobs_at(r, map)->end; k = next_key(r, k)) {
		char **key = &r->tree.v[k].text;
		const char *value = jobs_at(r, jobs_at(r, k)->end)->text;

		if (!*key || !value || r->job.n_keys == LOAD_MOST_KEYS)
			return JOBS_FAIL(r, k,
				"a key and its value must be single values");
		size = strlen(*key) + strlen(value) + sizeof("=");
		*key = mem_grow(*key, size, 1);
		name_add(*key, size, "=");
		name_add(*key, size, value);
		r->job.keys[r->job.n_keys++] = *key;
	}
	return 0;
}

/* A text is cut at blanks; a list has the words as they are. */
static char **split(const char *text)
{
	char **word = mem_alloc(strlen(text) / 2 + 2, sizeof(*word));
	size_t n = 0, length;

	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		length = strcspn(text, " \t");
		word[n] = mem_alloc(length + 1, 1);
		memcpy(word[n++], text, length);
		text += length;
	}
	return word;
}

char **jobs_read_command(struct jobs_reader *r)
{
	size_t list = r->value[JOBS_K_COMMAND], n = 0;
	char **word;

	if (!list)
		return NULL;
	if (jobs_text(r, JOBS_K_COMMAND))
		return split(jobs_text(r, JOBS_K_COMMAND));
	word = mem_alloc(jobs_at(r, list)->end - list + 1, sizeof(*word));
	for (size_t i = list + 1; i < jobs_at(r, list)->end;
		i = jobs_at(r, i)->end)
		if (jobs_at(r, list)->kind == NODE_LIST && jobs_at(r, i)->text)
			word[n++] = mem_text(jobs_at(r, i)->text);
	if (n)
		return word;
	mem_free(word);
	JOBS_FAIL(r, list,
		"command must be a text or a list of words, such as [./a, 5]");
	return NULL;
}

static int read_rest(struct jobs_reader *r, size_t job)
{
	const char *start = jobs_text(r, JOBS_K_START),
		   *seed = jobs_text(r, JOBS_K_SEED);
	const char *why;
	int64_t n;

	r->job.workload = jobs_text(r, JOBS_K_WORKLOAD);
	if (!r->job.workload)
		return JOBS_FAIL(r, job, "a job needs a workload");
	if (start && units_read(UNIT_TIME, start, &r->job.begin, &why))
		return JOBS_FAIL(r, r->value[JOBS_K_START],
			"start must be a time such as 10 us, not \"%.40s\"",
			start);
	if (r->job.begin > 1000000000000)
		return JOBS_FAIL(
			r, r->value[JOBS_K_START], "want a start within 1 s");
	if (seed && units_read(UNIT_NONE, seed, &n, &why))
		return JOBS_FAIL(
			r, r->value[JOBS_K_SEED], "seed must be a number");
	r->job.seed = seed ? (uint64_t)n : r->seed;
	return read_keys(r);
}

static size_t find_jobs(struct jobs_reader *r)
{
	size_t jobs = 0;

	if (!r->tree.n || jobs_at(r, 0)->kind != NODE_MAP)
		return 0;
	for (size_t k = 1; k < jobs_at(r, 0)->end; k = next_key(r, k)) {
		const char *key = jobs_at(r, k)->text;
		size_t value = jobs_at(r, k)->end;

		if (key && !strcmp(key, "jobs") &&
			jobs_at(r, value)->kind == NODE_LIST)
			jobs = value;
		else if (key && !strcmp(key, "schema") &&
			 jobs_at(r, value)->text &&
			 strcmp(jobs_at(r, value)->text, "1") != 0)
			JOBS_FAIL(r, value, "want schema: 1");
		else if (!key || (strcmp(key, "schema") != 0 &&
					 strcmp(key, "title") != 0))
			JOBS_FAIL(
				r, k, "want schema, title, or a list of jobs");
	}
	return jobs;
}

static void read_jobs(
	struct jobs_reader *r, int (*one)(struct jobs_reader *r, size_t job))
{
	size_t jobs = find_jobs(r), i;
	uint32_t n = 0;

	for (i = jobs + 1; jobs && i < jobs_at(r, jobs)->end;
		i = jobs_at(r, i)->end)
		n++;
	if (!n || n > JOBS_MOST)
		tree_fail(&r->tree, tree_top,
			n ? "more than %d jobs" : "want a list of jobs",
			JOBS_MOST);
	if (r->tree.e->code)
		return;
	r->most = n;
	r->taken = mem_alloc(r->topo->n_nodes, sizeof(*r->taken));
	for (i = jobs + 1; i < jobs_at(r, jobs)->end; i = jobs_at(r, i)->end) {
		r->n++;
		memset(&r->job, 0, sizeof(r->job));
		if (find_values(r, i) || read_name(r, i) || read_rest(r, i) ||
			one(r, i))
			return;
	}
}

struct jobs_reader *jobs_read(const char *path, const struct topo *t,
	uint64_t seed, int (*one)(struct jobs_reader *r, size_t job), void *arg,
	struct err *e)
{
	struct jobs_reader *r = mem_alloc(1, sizeof(*r));

	r->topo = t;
	r->seed = seed;
	r->tree.e = e;
	r->arg = arg;
	if (!tree_read_file(&r->tree, path))
		read_jobs(r, one);
	return r;
}

void jobs_reader_free(struct jobs_reader *r)
{
	if (!r)
		return;
	tree_free(&r->tree);
	mem_free(r->taken);
	mem_free(r);
}
