/* Where commands write: stdout, which gets all or nothing, and files. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "out/facts_json.h"
#include "out/facts_text.h"
#include "sim/cluster.h"

int cli_out_close(struct stream *o, struct err *e)
{
	bool ok;

	cli_stop_flag(); /* whole or not at all */
	stream_close(o);
	ok = fwrite(o->text, 1, o->size, stdout) == o->size &&
	     fflush(stdout) == 0;
	mem_free(o->text);
	if (!ok)
		return err_set(
			e, "cannot write the output: %s", strerror(errno));
	return 0;
}

void cli_out_drop(struct stream *o)
{
	stream_close(o);
	mem_free(o->text);
}

int cli_print(const struct cli_args *a,
	int (*perform)(const struct cli_args *a, FILE *f, struct err *e),
	struct err *e)
{
	struct cli_wait *w = cli_wait_begin();
	struct stream out;
	int failed;

	stream_open(&out);
	failed = perform(a, out.file, e);
	cli_wait_end(w);
	if (!failed)
		return cli_out_close(&out, e);
	cli_out_drop(&out);
	return -1;
}

void cli_write(const struct cli_args *a, const struct facts *f,
	enum cli_look look, FILE *out)
{
	struct json j;

	if (!a->is_json) {
		facts_text_write(out, &f->root,
			look == CLI_FITTED ? cli_width(stdout) : 0,
			look != CLI_PLAIN && cli_colour(stdout));
		return;
	}
	json_init(&j, out);
	facts_json(&j, &f->root);
}

int cli_tell(const struct cli_args *a, struct facts *f, enum cli_look look,
	struct err *e)
{
	struct stream out;

	stream_open(&out);
	cli_write(a, f, look, out.file);
	facts_fini(f);
	return cli_out_close(&out, e);
}

int cli_facts(const struct cli_args *a,
	int (*find)(const struct cli_args *a, struct facts *f, struct err *e),
	struct err *e)
{
	struct facts f;

	facts_init(&f);
	if (!find(a, &f, e))
		return cli_tell(a, &f, CLI_FITTED, e);
	facts_fini(&f);
	return -1;
}

/* Launchers of MPI put a terminal of their own in front of files. */
static bool is_terminal(FILE *f)
{
	uint32_t me;

	return cluster_job(&me) < 2 && isatty(fileno(f));
}

bool cli_colour(FILE *f)
{
	const char *no = getenv("NO_COLOR");

	return !(no && *no) && is_terminal(f);
}

size_t cli_width(FILE *f)
{
	struct winsize size;

	if (!is_terminal(f) || ioctl(fileno(f), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}
