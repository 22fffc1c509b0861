/*
 * What `weft show` tells of a machine: gathered once, then printed in one of
 * two ways.
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <stdio.h>

#include "facts/facts.h"
#include "machine/machine.h"

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
	struct link_rules rules;
	struct route_way latency, hops; /* all 0 where not known */
	struct topo_cut cut;
	struct show_size size[SHOW_SIZES];
	size_t n_sizes;
	uint64_t memory; /* that a saturated run takes, estimated */
};

/* Links of a class of wires; false where it has none. */
bool show_links(const struct show *s, uint32_t class, uint64_t *links);
/* What is said of it: "5 m, copper". */
void show_wire(const struct show *s, uint32_t class, char text[TOPO_TEXT]);
/* The time-outs of links that retry, on the shortest and the longest wire;
 * false where none does. */
bool show_timeout(const struct show *s, sim_time *least, sim_time *most);
/* Bytes that a receiver holds per channel. */
uint64_t show_buffer(const struct show *s);
/* Payload that a link has places for: that of all channels of its receiver,
 * and of the FIFO that feeds its sender. */
uint64_t show_link_memory(const struct show *s);
/* Ports of a router that is no IO node's. */
uint32_t show_ports(const struct show *s);
/* Of all links of an IO node, bytes per second. */
double show_io_rate(const struct show *s);
/* What a node's router takes in a simulation. */
size_t show_site_bytes(const struct show *s);
/* "switch", or "node" where these are routers. */
const char *show_router(const struct show *s);

static inline double show_gbps(int64_t bps)
{
	return (double)bps / 1e9;
}

/* With all wires, or without. */
void show_facts(const struct show *s, struct facts *f, bool has_edges);
/* All wires, each once; null where they are too many for that. */
void show_edges(struct facts *f, const struct topo *t);
/* Sites and wires as a picture, and for graphviz. */
int show_svg(const struct show *s, FILE *f, struct err *e);
int show_dot(const struct show *s, FILE *f, struct err *e);

#endif
