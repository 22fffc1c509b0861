/*
 * The parts of a machine's network with their prices: a row for each kind of
 * switch, card and cable.  Counts follow from the wires alone, so every
 * topology has a bill.
 */
#ifndef MACHINE_BILL_H
#define MACHINE_BILL_H

#include "machine/prices.h"
#include "parts/part.h"
#include "topo/topo.h"

enum {
	BILL_NAME = 96,
	BILL_ROWS = 2 * (TOPO_MAX_PORTS + 1) + TOPO_MAX_WIRES + PARTS_MOST,
};

enum bill_kind { BILL_SWITCH, BILL_CARD, BILL_CABLE, BILL_PART, N_BILL_KINDS };

/* "switch", "card", "cable", "part". */
extern const char *const bill_kinds[];

struct bill_row {
	enum bill_kind kind;
	uint64_t number;
	port_id ports, used; /* of each; used: with a cable */
	uint32_t class; /* of a cable: of its wire from the lower site */
	int64_t metres; /* of a cable; 0: not known */
	char name[BILL_NAME]; /* "switch", "cable global, 20 m" */
	const struct price *price;
};

struct bill {
	const struct topo *topo;
	const struct prices *prices;
	struct bill_row row[BILL_ROWS];
	uint32_t n;
};

/* A part without a price is an error that names it.  needs has a bit for each
 * enum price_of that must be given. */
int bill_make(struct bill *b, const struct topo *t, const struct prices *p,
	uint32_t needs, struct err *e);

/* Adds the machine's other parts that have a price, such as domains of nodes,
 * which are no part of the network. */
int bill_add_parts(struct bill *b, const struct part_place *at, uint32_t needs,
	struct err *e);

/* A price list with the bill that it makes of a machine. */
struct priced {
	struct prices prices;
	struct bill bill;
};

/* Reads the list in a file; NULL with the error.  Without parts the bill is of
 * the network alone. */
struct priced *priced_new(const char *path, const struct topo *t,
	const struct part_place *parts, uint32_t needs, struct err *e);
void priced_free(struct priced *p); /* NULL is fine */

/* A line of CSV for every row. */
void bill_write(const struct bill *b, FILE *f);

/* The rows of a site, and of the cable at one of its ports. */
uint32_t bill_row_of_site(const struct bill *b, router_id r);
uint32_t bill_row_of_cable(const struct bill *b, router_id r, port_id p);

/* The sum over all parts. */
double bill_sum(const struct bill *b, enum price_of of);

#endif
