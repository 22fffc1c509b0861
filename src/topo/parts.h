/*
 * Parts of a machine that users name: "link 1.0 up 2", "switch 2.5", "node 7".
 * A kind of part has a word, a function that reads the rest of the name, and
 * the wires that fail with the part.  A topology publishes its own kinds;
 * links, interfaces and machines add others (lane, rail, card, ...), so there
 * is no common list.
 */
#ifndef TOPO_PARTS_H
#define TOPO_PARTS_H

#include <stdbool.h>

#include "topo/topo.h"

enum { PART_SITE = 0xff }; /* a port: the whole site */

struct part_kind;

struct part {
	const struct part_kind *kind;
	router_id site;
	port_id port; /* or PART_SITE */
	uint32_t unit; /* defined by its kind: a lane, a card */
};

/* Finds routers by name; after a few searches it has a table of all names. */
struct part_names {
	const struct topo *topo;
	char (*name)[32]; /* [router], in order of site */
	router_id *order; /* by name */
	uint32_t n_asked;
};

struct part_kind {
	const char *word;
	bool is_site; /* programs of the site fail with it */
	/* All wires of its site, or the wire at its port, fail with it; false
	 * for parts of a wire, and for parts without wires. */
	bool is_whole;
	bool can_sicken; /* it can be sick, and still work */
	bool forgets; /* its work fails for good, even if it returns */
	/* Whether a machine has parts of this kind; NULL: always. */
	bool (*exists)(const struct topo *t);
	/* Reads the words of a name into site, port and unit. */
	int (*read)(const struct part_kind *k, struct part_names *names,
		char *const *word, size_t n, struct part *p, struct err *e);
	/* Wire i that fails with it; false if there are no more.  NULL: the
	 * wires of its site, or the wire at its port. */
	bool (*wire)(const struct topo *t, const struct part *p, uint32_t i,
		struct topo_end *end);
	/* Likewise for site i whose programs fail; NULL: its own site. */
	bool (*sites)(const struct topo *t, const struct part *p, uint32_t i,
		router_id *site);
};

/* Kinds of topologies that publish none: link, switch, node. */
extern const struct part_kind part_link, part_switch, part_node;
extern const struct part_kind *const part_kinds[];

/* Wire i that fails with a part; false if there are no more.  A part without a
 * kind is its site, or the link at its port. */
bool part_wire(const struct topo *t, const struct part *p, uint32_t i,
	struct topo_end *end);

/* Likewise for site i that fails with a part, with all its programs. */
bool part_site(const struct topo *t, const struct part *p, uint32_t i,
	router_id *site);

void part_names_fini(struct part_names *n);
/* Finds a router of [first, end) by its name, or a node by its number. */
int part_find_site(struct part_names *n, const char *what, const char *name,
	router_id first, router_id end, router_id *site, struct err *e);
/* Finds a port with a wire; the name may be missing if there is only one. */
int part_find_port(struct part_names *n, router_id site, const char *name,
	port_id *port, struct err *e);
/* What a node has one of: the number or the name of the node. */
int part_read_node(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e);
/* "link", a site, and a port of one or more words. */
int part_read_link(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e);

#endif
