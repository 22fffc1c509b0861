#define _GNU_SOURCE
#include "cli/cli.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/name.h"
#include "cli/cluster.h"
#include "cli/complete.h"
#include "cli/process.h"
#include "load/load.h"
#include "machine/machine.h"

/* In the order of the help. */
static const struct cli_command *const commands[] = { &cli_run, &cli_mpirun,
	&cli_show, &cli_check, &cli_machines, &cli_params, &cli_paper,
	&cli_claims, &cli_sweep, &cli_goal, &cli_sql, &cli_rerun, &cli_compare,
	&cli_trace, &cli_plot, &cli_report, &cli_new };

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void usage(FILE *f)
{
	fputs("usage: weft COMMAND [ARGUMENT...]\n\n", f);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(f, "  %-10s %s\n", commands[i]->name,
			commands[i]->brief);
	fputs("  help       list the commands; `weft help COMMAND` describes a "
	      "command\n\n`weft COMMAND --help` lists the options of a "
	      "command; the manual is weft(1).\n",
		f);
}

static const struct cli_command *find(const char *name, struct err *e)
{
	const char *names[N_COMMANDS + 3];
	char hint[NAME_HINT];

	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
		names[i] = commands[i]->name;
	}
	names[N_COMMANDS] = "help";
	names[N_COMMANDS + 1] = "--help";
	names[N_COMMANDS + 2] = "--version";
	if (!strcmp(name, "list") || !strcmp(name, "ls")) {
		err_set(e,
			"no command is called \"%s\"; did you mean "
			"machines?",
			name);
		return NULL;
	}
	if (machine_is_name(name) || load_find(name)) {
		err_set(e,
			"no command is called \"%s\"; it is a %s (want `weft "
			"run MACHINE WORKLOAD`)",
			name, machine_is_name(name) ? "machine" : "workload");
		return NULL;
	}
	err_set(e, "no command is called \"%.40s\"%s", name,
		name_hint(name, names, N_COMMANDS + 3,
			"; `weft help` lists them", hint));
	return NULL;
}

static int perform(
	const struct cli_command *c, int argc, char **argv, struct err *e)
{
	struct cli_args a;
	int code = cli_parse(&a, argc, argv, c, e);

	if (code)
		return code < 0 ? -1 : 0;
	code = cli_cluster_refuse(c, e);
	if (code)
		return code;
	return c->facts	  ? cli_facts(&a, c->facts, e)
	       : c->print ? cli_print(&a, c->print, e)
			  : c->run(&a, e);
}

static int help(int argc, char **argv, struct err *e)
{
	const struct cli_command *c;
	char name[64], flag[] = "--help";
	char *args[] = { name, flag, NULL };

	if (argc < 2 || argv[1][0] == '-') {
		usage(stdout);
		return 0;
	}
	c = find(argv[1], e);
	if (!c)
		return -1;
	snprintf(name, sizeof(name), "weft %s", c->name);
	return perform(c, 2, args, e);
}

/* What shells ask for; the last word is the one that is typed. */
static int complete(int argc, char **argv, struct err *e)
{
	const char *typed = argc > 1 ? argv[argc - 1] : "";
	char flag[] = "--complete";

	if (argc > 2 && strcmp(argv[1], "help") != 0) {
		const struct cli_command *c = find(argv[1], e);

		argv[0] = argv[1];
		argv[1] = flag;
		return c ? perform(c, argc, argv, e) : -1;
	}
	for (size_t i = 0; i < N_COMMANDS; i++)
		cli_offer(typed, commands[i]->name, commands[i]->brief);
	if (argc > 2)
		return 0;
	cli_offer(typed, "help", "print help");
	cli_offer(typed, "--help", "print help");
	cli_offer(typed, "--version", "print the version");
	cli_offer(typed, "-V", "print the version");
	return 0;
}

static int dispatch(int argc, char **argv, struct err *e)
{
	const struct cli_command *c;
	static char name[64];

	if (argc < 2)
		return err_set(e, "no command given; `weft help` lists them");
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") ||
		!strcmp(argv[1], "version")) {
		puts("weft " WEFT_VERSION);
		return 0;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") ||
		!strcmp(argv[1], "-h"))
		return help(argc - 1, argv + 1, e);
	if (!strcmp(argv[1], "complete"))
		return complete(argc - 1, argv + 1, e);
	c = find(argv[1], e);
	if (!c)
		return -1;
	snprintf(name, sizeof(name), "weft %s", c->name);
	argv[1] = name;
	return perform(c, argc - 1, argv + 1, e);
}

/* An error is one line, whatever names the user gave. */
static void complain(struct err *e)
{
	name_clean(e->text, "");
	fprintf(stderr, "weft: %s\n", e->text);
}

/*
 * The limit of the stack also gives each thread its stack, so with a small one
 * weft starts anew under a larger one.
 */
static int check_stack(char **argv, struct err *e)
{
	enum { LEAST = 1 << 20 };
	struct rlimit limit;
	unsigned long long kib;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= LEAST)
		return 0;
	kib = limit.rlim_cur >> 10;
	limit.rlim_cur = LEAST;
	if (limit.rlim_max < LEAST)
		limit.rlim_max = LEAST;
	if (!setrlimit(RLIMIT_STACK, &limit))
		execv("/proc/self/exe", argv);
	return err_set(e, "the stack limit is %llu KiB (want `ulimit -s %d`)",
		kib, LEAST >> 10);
}

int main(int argc, char **argv)
{
	struct cli_process before;
	struct err e = { 0 };
	int code;

	if (check_stack(argv, &e)) {
		complain(&e);
		return e.code;
	}
	cli_process_begin(&before);
	code = dispatch(argc, argv, &e);
	cli_stop_flag(); /* how it ends is settled */
	if (e.code) {
		complain(&e);
		return e.code;
	}
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "weft: cannot write the output\n");
		return EXIT_BAD_INPUT;
	}
	return code;
}
