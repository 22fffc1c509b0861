/* For tests: a torus and its routing, from the texts of a machine file. */
#ifndef ROUTE_HINT_TESTING_H
#define ROUTE_HINT_TESTING_H

#include "route/hint.h"

struct hint_machine {
	struct torus t;
	struct hint h;
};

/* Texts that are NULL stand for the default; zones for all four sets. */
struct hint_how {
	const char *shape, *wrap;
	const char *order, *ties, *zones;
	const char *bubble, *escape;
};

/* Fails the test where it is refused. */
void hint_make(struct hint_machine *m, const struct hint_how *how);
void hint_unmake(struct hint_machine *m);

#endif
