/*
 * All files that commands write.
 *
 * Links are followed.  A regular file is replaced as a whole when it is closed,
 * so a command that fails leaves the old file; a file of another kind is never
 * replaced.  Streams may also go to devices and FIFOs, which are never removed.
 * Directories, sockets and block devices are refused.
 */
#ifndef OUT_FILE_H
#define OUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct out_kind {
	const char *name; /* "a picture"; NULL: never replaced */
	bool is_stream; /* is written from beginning to end */
	const char *const *begins; /* how such files begin, then NULL */
};

extern const struct out_kind out_page, out_picture, out_pdf, out_png, out_trace,
	out_schedule, out_report, out_links, out_points, out_bill,
	out_computing, out_machine, out_run;

struct out_file {
	FILE *stream; /* stdout without a path */
	const char *path; /* the caller's, or NULL */
	char *temporary; /* becomes the target when it is closed, or NULL */
	char *target;
	bool is_new; /* there was no such file */
	bool is_regular;
	long long size; /* after it was closed, of a regular file */
};

/* An error if such a file could not be written; to call before long work. */
int out_file_check(
	const char *path, const struct out_kind *kind, struct err *e);

/* The path after all links, whether the file exists or not; to be freed. */
char *out_file_target(const char *path);

/* Without a path it is stdout. */
int out_file_open(struct out_file *f, const char *path,
	const struct out_kind *kind, struct err *e);

/* If the error is set, by closing or before, restores the state before the file
 * was opened, and returns -1. */
int out_file_close(struct out_file *f, struct err *e);

/* For signal handlers that end the process: removes an unfinished file. */
void out_file_abandon(void);

#endif
