#include "cli/show.h"

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/show_jobs.h"
#include "machine/bill.h"
#include "out/file.h"

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

static int write_csv(const char *path, const struct bill *b, struct err *e)
{
	struct out_file f;

	if (out_file_open(&f, path, &out_bill, e))
		return -1;
	bill_write(b, f.stream);
	return out_file_close(&f, e);
}

static int print_bill(const struct cli_args *a, const struct machine *m,
	FILE *out, struct err *e)
{
	const uint32_t needs = 1 << PRICE_MONEY | 1 << PRICE_WATTS;
	const struct part_place at = machine_place(m, 0);
	struct priced *p;
	struct facts f;
	int failed = 0;

	if (a->csv && out_file_check(a->csv, &out_bill, e))
		return -1;
	p = priced_new(a->bill, m->topo, &at, needs, e);
	if (!p)
		return -1;
	facts_init(&f);
	show_bill(&f, m, &p->bill);
	cli_write(a, &f, CLI_BOLD, out);
	facts_fini(&f);
	if (a->csv)
		failed = write_csv(a->csv, &p->bill, e);
	priced_free(p);
	return failed;
}

/* Each of them prints something else. */
static int check_options(const struct cli_args *a, struct err *e)
{
	if (a->is_svg + a->is_dot + a->is_json > 1)
		return err_set(e, "want one of --json, --svg and --dot");
	if (a->jobs && (a->is_svg || a->is_dot))
		return err_set(
			e, "--jobs: partitions are shown only as text or JSON");
	if (a->bill && (a->is_svg || a->is_dot || a->jobs))
		return err_set(e, "--bill: a bill is text or JSON; want it "
				  "without --jobs, --svg and --dot");
	if (a->processes && (a->is_svg || a->is_dot || a->jobs || a->bill))
		return err_set(e,
			"--processes: shares are text or JSON; want it without "
			"--bill, --jobs, --svg and --dot");
	if (a->csv && !a->bill)
		return err_set(e, "--csv has no effect without --bill");
	return 0;
}

static int perform(const struct cli_args *a, FILE *f, struct err *e)
{
	struct machine *m;
	int code;

	if (check_options(a, e))
		return -1;
	m = cli_machine(a, e);
	if (!m)
		return -1;
	code = a->jobs	      ? show_jobs(a, m, f, e)
	       : a->bill      ? print_bill(a, m, f, e)
	       : a->processes ? show_shares(a, m, f, e)
	       : a->is_svg    ? show_svg(m, f, e)
	       : a->is_dot    ? show_dot(m, f, e)
			      : print(a, m, f, e);
	machine_free(m);
	return code;
}

const struct cli_command cli_show = { .name = "show",
	.brief = "describe a machine",
	.takes = CLI_MACHINE | CLI_JSON | CLI_DRAW | CLI_JOBS | CLI_BILL,
	.usage = "MACHINE",
	.help = "Describes a machine: its shape, wires, rates, buffers and "
		"zero-load latencies.",
	.words = { 1, 1 },
	.want = "want one machine, as in `weft show bgq-midplane`",
	.print = perform };
