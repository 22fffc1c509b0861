#define _GNU_SOURCE
#include "cli/cluster.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "meas/digest.h"
#include "sim/kin.h"

void cli_cluster_hush(const struct cluster *c)
{
	int nowhere;

	if (!c || !c->me)
		return;
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	fflush(stdout);
	if (nowhere < 0)
		return;
	dup2(nowhere, STDOUT_FILENO);
	close(nowhere);
}

/* What only one process can write yet. */
static int check_options(const struct cli_args *a, struct err *e)
{
	const char *option = a->jobs ? "jobs" : a->rest ? "-" : NULL;

	if (!option)
		return 0;
	return err_set(
		e, "--%s cannot be used with several processes yet", option);
}

/* Each must be the same program with the same arguments. */
static int check_alike(
	struct cluster *c, const struct cli_args *a, struct err *e)
{
	uint64_t own = digest_text(0, WEFT_VERSION), first;

	for (size_t i = 0; i < a->n_words; i++)
		own = digest_text(own, a->word[i]);
	for (size_t i = 0; i < a->n_sets; i++)
		own = digest_text(own, a->set[i]);
	own = digest_mix(own + a->seed);
	first = own;
	c->ops->tell(c, 0, &first, sizeof(first));
	if (own != first)
		err_set(e,
			"process %u is another version of weft than process 0, "
			"or has other arguments",
			c->me);
	return cluster_share_error(c, e);
}

int cli_cluster_join(
	const struct cli_args *a, struct cluster **c, struct err *e)
{
	uint32_t me, n = cluster_job(&me);

	*c = NULL;
	if (n > 1 && a->processes)
		return err_set(e,
			"--processes has no effect in a job of MPI, which has "
			"%u",
			n);
	if (n < 2)
		return 0;
	*c = cluster_join(e);
	return *c ? check_alike(*c, a, e) : -1;
}

int cli_cluster_begin(
	const struct cli_args *a, struct cluster **c, struct err *e)
{
	uint32_t me, n = cluster_job(&me);

	*c = NULL;
	if (n < 2 && a->processes < 2)
		return 0;
	if (check_options(a, e))
		return -1;
	if (n > 1)
		return cli_cluster_join(a, c, e);
	fflush(stdout); /* or each prints what is there */
	*c = kin_start(a->processes, e);
	return *c ? check_alike(*c, a, e) : -1;
}

int cli_cluster_refuse(const struct cli_command *c, struct err *e)
{
	const unsigned runs = CLI_SEED | CLI_THREADS | CLI_PAPER | CLI_MPI;
	uint32_t me, n = cluster_job(&me);

	if (n < 2 || c->takes & (CLI_PROCESSES | CLI_SWEEP) ||
		!(c->takes & runs))
		return 0;
	if (me)
		return EXIT_BAD_INPUT;
	return err_set(e,
		"weft %s cannot be run in a job of MPI with %u processes yet",
		c->name, n);
}

int cli_cluster_end(struct cluster *c, int code, struct err *e)
{
	uint32_t me;
	bool is_first = c ? !c->me : cluster_job(&me) < 2 || !me;

	/* a launcher ends all others when one has ended with an error */
	if (!is_first)
		signal(SIGTERM, SIG_IGN);
	if (c)
		c->ops->leave(c, e->code ? e->code : code);
	if (is_first)
		return code;
	code = e->code ? e->code : code;
	*e = (struct err){ 0 };
	return code;
}
