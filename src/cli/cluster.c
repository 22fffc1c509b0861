#define _GNU_SOURCE
#include "cli/cluster.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "sim/kin.h"

/* What the first process prints is the same for all. */
static void be_silent(void)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stdout);
	if (nowhere < 0)
		return;
	dup2(nowhere, STDOUT_FILENO);
	close(nowhere);
}

/* What only one process can write yet. */
static int check_options(const struct cli_args *a, struct err *e)
{
	const char *option = a->output	 ? "output"
			     : a->links	 ? "links"
			     : a->jobs	 ? "jobs"
			     : a->tables ? "tables"
			     : a->rest	 ? "-"
					 : NULL;

	if (!option)
		return 0;
	return err_set(
		e, "--%s cannot be used with several processes yet", option);
}

int cli_cluster_begin(
	const struct cli_args *a, struct cluster **c, struct err *e)
{
	*c = NULL;
	if (a->processes < 2)
		return 0;
	if (check_options(a, e))
		return -1;
	*c = kin_start(a->processes, e);
	if (!*c)
		return -1;
	if ((*c)->me)
		be_silent();
	return 0;
}

int cli_cluster_end(struct cluster *c, int code, struct err *e)
{
	bool is_first = !c || !c->me;

	if (c)
		c->ops->leave(c, e->code ? e->code : code);
	if (is_first)
		return code;
	code = e->code ? e->code : code;
	*e = (struct err){ 0 };
	return code;
}
