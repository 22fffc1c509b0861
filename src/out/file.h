/*
 * The one way to a file that a command writes.
 *
 * Links are followed.  A regular file is replaced as a whole when it is closed,
 * so a command that fails leaves what was there; only a file of the same kind
 * is replaced.  Devices and FIFOs are written where the kind is a stream, and
 * never removed.  Directories, sockets and block devices are refused.
 */
#ifndef OUT_FILE_H
#define OUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct out_kind {
	const char *name; /* "a picture"; NULL: none is ever replaced */
	bool is_stream; /* is written from its beginning to its end */
	const char *const *begins; /* how such files begin, then NULL */
};

extern const struct out_kind out_page, out_picture, out_pdf, out_trace,
	out_schedule, out_links, out_points, out_machine, out_run;

struct out_file {
	FILE *stream; /* stdout where there is no path */
	const char *path; /* the caller's, or NULL */
	char *temporary; /* becomes the target when it is closed, or NULL */
	char *target;
	bool is_new; /* there was none */
	bool is_regular;
	long long size; /* after it was closed, of a regular file */
};

/* Before long work: an error where such a file could not be written. */
int out_file_check(
	const char *path, const struct out_kind *kind, struct err *e);

/* The file that a path leads to by links, be it there or not; to be freed. */
char *out_file_target(const char *path);

/* No path is stdout. */
int out_file_open(struct out_file *f, const char *path,
	const struct out_kind *kind, struct err *e);

/* Where that or anything before it failed, so that the error is set, all is as
 * it was before it was opened, and -1 is returned. */
int out_file_close(struct out_file *f, struct err *e);

/* For handlers of signals that end the process: removes what is not whole. */
void out_file_abandon(void);

#endif
