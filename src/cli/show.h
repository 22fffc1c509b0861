/*
 * What `weft show` tells of a machine: gathered once, then printed in one of
 * two ways.
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <stdio.h>

#include "cli/facts.h"
#include "cli/facts_tree.h"
#include "machine/machine.h"
#include "route/updown.h"

enum { SHOW_SIZES = 3, SHOW_TEXT = 48 };

/* What is told of packets of one size. */
struct show_size {
	uint32_t bytes;
	int64_t time; /* serialisation, ps */
	int64_t one_way, both_ways; /* payload bytes per second of a link */
	int64_t peak; /* of random traffic, per node; 0: none */
};

struct show {
	const struct machine *m;
	const struct torus *t; /* NULL, or */
	const struct fattree *tree; /* NULL */
	struct link_rules rules;
	uint64_t links[TORUS_MAX_DIMS][N_WIRE_CLASSES];
	uint64_t wires[TOPO_MAX_WIRES];
	struct facts_way latency, hops;
	struct facts_cut cut; /* of a tree, through the top */
	struct show_size size[SHOW_SIZES];
	size_t n_sizes;
	uint64_t memory; /* that a saturated run takes, estimated */
};

/* Boards, or midplanes. */
struct show_unit {
	char shape[PARAM_TEXT_MAX];
	uint64_t nodes, n;
};

extern const char *const show_wraps[]; /* of an enum torus_wrap */
extern const char *const show_spreads[]; /* of an enum updown_spread */

/* False where the machine is a part of one. */
bool show_unit(const struct show *s, const struct param_list *list,
	struct show_unit *u);
/* Of one dimension. */
uint64_t show_links(const struct show *s, uint32_t dim);
/* Bytes that a receiver holds per channel. */
uint64_t show_buffer(const struct show *s);

/* What a node's router takes in a simulation. */
size_t show_site_bytes(const struct show *s);
/* "5 m, copper", or what a torus's wires cross. */
void show_wire(const struct show *s, uint32_t class, char text[SHOW_TEXT]);

/* "ABC,D": zones in the order in which they are done. */
void show_zones(const struct hint *h, uint32_t set, char text[SHOW_TEXT]);
/* "ABCD": the deterministic order. */
void show_order(const struct hint *h, char text[SHOW_TEXT]);

static inline double show_gbps(int64_t bps)
{
	return (double)bps / 1e9;
}

static inline double show_ns(int64_t ps)
{
	return (double)ps / SIM_NS;
}

void show_text(const struct show *s, FILE *f);
void show_json(const struct show *s, FILE *f);

#endif
