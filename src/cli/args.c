#define _GNU_SOURCE
#include "cli/cli.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "base/units.h"
#include "cli/complete.h"
#include "load/load.h"
#include "machine/machine.h"
#include "meas/digest.h"
#include "out/file.h"
#include "sim/cluster.h"
#include "sim/kin.h"
#include "sim/sim.h"

enum { MOST_OPTIONS = 48, FIRST_KEY = 256 /* of options without letters */ };
enum { HELP_WIDTH = 79, HELP_INDENT = 29 };

/* What an option does with its value. */
enum kind {
	TEXT,
	FLAG,
	TIME,
	SET,
	PLUGIN,
	VARIABLE,
	FOLLOW,
	SLICE,
	SEED,
	COUNT,
	KIN,
	SHARES,
	RANKS,
	RANK,
	HELP
};

struct cli_option {
	unsigned takes; /* commands that take all of these have it */
	const char *name;
	char letter;
	enum kind kind;
	size_t offset; /* in struct cli_args */
	const char *arg, *doc; /* doc is NULL: for tests only */
};

#define AT(field) offsetof(struct cli_args, field)

/* In the order of the help. */
static const struct cli_option table[] = {
	{ CLI_MPI, "ranks", 'n', RANKS, AT(ranks), "N", "number of processes" },
	{ CLI_MPI, "check", 0, FLAG, AT(is_check), NULL,
		"start nothing; say what would go wrong with a program" },
	{ CLI_LAUNCH, "wdir", 0, TEXT, AT(folder), "DIR",
		"folder in which the processes start" },
	{ CLI_LAUNCH, "export", 'x', VARIABLE, 0, "NAME[=VALUE]",
		"set a variable in the environment of the processes" },
	{ CLI_LAUNCH, "debug", 0, RANK, AT(debugged), "RANK",
		"start this process under gdb, or let it wait for a debugger" },
	{ CLI_FILE, "report", 0, TEXT, AT(report), "FILE",
		"write the report to FILE" },
	{ CLI_ALLOW, "allow-programs", 0, FLAG, AT(allows_programs), NULL,
		"run programs of this host that a file names" },
	{ CLI_SETS, "set", 's', SET, 0, "PATH=VALUE",
		"set a parameter of the machine (see `weft params`)" },
	{ CLI_SETS, "shape", 0, TEXT, AT(shape), "AxBxC",
		"number of routers in each dimension of a torus, or number of "
		"nodes of other topologies" },
	{ CLI_PLUGIN, "plugin", 0, PLUGIN, 0, "FILE",
		"load a topology, routing or workload from a shared object "
		"(see weft-plugin(7))" },
	{ CLI_SEED, "seed", 0, SEED, AT(seed), "N",
		"seed of all random numbers (default 1)" },
	{ CLI_THREADS, "threads", 't', COUNT, AT(threads), "N",
		"number of threads; the result does not depend on it" },
	{ CLI_PROCESSES, "processes", 0, KIN, AT(processes), "N",
		"number of processes of this computer that share the "
		"simulation; the result does not depend on it" },
	{ CLI_PROCESSES, "pack", 0, FLAG, AT(trial.packs), NULL, NULL },
	{ CLI_PROCESSES, "fence", 0, FLAG, AT(trial.fences), NULL, NULL },
	{ CLI_PROCESSES, "count-mail", 0, FLAG, AT(trial.counts), NULL, NULL },
	{ CLI_PROCESSES, "count-work", 0, FLAG, AT(trial.balance), NULL, NULL },
	{ CLI_PROCESSES, "ahead", 0, FLAG, AT(trial.is_ahead), NULL, NULL },
	{ CLI_PROCESSES, "plain", 0, FLAG, AT(trial.is_plain), NULL, NULL },
	{ CLI_THREADS, "quiet", 0, FLAG, AT(is_quiet), NULL,
		"print no progress line" },
	{ CLI_BOOK, "budget", 0, FLAG, AT(is_budget), NULL,
		"report where the time of messages went" },
	{ CLI_BOOK, "follow", 0, FOLLOW, 0, "[NODE.]N",
		"trace message N (counted from 0) of node NODE (default 0) "
		"step by step" },
	{ CLI_PLAN, "faults", 0, TEXT, AT(faults), "FILE",
		"use the plan of faults (bit errors and failing parts) in FILE "
		"(see weft-machine(5))" },
	{ CLI_TABLES, "tables", 0, TEXT, AT(tables), "FILE",
		"write the tables of switches in FILE before anything runs "
		"(see weft-machine(5))" },
	{ CLI_JOBS, "jobs", 0, TEXT, AT(jobs), "FILE",
		"file of several jobs that run at once, each on its own nodes "
		"(see weft-jobs(5))" },
	{ CLI_JOBS | CLI_RECORD, "no-alone", 0, FLAG, AT(is_together), NULL,
		"with --jobs: do not run each job again on its own" },
	{ CLI_JOBS | CLI_RECORD, "error", 0, FLAG, AT(is_error), NULL,
		"with coarse=N: run again with single packets, for a tenth of "
		"the simulated time, and print how much each figure differs" },
	{ CLI_JOBS | CLI_RECORD, "error-slice", 0, SLICE, AT(slice), "SHARE",
		"like --error, but for this share of the simulated time, such "
		"as 50%; 100%: the whole run" },
	{ CLI_RECORD, "output", 'o', TEXT, AT(output), "FILE",
		"save the run (settings, results, samples) to FILE (see "
		"weft-runfile(5))" },
	{ CLI_RECORD, "sample", 0, TIME, AT(sample), "TIME",
		"interval between samples in the run file (default 5us)" },
	{ CLI_RECORD, "links", 0, TEXT, AT(links), "FILE",
		"write the traffic of each link to a CSV file" },
	{ CLI_RECORD, "histogram", 0, FLAG, AT(is_histogram), NULL,
		"print the distribution of latencies" },
	{ CLI_RECORD, "energy", 0, TEXT, AT(energy), "FILE",
		"report the energy of the network, by the price list in FILE "
		"(see weft-bill(5))" },
	{ CLI_RECORD, "until", 0, TIME, AT(until), "TIME",
		"end the run at this simulated time and report the results so "
		"far" },
	{ CLI_SWEEP, "output", 'o', TEXT, AT(output), "FILE",
		"keep the results in a run file (see weft-runfile(5)); run "
		"only points that it does not have yet" },
	{ CLI_SWEEP, "jobs", 'j', COUNT, AT(threads), "N",
		"number of concurrent runs (default: number of cores)" },
	{ CLI_SWEEP, "processes", 0, COUNT, AT(processes), "N",
		"number of processes of this computer for the runs (see "
		"weft-cluster(7))" },
	{ CLI_SWEEP, "processes-per-run", 0, KIN, AT(processes_per_run), "N",
		"number of processes that share each run (default 1)" },
	{ CLI_SWEEP, "bill", 0, TEXT, AT(bill), "FILE",
		"add the price of each network, and the price of the rate that "
		"it delivers, by the price list in FILE (see weft-bill(5))" },
	{ CLI_SWEEP, "figures", 0, TEXT, AT(figures), "NAME,...",
		"print these figures, at most four, by their names in `weft "
		"run --json`" },
	{ CLI_PLOT, "figures", 0, TEXT, AT(figures), "NAME",
		"with curves: the figure to draw, named as in `weft run "
		"--json`" },
	{ CLI_SWEEP, "past-saturation", 0, FLAG, AT(is_past), NULL,
		"continue curves beyond saturation" },
	{ CLI_SWEEP, "csv", 0, TEXT, AT(csv), "FILE",
		"write all figures of all points" },
	{ CLI_SWEEP, "plot", 0, TEXT, AT(plot), "FILE",
		"draw curves of the first figure as SVG, PDF or PNG, by the "
		"ending of the name" },
	{ CLI_SWEEP, "svg", 0, TEXT, AT(plot), "FILE", "old name of --plot" },
	{ CLI_SWEEP, "quiet", 0, FLAG, AT(is_quiet), NULL,
		"print no progress line" },
	{ CLI_OUTPUT, "output", 'o', TEXT, AT(output), "FILE",
		"write to a file (default: stdout)" },
	{ CLI_GOAL, "binary", 0, FLAG, AT(is_binary), NULL,
		"write the binary form" },
	{ CLI_REPORT, "output", 'o', TEXT, AT(output), "FILE",
		"file to write" },
	{ CLI_JSON, "json", 0, FLAG, AT(is_json), NULL,
		"print one JSON object" },
	{ CLI_BILL, "bill", 0, TEXT, AT(bill), "FILE",
		"print the parts of the network with their prices and watts, "
		"by the price list in FILE (see weft-bill(5))" },
	{ CLI_BILL, "csv", 0, TEXT, AT(csv), "FILE",
		"with --bill: write the parts to a CSV file" },
	{ CLI_DRAW, "processes", 0, SHARES, AT(processes), "N",
		"print the share of each of N Weft processes instead (see "
		"weft-cluster(7))" },
	{ CLI_DRAW, "svg", 0, FLAG, AT(is_svg), NULL, "print a picture (SVG)" },
	{ CLI_DRAW, "dot", 0, FLAG, AT(is_dot), NULL,
		"print a graph for graphviz" },
	{ CLI_PAPER, "quick", 0, FLAG, AT(is_quick), NULL,
		"skip the slow experiments; the others take less than a "
		"minute" },
	{ CLI_PAPER, "long", 0, FLAG, AT(is_long), NULL,
		"also measure the rows that take more than 30 s each" },
	{ CLI_PAPER, "verbose", 'v', FLAG, AT(is_verbose), NULL,
		"print each row's note, its tolerance and the commands that "
		"measure it" },
	{ 0, "help", 'h', HELP, 0, NULL, "print this help" },
};

struct parse {
	struct cli_args *a;
	struct err *e;
	bool is_help;
	uint64_t seen; /* rows of the table */
	/* those that the command has, and which rows they are */
	struct argp_option options[MOST_OPTIONS];
	const struct cli_option *row[MOST_OPTIONS];
};

static int read_number(const char *option, const char *text, uint64_t min,
	uint64_t max, uint64_t *n, struct err *e)
{
	char *end;

	errno = 0;
	*n = strtoull(text, &end, 10);
	if (!*text || *end || errno || *text < '0' || *text > '9' || *n < min ||
		*n > max)
		return err_set(e,
			"--%s: \"%.40s\" is not a number from %llu to %llu",
			option, text, (unsigned long long)min,
			(unsigned long long)max);
	return 0;
}

static int read_count(const char *option, const char *text, uint64_t min,
	uint64_t max, uint32_t *count, struct err *e)
{
	uint64_t n;

	if (read_number(option, text, min, max, &n, e))
		return -1;
	*count = (uint32_t)n;
	return 0;
}

static int read_time(
	const char *option, const char *text, int64_t *t, struct err *e)
{
	const char *why = "it must be above 0";

	if (units_read(UNIT_TIME, text, t, &why) || *t <= 0)
		return err_set(e,
			"--%s: \"%.40s\" is not a time: %s (want a number with "
			"%s)",
			option, text, why, units_list(UNIT_TIME));
	return 0;
}

static int read_share(
	const char *option, const char *text, int64_t *ppm, struct err *e)
{
	const char *why = "it must be from 0.1 % to 100 %";

	if (units_read(UNIT_FRACTION, text, ppm, &why) || *ppm < 1000 ||
		*ppm > 1000000)
		return err_set(e,
			"--%s: \"%.40s\" is not a share of a run: %s (want "
			"10%%, or 100%% for the whole run)",
			option, text, why);
	return 0;
}

/* N, or NODE.N. */
static int read_follow(struct cli_args *a, const char *text, struct err *e)
{
	const char *dot = strchr(text, '.');
	char node[16] = "0";
	uint64_t n, s;

	if (dot && dot - text >= (ptrdiff_t)sizeof(node))
		dot = NULL; /* no number, then */
	if (dot)
		snprintf(node, sizeof(node), "%.*s", (int)(dot - text), text);
	if (read_number("follow", node, 0, UINT32_MAX - 1, &s, e) ||
		read_number("follow", dot ? dot + 1 : text, 0, UINT32_MAX - 1,
			&n, e))
		return -1;
	a->follows = true;
	a->follow_node = (uint32_t)s;
	a->follow_number = (uint32_t)n;
	return 0;
}

static int add(struct parse *p, const struct cli_option *o, const char **list,
	size_t *n, size_t most, const char *arg)
{
	if (*n == most)
		return err_set(
			p->e, "more than %zu --%s options", most, o->name);
	list[(*n)++] = arg;
	return 0;
}

/* NAME alone stands for the value that it has here. */
static int add_variable(
	struct parse *p, const struct cli_option *o, const char *arg)
{
	if (!*arg || *arg == '=')
		return err_set(
			p->e, "-x \"%.100s\": want NAME or NAME=VALUE", arg);
	if (!strchr(arg, '=') && !getenv(arg))
		return err_set(p->e,
			"-x %.100s: it is not in the environment (want "
			"NAME=VALUE)",
			arg);
	return add(p, o, p->a->variable, &p->a->n_variables, CLI_MAX_VARIABLES,
		arg);
}

/* Of those that may be given several times. */
static bool is_list(const struct cli_option *o)
{
	return o->kind == SET || o->kind == PLUGIN || o->kind == VARIABLE;
}

/* Every other option says one thing, and says it once. */
static int check_once(struct parse *p, const struct cli_option *o)
{
	uint64_t bit = UINT64_C(1) << (o - table);

	if (p->seen & bit && !is_list(o) && o->kind != HELP)
		return err_set(p->e, "--%s is given twice", o->name);
	p->seen |= bit;
	return 0;
}

/* Processes of one run may have other numbers of threads, and be quiet. */
static void hash_option(
	struct cli_args *a, const struct cli_option *o, const char *arg)
{
	uint64_t h = digest_text(0, o->name);

	if (o->offset == AT(threads) || o->offset == AT(is_quiet))
		return;
	/* a list has an order */
	a->hash = is_list(o) ? digest_mix(a->hash + digest_text(h, arg))
			     : a->hash + digest_text(h, arg ? arg : "");
}

static int take_option(
	struct parse *p, const struct cli_option *o, const char *arg)
{
	struct cli_args *a = p->a;
	void *at = (char *)a + o->offset;

	if (check_once(p, o))
		return -1;
	hash_option(a, o, arg);
	switch (o->kind) {
	case TEXT:
		*(const char **)at = arg;
		return 0;
	case FLAG:
		*(bool *)at = true;
		return 0;
	case TIME:
		return read_time(o->name, arg, at, p->e);
	case SET:
		return add(p, o, a->set, &a->n_sets, CLI_MAX_SETS, arg);
	case PLUGIN:
		return add(
			p, o, a->plugin, &a->n_plugins, CLI_MAX_PLUGINS, arg);
	case VARIABLE:
		return add_variable(p, o, arg);
	case FOLLOW:
		return read_follow(a, arg, p->e);
	case SLICE:
		a->is_error = true;
		return read_share(o->name, arg, at, p->e);
	case SEED:
		return read_number(o->name, arg, 0, UINT64_MAX - 1, at, p->e);
	case COUNT:
		return read_count(o->name, arg, 1, SIM_MAX_WORKERS, at, p->e);
	case KIN:
		return read_count(o->name, arg, 1, KIN_MOST, at, p->e);
	case SHARES:
		return read_count(o->name, arg, 1, CLUSTER_MOST, at, p->e);
	case RANK:
		a->is_debugged = true;
		return read_count(o->name, arg, 0, TOPO_MAX_ROUTERS, at, p->e);
	case RANKS:
		return read_count(o->name, arg, 1, TOPO_MAX_ROUTERS, at, p->e);
	default:
		p->is_help = true;
		return 0;
	}
}

static error_t parse_one(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	size_t i = 0;

	if (key == ARGP_KEY_ARG) {
		if (p->a->n_words == CLI_MAX_WORDS) {
			err_set(p->e, "more than %d arguments", CLI_MAX_WORDS);
			return EINVAL;
		}
		p->a->word[p->a->n_words++] = arg;
		return 0;
	}
	while (p->row[i] && p->options[i].key != key)
		i++;
	if (!p->row[i])
		return ARGP_ERR_UNKNOWN;
	return take_option(p, p->row[i], arg) ? EINVAL : 0;
}

static void collect(struct parse *p, unsigned takes)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct cli_option *o = &table[i];

		if ((takes & o->takes) != o->takes)
			continue;
		p->row[n] = o;
		p->options[n++] = (struct argp_option){
			.name = o->name,
			.key = o->letter ? o->letter : FIRST_KEY + (int)i,
			.arg = o->arg,
			.doc = o->doc,
		};
	}
	BUG_IF(n >= MOST_OPTIONS);
}

/* The option that a long name means, also by its beginning, or NULL. */
static const struct argp_option *find_long(
	const struct argp_option *options, const char *name, size_t len)
{
	const struct argp_option *found = NULL;

	for (; options->name; options++) {
		if (strncmp(options->name, name, len) != 0)
			continue;
		if (!options->name[len])
			return options;
		if (found)
			return NULL;
		found = options;
	}
	return found;
}

static const struct argp_option *find_short(
	const struct argp_option *options, char c)
{
	while (options->name && options->key != c)
		options++;
	return options->name ? options : NULL;
}

/* What people mean by options that a command does not have. */
static const char *const meant[][2] = {
	{ "nodes", "the number of nodes is set by --shape N, or by --shape "
		   "AxBxC for a torus" },
	{ "size", "the size is set by --shape N, or by --shape AxBxC for a "
		  "torus" },
	{ "seed", "want the key seed, as in seed=1..3" },
	{ "threads", "want --jobs, the number of concurrent runs" },
	{ "machine", "the machine is the first argument, without an option" },
	{ "workload",
		"the workload is the second argument, without an option" },
	{ "version", "want `weft --version`" },
	{ "param", "want --set PATH=VALUE" },
	{ "out", "want --output FILE" },
	{ "file", "want --output FILE, or -o FILE" },
	{ "csv", "`weft sweep --csv` writes results as CSV, --links the "
		 "traffic of links" },
	{ "plot", "save the run with --output, then use `weft plot`" },
	{ "svg", "save the run with --output, then use `weft plot`" },
};

/* A key of some workload, or something that people mean; or NULL. */
static const char *find_meant(const char *name, char *text, size_t size)
{
	for (size_t i = 0; i < sizeof(meant) / sizeof(meant[0]); i++)
		if (!strcmp(meant[i][0], name))
			return meant[i][1];
	for (size_t i = 0; load_registry[i]; i++)
		for (size_t k = 0; k < load_registry[i]->n_params; k++)
			if (!strcmp(load_registry[i]->params[k].name, name)) {
				snprintf(text, size,
					"want a key without dashes: %s=VALUE",
					name);
				return text;
			}
	return NULL;
}

static void unknown_option(
	const struct argp_option *options, const char *word, struct err *e)
{
	const char *names[MOST_OPTIONS], *near;
	char name[64], text[128];
	size_t n;

	for (n = 0; options[n].name; n++)
		names[n] = options[n].name;
	snprintf(name, sizeof(name), "%s", word + 1 + (word[1] == '-'));
	name[strcspn(name, "=")] = '\0';
	near = find_meant(name, text, sizeof(text));
	if (near) {
		err_set(e, "unknown option \"%.40s\"; %s", word, near);
		return;
	}
	near = name_nearest(name, names, n);
	err_set(e, "unknown option \"%.40s\"%s%s%s", word,
		near ? "; did you mean --" : "", near ? near : "",
		near ? "?" : "; --help lists them");
}

/*
 * Whether a word that begins with '-' is a good option.  takes_next is set
 * where its value is the next word.
 */
static bool is_option(const struct argp_option *options, const char *word,
	bool *takes_next, struct err *e)
{
	const char *sign = strchr(word, '=');
	const struct argp_option *o = NULL;

	*takes_next = false;
	if (word[1] == '-') {
		o = find_long(options, word + 2,
			sign ? (size_t)(sign - word) - 2 : strlen(word + 2));
		*takes_next = o && o->arg && !sign;
	}
	for (size_t i = 1; word[1] != '-' && word[i]; i++) {
		o = find_short(options, word[i]);
		*takes_next = o && o->arg && !word[i + 1];
		sign = NULL;
		if (!o || o->arg)
			break;
	}
	if (!o)
		unknown_option(options, word, e);
	else if (sign && !o->arg)
		err_set(e, "--%s takes no value", o->name);
	return !e->code;
}

/* argp says only that something is wrong: say what. */
static void explain(
	const struct argp_option *options, int argc, char **argv, struct err *e)
{
	bool takes_next;

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (argv[i][0] != '-' || !argv[i][1])
			continue;
		if (!is_option(options, argv[i], &takes_next, e))
			return;
		if (takes_next && i + 1 == argc) {
			err_set(e, "%.40s needs a value", argv[i]);
			return;
		}
		i += takes_next;
	}
	err_set(e, "invalid options; --help lists the valid ones");
}

/* Words from a column on, up to a \v; lines that follow are indented. */
static void print_wrapped(const char *s, size_t at, size_t indent)
{
	while (*s && *s != '\v') {
		size_t blanks = strspn(s, " ");
		size_t n = blanks + strcspn(s + blanks, " \n\v");

		if (at > indent && at + n > HELP_WIDTH) {
			printf("\n%*s", (int)indent, "");
			at = indent;
			s += blanks;
			n -= blanks;
		}
		printf("%.*s", (int)n, s);
		at += n;
		s += n;
		if (*s == '\n') {
			putchar(*s++);
			at = 0;
		}
	}
	if (at)
		putchar('\n');
}

/* argp_help() asserts that it gets its memory.  A \v in the help stands where
 * the options go. */
static void print_help(const struct argp_option *o, const char *name,
	const struct cli_command *c)
{
	size_t n = c->help ? strcspn(c->help, "\v") : 0;
	struct stream more;

	/* memory may run out, and then nothing is printed */
	stream_open(&more);
	if (c->list)
		c->list(more.file);
	fflush(more.file);
	printf("Usage: %s [OPTION...]%s%s\n", name, *c->usage ? " " : "",
		c->usage);
	if (n)
		print_wrapped(c->help, 0, 0);
	putchar('\n');
	for (; o->name; o++) {
		char letter[] = { '-', (char)o->key, ',', '\0' };
		int at;

		if (!o->doc)
			continue;
		at = printf("  %-3s --%s%s%s", o->key < 128 ? letter : "",
			o->name, o->arg ? "=" : "", o->arg ? o->arg : "");
		printf("%*s", HELP_INDENT - at, "");
		print_wrapped(o->doc, HELP_INDENT, HELP_INDENT);
	}
	if (n && c->help[n]) {
		putchar('\n');
		print_wrapped(c->help + n + 1, 0, 0);
	}
	print_wrapped(more.text, 0, 0);
	cli_out_drop(&more);
}

static int check_words(
	const struct cli_args *a, const struct cli_command *c, struct err *e)
{
	if (a->n_words >= c->words[0] && a->n_words <= c->words[1])
		return 0;
	return *c->want == '(' ? err_set(e, "unexpected argument \"%.60s\" %s",
					 a->word[c->words[1]], c->want)
			       : err_set(e, "%s", c->want);
}

/* A run file, of which a program may have made the run. */
static bool is_file(const char *word, unsigned takes)
{
	return (takes & CLI_MACHINE) != CLI_MACHINE && *word != '-';
}

/*
 * Cuts off a program behind the first --; returns where it begins, or NULL.
 * Without a workload in front of it that runs programs, -- only ends the
 * options.
 */
static const char *const *find_rest(int *argc, char **argv, unsigned takes)
{
	bool is_program = takes & CLI_MPI;

	for (int i = 1; i < *argc; i++) {
		const struct load_ops *ops = load_find(argv[i]);

		is_program |= ops ? ops->prints : is_file(argv[i], takes);
		if (strcmp(argv[i], "--") != 0)
			continue;
		if (!is_program)
			return NULL;
		*argc = i;
		return (const char *const *)argv + i + 1;
	}
	return NULL;
}

/* As other launchers have it. */
static void take_np(int argc, char **argv)
{
	static char n[] = "-n";

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "-np"))
			argv[i] = n;
}

int cli_parse(struct cli_args *a, int argc, char **argv,
	const struct cli_command *c, struct err *e)
{
	const char *const *rest =
		c->takes & CLI_REST ? find_rest(&argc, argv, c->takes) : NULL;
	struct parse p = { .a = a, .e = e };
	struct argp argp = { p.options, parse_one, NULL, NULL, NULL, NULL,
		NULL };
	int code;

	collect(&p, c->takes);
	if (argc > 1 && !strcmp(argv[1], "--complete")) {
		cli_complete(p.options, c, argv + 2, (size_t)argc - 2);
		return 1;
	}
	if (c->takes & CLI_MPI)
		take_np(argc, argv);
	memset(a, 0, sizeof(*a));
	a->seed = 1;
	a->rest = rest;
	code = argp_parse(&argp, argc, argv,
		ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &p);
	if (code == ENOMEM)
		mem_give_up();
	if (code) {
		if (!e->code)
			explain(p.options, argc, argv, e);
		return -1;
	}
	if (p.is_help) {
		print_help(p.options, argv[0], c);
		return 1;
	}
	return check_words(a, c, e);
}

int cli_name_output(const struct cli_args *a, const char *ending,
	const struct out_kind *kind, char *path, size_t size, struct err *e)
{
	const char *in = a->word[0], *dot = strrchr(in, '.');
	size_t n = dot && !strchr(dot, '/') ? (size_t)(dot - in) : strlen(in);
	int wanted =
		a->output ? snprintf(path, size, "%s", a->output)
			  : snprintf(path, size, "%.*s%s", (int)n, in, ending);

	if (wanted < 0 || (size_t)wanted >= size)
		return err_set(e, "the name of the output is too long");
	for (size_t i = 0; i < a->n_words; i++)
		if (!strcmp(a->word[i], path))
			return err_set(e,
				"%s: the output would overwrite a run file",
				path);
	return out_file_check(path, kind, e);
}

struct machine_source cli_source(const struct cli_args *a)
{
	return (struct machine_source){
		.name = a->word[0],
		.sets = a->set,
		.n_sets = a->n_sets,
		.shape = a->shape,
		.tables = a->tables,
		.plugins = a->plugin,
		.n_plugins = a->n_plugins,
	};
}

struct machine *cli_machine(const struct cli_args *a, struct err *e)
{
	const struct machine_source s = cli_source(a);

	return machine_load_from(&s, e);
}
