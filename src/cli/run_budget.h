/* What `weft run` tells of the time budget: --budget and --follow. */
#ifndef CLI_RUN_BUDGET_H
#define CLI_RUN_BUDGET_H

#include <stdio.h>

#include "cli/cli.h"
#include "out/json.h"
#include "net/net.h"

/* What the network is to keep, for net_setup.book: how, filled in, or NULL
 * where neither is asked for. */
const struct book_how *run_book_how(
	const struct cli_args *a, struct book_how *how);
/* Before the run: an error where the node to follow does not exist. */
int run_book_check(
	const struct cli_args *a, const struct topo *t, struct err *e);
/* After it, when all else is told: an error where the followed message was
 * never sent. */
int run_book_missed(
	const struct cli_args *a, const struct net *n, struct err *e);

/* Nothing where nothing is asked for.  JSON: the keys budget and follow. */
void run_budget_text(FILE *f, const struct cli_args *a, const struct net *n);
void run_budget_json(
	struct json *j, const struct cli_args *a, const struct net *n);

#endif
