/*
 * Traffic matrices: how much each node sends to each other node.  In a user's
 * file a line has a source, a destination, and a weight or a rate; a first line
 * may name the columns, and '#' begins a comment:
 *
 *	source,destination,weight
 *	0,1,3
 *	0,2,0.5        # a seventh of node 0's traffic
 *
 *	source,destination,rate
 *	0,1,2GB/s
 *
 * Nodes are numbers.  Missing pairs send nothing.
 */
#ifndef LOAD_MATRIX_H
#define LOAD_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { MATRIX_MOST = 1 << 24 /* lines */ };

struct matrix {
	uint32_t n; /* nodes */
	uint32_t *first; /* [n + 1]: where a source's destinations begin */
	uint32_t *to; /* in order */
	uint64_t *upto; /* sum of a source's weights up to this one */
	bool is_rates; /* in bytes per second */
	uint64_t total; /* of all */
};

/* who: what an error calls one of the n: "node", or "member" of a group. */
int matrix_read(struct matrix *m, const char *path, const char *who, uint32_t n,
	struct err *e);
void matrix_free(struct matrix *m);

/* The sum of a node's weights. */
static inline uint64_t matrix_sum(const struct matrix *m, uint32_t from)
{
	uint32_t end = m->first[from + 1];

	return end > m->first[from] ? m->upto[end - 1] : 0;
}

/* A destination of a node that has any, from 64 random bits. */
uint32_t matrix_draw(const struct matrix *m, uint32_t from, uint64_t bits);

#endif
