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

/* The same in steps, for tests that set fields themselves or expect to be
 * refused: defaults, "16x16x12x12x2" with one enum torus_wrap for all
 * dimensions, and both parts' init(). */
void hint_defaults(struct hint_machine *m);
void hint_set_shape(struct hint_machine *m, const char *shape, int64_t wrap);
int hint_try(struct hint_machine *m, struct err *e);
void hint_make_shape(struct hint_machine *m, const char *shape, int64_t wrap);

#endif
