/*
 * Reads a machine file into tables of parameters.  It knows the form of the
 * file and nothing of machines: sections, keys and valid values come from the
 * tables.
 *
 *	schema: 1
 *	machine: bgq-midplane
 *	title: one line for humans
 *	base: bgq                # read first, then overridden
 *	plugins: [./mine.so]     # beside the file: see machine_file_plugins()
 *	link:
 *	  rate: { value: 2 GB/s, source: BGQ-N5 }
 *	  latency:
 *	    board: 41.4 ns       # the row "latency.board" of block "link"
 *
 * Aliases, anchors, local tags and second documents are refused: each value
 * stands once, in the place where a reader looks for it.
 */
#ifndef MACHINE_FILE_H
#define MACHINE_FILE_H

#include <stddef.h>

#include "base/err.h"
#include "base/param.h"

enum {
	MACHINE_FILE_MAX = 1 << 20, /* bytes */
	MACHINE_NESTING_MAX = 8, /* maps and lists inside each other */
	MACHINE_BASES_MAX = 8, /* files that one file is built on, itself too */
};

struct trees;

/* The keys above the sections; "" if the file does not have them. */
struct machine_header {
	char name[PARAM_TEXT_MAX];
	char title[PARAM_TEXT_MAX]; /* the base's where the file has none */
	char caveat[PARAM_TEXT_MAX]; /* likewise */
	char base[PARAM_TEXT_MAX]; /* a name, not a path */
};

/*
 * Sets the values that the file has and leaves the others: the caller calls
 * param_defaults() before.  An error is "path:line:column: message"; some
 * values may have been read by then.
 *
 * dirs is where to look for base.yaml if it is not beside the file; it ends
 * with NULL, and may itself be NULL.  trees (machine/tree.h) keeps what was
 * parsed: a machine's files are read several times.
 */
int machine_file_read(struct trees *trees, const char *path,
	const char *const *dirs, struct machine_header *header,
	const struct param_block *blocks, size_t n_blocks, struct err *e);

/*
 * The plugins that a file and its bases name, those of the innermost base
 * first, as paths from the current directory.  Ignores the rest of the file.
 */
int machine_file_plugins(struct trees *trees, const char *path,
	const char *const *dirs, struct param_lines *plugins,
	struct param_lines *files, struct err *e);

/* A file that has no machine's name and no base, only sections. */
int machine_part_read(const char *path, const struct param_block *blocks,
	size_t n_blocks, struct err *e);

/* name replaces the path in errors; bases are searched only in dirs. */
int machine_text_read(const char *name, const char *text, size_t len,
	const char *const *dirs, struct machine_header *header,
	const struct param_block *blocks, size_t n_blocks, struct err *e);

#endif
