/* `weft report`: run files as one page that a browser opens. */
#include "cli/cli.h"
#include "out/file.h"
#include "report/report.h"

static int write_page(
	struct db *const *file, size_t n, const char *path, struct err *e)
{
	struct out_file f;

	if (out_file_open(&f, path, &out_page, e))
		return -1;
	report_write(file, n, f.stream, e);
	if (out_file_close(&f, e))
		return -1;
	if (f.is_regular)
		printf("%s: %.1f MB, open it in a browser\n", path,
			(double)f.size / 1e6);
	return 0;
}

static int perform(const struct cli_args *a, struct err *e)
{
	struct db *file[CLI_MAX_WORDS] = { NULL };
	char path[1024];
	size_t n;
	int code;

	for (n = 0; n < a->n_words && !e->code; n++)
		file[n] = db_open(a->word[n], e);
	code = e->code || cli_name_output(
				  a, ".html", &out_page, path, sizeof(path), e)
		       ? -1
		       : write_page(file, a->n_words, path, e);
	while (n > 0)
		db_close(file[--n]);
	return code;
}

const struct cli_command cli_report = { .name = "report",
	.brief = "show run files in a browser",
	.takes = CLI_REPORT,
	.usage = "FILE...",
	.help = "Writes an HTML page that shows run files: what limited the "
		"run, the machine with the load of its links over time, "
		"latencies, and where the time of messages went.\vThe page is "
		"one file that opens from disk in any browser.  Without "
		"--output it has the name of the first file, with the "
		"extension .html.  Several files are shown side by side.  "
		"Example:\n  weft run torus random load=0.5 --budget -o "
		"run.db\n  weft report run.db -o run.html",
	.words = { 1, CLI_MAX_WORDS },
	.want = "want a run file, as in `weft report run.db -o run.html`",
	.run = perform };
