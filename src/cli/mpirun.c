/* weft mpirun: short for `weft run MACHINE mpi ranks=N ... -- PROGRAM`. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/mpirun.h"
#include "cli/run.h"

/* NAME stands for the value that it has here. */
static char *variable_of(const char *text, struct err *e)
{
	size_t n = strcspn(text, "="), size;
	const char *value = text[n] ? "" : getenv(text);
	char *pair;

	if (!n || !value) {
		err_set(e,
			n ? "-x %.100s: it is not in the environment (want "
			    "NAME=VALUE)"
			  : "-x %.100s: want NAME or NAME=VALUE",
			text);
		return NULL;
	}
	size = strlen(text) + strlen(value) + 2;
	pair = mem_alloc(size, 1);
	snprintf(pair, size, "%s%s%s", text, text[n] ? "" : "=", value);
	return pair;
}

static int check_folder(const char *path, struct err *e)
{
	struct stat s;

	if (stat(path, &s))
		return err_set(e, "--wdir: %.200s: %s", path, strerror(errno));
	if (!S_ISDIR(s.st_mode) || access(path, X_OK))
		return err_set(e,
			"--wdir: %.200s: it is not a folder that may "
			"be entered",
			path);
	return 0;
}

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
	char *pair[CLI_MAX_VARIABLES] = { NULL }, ranks[32];
	int code = a->folder ? check_folder(a->folder, e) : 0;

	snprintf(ranks, sizeof(ranks), "ranks=%u", a->ranks);
	for (size_t i = 0; i < a->n_variables && !code; i++) {
		b.variable[i] = pair[i] = variable_of(a->variable[i], e);
		code = pair[i] ? 0 : -1;
	}
	if (!code)
		code = set_words(&b, a, ranks, e);
	if (!code)
		code = cli_run.run(&b, e);
	for (size_t i = 0; i < a->n_variables; i++)
		mem_free(pair[i]);
	return code;
}

static int mpirun(const struct cli_args *a, struct err *e)
{
	if (a->is_check)
		return mpirun_check(a, e);
	if (!a->n_words)
		return err_set(e, "want a machine, as in `weft mpirun gemini "
				  "-n 8 -- ./program`");
	if (!a->rest || !*a->rest)
		return err_set(e,
			"want a program behind --, as in `weft mpirun %.60s -n "
			"8 -- ./program`",
			a->word[0]);
	return run(a, e);
}

const struct cli_command cli_mpirun = { .name = "mpirun",
	.brief = "run an MPI program on a machine",
	.takes = CLI_MACHINE | CLI_RUN | CLI_BOOK | CLI_FAULTS | CLI_RECORD |
		 CLI_JSON | CLI_REST | CLI_MPI | CLI_FILE,
	.usage = "MACHINE -n N [KEY=VALUE...] -- PROGRAM [ARGUMENT...]",
	.help = "Runs an MPI program, as it was built for Debian's Open MPI, "
		"on a machine: each rank is a process, and its messages cross "
		"the simulated network.  What the program prints goes to "
		"standard output, the report to standard error.\v`weft mpirun "
		"--check PROGRAM` looks at a program and starts nothing.  "
		"Several programs: -- ./a : -n 2 ./b",
	.words = { 0, CLI_MAX_WORDS },
	.run = mpirun };
