/* What a shell may complete: see complete.c. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include <argp.h>
#include <stddef.h>

/* A word and what it means, if it begins as the one that is typed. */
void cli_offer(const char *typed, const char *word, const char *help);

/* Prints what can stand in place of the last word of a command line; options
 * are the command's. */
struct cli_command;
void cli_complete(const struct argp_option *options,
	const struct cli_command *c, char **word, size_t n);

#endif
