#include "record/read.h"

#include <stdio.h>
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
	value = db_keep(d, db_next(q) ? db_text(q, 0) : "");
	db_finish(q);
	return value;
}

void record_put_text(
	struct db *d, const char *key, const char *value, struct err *e)
{
	row_put_meta(d,
		&(struct row_meta){
			.key = key, .value = { .text = value ? value : "" } },
		e);
}

/* All of a file, or "" where it cannot be read. */
static char *read_text(const char *path)
{
	FILE *f = path && *path ? fopen(path, "r") : NULL;
	char *text;

	if (!f)
		return mem_text("");
	text = mem_alloc(MACHINE_FILE_MAX + 1, 1);
	text[fread(text, 1, MACHINE_FILE_MAX, f)] = '\0';
	fclose(f);
	return text;
}

void record_put_file(
	struct db *d, const char *key, const char *path, struct err *e)
{
	char *text = read_text(path);

	record_put_text(d, key, text, e);
	mem_free(text);
}

int record_is_sweep(struct db *d, struct err *e)
{
	bool is = !strcmp(record_meta(d, "kind", e), "sweep");

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
			"%s: is the file of a sweep, not of one run; want "
			"`weft report`, `weft sql` or `weft plot %s curves`",
			path, path);
	db_close(d);
	return NULL;
}

const char *record_cause(const char *key)
{
	uint32_t c = 0;

	while (c < N_CAUSES && strcmp(causes[c].key, key) != 0)
		c++;
	return c < N_CAUSES ? causes[c].name : key;
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
		value[(*n)++] = db_keep(d, row.value);
		value[*n] = NULL;
	}
	db_finish(q);
	return value;
}

/* NULL where it is empty. */
static const char *option(struct db *d, const char *key, struct err *e)
{
	const char *value = record_meta(d, key, e);

	return *value ? value : NULL;
}

int record_setup_read(struct record_setup *s, struct db *d, struct err *e)
{
	memset(s, 0, sizeof(*s));
	s->plugins = read_arguments(d, "plugin", &s->n_plugins, e);
	s->sets = read_arguments(d, "set", &s->setup.machine.n_sets, e);
	s->keys = read_arguments(d, "key", &s->setup.n_keys, e);
	s->command = read_arguments(d, "command", &s->n_command, e);
	s->environment = read_arguments(d, "environment", &s->n_environment, e);
	s->setup.machine.sets = (const char *const *)s->sets;
	s->setup.keys = (const char *const *)s->keys;
	s->setup.machine.name = option(d, "machine", e);
	s->setup.machine.shape = option(d, "shape_given", e);
	s->setup.machine.tables = option(d, "tables", e);
	s->setup.faults = option(d, "faults", e);
	s->setup.workload = option(d, "workload", e);
	s->setup.jobs = option(d, "jobs", e);
	s->setup.seed = strtoull(record_meta(d, "seed", e), NULL, 10);
	s->setup.until = strtoll(record_meta(d, "until_ps", e), NULL, 10);
	if (!s->setup.machine.name || !s->setup.workload)
		err_set(e, "%s: does not say what was run", db_path(d));
	return e->code ? -1 : 0;
}

void record_setup_free(struct record_setup *s)
{
	mem_free(s->plugins);
	mem_free(s->sets);
	mem_free(s->keys);
	mem_free(s->command);
	mem_free(s->environment);
}

static uint64_t hash_block(uint64_t h, const struct param_block *b)
{
	char value[PARAM_TEXT_MAX];

	for (size_t i = 0; i < b->n_rows; i++) {
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

	for (size_t i = 0; i < m->n_blocks; i++)
		if (machine_uses(m, i))
			h = hash_block(h, &m->block[i]);
	return hash_block(h, &r->keys);
}
