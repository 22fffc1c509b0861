/*
 * A run file as a trace for Perfetto's viewer: tracks of sites, of their parts
 * and of links, messages from send to receive, and counters over time.
 */
#ifndef REPORT_TRACE_H
#define REPORT_TRACE_H

#include <stdio.h>

#include "record/db.h"

int trace_write(struct db *d, FILE *f, struct err *e);

#endif
