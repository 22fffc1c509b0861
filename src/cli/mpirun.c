/* weft mpirun: short for `weft run MACHINE mpi ranks=N ... -- PROGRAM`. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/mpirun.h"
#include "cli/run.h"

/* The words of `weft run`. */
static int set_words(struct cli_args *b, const struct cli_args *a,
	const char *ranks, struct err *e)
{
	if (a->n_words + 2 > CLI_MAX_WORDS)
		return err_set(e, "too many keys");
	b->word[1] = "mpi";
	b->n_words = 2;
	if (a->ranks)
		b->word[b->n_words++] = ranks;
	for (size_t i = 1; i < a->n_words; i++)
		b->word[b->n_words++] = a->word[i];
	b->word[b->n_words] = NULL;
	return 0;
}

static int run(const struct cli_args *a, struct err *e)
{
	struct cli_args b = *a;
	char ranks[32];

	snprintf(ranks, sizeof(ranks), "ranks=%u", a->ranks);
	return set_words(&b, a, ranks, e) ? -1 : cli_run.run(&b, e);
}

/* A program that stands where a machine or a key would. */
static int refuse(const struct cli_args *a, struct err *e)
{
	bool has_machine = !strchr(a->word[0], '/') || access(a->word[0], X_OK);
	const char *program = has_machine ? NULL : a->word[0];

	for (size_t i = 1; i < a->n_words && !program; i++)
		program = strchr(a->word[i], '=') ? NULL : a->word[i];
	return err_set(e,
		"want a %sprogram behind --, as in `weft mpirun %.60s -n 8 -- "
		"%.100s`",
		has_machine ? "" : "machine, and the ",
		has_machine ? a->word[0] : "gemini",
		program ? program : "./program");
}

/* By -n, as a key, or in front of each program. */
static bool has_ranks(const struct cli_args *a)
{
	bool has = a->ranks || !strcmp(a->rest[0], "-n") ||
		   !strcmp(a->rest[0], "-np");

	for (size_t i = 1; i < a->n_words && !has; i++)
		has = !strncmp(a->word[i], "ranks=", 6);
	return has;
}

static int mpirun(const struct cli_args *a, struct err *e)
{
	if (a->is_check)
		return mpirun_check(a, e);
	if (!a->n_words)
		return err_set(e, "want a machine, as in `weft mpirun gemini "
				  "-n 8 -- ./program`");
	if (!a->rest || !*a->rest)
		return refuse(a, e);
	if (!has_ranks(a))
		return err_set(e,
			"want the number of ranks, as in `weft mpirun %.60s "
			"-n 8 -- %.100s`",
			a->word[0], a->rest[0]);
	return run(a, e);
}

const struct cli_command cli_mpirun = { .name = "mpirun",
	.brief = "run an MPI program on a machine",
	.takes = CLI_MACHINE | CLI_RUN | CLI_BOOK | CLI_FAULTS | CLI_RECORD |
		 CLI_JSON | CLI_REST | CLI_MPI | CLI_LAUNCH | CLI_FILE |
		 CLI_PROCESSES,
	.usage = "MACHINE [KEY=VALUE...] -n N -- PROGRAM [ARGUMENT...]",
	.load = "mpi",
	.help = "Runs an MPI program, as it was built for Debian's Open MPI, "
		"on a machine: each rank is a process, and its messages cross "
		"the simulated network.  What the program prints goes to "
		"standard output, the report to standard error.\v`weft mpirun "
		"--check PROGRAM` looks at a program and starts nothing.  "
		"Several programs: -- ./a : -n 2 ./b",
	.words = { 0, CLI_MAX_WORDS },
	.run = mpirun };
