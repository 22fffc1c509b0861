/*
 * The part of the proof against deadlock (net/proof.h) that is about class
 * routes: three steps.
 *
 * e  Each route is a tree over existing wires.
 * f  On each channel a link is up for all routes or down for all.  Then links
 * up wait only for links up, the turn for links down and links down for links
 *    down; and since no hop up leads back, no link waits for itself.  Boxes are
 *    products of intervals, and a node goes up in one dimension after the
 * other, so the intervals of each dimension cover every box. g  Waits for
 * siblings end if software keeps two rules.
 */
#ifndef COLL_TREE_PROOF_H
#define COLL_TREE_PROOF_H

#include "coll/tree.h"
#include "net/proof.h"

/*
 * Adds the steps, for the builder's routes and for written ones; none if the
 * topology has no class routes.
 */
void tree_prove(struct proof *p, const struct topo *t,
	const struct tree_params *params, const struct class_register *v,
	size_t n);

#endif
