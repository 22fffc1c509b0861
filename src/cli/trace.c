/* `weft trace`: a run file as a trace for Perfetto's viewer. */
#include "report/trace.h"

#include "cli/cli.h"
#include "out/file.h"
#include "record/read.h"

static int write_trace(struct db *d, const char *path, struct err *e)
{
	struct out_file f;

	if (out_file_open(&f, path, &out_trace, e))
		return -1;
	trace_write(d, f.stream, e);
	if (out_file_close(&f, e))
		return -1;
	if (f.is_regular)
		printf("%s: %.1f MB, open it in Perfetto's viewer\n", path,
			(double)f.size / 1e6);
	return 0;
}

static int perform(const struct cli_args *a, struct err *e)
{
	struct db *d = record_open(a->word[0], e);
	char path[1024];
	int code;

	if (!d)
		return -1;
	code = cli_name_output(a, ".pftrace", &out_trace, path, sizeof(path), e)
		       ? -1
		       : write_trace(d, path, e);
	db_close(d);
	return code;
}

const struct cli_command cli_trace = { .name = "trace",
	.brief = "convert a run file to a trace for Perfetto",
	.takes = CLI_REPORT,
	.usage = "FILE",
	.help = "Converts a run file to a trace for Perfetto's viewer, "
		"ui.perfetto.dev: messages from send to receive, the slowest "
		"ones hop by hop, and the load of links over time.\vWithout "
		"--output the trace has the name of the run file, with the "
		"extension .pftrace.  Run files contain messages if they were "
		"recorded with --budget.  Example:\n  weft run torus random "
		"load=0.5 --budget -o run.db\n  weft trace run.db -o "
		"run.pftrace",
	.words = { 1, 1 },
	.want = "want one run file, as in `weft trace run.db -o run.pftrace`",
	.run = perform };
