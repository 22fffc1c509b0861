/* For tests: fat trees from the texts of a machine file. */
#ifndef TOPO_FATTREE_TESTING_H
#define TOPO_FATTREE_TESTING_H

#include "topo/fattree.h"

/* Texts that are NULL stand for the default. */
struct tree_how {
	const char *nodes, *radix, *up, *length;
	const char *fill, *rails, *siblings, *ports, *taper, *parallel, *join;
	const char *spread; /* of the routing */
};

/* Trees of many kinds, full ones and others; the last has no nodes. */
extern const struct tree_how tree_some[];

int tree_try(struct fattree *t, const struct tree_how *how, struct err *e);
/* The same; fails the test where it is refused. */
void tree_make(struct fattree *t, const struct tree_how *how);
/* Fails the test unless it is refused with a text that has these words. */
void tree_is_refused(const struct tree_how *how, const char *what);
/* A site and one of its ports: "switch 1.0, down 2". */
void tree_is_called(
	const struct fattree *t, router_id r, port_id p, const char *want);

#endif
