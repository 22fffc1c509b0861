/*
 * A report: one HTML file that shows run files and opens from disk.  The page
 * is written in page.html, page.css and *.js of this folder and becomes part of
 * the program when that is built; here its data are put into it.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdio.h>

#include "out/json.h"
#include "record/db.h"

int report_write(struct db *const *file, size_t n, FILE *out, struct err *e);

/* The data of one file: of a run (run.c) or of a sweep (sweep.c). */
int report_run(struct db *d, struct json *j, struct err *e);
int report_sweep(struct db *d, struct json *j, struct err *e);

/* The links' load over time (load.c), if any. */
int report_load(struct db *d, size_t n_links, struct json *j, struct err *e);

/* The page, before and behind its data; made when the program is built. */
extern const unsigned char report_head[], report_tail[];

#endif
