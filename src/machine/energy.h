/*
 * The energy that the network of a run took, by a price list: the watts of
 * every part for the simulated time, and the energy of every bit that left a
 * switch or a card or crossed a cable.  It is computed from counters after the
 * run, and affects nothing.
 */
#ifndef MACHINE_ENERGY_H
#define MACHINE_ENERGY_H

#include "machine/bill.h"
#include "net/net.h"

struct energy {
	struct priced *priced;
	double idle_J[BILL_ROWS], traffic_J[BILL_ROWS]; /* by the bill's rows */
};

/* NULL with the error. */
struct energy *energy_new(
	const char *path, const struct topo *t, struct err *e);
void energy_measure(struct energy *x, const struct net *n, sim_time end);
void energy_free(struct energy *x); /* NULL is fine */

/* Of all parts. */
double energy_idle(const struct energy *x);
double energy_traffic(const struct energy *x);

#endif
