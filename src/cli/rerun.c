/* `weft rerun`: whether what a run file says comes out again. */
#include <inttypes.h>
#include <string.h>

#include "base/name.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "record/inputs.h"
#include "record/program.h"
#include "record/read.h"
#include "record/tables.h"

/* What a file says of its run. */
struct was {
	char *ending, *hash, *digest, *weft, *command, *program;
};

static void read_was(struct was *w, struct db *d, struct err *e)
{
	w->ending = record_meta(d, "ending", e);
	w->hash = record_meta(d, "params_hash", e);
	w->digest = record_meta(d, "digest", e);
	w->weft = record_meta(d, "weft", e);
	w->command = record_meta(d, "command", e);
	w->program = record_meta(d, "program", e);
	name_clean(w->weft, "");
	name_clean(w->command, "");
}

/* The plugin that stands for one that the run used. */
static const char *path_now(const struct cli_args *a, const struct row_input *i)
{
	for (size_t k = 0; k < a->n_plugins && !strcmp(i->kind, "plugin"); k++)
		if (plugins_has(&a->plugin[k], 1, i->path))
			return a->plugin[k];
	return i->path;
}

/* Files that are not what they were, each in a line. */
static int tell_inputs(
	const struct cli_args *a, struct db *d, FILE *f, struct err *e)
{
	struct db_query *q = row_select(d, TABLE_input, "", e);
	char hash[INPUT_HASH], line[512];
	struct row_input row;

	while (row_next_input(q, &row)) {
		const char *path = path_now(a, &row);

		record_hash_file(path, hash);
		if (!strcmp(hash, row.hash))
			continue;
		snprintf(line, sizeof(line), "%-11s %.40s %.400s",
			*hash ? "changed" : "gone", row.kind, path);
		name_clean(line, "");
		fprintf(f, "%s\n", line);
	}
	return db_finish(q);
}

/* Where the programs print, the comparison does not. */
static int tell(struct stream *out, bool is_aside, struct err *e)
{
	if (!is_aside)
		return cli_out_close(out, e);
	fflush(out->file);
	fputs(out->text, stderr);
	cli_out_drop(out);
	return fflush(stderr) || ferror(stderr)
		       ? err_set(e, "cannot write to standard error")
		       : 0;
}

static void tell_variable(FILE *f, const char *how, const char *variable)
{
	char line[512];

	snprintf(line, sizeof(line), "%-11s environment %.400s", how, variable);
	name_clean(line, "");
	fprintf(f, "%s\n", line);
}

/* Variables that a program of the host has not, or not as they were; both lists
 * are in order. */
static void tell_environment(const struct record_setup *s, FILE *f)
{
	const char *now[RECORD_VARIABLES];
	size_t n = s->n_command ? record_environment(&s->setup.launch, now) : 0;
	size_t i = 0, k = 0;

	while (s->n_command && (i < s->n_environment || k < n)) {
		int order = i == s->n_environment ? 1
			    : k == n		  ? -1
				     : strcmp(s->environment[i], now[k]);

		if (order < 0)
			tell_variable(f, "gone", s->environment[i]);
		else if (order > 0)
			tell_variable(f, "new", now[k]);
		i += order <= 0;
		k += order >= 0;
	}
}

static int compare(const struct cli_args *a, const struct was *w,
	const struct record_setup *s, const struct machine_run *r, struct db *d,
	struct err *e)
{
	char digest[24], hash[24];
	struct stream out;
	bool same, same_machine;

	snprintf(digest, sizeof(digest), "%016" PRIx64, r->digest);
	snprintf(hash, sizeof(hash), "%016" PRIx64, record_hash(r));
	same = !strcmp(digest, w->digest);
	same_machine = !strcmp(hash, w->hash);
	stream_open(&out);
	fprintf(out.file, "%s\n", w->command);
	if (tell_inputs(a, d, out.file, e)) {
		cli_out_drop(&out);
		return -1;
	}
	tell_environment(s, out.file);
	if (!same_machine)
		fputs("parameters  have changed\n", out.file);
	fprintf(out.file, "digest      %s, %s%s\n", digest,
		same ? "as before" : "which was ", same ? "" : w->digest);
	if (!same && strcmp(w->weft, WEFT_VERSION) != 0)
		fprintf(out.file,
			"version     " WEFT_VERSION ", which was %s\n",
			w->weft);
	if (tell(&out, load_prints(r->load), e))
		return -1;
	return same && same_machine ? EXIT_FINISHED : EXIT_ANSWER_NO;
}

static int check_ended(const struct was *w, const struct db *d, struct err *e)
{
	if (!*w->digest)
		return err_set(e,
			"%s: the run did not finish (\"%s\"), so it has no "
			"digest to compare with",
			db_path(d), w->ending);
	if (*w->program)
		return err_set(e,
			"%s: the run was a program with a main() of its own; "
			"repeat it with `%.200s`",
			db_path(d), w->command);
	return 0;
}

/* A run file is data: whatever it names, only the user's plugins are run. */
static int take_plugins(const struct cli_args *a, struct record_setup *s,
	const struct db *d, struct err *e)
{
	for (size_t i = 0; i < s->n_plugins; i++)
		if (!plugins_has(a->plugin, a->n_plugins, s->plugins[i]))
			return err_set(e,
				"%s: the run used the plugin %.200s, which is "
				"not loaded by itself; if you trust it, use "
				"`weft rerun %s --plugin %.200s`",
				db_path(d), s->plugins[i], db_path(d),
				s->plugins[i]);
	s->setup.machine.plugins = a->plugin;
	s->setup.machine.n_plugins = a->n_plugins;
	s->setup.machine.only_given = true;
	return 0;
}

/* "./program 1 2" */
static void join(const char *const *words, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; words[i]; i++) {
		name_add(text, size, i ? " " : "");
		name_add(text, size, words[i]);
	}
	name_clean(text, "");
}

static bool are_same(const char *const *a, const char *const *b)
{
	size_t i = 0;

	while (a[i] && b[i] && !strcmp(a[i], b[i]))
		i++;
	return !a[i] && !b[i];
}

/* Nor is a program of the host started because a file names it: the user says
 * what to start. */
static int take_command(const struct cli_args *a, struct record_setup *s,
	const struct db *d, struct err *e)
{
	const char *const *was = (const char *const *)s->command;
	char text[300];

	if (!s->n_command && !a->rest)
		return 0;
	if (!s->n_command)
		return err_set(e,
			"%s: the run started no program of the host; want "
			"`weft rerun %s`",
			db_path(d), db_path(d));
	join(was, text, sizeof(text));
	if (!a->rest)
		return err_set(e,
			"%s: the run started a program, which is not started "
			"by itself; if you trust it, use `weft rerun %s -- %s`",
			db_path(d), db_path(d), text);
	if (!are_same(was, a->rest))
		return err_set(
			e, "%s: the run was one of `%s`", db_path(d), text);
	s->setup.command = a->rest;
	return cli_launch(a, &s->setup.launch, e);
}

static int rerun(const struct cli_args *a, struct machine_run *r, struct db *d,
	struct err *e)
{
	struct record_setup s;
	struct was w;
	int code = -1;

	read_was(&w, d, e);
	if (!record_setup_read(&s, d, e) && !check_ended(&w, d, e) &&
		!take_plugins(a, &s, d, e) && !take_command(a, &s, d, e)) {
		s.setup.threads = a->threads;
		s.setup.stop = cli_stop_flag();
		s.setup.programs = &app_ops;
		s.setup.allows_programs = a->allows_programs;
		if (!machine_run_open(r, &s.setup, e) &&
			!machine_run_perform(r, e))
			code = r->result.ending == LOAD_STOPPED
				       ? EXIT_STOPPED
				       : compare(a, &w, &s, r, d, e);
		machine_run_close(r);
	}
	record_setup_free(&s);
	return code;
}

static int perform(const struct cli_args *a, struct err *e)
{
	static struct machine_run r; /* too big for a stack */
	struct db *d = record_open(a->word[0], e);
	int code = d ? rerun(a, &r, d, e) : -1;

	db_close(d);
	return code;
}

const struct cli_command cli_rerun = { .name = "rerun",
	.brief = "repeat the run of a run file",
	.takes = CLI_THREADS | CLI_PLUGIN | CLI_REST | CLI_LAUNCH | CLI_ALLOW,
	.usage = "FILE [-- PROGRAM [ARGUMENT...]]",
	.help = "Repeats the run recorded in a run file, and compares the "
		"digests.  The program of an MPI run is started only if it "
		"stands behind --.\vThe exit code is 0 if they are the same, "
		"and 1 if "
		"they are not.",
	.words = { 1, 1 },
	.want = "want one run file, as in `weft rerun run.db`",
	.run = perform };
