#include "cli/show.h"

#include "cli/cli.h"
#include "cli/show_jobs.h"

static int print(const struct cli_args *a, const struct machine *m, FILE *out,
	struct err *e)
{
	struct facts f;
	int failed;

	facts_init(&f);
	failed = show_facts(&f, m, a->is_json, e);
	if (!failed)
		cli_write(a, &f, CLI_BOLD, out);
	facts_fini(&f);
	return failed;
}

static int perform(const struct cli_args *a, FILE *f, struct err *e)
{
	struct machine *m;
	int code;

	if (a->is_svg + a->is_dot + a->is_json > 1)
		return err_set(e, "want one of --json, --svg and --dot");
	if (a->jobs && (a->is_svg || a->is_dot))
		return err_set(
			e, "--jobs: partitions are shown only as text or JSON");
	m = cli_machine(a, e);
	if (!m)
		return -1;
	code = a->jobs	   ? show_jobs(a, m, f, e)
	       : a->is_svg ? show_svg(m, f, e)
	       : a->is_dot ? show_dot(m, f, e)
			   : print(a, m, f, e);
	machine_free(m);
	return code;
}

const struct cli_command cli_show = { .name = "show",
	.brief = "describe a machine",
	.takes = CLI_MACHINE | CLI_JSON | CLI_DRAW | CLI_JOBS,
	.usage = "MACHINE",
	.help = "Describes a machine: its shape, wires, rates, buffers and "
		"zero-load latencies.",
	.words = { 1, 1 },
	.want = "want one machine, as in `weft show bgq-midplane`",
	.print = perform };
