#define _GNU_SOURCE
#include "record/inputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "load/jobs.h"
#include "meas/digest.h"
#include "outside/inspect.h"
#include "record/tables.h"

#define MOST_BYTES (UINT64_C(1) << 28)

static uint64_t hash_stream(FILE *f)
{
	uint8_t bytes[4096];
	uint64_t h = UINT64_C(0xcbf29ce484222325), total = 0;
	size_t n;

	/* nothing that is read has more */
	while (total < MOST_BYTES &&
		(n = fread(bytes, 1, sizeof(bytes), f)) > 0) {
		for (size_t i = 0; i < n; i++)
			h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
		total += n;
	}
	return digest_mix(h + total);
}

void record_hash_file(const char *path, char hash[INPUT_HASH])
{
	struct stat is;
	FILE *f;

	hash[0] = '\0';
	if (stat(path, &is) || !S_ISREG(is.st_mode))
		return;
	f = fopen(path, "r");
	if (!f)
		return;
	snprintf(hash, INPUT_HASH, "%016" PRIx64, hash_stream(f));
	fclose(f);
}

void record_inputs_add(
	struct record_inputs *in, const char *kind, const char *path)
{
	struct record_input *x;
	char hash[INPUT_HASH];

	for (size_t i = 0; path && i < in->n; i++)
		if (!strcmp(in->of[i].path, path))
			return;
	if (path)
		record_hash_file(path, hash);
	if (!path || !*hash)
		return;
	in->of = mem_more(in->of, in->n, sizeof(*in->of));
	x = &in->of[in->n++];
	*x = (struct record_input){ mem_text(kind), mem_text(path), "" };
	memcpy(x->hash, hash, sizeof(hash));
}

/* Files that keys of a workload or parameters name; a key's name is the
 * kind. */
static void add_keys(struct record_inputs *in, const struct param_block *keys)
{
	for (size_t i = 0; i < keys->n_rows; i++)
		if (keys->rows[i].type == PARAM_PATH ||
			(keys->rows[i].type == PARAM_TEXT && !*keys->section))
			record_inputs_add(in, keys->rows[i].name,
				(const char *)keys->values +
					keys->rows[i].offset);
}

void record_inputs_machine(struct record_inputs *in, const struct machine *m)
{
	for (size_t i = 0; i < m->files.n; i++)
		record_inputs_add(in, "machine file", m->files.v[i].text);
	for (size_t i = 0; i < m->plugin_files.n; i++)
		record_inputs_add(in, "plugin", m->plugin_files.v[i].text);
	for (size_t i = 0; i < m->n_blocks; i++)
		add_keys(in, &m->block[i]);
}

void record_inputs_program(
	struct record_inputs *in, const char *folder, const char *program)
{
	const struct inspect_how how = { .folder = folder };
	char path[PATH_MAX];

	if (inspect_find(program, &how, path))
		record_inputs_add(in, "program", path);
}

/* The program that it starts. */
static void add_program(struct record_inputs *in, const struct load *l)
{
	if (l->needs.command && *l->needs.command)
		record_inputs_program(
			in, l->needs.launch.folder, *l->needs.command);
}

void record_inputs_run(struct record_inputs *in, const struct machine_run *r)
{
	const struct jobs *j = jobs_of(r->load);

	record_inputs_machine(in, r->machine);
	record_inputs_add(in, "plan of faults", r->setup.faults);
	record_inputs_add(in, "price list", r->setup.energy);
	record_inputs_add(in, "tables", r->setup.machine.tables);
	record_inputs_add(in, "file of jobs", r->setup.jobs);
	add_keys(in, &r->keys);
	add_program(in, r->load);
	for (uint32_t i = 0; j && i < j->n; i++) {
		add_keys(in, &j->part[i].keys);
		add_program(in, j->part[i].load);
	}
}

void record_inputs_free(struct record_inputs *in)
{
	for (size_t i = 0; i < in->n; i++) {
		mem_free(in->of[i].kind);
		mem_free(in->of[i].path);
	}
	mem_free(in->of);
	*in = (struct record_inputs){ NULL, 0 };
}

int record_inputs_write(
	const struct record_inputs *in, struct db *d, struct err *e)
{
	for (size_t i = 0; i < in->n; i++)
		row_put_input(d,
			&(struct row_input){ .kind = in->of[i].kind,
				.path = in->of[i].path,
				.hash = in->of[i].hash },
			e);
	return e->code ? -1 : 0;
}
