/* What a process is while Weft has it: signals, and the C locale. */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include <signal.h>

enum { CLI_SIGNALS = 5 };

/* As it was before. */
struct cli_process {
	struct sigaction action[CLI_SIGNALS];
	void *locale;
};

/*
 * From now on SIGINT, SIGTERM and SIGHUP end the process with EXIT_STOPPED,
 * and a pipe that nobody reads with EXIT_BAD_INPUT; a file that grows too large
 * is an error of whoever writes it.
 */
void cli_process_begin(struct cli_process *before);
void cli_process_end(const struct cli_process *before);

#endif
