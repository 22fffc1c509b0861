/* `weft mpirun --check`: what would go wrong with a program. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/mpirun.h"
#include "facts/facts.h"
#include "outside/inspect.h"
#include "outside/start.h"

static const char *const kinds[] = {
	[INSPECT_DYNAMIC] = "dynamic",
	[INSPECT_STATIC] = "static",
	[INSPECT_SCRIPT] = "script",
	[INSPECT_OTHER] = "none",
};

static const char *const mpis[] = {
	[INSPECT_NO_MPI] = "none",
	[INSPECT_OPENMPI] = "Open MPI",
	[INSPECT_MPICH] = "MPICH",
	[INSPECT_UNKNOWN_MPI] = "unknown",
};

static const char *const weights[] = {
	[INSPECT_NOTE] = "note",
	[INSPECT_DOUBT] = "problem",
	[INSPECT_WRONG] = "problem",
	[INSPECT_BAD] = "problem",
};

static void add_finding(
	struct facts *f, enum inspect_weight w, const char *text)
{
	facts_group(f, NULL);
	facts_text(f, "kind", weights[w]);
	facts_text(f, "text", text);
	facts_end(f);
}

/* What ranks load, and who starts them. */
static bool add_host(struct facts *f)
{
	const struct inspect_how how = { .stack = "none" };
	struct inspect *x = mem_alloc(1, sizeof(*x));
	char path[1024], text[INSPECT_TEXT + 64];
	struct err e = { 0 };
	bool is_good = !start_find_helper(path, sizeof(path), &e);

	if (!is_good)
		add_finding(f, INSPECT_WRONG, e.text);
	else
		inspect(x, path, &how);
	for (uint32_t i = 0; i < x->n_findings; i++) {
		if (x->finding[i].weight == INSPECT_NOTE)
			continue;
		snprintf(text, sizeof(text), "weft-start: %s",
			x->finding[i].text);
		add_finding(f, INSPECT_WRONG, text);
		is_good = false;
	}
	mem_free(x);
	return is_good;
}

static void add_program(
	struct facts *f, const char *program, const struct inspect *x)
{
	facts_text(f, "program", program);
	facts_text(f, "path", x->path);
	facts_text(f, "kind", kinds[x->kind]);
	facts_text(f, "mpi", mpis[x->mpi]);
	facts_text(f, "library", *x->library ? x->library : NULL);
	facts_count(f, "clock_instructions", x->clocks);
	facts_list(f, "missing");
	for (uint32_t i = 0; i < x->n_missing; i++)
		facts_text(f, NULL, x->missing[i]);
	facts_end(f);
}

static const char *stack_of(const struct cli_args *a)
{
	for (size_t i = 1; i < a->n_words; i++)
		if (!strncmp(a->word[i], "stack=", 6))
			return a->word[i] + 6;
	return "openmpi";
}

static int check(const struct cli_args *a, const char *program,
	const struct inspect_how *how, struct err *e)
{
	struct inspect *x = mem_alloc(1, sizeof(*x));
	const struct inspect_finding *worst;
	struct facts f;
	bool is_good;
	int code;

	inspect(x, program, how);
	worst = inspect_worst(x);
	facts_init(&f);
	add_program(&f, program, x);
	facts_list(&f, "findings");
	for (uint32_t i = 0; i < x->n_findings; i++)
		add_finding(&f, x->finding[i].weight, x->finding[i].text);
	is_good = add_host(&f) && !worst;
	facts_end(&f);
	facts_flag(&f, "runs", is_good);
	facts_line(&f, NULL, "{program}: {path}[, linked with {library}]");
	facts_each(&f, "findings", 0, NULL, "{kind}: {text}");
	facts_line(&f, NULL,
		is_good ? "no problem was found"
			: "it would not run as it should");
	code = worst && worst->weight == INSPECT_BAD ? EXIT_BAD_INPUT
	       : is_good			     ? EXIT_FINISHED
						     : EXIT_ANSWER_NO;
	mem_free(x);
	return cli_tell(a, &f, CLI_PLAIN, e) ? -1 : code;
}

int mpirun_check(const struct cli_args *a, struct err *e)
{
	const char *program = a->rest && *a->rest ? *a->rest
			      : a->n_words == 1	  ? a->word[0]
						  : NULL;
	const struct inspect_how how = {
		.folder = a->folder,
		.variables = a->variable,
		.stack = stack_of(a),
		.counts_clocks = true,
	};

	if (!program)
		return err_set(e, "want a program, as in `weft mpirun --check "
				  "./program`");
	return check(a, program, &how, e);
}
