/* For tests: a fat tree and its routing, from the texts of a machine file. */
#ifndef ROUTE_UPDOWN_TESTING_H
#define ROUTE_UPDOWN_TESTING_H

#include "route/updown.h"
#include "topo/fattree_testing.h"

struct tree_machine {
	struct fattree t;
	struct updown u;
};

/* Fails the test where it is refused. */
void updown_make(struct tree_machine *m, const struct tree_how *how);

#endif
