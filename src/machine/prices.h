/*
 * A price list: what the parts of a network cost, in money, in watts, and in
 * energy for each bit.  It is the user's file; Weft has no prices of its own.
 *
 *	schema: 1
 *	currency: EUR
 *	switches:
 *	  64: { price: 100, watts: 10, pj-per-bit: 1 }    # by ports
 *	cards: { price: 10, watts: 10, pj-per-bit: 1 }
 *	domains: { price: 10, watts: 10 }
 *	cables:
 *	  copper:
 *	    3: { price: 1, watts: 0, pj-per-bit: 1 }      # by metres
 *
 * Knows nothing of machines: machine/bill.h looks for the parts of one.
 */
#ifndef MACHINE_PRICES_H
#define MACHINE_PRICES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { PRICE_NAME = 48 };

enum price_of { PRICE_MONEY, PRICE_WATTS, PRICE_PJ_PER_BIT, N_PRICES };

/* Their keys in the file. */
extern const char *const price_keys[];

/* Sections of the file whose parts have sizes, and kinds of cables. */
#define PRICES_SWITCHES "switches"
#define PRICES_CARDS	"cards"
#define PRICES_DOMAINS	"domains" /* of nodes */
#define PRICES_COPPER	"cables.copper"
#define PRICES_FIBRE	"cables.fibre"
#define PRICES_WIRES	"cables.wires" /* of unknown length */

/* A line of the list. */
struct price {
	char kind[PRICE_NAME]; /* "switches", "cables.copper" */
	int64_t size; /* ports or metres; 0: any */
	double is[N_PRICES]; /* below 0: not given */
};

struct prices {
	char *path, *title, *currency; /* "" if not given */
	struct price *v;
	size_t n;
};

/* To be freed also after an error. */
int prices_read(struct prices *p, const char *path, struct err *e);
void prices_free(struct prices *p);

/* The smallest part of a kind that is large enough; or NULL. */
const struct price *prices_find(
	const struct prices *p, const char *kind, int64_t size);
/* The largest one; or NULL. */
const struct price *prices_largest(const struct prices *p, const char *kind);

/* "switches.64" */
void price_name(const struct price *x, char text[2 * PRICE_NAME]);

#endif
