/* What `weft run --histogram` tells. */
#ifndef CLI_RUN_HISTOGRAM_H
#define CLI_RUN_HISTOGRAM_H

#include <stdio.h>

#include "meas/hist.h"
#include "out/json.h"

/* Bars, some of them for each doubling of time. */
void run_histogram_text(FILE *f, const struct hist *h);
/* The key latency_histogram: every bucket that holds something. */
void run_histogram_json(struct json *j, const struct hist *h);

#endif
