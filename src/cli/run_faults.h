/* What is told of a run's faults; nothing where there are none. */
#ifndef CLI_RUN_FAULTS_H
#define CLI_RUN_FAULTS_H

#include <stdio.h>

#include "load/load.h"
#include "out/json.h"

void run_faults_text(FILE *f, const struct net *n, const struct load_result *r);
/* The key faults. */
void run_faults_json(
	struct json *j, const struct net *n, const struct load_result *r);

#endif
