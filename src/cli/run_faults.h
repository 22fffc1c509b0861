/* What `weft run` tells of faults; nothing where there are none. */
#ifndef CLI_RUN_FAULTS_H
#define CLI_RUN_FAULTS_H

#include <stdio.h>

#include "machine/run.h"
#include "out/json.h"

void run_faults_text(FILE *f, const struct machine_run *r);
/* The key faults. */
void run_faults_json(struct json *j, const struct machine_run *r);

#endif
