/* What the machine itself has found out about its parts (watch/lofamo.h);
 * nothing where it has no watchdogs, or where the plan has no events. */
#ifndef CLI_RUN_HEALTH_H
#define CLI_RUN_HEALTH_H

#include <stdio.h>

#include "machine/run.h"
#include "out/json.h"

void run_health_text(FILE *f, const struct machine_run *r);
/* The key health. */
void run_health_json(struct json *j, const struct machine_run *r);

#endif
