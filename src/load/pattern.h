/* Destinations of a node's packets. */
#ifndef LOAD_PATTERN_H
#define LOAD_PATTERN_H

#include "load/matrix.h"
#include "sim/random.h"
#include "sim/sim.h"
#include "topo/topo.h"

enum pattern_kind {
	PATTERN_RANDOM, /* any other node, with equal probability */
	PATTERN_NEIGHBOUR, /* each wire's far end in turn */
	PATTERN_TRANSPOSE, /* the node number's halves change places */
	PATTERN_REVERSE, /* the node number's bits in reverse order */
	PATTERN_TORNADO, /* just under half way round each dimension */
	PATTERN_COMPLEMENT, /* mirrored in each dimension; without
			     * dimensions, in the order of nodes */
	PATTERN_PERMUTATION, /* a random one */
	PATTERN_WORST, /* the one with the longest paths */
	PATTERN_HOTSPOT, /* one node gets a share of everything */
	PATTERN_MATRIX, /* by a traffic matrix */
	PATTERN_INCAST, /* one node gets everything */
	PATTERN_GROUP_SHIFT, /* any node of the group so many groups on */
	PATTERN_ROUTER_SHIFT, /* any node of the router so many places on */
};

struct pattern {
	enum pattern_kind kind;
	const struct topo *topo;
	site_id n; /* nodes; 0 before pattern_init(): all of them */
	bool is_part; /* they are some nodes of the machine, in any order */
	const struct matrix *matrix;
	site_id *target; /* of fixed patterns; NO_SITE: stays idle */
	site_id hot;
	uint32_t by; /* of a shift */
	uint32_t along; /* the dimension of a shift of routers, from 1 on */
	uint32_t share_ppm;
};

int pattern_init(
	struct pattern *p, const struct topo *t, uint64_t seed, struct err *e);
void pattern_fini(struct pattern *p);

static inline site_id pattern_any(site_id n, site_id from, uint64_t bits)
{
	site_id i = (site_id)random_below(bits, n - 1);

	return i + (i >= from);
}

/* Of a pattern that is not PATTERN_RANDOM. */
site_id pattern_special(
	const struct pattern *p, site_id from, uint64_t k, uint64_t bits);

/* The target of packet k of a node, from 64 random bits; NO_SITE if none. */
static inline site_id pattern_target(
	const struct pattern *p, site_id from, uint64_t k, uint64_t bits)
{
	return p->kind == PATTERN_RANDOM ? pattern_any(p->n, from, bits)
					 : pattern_special(p, from, k, bits);
}

#endif
