/* `weft show`: a description of a machine. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <stdio.h>

#include "facts/facts.h"
#include "machine/machine.h"

/* has_edges: with a list of all wires. */
int show_facts(struct facts *f, const struct machine *m, bool has_edges,
	struct err *e);
/* Shape and parts of a machine, then its bill by a price list. */
struct bill;
void show_bill(struct facts *f, const struct machine *m, const struct bill *b);
/* The share of each of several Weft processes. */
struct cli_args;
int show_shares(const struct cli_args *a, const struct machine *m, FILE *f,
	struct err *e);
/* The network that a machine makes; and a number of bytes with its unit. */
enum { SHOW_SIZE = 32 };
struct net_setup show_net(const struct machine *m);
void show_size(uint64_t bytes, char text[SHOW_SIZE]);
/* The head of both, and the tables of the topology. */
void show_head(struct facts *f, const struct machine *m);
/* All wires, each once; null if there are too many. */
void show_edges(struct facts *f, const struct topo *t);
/* Sites and wires as a picture, and for graphviz. */
int show_svg(const struct machine *m, FILE *f, struct err *e);
int show_dot(const struct machine *m, FILE *f, struct err *e);

#endif
