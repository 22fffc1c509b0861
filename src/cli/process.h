/* Signals and locale of a process while Weft runs in it. */
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
 * From now on SIGINT, SIGTERM and SIGHUP end the process with EXIT_STOPPED, and
 * a broken pipe ends it with EXIT_BAD_INPUT.  Writing beyond the limit of a
 * file's size fails with an error instead of a signal.
 */
void cli_process_begin(struct cli_process *before);
void cli_process_end(const struct cli_process *before);

#endif
