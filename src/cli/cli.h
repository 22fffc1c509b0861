/* What the commands share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/stream.h"
#include "sim/sim.h"

enum {
	CLI_MAX_SETS = 64,
	CLI_MAX_WORDS = 64,
	CLI_MAX_PLUGINS = 4,
	CLI_MAX_VARIABLES = 64
};

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
	CLI_PAPER = 16, /* --quick, --long, --verbose */
	CLI_PLAN = 1048576, /* --faults */
	CLI_TABLES = 32, /* --tables */
	CLI_FAULTS = CLI_PLAN | CLI_TABLES,
	CLI_RECORD = 64, /* --output, --links, --histogram, --until */
	CLI_SWEEP = 128,
	CLI_REPORT = 512, /* --output */
	CLI_OUTPUT = 1024, /* --output alone */
	CLI_DRAW = 2048, /* --svg, --dot */
	CLI_JOBS = 4096,
	CLI_GOAL = 8192, /* --binary */
	CLI_REST = 32768, /* words behind -- are a program's */
	CLI_MPI = 65536, /* -n, --check */
	CLI_LAUNCH = 524288, /* how programs of the host are started */
	CLI_FILE = 131072, /* --report */
	CLI_ALLOW = 262144, /* --allow-programs */
	CLI_PROCESSES = 2097152, /* --processes */
	CLI_BILL = 4194304, /* --bill, --csv */
	CLI_PLOT = 8388608, /* --figures */
};

struct cli_args {
	const char *word[CLI_MAX_WORDS +
			 1]; /* words that are not options, then NULL */
	size_t n_words;
	const char *const *rest; /* behind --, then NULL; or NULL */
	const char *set[CLI_MAX_SETS];
	size_t n_sets;
	const char *shape;
	const char *plugin[CLI_MAX_PLUGINS];
	size_t n_plugins;
	const char *faults; /* a file */
	const char *tables; /* a file */
	const char *output; /* a run file */
	int64_t sample; /* ps; 0: the default */
	int64_t until; /* ps; 0: to its end */
	const char *links; /* a file */
	const char *bill, *energy; /* a price list */
	const char *jobs; /* a file */
	bool is_together; /* do not run each job again on its own */
	bool is_histogram;
	bool is_error; /* measure the error of trains, */
	int64_t slice; /* in this part of the run, ppm; 0: the usual */
	bool is_past; /* saturation */
	const char *csv, *plot; /* files */
	const char *figures; /* with commas between them */
	bool is_json;
	bool is_svg, is_dot; /* instead of text */
	bool is_binary; /* instead of text */
	bool is_quiet;
	bool is_budget;
	bool follows; /* the message: */
	uint32_t follow_node, follow_number;
	bool is_quick, is_long;
	bool is_verbose;
	uint64_t seed;
	uint32_t ranks; /* 0: as many as fit */
	bool is_check; /* start nothing */
	const char *folder; /* --wdir */
	const char *variable[CLI_MAX_VARIABLES + 1]; /* -x, then NULL */
	size_t n_variables;
	bool is_debugged;
	uint32_t debugged; /* rank */
	const char *report; /* a file */
	bool allows_programs; /* that files name */
	uint32_t threads; /* or runs at a time; 0: as many as make sense */
	uint32_t processes; /* 0: one */
	uint32_t processes_per_run; /* of a sweep; 0: one */
	struct sim_trial trial;
	/* Of all options and their values, whatever their order, but for those
	 * in which processes of one run may differ. */
	uint64_t hash;
};

struct facts;

/* A command, which is listed in main.c. */
struct cli_command {
	const char *name; /* NULL: of a program with a main() of its own */
	const char *brief; /* for the list of commands */
	unsigned takes; /* enum cli_takes */
	const char *usage;
	const char *load; /* the only workload that it runs, or NULL */
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

/* How programs of the host are started. */
struct load_launch;
int cli_launch(
	const struct cli_args *a, struct load_launch *how, struct err *e);

/* The machine that a command line names; NULL with the error. */
struct machine;
struct machine *cli_machine(const struct cli_args *a, struct err *e);
struct machine_source;
struct machine_source cli_source(const struct cli_args *a);

/* A command's output is kept in a stream until it is whole.  Writes all of it
 * to stdout; -1 with the error. */
int cli_out_close(struct stream *o, struct err *e);
/* Discards it instead. */
void cli_out_drop(struct stream *o);

/* Writes facts as text, or as JSON with --json. */
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

/* Prints all of a command's output, or nothing if it fails. */
int cli_print(const struct cli_args *a,
	int (*perform)(const struct cli_args *a, FILE *f, struct err *e),
	struct err *e);
/* The same for a command whose output is facts. */
int cli_facts(const struct cli_args *a,
	int (*find)(const struct cli_args *a, struct facts *f, struct err *e),
	struct err *e);

/* From now on the first signal that asks to stop sets this flag, and the second
 * one ends the process; before, the first one does. */
const atomic_int *cli_stop_flag(void);
const atomic_int *cli_stop_asked(void); /* the flag alone */
/* While it is on, exit(0) ends the process with an error: programs must return
 * from run() instead. */
void cli_guard_exit(bool is_on);

/* Whether output to a stream may have colours. */
bool cli_colour(FILE *f);
/* The width of a terminal; 0 if the stream is not a terminal. */
size_t cli_width(FILE *f);

/* Replaces the progress line on the terminal at stderr, cut to its width; NULL
 * clears it. */
void cli_progress(const char *line);

/* Until its end the progress line says that a command works, if it takes long;
 * NULL if stderr is not a terminal. */
struct cli_wait *cli_wait_begin(void);
void cli_wait_end(struct cli_wait *w);

/* The path of the output: that of --output, or the first word with another
 * ending, so that a.db becomes a.html. */
struct out_kind;
int cli_name_output(const struct cli_args *a, const char *ending,
	const struct out_kind *kind, char *path, size_t size, struct err *e);

/* The plural s for a number of things. */
static inline const char *cli_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

extern const struct cli_command cli_run, cli_mpirun, cli_show, cli_check,
	cli_machines, cli_params, cli_paper, cli_claims, cli_sweep, cli_goal,
	cli_sql, cli_rerun, cli_compare, cli_trace, cli_plot, cli_report,
	cli_new;

#endif
