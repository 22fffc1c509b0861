/* What a shell may complete: see complete.c. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include <argp.h>
#include <stddef.h>

/* A word and what it means, if it begins as the one that is typed. */
void cli_offer(const char *typed, const char *word, const char *help);

/* Prints what can stand in place of the last word of a command line; options
 * and usage are the command's. */
void cli_complete(const struct argp_option *options, const char *usage,
	char **word, size_t n);

#endif
