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
#include "machine/machine.h"
#include "sim/sim.h"

enum { KEY_SHAPE = 256, KEY_JSON, KEY_SEED, KEY_QUIET, KEY_BUDGET, KEY_FOLLOW };
enum { KEY_FAULTS = 384, KEY_PLUGIN };
enum { KEY_QUICK = 320, KEY_JOBS, KEY_TOGETHER };
enum { KEY_LINKS = 448, KEY_HISTOGRAM, KEY_SAMPLE, KEY_UNTIL };
enum {
	KEY_PAST = 512,
	KEY_CSV,
	KEY_SVG,
	KEY_FIGURES,
	KEY_DRAW_SVG,
	KEY_DRAW_DOT,
	KEY_BINARY
};
enum { MOST_OPTIONS = 24 };
enum { HELP_WIDTH = 79, HELP_INDENT = 29 };

static const struct argp_option machine_options[] = {
	{ "set", 's', "PATH=VALUE", 0,
		"set a parameter of the machine (see `weft params`)", 0 },
	{ "shape", KEY_SHAPE, "AxBxC", 0,
		"routers along each dimension of a torus, or number of nodes "
		"of other topologies; short for --set topology.shape=AxBxC",
		0 },
	{ "plugin", KEY_PLUGIN, "FILE", 0,
		"load a topology, routing or workload from a shared object "
		"(see weft-plugin(7))",
		0 },
	{ 0 },
};

static const struct argp_option seed_options[] = {
	{ "seed", KEY_SEED, "N", 0, "seed of all random numbers (default 1)",
		0 },
	{ 0 },
};

static const struct argp_option thread_options[] = {
	{ "threads", 't', "N", 0,
		"number of threads; the result does not depend on it", 0 },
	{ "quiet", KEY_QUIET, NULL, 0, "print no progress line", 0 },
	{ 0 },
};

static const struct argp_option book_options[] = {
	{ "budget", KEY_BUDGET, NULL, 0,
		"report what the time of messages was spent on", 0 },
	{ "follow", KEY_FOLLOW, "[NODE.]N", 0,
		"trace message N of a node (0 if not given), counted from 0",
		0 },
	{ 0 },
};

static const struct argp_option fault_options[] = {
	{ "faults", KEY_FAULTS, "FILE", 0,
		"plan of faults: bit errors and failing parts (see \"faults\" "
		"in weft-machine(5))",
		0 },
	{ 0 },
};

static const struct argp_option record_options[] = {
	{ "output", 'o', "FILE", 0,
		"write all that is known of the run to a run file (see "
		"weft-runfile(5))",
		0 },
	{ "sample", KEY_SAMPLE, "TIME", 0,
		"time between the samples in the run file (default 5us)", 0 },
	{ "links", KEY_LINKS, "FILE", 0,
		"write what each link carried to a CSV file", 0 },
	{ "histogram", KEY_HISTOGRAM, NULL, 0,
		"print the distribution of latencies", 0 },
	{ "until", KEY_UNTIL, "TIME", 0,
		"end the run at this simulated time and report what was "
		"measured until then",
		0 },
	{ 0 },
};

static const struct argp_option sweep_options[] = {
	{ "output", 'o', "FILE", 0,
		"keep the results in a run file (see weft-runfile(5)), and go "
		"on with what it has",
		0 },
	{ "jobs", 'j', "N", 0,
		"runs at a time (default: as many as there are cores)", 0 },
	{ "figures", KEY_FIGURES, "NAME,...", 0,
		"print these figures (default: those that most workloads have)",
		0 },
	{ "past-saturation", KEY_PAST, NULL, 0,
		"go on with a curve that is saturated", 0 },
	{ "csv", KEY_CSV, "FILE", 0, "write all figures of all points", 0 },
	{ "svg", KEY_SVG, "FILE", 0, "draw curves of the first figure", 0 },
	{ "quiet", KEY_QUIET, NULL, 0, "print no progress line", 0 },
	{ 0 },
};

static const struct argp_option job_options[] = {
	{ "jobs", KEY_JOBS, "FILE", 0,
		"several workloads at once, each on nodes of its own (see "
		"weft-jobs(5))",
		0 },
	{ 0 },
};

static const struct argp_option alone_options[] = {
	{ "no-alone", KEY_TOGETHER, NULL, 0,
		"do not run each job on its own afterwards", 0 },
	{ 0 },
};

static const struct argp_option output_options[] = {
	{ "output", 'o', "FILE", 0, "write to a file (default: stdout)", 0 },
	{ 0 },
};

static const struct argp_option goal_options[] = {
	{ "binary", KEY_BINARY, NULL, 0, "write the binary form", 0 },
	{ 0 },
};

static const struct argp_option report_options[] = {
	{ "output", 'o', "FILE", 0, "file to write", 0 },
	{ 0 },
};

static const struct argp_option json_options[] = {
	{ "json", KEY_JSON, NULL, 0, "print one JSON object", 0 },
	{ 0 },
};

static const struct argp_option draw_options[] = {
	{ "svg", KEY_DRAW_SVG, NULL, 0, "print a picture (SVG)", 0 },
	{ "dot", KEY_DRAW_DOT, NULL, 0, "print a graph for graphviz", 0 },
	{ 0 },
};

static const struct argp_option paper_options[] = {
	{ "quick", KEY_QUICK, NULL, 0,
		"measure only rows that take less than a minute in all", 0 },
	{ "verbose", 'v', NULL, 0,
		"print each row's note, tolerance and commands", 0 },
	{ 0 },
};

static const struct argp_option common_options[] = {
	{ "help", 'h', NULL, 0, "print this help", -1 },
	{ 0 },
};

struct parse {
	struct cli_args *a;
	struct err *e;
	const struct argp_option *options;
	bool is_help;
	uint32_t seen; /* options, by their place in the list */
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

static int read_time(
	const char *option, const char *text, int64_t *t, struct err *e)
{
	const char *why = "it must be above 0";

	if (units_read(UNIT_TIME, text, t, &why) || *t <= 0)
		return err_set(
			e, "--%s: \"%.40s\" is no time: %s", option, text, why);
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

/* Every option but --set and --plugin says one thing, and says it once. */
static int check_once(struct parse *p, int key)
{
	size_t i = 0;

	while (p->options[i].name && p->options[i].key != key)
		i++;
	if (!p->options[i].name || key == 's' || key == KEY_PLUGIN)
		return 0;
	if (p->seen >> i & 1)
		return err_set(p->e, "--%s is given twice", p->options[i].name);
	p->seen |= 1u << i;
	return 0;
}

static int take_option(struct parse *p, int key, const char *arg)
{
	struct cli_args *a = p->a;
	uint64_t n;

	if (check_once(p, key))
		return -1;
	switch (key) {
	case 's':
		if (a->n_sets == CLI_MAX_SETS)
			return err_set(p->e, "more than %d --set options",
				CLI_MAX_SETS);
		a->set[a->n_sets++] = arg;
		return 0;
	case KEY_PLUGIN:
		if (a->n_plugins == CLI_MAX_PLUGINS)
			return err_set(p->e, "more than %d --plugin options",
				CLI_MAX_PLUGINS);
		a->plugin[a->n_plugins++] = arg;
		return 0;
	case KEY_SHAPE:
		a->shape = arg;
		return 0;
	case KEY_FAULTS:
		a->faults = arg;
		return 0;
	case 'o':
		a->output = arg;
		return 0;
	case KEY_SAMPLE:
		return read_time("sample", arg, &a->sample, p->e);
	case KEY_UNTIL:
		return read_time("until", arg, &a->until, p->e);
	case KEY_JOBS:
		a->jobs = arg;
		return 0;
	case KEY_TOGETHER:
		a->is_together = true;
		return 0;
	case KEY_LINKS:
		a->links = arg;
		return 0;
	case KEY_PAST:
		a->is_past = true;
		return 0;
	case KEY_CSV:
		a->csv = arg;
		return 0;
	case KEY_SVG:
		a->svg = arg;
		return 0;
	case KEY_FIGURES:
		a->figures = arg;
		return 0;
	case KEY_HISTOGRAM:
		a->is_histogram = true;
		return 0;
	case KEY_JSON:
		a->is_json = true;
		return 0;
	case KEY_DRAW_SVG:
		a->is_svg = true;
		return 0;
	case KEY_DRAW_DOT:
		a->is_dot = true;
		return 0;
	case KEY_BINARY:
		a->is_binary = true;
		return 0;
	case KEY_QUIET:
		a->is_quiet = true;
		return 0;
	case KEY_BUDGET:
		a->is_budget = true;
		return 0;
	case KEY_FOLLOW:
		return read_follow(a, arg, p->e);
	case KEY_QUICK:
		a->is_quick = true;
		return 0;
	case 'v':
		a->is_verbose = true;
		return 0;
	case KEY_SEED:
		return read_number(
			"seed", arg, 0, UINT64_MAX - 1, &a->seed, p->e);
	case 't':
	case 'j':
		if (read_number(key == 't' ? "threads" : "jobs", arg, 1,
			    SIM_MAX_WORKERS, &n, p->e))
			return -1;
		a->threads = (uint32_t)n;
		return 0;
	default:
		return 1;
	}
}

static error_t parse_one(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	int r;

	if (key == 'h') {
		p->is_help = true;
		return 0;
	}
	if (key == ARGP_KEY_ARG) {
		if (p->a->n_words == CLI_MAX_WORDS) {
			err_set(p->e, "more than %d arguments", CLI_MAX_WORDS);
			return EINVAL;
		}
		p->a->word[p->a->n_words++] = arg;
		return 0;
	}
	r = take_option(p, key, arg);
	return r == 0 ? 0 : r < 0 ? EINVAL : ARGP_ERR_UNKNOWN;
}

static void add_options(
	struct argp_option *to, size_t *n, const struct argp_option *from)
{
	for (; from->name; from++)
		to[(*n)++] = *from;
}

static void collect(struct argp_option *to, unsigned takes)
{
	size_t n = 0;

	if (takes & CLI_MACHINE)
		add_options(to, &n, machine_options);
	if (takes & CLI_SEED)
		add_options(to, &n, seed_options);
	if (takes & CLI_THREADS)
		add_options(to, &n, thread_options);
	if (takes & CLI_BOOK)
		add_options(to, &n, book_options);
	if (takes & CLI_FAULTS)
		add_options(to, &n, fault_options);
	if (takes & CLI_JOBS)
		add_options(to, &n, job_options);
	if ((takes & (CLI_JOBS | CLI_RECORD)) == (CLI_JOBS | CLI_RECORD))
		add_options(to, &n, alone_options);
	if (takes & CLI_RECORD)
		add_options(to, &n, record_options);
	if (takes & CLI_SWEEP)
		add_options(to, &n, sweep_options);
	if (takes & CLI_OUTPUT)
		add_options(to, &n, output_options);
	if (takes & CLI_GOAL)
		add_options(to, &n, goal_options);
	if (takes & CLI_REPORT)
		add_options(to, &n, report_options);
	if (takes & CLI_JSON)
		add_options(to, &n, json_options);
	if (takes & CLI_DRAW)
		add_options(to, &n, draw_options);
	if (takes & CLI_PAPER)
		add_options(to, &n, paper_options);
	add_options(to, &n, common_options);
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

static void unknown_option(
	const struct argp_option *options, const char *word, struct err *e)
{
	const char *names[MOST_OPTIONS], *near;
	char name[64];
	size_t n;

	for (n = 0; options[n].name; n++)
		names[n] = options[n].name;
	snprintf(name, sizeof(name), "%s", word + 1 + (word[1] == '-'));
	name[strcspn(name, "=")] = '\0';
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
	size_t i;

	*takes_next = false;
	if (word[1] == '-') {
		o = find_long(options, word + 2,
			sign ? (size_t)(sign - word) - 2 : strlen(word + 2));
		*takes_next = o && o->arg && !sign;
	}
	for (i = 1; word[1] != '-' && word[i]; i++) {
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
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
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
	const char *usage, const char *help)
{
	size_t n = help ? strcspn(help, "\v") : 0;

	printf("Usage: %s [OPTION...] %s\n", name, usage);
	if (n)
		print_wrapped(help, 0, 0);
	putchar('\n');
	for (; o->name; o++) {
		char letter[] = { '-', (char)o->key, ',', '\0' };
		int at = printf("  %-3s --%s%s%s", o->key < 128 ? letter : "",
			o->name, o->arg ? "=" : "", o->arg ? o->arg : "");

		printf("%*s", HELP_INDENT - at, "");
		print_wrapped(o->doc, HELP_INDENT, HELP_INDENT);
	}
	if (n && help[n]) {
		putchar('\n');
		print_wrapped(help + n + 1, 0, 0);
	}
}

int cli_parse(struct cli_args *a, int argc, char **argv, unsigned takes,
	const char *usage, const char *help, struct err *e)
{
	struct argp_option options[MOST_OPTIONS] = { 0 };
	struct argp argp = { options, parse_one, usage, help, NULL, NULL,
		NULL };
	struct parse p = { .a = a, .e = e, .options = options };
	int code;

	collect(options, takes);
	if (argc > 1 && !strcmp(argv[1], "--complete")) {
		cli_complete(options, usage, argv + 2, (size_t)argc - 2);
		return 1;
	}
	memset(a, 0, sizeof(*a));
	a->seed = 1;
	code = argp_parse(&argp, argc, argv,
		ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &p);
	if (code == ENOMEM)
		mem_give_up();
	if (code) {
		if (!e->code)
			explain(options, argc, argv, e);
		return -1;
	}
	if (p.is_help) {
		print_help(options, argv[0], usage, help);
		return 1;
	}
	return 0;
}

int cli_name_output(const struct cli_args *a, const char *ending, char *path,
	size_t size, struct err *e)
{
	const char *in = a->word[0], *dot = strrchr(in, '.');
	size_t n = dot && !strchr(dot, '/') ? (size_t)(dot - in) : strlen(in);
	int wanted =
		a->output ? snprintf(path, size, "%s", a->output)
			  : snprintf(path, size, "%.*s%s", (int)n, in, ending);
	size_t i;

	if (wanted < 0 || (size_t)wanted >= size)
		return err_set(e, "the name of the output is too long");
	for (i = 0; i < a->n_words; i++)
		if (!strcmp(a->word[i], path))
			return err_set(
				e, "%s: would overwrite a run file", path);
	return cli_can_write(path, e);
}

struct machine *cli_machine(const struct cli_args *a, struct err *e)
{
	return machine_load_with(a->plugin, a->n_plugins, a->word[0], a->set,
		a->n_sets, a->shape, e);
}
