/*
 * A YAML text as a tree, in the order of the text, and errors that name a
 * position in it.  Readers of machine files, papers and claims use it.
 */
#ifndef MACHINE_TREE_H
#define MACHINE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include "base/err.h"
#include "machine/file.h"

enum { TREE_SHOWN = 88 }; /* of a path in messages; a param_origin has room */

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

/*
 * A node's first child is the next node, and its sibling is at end.  The
 * children of a map are key, value, key, value, ...
 */
struct node {
	enum node_kind kind;
	yaml_mark_t at;
	char *text; /* of a scalar; it has no NUL inside */
	size_t end;
};

struct tree {
	char shown[TREE_SHOWN]; /* the path, in messages */
	struct err *e; /* where they go */
	bool has_lines; /* a scalar may be several lines, with tabs */
	struct node *v;
	size_t n;
	size_t open[MACHINE_NESTING_MAX], n_open;
};

extern const yaml_mark_t tree_top;

void tree_show_path(const char *path, char text[TREE_SHOWN]);

/* Sets the error "path:line:column: ..."; returns -1. */
int tree_fail(const struct tree *t, yaml_mark_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The caller sets e and, without a path, shown; and calls tree_free(), also
 * after an error. */
int tree_read(struct tree *t, const char *text, size_t len);
int tree_read_file(struct tree *t, const char *path);
void tree_free(struct tree *t);

/*
 * Files that are read more than once: each is parsed once, and what its readers
 * have of it is freed with all the others.
 */
struct trees {
	struct tree_of_file *v;
	size_t n;
};

int trees_read_file(struct trees *all, struct tree *t, const char *path);
void trees_free(struct trees *all);

/* The text of a scalar that is not empty; NULL of other nodes and of 0. */
const char *tree_text(const struct tree *t, size_t at);

/*
 * The values of a map's keys, as nodes: 0 of a key that it does not have.  A
 * key that is not in the list, up to NULL, or is there twice is an error, and
 * a value of the first n_texts keys that is not a text.
 */
int tree_keys(const struct tree *t, size_t map, const char *const *keys,
	size_t n_texts, size_t *value);

/* The number of values of a list, or of keys and values of a map. */
size_t tree_length(const struct tree *t, size_t at);

#endif
