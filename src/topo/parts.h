/*
 * Parts of a machine that people name: "link 1.0 up 2", "switch 2.5", "node
 * 7".  A kind of parts is a word, how to read what follows it, and which wires
 * go down with one.  A topology publishes its own kinds; links, interfaces and
 * machines add theirs (lane, rail, card, ...), so nobody else has a list.
 */
#ifndef TOPO_PARTS_H
#define TOPO_PARTS_H

#include <stdbool.h>

#include "topo/topo.h"

enum { PART_SITE = 0xff }; /* of all ports */

struct part_kind;

struct part {
	const struct part_kind *kind;
	router_id site;
	port_id port; /* or PART_SITE */
	uint32_t unit; /* its kind's own: a lane, a card */
};

/* Looks up names; knows them all after a few questions. */
struct part_names {
	const struct topo *topo;
	char (*name)[32]; /* [router], in order of site */
	router_id *order; /* by name */
	uint32_t n_asked;
};

struct part_kind {
	const char *word;
	bool is_site; /* what runs there goes down with it */
	bool is_whole; /* so do its site's wires, or the one at its port; not
			* where a part is less than a wire, or none at all */
	bool can_sicken; /* it may be sick and work, too */
	/* Whether a machine has such parts; NULL: all have. */
	bool (*exists)(const struct topo *t);
	/* Reads the words of a name into site, port and unit. */
	int (*read)(const struct part_kind *k, struct part_names *names,
		char *const *word, size_t n, struct part *p, struct err *e);
	/* Wire i that goes down with it, where these are not its site's or its
	 * port's; false where there are no more.  Or NULL. */
	bool (*wire)(const struct topo *t, const struct part *p, uint32_t i,
		struct topo_end *end);
	/* Site i of what runs there, where it is not its own; the same. */
	bool (*sites)(const struct topo *t, const struct part *p, uint32_t i,
		router_id *site);
};

/* What topologies have that publish nothing else: link, switch, node. */
extern const struct part_kind part_link, part_switch, part_node;
extern const struct part_kind *const part_kinds[];

/* Wire i that goes down with a part; false where there are no more.  Where its
 * kind is NULL, it is its site, or the link at its port. */
bool part_wire(const struct topo *t, const struct part *p, uint32_t i,
	struct topo_end *end);

/* Site i that goes down with a part, and all that runs there; the same. */
bool part_site(const struct topo *t, const struct part *p, uint32_t i,
	router_id *site);

void part_names_fini(struct part_names *n);
/* A router from first up to end by its name; a node also by its number. */
int part_find_site(struct part_names *n, const char *what, const char *name,
	router_id first, router_id end, router_id *site, struct err *e);
/* A port with a wire; a site's only one needs no name. */
int part_find_port(struct part_names *n, router_id site, const char *name,
	port_id *port, struct err *e);
/* "link", a site, and a port of one or more words. */
int part_read_link(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e);

#endif
