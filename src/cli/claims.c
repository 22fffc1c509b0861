#include "cli/cli.h"

#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "facts/facts.h"
#include "machine/machine.h"
#include "paper/claims.h"

/* A mutant's own name: that of its feature, with a number where there are
 * several. */
static void add_mutant_id(struct facts *f, const struct claim *c, size_t k)
{
	if (c->n_mutants > 1)
		facts_print(f, "id", "%.40s/%zu", c->id, k + 1);
	else
		facts_text(f, "id", c->id);
}

static void add_edits(struct facts *f, const struct claim_mutant *m)
{
	facts_list(f, "edits");
	for (size_t i = 0; i < m->n_edits; i++) {
		facts_group(f, NULL);
		facts_text(f, "file", m->edit[i].file);
		facts_text(f, "find", m->edit[i].find);
		facts_text(f, "put", m->edit[i].put);
		facts_end(f);
	}
	facts_end(f);
}

static void add_mutant(struct facts *f, const struct claim *c, size_t k)
{
	facts_group(f, NULL);
	add_mutant_id(f, c, k);
	facts_text(f, "feature", c->id);
	facts_text(f, "what", c->what);
	if (c->mutant[k].part)
		facts_text(f, "part", c->mutant[k].part);
	facts_list(f, "tests");
	for (size_t i = 0; i < c->n_tests; i++)
		facts_text(f, NULL, c->tests[i]);
	facts_end(f);
	add_edits(f, &c->mutant[k]);
	facts_end(f);
}

static void add_in_part(struct facts *f, const struct claims *c)
{
	facts_list(f, "in_part");
	for (size_t i = 0; i < c->n; i++) {
		if (c->v[i].status != CLAIM_IN_PART)
			continue;
		facts_group(f, NULL);
		facts_text(f, "id", c->v[i].id);
		facts_text(f, "lacks", c->v[i].lacks);
		facts_end(f);
	}
	facts_end(f);
}

static void add_system(
	struct facts *f, const char *name, const struct claims *c)
{
	facts_group(f, name);
	facts_count(f, "features", c->n);
	facts_count(f, "covered", claims_count(c, CLAIM_COVERED));
	facts_text(f, "_name", name);
	facts_text(f, "_title", c->title);
	facts_count(f, "_in_part", claims_count(c, CLAIM_IN_PART));
	add_in_part(f, c);
	facts_list(f, "missing");
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].status < CLAIM_IN_PART)
			facts_text(f, NULL, c->v[i].id);
	facts_end(f);
	facts_list(f, "mutants");
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->v[i].n_mutants; k++)
			add_mutant(f, &c->v[i], k);
	facts_end(f);
	facts_end(f);
}

static void add_features(struct facts *f, const struct claims *c)
{
	static const char *const status[] = { [CLAIM_NONE] = "missing",
		[CLAIM_MISSING] = "missing",
		[CLAIM_IN_PART] = "in part",
		[CLAIM_COVERED] = "covered" };

	for (size_t i = 0; i < c->n; i++) {
		const struct claim *v = &c->v[i];

		facts_say(f, NULL, "\n%-9s %-8s %s", v->id, status[v->status],
			v->what);
		if (v->lacks)
			facts_say(f, NULL, "                   lacks: %s",
				v->lacks);
		for (size_t k = 0; k < v->n_tests; k++)
			facts_say(
				f, NULL, "                   %s", v->tests[k]);
	}
}

/* All files are read, also those that are not asked for. */
static int perform(const struct cli_args *a, const struct machine_files *all,
	struct claims *c, struct err *e)
{
	size_t from = 0, to = all->n;
	char hint[NAME_HINT];
	struct facts f;

	for (size_t i = 0; i < all->n; i++)
		if (claims_read(&c[i], all->path[i], e))
			return -1;
	while (a->n_words && from < all->n &&
		strcmp(all->name[from], a->word[0]) != 0)
		from++;
	if (!all->n)
		return err_set(e,
			"no claims found; set WEFT_CLAIMS to their directory");
	if (from == all->n)
		return err_set(e, "no system is called \"%.40s\"%s", a->word[0],
			name_hint(a->word[0], (const char *const *)all->name,
				all->n, "; `weft claims` lists them", hint));
	if (a->n_words)
		to = from + 1;
	facts_init(&f);
	for (size_t i = from; i < to; i++)
		add_system(&f, all->name[i], &c[i]);
	facts_table(&f, "",
		"system=_name|>covered|>in part=_in_part|>features|"
		"title=_title",
		0);
	if (a->n_words)
		add_features(&f, &c[from]);
	return cli_tell(a, &f, CLI_FITTED, e);
}

static int run(const struct cli_args *a, struct err *e)
{
	struct machine_files *all = machine_files_new("WEFT_CLAIMS", "claims");
	struct claims *c = mem_alloc(all->n, sizeof(*c));
	int code = perform(a, all, c, e);

	for (size_t i = 0; i < all->n; i++)
		claims_free(&c[i]);
	mem_free(c);
	machine_files_free(all);
	return code;
}

const struct cli_command cli_claims = { .name = "claims",
	.brief = "list the published features and the tests that cover them",
	.takes = CLI_JSON,
	.usage = "[SYSTEM]",
	.help = "Reports how many of the features described in a machine's "
		"paper are covered by tests.\vWith a SYSTEM, lists each "
		"feature with its tests.",
	.words = { 0, 1 },
	.want = "(want at most one system)",
	.run = run };
