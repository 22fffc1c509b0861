/*
 * The part of the proof against deadlock (net/proof.h) that is about class
 * routes: three steps.
 *
 * e  Each route is a tree over wires that exist.
 * f  On one channel each link is up for all routes or down for all.  Then up
 *    waits for up, the turn for down and down for down alone, and since no hop
 *    up leads back nothing waits for itself.  Boxes are products of intervals,
 *    and a node goes up in one dimension after the other, so all intervals of
 *    each dimension stand for every box at once.
 * g  The waits for siblings end, where software keeps two rules.
 */
#ifndef COLL_TREE_PROOF_H
#define COLL_TREE_PROOF_H

#include "coll/tree.h"
#include "net/proof.h"

/*
 * Adds the steps, for the builder's routes and for those that are written out
 * beside them; none where the topology has no class routes.
 */
void tree_prove(struct proof *p, const struct topo *t,
	const struct tree_params *params, const struct class_register *v,
	size_t n);

#endif
