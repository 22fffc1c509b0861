#include "cli/cli.h"

#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "machine/machine.h"
#include "out/json.h"
#include "out/table.h"
#include "paper/claims.h"

enum { MOST_SYSTEMS = 32 };

/* All files of claims that were found, by name. */
struct library {
	struct claims claims[MOST_SYSTEMS];
	char *name[MOST_SYSTEMS];
	size_t n;
	struct err *e; /* the first that was wrong */
};

static void on_file(void *arg, const char *name, const char *path)
{
	struct library *l = arg;

	if (l->n == MOST_SYSTEMS || l->e->code)
		return;
	l->name[l->n] = mem_text(name);
	claims_read(&l->claims[l->n++], path, l->e);
}

static void library_free(struct library *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		claims_free(&l->claims[i]);
		mem_free(l->name[i]);
	}
	mem_free(l);
}

/* Leaves only the system of that name. */
static int keep_one(struct library *l, const char *name, struct err *e)
{
	char hint[NAME_HINT];
	size_t i;

	for (i = 0; i < l->n; i++) {
		struct claims c = l->claims[0];
		char *n = l->name[0];

		if (strcmp(l->name[i], name) != 0)
			continue;
		l->claims[0] = l->claims[i];
		l->name[0] = l->name[i];
		l->claims[i] = c;
		l->name[i] = n;
		return 0;
	}
	return err_set(e, "no system is called \"%.40s\"%s", name,
		name_hint(name, (const char *const *)l->name, l->n,
			"; `weft claims` lists them", hint));
}

/* A mutant's own name: that of its feature, with a number where there are
 * several. */
static void json_mutant_id(struct json *j, const struct claim *c, size_t k)
{
	char text[64];

	snprintf(text, sizeof(text), "%.40s/%zu", c->id, k + 1);
	json_text(j, "id", c->n_mutants > 1 ? text : c->id);
}

static void json_edits(struct json *j, const struct claim_mutant *m)
{
	size_t i;

	json_array(j, "edits");
	for (i = 0; i < m->n_edits; i++) {
		json_object(j, NULL);
		json_text(j, "file", m->edit[i].file);
		json_text(j, "find", m->edit[i].find);
		json_text(j, "put", m->edit[i].put);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void json_mutant(struct json *j, const struct claim *c, size_t k)
{
	size_t i;

	json_object(j, NULL);
	json_mutant_id(j, c, k);
	json_text(j, "feature", c->id);
	json_text(j, "what", c->what);
	if (c->mutant[k].part)
		json_text(j, "part", c->mutant[k].part);
	json_array(j, "tests");
	for (i = 0; i < c->n_tests; i++)
		json_text(j, NULL, c->tests[i]);
	json_end(j, ']');
	json_edits(j, &c->mutant[k]);
	json_end(j, '}');
}

static void json_in_part(struct json *j, const struct claims *c)
{
	size_t i;

	json_array(j, "in_part");
	for (i = 0; i < c->n; i++) {
		if (c->v[i].status != CLAIM_IN_PART)
			continue;
		json_object(j, NULL);
		json_text(j, "id", c->v[i].id);
		json_text(j, "lacks", c->v[i].lacks);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void json_system(
	struct json *j, const char *name, const struct claims *c)
{
	size_t i, k;

	json_object(j, name);
	json_count(j, "features", c->n);
	json_count(j, "covered", claims_count(c, CLAIM_COVERED));
	json_in_part(j, c);
	json_array(j, "missing");
	for (i = 0; i < c->n; i++)
		if (c->v[i].status < CLAIM_IN_PART)
			json_text(j, NULL, c->v[i].id);
	json_end(j, ']');
	json_array(j, "mutants");
	for (i = 0; i < c->n; i++)
		for (k = 0; k < c->v[i].n_mutants; k++)
			json_mutant(j, &c->v[i], k);
	json_end(j, ']');
	json_end(j, '}');
}

static void add_system(
	struct table *t, const char *name, const struct claims *c)
{
	char covered[24], in_part[24], features[24];

	snprintf(covered, sizeof(covered), "%zu",
		claims_count(c, CLAIM_COVERED));
	snprintf(in_part, sizeof(in_part), "%zu",
		claims_count(c, CLAIM_IN_PART));
	snprintf(features, sizeof(features), "%zu", c->n);
	table_add(t,
		(const char *[]){ name, covered, in_part, features, c->title });
}

static void print_systems(const struct library *l, size_t n, FILE *f)
{
	static const struct table_column columns[] = {
		{ "system", false },
		{ "covered", true },
		{ "in part", true },
		{ "features", true },
		{ "title", false },
	};
	struct table t;
	size_t i;

	table_init(&t, columns, 5);
	for (i = 0; i < n; i++)
		add_system(&t, l->name[i], &l->claims[i]);
	table_print(&t, f, cli_width(stdout), cli_colour(stdout));
	table_fini(&t);
}

static void print_features(const struct claims *c, FILE *f)
{
	static const char *const status[] = { [CLAIM_NONE] = "missing",
		[CLAIM_MISSING] = "missing",
		[CLAIM_IN_PART] = "in part",
		[CLAIM_COVERED] = "covered" };
	size_t i, k;

	for (i = 0; i < c->n; i++) {
		const struct claim *v = &c->v[i];

		fprintf(f, "\n%-9s %-8s %s\n", v->id, status[v->status],
			v->what);
		if (v->lacks)
			fprintf(f, "                   lacks: %s\n", v->lacks);
		for (k = 0; k < v->n_tests; k++)
			fprintf(f, "                   %s\n", v->tests[k]);
	}
}

static int print(
	const struct cli_args *a, const struct library *l, struct err *e)
{
	size_t n = a->n_words ? 1 : l->n, i;
	struct cli_out out;
	struct json j;

	cli_out_open(&out);
	if (a->is_json) {
		json_init(&j, out.file);
		json_object(&j, NULL);
		for (i = 0; i < n; i++)
			json_system(&j, l->name[i], &l->claims[i]);
		json_end(&j, '}');
	} else {
		print_systems(l, n, out.file);
		if (a->n_words)
			print_features(&l->claims[0], out.file);
	}
	return cli_out_close(&out, e);
}

static int perform(const struct cli_args *a, struct library *l, struct err *e)
{
	if (machine_list_files("WEFT_CLAIMS", "claims", on_file, l))
		return err_set(e,
			"no claims found; set WEFT_CLAIMS to their directory");
	if (e->code || (a->n_words && keep_one(l, a->word[0], e)))
		return -1;
	return print(a, l, e);
}

int cli_claims(int argc, char **argv, struct err *e)
{
	struct cli_args a;
	struct library *l;
	int code = cli_parse(&a, argc, argv, CLI_JSON, "[SYSTEM]",
		"Reports how many of the features described in a machine's "
		"paper are demonstrated by tests.\vWith a SYSTEM, lists each "
		"feature with its tests.",
		e);

	if (code)
		return code < 0 ? -1 : 0;
	if (a.n_words > 1)
		return err_set(e,
			"unexpected argument \"%.60s\" (want at most one "
			"system)",
			a.word[1]);
	l = mem_alloc(1, sizeof(*l));
	l->e = e;
	code = perform(&a, l, e);
	library_free(l);
	return code;
}
