/* What the commands share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum { CLI_MAX_SETS = 64, CLI_MAX_WORDS = 64, CLI_MAX_PLUGINS = 4 };

/* Which of the common options a command takes. */
enum cli_takes {
	CLI_SETS = 1, /* --set, --shape */
	CLI_PLUGIN = 16384, /* --plugin */
	CLI_MACHINE = CLI_SETS | CLI_PLUGIN,
	CLI_SEED = 2, /* --seed */
	CLI_THREADS = 256, /* --threads, --quiet */
	CLI_RUN = CLI_SEED | CLI_THREADS,
	CLI_JSON = 4,
	CLI_BOOK = 8, /* --budget, --follow */
	CLI_PAPER = 16, /* --quick, --verbose */
	CLI_FAULTS = 32,
	CLI_RECORD = 64, /* --output, --links, --histogram, --until */
	CLI_SWEEP = 128,
	CLI_REPORT = 512, /* --output */
	CLI_OUTPUT = 1024, /* --output alone */
	CLI_DRAW = 2048, /* --svg, --dot */
	CLI_JOBS = 4096,
	CLI_GOAL = 8192, /* --binary */
};

struct cli_args {
	const char *word[CLI_MAX_WORDS + 1]; /* what is no option, then NULL */
	size_t n_words;
	const char *set[CLI_MAX_SETS];
	size_t n_sets;
	const char *shape;
	const char *plugin[CLI_MAX_PLUGINS];
	size_t n_plugins;
	const char *faults; /* a file */
	const char *output; /* a run file */
	int64_t sample; /* ps; 0: the default */
	int64_t until; /* ps; 0: to its end */
	const char *links; /* a file */
	const char *jobs; /* a file */
	bool is_together; /* jobs are not run alone, too */
	bool is_histogram;
	bool is_past; /* saturation */
	const char *csv, *svg; /* files */
	const char *figures; /* with commas between them */
	bool is_json;
	bool is_svg, is_dot; /* instead of text */
	bool is_binary; /* instead of text */
	bool is_quiet;
	bool is_budget;
	bool follows; /* this message: */
	uint32_t follow_node, follow_number;
	bool is_quick;
	bool is_verbose;
	uint64_t seed;
	uint32_t threads; /* or runs at a time; 0: as many as make sense */
};

struct facts;

/* A command, which is listed in main.c. */
struct cli_command {
	const char *name; /* NULL: of a program with a main() of its own */
	const char *brief; /* for the list of commands */
	unsigned takes; /* enum cli_takes */
	const char *usage;
	const char *help; /* a \v stands where the options go */
	void (*list)(FILE *f); /* writes more of the help; or NULL */
	/* At least and at most so many words, and the error otherwise: a
	 * sentence or, in brackets, the end of one about the word that is too
	 * much. */
	size_t words[2];
	const char *want;
	/* One of these.  Returns the exit code, or -1 with the error; prints,
	 * whole or not at all; adds facts, which are printed. */
	int (*run)(const struct cli_args *a, struct err *e);
	int (*print)(const struct cli_args *a, FILE *f, struct err *e);
	int (*facts)(const struct cli_args *a, struct facts *f, struct err *e);
};

/* Reads a command's arguments.  Returns 0, or -1 with the error, or 1 where
 * --help was asked for and printed. */
int cli_parse(struct cli_args *a, int argc, char **argv,
	const struct cli_command *c, struct err *e);

/* The machine that a command line names; NULL with the error. */
struct machine;
struct machine *cli_machine(const struct cli_args *a, struct err *e);

/* A command's output: kept in memory until it is whole. */
struct cli_out {
	FILE *file;
	char *text;
	size_t size;
};

void cli_out_open(struct cli_out *o);
/* Writes it to stdout, or says why it cannot. */
int cli_out_close(struct cli_out *o, struct err *e);
/* Instead: none of it is written. */
void cli_out_drop(struct cli_out *o);

/* Facts, as JSON where that is asked for; otherwise as text. */
enum cli_look {
	CLI_PLAIN,
	CLI_BOLD, /* heads of tables on a terminal */
	CLI_FITTED, /* and tables no wider than it is */
};
struct facts;
void cli_write(const struct cli_args *a, const struct facts *f,
	enum cli_look look, FILE *out);
/* The same as a command's whole output; the facts are freed. */
int cli_tell(const struct cli_args *a, struct facts *f, enum cli_look look,
	struct err *e);

/* The output of a command that only prints: whole, or not at all. */
int cli_print(const struct cli_args *a,
	int (*perform)(const struct cli_args *a, FILE *f, struct err *e),
	struct err *e);
/* The same of one that only finds facts. */
int cli_facts(const struct cli_args *a,
	int (*find)(const struct cli_args *a, struct facts *f, struct err *e),
	struct err *e);

/* The first that asks to stop sets what is returned from now on, the second one
 * kills. */
const atomic_int *cli_stop_flag(void);
const atomic_int *cli_stop_asked(void); /* the same, which changes nothing */
/* While programs run, exit(0) ends the process with a line and an error. */
void cli_guard_exit(bool is_on);

/* Whether to colour what goes to a stream. */
bool cli_colour(FILE *f);
/* A terminal's columns; 0 where it is none. */
size_t cli_width(FILE *f);

/* On stderr, a terminal: a line in place of the last one, as much of it as
 * there is room for; NULL: none. */
void cli_progress(const char *line);

/* The file that is written: a.db becomes a.html, or whatever the ending is,
 * unless it is given. */
struct out_kind;
int cli_name_output(const struct cli_args *a, const char *ending,
	const struct out_kind *kind, char *path, size_t size, struct err *e);

/* "s" behind the name of things, unless there is one of them. */
static inline const char *cli_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

extern const struct cli_command cli_run, cli_show, cli_check, cli_machines,
	cli_params, cli_paper, cli_claims, cli_sweep, cli_goal, cli_sql,
	cli_rerun, cli_compare, cli_trace, cli_plot, cli_report, cli_new;

#endif
