/* For tests: a torus packaged as Blue Gene/Q is. */
#ifndef TOPO_TORUS_TESTING_H
#define TOPO_TORUS_TESTING_H

#include "topo/torus.h"

/* All but init(); shape and wrap may be NULL. */
int torus_read(
	struct torus *t, const char *shape, const char *wrap, struct err *e);
/* Both; what cannot be fails. */
void torus_make(struct torus *t, const char *shape, const char *wrap);

#endif
