/* `weft goal`: schedules of well-known patterns. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/name.h"
#include "cli/cli.h"
#include "load/replay/make.h"
#include "out/file.h"

enum { MOST_PATTERNS = 16 };

static const struct goal_pattern *find(const char *name, struct err *e)
{
	const char *names[MOST_PATTERNS];
	char hint[NAME_HINT];
	size_t n;

	for (n = 0; goal_patterns[n].name; n++) {
		if (!strcmp(goal_patterns[n].name, name))
			return &goal_patterns[n];
		names[n] = goal_patterns[n].name;
	}
	err_set(e, "no pattern is called \"%.40s\"%s", name,
		name_hint(name, names, n, "; `weft goal --help` lists them",
			hint));
	return NULL;
}

static int read_keys(const struct goal_pattern *p, struct goal_make *m,
	const struct cli_args *a, struct err *e)
{
	struct param_block keys = {
		.section = "",
		.rows = p->params,
		.n_rows = p->n_params,
		.values = m,
	};

	param_defaults(&keys);
	for (size_t i = 1; i < a->n_words; i++)
		if (param_assign(
			    &keys, 1, a->word[i], "key", "command line", e))
			return -1;
	return p->check ? p->check(m, p->op, e) : 0;
}

static void write_pattern(
	const struct goal_pattern *p, const struct goal_make *m, FILE *f)
{
	fprintf(f, "num_ranks %" PRId64 "\n",
		p->ranks ? p->ranks(m) : m->ranks);
	if (p->say)
		p->say(m, "// ", f);
	p->write(m, p->op, f);
}

/* The schedule itself: a file's, or what a pattern's text says. */
static int load(struct goal *g, const struct goal_pattern *p,
	const struct goal_make *m, struct err *e)
{
	FILE *f;
	int failed;

	if (!p->write)
		return goal_read(g, m->file, e);
	f = tmpfile();
	if (!f)
		return err_set(e, "temporary file: %s", strerror(errno));
	write_pattern(p, m, f);
	rewind(f);
	failed = goal_read_file(g, f, p->name, e);
	fclose(f);
	return failed;
}

static int write_file(const struct cli_args *a, const struct goal_pattern *p,
	const struct goal_make *m, struct err *e)
{
	bool is_loaded = a->is_binary || !p->write;
	struct goal g = { 0 };
	struct out_file f;
	int failed;

	if (a->is_binary && !a->output && isatty(STDOUT_FILENO))
		return err_set(e, "--binary: want a file, as in -o x.bin");
	if (is_loaded && load(&g, p, m, e))
		return -1;
	if (a->is_binary && g.colls) {
		goal_free(&g);
		return err_set(e, "--binary: the binary form has no "
				  "collectives (want text, or as=steps)");
	}
	failed = out_file_open(&f, a->output, &out_schedule, e);
	if (!failed && is_loaded)
		goal_write(&g, a->is_binary, f.stream);
	else if (!failed)
		write_pattern(p, m, f.stream);
	goal_free(&g);
	return failed ? -1 : out_file_close(&f, e);
}

static void list_patterns(FILE *f)
{
	for (const struct goal_pattern *p = goal_patterns; p->name; p++) {
		fprintf(f, "  %-13s %s\n", p->name, p->help);
		for (size_t i = 0; i < p->n_params; i++)
			fprintf(f, "             %s=%s: %s\n",
				p->params[i].name, p->params[i].def,
				p->params[i].help);
	}
}

static int perform(const struct cli_args *a, struct err *e)
{
	const struct goal_pattern *p = find(a->word[0], e);
	struct goal_make m = { 0 };

	if (!p || read_keys(p, &m, a, e))
		return -1;
	if (write_file(a, p, &m, e))
		return -1;
	if (p->say && a->output)
		p->say(&m, "", stdout);
	return 0;
}

const struct cli_command cli_goal = { .name = "goal",
	.brief = "write a schedule for replay",
	.takes = CLI_OUTPUT | CLI_GOAL,
	.usage = "PATTERN [KEY=VALUE...]",
	.help = "Writes a schedule of a well-known communication pattern in "
		"GOAL's text or binary form, for the workload "
		"replay.\vPatterns and their keys:\n",
	.list = list_patterns,
	.words = { 1, CLI_MAX_WORDS },
	.want = "want a pattern, as in `weft goal allreduce ranks=64 "
		"bytes=1MiB`",
	.run = perform };
