/* What `weft show` tells of a machine. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <stdio.h>

#include "facts/facts.h"
#include "machine/machine.h"

/* With all wires, or without. */
int show_facts(struct facts *f, const struct machine *m, bool has_edges,
	struct err *e);
/* All wires, each once; null where they are too many for that. */
void show_edges(struct facts *f, const struct topo *t);
/* Sites and wires as a picture, and for graphviz. */
int show_svg(const struct machine *m, FILE *f, struct err *e);
int show_dot(const struct machine *m, FILE *f, struct err *e);

#endif
