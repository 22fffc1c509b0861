/* What is waited for in vain at the end of a run: programs, and links that are
 * dead.  Nothing is written where there is none. */
#ifndef CLI_RUN_WAITING_H
#define CLI_RUN_WAITING_H

#include "machine/run.h"
#include "out/json.h"

void run_waiting_text(FILE *f, const struct machine_run *r);
void run_waiting_json(struct json *j, const struct machine_run *r);

#endif
