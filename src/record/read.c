#include "record/read.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "meas/budget.h"
#include "meas/digest.h"
#include "record/tables.h"

char *record_meta(struct db *d, const char *key, struct err *e)
{
	struct db_query *q =
		db_prepare(d, "SELECT value FROM meta WHERE key = ?", e);
	char *value;

	db_bind_text(q, 1, key);
	value = mem_text(db_next(q) ? db_text(q, 0) : "");
	db_finish(q);
	return value;
}

int record_is_sweep(struct db *d, struct err *e)
{
	char *kind = record_meta(d, "kind", e);
	bool is = !strcmp(kind, "sweep");

	mem_free(kind);
	return e->code ? -1 : is;
}

struct db *record_open(const char *path, struct err *e)
{
	struct db *d = db_open(path, e);
	int is = d ? record_is_sweep(d, e) : 0;

	if (!is)
		return d;
	if (is > 0)
		err_set(e,
			"%s: is the file of a sweep, not of one run; "
			"`weft report` and `weft sql` read it",
			path);
	db_close(d);
	return NULL;
}

const char *record_cause(const char *key)
{
	uint32_t c = 0;

	while (c < N_CAUSES && strcmp(cause_keys[c], key) != 0)
		c++;
	return c < N_CAUSES ? cause_names[c] : key;
}

/* All of one kind, in order, and NULL behind them. */
static char **read_arguments(
	struct db *d, const char *kind, size_t *n, struct err *e)
{
	struct db_query *q =
		row_select(d, TABLE_argument, "WHERE kind = ? ORDER BY n", e);
	struct row_argument row;
	char **value = mem_alloc(1, sizeof(*value));

	db_bind_text(q, 1, kind);
	for (*n = 0; row_next_argument(q, &row);) {
		value = mem_grow(value, *n + 2, sizeof(*value));
		value[(*n)++] = mem_text(row.value);
		value[*n] = NULL;
	}
	db_finish(q);
	return value;
}

static void free_texts(char **text, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		mem_free(text[i]);
	mem_free(text);
}

int record_setup_read(struct record_setup *s, struct db *d, struct err *e)
{
	char *seed = record_meta(d, "seed", e);
	char *until = record_meta(d, "until_ps", e);

	memset(s, 0, sizeof(*s));
	s->machine = record_meta(d, "machine", e);
	s->shape = record_meta(d, "shape_given", e);
	s->faults = record_meta(d, "faults", e);
	s->workload = record_meta(d, "workload", e);
	s->jobs = record_meta(d, "jobs", e);
	s->plugins = read_arguments(d, "plugin", &s->n_plugins, e);
	s->sets = read_arguments(d, "set", &s->setup.n_sets, e);
	s->keys = read_arguments(d, "key", &s->setup.n_keys, e);
	s->setup.machine = s->machine;
	s->setup.shape = *s->shape ? s->shape : NULL;
	s->setup.faults = *s->faults ? s->faults : NULL;
	s->setup.workload = s->workload;
	s->setup.jobs = *s->jobs ? s->jobs : NULL;
	s->setup.sets = (const char *const *)s->sets;
	s->setup.keys = (const char *const *)s->keys;
	s->setup.seed = strtoull(seed, NULL, 10);
	s->setup.until = strtoll(until, NULL, 10);
	mem_free(seed);
	mem_free(until);
	if (!e->code && (!*s->machine || !*s->workload))
		err_set(e, "%s: does not say what was run", db_path(d));
	return e->code ? -1 : 0;
}

void record_setup_free(struct record_setup *s)
{
	mem_free(s->machine);
	mem_free(s->shape);
	mem_free(s->faults);
	mem_free(s->workload);
	mem_free(s->jobs);
	free_texts(s->plugins, s->n_plugins);
	free_texts(s->sets, s->setup.n_sets);
	free_texts(s->keys, s->setup.n_keys);
}

static uint64_t hash_block(uint64_t h, const struct param_block *b)
{
	char value[PARAM_TEXT_MAX];
	size_t i;

	for (i = 0; i < b->n_rows; i++) {
		param_format(b, &b->rows[i], value, sizeof(value));
		h = digest_text(h, b->section);
		h = digest_text(h, b->rows[i].name);
		h = digest_text(h, value);
	}
	return h;
}

uint64_t record_hash(const struct machine_run *r)
{
	const struct machine *m = r->machine;
	uint64_t h = 0;
	size_t i;

	for (i = 0; i < m->n_blocks; i++)
		if (machine_uses(m, i))
			h = hash_block(h, &m->block[i]);
	return hash_block(h, &r->keys);
}
