/*
 * Slim Fly: 2 q^2 switches of diameter 2, the graphs of McKay, Miller and Siran
 * (Besta and Hoefler, SC 2014).  q is a prime power 4w + d, d one of -1, 0, 1.
 *
 * Switches are (0, x, y) and (1, m, c) with x, y, m, c in GF(q).  (0, x, y) is
 * joined to (0, x, z) if y - z is in X, (1, m, c) to (1, m, d) if c - d is in
 * X', and (0, x, y) to (1, m, c) if y = m x + c.
 */
#ifndef TOPO_SLIMFLY_H
#define TOPO_SLIMFLY_H

#include "topo/switches.h"

struct slimfly {
	struct switches switches;
	int64_t q, per_router, length;
};

extern const struct topo_ops slimfly_ops;

#endif
